"""What code of an answer on the host could do with memory that is not its own: marks for a person.

A kernel's accesses are checked one by one when it runs. Host code is not: its memory is the check's memory, too. So whatever
computes an address there, or takes one from a number, is marked, and so is what hands an address and a length to a library.
What is free: objects by name and by reference, containers by index (a graded compile checks the index: _GLIBCXX_ASSERTIONS),
arrays of a known size (-fsanitize=bounds), copies to and from the device whose host side is an object, a container or a
parameter. In a kernel only what the checker does not see is marked: an address inside a local variable, used at once.
Refused, there and here, is what makes the address of a function from something else: no check sees where such a call goes.
"""

import re

from tools.lib.cpp_text import tokens_of
from tools.teach import code_addresses
from tools.teach.code_addresses import (BOOL, BUILTIN_BIT_CAST, CASTS, CONSTANT_ARRAY, FUNCTION_TYPES, NULLPTR, NUMBER_KINDS, POINTER, REFERENCES, STATIC_CAST, VLA, VOID, WRAPPERS,
                                        bare, holds_addresses, inside, is_of_template, is_pointer, is_zero, type_of, without_const)
from tools.teach.libclang import written_at

DEVICE, GLOBAL, HOST = 413, 414, 415
FUNCTIONS = {8, 21, 24, 25, 26, 30}
ON_DEVICE, ON_HOST = "device", "host"
NOWHERE = None
# What writes or reads as many elements as it is told, from where it is told.
UNBOUNDED = re.compile(r"mem(cpy|set|move|cmp)|str(len|cmp|ncmp)|(copy|fill|generate|for_each)_n|copy(_if|_backward)?|move_backward|transform|partial_sum|adjacent_difference|merge"
                       r"|(transform_)?(in|ex)clusive_scan|set_(union|intersection|difference)|\w+_copy|swap_ranges|equal|mismatch|inner_product|is_permutation"
                       r"|advance|next|prev|iter_swap|sample|write|read|construct_at|destroy_at|destroy\w*|uninitialized_\w+|as_writable_bytes")
COPIES = re.compile(r"cudaMemcpy(Async|2D|2DAsync|ToSymbol|FromSymbol|ToSymbolAsync|FromSymbolAsync)?")
HARMLESS = {"swap", "exchange", "min", "max", "make_pair", "make_tuple", "tie", "pair", "tuple", "printf", "fill", "resize", "operator==", "operator!=", "emplace", "at", "operator<<"}
NUMBERS = {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"}
UNCHECKED = {"bitset", "unique_ptr", "shared_ptr", "PinnedBuffer"}  # an index into these is not checked by the library
KEPT_ADDRESSES = re.compile(r"\b(?:\w*Buffer|Placed)<[^<>]*\*(?: const)?>")
TO_HOST, FROM_HOST = "cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"


class Host:
    """Goes beside a Reader from cursor to cursor; `where` is (ON_HOST or ON_DEVICE, its function)."""

    def __init__(self, reader):
        self.reader = reader
        self.later = {}  # marks in functions for both sides: {function: [(line, reason)]}
        self.called = set()  # own functions that code of the host names
        self.extents, self.lambdas = [], {}  # functions: (first byte, last byte, where); instances of generic lambdas: their first byte
        self.parameters = []  # (line, reason, where) of accesses through a function's own parameter
        self.of_both = {}  # {function: its name}

    def step(self, cursor, children, where):
        """Looks at a cursor, and returns the `where` of its children."""
        kind = cursor._kind_id
        if kind in FUNCTIONS:
            return self.side_of(cursor, children, where)
        if kind == 3 and (reason := code_addresses.reason_of_union(cursor)):
            self.reader.refuse(cursor.location.line, cursor.spelling or "union", reason)
        elif kind == 3 and holds_addresses(cursor.type):
            self.mark_at(cursor, where, "a union with an address in it: it makes an address of something else")
        elif kind >= 100 and (reason := code_addresses.reason_of(self.reader, cursor, children, where is not NOWHERE and where[0] == ON_DEVICE)):
            self.reader.refuse(cursor.location.line, cursor.spelling or cursor.type.spelling, reason)
        if kind == 136:  # sizeof *p reads nothing
            return NOWHERE
        if where is NOWHERE or where[0] == ON_DEVICE or where[1] in self.of_both:
            self.step_address(cursor, kind, children, where)
        if where is NOWHERE or kind < 100 and kind != 9:
            return where
        if where[0] == ON_HOST:
            self.step_on_host(cursor, kind, children, where)
        else:
            self.step_on_device(cursor, kind, children, where)
        return where

    def side_of(self, cursor, children, where):
        kinds = {child._kind_id for child in children}
        key = cursor.canonical.hash
        found = self.side(cursor, kinds, key, where)
        begin, end = (written_at(place)[2] for place in (cursor.extent.start, cursor.extent.end))
        if where is NOWHERE and not kinds & {DEVICE, HOST} and "(lambda" in cursor.semantic_parent.spelling:
            self.lambdas[key] = begin
        else:
            self.extents.append((begin, end, found))
        return found

    def side(self, cursor, kinds, key, where):
        if GLOBAL in kinds or (DEVICE in kinds and HOST not in kinds):
            return ON_DEVICE, key
        if where is not NOWHERE and not kinds & {DEVICE, HOST}:
            return where  # a function in a function: a lambda, a member of a local type
        if DEVICE in kinds:
            self.of_both[key] = cursor.spelling
        return ON_HOST, key

    def mark_at(self, cursor, where, reason):
        self.later.setdefault(where[1] if where else 0, []).append((cursor.location.line, reason))

    def finish(self):
        """Marks what is left: a function for both sides counts where host code of the answer or the check uses it."""
        for line, reason, (_, key) in self.parameters:  # the check has made what it points to, unless the answer calls the function
            if any(callee == key and caller != key for callee, caller in self.called):
                self.later.setdefault(key, []).append((line, reason))
        for key, begin in self.lambdas.items():  # one in a kernel is the device's
            around = [found for first, last, found in self.extents if first < begin < last]
            if around and around[-1][0] == ON_DEVICE:
                self.later.pop(key, None)
        for key, name in self.of_both.items():
            if key in self.later and not self.is_called(key, name):
                del self.later[key]
        for line, reason in sorted(found for marks in self.later.values() for found in marks):
            self.reader.mark(line, reason)

    def is_called(self, key, name, seen=()):
        callers = {caller for callee, caller in self.called if callee == key} - {key, *seen}
        return name in re.findall(r"\w+", self.reader.check) or any(
            caller not in self.of_both or self.is_called(caller, self.of_both[caller], (key, *seen)) for caller in callers)

    # -- on the host

    def step_on_host(self, cursor, kind, children, where):
        if kind in (101, 102, 103) and (found := cursor.referenced) is not None and found._kind_id in FUNCTIONS:
            self.called.add((found.canonical.hash, where[1]))
        if kind == 113:
            self.step_subscript(cursor, children, where)
        elif kind == 112:
            self.step_unary(cursor, children, where)
        elif kind in CASTS:
            self.step_cast(cursor, kind, children, where)
        elif kind == 103:
            self.step_call(cursor, children, where)
        elif kind == 134 and self.is_placement(cursor):
            self.mark_at(cursor, where, "host code makes an object at an address (new (address))")
        elif kind == 135 and not self.is_of_new(children):
            self.mark_at(cursor, where, "host code deletes what it may not have made with new")
        elif kind == 102 and children and is_pointer(children[0]) and inside(children[0])._kind_id != 132:
            self.step_through(cursor, inside(children[0]), where)
        elif kind == 9:
            self.step_variable(cursor, where)

    def step_subscript(self, cursor, children, where):
        if len(children) == 2 and type_of(inside(children[0])) not in (CONSTANT_ARRAY,) and (is_pointer(children[0]) or is_of_template(children[0])):
            self.mark_at(cursor, where, "host code reads or writes through an address with an index, which nothing checks")

    def step_unary(self, cursor, children, where):
        if len(children) != 1 or not is_pointer(children[0]):
            return
        child, result = children[0].type.get_canonical(), cursor.type.get_canonical()
        if result.spelling == child.spelling:
            return  # ++p
        if result.spelling.replace("const ", "") == child.get_pointee().spelling.replace("const ", "") :
            if not self.reader.source_of(cursor).startswith("*"):
                return  # a loop over all elements has it
            self.step_through(cursor, inside(children[0]), where)

    def is_parameter(self, cursor):
        found = cursor.referenced if cursor._kind_id == 101 else None
        return found is not None and found._kind_id == 10

    def is_address_of(self, cursor):
        return cursor._kind_id == 112 and (children := list(cursor.get_children())) and not is_pointer(children[0]) and is_pointer(cursor)

    def step_through(self, cursor, base, where):
        """*p and p->x."""
        reason = "host code reads or writes through an address"
        if self.is_parameter(base):
            self.parameters.append((cursor.location.line, reason, where))
        elif base._kind_id != 132 and not self.is_address_of(base) and not (base._kind_id == 103 and base.spelling in ("get", "operator->")):
            self.mark_at(cursor, where, reason)

    def step_cast(self, cursor, kind, children, where):
        result = cursor.type.get_canonical()
        if kind == 127:
            self.mark_at(cursor, where, "host code takes const away")
        elif result._kind_id == POINTER and children:
            source = inside(children[-1])
            if kind == 126 or type_of(source) != POINTER or (kind == 117 and not same_pointee(source, cursor)) or \
                    (kind in (124, 117) and source.type.get_canonical().spelling == "void *" and "void" not in result.get_pointee().spelling):
                if source._kind_id not in (131,) and type_of(source) not in (CONSTANT_ARRAY,) and "(*)" not in result.spelling \
                        and "void *" not in result.spelling.replace("const ", "")[:6]:
                    self.mark_at(cursor, where, "host code makes an address of another type")
        elif cursor.type._kind_id in REFERENCES or (kind in (126,) and "&" in self.reader.source_of(cursor).split(">")[0]):
            self.mark_at(cursor, where, "host code makes a reference of another type")
        elif kind in (124, 117) and re.match(r"(static_cast\s*<[^>]*&\s*>|\(\s*[\w:<> ]+&\s*\))", self.reader.source_of(cursor)) \
                and "&&" not in self.reader.source_of(cursor).split(">")[0]:
            self.mark_at(cursor, where, "host code makes a reference of another type")

    def step_call(self, cursor, children, where):
        found = cursor.referenced
        name = cursor.spelling
        arguments = list(cursor.get_arguments())
        for target, value in zip(parameter_types(found), arguments):
            self.step_bound(target, value, where)
        if found is not None and found._kind_id == 25 or name.startswith("~"):
            self.mark_at(cursor, where, "host code calls a destructor by name")
        elif COPIES.fullmatch(name):
            self.step_copy(cursor, name, arguments, where)
        elif name == "free" or name == "cudaFreeHost":
            pass  # of what it has not allocated: the library ends the program
        elif name == "operator[]" and found is not None and found.semantic_parent.spelling in UNCHECKED:
            self.mark_at(cursor, where, f"host code goes into a {found.semantic_parent.spelling} with an index, which nothing checks")
        elif KEPT_ADDRESSES.search(cursor.type.get_canonical().spelling):
            self.mark_at(cursor, where, "host code keeps addresses in a buffer: what comes back may be another one")
        elif found is None or found.location.file is None or self.reader.is_of_course(found.location.file):
            return
        elif UNBOUNDED.fullmatch(name) and not all(self.is_whole(argument) for argument in arguments):
            if not self.is_object_copy(name, arguments):
                self.mark_at(cursor, where, f"host code calls {name}, which reads or writes as much as it is told")
        elif name in ("operator+", "operator-", "operator[]", "operator+=", "operator-=", "operator*", "operator->", "operator++", "operator--") and self.is_iterator(arguments):
            source = self.reader.source_of(cursor)  # a loop over all elements has these operators, and does not write them
            sign = name.removeprefix("operator")
            if name not in ("operator++", "operator--") and (source.startswith("*") if sign == "*" else sign[:1] in source and "\n" not in source):
                self.mark_at(cursor, where, "host code goes through an iterator that nothing checks: use an index, or a loop over all elements")
        elif name == "operator()" and "ranges" in arguments[0].type.get_canonical().spelling and not all(self.is_whole(argument) for argument in arguments[1:]):
            self.mark_at(cursor, where, "host code calls an algorithm of std::ranges, which reads or writes from where it is told")
        elif name == "printf":
            if arguments and inside(arguments[0])._kind_id != 109:
                self.mark_at(cursor, where, "printf's format is not written out")
        elif name not in HARMLESS and any(map(self.is_address, arguments)) and \
                sum(self.is_address(argument) or argument.type.get_canonical().spelling in NUMBERS for argument in arguments) > 1:
            self.mark_at(cursor, where, f"host code calls {name} with an address, and nothing checks how much is there")
        elif name == "bit_cast" and is_pointer(cursor):
            self.mark_at(cursor, where, "host code makes an address of a number")

    def step_bound(self, target, value, where):
        """A reference that can be written through, to what a parameter points to: nothing says how far from it the write is."""
        kept = target.get_canonical()
        if kept._kind_id not in REFERENCES or kept.get_pointee().is_const_qualified():
            return
        found = bare(value)
        children = list(found.get_children())
        is_through = (found._kind_id == 112 and len(children) == 1 and is_pointer(children[0]) and not is_pointer(found)) or (found._kind_id == 113 and children and is_pointer(children[0]))
        if is_through and self.is_of_parameter(children[0]):
            self.mark_at(value, where, "host code hands on what an address points to, by a reference")

    def is_address(self, argument):
        """True for an address of data that is no text or array of the program."""
        found = inside(argument)
        return is_pointer(argument) and found._kind_id not in (109, 131) and type_of(found) != CONSTANT_ARRAY and "(*)" not in argument.type.get_canonical().spelling

    def is_iterator(self, arguments):
        return any("iterator" in argument.type.get_canonical().spelling for argument in arguments[:1])

    def is_whole(self, argument):
        """True for a container's begin or end where another one says its length, a number, a function."""
        spelling = argument.type.get_canonical().spelling
        return not (is_pointer(argument) or "iterator" in spelling) or "back_insert" in spelling

    def is_object_copy(self, name, arguments):
        """memcpy(&a, &b, sizeof a), or an array in place of &a."""
        return name in ("memcpy", "memmove", "memset", "memcmp") and len(arguments) == 3 and \
            all(self.is_object(argument) or not is_pointer(argument) for argument in arguments[:2]) and self.is_size_of(arguments[2])

    def is_object(self, argument):
        found = inside(argument)
        while found._kind_id in CASTS:
            children = list(found.get_children())
            found = inside(children[-1]) if children else found
            if found._kind_id in CASTS and not children:
                return False
        return self.is_address_of(found) or type_of(found) == CONSTANT_ARRAY

    def is_size_of(self, argument):
        return bool(re.match(r"\(?\s*sizeof\b", self.reader.source_of(inside(argument))))

    def step_copy(self, cursor, name, arguments, where):
        source = self.reader.source_of(cursor)
        sides = []
        if TO_HOST in source or name.startswith("cudaMemcpyFromSymbol"):
            sides = arguments[:1]
        elif FROM_HOST in source or name.startswith("cudaMemcpyToSymbol"):
            sides = arguments[1:2]
        elif "cudaMemcpyDeviceToDevice" not in source:
            sides = arguments[:2]
        for side in sides:
            found = inside(side)
            kept = found.type.get_canonical()
            if holds_addresses(kept.element_type if kept._kind_id == CONSTANT_ARRAY else kept.get_pointee()):
                self.mark_at(cursor, where, f"{name} copies an address: what comes back may be another one")
            elif self.is_object(side):
                if not self.is_size_of(arguments[2]):
                    self.mark_at(cursor, where, f"{name} copies to or from an object, and its size is not sizeof of it")
            elif not (found._kind_id == 103 and found.spelling in ("data", "get") or self.is_of_parameter(found)):
                self.mark_at(cursor, where, f"{name} copies to or from host memory that is neither an object, a container nor a parameter")

    def is_of_parameter(self, found, depth=0):
        """True for a parameter, for one plus an offset, and for a variable that begins as one: which part of it is copied."""
        found = inside(found)
        if found._kind_id == 114:
            return any(is_pointer(child) and self.is_of_parameter(child, depth) for child in found.get_children())
        variable = found.referenced if found._kind_id == 101 else None
        if variable is None or variable._kind_id != 9 or depth > 3:
            return self.is_parameter(found)
        return any(self.is_of_parameter(child, depth + 1) for child in variable.get_children() if child._kind_id >= 100)

    def is_placement(self, cursor):
        return bool(re.match(r"(::\s*)?new\s*\(", self.reader.source_of(cursor))) and "nothrow" not in self.reader.source_of(cursor)

    def is_of_new(self, children):
        """delete of a variable whose every value is a new."""
        found = inside(children[0]) if children else None
        name = found.spelling if found is not None and found._kind_id in (101, 102) else ""
        values = re.findall(rf"\b{re.escape(name)}\s*(?:=(?!=)|\{{|\()\s*([\w:]*)", self.reader.text) if name else []
        return bool(values) and all(value in ("new", "nullptr") for value in values)

    def step_variable(self, cursor, where):
        kind = type_of(cursor)
        if kind in REFERENCES:
            for value in list(cursor.get_children())[-1:]:
                self.step_bound(cursor.type, value, where)
        if kind == VLA:
            self.mark_at(cursor, where, "an array on the host whose size is not a constant")
        elif kind in (POINTER, *REFERENCES) and str(cursor.storage_class).endswith("STATIC") and "(*)" not in cursor.type.get_canonical().spelling \
                and not cursor.type.get_canonical().spelling.startswith("const char"):
            self.mark_at(cursor, where, "host code keeps an address from one call to the next")

    # -- on the device

    def step_on_device(self, cursor, kind, children, where):
        """The compiler asks the checker about no access to a local variable whose address stays here."""
        base = None
        if kind == 113 and len(children) == 2 and is_pointer(children[0]):
            base, offset = inside(children[0]), children[1]
        elif kind == 112 and len(children) == 1 and is_pointer(children[0]):
            inner = inside(children[0])
            parts = list(inner.get_children())
            if inner._kind_id == 114 and len(parts) == 2 and is_pointer(inner):
                base = next((inside(part) for part in parts if is_pointer(part)), None)
                offset = next((part for part in parts if not is_pointer(part)), None)
        if base is None or offset is None or inside(offset)._kind_id == 106 and self.reader.source_of(inside(offset)) == "0":
            return
        is_cast = False
        while base._kind_id in CASTS:
            parts = [part for part in base.get_children()]
            if not parts:
                return
            base, is_cast = inside(parts[-1]), True
        if (self.is_address_of(base) or (is_cast and type_of(base) == CONSTANT_ARRAY)) and self.is_local(base):
            self.mark_at(cursor, where, "an index from a local variable's address, which the checker does not see: use an array")

    def step_address(self, cursor, kind, children, where):
        """Addresses that a kernel could make: of a number, of a function, of memory that holds something else."""
        arguments = list(cursor.get_arguments()) if kind == 103 else []
        if kind == 103 and cursor.spelling in ("memcpy", "memmove") and any(map(points_to_address, arguments)):
            self.mark_at(cursor, where, "code of a kernel copies the bytes of an address")
        if kind == 103 and cursor.spelling == "bit_cast" and len(arguments) == 1:
            source = inside(arguments[0])
        elif kind in (*CASTS, BUILTIN_BIT_CAST) and children:
            source = inside(children[-1])
        else:
            return
        result, given = cursor.type.get_canonical(), source.type.get_canonical()
        to, of = (found.get_pointee() if found._kind_id == POINTER else None for found in (result, given))
        is_function = given._kind_id in FUNCTION_TYPES or (of is not None and of._kind_id in FUNCTION_TYPES)
        reason = ""
        if to is None:
            if is_function and result._kind_id not in (VOID, BOOL):
                reason = "code of a kernel makes something else of a function's address"
        elif given._kind_id in NUMBER_KINDS and to._kind_id in FUNCTION_TYPES:
            reason = "" if is_zero(self.reader, source) else "code of a kernel makes a function's address of a number"
        elif given._kind_id in NUMBER_KINDS:
            if not is_zero(self.reader, source) and (kind == 103 or kind == BUILTIN_BIT_CAST or not self.is_of_address(source)):
                self.mark_at(cursor, where, "code of a kernel makes an address of a number that is not computed from an address there")
        elif is_of_template(source) and of is None:
            if kind != STATIC_CAST and not self.reader.source_of(source).startswith("&"):
                self.mark_at(cursor, where, "code of a kernel makes an address of what its template is given")
        elif (is_function or to._kind_id in FUNCTION_TYPES) and given._kind_id != NULLPTR:
            if (of or given).spelling != to.spelling:
                reason = "code of a kernel casts a function's address to another type"
        elif of is not None and without_const(of) != without_const(to) and holds_addresses(to):
            reason = "code of a kernel takes an address out of memory of another type"
        if reason:
            self.reader.refuse(cursor.location.line, result.spelling, reason)

    def is_of_address(self, number, depth=0):
        """True for a number that is computed from an address in the same function, as the address of the word around a half is."""
        if number._kind_id in CASTS and (children := list(number.get_children())) and is_pointer(children[-1]):
            return True
        variable = number.referenced if number._kind_id == 101 else None
        if variable is not None:
            return variable._kind_id == 9 and depth < 4 and any(self.is_of_address(child, depth + 1) for child in variable.get_children())
        return any(self.is_of_address(child, depth) for child in number.get_children())

    def is_local(self, cursor):
        while cursor._kind_id in (112, 102, 113, *WRAPPERS):
            children = list(cursor.get_children())
            if not children:
                return False
            cursor = children[0]
        found = cursor.referenced if cursor._kind_id == 101 else None
        return found is not None and found._kind_id in (9, 10) and found.type.get_canonical()._kind_id not in (POINTER, *REFERENCES) \
            and found.semantic_parent is not None and found.semantic_parent._kind_id in FUNCTIONS \
            and not any(token.text in ("__shared__", "static") for token in tokens_of(self.reader.source_of(found)))


def parameter_types(function):
    """The types of a call's parameters; none where a template's argument decides which function it is."""
    return [parameter.type for parameter in function.get_arguments()] if function is not None and function._kind_id in FUNCTIONS else []


def points_to_address(argument):
    found = bare(argument).type.get_canonical()
    return found._kind_id == POINTER and holds_addresses(found.get_pointee())


def same_pointee(source, cast):
    return source.type.get_canonical().spelling.replace("const ", "") == cast.type.get_canonical().spelling.replace("const ", "")
