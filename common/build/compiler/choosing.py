"""Which compiler `meson setup` takes for kernels."""

import re
import shutil
import subprocess

from build.compiler.flags import FLAGS_OF, KERNEL_FLAGS
from tools.lib.failed import Failed

OLDEST = {"clang": 16, "gcc": 12}
CLANGS = ["clang++", *(f"clang++-{version}" for version in range(30, OLDEST["clang"] - 1, -1))]


def identify(command):
    """(family, version) of a compiler, or None where there is none or it is too old."""
    try:
        text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    family = "clang" if "clang version" in text else "gcc" if "Free Software Foundation" in text else None
    version = re.search(r"\b\d+(\.\d+)+", text)
    if family is None or version is None or int(version.group().split(".")[0]) < OLDEST[family]:
        return None
    return family, version.group()


# What the checker has to hear of these two lines. The options that ask for it are none that clang promises to keep.
PROBE = "volatile int flag; int count;\nvoid probe() { count += 1; flag = flag; }\n"
HOOKS = {"__tsan_read4", "__tsan_write4", "__tsan_volatile_read4", "__tsan_volatile_write4", "__sanitizer_cov_trace_pc"}


def problem_with(family, command):
    """How a compiler does not call the checker as it must; "" if it does."""
    done = subprocess.run([*command, *KERNEL_FLAGS, *FLAGS_OF[family], "-S", "-x", "c++", "-", "-o", "-"],
                          input=PROBE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return next((line for line in done.stderr.splitlines() if line.strip()), f"exit code {done.returncode}")
    calls = set(re.findall(r"__(?:tsan|sanitizer)_\w+", done.stdout))
    if missing := sorted(HOOKS - calls):
        return "no call of " + ", ".join(missing)
    if extra := sorted(calls & {"__tsan_func_entry", "__tsan_func_exit"}):
        return "calls of " + ", ".join(extra)
    return ""


def find_compiler(wanted, cxx):
    """Family, version and command of the compiler for kernels, each on a line: `wanted`, else a clang, else CXX."""
    candidates = [[wanted]] if wanted else [cxx, *([name] for name in CLANGS), cxx]
    problems = []
    for place, command in enumerate(candidates):
        found = identify(command)
        if found and (wanted or found[0] == "clang" or place == len(candidates) - 1):
            if not (problem := problem_with(found[0], command)):
                return "\n".join([*found, *command[:-1], shutil.which(command[-1]) or command[-1]])
            problems.append(f"\n  {' '.join(command)} {found[1]} does not show the checker what a kernel does: {problem}")
    what = f"{wanted} is not" if wanted else "there is no"
    text = f"The CPU device needs clang 16 or a newer one: {what} clang++ 16 or g++ 12. common/tools/setup.sh installs it."
    if problems:
        text = "The CPU device needs a compiler with its options for kernels (common/build/compiler/flags.py):" + "".join(problems)
    raise Failed(text)
