"""What a learner needs of a compiler's messages: g++'s, clang's, nvcc's and the rewriter's."""

import itertools
import os
import re
from pathlib import Path

from tools.lib.checkout import TOP

LINES_OF_AN_ERROR = 8  # the message, its source line, the caret, a few notes
ERRORS_SHOWN = 3
WARNINGS_SHOWN = 3
CANDIDATES_SHOWN = 6

# g++, clang and the rewriter: "file:12:3: error: text"; nvcc: "file(12): error: text".
# The file may lie in a folder whose name has a blank or parentheses.
ERROR = re.compile(r"^(?P<file>[^\s:][^:]*?)(:\d+(:\d+)?|\(\d+\)): (fatal |catastrophic )?error\b")
# Lines that lead up to an error: they belong to the one that follows.
LEAD_IN = re.compile(r"^(In file included from|\s+from |[^\s:][^:]*: In |[^\s:][^:]*: At )")
# The way to an error inside a template. g++, before it: "file:46:29:   required from here"; clang, after it:
# "file:46:29: note: in instantiation of function template specialization 'f<int>' requested here".
REQUIRED = re.compile(r"^(?P<place>[^\s:][^:]*:(?P<line>\d+)(:\d+)?):\s+((recursively )?required |note: in instantiation of )")
# A warning. Signs that differ are no mistake that a learner should look for.
WARNING = re.compile(r"^[^\s:][^:]*?(:\d+(:\d+)?|\(\d+\)): warning\b(?!.*\[-Wsign-compare\])")
# A function that the compiler might have taken. g++: ": note: candidate: 'int atomicCAS(int*, int, int)'"; clang: ": note:
# candidate function not viable: requires 3 arguments, but 2 were provided", and on the next line what is in the source.
CANDIDATE = re.compile(r": note: candidate( function)?: ['\u2018](?P<signature>.*?)['\u2019]$")
NOT_VIABLE = re.compile(r": note: candidate (function|template|constructor)(?! \(the implicit)( not viable| ignored)?(: (?P<why>.*))?$")
# Notes that tell a learner nothing: on what the standard library and the CPU device hold.
UNHELPFUL = re.compile(r"^/usr/\S+: note: |: note: (candidate |built-in candidate|expanded from macro)")
# Where something is said: "file:12:3: note: text".
PLACE = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+)(:\d+)?: (?P<what>(fatal )?error|warning|note)\b")
# The line of an error, or the one that was its cause.
ANY_PLACE = re.compile(r"^(?!In file included from)(?P<file>[^\s:][^:]*):(?P<line>\d+)(:\d+)?: ")
# What is no message: ninja's own lines, the command line that failed, and closing counts.
NOISE = re.compile(
    r"^(ninja: |\[\d+/\d+\] |FAILED: |(\d+ warnings? and )?\d+ (errors?|warnings?) (generated|detected)|compilation terminated)"
)
# A compiler that crashes says where it was, for those who mend it.
DUMP = re.compile(r"^(PLEASE submit a bug report|Stack dump:|.*\binternal compiler error: |Please submit a full bug report)")
CRASHED = "The compiler itself crashed on this file. Take out what you wrote last, a part at a time, until it says what is wrong."
# What a compiler's words mean here: a pattern of the error's lines, and what to write instead.
ADVICE = [
    (re.compile(r"invalid conversion from [^*\n]* to .*\*.*\n.*\batomic\w+\("),
     "An atomic function takes the address of what it changes: atomicAdd(p, 1), not atomicAdd(*p, 1)."),
    (re.compile(r"no (matching|instance of overloaded) function .*?(?P<name>\batomic[A-Z]\w*)"),
     "{name} takes an address first, and exists for certain types only: chapter 02's README has a table. Other\n"
     "types need a loop around atomicCAS on their bits: __float_as_uint(x), or the word that holds the 16 bits."),
    (re.compile(r"(?P<name>__(shfl(_up|_down|_xor)?|any|all|ballot))\b(?!_).* (was not declared|is undefined)|"
                r"undeclared identifier .(?P<name2>__(shfl(_up|_down|_xor)?|any|all|ballot))\b"),
     "It is called {name}_sync since CUDA 9. Its first argument is a mask: which lanes make this call?"),
    (re.compile(r"deleted (constructor|function) .*DeviceBuffer"),
     "A kernel takes a pointer, not the buffer that owns the memory: d_x.data()."),
    (re.compile(r"(call to|constructor) .*DeviceBuffer"),
     "course::DeviceBuffer<T>::from(v) copies a std::vector, ::zeros(n) has n zeros, and (n) has n elements\n"
     "without a value."),
    (re.compile(r"no matching function for call to .(simt::)?shared\b"),
     "The size of a __shared__ array must be a constant. A size that is known at the launch only takes\n"
     "extern __shared__ T s[]; and the size in bytes as the third number of <<<>>>."),
    (re.compile(r"(unknown type name|undeclared identifier) '(__half2?|half2?|__float2half\w*|__half2float\w*)'|"
                r"['\u2018](__half2?|half2?|__float2half\w*|__half2float\w*)['\u2019] (was not declared|does not name a type)"),
     "Half precision needs its header: #include <cuda_fp16.h>."),
    (re.compile(r"(unknown type name|undeclared identifier) 'cooperative_groups'|expected namespace name\n.*cooperative_groups|"
                r"['\u2018]cooperative_groups['\u2019] (was not declared|is not a namespace)"),
     "Cooperative groups need their header: #include <cooperative_groups.h>."),
    (re.compile(r"invalid instruction mnemonic|<inline asm>|invalid (input|output) constraint .* in asm|"
                r"register for constraint|impossible constraint in .asm|Assembler messages"),
     "Inline PTX is for GPUs only. What the course needs of it is in course/ptx.cuh, which works on the CPU\n"
     "device, too."),
]


def with_full_paths(output):
    """The compiler's output with paths from the top, where it has them relative to the build folder."""

    def full(match):
        return os.path.realpath(match.group()) if os.path.exists(match.group()) else match.group()

    return re.sub(r"(?<![^\s'\"‘])(?=/|\.\./)[^\s:,('\"’]*\.\./[^\s:,('\"’]+", full, output)


def warnings_of(output, exercise):
    """The first warnings about the exercise's own file in a build's output, with their source lines."""
    warnings = {}
    lines = output.splitlines()
    for at, line in enumerate(lines):
        if str(exercise) in line and WARNING.match(line):
            source = itertools.takewhile(lambda text: text.startswith(" "), lines[at + 1 : at + 3])
            warnings[line] = "\n".join([line, *source])
    return "\n".join(list(warnings.values())[:WARNINGS_SHOWN])


def warnings_in(output, folder):
    """All warnings about files in a folder, each once, with their source lines."""
    warnings, lines = {}, output.splitlines()
    for at, line in enumerate(lines):
        if WARNING.match(line) and os.path.abspath(PLACE.match(line)["file"]).startswith(os.path.join(folder, "")):
            source = itertools.takewhile(lambda text: not PLACE.match(text) and not NOISE.match(text), lines[at + 1 : at + 3])
            text = "\n".join(as_in_the_sources([line.removesuffix(" [-W#pragma-messages]"), *source]))  # the rewriter's own
            warnings[re.sub(r":\d+(?=: warning)", "", line)] = text  # a function for host and device is compiled twice
    return list(warnings.values())


def errors_of(output, exercise):
    """The errors in a failed build's output, each a list of lines; the exercise's own come first.

    Of an error inside a template, which the exercise's line was the cause of, that line comes first;
    further errors with the same cause are left out.
    """
    errors = []
    lead_in = []
    after_failed = False
    for line in output.splitlines():
        if after_failed:  # the command line that failed
            after_failed = False
            continue
        if line.startswith("FAILED: "):
            after_failed = True
        if NOISE.match(line):
            continue
        if ERROR.match(line):
            errors.append([*lead_in, line])
            lead_in = []
        elif LEAD_IN.match(line) or (REQUIRED.match(line) and ": note: " not in line):
            lead_in.append(line)
        elif re.match(r"^[^\s:][^:]*?(:\d+(:\d+)?|\(\d+\)): (warning|note)\b", line) and " warning" in line[:300]:
            lead_in = []
            errors.append(None)  # the lines of a warning belong to no error
        elif errors and errors[-1] is not None:
            errors[-1].append(line)
    mine = str(exercise)
    shown = []
    causes = set()
    for error in errors:
        if error is None or any("(lambda at " in line and " no viable conversion from " in line for line in error):
            continue  # or clang 14 on a launch whose arguments have an error of their own
        error = as_in_the_sources(error)
        at = next(line for line in error if ERROR.match(line))
        way = [match for match in map(REQUIRED.match, error) if match and mine in match["place"]]
        if way and not at.startswith(mine):
            place, number = way[0]["place"], int(way[0]["line"])
            if place in causes:
                continue
            causes.add(place)
            first = [bool(ERROR.match(line)) for line in error].index(True)
            source = source_line(exercise, number)
            error = [f"{place}: this line is the cause:", *source, *error[first:]]
        shown.append(error)
    shown.sort(key=lambda error: not any(mine in line for line in error))
    if any(mine in line for error in shown for line in error):  # then what headers say is a consequence
        shown = [error for error in shown if any(mine in line for line in error) or not is_in_a_header(error)]
    return shown


def places_of(output, exercise):
    """(file, line, text) of each error of a failed build: the exercise's own lines first."""
    places = []
    for error in errors_of(without_dumps(output), exercise):
        text = re.sub(r"^.*?\berror: ", "", next(line for line in error if ERROR.match(line)))
        at = next((match for match in map(ANY_PLACE.match, error) if match), None)
        if at:
            places.append((at["file"], int(at["line"]), text))
    return places


def is_in_a_header(error):
    """True if the place of the error is a header of the course or of the system."""
    place = next(line for line in error if ERROR.match(line))
    return place.startswith(("/usr/", f"{TOP}/common/"))


def as_in_the_sources(error):
    """The error with the lines that its sources have, where clang shows what the rewriter has made of them.

    Such a line has no column, and no marks below it: they are those of the rewritten line.
    """
    result, is_other = [], False
    for at, line in enumerate(error):
        place = PLACE.match(line)
        if place:
            source = source_line(place["file"], int(place["line"]))
            shown = error[at + 1] if at + 1 < len(error) and not PLACE.match(error[at + 1]) else ""
            is_other = bool(source) and bool(shown) and is_rewritten(shown, source[0])
            if is_other:
                result += [re.sub(r"^([^:]*:\d+):\d+:", r"\1:", line), *source]
                continue
        if place or not is_other or not (line.startswith(" ") or line is shown):
            result.append(line)
            is_other = False
    return result


def is_rewritten(shown, source):
    """True if a compiler shows a line that is not the source's: both without what precedes the code."""
    code, whole = (re.sub(r"^\s*\d+ \| ?", "", line).strip() for line in (shown, source))
    marks = ("::simt::", "SIMT_KERNEL(", "_Pragma(")
    return code not in whole and any(mark in code for mark in marks) or code != whole and whole.endswith(code)


def source_line(exercise, number):
    """A line of the exercise as compilers show it, in a list; an empty list if there is none."""
    try:
        lines = Path(exercise).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [f"{number:>5} | {text}" for text in lines[number - 1 : number]]


def shorten(error):
    """The first lines of an error, and one line for each function that the compiler might have taken."""
    first = [bool(ERROR.match(line)) for line in error].index(True)
    notes = [": note: " in line or LEAD_IN.match(line) is not None for line in error[first:]]
    message = error[: first + notes.index(True)] if True in notes else error
    candidates = candidates_of(error)
    if not candidates:
        others = [part for part in parts_of_notes(error[len(message) :])
                  if not REQUIRED.match(part[0]) and not UNHELPFUL.search(part[0])]
        return [*message, *itertools.chain.from_iterable(others)][:LINES_OF_AN_ERROR]
    lines = message + ["  there is:"] + [f"    {candidate}" for candidate in candidates[:CANDIDATES_SHOWN]]
    more = len(candidates) - CANDIDATES_SHOWN
    return lines + ([f"    ... and {more} more"] if more > 0 else [])


def parts_of_notes(lines):
    """The notes after an error, each with the lines that belong to it."""
    parts = []
    for line in lines:
        if parts and not PLACE.match(line) and not LEAD_IN.match(line):
            parts[-1].append(line)
        else:
            parts.append([line])
    return parts


def candidates_of(error):
    """The functions that the compiler might have taken: their signatures, or their first lines and why not."""
    candidates = {}
    for part in parts_of_notes(error):
        gcc, clang = CANDIDATE.search(part[0]), NOT_VIABLE.search(part[0])
        if gcc:
            candidates[gcc["signature"]] = None
        elif clang and len(part) > 1 and not part[0].startswith("/usr/"):
            code = re.sub(r"^\s*\d+ \| ?", "", part[1]).strip()
            code = re.sub(r"\{ SIMT_KERNEL\(.*", "", code)
            code = re.sub(r"^(SIMT_\w+|__device__|__global__|__host__|inline|constexpr|\s)+", "", code).rstrip(" {;,")
            if code.startswith("("):
                continue  # inside of a macro
            candidates[code + (f"  ({clang['why']})" if clang["why"] else "")] = None
    return list(candidates)


def advice_on(error):
    """What to write instead, for an error that is one of the usual ones; lines, or none."""
    text = "\n".join(error)
    for pattern, words in ADVICE:
        found = pattern.search(text)
        if found:
            names = found.groupdict()
            return words.format(name=names.get("name") or names.get("name2")).splitlines()
    return []


def without_dumps(output):
    """A build's output without what a compiler says of itself when it crashes, up to ninja's next line or an error."""
    lines, is_dump = [], False
    for line in output.splitlines():
        is_dump = bool(DUMP.match(line)) or is_dump and not (ERROR.match(line) or line.startswith(("[", "FAILED: ", "ninja: ")))
        if not is_dump:
            lines.append(line)
    return "\n".join(lines)


def explain(output, exercise):
    """What a learner needs of a failed build's output: the first errors."""
    is_crash = any(DUMP.match(line) for line in output.splitlines())
    output = without_dumps(output)
    errors = errors_of(output, exercise)
    lines = []
    for error in errors[:ERRORS_SHOWN]:
        while error and not error[-1].strip():
            error.pop()
        advice = [line for line in advice_on(error) if line not in lines]
        if advice:  # instead of notes on what the headers contain
            notes = [i for i, line in enumerate(error) if re.search(r"\bnote:|^<inline asm>", line)]
            lines += error[: min([*notes, LINES_OF_AN_ERROR])] + advice
        else:
            lines += shorten(error)
    if len(errors) > ERRORS_SHOWN:
        more = len(errors) - ERRORS_SHOWN
        lines.append(f"... and {more} more error{'s' if more > 1 else ''}")
    if not errors and is_crash:
        return CRASHED
    if not errors:  # a linker's message, or none that is known
        lines = [line for line in output.splitlines() if not NOISE.match(line)][-20:]
        lines += advice_on(lines)
    return "\n".join(lines)
