"""A second reader of an answer: what the compiler made of its check, beside what it makes of the check with the solution.

Two layers, and neither knows of the other:

- reading.py sees the names in the answer's text, also where they call nothing, and their lines. It does not see what a template
  calls once it has its arguments, what an implicit call reaches, and what clang's library leaves out of what it shows.
- This one sees every function that the object needs from elsewhere, whatever wrote the call; code that runs before main; names
  that would take the place of the C library's or the checker's. It does not see what the check itself needs as well, such as
  Catch2's functions, nor what is computed: an address made of a number, memory that is not the answer's own. The first is
  reading.py's, the second host_memory.py's and the run's.
"""

import ctypes
import re
import shlex
from dataclasses import dataclass, field

from tools.lib.failed import Failed
from tools.teach import vocabulary

# What compiled C++ needs that is written in no source.
OF_COMPILER = re.compile(r"__(tsan|sanitizer_cov)_\w+|__cxa_(guard_(acquire|release|abort)|begin_catch|end_catch|throw|rethrow|allocate_exception|free_exception|atexit"
                         r"|pure_virtual|throw_bad_array_new_length|bad_cast|init_primary_exception|call_unexpected)|_Unwind_Resume|__gxx_personality_v0|__dso_handle"
                         r"|__libc_single_threaded|__clang_call_terminate|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__assert_fail|bcmp|simt_memcmp"
                         r"|__mul\w+3|__div\w+3|__(ext|trunc)\w+2|__(fix|float)\w+|__gnu_[fh]2[hf]_ieee|_ZTV\w+|_ZTI\w+|_ZTS\w+|_ZGV\w+")
# The functions of new and delete that a program may replace; those of a kernel have one parameter more.
REPLACEABLE = re.compile(r"_Z((nw|na)m|(dl|da)Pvm?)(St11align_val_t)?(RKSt9nothrow_t)?")
MEMORY = re.compile(r"operator (new|delete)(\[\])?\(.*\)")
SECTIONS = re.compile(r"\.(text|rodata|data|bss|gcc_except_table|rela|group|debug|eh_frame|comment|note|symtab|strtab|shstrtab|llvm|linker-options|init_array|ldata|lrodata|lbss)\b.*"
                      r"|\.rela?\..*|\.data\.rel\.ro.*|simt_\w+|")
STARTS = re.compile(r"\.(pre)?init_array\b.*|\.fini_array\b.*|\.ctors\b.*|\.dtors\b.*|\.init|\.fini")
LIBRARY = ctypes.CDLL(None)
BETWEEN, PARTS = "-- of the object --", 4
INITIALISER = re.compile(r"__cxx_global_var_init(\.\d+)?|_GLOBAL__\w+")


@dataclass
class Made:
    """What an object needs, and what it has: {mangled: readable} of undefined symbols; names of others; sections; how many
    bytes of addresses run before main, and how many initialisers these call."""

    needs: dict = field(default_factory=dict)
    has: set = field(default_factory=set)
    odd: set = field(default_factory=set)
    sections: set = field(default_factory=set)
    starts: int = 0
    initialisers: int = 0
    harmless: int = 0  # of these: the streams of the C++ library, and the variables of the device


def script(object_file):
    """The shell's lines that print what made_of() reads. They run where the object is: what reads it may have errors, too."""
    file = shlex.quote(str(object_file))
    needed = f"nm --format=posix {file} 2>/dev/null | awk '$2 ~ /^[Uvw]$/ {{ print $1 }}'"
    return (f"set -e\nnm --format=posix {file} 2>/dev/null | awk '$2 ~ /^[Uvwi]$/ || $1 !~ /^_Z/ || $1 ~ /^_Z(nw|na|dl|da)/ || $1 ~ /__ioinit|simt_global_/ {{ print $1, $2 }}'\n"
            f"echo {BETWEEN}\n{needed} | c++filt\necho {BETWEEN}\nreadelf --section-headers --wide {file} 2>/dev/null | awk '$2 !~ /^[.](text|group|rela[.]text|gcc_except_table)[.]/'\n"
            f"echo {BETWEEN}\n")


def made_of(said):
    """The Made of an object, from what script() has printed."""
    parts = said.split(BETWEEN + "\n")
    if len(parts) != PARTS:
        raise Failed(f"the object could not be read: {said.strip().splitlines()[-1:]}")
    symbols, readable, sections, _ = (part.splitlines() for part in parts)
    made = Made()
    for line in symbols:
        name, kind = line.split()[:2]
        if kind in "Uvw":
            made.needs[name] = name
        elif kind == "i":
            made.odd.add(name)
        elif kind.isupper() or kind == "u":
            made.has.add(name)
        made.initialisers += bool(INITIALISER.fullmatch(name))
        made.harmless += kind in "bB" and ("__ioinit" in name or "simt_global_" in name)
    if not symbols or not sections or len(made.needs) != len(readable):
        raise Failed("the object could not be read: it has no symbols, or no sections")
    made.needs = dict(zip(made.needs, readable))
    for line in sections:
        if match := re.match(r"\s*\[\s*\d+\]\s(\S*)\s+\S+\s+[0-9a-f]{16}\s+[0-9a-f]+\s+([0-9a-f]+)", line):
            made.sections.add(match[1])
            made.starts += int(match[2], 16) if STARTS.fullmatch(match[1]) else 0
    return made


def is_expected(mangled, readable):
    """True for a function that an answer may call: those of vocabulary.py, and what the compiler adds."""
    if OF_COMPILER.fullmatch(mangled) or MEMORY.fullmatch(readable):
        return True
    called = without_arguments(readable)
    parts = called.split("::")
    if len(parts) == 1:
        return bool(vocabulary.PLAIN.fullmatch(called) or vocabulary.BUILTIN.fullmatch(called) or called.startswith("operator"))
    if parts[0] == "std":
        named = next((part for part in parts[1:] if part not in ("__cxx11", "_V2", "__1")), "")
        return named in vocabulary.STD or named.startswith(("__throw_", "__detail", "__glibcxx_assert", "_", "operator", "nothrow", "ostream"))
    return parts[0] in ("simt", "__gnu_cxx", *vocabulary.FREE_NAMESPACES)


def without_arguments(readable):
    """std::vector::size of `unsigned long std::vector<int, std::allocator<int> >::size() const`."""
    name = re.sub(r"\[abi:\w+\]", "", readable).replace("(anonymous namespace)", "nameless")
    operator = re.search(r"\boperator\s*([^\w\s(]+|\(\))", name)
    name = name.replace(operator.group(), "operator") if operator else name
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    name = name.partition("(")[0].strip()
    return name.split(" ")[-1] if " " in name and "operator" not in name else re.sub(r"^.* (?=\S*operator)", "", name)


def facts_of(made):
    """What is kept of an object, as JSON has it: all that an answer needs a solution's leave for."""
    return {
        "calls": {mangled: readable for mangled, readable in sorted(made.needs.items()) if not is_expected(mangled, readable)},
        "defines": sorted(filter(takes_a_place, made.has)),
        "chosen": sorted(made.odd),
        "sections": sorted(name for name in made.sections if not SECTIONS.fullmatch(name) or name.startswith((".tdata", ".tbss"))),
        "starts": made.starts, "initialisers": made.initialisers - made.harmless,
    }


def takes_a_place(name):
    """True for a name that the system's libraries or the checker have; other variables and functions are the answer's own."""
    if name.startswith("_Z"):
        return REPLACEABLE.fullmatch(name) is not None
    return (name.startswith("__") or hasattr(LIBRARY, name)) and name != "__clang_call_terminate"


def unexpected(mine, solution):
    """Sentences about what is in the object of an answer's check and not in that of the check with the solution: two facts_of()."""
    def more(kind):
        return [name for name in mine[kind] if name not in solution[kind]]

    sentences = [f"it calls {mine['calls'][name]}, which is not among the functions that an exercise may use" for name in more("calls")]
    sentences += [f"it defines {name}, which would take the place of a function of the system or of the checker" for name in more("defines")]
    sentences += [f"it has {name}, which another function chooses before main" for name in mine["chosen"]]
    sentences += [f"it has the section {name}" for name in more("sections")]
    if mine["starts"] > solution["starts"]:
        sentences.append("more code runs before or after the check than with the solution")
    elif mine["initialisers"] > solution["initialisers"]:
        sentences.append("more variables are initialised by code, before the check, than with the solution")
    return sentences
