"""chapter.toml: what it lists reaches Meson, and what cannot be used is named. list_chapter.py and tools/lib/chapter.py."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

READS = ("common/build/list_chapter.py",)

TOOL = [sys.executable, str(Path(__file__).resolve().parents[2]), "build.list_chapter"]
LIST = """question = "How\\nmany?"
learn = "how many."
before = ["00"]
exercises = ["sum", "max"]
stars = {sum = 1, max = 5}
devices = [4, 8]
core = ["sum"]

[libraries]
vendor = ["cublas"]
optional = ["nccl"]

[[program]]
name = "count"
sources = ["count.cpp"]
kernels = ["count.cu"]
needs = ["mpi"]
instead = "none.cpp"
test = "test_count.py"
"""


class ListChapter(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.top = Path(temporary.name).resolve()
        self.folder, self.build = self.top / "chapters/01-x", self.top / "build/chapters/01-x"
        for exercise in ("sum", "max"):
            for file in (f"chapters/01-x/checks/{exercise}.cu", f"exercises/01-x/{exercise}.cuh", f"solutions/01-x/{exercise}.cuh"):
                self.write(file, "")
        for file in ("count.cpp", "count.cu", "none.cpp", "test_count.py", "races.cu"):
            self.write(f"chapters/01-x/{file}", "")
        self.write("chapters/01-x/mistakes/sum/late.diff", "It is late.\nGPU may let it through: luck.\n\n@@\n-x\n")
        self.write("chapters/01-x/mistakes/sum/early.diff", "It is early.\n\n@@\n-x\n")
        self.write("chapters/01-x/alternatives/sum/backwards.diff", "It begins at the end.\n\n@@\n-x\n")
        self.write("chapters/01-x/chapter.toml", LIST)

    def write(self, name, text):
        file = self.top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_it(self):
        return subprocess.run([*TOOL, self.folder, self.build], capture_output=True, text=True)

    def test_all_that_is_listed(self):
        done = self.run_it()
        self.assertEqual(done.stderr, "")
        self.assertEqual(
            [line.split("\t") for line in done.stdout.splitlines()],
            [
                ["lesson", "ladder"], ["lesson", "selfcheck"], ["lesson", "races"],
                ["exercise", "sum"], ["mistake", "sum", "early", "no"], ["mistake", "sum", "late", "yes"],
                ["alternative", "sum", "backwards"],
                ["exercise", "max"],
                ["devices", "4"], ["devices", "8"], ["vendor", "cublas"], ["optional", "nccl"],
                ["program", "count", "test_count.py", "none.cpp"], ["source", "count", "count.cpp"],
                ["kernels", "count", "count.cu"], ["needs", "count", "mpi"],
            ],
        )

    def test_programs_are_found_in_the_chapters_folder(self):
        self.write("build/chapters/01-x/ladder", "a program of an older build")
        self.write("build/chapters/01-x/common/build/chapter/ladder", "the ladder")
        self.run_it()
        self.run_it()
        self.assertEqual((self.build / "ladder").read_text(), "the ladder")
        self.assertEqual(
            sorted(file.name for file in self.build.iterdir() if file.is_symlink()),
            ["count", "ladder", "max", "max-solution", "races", "selfcheck", "sum", "sum-solution", "sum-variants"],
        )

    def test_what_cannot_be_used_is_named(self):
        for old, new, *texts in [
            ("question", "questions", "chapter.toml: 'questions' is unknown", "question, learn, before"),
            ("max = 5", "min = 5", "'stars.max' must be a number from 1 to 5"),
            ("max = 5", "max = 6", "'stars.max' must be a number from 1 to 5"),
            ("max = 5", "max = 5, min = 1", "'stars.min': there is no such exercise"),
            ('core = ["sum"]\n', "", "'core' is missing: at least one of the exercises"),
            ('core = ["sum"]', "core = []", "'core' is missing: at least one of the exercises"),
            ('core = ["sum"]', 'core = ["sum", "min"]', "'core' names min: there is no such exercise"),
            ("exercises", "# exercises", "chapter.toml: 'exercises' is missing"),
            ('["00"]', '"00"', "'before' must be a list of texts"),
            ('["00"]', '["0"]', "'before' names '0'"),
            ("vendor", "vendors", "'libraries.vendors' is unknown"),
            (
                '"max"]\nstars = {sum = 1, max', '"min"]\nstars = {sum = 1, min', "'exercises' names min, but",
                "checks/min.cu is missing",
            ),
            ("count.cu\"", "count2.cu\"", "'program.count' names count2.cu, which is missing"),
            ('instead = "none.cpp"\n', "", "'program.count' needs mpi, but has no 'instead'"),
            ('name = "count"\n', "", "'program.name' is missing"),
            ("[libraries]", "[libraries", "chapter.toml: "),
            ("[libraries]", '[headline]\nwhat = "x"\ngroup = {n = 1}\nrung = "x"\n[libraries]', "either 'vendor' or 'instead'"),
            ("[libraries]", "[profile]\nn = true\n[libraries]", "'profile.n' must be a number"),
            ("[libraries]", "[[picture]]\nrows = [1, 2.5]\n[libraries]", "'picture.rows' must be a list of numbers"),
        ]:
            self.write("chapters/01-x/chapter.toml", LIST.replace(old, new, 1))
            done = self.run_it()
            self.assertEqual(done.returncode, 1, new)
            for text in texts:
                self.assertIn(text, done.stderr)

    def test_a_missing_solution_is_no_gap_in_a_release_only(self):
        for file in ("sum", "max"):
            (self.top / f"solutions/01-x/{file}.cuh").unlink()
        self.assertIn("solutions/01-x/sum.cuh is missing", self.run_it().stderr)
        (self.top / "solutions/01-x").rmdir()
        (self.top / "solutions").rmdir()
        self.assertEqual(self.run_it().stderr, "")

    def test_a_mistake_that_cannot_be_read(self):
        self.write("chapters/01-x/mistakes/sum/late.diff", "It is late.\n")
        self.assertIn("mistakes/sum/late.diff: has no hunk", self.run_it().stderr)


if __name__ == "__main__":
    unittest.main()
