"""What makes the address of a function from something else, in code of kernels and of the host: no check sees where such a call goes.

The address of a function is also a pointer to a member, and is in a closure and in an object with virtual functions. host_memory.py asks
for each cursor; the kinds of expressions and types that both look at are here.
"""

POINTER, REFERENCES, CONSTANT_ARRAY, VLA, MEMBER_POINTER = 101, (103, 104), 112, 115, 117
ARRAYS = (CONSTANT_ARRAY, 114, VLA, 116)
VOID, BOOL, NULLPTR, FUNCTION_TYPES, NUMBER_KINDS, BUILTIN_BIT_CAST, STATIC_CAST = 2, 3, 24, (110, 111), {*range(3, 24), 106}, 280, 124
REWRITING_CASTS = (117, 126)  # C's, and reinterpret_cast
DEEPEST = 8  # members of members that are looked at
WRAPPERS = {100, 111}  # implicit conversions, parentheses
CASTS = {117, 124, 126, 127, 128}
METHOD, DESTRUCTOR = 21, 25


def inside(cursor):
    """The expression below implicit conversions and parentheses."""
    while cursor._kind_id in WRAPPERS:
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        cursor = children[0]
    return cursor


def type_of(cursor):
    return cursor.type.get_canonical()._kind_id


def is_pointer(cursor):
    return type_of(cursor) == POINTER


def is_of_template(cursor):
    """True if an expression's type depends on a template's parameter: it may be an address."""
    return type_of(cursor) in (1, 26) or "type-parameter" in cursor.type.get_canonical().spelling


def bare(cursor):
    """The expression below all conversions, written or not."""
    cursor = inside(cursor)
    while cursor._kind_id in CASTS and (children := list(cursor.get_children())):
        cursor = inside(children[-1])
    return cursor


def reason_of_union(cursor):
    """Why a union may not be; "" if it may."""
    is_both = holds_addresses(cursor.type) and any(holds_numbers(field.type) for field in cursor.type.get_fields())
    return "a union of an address and a number makes an address of a number" if is_both else ""


def reason_of(reader, cursor, children, is_on_device):
    """Why an expression may not be: bytes that become the address of a function, or an object that has one; "" if it may."""
    kind = cursor._kind_id
    arguments = list(cursor.get_arguments()) if kind == 103 else []
    reason = ""
    if kind == 103 and cursor.spelling in ("memcpy", "memmove", "memset") and arguments:
        to, of = (element_of(bare(argument)) for argument in (arguments + arguments)[:2])
        is_harmless = is_zero(reader, bare(arguments[1])) if cursor.spelling == "memset" else of is not None and without_const(to or of) == without_const(of)
        if holds_code(to) and not is_harmless:
            reason = "it writes bytes where the address of a function is"
    elif kind == BUILTIN_BIT_CAST or (kind == 103 and cursor.spelling == "bit_cast" and arguments):
        given = (arguments or children)[-1].type if arguments or children else None
        if given is not None and holds_code(cursor.type) and without_const(cursor.type) != without_const(given):
            reason = "it makes the address of a function of something else"
    elif kind in REWRITING_CASTS and children:
        reason = reason_of_cast(reader, cursor, inside(children[-1]))
    elif kind == 100 and len(children) == 1 and is_on_device and is_pointer(cursor) and is_pointer(children[0]):
        if cursor.type.get_canonical().get_pointee()._kind_id == VOID and holds_code(children[0].type.get_canonical().get_pointee()):
            reason = "code of a kernel hands on the place of a function's address as one of bytes"
    return reason

def reason_of_cast(reader, cursor, source):
    kept, given = cursor.type.get_canonical(), source.type.get_canonical()
    if kept._kind_id == POINTER and kept.get_pointee()._kind_id in FUNCTION_TYPES:
        is_function = given._kind_id in FUNCTION_TYPES or (given._kind_id == POINTER and given.get_pointee()._kind_id in FUNCTION_TYPES)
        return "" if is_function or given._kind_id == NULLPTR or is_of_template(source) or is_zero(reader, source) else "it makes the address of a function of something else"
    is_reference = cursor.type._kind_id in REFERENCES or "&" in reader.source_of(cursor).split(">")[0].split(")")[0]
    if kept._kind_id == POINTER and given._kind_id in (POINTER, *ARRAYS):
        to, of = kept.get_pointee(), element_of(source)
    elif is_reference:
        to, of = (kept.get_pointee() if kept._kind_id in REFERENCES else kept), given
    else:
        return ""
    if of is None or VOID in (to._kind_id, of._kind_id) or without_const(to) == without_const(of) or not (holds_code(to) or holds_code(of)):
        return ""
    return "it reads or writes the address of a function as something else"


def without_const(found):
    return found.get_canonical().spelling.replace("const", "").replace(" ", "")


def element_of(address):
    """The type of what an expression points to, or is an array of; None of another one."""
    found = address.type.get_canonical()
    return found.get_pointee() if found._kind_id == POINTER else found.get_array_element_type() if found._kind_id in ARRAYS else None


def is_zero(reader, source):
    return source._kind_id == 106 and reader.source_of(source) == "0"


def holds(found, is_it, depth=0):
    """True if a type is what is_it() asks for, or has a member, base or element of such a type."""
    found = found.get_canonical()
    if is_it(found):
        return True
    if found._kind_id in ARRAYS:
        return holds(found.get_array_element_type(), is_it, depth)
    if found._kind_id != 105 or depth > DEEPEST:
        return False
    bases = [child.type for child in found.get_declaration().get_children() if child._kind_id == 44]
    return any(holds(inner, is_it, depth + 1) for inner in (*bases, *(field.type for field in found.get_fields())))


def is_code(found):
    if found._kind_id == 105:  # an object with virtual functions has the address of their table
        return any(child._kind_id in (METHOD, DESTRUCTOR) and child.is_virtual_method() for child in found.get_declaration().get_children())
    return found._kind_id == MEMBER_POINTER or (found._kind_id in (POINTER, *REFERENCES) and found.get_pointee().get_canonical()._kind_id in FUNCTION_TYPES)


def holds_code(found):
    return found is not None and holds(found, is_code)


def holds_addresses(found):
    return holds(found, lambda inner: inner._kind_id in (POINTER, MEMBER_POINTER, *REFERENCES))


def holds_numbers(found):
    return holds(found, lambda inner: inner._kind_id in NUMBER_KINDS)
