"""No check uses a name of the answer's file, but those of its exercise's interface; clang's library resolves all names. And no
check has a namespace whose name an answer may give to something.

    test_check_names.py [--all]    in a build folder, as Meson starts it; else that of COURSE_TEST_BUILD, or build. Without --all
                                   the exercises that are due (common/dev verdicts due)
    test_check_names.py --keep FOLDER [EXERCISE ...]    leaves the answers that it tries there, as NN-topic/EXERCISE.cuh

Each solution is read with its check twice: as it is, and with every name that the check declares or uses defined once more
below it, at global scope, as what it is: a constant, a type, or a function that takes anything. That function is deleted: where
the compiler chooses it, also in a template or for the sake of an argument's type, that is an error. So the check compiles, and no
name in its lines leads to the answer's file but those of the interface.

Not covered:
- names of CUDA's and the C library's own functions (cudaMemcpy, __syncthreads), which checks call by these names;
- operators that take any type, such as a template operator!= (each range-based for over a vector asks for one);
- macros of the answer, and what it defines in the namespaces of the standard library, the course or a check.
Instructors' grading reads answers for these.
"""

import ctypes
import os
import re
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path

try:
    from clang import cindex
except ImportError:
    cindex = None

from build.compiler.flags import Compiler
from build.compiler.precompiled_header import PrecompiledHeader
from build.rewriter.translation import rewrite
from tools.lib.checkout import TOP
from tools.teach import libclang
from tools.tests.system_python import again_if_missing
from tools.verdicts import due

HERE = [Path.cwd()] if Path("build.ninja").exists() else []
BUILD = Path(*HERE or [os.environ.get("COURSE_TEST_BUILD") or TOP / "build"]).resolve()
SETTINGS = BUILD / "common/build/device/simtcc.json"
# What checks take from the answer's file, where it is more than a function of the exercise's name.
INTERFACES = {
    "host_program": "advance host_program",
    "scale": "launch_scale scale",
    "lost_update": "summarize_readings",
    "ticket": "append_loud",
    "ring_slot": "log_events",
    "two_pass_argmin": "argmin_of_blocks argmin_of_parts two_pass_argmin",
    "fix_strides": "mix_down",
    "predict_sectors": "Prediction kBytes kEighths kEvenLanes kFirstSeventy kFours kMembers kShifted kThirds",
    "read_profile": "Limit kLimitOfA kLimitOfC kLimitOfD kMicrosecondsOfAtomicsOfA kMostSpeedupOfC kNanosecondsPerAtomic",
    "fix_half2_dot": "half2_dot",
    "ordered_filter": "count_changes ordered_filter write_changes",
    "predict_atomics": "Prediction kAggregated kByVote kCountInTurns kFilterInTurns kKeyed kPlain kSplit",
    "cell_counts": "Box cell_counts",
    "fix_cell_sort": "sort_by_cell",
    "triplets_atomic": "Triplet append_triplets",
    "overlap_chunks": "Buffers overlap_chunks",
    "split_sum": "Piece piece_of split_sum",
    "system_counter": "DeviceValues count_equal count_on_all_devices",
    "hash_insert": "add_count",
    "publish": "publish wait_for",
    "ring_queue": "Queue Slot try_pop try_push",
    "spin_lock": "lock try_lock unlock",
    "stack_pop": "pop push",
    "fix_blelloch": "scan_shares",
    "merge_moments": "PartMoments merge row_moments",
    "beat_filter": "BeatFilter",
    "beat_histogram": "BeatHistogram",
    "beat_rows": "BeatRows",
    "beat_scan": "BeatScan",
    "beat_softmax": "BeatSoftmax",
    "beat_sum": "BeatSum",
}
DEFINITIONS = {
    "function": "template <class... T>\nvoid {name}(T&&...) = delete;",
    "constant": "constexpr long {name} = -12345;",
    "type": "struct {name} {{ char of_the_answer = 1; }};",
}
# Names of CUDA, of the C library and of compilers; operators; and what has no name.
OF_OTHERS = re.compile(r"cuda|__|.*_t$|operator|$")
HOSTILE = "\n// ---- the check's names, again ----\n"


@unittest.skipUnless(cindex, "clang's library for Python is not installed")
@unittest.skipUnless(SETTINGS.exists(), f"{BUILD} is no build folder for the CPU device")
class Names(unittest.TestCase):
    maxDiff = None


class Namespaces(unittest.TestCase):
    def test_no_answer_has_a_name_like_those_of_checks(self):
        names = {name for check in TOP.glob("chapters/*/checks/*.cu") for name in namespaces_of(check)}
        self.assertEqual([name for name in sorted(names) if not name.endswith(("_check", "_checks"))], [])

    def test_a_namespace_of_an_included_file_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            check = Path(folder) / "checks" / "sum.cu"
            check.parent.mkdir()
            check.write_text('#include "sum.cuh"\n#include "bits.cuh"\nnamespace sum_check {\n', encoding="utf-8")
            (Path(folder) / "bits.cuh").write_text("namespace half_bits {\nnamespace detail {\n", encoding="utf-8")
            self.assertEqual(namespaces_of(check), {"sum_check", "half_bits"})


def namespaces_of(check):
    """The names of the namespaces that a check and the files of its chapter that it includes open; `detail` is inside another."""
    names, seen, files = set(), set(), [check]
    while files:
        file = files.pop()
        if file in seen:
            continue
        seen.add(file)
        text = file.read_text(encoding="utf-8")
        names |= set(re.findall(r"^namespace (\w+)", text, re.M)) - {"detail"}
        included = re.findall(r'^#include "([^"]+)"', text, re.M)
        places = [folder / name for name in included for folder in (check.parents[1], file.parent)]
        files += [place for place in places if place.is_file()]
    return names


def test_of(check):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(problems_of(check, Path(folder)), [])
    return test


def problems_of(check, folder):
    """Sentences about what the check takes from an answer; writes the answer that defines the check's names to the folder."""
    solution = TOP / "solutions" / check.parents[1].name / f"{check.stem}.cuh"
    interface = set(INTERFACES.get(check.stem, check.stem).split())
    plain = Unit(check, solution, folder)
    used = {name for name, _ in plain.taken_from_answer()}
    problems = plain.errors + [f"{name} is no name that the check takes from the answer" for name in sorted(interface - used)]
    answer = folder / solution.name
    answer.write_text(solution.read_text(encoding="utf-8") + HOSTILE + hostile_text(plain), encoding="utf-8")
    hostile = Unit(check, answer, folder)
    return problems + hostile.errors + [f"{place} takes {name} from the answer" for name, place in hostile.taken_from_answer()
                                        if name not in interface]


def hostile_text(unit):
    lines = [DEFINITIONS[kind].format(name=name) for name, kind in sorted(unit.names_of_check().items())]
    return "\n".join(lines) + "\n"


class Unit:
    """A check with an answer, as the CPU device's compiler reads it. `folder` is for what the rewriter makes of them."""

    def __init__(self, check, answer, folder):
        self.checks, self.answer = f"{check.parent}/", str(answer)
        compiler, arguments = reader()
        folders = [str(answer.parent), str(check.parents[1])]
        text = folder / f"{check.name}.cpp"
        rewrite(str(check), str(text), folders + compiler.include_folders)
        included = [word for name in folders for word in ("-I", name)]
        self.tree = index().parse(str(text), [*arguments, "-iquote", str(check.parent), *included])
        self.errors = [f"{place_of(message)}: {message.spelling}" for message in self.tree.diagnostics
                       if message.severity >= cindex.Diagnostic.Error]

    def cursors(self):
        """All cursors of the check, and of headers that only checks include."""
        for cursor in self.tree.cursor.get_children():
            if file_of(cursor).startswith(self.checks):
                yield from cursor.walk_preorder()

    def references(self):
        """(cursor, what it names) of all names in the check; each of the functions that an overloaded one may mean."""
        for cursor in self.cursors():
            named = cursor.referenced
            if named is None or named == cursor:
                continue
            if is_a(named, cindex.CursorKind.OVERLOADED_DECL_REF):
                count = cindex.conf.lib.clang_getNumOverloadedDecls(named)
                yield from ((cursor, cindex.conf.lib.clang_getOverloadedDecl(named, number)) for number in range(count))
            else:
                yield cursor, named

    def taken_from_answer(self):
        """(name at global scope, place in the check) of what the check takes from the answer's file."""
        found = {}
        for cursor, named in self.references():
            if file_of(named) == self.answer and not is_a(named, cindex.CursorKind.NAMESPACE) and not is_builtin(named):
                found.setdefault(outermost(named).spelling, place_of(cursor))
        return sorted(found.items())

    def names_of_check(self):
        """{name: kind} of what the check declares at namespace scope, and of what it uses of others, where an answer may define
        it at global scope, too."""
        kinds, used, global_names = {}, {}, set()
        for cursor in self.cursors():
            if kind := kind_of(cursor):
                if is_a(cursor.semantic_parent, cindex.CursorKind.NAMESPACE):
                    kinds.setdefault(cursor.spelling, kind)
        for _, named in self.references():
            parent = named.semantic_parent
            kind = kind_of(named)
            if not kind or not parent or not is_a(parent, cindex.CursorKind.NAMESPACE, cindex.CursorKind.TRANSLATION_UNIT):
                continue
            if is_a(parent, cindex.CursorKind.TRANSLATION_UNIT) and kind != "function":
                global_names.add(named.spelling)  # defined at global scope already: an error at the answer's own line
            used.setdefault(named.spelling, kind)
        kinds = {**used, **kinds}
        taken = global_names | {cursor.spelling for cursor in self.tree.cursor.get_children() if file_of(cursor) == self.answer}
        return {name: kind for name, kind in kinds.items() if name not in taken and not OF_OTHERS.match(name)}


def presumed(located):
    """(file, line) of a cursor or a message: what the rewriter has written keeps the source's own."""
    file, line, column = cindex._CXString(), ctypes.c_uint(), ctypes.c_uint()
    cindex.conf.lib.clang_getPresumedLocation(located.location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column))
    return os.path.abspath(cindex.conf.lib.clang_getCString(file) or ""), line.value


def file_of(cursor):
    return presumed(cursor)[0]


def place_of(located):
    file, line = presumed(located)
    return f"{os.path.relpath(file, TOP)}:{line}"


def outermost(cursor):
    """The declaration at global scope that this one is a part of."""
    while cursor.semantic_parent and not is_a(cursor.semantic_parent, cindex.CursorKind.TRANSLATION_UNIT, cindex.CursorKind.NAMESPACE):
        cursor = cursor.semantic_parent
    return cursor


def is_builtin(cursor):
    """A function of the compiler's own, which it declares where a name is used first."""
    return cursor.spelling.startswith("__builtin_")


def kind_of(cursor):
    """What an answer would have to define to take the place of this declaration; None for what is no name at namespace scope.
    (By numbers: the library knows more kinds than its module.)"""
    kinds = cindex.CursorKind
    for kind, of in (("function", (kinds.FUNCTION_DECL, kinds.FUNCTION_TEMPLATE)), ("constant", (kinds.VAR_DECL,)),
                     ("type", (kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.ENUM_DECL, kinds.CLASS_TEMPLATE, kinds.TYPE_ALIAS_DECL,
                               kinds.TYPEDEF_DECL))):
        if is_a(cursor, *of):
            return kind
    return None


def is_a(cursor, *kinds):
    return cursor._kind_id in [kind.value for kind in kinds]


@lru_cache(maxsize=None)
def index():
    library = libclang.bindings_of(tuple(reader()[0].program)).conf.lib  # of the version that has read the headers
    library.clang_getPresumedLocation.argtypes = [cindex.SourceLocation, ctypes.POINTER(cindex._CXString),
                                                  ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]
    library.clang_getPresumedLocation.restype = None
    return cindex.Index.create(excludeDecls=True)


@lru_cache(maxsize=None)
def reader():
    """The CPU device's compiler, and its arguments, with those for the headers that it has read already."""
    compiler = Compiler(SETTINGS)
    header = PrecompiledHeader(compiler, "kernel")
    header.make()
    return compiler, [*compiler.command()[1:], *header.how_to_use, "-include", "cuda_runtime.h", "-w"]


CHECKS = [file for file in sorted((TOP / "chapters").glob("*/checks/*.cu")) if (TOP / "solutions").is_dir()]
WANTED = due.names(TOP, "--all" in sys.argv) if CHECKS else []
for check_file in (file for file in CHECKS if file.stem in WANTED):
    setattr(Names, f"test_{check_file.stem}", test_of(check_file))


def keep(folder, exercises):
    for check in CHECKS:
        if not exercises or check.stem in exercises:
            of_chapter = Path(folder) / check.parents[1].name
            of_chapter.mkdir(parents=True, exist_ok=True)
            print(check.stem, *problems_of(check, of_chapter.resolve()) or ["passes"], sep="\n  ", flush=True)


if __name__ == "__main__":
    again_if_missing(cindex)
    if sys.argv[1:2] == ["--keep"]:
        keep(sys.argv[2], sys.argv[3:])
    else:
        unittest.main(argv=[word for word in sys.argv if word != "--all"])
