"""Early objects (SIMT_EARLY) of the CPU device's library, as it was built: none uses that of another file when it is made or
destroyed, since nothing says which of the two is made first. simt_layers.py calls this.

What is followed: from a file's early initialisers, which also name the destructors, every function and variable that a
relocation leads to (binutils' `readelf` lists them), in all files of the library. g++ makes all objects of a file in one
function, so that the others of such a file are followed, too. What is not followed: calls through a pointer that
is kept in memory, such as virtual functions. The library is built with -ffunction-sections: within a section the assembler needs
no relocations.
"""

import bisect
import re
import subprocess
from collections import defaultdict

from tools.lib.failed import Failed


class ObjectFile:
    """Symbols and relocations of one object file."""

    def __init__(self):
        self.sections = {}  # number: name
        self.symbols = defaultdict(list)  # section: (address, size, name), sorted
        self.relocations = defaultdict(list)  # section: (address, symbol or section, addend), sorted

    def finish(self):
        for table in (self.symbols, self.relocations):
            for entries in table.values():
                entries.sort()

    def symbol_at(self, section, address):
        """(address, size, name) of the function or variable there, or None."""
        entries = self.symbols[section]
        place = bisect.bisect_right(entries, (address, float("inf"), "")) - 1
        found = entries[place] if place >= 0 else None
        return found if found and found[0] <= address < found[0] + max(found[1], 1) else None

    def leads_to(self, section, begin, size):
        """What the relocations of these bytes lead to: (name of an external symbol, None), or (section, address)."""
        entries = self.relocations[section]
        for address, target, addend in entries[bisect.bisect_left(entries, (begin, "", 0)):]:
            if address >= begin + size:
                return
            yield (target, addend) if target in self.symbols else (target, None)


def object_files(library):
    """ObjectFile of each member, by the object file's name."""
    text = subprocess.run(["readelf", "-W", "-S", "-s", "-r", library], capture_output=True, text=True, check=False).stdout
    files, current, section = {}, None, None
    for line in text.splitlines():
        if line.startswith("File: "):
            name = re.split(r"[\[(]", line[6:])[-1].rstrip("])").rpartition("/")[2]
            current = files[name] = ObjectFile()
        elif found := re.match(r"\s+\[\s*(\d+)\] (\S+)\s+[A-Z_]+\s+[0-9a-f]{16}", line):
            current.sections[found[1]] = found[2]
        elif found := re.match(r"Relocation section '\.rela(.+)' at", line):
            section = found[1]
        elif found := re.match(r"([0-9a-f]{12,})\s+[0-9a-f]+ (R_\S+)\s+[0-9a-f]+ (\S+) ([+-]) ([0-9a-f]+)$", line):
            addend = int(found[5], 16) * (-1 if found[4] == "-" else 1)
            if found[2].startswith("R_X86_64_") and ("PC32" in found[2] or "PLT32" in found[2]):
                addend += 4  # counted from the instruction's end
            current.relocations[section].append((int(found[1], 16), found[3], addend))
        elif found := re.match(r"\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) (FUNC|OBJECT)\s+\S+\s+\S+\s+(\d+) (\S+)$", line):
            entry = (int(found[1], 16), int(found[2], 0), found[5])
            current.symbols[current.sections[found[4]]].append(entry)
    for file in files.values():
        file.finish()
    return files


class Library:
    def __init__(self, library):
        self.files = object_files(library)
        self.homes = defaultdict(dict)  # of a symbol: file: (section, address, size)
        for file, content in self.files.items():
            for section, entries in content.symbols.items():
                for address, size, name in entries:
                    self.homes[name][file] = (section, address, size)

    def resolve(self, file, target, address):
        """Where a relocation of a file leads to: (file, section, address, size, name), or None outside the library."""
        if address is not None:
            found = self.files[file].symbol_at(target, address)
            return found and (file, target, *found)
        homes = self.homes.get(target)
        if not homes:
            return None
        home = file if file in homes else min(homes)
        return (home, *homes[home], target)

    def initialisers(self, file):
        """The functions that make a file's early objects."""
        for section, entries in list(self.files[file].relocations.items()):
            if section.startswith(".init_array."):
                for _, target, addend in entries:
                    if found := self.resolve(file, target, addend if target in self.files[file].symbols else None):
                        yield found

    def reached_from(self, starts, follows=lambda place: True):
        seen, open_ends = set(starts), list(starts)
        while open_ends:
            file, section, address, size, _ = open_ends.pop()
            if not section.startswith(".text"):
                continue
            for target, at in self.files[file].leads_to(section, address, size):
                place = self.resolve(file, target, at)
                if place and place not in seen and follows(place):
                    seen.add(place)
                    open_ends.append(place)
        return seen

    def early_objects(self, file):
        """The variables that the initialisers of a file name, themselves or in a part of theirs."""
        def is_part(place):
            name = place[4]
            return not place[1].startswith(".text") or name.startswith(("__cxx_global_var_init", "_Z41__static_initialization"))
        return {place for place in self.reached_from(list(self.initialisers(file)), is_part) if place[1].startswith((".bss", ".data"))}


def early_uses(library):
    """(file, file of the object, symbol) for each early object that is used by one of another file while it is made or
    destroyed. Files are named as in the library: api_queues.cpp.o."""
    simt = Library(library)
    early = {}
    for file, content in simt.files.items():
        objects = simt.early_objects(file)
        if not objects and any(section.startswith(".init_array.") for section in content.relocations):
            raise Failed(f"{library}: the early objects of {file} are not found: is it built with -ffunction-sections?")
        early.update(dict.fromkeys(objects, file))
    for file in simt.files:
        for place in sorted(simt.reached_from(list(simt.initialisers(file)))):
            if place in early and early[place] != file:
                yield file, early[place], place[4]
