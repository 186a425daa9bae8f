"""Macros whose replacement has a launch, a kernel, a variable of the device or inline PTX in it."""

import re

from .functions import SPACES
from .tokens import TOKEN, c_string

QUALIFIERS = SPACES | {"static", "extern", "const", "volatile", "inline"}
DEFINITION = re.compile(r"\s*#\s*define[ \t]+\w+(\((?P<parameters>[^()]*)\))?")
WORTH_A_LOOK = re.compile(r"<<\s*<|\b(__(global|shared|device|constant|managed|asm)__|asm)\b")


def replacement_of(File):
    """The class of a macro's replacement; File is that of a whole file."""

    class Replacement(File):
        """What a macro stands for, as a file of its own that begins within a line of another one."""

        is_whole = False

        def __init__(self, file, position, text, parameters):
            super().__init__(file.path, text, file.macros)
            self.file, self.position, self.names = file, position, parameters
            self.at_namespace_scope = [token.text in SPACES for token in self.tokens]

        def line(self, position):
            return self.file.line(self.position + position)

        def is_conditional(self, position):
            return True  # an error only if the macro is used

        def device_functions(self):
            return []

        def message_text(self, text):
            """A parameter is shown as what the macro is given: k<<<1, n>>>() with #k."""
            parts, position = [], 0
            for match in TOKEN.finditer(text):
                if match.lastgroup == "word" and match.group() in self.names:
                    parts += [c_string(text[position:match.start()]), "#" + match.group()]
                    position = match.end()
            parts.append(c_string(text[position:]))
            return " ".join(part for part in parts if part != '""') or '""'

        def alias(self, beginning, name):
            return f"{beginning}##{name}" if name in self.names else super().alias(beginning, name)

        def declares_variable(self, at):
            """True if a parameter is the variable's name: a macro may also be no more than the words before one."""
            if not super().declares_variable(at):
                return False
            words = []
            while self.text(at) not in ("", "=", ";", "[", "{", ","):
                words += [self.text(at)] if self.is_word(at) else []
                at = self.after(at)
            return len(set(words) - QUALIFIERS) > 1 and words[-1] in self.names

    return Replacement


def rewrite_definition(file, directive, replacement):
    """Rewrites the replacement of a macro in place; the lines stay, each but the last with its backslash."""
    definition = DEFINITION.match(directive.text)
    if definition is None or not WORTH_A_LOOK.search(directive.text, definition.end()):
        return
    names = re.findall(r"\w+", definition.group("parameters") or "")
    parameters = {*names, *(["__VA_ARGS__"] if "..." in (definition.group("parameters") or "") else [])}
    begin = directive.begin + definition.end()
    text = directive.text[definition.end():].replace("\\\n", " \n")
    part = replacement(file, begin, text + "\n;", parameters)  # a declaration ends where the macro is used
    part.rewrite()
    result = part.result()
    last = result.rstrip().removesuffix(";").rstrip()
    file.edits.append((begin, directive.end, re.sub(" ?\n", r"\\\n", last)))
