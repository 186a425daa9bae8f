"""Variables of kernels: what becomes of __shared__, and of __device__, __constant__ and __managed__."""

from .tokens import OPENING, TAKES_PARENTHESES, SourceFile


class Variables(SourceFile):
    """A file whose variables with a memory space are rewritten."""

    # ---- Declarations ----

    def declaration(self, at):
        """Index of the first token and of the ; of the declaration that has the specifier at."""
        begin = at
        while True:
            before = self.text(begin - 1)
            if before == ">":
                begin = self.before_angle(begin - 1)
            elif before in (")", "]"):
                opening = self.other_end(begin - 1)
                if before == ")" and self.text(opening - 1) not in TAKES_PARENTHESES:
                    break
                begin = opening
            elif (self.is_operand(begin - 1) or before in ("::", "*", "&")
                  or before == '"C"'):
                begin -= 1
            else:
                break
        end = at
        while self.text(end) != ";":
            if self.text(end) in ("", *OPENING):
                self.fail(at, "this declaration has no ;")
            end = self.after(end)
        return begin, end

    def is_attribute(self, i):
        return self.text(i) == "[" and self.text(i + 1) == "["

    def declarators(self, begin, end, dropped):
        """The declaration split at its commas, without alignments, attributes and dropped words.

        Each part is a list of pieces, each piece a range of token indices: one token, one pair of
        brackets with what is inside, or the arguments of a template.
        """
        parts, i = [[]], begin
        initialiser = angle = False
        while i < end:
            text, next_i = self.text(i), self.after(i)
            if text in ("alignas", "__align__", "__attribute__"):
                i = self.after(i + 1)
                continue
            if text in dropped or self.is_attribute(i):
                i = next_i
                continue
            if text == ",":
                if angle:
                    self.fail(i, "put the initialiser before this comma in parentheses")
                parts.append([])
            else:
                initialiser = initialiser or text == "="
                if text in ("decltype", "__typeof__") and not initialiser:
                    next_i = self.after(i + 1)
                elif text == "<" and not initialiser:
                    next_i = self.after_angle(i)
                angle = initialiser and (angle or text in "<>")
                parts[-1].append(range(i, next_i))
            i = next_i
        return parts

    def first_texts(self, pieces):
        return [self.text(piece[0]) for piece in pieces]

    # ---- __shared__ ----

    def rewrite_shared(self, at):
        begin, end = self.declaration(at)
        external = "extern" in (token.text for token in self.tokens[begin:end])
        is_global = self.at_namespace_scope[at]
        declare = self.dynamic_shared if external else self.global_shared if is_global else self.static_shared
        base, text = None, ""
        for pieces in self.declarators(begin, end, ("__shared__", "extern", "static")):
            kind, name, extents = self.shared_variable(at, pieces)
            if base is None:
                stars = [i for i, word in enumerate(self.first_texts(kind)) if word in "*&"]
                base = kind[:stars[0]] if stars else kind
                if not base:
                    self.fail(at, f"cannot find the type of {self.text(name)}")
            else:
                kind = base + kind
            if is_global and external:
                self.macros.shared[self.text(name)] = declare(kind, name, extents)
                continue
            # Every variable goes to the line of its name.
            line = self.source.count("\n", self.tokens[begin].begin, self.tokens[name].begin)
            text += "\n" * (line - text.count("\n")) + declare(kind, name, extents) + " "
        self.replace(begin, end + 1, text[:-1])

    def shared_variable(self, at, pieces):
        """Type, name and extents of one variable; only the first of a declaration has a type."""
        texts = self.first_texts(pieces)
        if "{" in texts and {"struct", "union", "class", "enum"} & set(texts):
            self.fail(at, "define this type before the kernel and use its name here")
        for i, text in enumerate(texts):
            if text == "(" and self.text(pieces[i][0] + 1) in ("*", "&"):
                self.fail(at, "give this type a name first (using Name = ...;)")
            if text in ("=", "{", "("):
                self.fail(at, "a __shared__ variable cannot have an initialiser: let the threads "
                          "of the block write it, then __syncthreads()")
        last = len(pieces)
        while last > 0 and texts[last - 1] == "[":
            last -= 1
        if last == 0 or not self.is_word(pieces[last - 1][0]):
            self.fail(at, "cannot find the name of this __shared__ variable")
        if "[" in texts[:last]:
            self.fail(at, "this declaration has no ;")
        return pieces[:last - 1], pieces[last - 1][0], pieces[last:]

    def spell_pieces(self, pieces):
        return self.spell(i for piece in pieces for i in piece)

    def dynamic_shared(self, kind, name, extents):
        name_text = self.text(name)
        if not extents or len(extents[0]) > 2:
            self.fail(name, "extern __shared__ memory is an array without a size: "
                      f"extern __shared__ {self.spell_pieces(kind)} {name_text}[];")
        return (f"auto* const {name_text} = ::simt::dynamic_shared_array<"
                f"{self.spell_pieces(kind + extents[1:])}>({self.message_text(name_text)});")

    def global_shared(self, kind, name, extents):
        """One outside of functions is the same variable in all of them: a type of its own tells which."""
        name_text = self.text(name)
        alias, tag = f"simt_type_{name_text}", f"simt_shared_{name_text}"
        self.macros.shared[name_text] = f'auto& {name_text} = ::simt::shared<{alias}>("{name_text}", {tag}{{}});'
        if extents and len(extents[0]) == 2:
            self.fail(name, f"give {name_text} a size, or write extern for dynamic shared memory")
        return f"using {alias} = {self.spell_pieces(kind + extents)}; struct {tag} {{}};"

    def declare_shared(self):
        """__shared__ variables outside of functions are declared in each function that names them, in a block around
        its own, for it may have a variable of that name."""
        end = 0
        for opening, closing, _ in self.device_functions():
            if opening < end:
                continue  # in another one
            end, head = closing, opening
            while self.text(head - 1) not in ("", ";", "{", "}"):
                head -= 1
            parameters = {token.text for token in self.tokens[head:opening]}
            used = [name for name in self.macros.shared if name not in parameters
                    and any(self.text(i) == name and self.text(i - 1) not in (".", "->") for i in range(opening, closing))]
            if used:
                text = " ".join(f"[[maybe_unused]] {self.macros.shared[name]}" for name in used)
                begin, close = self.tokens[opening].end, self.tokens[closing].begin
                self.edits += [(begin, begin, f" {text} {{"), (close, close, "} ")]

    def static_shared(self, kind, name, extents):
        name_text = self.text(name)
        if extents and len(extents[0]) == 2:
            self.fail(name, f"give {name_text} a size, or write extern for dynamic shared memory")
        alias = self.alias("simt_type_", name_text)
        return (f"using {alias} = {self.spell_pieces(kind + extents)}; "
                f"{alias}& {name_text} = ::simt::shared<{alias}>({self.message_text(name_text)}, [] {{}});")

    def alias(self, beginning, name):
        """A name of our own that goes with a variable's name."""
        return beginning + name

    # ---- __device__, __constant__ and __managed__ variables ----

    def rewrite_global(self, at):
        """Makes variables known to the checker; returns the index of the declaration's end."""
        begin, end = self.declaration(at)
        words = [token.text for token in self.tokens[begin:at + 1]]
        if "template" in words:
            self.fail(at, "a __device__ variable cannot be a template here")
        parts = self.declarators(begin, end, ())
        first = [self.macros.spaces.get(text, text) for text in self.first_texts(parts[0])]
        is_extern = "extern" in first and "=" not in first
        names = [self.variable_name(at, part, False)[0] for part in parts] if "__constant__" in first else []
        if "__constant__" in first and (is_extern or self.macros.external & set(names)):
            # The macro says static, as it is in a header that several files include.
            word = next((i for i in range(begin, end) if self.text(i) == "__constant__"), None)
            if word is None:
                self.fail(at, f"write __constant__ instead of {self.text(at)}: the variable is in another file, too")
            self.edits.append((self.tokens[word].begin, self.tokens[word].end, ""))
        if is_extern:
            self.macros.external.update(names)
            return end  # its definition will be made known
        if "{" in first and {"struct", "union", "class", "enum"} & set(first):
            self.fail(at, "define this type first, then declare the variable")
        kind = next(kind for kind in ("constant", "managed", "device") if f"__{kind}__" in first)
        # One object for all translation units, if the variable itself is that.
        storage = "inline" if "inline" in first and "static" not in first else "static"
        base_size = next((i for i, text in enumerate(first) if text in ("*", "&", "(")), len(first))
        base_const = {"const", "constexpr"} & set(first[:base_size])
        known = ""
        for part in parts:
            name, is_const = self.variable_name(at, part, base_const)
            # Constants are data of the program: every kernel may read them.
            if kind == "constant" or not (is_const or "constexpr" in first):
                symbol = self.alias("simt_global_", name.replace("::", "_"))
                known += (f' {storage} ::simt::GlobalVariable {symbol}({self.message_text(name)}, (void*)&{name}, '
                          f"sizeof {name}, ::simt::type_of<decltype({name})>(), "
                          f"::simt::GlobalKind::{kind});")
            if kind == "constant" and self.is_seen_elsewhere(at, name, first) and not is_const:
                known += (f' extern "C" decltype({name}) simt_extern_{name} __asm__("{name}") '
                          f'__attribute__((weak, alias("_ZL{len(name)}{name}")));')
        position = self.tokens[end].end
        if end == len(self.tokens) - 1 and not self.is_whole:  # the ; is where the macro is used
            position, known = self.tokens[end - 1].end, (";" + known).removesuffix(";")
        self.edits.append((position, position, known))
        return end

    def is_seen_elsewhere(self, at, name, words):
        """True for a constant that another file may declare as extern: it is static, but also has its plain name."""
        if not self.macros.is_linked:
            return False
        around = (self.partner.get(i, 0) > at for i in range(at) if self.text(i) == "{")
        return not ({"static", "inline", "extern", "constexpr"} & set(words) or name in self.macros.external
                    or "::" in name or any(around))

    def declares_variable(self, at):
        """False if the specifier at belongs to a function or a lambda."""
        i = at
        while True:
            text = self.text(i)
            if text in ("", "operator", *OPENING):
                return False
            if text in ("=", ";", "[", "{", ",") and not self.is_attribute(i):
                return True
            if text == "(":
                break
            if text in TAKES_PARENTHESES and self.text(i + 1) == "(":
                i = self.after(i + 1)
            elif text == "<":
                i = self.after_angle(i)
            else:
                i = self.after(i)
        if self.text(i + 1) in ("*", "&"):  # int (*p)(int), but not int (*function(int))(int)
            return "(" not in (token.text for token in self.tokens[i + 1:self.other_end(i)])
        if self.tokens[i + 1].kind in ("number", "literal") or self.text(i + 1) == "-":
            self.fail(i, "write the initial value of a __device__ variable with =")
        return False

    def variable_name(self, at, pieces, base_const):
        """Name of the variable that these pieces declare, and whether it is constant itself."""
        texts = self.first_texts(pieces)
        size = next((i for i, text in enumerate(texts) if text in ("=", "{")), len(texts))
        indices = [piece[0] for piece in pieces[:size]]
        if "(" in texts[:size]:  # int (*name[2])(int)
            opening = indices[texts.index("(")]
            indices = [i for part in self.declarators(opening + 1, self.other_end(opening), ())
                       for i in (piece[0] for piece in part)]
        while indices and self.text(indices[-1]) == "[":
            indices.pop()
        if not indices or not self.is_word(indices[-1]):
            self.fail(at, "cannot find the name of this variable")
        begin = len(indices) - 1
        while begin >= 2 and self.text(indices[begin - 1]) == "::":
            begin -= 2
        in_front = [self.text(i) for i in indices[:begin]]
        if "*" in in_front:
            is_const = "const" in in_front[len(in_front) - in_front[::-1].index("*"):]
        else:
            is_const = base_const
        return self.spell(indices[begin:]), is_const
