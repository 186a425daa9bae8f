"""Which compiler `meson setup` takes for kernels."""

import re
import shutil
import subprocess

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


def find_compiler(wanted, cxx):
    """Family, version and command of the compiler for kernels, each on a line: `wanted`, else a clang, else CXX."""
    candidates = [[wanted]] if wanted else [cxx, *([name] for name in CLANGS), cxx]
    for place, command in enumerate(candidates):
        found = identify(command)
        if found and (wanted or found[0] == "clang" or place == len(candidates) - 1):
            return "\n".join([*found, *command[:-1], shutil.which(command[-1]) or command[-1]])
    what = f"{wanted} is not" if wanted else "there is no"
    raise Failed(f"The CPU device needs clang 16 or a newer one: {what} clang++ 16 or g++ 12. common/tools/setup.sh installs it.")
