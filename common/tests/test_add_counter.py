"""Adds a counter to a copy of the one list, and the line that counts it: the rest of the course sees it.

    test_add_counter.py BUILD

BUILD has the compile_commands.json that says how the course is compiled.
"""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

READS = ()  # beside what all verdicts depend on

COMMON = Path(__file__).resolve().parents[1]
BUILD = None
ENTRY = '\nSIMT_COUNTER(made_up, thing, sum, "made_up_things", "what no kernel does", "")\n'
# Two launches, of which the first one counts 3 and the second one 4.
PROGRAM = r"""
#include <cstdio>
#include "counters/counters.hpp"
#include "ladder_report.hpp"

// No kernel runs here: there are no arrays and no lines that have names.
simt::Allocation* simt::named_by(std::uintptr_t) { return nullptr; }
std::string simt::object_at(std::uintptr_t) { return ""; }
simt::SourceLine simt::source_line(const void*) { return {}; }
std::string simt::SourceLine::text() const { return ""; }

int main() {
  simt::counted.made_up = 10;  // before the scope
  simt::begin_counting();
  const simt::Counters before = simt::counted;
  for (const unsigned things : {3u, 4u}) {
    const simt::Counters at_launch = simt::counted;
    simt::counted.made_up += things;
    simt::count_launch("kernel", at_launch);
  }
  course::Row row;
  row.counters = simt::difference(simt::counted, before);
  std::printf("%d\n%s", static_cast<int>(simt::counted_by_kernel().front().counters.made_up),
              course::to_json(course::Environment(), {row}).c_str());
}
"""


def compiler():
    """The command with which Meson compiles C++ that includes the headers of the course and of its libraries."""
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in commands if entry["file"].endswith("/kernel_flags.cpp"))
    words = shlex.split(entry["command"])
    options = [word for word in words if word.startswith(("-I", "-isystem", "-std="))]
    program = words[: next(i for i, word in enumerate(words) if word.startswith("-"))]
    return program, options, entry["directory"]


class AddCounter(unittest.TestCase):
    def setUp(self):
        self.common = Path(tempfile.mkdtemp()) / "common"
        self.addCleanup(shutil.rmtree, self.common.parent)
        for folder in ("include", "src", "simt/include", "simt/src"):
            shutil.copytree(COMMON / folder, self.common / folder)

    def test_an_entry_and_what_counts_it_are_all(self):
        with (self.common / "simt/include/simt/counters.def").open("a", encoding="utf-8") as file:
            file.write(ENTRY)
        main = self.common.parent / "main.cpp"
        program, options, folder = compiler()
        own = [f"-I{self.common / name}" for name in ("include", "src", "simt/include", "simt/src")]
        # One unit: headers are read once.
        sources = [self.common / "simt/src/counters/counters.cpp", self.common / "src/ladder_report.cpp"]
        unit = "".join(f'#include "{source}"\n' for source in sources) + PROGRAM
        main.write_text(unit, encoding="utf-8")
        binary = self.common.parent / "main"
        command = [*program, *own, *options, "-DCOURSE_CPU_DEVICE=1", "-DFMT_HEADER_ONLY", main, "-o", binary]
        subprocess.run(command, cwd=folder, check=True)
        of_kernel, _, report = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.partition("\n")
        counters = json.loads(report)["rungs"][0]["counters"]
        self.assertEqual(int(of_kernel), 7)
        self.assertEqual(counters["made_up_things"], 7)
        self.assertEqual(list(counters)[-1], "made_up_things")


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1))
    unittest.main()
