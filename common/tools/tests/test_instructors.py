"""What instructors copy and read: the files for Gradescope and Classroom 50, the recipe, the syllabus."""

import os
import re
import shlex
import subprocess
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path
from unittest import mock

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.teach import grade_submissions
from tools.teach.roster import LateRule, Roster, moment, read_roster
from tools.tests.in_folder import InFolder

READS = ("common/docs", "exercises")

DOCS = TOP / "common" / "docs"


class Folder(InFolder):
    def stand_in(self, name):
        """A tool of the course that notes its arguments."""
        self.write(f"course/common/tools/teach/{name}", "#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments\n").chmod(0o755)

    def bash(self, text, **environment):
        done = subprocess.run(
            ["bash", "-e", "-c", text], cwd=self.folder, env={**os.environ, **environment}, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    def arguments(self):
        return (self.folder / "arguments").read_text().split()


class Gradescope(Folder):
    """The two scripts, with the folder /autograder elsewhere, and stand-ins for what they call."""

    def script(self, name):
        text = (DOCS / "gradescope" / name).read_text(encoding="utf-8")
        return text.replace("/autograder", str(self.folder)).replace(f"{self.folder}/source", str(self.folder))

    def test_a_submission(self):
        self.stand_in("platforms.py")
        (self.folder / "settings").write_text((DOCS / "gradescope/settings").read_text(encoding="utf-8"))
        self.assertEqual(self.bash(self.script("run_autograder")), (0, ""))
        self.assertEqual(self.arguments(), [
            "gradescope", "--submission", f"{self.folder}/submission", "--grades", f"{self.folder}/grades",
            "--output", f"{self.folder}/results/results.json", "--chapters", "01-global-atomic", "--no-sandbox"])

    def image(self, status):
        """Runs setup.sh with stand-ins; returns the exit code and the output."""
        tool = self.write("course/common/tools/teach/platforms.py", f"""#!/bin/sh
printf '%s\\n' "$@" >arguments
echo '{{"tests": [{{"name": "01/ticket", "status": "{status}", "output": "said"}}]}}' >{self.folder}/results.json
""")
        setup = self.write("course/common/tools/setup.sh", "#!/bin/sh\ntouch was-set-up\n")
        (self.folder / "settings").write_text((DOCS / "gradescope/settings").read_text(encoding="utf-8"))
        for name in ("apt-get", "git"):
            self.write(f"bin/{name}", f'#!/bin/sh\necho "{name} $*" >>calls\n').chmod(0o755)
        for file in (tool, setup):
            file.chmod(0o755)
        for place in (".git/config", "solutions/01/ticket.cuh", "chapters/01/checks/x", "chapters/01/mistakes/x", "chapters/01/alternatives/x"):
            self.write(f"course/{place}", "").chmod(0o644)
        script = self.script("setup.sh").replace("/tmp/results.json", f"{self.folder}/results.json")
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.folder, env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_the_image(self):
        self.assertEqual(self.image("passed"), (0, ""))
        calls = (self.folder / "calls").read_text()
        self.assertIn(f"git clone --depth 1 --branch main {repository.address(TOP)} {self.folder}/course\n", calls)
        self.assertTrue((self.folder / "was-set-up").exists())
        self.assertEqual(self.arguments()[:3], ["gradescope", "--submission", f"{self.folder}/course/solutions"])
        readable = [str(file) for file in (self.folder / "course").rglob("*") if file.is_file() and file.stat().st_mode & 0o077]
        self.assertEqual([name for name in readable if "/common/" not in name], [])

    def test_an_image_in_which_a_solution_does_not_pass(self):
        code, output = self.image("failed")
        self.assertEqual(code, 1)
        self.assertIn("A solution does not pass in this image:\n01/ticket: said", output)


class Classroom50(Folder):
    def test_a_submission(self):
        autograder = SourceFileLoader("autograder", str(DOCS / "classroom50/autograder.py")).load_module()
        calls = []

        def run(command, check):
            calls.append((command, check))
            return subprocess.CompletedProcess(command, 0)

        with mock.patch.object(autograder.subprocess, "run", run):
            self.assertEqual(autograder.main(), 0)
        clone, setup, grading = (command for command, _ in calls)
        self.assertEqual((clone[:2], clone[-2]), (["git", "clone"], autograder.COURSE_REPOSITORY))
        self.assertEqual(setup, [f"{clone[-1]}/common/tools/setup.sh", "--contributor"])
        self.assertEqual(grading[1:5], [f"{clone[-1]}/common/tools/teach/platforms.py", "classroom50", "--submission", str(Path.cwd())])
        self.assertIn(str(Path.cwd() / "result.json"), grading)


class Recipe(Folder):
    def test_it_clones_and_grades(self):
        recipe = re.search(r"<!-- recipe -->\n```sh\n(.*?)```", (DOCS / "grading.md").read_text(), re.DOTALL).group(1)
        self.stand_in("grade_submissions.py")
        for name in ("ada", "bob"):
            self.assertEqual(subprocess.run(
                f"git init -q class/{name} && cd class/{name} && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x",
                shell=True, cwd=self.folder).returncode, 0)
        for text in ("ada\neve\nbob\n", "ada\neve\n\nbob", "ada\r\neve\r\nbob\r\n", "ada\neve\nbob"):  # of Windows, and without a last line end
            (self.folder / "repositories.txt").write_bytes(text.encode())
            code, output = self.bash(recipe.replace("https://github.com/YOUR-CLASS", f"file://{self.folder}/class"))
            self.assertEqual((code, output), (0, "eve: no clone\n"))
            self.assertEqual(self.arguments(), ["--out", "grades", "--chapters", "01", "submissions/ada", "submissions/bob"], text)
        (self.folder / "class/ada/new").write_text("")
        subprocess.run("cd class/ada && git add new && git -c user.name=x -c user.email=x@x commit -q -m y", shell=True, cwd=self.folder, check=True)
        self.bash(recipe.replace("https://github.com/YOUR-CLASS", f"file://{self.folder}/class"))
        self.assertTrue((self.folder / "submissions/ada/new").exists(), "a second run brings what is new")


class Grading(Folder):
    """The examples of grading.md against the program."""

    def setUp(self):
        super().setUp()
        self.text = (DOCS / "grading.md").read_text(encoding="utf-8")

    def test_each_command_is_one(self):
        commands = re.findall(r"^course/common/tools/teach/grade_submissions\.py ((?:.*\\\n)*.*)$", self.text, re.MULTILINE)
        self.assertGreaterEqual(len(commands), 6)
        for command in commands:
            options = grade_submissions.parse(shlex.split(command.replace("\\\n", "")))
            self.assertTrue(options.submissions or options.download, command)
            exercises = grade_submissions.chosen_exercises(options)
            Roster({}, options.deadline and moment(options.deadline, command), LateRule.parse(options.late))
            grade_submissions.chosen(options.regrade, "--regrade", ["ada"], exercises)

    def test_each_roster_is_one(self):
        rosters = [read_roster(self.write("roster.csv", text)) for text in re.findall(r"<!-- roster -->\n```\n(.*?)```", self.text, re.DOTALL)]
        self.assertEqual([list(rows) for rows in rosters], [["ada", "bob", "eve"], ["ada", "bob", "eve"], ["ada", "bob"]])

    def test_the_command_for_folders_stands_before_the_recipe(self):
        self.assertLess(self.text.index("grade_submissions.py --out grades --chapters 01 submissions/*"), self.text.index("<!-- recipe -->"))


class Syllabus(unittest.TestCase):
    """The tables of instructors.md against the course."""

    def setUp(self):
        self.text = (DOCS / "instructors.md").read_text(encoding="utf-8")
        self.chapters = sorted(folder.name for folder in (TOP / "exercises").iterdir() if folder.is_dir())

    def rows(self, heading):
        part = self.text.split(f"**{heading}.**")[1].split("\n\n")[1]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]

    def test_week_and_term_have_every_chapter(self):
        for heading in ("One week", "Two terms"):
            named = {number for row in self.rows(heading) for number in row[1].split(", ")}
            self.assertEqual(named - {"00"}, {chapter[:2] for chapter in self.chapters} - {"00"})

    def test_the_term_has_every_exercise_in_the_week_of_its_chapter(self):
        handed_in = sorted((row[1][-2:], name) for row in self.rows("Two terms") for name in re.findall(r"`(\w+)`", row[2]))
        there = sorted((file.parent.name[:2], file.stem) for file in TOP.glob("exercises/*/*.cuh"))
        self.assertEqual(handed_in, [exercise for exercise in there if exercise[0] != "00"])

    def test_what_may_be_left_out_exists(self):
        names = {file.stem for file in TOP.glob("exercises/*/*.cuh")}
        for row in self.rows("One day"):
            self.assertLessEqual(set(re.findall(r"`(\w+)`", row[3])), names)


if __name__ == "__main__":
    unittest.main()
