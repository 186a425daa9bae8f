"""Variables of kernels: what becomes of __shared__, and of __device__, __constant__ and __managed__."""

from build.rewriter.functions import SPACES
from build.rewriter.kernels import TYPE_WORDS
from build.rewriter.source import OPENING, TAKES_PARENTHESES, Shared, c_string

TYPE_KEYS = {"struct", "class", "union", "enum"}
QUALIFIERS = SPACES | {"static", "extern", "const", "volatile", "inline"}

# ---- Declarations ----


def declaration(file, at):
    """Index of the first token and of the ; of the declaration that has the specifier at."""
    begin = at
    while True:
        before = file.text(begin - 1)
        if before == ">":
            begin = file.before_angle(begin - 1)
        elif before in (")", "]"):
            opening = file.other_end(begin - 1)
            if before == ")" and file.text(opening - 1) not in TAKES_PARENTHESES:
                break
            begin = opening
        elif (file.is_operand(begin - 1) or before in ("::", "*", "&")
              or before == '"C"'):
            begin -= 1
        else:
            break
    end = at
    while file.text(end) != ";":
        if file.text(end) in ("", *OPENING):
            file.fail(at, "this declaration has no ;")
        end = file.after(end)
    return begin, end


def declarators(file, begin, end, dropped):
    """The declaration split at its commas, without alignments, attributes and dropped words.

    Each part is a list of pieces, each piece a range of token indices: one token, one pair of
    brackets with what is inside, or the arguments of a template. A text is a piece, too: define_type().
    """
    parts, i = [[]], begin
    initialiser = angle = False
    while i < end:
        text, next_i = file.text(i), file.after(i)
        if text in ("alignas", "__align__", "__attribute__"):
            i = file.after(i + 1)
            continue
        if text in dropped or file.is_attribute(i):
            i = next_i
            continue
        if text == ",":
            if angle:
                file.fail(i, "put the initialiser before this comma in parentheses")
            parts.append([])
        else:
            initialiser = initialiser or text == "="
            if text in ("decltype", "__typeof__") and not initialiser:
                next_i = file.after(i + 1)
            elif text == "<" and not initialiser:
                next_i = file.after_angle(i)
            angle = initialiser and (angle or text in "<>")
            parts[-1].append(range(i, next_i))
        i = next_i
    return parts


def first_texts(file, pieces):
    return [piece if isinstance(piece, str) else file.text(piece[0]) for piece in pieces]


def type_body(file, pieces):
    """Index of the { } of a type that is defined within the declaration; None if none is."""
    texts = first_texts(file, pieces)
    body = next((i for i, text in enumerate(texts) if text in ("=", "{")), len(texts))
    return body if texts[body:body + 1] == ["{"] and TYPE_KEYS & set(texts[:body]) else None

# ---- __shared__ ----


def rewrite_shared(file):
    """Pass. Each becomes a reference to the block's own storage."""
    for at in file.find(["__shared__"]):
        rewrite_shared_at(file, at)


def rewrite_shared_at(file, at):
    begin, end = declaration(file, at)
    external = "extern" in (token.text for token in file.tokens[begin:end])
    is_global = file.at_namespace_scope[at]
    declare = dynamic_shared if external else global_shared if is_global else static_shared
    parts = declarators(file, begin, end, ("__shared__", "extern", "static"))
    body = type_body(file, parts[0])
    if body is not None:
        begin = define_type(file, at, begin, parts[0], body)
    base, text = None, ""
    for pieces in parts:
        kind, name, extents = shared_variable(file, at, pieces)
        if not is_global:
            file.shared.append(Shared(file.text(name), name, external))
        if base is None:
            stars = [i for i, word in enumerate(first_texts(file, kind)) if word in "*&"]
            base = kind[:stars[0]] if stars else kind
            if not base:
                file.fail(at, f"cannot find the type of {file.text(name)}")
        else:
            kind = base + kind
        if is_global and external:
            file.unit.shared[file.text(name)] = declare(file, kind, name, extents)
            continue
        # Every variable goes to the line of its name.
        line = file.source.count("\n", file.tokens[begin].begin, file.tokens[name].begin)
        text += "\n" * (line - text.count("\n")) + declare(file, kind, name, extents) + " "
    file.replace(begin, end + 1, text[:-1])


def define_type(file, at, begin, pieces, body):
    """Gives the type that the declaration defines a name of its own, which takes its place among the pieces. Returns the
    index of the token after the type."""
    key = next(i for i, text in enumerate(first_texts(file, pieces)) if text in TYPE_KEYS)
    end = pieces[body][-1] + 1
    qualifiers = spell_pieces(file, pieces[:key] + [pieces[key]])
    if end == pieces[-1][-1] + 1:
        file.fail(at, "cannot find the name of this __shared__ variable")
    name = file.alias("simt_struct_", file.text(shared_variable(file, at, pieces[body + 1:])[1]))
    file.replace(begin, pieces[key][0] + 1, f"using {name} = {qualifiers}")
    position = file.tokens[end - 1].end
    file.edits.append((position, position, "; "))
    pieces[:body + 1] = [name]
    return end


def shared_variable(file, at, pieces):
    """Type, name and extents of one variable; only the first of a declaration has a type."""
    texts = first_texts(file, pieces)
    for i, text in enumerate(texts):
        if text == "(" and file.text(pieces[i][0] + 1) in ("*", "&"):
            file.fail(at, "give this type a name first (using Name = ...;)")
        if text in ("=", "{", "("):
            file.fail(at, "a __shared__ variable cannot have an initialiser: let the threads "
                      "of the block write it, then __syncthreads()")
    last = len(pieces)
    while last > 0 and texts[last - 1] == "[":
        last -= 1
    if last == 0 or not file.is_word(pieces[last - 1][0]):
        file.fail(at, "cannot find the name of this __shared__ variable")
    if "[" in texts[:last]:
        file.fail(at, "this declaration has no ;")
    return pieces[:last - 1], pieces[last - 1][0], pieces[last:]


def spell_pieces(file, pieces):
    defined = "".join(piece for piece in pieces if isinstance(piece, str))
    return defined + file.spell(i for piece in pieces if not isinstance(piece, str) for i in piece)


def dynamic_shared(file, kind, name, extents):
    name_text = file.text(name)
    if not extents or len(extents[0]) > 2:
        file.fail(name, "extern __shared__ memory is an array without a size: "
                  f"extern __shared__ {spell_pieces(file, kind)} {name_text}[];")
    return (f"auto* const {name_text} = ::simt::dynamic_shared_array<"
            f"{spell_pieces(file, kind + extents[1:])}>({file.message_text(name_text)});")


def global_shared(file, kind, name, extents):
    """One outside of functions is the same variable in all of them: a type of its own tells which."""
    name_text = file.text(name)
    alias, tag = f"simt_type_{name_text}", f"simt_shared_{name_text}"
    file.unit.shared[name_text] = f'auto& {name_text} = ::simt::shared<{alias}>("{name_text}", {tag}{{}});'
    if extents and len(extents[0]) == 2:
        file.fail(name, f"give {name_text} a size, or write extern for dynamic shared memory")
    return f"using {alias} = {spell_pieces(file, kind + extents)}; struct {tag} {{}};"


def declare_shared(file):
    """Pass. __shared__ variables outside of functions are declared in each function that names them, in a block around
    its own, for it may have a variable of that name. Needs rewrite_shared(), and file.functions."""
    end = 0
    for opening, closing, _ in file.functions:
        if opening < end:
            continue  # in another one
        end, head = closing, opening
        while file.text(head - 1) not in ("", ";", "{", "}"):
            head -= 1
        parameters = {token.text for token in file.tokens[head:opening]}
        used = [name for name in file.unit.shared if name not in parameters
                and any(file.text(i) == name and file.text(i - 1) not in (".", "->") for i in range(opening, closing))]
        if used:
            text = " ".join(f"[[maybe_unused]] {file.unit.shared[name]}" for name in used)
            begin, close = file.tokens[opening].end, file.tokens[closing].begin
            file.edits += [(begin, begin, f" {text} {{"), (close, close, "} ")]


def capture_shared(file):
    """Pass. A lambda needs no capture of a __shared__ variable, which has static storage, and [=] copies none: here each is a
    reference of the function, or a pointer to dynamic memory. Needs rewrite_shared()."""
    everywhere = [Shared(name, 0, text.startswith("auto*")) for name, text in file.unit.shared.items()]
    if not (file.shared or everywhere):
        return
    for at, body in lambdas(file):
        if file.text(at + 1) == "&" and file.text(at + 2) in ("]", ","):
            continue  # by reference, whatever it is
        captures = {file.text(i) for i in range(at + 1, file.other_end(at))}
        inside = {file.text(i) for i in range(body + 1, file.other_end(body)) if file.text(i - 1) not in (".", "->", "::")}
        parameters = {file.text(i) for i in range(file.other_end(at) + 1, body)}
        copies = file.text(at + 1) == "="
        added = [shared.name if shared.is_pointer else f"&{shared.name}" for shared in (*file.shared, *everywhere)
                 if shared.name in inside - captures - parameters and is_in_scope(file, shared, at) and not (shared.is_pointer and copies)]
        if added:
            end = file.tokens[file.other_end(at)].begin
            file.edits.append((end, end, (", " if captures else "") + ", ".join(dict.fromkeys(added))))


def lambdas(file):
    """([, {) of each lambda."""
    for at in file.find(["["]):
        if file.is_operand(at - 1) or file.text(at - 1) in ("]", ")", "[", "delete", "operator") or file.is_attribute(at) or at not in file.partner:
            continue
        i = file.after(at)
        i = file.after_angle(i) if file.text(i) == "<" else i
        while file.text(i) not in ("", ";", "{", "}", ")", "]", ","):
            i = file.after(i)
        if file.text(i) == "{" and i in file.partner:
            yield at, i


def is_in_scope(file, shared, i):
    """True where the token i is in the block that declares the variable, after it."""
    if shared.declared == 0:
        return not file.at_namespace_scope[i]
    blocks = [(opening, file.partner[opening]) for opening in file.places.get("{", ()) if opening in file.partner and opening < shared.declared]
    return shared.declared < i and all(i < closing for _, closing in blocks if shared.declared < closing)


def static_shared(file, kind, name, extents):
    name_text = file.text(name)
    if extents and len(extents[0]) == 2:
        file.fail(name, f"give {name_text} a size, or write extern for dynamic shared memory")
    alias = file.alias("simt_type_", name_text)
    return (f"using {alias} = {spell_pieces(file, kind + extents)}; "
            f"{alias}& {name_text} = ::simt::shared<{alias}>({file.message_text(name_text)}, [] {{}});")


# ---- __device__, __constant__ and __managed__ variables ----


def rewrite_globals(file):
    """Pass. Makes variables of the device known to the checker."""
    known = 0  # the variables before this token are known
    for at in file.find(SPACES | file.unit.spaces.keys()):
        if at >= known and file.at_namespace_scope[at] and declares_variable(file, at):
            known = rewrite_global(file, at)


def rewrite_global(file, at):
    """Makes variables known to the checker; returns the index of the declaration's end."""
    begin, end = declaration(file, at)
    is_template = file.text(begin) == "template"
    parts = declarators(file, file.after_angle(begin + 1) if is_template else begin, end, ())
    first = [file.unit.spaces.get(text, text) for text in first_texts(file, parts[0])]
    kind = next(kind for kind in ("constant", "managed", "device") if f"__{kind}__" in first)
    if is_template:
        return rewrite_template(file, begin, end, parts, kind, "static" in first)
    is_extern = "extern" in first and "=" not in first
    names = [variable_name(file, at, part, False)[0] for part in parts] if "__constant__" in first else []
    if "__constant__" in first and (is_extern or file.unit.external & set(names)):
        # The macro says static, as it is in a header that several files include.
        word = next((i for i in range(begin, end) if file.text(i) == "__constant__"), None)
        if word is None:
            file.fail(at, f"write __constant__ instead of {file.text(at)}: the variable is in another file, too")
        file.edits.append((file.tokens[word].begin, file.tokens[word].end, ""))
    if is_extern:
        file.unit.external.update(names)
        return end  # its definition will be made known
    # One object for all translation units, if the variable itself is that.
    storage = "inline" if "inline" in first and "static" not in first else "static"
    base_size = next((i for i, text in enumerate(first) if text in ("*", "&", "(")), len(first))
    base_const = {"const", "constexpr"} & set(first[:base_size])
    known = ""
    for part in parts:
        name, is_const = variable_name(file, at, part, base_const)
        # Constants are data of the program: every kernel may read them.
        if kind == "constant" or not (is_const or "constexpr" in first):
            symbol = file.alias("simt_global_", name.replace("::", "_"))
            known += (f' {storage} ::simt::GlobalVariable {symbol}({file.message_text(name)}, (void*)&{name}, '
                      f"sizeof {name}, ::simt::type_of<decltype({name})>(), "
                      f"::simt::GlobalKind::{kind});")
        if kind == "constant" and is_seen_elsewhere(file, at, name, first) and not is_const:
            known += (f' extern "C" decltype({name}) simt_extern_{name} __asm__("{name}") '
                      f'__attribute__((weak, alias("_ZL{len(name)}{name}")));')
    position = file.tokens[end].end
    if end == len(file.tokens) - 1 and file.macro is not None:  # the ; is where the macro is used
        position, known = file.tokens[end - 1].end, (";" + known).removesuffix(";")
    file.edits.append((position, position, known))
    return end


def rewrite_template(file, begin, end, parts, kind, is_static):
    """A template of variables: whatever uses one makes it known, by an alignment that names what does."""
    parameters, names = template_parameters(file, begin + 1)
    name = variable_name(file, begin, parts[0], False)[0] if names else "::"
    if "::" in name or len(parts) > 1 or file.macro:
        file.fail(begin, f"this template of __{kind}__ variables is not understood: declare a variable for each type")
    of = f"{name}<{', '.join(names)}>"
    around = ("namespace { ", " }") if is_static or kind == "constant" else ("", "")
    known = f"simt_known_{name}"
    head = f"template <{parameters}>"
    behind = file.after_angle(begin + 1)
    position = file.tokens[begin].begin
    file.edits.append((position, position, f"{around[0]}{head} struct {known} {{ static ::simt::GlobalVariable variable; }};{around[1]} "))
    position = file.tokens[behind].begin
    file.edits.append((position, position, f"alignas(::simt::kKnown<{known}<{', '.join(names)}>::variable>) "))
    position = file.tokens[end].end
    file.edits.append((position, position, f" {around[0]}{head} ::simt::GlobalVariable {known}<{', '.join(names)}>::variable({c_string(name)}, "
                       f"(void*)&{of}, sizeof({of}), ::simt::type_of<decltype({of})>(), ::simt::GlobalKind::{kind});{around[1]}"))
    return end


def template_parameters(file, opening):
    """The parameters between < and >, without what they are by default, and their names; None for the names if one has none."""
    end = file.after_angle(opening) - 1
    texts, names, first, i = [], [], opening + 1, opening + 1
    while first < end:
        if i < end and file.text(i) != ",":
            i = file.after_angle(i) if file.text(i) == "<" else file.after(i)
            continue
        last = next((j for j in range(first, i) if file.text(j) == "="), i)
        is_pack = file.text(last - 2) == "..."
        if last - first < 2 or not file.is_word(last - 1) or file.text(last - 1) in TYPE_WORDS:
            return "", None
        texts.append(file.spell(range(first, last)))
        names.append(file.text(last - 1) + ("..." if is_pack else ""))
        first = i = i + 1
    return ", ".join(texts), names or None


def is_seen_elsewhere(file, at, name, words):
    """True for a constant that another file may declare as extern: it is static, but also has its plain name."""
    if not file.unit.is_linked:
        return False
    around = (file.partner.get(i, 0) > at for i in range(at) if file.text(i) == "{")
    return not ({"static", "inline", "extern", "constexpr"} & set(words) or name in file.unit.external
                or "::" in name or any(around))


def declares_variable(file, at):
    """False if the specifier at belongs to a function or a lambda. In a macro, also if no parameter is the variable's name:
    a macro may be no more than the words before one."""
    return has_declarator(file, at) and (file.macro is None or names_parameter(file, at))


def names_parameter(file, at):
    words = []
    while file.text(at) not in ("", "=", ";", "[", "{", ","):
        words += [file.text(at)] if file.is_word(at) else []
        at = file.after(at)
    return len(set(words) - QUALIFIERS) > 1 and words[-1] in file.macro.parameters


def has_declarator(file, at):
    i = at
    while True:
        text = file.text(i)
        if text in ("", "operator", "explicit", *OPENING):
            return False
        if text in ("=", ";", "[", "{", ",") and not file.is_attribute(i):
            return True
        if text == "(":
            break
        if text in TAKES_PARENTHESES and file.text(i + 1) == "(":
            i = file.after(i + 1)
        elif text == "<":
            i = file.after_angle(i)
        else:
            i = file.after(i)
    if file.text(i + 1) in ("*", "&"):  # int (*p)(int), but not int (*function(int))(int)
        return "(" not in (token.text for token in file.tokens[i + 1:file.other_end(i)])
    return is_value(file, i + 1)


def is_value(file, i):
    """True if a value begins at the token i, rather than a type: in x(3), x(-kN) and x(kN), but not in f(int)."""
    if not 0 <= i < len(file.tokens):
        return False
    return (file.tokens[i].kind in ("number", "literal") or file.text(i) in ("-", "true", "false", "nullptr")
            or any(is_variable(one, at) for one in {*file.files_before, file} for at in one.places.get(file.text(i), ())))


def is_variable(file, at):
    """True if the token at is the name of a variable that is declared there, outside of functions, with its value."""
    return (file.at_namespace_scope[at] and file.text(at + 1) in ("=", "{") and file.is_operand(at - 1)
            and file.text(at - 1) not in TYPE_KEYS | {"typename", "using", "namespace"})


def variable_name(file, at, pieces, base_const):
    """Name of the variable that these pieces declare, and whether it is constant itfile."""
    body = type_body(file, pieces)
    pieces = pieces if body is None else pieces[body + 1:]
    texts = first_texts(file, pieces)
    size = next((i for i, text in enumerate(texts) if text in ("=", "{") or text == "(" and is_value(file, pieces[i][0] + 1)),
                len(texts))
    indices = [piece[0] for piece in pieces[:size]]
    if "(" in texts[:size]:  # int (*name[2])(int)
        opening = indices[texts.index("(")]
        indices = [i for part in declarators(file, opening + 1, file.other_end(opening), ())
                   for i in (piece[0] for piece in part)]
    while indices and file.text(indices[-1]) == "[":
        indices.pop()
    if not indices or not file.is_word(indices[-1]):
        file.fail(at, "cannot find the name of this variable")
    begin = len(indices) - 1
    while begin >= 2 and file.text(indices[begin - 1]) == "::":
        begin -= 2
    in_front = [file.text(i) for i in indices[:begin]]
    if "*" in in_front:
        is_const = "const" in in_front[len(in_front) - in_front[::-1].index("*"):]
    else:
        is_const = base_const
    return file.spell(indices[begin:]), is_const
