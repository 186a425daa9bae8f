"""The Reader of reading.py: goes through what clang has made of one exercise file."""

import os
import re
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.cpp_text import tokens_of
from tools.teach import bit_fields, host_memory, libclang, text_rules, vocabulary

FUNCTIONS = {8, 21, 24, 25, 26, 30}
RECORDS = {2, 3, 4, 31, 32}
NO_TYPE_OF_CUDA = re.compile(r"long double|__float128")
REFERENCES = {43, 44, 45, 46, 47, 48, 50, 101, 102, 103}
CALL, NAME, MEMBER, METHOD, DESTRUCTOR = 103, 101, 102, 21, 25
OTHER_ATTRIBUTE = 400  # those that clang's library has no kind for, such as always_inline
UNIT, NAMESPACE, OVERLOADED, LINKAGE = (300, 350), 22, 49, (1, 23)
# Of the C++ library's own, in std or reached through it, beside C's.
RISKY_IN_STD = frozenset("terminate set_terminate get_terminate set_unexpected set_new_handler get_new_handler unexpected async thread jthread quick_exit at_quick_exit atexit "
                         "exit abort system getenv signal raise longjmp fopen remove rename tmpfile fork execv open close read write".split())
# Functions whose names no answer gives to its own: a check, or a header's template, could call the function of the answer instead.
GUARDED = re.compile(r"cuda\w+|__\w+|atomic\w+|make_\w+|mem\w+|str\w+|printf|puts|putchar|\w*alloc|free")
# A call, or a declaration that has no word before it, such as a constructor's.
CALLED = re.compile(r"(?:(?<![\w.:>\s])|(?<![\w.:>\s])\s+|\b(?:return|else|do|throw|case|not|and|or)\s+)(\w+)\s*(?:<[\w:, ]*>)?\(")


def callee_of(call, children):
    """The name that a call has before its arguments; None where what is called is a value, and in a constructor's call."""
    name = host_memory.inside(children[0]) if children else None
    if name is None or name._kind_id not in (NAME, MEMBER):
        return None
    if call.referenced is None:  # it depends on a template's parameter, or is in parentheses
        return name if children[0].extent.start == call.extent.start else None
    return name if name.referenced is not None and name.referenced.canonical == call.referenced.canonical else None


class Reader:
    """Reads one text of an answer to an exercise."""

    def __init__(self, chapter, name, file, precompiled):
        self.chapter, self.name, self.file, self.precompiled = chapter, name, Path(file), precompiled
        self.folder = TOP / "chapters" / chapter
        self.text = self.file.read_text(encoding="utf-8", errors="replace")
        check = self.folder / "checks" / f"{name}.cu"
        self.check = check.read_text(encoding="utf-8") if check.exists() else ""
        starter = TOP / "exercises" / chapter / f"{name}.cuh"
        self.interface = set(re.findall(r"^[A-Za-z_][^\n(=;]*?\b(\w+)\s*\(", starter.read_text(encoding="utf-8"), re.M)) if starter.exists() else set()
        self.called = set(CALLED.findall(self.check + "".join(file.read_text(encoding="utf-8") for file in self.folder.glob("*.cuh"))))
        self.words, self.risky, self.signatures, self.functions = precompiled.read()
        self.risky |= RISKY_IN_STD
        self.refused, self.for_a_person = [], []
        self.origins = {}
        self.callees = set()  # names of functions that are called where they stand

    def refuse(self, line, name, reason):
        sentence = f"line {line}: {name}: {reason}"
        if not any(other.startswith(f"line {line}: {name}: ") for other in self.refused):
            self.refused.append(sentence)

    def mark(self, line, reason):
        sentence = f"line {line}: {reason}"
        if sentence not in self.for_a_person:
            self.for_a_person.append(sentence)

    def read(self):
        quoted = {file.name for file in self.folder.glob("*.cuh")}
        self.refused += text_rules.read_characters(self.text)
        self.refused += text_rules.read_directives(self.text, quoted, self.words | set(text_rules.WORD.findall(self.check)))
        if self.refused:
            return
        for number, text in enumerate(text_rules.branches(self.text)):
            self.read_with_clang(text, is_other_branch=number > 0)

    def read_with_clang(self, text, is_other_branch):
        self.text, self.bytes = text, text.encode()
        self.file.with_suffix(".cu").write_text(text, encoding="utf-8")
        self.path = str(self.file.with_suffix(".cu"))
        unit = libclang.parse(self.path, self.precompiled, (self.folder,))
        self.read_diagnostics(unit, is_other_branch)
        self.own, self.types, self.resolved = set(text_rules.macros_of(text)), set(), {}
        for match, name, rest in text_rules.directives(text):
            if name == "define" and (head := re.match(r"\w+\(([^)]*)\)", rest)):
                self.own |= set(text_rules.WORD.findall(head[1]))
        self.quoting = {text_rules.WORD.match(rest).group() for _, name, rest in text_rules.directives(text) if name == "define" and "#" in rest and text_rules.WORD.match(rest)}
        self.quoted = []  # (first byte, last byte) of uses of macros that make texts of their arguments
        self.host = host_memory.Host(self)
        stack = [(cursor, (), host_memory.NOWHERE) for cursor in reversed(self.top_of(unit))]
        while stack:
            cursor, parents, where = stack.pop()
            children = list(cursor.get_children())
            if cursor._kind_id == CALL and (callee := callee_of(cursor, children)) is not None:
                self.callees.add(callee.hash)
            self.step(cursor, parents)
            where = self.host.step(cursor, children, where)
            inner = (*parents, cursor._kind_id)
            stack += [(child, inner, where) for child in reversed(children)]
        self.host.finish()
        self.read_tokens(unit)

    def top_of(self, unit):
        return [cursor for cursor in unit.cursor.get_children() if self.is_own_file(cursor.location.file)]

    def is_own_file(self, file):
        return file is not None and file.name == self.path

    def is_of_course(self, file):
        return self.is_own_file(file) or Path(os.path.realpath(file.name)).is_relative_to(TOP.resolve())

    def read_diagnostics(self, unit, is_other_branch):
        for found in unit.diagnostics:
            if not self.is_own_file(found.location.file):
                continue
            line = found.location.line
            if found.severity >= 3:
                where = "a branch of the preprocessor that is left out here does not compile" if is_other_branch else \
                    "clang's CUDA front end does not take this line"
                self.mark(line, f"{where}: {found.spelling}")
            elif found.option == "-Wglobal-constructors":
                name = re.search(r"\w+", self.text.split("\n")[line - 1][found.location.column - 1:])
                self.refuse(line, name.group() if name else "a variable", "a variable outside of functions whose initialiser or destructor runs as code, before or after the check")
            elif found.option == "-Wreturn-stack-address":
                self.mark(line, f"{found.spelling}: memory that is no longer this function's")

    # -- one cursor

    def step(self, cursor, parents):
        kind = cursor._kind_id
        if kind < 500:
            self.step_type(cursor, cursor.type)
        if kind in REFERENCES or kind == 100:
            self.step_reference(cursor, cursor.referenced)
            if kind in (NAME, MEMBER) and cursor.hash not in self.callees and self.is_function_of_library(cursor.referenced):
                self.refuse(cursor.location.line, cursor.referenced.spelling, "a function of a library is used as a value; no check sees what a call through its address does, so call it by its name")
            if kind == 103 and cursor.spelling == "printf" and re.search(r"%[-+ #0-9.*hljztLqI']*n", self.source_of(cursor)):
                self.refuse(cursor.location.line, "printf", "its format %n writes to memory")
        elif kind == OVERLOADED:
            library = libclang.bindings().conf.lib
            for number in range(library.clang_getNumOverloadedDecls(cursor)):
                self.step_reference(cursor, library.clang_getOverloadedDecl(cursor, number), is_set=True)
        elif kind == 501 or kind == 503:
            return
        elif kind == 502:
            self.step_macro(cursor)
        elif kind == 201:
            self.own.add(cursor.spelling)
        elif kind in (120, 211):
            self.refuse(cursor.location.line, "goto *", "a label's address is no code that can be read")
        elif kind in (215, 229, 407):
            self.refuse(cursor.location.line, "asm", "assembler cannot be read")
        elif kind == 600:
            self.refuse(cursor.location.line, "import", "modules are not read")
        if kind < 100 or 600 <= kind:
            self.step_declaration(cursor, kind, parents)

    def step_type(self, cursor, kind):
        if found := NO_TYPE_OF_CUDA.search(kind.get_canonical().spelling):
            self.refuse_type(cursor.location.line, found.group())

    def refuse_type(self, line, name):
        self.refuse(line, name, f"a GPU has no {name}, and no check sees its accesses")

    def step_macro(self, cursor):
        file, line, offset = libclang.written_at(cursor.location)
        if file != self.path:
            return
        name = cursor.spelling
        definition = cursor.referenced
        if definition is not None and definition.location.file is not None and self.is_own_file(definition.location.file):
            self.resolved[offset] = True
            if name in self.quoting:
                self.quoted.append((offset, libclang.written_at(cursor.extent.end)[2]))
        elif vocabulary.MACROS.fullmatch(name) or vocabulary.PLAIN.fullmatch(name):
            self.resolved[offset] = True
        else:
            self.refuse(line, name, "this macro is not among those that an exercise may use")

    def step_reference(self, cursor, found, is_set=False):
        if found is None or found == cursor or found._kind_id in (OVERLOADED, 70, 71, 72, 73):
            return
        file, line, offset = libclang.written_at(cursor.location)
        is_written = file == self.path
        for i in range(found.get_num_template_arguments() if found._kind_id in FUNCTIONS else 0):  # f<long double>: its own type need not say it
            self.step_type(cursor, found.get_template_argument_type(i))
        if found.access_specifier.name in ("PRIVATE", "PROTECTED") and not self.is_own_file(found.location.file):
            self.refuse(cursor.location.line, found.spelling or "this", "a private or protected member of a class that is not this file's own")
        if reason := self.origin(found):
            self.refuse(cursor.location.line, found.spelling or "this", reason)
        elif is_written:
            self.resolved.setdefault(offset, True)
            for part in self.name_offsets(cursor, offset):
                self.resolved.setdefault(part, True)
        if is_set and cursor.spelling in self.risky:
            self.refuse(cursor.location.line, cursor.spelling, "which function it calls is not known before a template has its arguments, and the C library has one of this name")

    def is_function_of_library(self, found):
        """True for a function of C, C++ or CUDA, which is not compiled with the answer as the course's functions are."""
        if found is not None and found._kind_id == OVERLOADED:
            library = libclang.bindings().conf.lib
            return any(self.is_function_of_library(library.clang_getOverloadedDecl(found, number)) for number in range(library.clang_getNumOverloadedDecls(found)))
        if found is None or found._kind_id not in (8, METHOD, 30) or found.spelling.startswith("operator") or found.spelling in vocabulary.MANIPULATORS:
            return False
        file = found.location.file
        return file is None or os.path.realpath(file.name).startswith(os.path.realpath(libclang.HEADERS)) or not self.is_of_course(file)

    def name_offsets(self, cursor, offset):
        """Where the name itself stands: a reference's location may be that of what is before it, a.name or a::name."""
        name = (cursor.spelling or "").rsplit("::", 1)[-1]
        if not name.isidentifier() or self.text.startswith(name, offset):
            return
        extent = cursor.extent
        begin, end = extent.start.offset, extent.end.offset
        if end - len(name) >= begin and self.text.startswith(name, end - len(name)):
            yield end - len(name)

    # -- where a name is from

    def origin(self, found):
        """Why an answer may not use what clang found; "" if it may."""
        key = found.canonical.hash
        if key not in self.origins:
            self.origins[key] = self.find_origin(found.canonical)
        return self.origins[key]

    def scopes(self, found):
        """The names of what is around a declaration, the outermost first, without the library's inner namespaces."""
        names, parent = [], found.semantic_parent
        while parent is not None and parent._kind_id not in UNIT and parent._kind_id != 70:
            outer = parent.semantic_parent
            is_inner = parent._kind_id == NAMESPACE and parent.spelling.startswith("_") and outer is not None and outer.spelling == "std"
            if not (is_inner or parent._kind_id in LINKAGE):
                names.insert(0, parent.spelling)
            parent = outer
        return names

    def find_origin(self, found):
        file = found.location.file.name if found.location.file is not None else ""
        name, kind = found.spelling, found._kind_id
        if file == self.path:
            return ""
        outer = self.scopes(found)
        if kind == NAMESPACE:
            return self.origin_of_namespace([*outer, name], file)
        path = os.path.realpath(file) if file else ""
        if path.startswith(str(libclang.INCLUDE.resolve())):
            is_for_answers = Path(path).stem in vocabulary.COURSE_HEADERS or name in vocabulary.FOR_ANSWERS
            if not is_for_answers or name in vocabulary.NOT_FOR_ANSWERS:
                return "it belongs to the course's checks, and is not for exercises"
            return ""
        if Path(path).parent.parent == self.folder.resolve().parent:  # a chapter's header, which may include another chapter's
            return ""
        if outer and outer[0] in vocabulary.FREE_NAMESPACES:
            return ""
        if path.startswith(os.path.realpath(libclang.HEADERS)):
            return self.origin_in_device(outer, name, kind)
        if outer and outer[0] == "std":
            named = outer[1] if len(outer) > 1 else name
            if named in vocabulary.STD or named.startswith(("_", "operator", "~")) or kind in (24, 25, 26, 27, 28, 29, 10):
                return ""
            return f"std::{named} is not among the names of the C++ library that an exercise may use"
        if outer and outer[0] == "__gnu_cxx":
            return ""
        if kind in (6, 7, 10, 27, 28, 29):  # fields and parameters of what was reached
            return ""
        return self.origin_in_c(outer, name, kind)

    def origin_of_namespace(self, names, file):
        if names[0] in vocabulary.FREE_NAMESPACES or (file and Path(os.path.realpath(file)).parent.parent == self.folder.resolve().parent):
            return ""
        if names[0] == "std" and all(name in vocabulary.STD or name.startswith("_") or name.endswith("literals") for name in names[1:]):
            return ""
        return f"the namespace {'::'.join(names)} is not for exercises"

    def origin_in_device(self, outer, name, kind):
        in_type = [scope for scope in outer if scope not in ("simt", "")]
        if kind in FUNCTIONS or kind == 9:
            if in_type or vocabulary.PLAIN.fullmatch(name) or name.startswith("operator"):
                return ""
            return "the CPU device's own, or a function of CUDA that exercises have no use for"
        return ""

    def origin_in_c(self, outer, name, kind):
        if kind in FUNCTIONS or kind == 9:
            if outer:
                return f"{'::'.join(outer)}::{name} is a library's own"
            if vocabulary.PLAIN.fullmatch(name) or vocabulary.BUILTIN.fullmatch(name) or re.match(r"operator (new|delete)", name):
                return ""
            return "this function of the system is not among those that an exercise may use"
        return ""

    # -- declarations

    def step_declaration(self, cursor, kind, parents):
        line, name = cursor.location.line, cursor.spelling
        if kind in (23, 43, 44, 45, 46, 47, 48, 49, 50, 39, 602):
            if kind == 23:
                self.refuse(line, "extern", "a declaration that another file could define")
            return
        file, _, offset = libclang.written_at(cursor.location)
        if file == self.path:
            if name.isidentifier():
                self.own.add(name)
                self.types |= {name} if kind in RECORDS or kind == 5 else set()
                self.resolved[offset] = True
        if kind in RECORDS and cursor.is_definition():
            self.step_bit_fields(cursor)
        is_at_top = not any(parent in FUNCTIONS or parent in RECORDS or parent == 144 for parent in parents)
        canonical = cursor.canonical
        if kind == NAMESPACE:
            self.step_namespace(cursor, name, line)
        elif kind in (33, 34) and kind == 33 and name in self.spaces_of_check():
            self.refuse(line, name, "the check uses a namespace of this name")
        elif (kind in FUNCTIONS or kind in RECORDS or kind in (5, 9, 20, 36, 601, 604)) and not self.is_own_file(canonical.location.file) \
                and libclang.written_at(canonical.location)[0] != self.path:
            self.refuse(line, name, "it is declared by a header, and declared or defined again here")
        if kind in FUNCTIONS:
            self.step_function(cursor, kind, name, line)
        if kind == DESTRUCTOR and any(child._kind_id == OTHER_ATTRIBUTE for child in cursor.get_children()):
            self.mark(line, "a destructor that is always inlined, also into delete, whose accesses no check sees: take __forceinline__ away")
        template = libclang.bindings().conf.lib.clang_getSpecializedCursorTemplate(cursor) if kind in FUNCTIONS or kind in RECORDS else None
        if template is not None and template._kind_id < 100 and not self.is_own_file(template.canonical.location.file):
            self.refuse(line, name, "a specialisation of a template that is not this file's own")
        if kind == 9:
            self.step_variable(cursor, parents, name, line, is_at_top)
        elif kind == 1 and is_at_top:
            words = self.words_of(cursor)
            self.own |= {word for before, word in zip(words, words[1:]) if before in ("typename", "class")}  # its parameters
            if "template" in words[:1] and not {"constexpr", "constinit", "concept", "using"} & set(words) and "->" not in words:
                self.refuse(line, name or "template", "a variable of a template, which is not constexpr: its initialiser runs as code, before the check")

    def step_bit_fields(self, cursor):
        for field, size in bit_fields.unseen(cursor):
            reason = f"these bit-fields take {size} bytes together, and no check sees their accesses: it sees those of 1, 2, 4 and 8 bytes"
            if size is None:
                self.mark(field.location.line, "how many bytes a bit-field takes depends on a template's parameter")
            else:
                self.refuse(field.location.line, field.spelling or "a bit-field", reason)

    def source_of(self, cursor):
        """The text of a cursor, where it is written."""
        begin, end = (libclang.written_at(location) for location in (cursor.extent.start, cursor.extent.end))
        if begin[0] != self.path or end[0] != self.path:
            return ""
        return self.bytes[begin[2]:end[2]].decode(errors="replace")

    def words_of(self, cursor):
        return [token.text for token in tokens_of(self.source_of(cursor))]

    def step_namespace(self, cursor, name, line):
        if name and (not self.is_own_file(cursor.canonical.location.file) or name in self.spaces_of_check() or name in vocabulary.NAMES_REFUSED):
            file = cursor.canonical.location.file
            if file is None or Path(os.path.realpath(file.name)).parent != self.folder.resolve():
                self.refuse(line, name, "it opens a namespace that the course, a library or the check has")

    def spaces_of_check(self):
        return {*re.findall(r"\bnamespace\s+(\w+)", self.check), *re.findall(r"\b(\w+)\s*::", self.check), "std", "course", "Catch", "simt", "cuda", "cooperative_groups"}

    def step_function(self, cursor, kind, name, line):
        parent = cursor.semantic_parent
        if kind == 8 and parent is not None and (parent._kind_id in UNIT or parent._kind_id in LINKAGE) and name + libclang.types_of(cursor) in self.signatures:
            self.refuse(line, name, "a header declares this function, and it is declared or defined again here")
        elif kind in (8, 30) and name in self.functions - self.interface and (GUARDED.fullmatch(name) or name in self.called) and self.is_found_from_outside(cursor, name):
            self.refuse(line, name, "it declares again a name of a header's function, and could be called instead")
        elif re.match(r"operator *(new|delete)", name):
            self.refuse(line, name, "it replaces how memory is allocated")
        elif name == "main" and kind == 8:
            self.refuse(line, name, "the check has the function main")
        elif name.startswith("operator") and kind in (8, 30) and not name.startswith('operator""'):
            types = self.parameters(cursor)
            unknown = {child.spelling for child in cursor.get_children() if child._kind_id in (27, 28, 29)}
            comparison = name[8:] in ("==", "!=", "<", ">", "<=", ">=", "<=>", "<<", ">>", "&&", "||", "()", "[]", ",")
            if not any(self.is_own_type(found, unknown) or (not comparison and self.is_vector(found)) for found in types):
                self.refuse(line, name, "an operator of types that are not this file's own")

    def parameters(self, cursor):
        return [child.type for child in cursor.get_children() if child._kind_id == 10]

    def is_found_from_outside(self, cursor, name):
        """True for a function that code outside of the file's own namespaces finds by its name."""
        return not any(self.scopes(cursor)) or bool(re.search(rf"\binline\s+namespace\b|\bnamespace\s+(?!(?:std|course|cooperative_groups|cuda)\b)[\w:\s]+;|\busing\s[\w:\s]*\b{name}\b", self.text))

    def is_own_type(self, found, unknown):
        """`unknown`: the names of the function's template parameters, which stand for any type."""
        while found._kind_id in (101, 103, 104):
            found = found.get_pointee()
        for kept in (found, found.get_canonical()):
            declaration = kept.get_declaration()
            file = declaration.location.file
            if declaration._kind_id in (2, 3, 4, 5, 31) and file is not None and (self.is_own_file(file) or Path(os.path.realpath(file.name)).parent == self.folder.resolve()):
                return True
        return any(word in self.types - unknown for word in re.findall(r"\w+", found.spelling))  # Mine<T>

    def is_vector(self, found):
        while found._kind_id in (101, 103, 104):
            found = found.get_pointee()
        declaration = found.get_canonical().get_declaration()
        return declaration.location.file is not None and os.path.realpath(declaration.location.file.name).startswith(os.path.realpath(libclang.HEADERS))

    def step_variable(self, cursor, parents, name, line, is_at_top):
        if cursor.tls_kind.value != 0:
            self.refuse(line, name, "a thread_local variable")
        in_template = 31 in parents or 32 in parents or 1 in parents
        in_function = any(parent in FUNCTIONS or parent == 144 for parent in parents)
        if in_template and not in_function and not {"constexpr", "constinit"} & set(self.words_of(cursor)):
            self.refuse(line, name, "a static member of a template, which is not constexpr: its initialiser runs as code, before the check")

    # -- what clang's library does not show

    def read_tokens(self, unit):
        """Each word of the file that no cursor has resolved."""
        cindex = libclang.bindings()
        start = cindex.SourceLocation.from_offset(unit, unit.get_file(self.path), 0)
        end = cindex.SourceLocation.from_offset(unit, unit.get_file(self.path), len(self.text.encode()))
        tokens = [(token.spelling, token._kind_id if hasattr(token, "_kind_id") else token.kind.value, token.location.line, token.location.offset)
                  for token in unit.get_tokens(extent=cindex.SourceRange.from_locations(start, end))]
        self.compare_texts(tokens)
        directive = {}
        for match, name, rest in text_rules.directives(self.text):
            for line in range(text_rules.line_of(self.text, match.start()), text_rules.line_of(self.text, match.end()) + 1):
                directive[line] = name
        words, skipped = [token[0] for token in tokens], libclang.skipped_ranges(unit, self.path)
        bounds = numbers_of_launch_bounds(words)
        for i, (word, kind, line, offset) in enumerate(tokens):
            if not re.match(r"[A-Za-z_]", word) or word[-1] in "\"'":
                if word == "[[" or (word == "[" and words[i + 1:i + 2] == ["["] and tokens[i + 1][3] == offset + 1):
                    self.step_attribute(words, i, line)
                continue
            if directive.get(line, "define") != "define":
                continue
            before = words[i - 1] if i else ""
            if before == "#" or any(begin <= offset < end for begin, end in skipped):  # a directive's name, or a branch that is left out
                continue
            if i in bounds and words[i - 2:i] == ["course", "::"] and not word.startswith("_"):  # a constant: no code can run there
                continue
            if any(begin <= offset < end for begin, end in self.quoted) and word not in self.risky and offset not in self.resolved:
                continue
            self.step_word(word, line, offset, before, words[i + 1] if i + 1 < len(words) else "", words[i - 2] if i > 1 else "")

    def compare_texts(self, tokens):
        """The rewriter of kernels and clang see the same quoted texts."""
        theirs = [(re.sub(r"\w+$", "", word), offset) for word, _, _, offset in tokens if re.match(r"(u8|[uUL])?[\"']", word)]
        ours = [(token.text, len(self.text[:token.begin].encode())) for token in tokens_of(self.text) if token.kind == "text"]
        directive = [(len(self.text[:match.start()].encode()), len(self.text[:match.end()].encode())) for match, name, _ in text_rules.directives(self.text) if name == "include"]

        def outside(texts):
            return [found for found in texts if not any(begin <= found[1] < end for begin, end in directive)]

        if outside(theirs) != outside(ours):
            odd = next((a[1] for a, b in zip(outside(theirs), outside(ours)) if a != b), 0)
            self.refuse(text_rules.line_of(self.text, odd), "quotes", "where a quoted text ends is not clear")

    def step_attribute(self, words, i, line):
        k = i + 1
        while k < len(words) and words[k] != "]" and words[k] != "]]":
            if re.match(r"[A-Za-z_]", words[k]) and words[k] not in ("maybe_unused", "nodiscard", "likely", "unlikely", "fallthrough", "deprecated", "no_unique_address", "clang", "gnu", "using"):
                self.refuse(line, words[k], "this attribute is not read") if words[k - 1] in ("[", "[[", ",", "::", ":") else None
            k += 1

    def step_word(self, word, line, offset, before, after, two_before):
        if (word, before) in (("double", "long"), ("long", "double")):
            self.refuse_type(line, "long double")
        elif word == "extern":
            if after != "__shared__":
                self.refuse(line, word, "a declaration that another file could define")
        elif vocabulary.KEYWORDS_REFUSED.fullmatch(word) or word in vocabulary.NAMES_REFUSED:
            self.refuse(line, word, "this word is not for exercises")
        elif word in text_rules.KEYWORDS or vocabulary.MACROS.fullmatch(word) or word in ("__restrict", "__restrict__", "__func__", "__FUNCTION__", "__VA_ARGS__", "__VA_OPT__", "__PRETTY_FUNCTION__"):
            pass
        elif word.startswith("__builtin_"):
            if not vocabulary.BUILTIN.fullmatch(word):
                self.refuse(line, word, "this function of the compiler is not among those that an exercise may use")
        elif offset in self.resolved:
            pass
        elif before in (".", "->") or (before == "template" and two_before in (".", "->")):
            if word.startswith("_") and word not in self.own:
                self.refuse(line, word, "a library's own name")
        elif word in self.risky and not (before == "::" and two_before in self.own):
            self.refuse(line, word, "what this name stands for cannot be read at this place, and the system's libraries have a function of this name")
        elif word in self.own or word in vocabulary.STD or vocabulary.PLAIN.fullmatch(word) or word in vocabulary.FREE_NAMESPACES or word in ATTRIBUTES:
            pass
        elif before == "::" and not word.startswith("_") and two_before not in ("std", "course", "") and (two_before in self.own or two_before in (">", "")
                                                                                                   or two_before in vocabulary.STD or two_before in self.own):
            pass
        else:
            self.refuse(line, word, "what this name stands for cannot be read: it is neither this file's own nor on the list of names for exercises")


def numbers_of_launch_bounds(words):
    """The places of the words between the parentheses of each __launch_bounds__(...), which clang's library does not show."""
    places, depth = set(), 0
    for i, word in enumerate(words):
        depth += (word == "(" and (depth > 0 or words[i - 1:i] == ["__launch_bounds__"])) - (word == ")" and depth > 0)
        if depth:
            places.add(i)
    return places


ATTRIBUTES = frozenset("maybe_unused nodiscard likely unlikely fallthrough deprecated no_unique_address override final std".split())
