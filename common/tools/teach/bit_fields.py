"""Bit-fields whose accesses no check sees: the compiler's instrumentation skips those of 3, 5, 6, 7 and more than 8 bytes.

clang keeps bit-fields that follow one another without a gap in one unit: as many whole bytes as they need, rounded up to 4 or 8 where
nothing else is in the way. It reads and writes a unit as a whole.
"""

SEEN = (1, 2, 4, 8)
UNION, FIELD, BASE, ACCESS, CLASS = 3, 6, 44, 39, 4
METHOD, SPECIAL = 21, {24, 25, 30}  # constructors, destructors, templates of functions
ARRAYS, RECORD = (112, 114, 115, 116), 105


def unseen(record):
    """[(its first bit-field, bytes)] of the units of a class, struct or union that no check sees; None for the bytes where a template's
    parameter decides them."""
    fields = list(record.type.get_fields())
    if not any(field.is_bitfield() for field in fields):  # those of a template are not in its type
        return [(child, None) for child in record.get_children() if child._kind_id == FIELD and child.is_bitfield() and not fields]
    if record.type.get_size() < 0 or any(field.get_field_offsetof() < 0 for field in fields):
        return [(field, None) for field in fields if field.is_bitfield()][:1]
    is_union = record._kind_id == UNION
    end = record.type.get_size() if is_union or keeps_its_padding(record.type) else 0
    found = []
    for run, following in runs_of(fields, is_union):
        begin = run[0].get_field_offsetof()
        size = -(-sum(field.get_bitfield_width() for field in run) // 8)
        wide = 1 << (size - 1).bit_length()
        limit = following.get_field_offsetof() // 8 if following is not None else end
        if size not in SEEN and (wide not in SEEN or begin // 8 + wide > limit):
            found.append((run[0], size))
    return found


def runs_of(fields, is_union):
    """[(bit-fields in one unit, the member after them or None)]."""
    runs, run, last = [], [], 0
    for field in fields:
        is_bits = field.is_bitfield() and field.get_bitfield_width() > 0
        begin = field.get_field_offsetof()
        if run and (not is_bits or is_union or begin != last):
            runs.append((run, None if is_union else field))
            run = []
        if is_bits:
            run.append(field)
            last = begin + field.get_bitfield_width()
    return runs + ([(run, None)] if run else [])


def keeps_its_padding(kind):
    """True if nothing is ever placed into the bytes at the end of such an object: that of a struct as C has it."""
    kind = kind.get_canonical()
    if kind._kind_id in ARRAYS:
        return keeps_its_padding(kind.get_array_element_type())
    if kind._kind_id != RECORD:
        return True
    record = kind.get_declaration()
    children = list(record.get_children())
    is_of_cpp = record._kind_id == CLASS or any(child._kind_id in (BASE, ACCESS) or child._kind_id in SPECIAL or (child._kind_id == METHOD and child.spelling == "operator=")
                                                for child in children)
    return not is_of_cpp and kind.is_pod() and all(keeps_its_padding(field.type) for field in kind.get_fields())
