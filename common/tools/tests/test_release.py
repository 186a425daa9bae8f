"""release.py: nothing of a solution is left, what is left is a whole course, and pages lead to what is there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tools.lib import markers
from tools.lib.checkout import TOP
from tools.maintain import lint
from tools.teach import release

TOOLS = TOP / "common/tools"
FORMATTED = {pattern[1:] for pattern in lint.FORMATTED}
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]


def run(*command, folder=None, env=None):
    """Exit code and output of a command."""
    done = subprocess.run(list(map(str, command)), cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def bodies(text):
    """The bodies of a file's functions, without comments and white space."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    found, depth = [], 0
    for i, c in enumerate(text):
        if c == "{":
            begin = i if depth == 0 else begin
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                found.append("".join(text[begin:i].split()))
    return found


def dead_links(page):
    """The relative links of a page that lead nowhere."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return [link for link in links if not re.match(r"\w+:", link) and not (page.parent / link).exists()]


class Pages(unittest.TestCase):
    def test_what_leads_to_an_answer_goes_and_its_neighbours_stay(self):
        text = "Run it. The check says\nwhat it found.<!-- answers:begin -->\nSolutions: `diff -ru x solutions/x`.<!-- answers:end -->\n\nNext.\n"
        self.assertEqual(markers.without_answers(text),
                         ("Run it. The check says\nwhat it found.\n\nNext.\n", ["Solutions: `diff -ru x solutions/x`."]))

    def test_links_to_chapters_that_are_gone(self):
        text = ("| [02-b](chapters/02-b/README.md) | what? |\n| [01-a](chapters/01-a/README.md) | see [it](../02-b/x.cuh) |\n"
                "As [chapter 02](../02-b/README.md#top) says, [web](https://x.org/02-b).\n")
        self.assertEqual(
            release.without_links_to(["02-b"], text),
            "| [01-a](chapters/01-a/README.md) | see it |\nAs chapter 02 says, [web](https://x.org/02-b).\n",
        )
        text = "Read: [a](docs/a.md), [the verdicts](docs/verdicts.md).\n"
        self.assertEqual(release.without_links_to(["verdicts.md"], text), "Read: [a](docs/a.md), the verdicts.\n")


@unittest.skipUnless((TOP / "solutions").is_dir(), "this is a release itself")
@unittest.skipUnless(run("git", "-C", TOP, "rev-parse", "HEAD")[0] == 0, "no Git repository")
class Release(unittest.TestCase):
    """Releases of a clone of this checkout's last commit."""

    @classmethod
    def setUpClass(cls):
        if not (TOP / ".git").exists():
            raise unittest.SkipTest("a release is made from a Git checkout, and this is none")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.course = cls.folder / "course"
        _, output = run("git", "clone", "--quiet", TOP, cls.course)
        cls.tool = cls.course / "common/tools/teach/release.py"
        if not cls.tool.exists():
            raise unittest.SkipTest(f"a clone of this checkout has not its files: {output.strip()}")
        shutil.copy(TOOLS / "teach/release.py", cls.tool)  # the one to test, committed or not
        cls.code, cls.output = run(sys.executable, cls.tool, cls.folder / "out")
        cls.out = cls.folder / "out"
        run("git", "-C", cls.course, "checkout", "--quiet", "--", ".")
        shutil.copy(TOOLS / "teach/release.py", cls.tool)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def lint(self, course):
        """The lint finds nothing. clang-format is a stand-in: sources are those of the checkout, whose format its own lint tells."""
        for file in (file for file in course.rglob("*") if file.suffix in FORMATTED and not file.is_symlink() and ".git" not in file.parts):
            self.assertEqual(file.read_bytes(), (self.course / file.relative_to(course)).read_bytes(), file)
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        stand_in = tools / "clang-format"
        stand_in.write_text("#!/bin/sh\n")
        stand_in.chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        self.assertEqual(run(sys.executable, course / "common/dev", "lint", env=environment), (0, "nothing to mend\n"))

    def test_the_answers_are_gone(self):
        self.assertEqual(self.code, 0, self.output)
        self.assertFalse((self.out / "solutions").exists())
        self.assertEqual([*self.out.glob("chapters/*/mistakes"), *self.out.glob("chapters/*/alternatives")], [])
        everything = "\0".join("".join(re.sub(r"//[^\n]*", "", file.read_text(errors="replace")).split())
                               for file in release.files_in(self.out))
        count = 0
        for solution in sorted(TOP.glob("solutions/*/*.cuh")):
            if solution.parent.name.startswith("00-"):  # its README leads to the answer step by step
                continue
            starter = bodies((TOP / "exercises" / solution.parent.name / solution.name).read_text())
            for body in bodies(solution.read_text()):
                if len(body) > 60 and body not in starter:
                    count += 1
                    self.assertFalse(body in everything, f"{solution}: this is in the release: {body[:80]}")
        self.assertGreater(count, 20)

    def test_no_list_names_a_mistake(self):
        self.assertEqual(list(self.out.glob("chapters/*/results/*-verdicts.json")), [])
        lists = [*self.out.glob("chapters/*/meson.build"), *self.out.glob("chapters/*/chapter.toml")]
        self.assertGreater(len(lists), 10)
        words = set(re.findall(r"\w+", " ".join(file.read_text() for file in lists)))
        names = {file.stem for file in TOP.glob("chapters/*/mistakes/*/*.diff")}
        self.assertGreater(len(names), 100)
        self.assertEqual(words & names, set())

    def test_no_workflow_runs_what_is_not_there(self):
        commands = [line for file in self.out.glob(".github/workflows/*") for line in re.findall(r"run: *(.*)", file.read_text())]
        self.assertEqual(commands, [])

    def test_what_codespaces_and_colab_run(self):
        for test in ("test_containers", "test_hosts"):
            # Not by common/__main__.py, which compares what a test reads with READS: a release has no solutions.
            code, output = run(sys.executable, "-m", "unittest", f"tools.tests.{test}", folder=self.out / "common")
            self.assertEqual(code, 0, output)
        # Two chapters: each has the same meson.build. What is built then is built from this checkout's files, too.
        code, output = run("meson", "setup", self.folder / "build", self.out, "-Dchapters=00-start-here,01-global-atomic")
        self.assertEqual(code, 0, output)
        code, output = run("meson", "compile", "-C", self.folder / "build", "--ninja-args=-n")
        self.assertEqual(code, 0, output)

    def test_it_is_a_whole_course(self):
        self.lint(self.out)
        chapters = [folder.name for folder in (TOP / "chapters").iterdir() if (folder / "meson.build").exists()]
        for chapter in chapters:
            self.assertTrue((self.out / "chapters" / chapter / "common/meson.build").exists())
            for exercise in (TOP / "exercises" / chapter).iterdir():
                copy = self.out / "exercises" / chapter / exercise.name
                self.assertEqual(copy.exists(), run("git", "-C", TOP, "ls-files", "--error-unmatch", exercise)[0] == 0)

    def test_pages_lead_to_what_is_there(self):
        for page in self.out.rglob("*.md"):
            gone = [link for link in dead_links(page) if not dead_links(TOP / page.relative_to(self.out)).count(link)]
            self.assertEqual(gone, [], page)
        readme = (self.out / "README.md").read_text()
        for number in (1, 2):
            self.assertRegex(readme, rf"<!-- command {number} -->\n```sh\n.*meson")
        self.assertNotRegex(readme, release.LEADS_THERE)

    def test_one_commit_that_has_all(self):
        self.assertEqual(run("git", "-C", self.out, "rev-list", "--count", "--all"), (0, "1\n"))
        self.assertEqual(run("git", "-C", self.out, "status", "--porcelain"), (0, ""))
        source = run("git", "-C", self.course, "rev-parse", "HEAD")[1].strip()
        self.assertNotEqual(run("git", "-C", self.out, "cat-file", "-e", source)[0], 0)

    def test_what_was_left_out_is_said(self):
        self.assertRegex(self.output, r"left out: solutions \(\d+ files\)")
        self.assertRegex(self.output, r"left out: chapters/\*/mistakes \(\d+ files\)")
        self.assertRegex(self.output, r"one commit, made from [0-9a-f]{12}\n$")

    def test_chapters_from_a_checkout_with_changes(self):
        readme = self.course / "README.md"
        readme.write_text(readme.read_text() + "SECRET\n")
        out = self.folder / "two"
        code, output = run(sys.executable, self.tool, out, "--chapters", "01-global-atomic,03-shared-reduce")
        self.assertEqual(code, 0, output)
        self.assertIn("changes that are not committed", output)
        self.assertNotIn("SECRET", (out / "README.md").read_text())
        for folder in ("chapters", "exercises"):
            names = sorted(child.name for child in (out / folder).glob("*/"))
            self.assertEqual(names, ["01-global-atomic", "03-shared-reduce"])
        self.assertEqual([place for place in out.rglob("02-*") if ".git" not in place.parts], [])
        self.lint(out)
        for page in [out / "README.md", *out.glob("chapters/*/README.md")]:
            self.assertEqual([link for link in dead_links(page) if "README" in link or "exercises" in link], [], page)

    def test_refusals_leave_nothing(self):
        full = self.folder / "full"
        full.mkdir()
        (full / "x").touch()
        for out, options, reason in [
            (full, [], "is not an empty folder"),
            (self.course / "inside", [], "inside this checkout"),
            (self.folder / "none", ["--chapters", "77-x"], "no chapter 77-x"),
        ]:
            code, output = run(sys.executable, self.tool, out, *options)
            self.assertEqual(code, 1)
            self.assertIn(reason, output)
        self.assertEqual([file.name for file in full.iterdir()], ["x"])
        self.assertFalse((self.folder / "none").exists())
        code, output = run(sys.executable, self.out / "common/tools/teach/release.py", self.folder / "again")
        self.assertIn("this is a release already", output)

    def test_a_copy_of_an_answer_elsewhere_is_found(self):
        copy = self.course / "common/helper.cuh"
        shutil.copy(next(self.course.glob("solutions/*/*.cuh")), copy)
        run("git", "-C", self.course, "add", copy)
        run("git", "-C", self.course, *IDENTITY, "commit", "-qm", "copy")
        code, output = run(sys.executable, self.tool, self.folder / "copied")
        run("git", "-C", self.course, "reset", "--quiet", "--hard", "HEAD^")
        shutil.copy(TOOLS / "teach/release.py", self.tool)
        self.assertEqual(code, 1)
        self.assertIn("common/helper.cuh is a copy of solutions/", output)
        self.assertFalse((self.folder / "copied").exists())


if __name__ == "__main__":
    unittest.main()
