"""Inline PTX: what has a form in CUDA C++ becomes that; all else is refused by its name.

    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    ->  { unsigned simt_0; simt_0 = ::simt::ptx::to<unsigned>(::simt::lane_id()); lane = ...(simt_0); }

One statement of C++ on the line of the asm. Operands are evaluated once, and registers are its local variables.
"""

import ast
import re

from build.rewriter.functions import function_at
from build.rewriter.ptx_instructions import TYPES, instruction
from build.rewriter.source import one_line

ASM = {"asm", "__asm__", "__asm"}
CONSTRAINTS = {"r": "unsigned", "l": "unsigned long long", "h": "unsigned short", "f": "float", "d": "double"}
LITERAL = re.compile(r'(?:u8|[uUL])?(?:R"(?P<tag>[^()\s\\"]*)\((?P<raw>.*)\)(?P=tag)"|(?P<plain>".*"))\Z', re.S)
STATEMENT = re.compile(r"\s*(?:([{}])|([^;{}]*(?:\{[^{};]*\}[^;{}]*)*);)")
GUARD = re.compile(r"@(!?)\s*([\w%$]+)\s+(.*)\Z", re.S)
REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+([\w\s,$%]+)\Z")
SPECIAL = {
    "laneid": "::simt::lane_id()", "lanemask_eq": "(1u << ::simt::lane_id())",
    "lanemask_lt": "((1u << ::simt::lane_id()) - 1)", "lanemask_le": "((2u << ::simt::lane_id()) - 1)",
    "lanemask_gt": "~((2u << ::simt::lane_id()) - 1)", "lanemask_ge": "~((1u << ::simt::lane_id()) - 1)",
    "warpid": "(::simt::ptx::thread_rank() / 32)", "nwarpid": "(::simt::ptx::block_size() + 31) / 32",
    "smid": "::simt::ptx::sm()", "nsmid": "::simt::ptx::sm_count()", "gridid": "0ull",
    "clock": "unsigned(clock64())", "clock64": "clock64()", "clock_hi": "unsigned(clock64() >> 32)",
    "globaltimer": "::simt::ptx::nanoseconds()", "WARP_SZ": "32u",
    **{f"{ptx}.{axis}": f"{cpp}.{axis}" for axis in "xyz" for ptx, cpp in (
        ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))},
}


def rewrite(file):
    """Pass. Needs file.functions: an asm() of the host stays as it is."""
    for at in file.find(ASM):
        rewrite_asm(file, at)


def rewrite_asm(file, at):
    """The asm at the token `at`."""
    in_macro = file.macro is not None
    words = function_at(file, at)
    opening = at + 1
    while file.text(opening) in ("volatile", "__volatile__", "inline", "goto"):
        opening += 1
    if file.text(opening) != "(" or not (words or in_macro):
        return
    if opening not in file.partner:
        file.unsupported(at, "inline PTX that an #if splits: write the whole asm() in each branch")
        return
    closing = file.partner[opening]
    end = closing + 2 if file.text(closing + 1) == ";" else closing + 1
    inside = [d for d, _ in file.directives if file.tokens[at].begin < d.begin < file.tokens[closing].begin]
    template, code = None, ""
    try:
        if inside:
            file.edits.append((file.tokens[at].begin, file.tokens[end - 1].end, branches(file, at, opening, closing, end, inside)))
            return
        template, *operands = asm_parts(file, opening, closing)
        code = Block(template, *operands).code()
    except NotImplementedError as problem:
        # What runs on the host, too, may be the processor's own assembly.
        if (in_macro or "__host__" in words) and not re.match(r"\s*(@\S+\s+)?\w+\.", template or ""):
            return
        file.unsupported(at, f"inline PTX {problem}: write it in C++; course/ptx.cuh has what the course needs")
        return
    if code is not None:
        file.replace(at, end, code if end > closing + 1 else code.join(("do ", " while (0)")))


def branches(file, at, opening, closing, end, inside):
    """The C++ of an asm with one #if in it: the whole of it for each branch."""
    words = [re.match(r"\W*(\w*)", directive.text).group(1) for directive in inside]
    if not words[0].startswith("if") or words[-1] != "endif" or not all(w.startswith("el") for w in words[1:-1]):
        raise NotImplementedError("with an #if in it")
    text, seen_else = "", False
    where = f"#line {file.line(file.tokens[at].begin)}\n"
    for directive, after in zip(inside, [*inside[1:], None]):
        seen_else = seen_else or re.match(r"\W*else\b", directive.text) is not None
        if after is None and seen_else:
            break
        ends = (directive.begin, after.begin) if after else (0, 0)
        hidden = {i for i in range(opening + 1, closing) if inside[0].begin < file.tokens[i].begin < inside[-1].begin
                  and not ends[0] < file.tokens[i].begin < ends[1]}
        code = Block(*asm_parts(file, opening, closing, hidden)).code() or ";"
        text += (f"\n{directive.text}" if after else "\n#else") + f"\n{where}{code}"
    return f"{text}\n#endif\n#line {file.line(file.tokens[end - 1].end)}\n"


def asm_parts(file, opening, closing, hidden=()):
    """The text, and the outputs and inputs as (constraint, expression); without the hidden tokens."""
    sections, part, i = [[]], [], opening + 1
    while i < closing:
        if i in hidden:
            i += 1
            continue
        colons = {":": 1, "::": 2}.get(file.text(i), 0)
        if colons or file.text(i) == ",":
            sections[-1].append(part)
            part = []
            sections += [[] for _ in range(colons)]
            i += 1
        else:
            next_i = file.after(i)
            part.append((i, next_i))
            i = next_i
    sections[-1].append(part)
    template = "".join(literal(file, i) for i, _ in sections[0][0])
    # nvcc does without a comma between two operands, too.
    operands = [[operand(file, part[k:k + 2]) for part in section for k in range(0, len(part), 2)] for section in sections[1:3]]
    if len(sections) > 1:
        template = template.replace("%%", "\0")
    return template, *operands, *[[]] * (2 - len(operands))


def literal(file, i):
    match = LITERAL.match(file.text(i)) if file.tokens[i].kind == "text" else None
    if match is None:
        raise NotImplementedError(f"whose text has {file.text(i)} in it")
    return match["raw"] if match["plain"] is None else ast.literal_eval(match["plain"])


def operand(file, part):
    starts = [i for i, _ in part]
    if len(starts) != 2 or file.text(starts[1]) != "(":
        raise NotImplementedError("with a named operand, which nvcc does not have either")
    constraint, brackets = starts
    expression = one_line(file.source[file.tokens[brackets].end:file.tokens[file.other_end(brackets)].begin])
    return literal(file, constraint), expression


class Block:
    """The statements of one asm()."""

    def __init__(self, template, outputs, inputs):
        self.template = re.sub(r"//[^\n]*|/\*.*?\*/", " ", template, flags=re.S)
        self.operands = [*outputs, *inputs]
        self.outputs = len(outputs)
        self.types = {}  # register -> its type in C++

    def code(self):
        """C++, or None where there is nothing to do: asm volatile("" ::: "memory")."""
        if not self.template.strip():
            return None
        before, after = "", ""
        for k, (constraint, expression) in enumerate(self.operands):
            kind = constraint.strip("=+&")
            if kind == "n":
                before += f"constexpr auto simt_{k} = {expression}; "
                self.types[f"simt_{k}"] = f"decltype({expression})"
                continue
            if kind not in CONSTRAINTS:
                raise NotImplementedError(f'with the constraint "{constraint}"')
            register, self.types[f"simt_{k}"] = f"simt_{k}", CONSTRAINTS[kind]
            is_output = k < self.outputs
            value = f"::simt::ptx::operand<{CONSTRAINTS[kind]}>({expression})" if not is_output or "+" in constraint else "0"
            before += f"{CONSTRAINTS[kind]} {register} = {value}; "
            if is_output:
                after += f" {expression} = ::simt::ptx::operand<::simt::ptx::Value<decltype({expression})>>({register});"
        text, position, braces = "", 0, 0
        stripped = self.template.rstrip()
        if not stripped.endswith((";", "}")):
            stripped += ";"
        while position < len(stripped.rstrip()):
            match = STATEMENT.match(stripped, position)
            if match is None:
                raise NotImplementedError(f'"{stripped[position:].strip()[:40]}"')
            position = match.end()
            if match[1]:
                braces += 1 if match[1] == "{" else -1
            elif match[2].strip():
                text += self.statement(" ".join(match[2].split())) + " "
        if braces != 0:
            raise NotImplementedError("without one of its braces")
        return f"{{ {before}{text.strip()}{after} }}"

    def statement(self, text):
        registers = REGISTERS.match(text)
        if registers:
            kind = TYPES.get(registers[1])
            if kind is None:
                raise NotImplementedError(f".reg .{registers[1]}")
            names = [name.strip() for name in registers[2].split(",")]
            self.types.update((self.own_name(name), kind) for name in names)
            return " ".join(f"{kind} {self.own_name(name)} = {{}};" for name in names)
        guard = GUARD.match(text)
        if guard:
            return f"if ({guard[1]}{self.read(guard[2])[0]}) {{ {self.statement(guard[3])} }}"
        opcode, _, rest = text.partition(" ")
        if opcode.startswith(".") or re.match(r"[\w$]+\s*:(?!:)", text):
            raise NotImplementedError(f'"{text[:40]}"')
        return instruction(self, opcode, split_operands(rest))

    def own_name(self, name):
        return "simt_reg_" + re.sub(r"\W", "_", name)

    # ---- Operands ----

    def register(self, text):
        """The C++ variable of %0 or a register of the asm's own."""
        match = re.match(r"%(\d+)\Z", text)
        if match and int(match[1]) < len(self.operands):
            return f"simt_{match[1]}"
        if self.own_name(text) in self.types:
            return self.own_name(text)
        raise NotImplementedError(f"with the operand {text}".replace("\0", "%"))

    def read(self, text):
        """(expression, its type) of an operand."""
        if text[:1] in ("\0", "%") and text[1:] in SPECIAL or text in SPECIAL:
            return SPECIAL[text.lstrip("\0%")], "auto"
        if re.match(r"[-~]?(0[xX][0-9a-fA-F]+|\d+)U?\Z", text):
            return f"({text.rstrip('U')}{'ull' if len(text) > 9 and text[0] != '-' else ''})", "auto"
        match = re.match(r"0([fFdD])([0-9a-fA-F]+)\Z", text)
        if match:
            kind, bits = ("float", "unsigned") if match[1] in "fF" else ("double", "unsigned long long")
            return f"::simt::ptx::to<{kind}>({bits}(0x{match[2]}))", kind
        if re.match(r"-?\d+\.\d*\Z", text):
            return f"({text})", "double"
        if text[:1] == "-" or text[:1] == "!":
            inner, kind = self.read(text[1:].strip())
            return f"({text[0]}{inner})", kind
        name = self.register(text)
        return name, self.types[name]

    def value(self, text, kind):
        expression, own = self.read(text)
        if own == kind:
            return expression
        return f"{'static_cast' if own == 'auto' else '::simt::ptx::to'}<{kind}>({expression})"

    def write(self, text, expression):
        """A statement that stores the result."""
        if text == "_":
            return f"static_cast<void>({expression});"
        name = self.register(text)
        return f"{name} = ::simt::ptx::to<{self.types[name]}>({expression});"


def split_operands(text):
    """The operands between commas; those in braces or brackets stay together."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
