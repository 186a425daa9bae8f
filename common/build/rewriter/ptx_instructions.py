"""The instructions of PTX that have a form in CUDA C++."""

import re

TYPES = {
    "pred": "bool", "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char", "b16": "unsigned short",
    "u16": "unsigned short", "s16": "short", "b32": "unsigned", "u32": "unsigned", "s32": "int",
    "b64": "unsigned long long", "u64": "unsigned long long", "s64": "long long", "f32": "float", "f64": "double",
}
VECTORS = {
    "unsigned char": "uchar", "signed char": "char", "unsigned short": "ushort", "short": "short", "unsigned": "uint",
    "int": "int", "unsigned long long": "ulonglong", "long long": "longlong", "float": "float", "double": "double",
}
# Instructions whose result is an expression of operands of one type, {0} {1} {2}. Not those that change memory.
SAME_TYPE = {
    "mov": "{0}", "add": "{0} + {1}", "sub": "{0} - {1}", "mul.lo": "{0} * {1}", "mul": "{0} * {1}", "div": "{0} / {1}",
    "rem": "{0} % {1}", "mad.lo": "{0} * {1} + {2}", "fma": "::simt::ptx::fma({0}, {1}, {2})",
    "mad": "::simt::ptx::fma({0}, {1}, {2})", "neg": "-{0}", "abs": "{0} < 0 ? -{0} : {0}", "min": "::min({0}, {1})",
    "max": "::max({0}, {1})", "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}",
    "not": "::simt::ptx::invert({0})", "cnot": "{0} == 0", "mul.hi": "::simt::ptx::multiply_high({0}, {1})",
    "mad.hi": "::simt::ptx::multiply_high({0}, {1}) + {2}", "popc": "::simt::ptx::ones({0})",
    "clz": "::simt::ptx::leading_zeros({0})", "brev": "::simt::ptx::reversed({0})",
    "ex2": "__builtin_exp2f({0})", "lg2": "__builtin_log2f({0})", "rcp": "1 / {0}", "sqrt": "::simt::ptx::root({0})",
    "rsqrt": "1 / ::simt::ptx::root({0})", "sin": "__builtin_sinf({0})", "cos": "__builtin_cosf({0})",
    "tanh": "__builtin_tanhf({0})", "prmt": "__byte_perm({0}, {1}, {2})", "cvta.to.global": "{0}", "cvta.global": "{0}",
    "cvta.to.shared": "__cvta_generic_to_shared(reinterpret_cast<void*>({0}))",
    "cvta.shared": "reinterpret_cast<unsigned long long>(__cvta_shared_to_generic({0}))",
}
# The same with operands that have a type of their own.
OTHERS = {
    "shl": ("::simt::ptx::shift_left({0}, {1})", (None, "u32")), "shr": ("::simt::ptx::shift_right({0}, {1})", (None, "u32")),
    "bfe": ("::simt::ptx::extract({0}, {1}, {2})", (None, "u32", "u32")),
    "bfi": ("::simt::ptx::insert({0}, {1}, {2}, {3})", (None, None, "u32", "u32")),
    "lop3": ("::simt::ptx::logic({0}, {1}, {2}, {3})", ("b32",) * 4),
    "shf.l.wrap": ("__funnelshift_l({0}, {1}, {2})", ("b32", "b32", "u32")),
    "shf.l.clamp": ("__funnelshift_lc({0}, {1}, {2})", ("b32", "b32", "u32")),
    "shf.r.wrap": ("__funnelshift_r({0}, {1}, {2})", ("b32", "b32", "u32")),
    "shf.r.clamp": ("__funnelshift_rc({0}, {1}, {2})", ("b32", "b32", "u32")),
    "selp": ("{2} ? {0} : {1}", (None, None, "pred")),
    "dp4a": ("__dp4a({0}, {1}, {2})", (None, None, None)),
    "activemask": ("__activemask()", ()),
    "vote.sync.ballot": ("__ballot_sync({1}, {0})", ("pred", "b32")),
    "vote.sync.any": ("__any_sync({1}, {0})", ("pred", "b32")),
    "vote.sync.all": ("__all_sync({1}, {0})", ("pred", "b32")),
    "match.any.sync": ("__match_any_sync({1}, {0})", (None, "b32")),
    **{f"redux.sync.{name}": (f"__reduce_{name}_sync({{1}}, {{0}})", (None, "b32"))
       for name in ("add", "min", "max", "and", "or", "xor")},
}
# Statements. {0}: an operand as a number.
STATEMENTS = {
    "membar.cta": "__threadfence_block();", "membar.gl": "__threadfence();", "membar.sys": "__threadfence_system();",
    **{f"fence{order}.{scope}": f"{call};" for order in ("", ".sc", ".acq_rel") for scope, call in (
        ("cta", "__threadfence_block()"), ("gpu", "__threadfence()"), ("sys", "__threadfence_system()"))},
    "trap": "__trap();", "brkpt": "__brkpt();", "nanosleep": "__nanosleep({0});", "bar.warp.sync": "__syncwarp({0});",
}
IGNORED = re.compile(r"(prefetch|prefetchu|discard|applypriority|pmevent)\b")  # hints
ROUNDINGS = {"rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full", "noftz"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
ATOMICS = {"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "inc": "atomicInc", "dec": "atomicDec",
           "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor", "exch": "atomicExch", "cas": "atomicCAS"}
SCOPES = {"cta": ("_block", "__threadfence_block();"), "gpu": ("", "__threadfence();"),
          "sys": ("_system", "__threadfence_system();")}
SHUFFLES = {"idx": "__shfl_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "bfly": "__shfl_xor_sync"}


def instruction(block, opcode, operands):
    """C++ for one instruction. NotImplementedError names one that has no form in C++ here."""
    name, *modifiers = opcode.split(".")
    kinds = [m for m in modifiers if m in TYPES]
    plain = ".".join([name, *(m for m in modifiers if m not in TYPES and m not in ROUNDINGS)])
    kind = TYPES[kinds[-1]] if kinds else None
    try:
        if plain in STATEMENTS:
            return STATEMENTS[plain].format(*(block.value(o, "unsigned") for o in operands))
        if IGNORED.match(opcode):
            return ""
        if re.match(r"(bar|barrier)(\.cta)?\.sync(\.aligned)?\Z", opcode) and operands == ["0"]:
            return "__syncthreads();"
        if name == "mov" and kind and any(o.startswith("{") for o in operands):
            return move_parts(block, operands)
        if name in ("ld", "ldu", "st"):
            return access(block, name, modifiers, kind, operands)
        if name in ("atom", "red"):
            return atomic(block, name, modifiers, kind, operands)
        if name == "shfl" and modifiers[:1] == ["sync"]:
            return shuffle(block, modifiers[1], operands)
        if name == "setp" and len(modifiers) == 2 and modifiers[0] in COMPARISONS and kind:
            left, right = (block.value(o, kind) for o in operands[1:])
            return block.write(operands[0], f"{left} {COMPARISONS[modifiers[0]]} {right}")
        if name == "cvt" and len(kinds) == 2:
            return convert(block, modifiers, kinds, operands)
        if plain in ("mul.wide", "mad.wide") and kind in ("int", "unsigned", "short", "unsigned short"):
            wide = {"int": "long long", "unsigned": "unsigned long long", "short": "int", "unsigned short": "unsigned"}[kind]
            a, b, *c = [block.value(o, kind) for o in operands[1:3]] + [block.value(o, wide) for o in operands[3:]]
            return block.write(operands[0], f"static_cast<{wide}>({a}) * static_cast<{wide}>({b})" + "".join(f" + {x}" for x in c))
        if plain in SAME_TYPE and kind and "sat" not in modifiers and directed(modifiers) is None:
            return block.write(operands[0], result(SAME_TYPE[plain].format(*(block.value(o, kind) for o in operands[1:])), kind, plain))
        if plain in OTHERS:
            expression, types = OTHERS[plain]
            values = [block.value(o, TYPES[t] if t else kind) for o, t in zip(operands[1:], types, strict=True)]
            return block.write(operands[0], result(expression.format(*values), kind, plain))
    except (IndexError, ValueError, KeyError):
        pass
    raise NotImplementedError(opcode)


def directed(modifiers):
    """A rounding that C++ does not have by itself, or None."""
    return next((m for m in modifiers if m in ("rz", "rm", "rp")), None)


def result(expression, kind, plain):
    """The bits of the result's own type: integers narrower than int are widened by C++."""
    return f"static_cast<{kind}>({expression})" if kind and kind != "bool" and plain not in ("popc", "clz") else expression


def address(block, text, space):
    """(expression of the address, as a pointer to void) of [%1 + 16]."""
    match = re.match(r"\[\s*([^\s+]+)\s*(?:\+\s*(-?(?:0x)?[0-9a-fA-F]+|%\d+))?\s*\]\Z", text)
    if match is None:
        raise NotImplementedError(f"with the address {text}")
    base = block.value(match[1], "unsigned long long")
    offset = f" + {block.read(match[2])[0]}" if match[2] else ""
    call = "__cvta_shared_to_generic({})" if space.startswith("shared") else "reinterpret_cast<void*>({})"
    return call.format(base + offset)


def space_of(modifiers):
    return next((m for m in modifiers if re.match(r"(global|shared|local|const|param)(::cta)?\Z", m)), "generic")


def access(block, name, modifiers, kind, operands):
    """ld and st, of one number or a vector of two or four."""
    hints = re.compile(r"(c[agsv]|lu|wb|wt|nc|weak|L1::\w+|L2::\w+|volatile|relaxed|acquire|release|cta|gpu|sys|v[24]|"
                       r"global|shared|local|shared::cta)\Z")
    if not kind or not all(m in TYPES or hints.match(m) for m in modifiers):
        raise NotImplementedError(".".join([name, *modifiers]))
    scope = SCOPES[next((m for m in modifiers if m in SCOPES), "gpu")][1]
    is_strong = {"volatile", "relaxed", "acquire", "release"} & set(modifiers)
    count = next((int(m[1]) for m in modifiers if m in ("v2", "v4")), 1)
    target, memory = (operands[1], operands[0]) if name == "st" else operands
    pointer = f"static_cast<{'volatile ' if is_strong else ''}{'const ' if name != 'st' else ''}"
    pointer += f"{VECTORS[kind] + str(count) if count > 1 else kind}*>({address(block, memory, space_of(modifiers))})"
    before, after = (scope if "release" in modifiers else ""), (scope if "acquire" in modifiers else "")
    if count == 1:
        if name == "st":
            return f"{before} *{pointer} = {block.value(target, kind)}; {after}".strip()
        load = f"__ldg({pointer})" if "nc" in modifiers else f"*{pointer}"
        return f"{before} {block.write(target, load)} {after}".strip()
    names = [part.strip() for part in target.strip("{} ").split(",")]
    if len(names) != count or is_strong:
        raise NotImplementedError(".".join([name, *modifiers]))
    if name == "st":
        values = ", ".join(block.value(n, kind) for n in names)
        return f"*{pointer} = make_{VECTORS[kind]}{count}({values});"
    load = f"__ldg({pointer})" if "nc" in modifiers else f"*{pointer}"
    parts = " ".join(block.write(n, f"simt_v.{axis}") for n, axis in zip(names, "xyzw"))
    return f"{{ const auto simt_v = {load}; {parts} }}"


def atomic(block, name, modifiers, kind, operands):
    operation = next((m for m in modifiers if m in ATOMICS), None)
    known = {"relaxed", "acquire", "release", "acq_rel", "global", "shared", "shared::cta", *SCOPES, *ATOMICS, *TYPES}
    if operation is None or not kind or not set(modifiers) <= known:
        raise NotImplementedError(".".join([name, *modifiers]))
    suffix, fence = SCOPES[next((m for m in modifiers if m in SCOPES), "gpu")]
    if kind == "long long" and operation == "add":
        kind = "unsigned long long"
    memory, *values = operands if name == "red" else operands[1:]
    pointer = f"static_cast<{kind}*>({address(block, memory, space_of(modifiers))})"
    call = f"{ATOMICS[operation]}{suffix}({', '.join([pointer, *(block.value(v, kind) for v in values)])})"
    statement = f"{call};" if name == "red" else block.write(operands[0], call)
    before = fence if {"release", "acq_rel"} & set(modifiers) else ""
    after = fence if {"acquire", "acq_rel"} & set(modifiers) else ""
    return f"{before} {statement} {after}".strip()


def shuffle(block, mode, operands):
    """c has the width: 32 - width in its bits 8 to 12."""
    target, source, lane, clamp, mask = operands
    call = (f"{SHUFFLES[mode]}({block.value(mask, 'unsigned')}, {block.value(source, 'unsigned')}, "
            f"{block.value(lane, 'int')}, 32 - (({block.value(clamp, 'unsigned')} >> 8) & 31))")
    return block.write(target, call)


def convert(block, modifiers, kinds, operands):
    into, source = (TYPES[k] for k in kinds)
    is_float = [kind in ("float", "double") for kind in (into, source)]
    rounding = next((m for m in modifiers if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")), "")
    value = block.value(operands[1], source)
    if "sat" in modifiers or set(modifiers) - {"rn", "rni", "rzi", "ftz"} - TYPES.keys():
        raise NotImplementedError(".".join(["cvt", *modifiers]))
    if is_float == [False, True]:
        whole = {"rni": f"__builtin_rint({value})", "rzi": value}[rounding]
        return block.write(operands[0], f"::simt::ptx::to_integer<{into}>({whole})")
    return block.write(operands[0], f"static_cast<{into}>({value})")


def move_parts(block, operands):
    """mov.b64 {low, high}, %1 and mov.b64 %0, {low, high}."""
    target, source = operands
    if target.startswith("{"):
        names = [n.strip() for n in target.strip("{} ").split(",")]
        value, kind = block.read(source)
        return " ".join(block.write(n, f"::simt::ptx::part<{k}, {len(names)}, {kind}>({value})") for k, n in enumerate(names))
    names = [n.strip() for n in source.strip("{} ").split(",")]
    return block.write(target, f"::simt::ptx::join({', '.join(block.read(n)[0] for n in names)})")
