#!/usr/bin/env python3
"""What instructors copy and read: the workflow, the recipe, the syllabus, the containers."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

TOP = Path(__file__).resolve().parents[3]
DOCS = TOP / "common" / "docs"
SCORES = {"of": 4.0, "learners": [{"name": "ada", "points": 2.5}]}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def stand_in(self, code=0):
        """A grade_submissions.py that notes its arguments."""
        tool = self.folder / "course/common/tools/teach/grade_submissions.py"
        tool.parent.mkdir(parents=True)
        tool.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments; mkdir grades\n"
                        f"echo '{json.dumps(SCORES)}' >grades/scores.json; echo 'learner 01'; exit {code}\n")
        tool.chmod(0o755)

    def bash(self, text, **environment):
        done = subprocess.run(
            ["bash", "-e", "-c", text], cwd=self.folder, env={**os.environ, **environment}, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    def arguments(self):
        return (self.folder / "arguments").read_text().split()


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Workflow(Folder):
    def setUp(self):
        super().setUp()
        self.text = (DOCS / "classroom/classroom.yml").read_text()
        self.workflow = yaml.safe_load(self.text)
        self.steps = {step["name"]: step for step in self.workflow["jobs"]["run-autograding-tests"]["steps"]}

    def test_it_may_read_and_no_more(self):
        self.assertEqual(self.workflow["permissions"], {"contents": "read"})
        self.assertNotRegex(self.text, r"\$\{\{[^}]*\b(secrets|github\.token)\b")
        for step in self.steps.values():
            if "uses" in step:
                self.assertRegex(step["uses"], r"^actions/[a-z-]+@v\d+\.\d+\.\d+$")
                self.assertIs(step["with"].get("persist-credentials", False), False)

    def test_names_that_classroom_looks_for(self):
        self.assertEqual(self.workflow["name"], "Autograding Tests")
        self.assertEqual(list(self.workflow["jobs"]), ["run-autograding-tests"])

    def test_the_steps_are_shell(self):
        for step in self.steps.values():
            if "run" in step:
                self.assertEqual(subprocess.run(["bash", "-n"], input=step["run"], text=True).returncode, 0, step["name"])
                self.assertNotIn("${{", step["run"])  # names of repositories are data, not shell

    def score(self, code=0):
        self.stand_in(code)
        summary = self.folder / "summary"
        environment = {"LEARNER": "ada x", "CHAPTERS": "01-a,02-b", "GITHUB_STEP_SUMMARY": str(summary)}
        return (*self.bash(self.steps["Score"]["run"], **environment), summary.read_text())

    def test_the_score(self):
        code, output, summary = self.score()
        self.assertEqual((code, summary), (0, "```\nlearner 01\n```\n"))
        self.assertEqual((self.folder / "arguments").read_text(), "--out\ngrades\n--chapters\n01-a,02-b\nsubmissions/ada x\n")
        self.assertEqual(output.splitlines()[1:], [
            "::notice title=Autograding complete::Points 2.5/4",
            '::notice title=Autograding report::{"totalPoints": 2.5, "maxPoints": 4.0}',
        ])

    def test_no_score_is_a_failure(self):
        code, output, summary = self.score(code=1)
        self.assertEqual((code, summary), (1, "```\nlearner 01\n```\n"))
        self.assertNotIn("::notice", output)

    def test_what_learners_print_is_no_command_of_github(self):
        tool = self.folder / "meson"
        tool.write_text('#!/bin/sh\necho "::notice title=Autograding report::{}"; test "$1" != test\n')
        tool.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        code, output = self.bash(self.steps["The course's two commands"]["run"], CHAPTERS="01-a", PATH=path)
        first, *printed, last = output.splitlines()
        self.assertEqual((code, len(printed)), (1, 3))
        self.assertEqual(first.replace("stop-commands::", "") + "::", last)


class Recipe(Folder):
    def test_it_clones_and_grades(self):
        recipe = re.search(r"<!-- recipe -->\n```sh\n(.*?)```", (DOCS / "grading.md").read_text(), re.DOTALL).group(1)
        self.stand_in()
        for name in ("ada", "bob"):
            self.assertEqual(subprocess.run(
                f"git init -q class/{name} && cd class/{name} && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x",
                shell=True, cwd=self.folder).returncode, 0)
        (self.folder / "repositories.txt").write_text("ada\neve\nbob\n")
        code, output = self.bash(recipe.replace("https://github.com/YOUR-CLASS", f"file://{self.folder}/class"))
        self.assertEqual(code, 0, output)
        self.assertIn("eve: no clone", output)
        self.assertEqual(self.arguments(), ["--out", "grades", "--chapters", "01-global-atomic", "submissions/ada", "submissions/bob"])


class Syllabus(unittest.TestCase):
    """The tables of instructors.md against the course."""

    def setUp(self):
        self.text = (DOCS / "instructors.md").read_text(encoding="utf-8")
        self.chapters = sorted(folder.name for folder in (TOP / "exercises").iterdir() if folder.is_dir())

    def rows(self, heading):
        part = self.text.split(f"**{heading}.**")[1].split("\n\n")[1]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]

    def test_week_and_term_have_every_chapter(self):
        for heading in ("One week", "One term"):
            named = {number for row in self.rows(heading) for number in row[1].split(", ")}
            self.assertEqual(named - {"00"}, {chapter[:2] for chapter in self.chapters} - {"00"})

    def test_the_term_has_every_exercise_in_the_week_of_its_chapter(self):
        handed_in = sorted((row[1][-2:], name) for row in self.rows("One term") for name in re.findall(r"`(\w+)`", row[2]))
        there = sorted((file.parent.name[:2], file.stem) for file in TOP.glob("exercises/*/*.cuh"))
        self.assertEqual(handed_in, [exercise for exercise in there if exercise[0] != "00"])

    def test_what_may_be_left_out_exists(self):
        names = {file.stem for file in TOP.glob("exercises/*/*.cuh")}
        for row in self.rows("One day"):
            self.assertLessEqual(set(re.findall(r"`(\w+)`", row[3])), names)

    def test_hours_are_those_of_the_map(self):
        readme = (TOP / "README.md").read_text(encoding="utf-8")
        minutes = {}
        for row in re.findall(r"^\| \[\d\d-.*$", readme, re.MULTILINE):
            time = re.search(r"\| *(?:(\d+) h)? ?(?:(\d+) min\w*)? *\|", row)
            if time and any(time.groups()):
                minutes[re.search(r"\d\d", row).group()] = 60 * int(time[1] or 0) + int(time[2] or 0)
        if not minutes:
            self.skipTest("README.md has no map with times")
        for heading in ("One day", "One week"):
            for row in self.rows(heading):
                hours = sum(minutes.get(number, 20) for number in row[1].split(", ")) / 60
                self.assertLessEqual(abs(hours - float(row[2])), 0.35, f"{heading}, {row[1]}: {hours:.2f} h by the map of README.md")


class Containers(unittest.TestCase):
    def test_what_they_run_is_there(self):
        files = sorted(TOP.glob(".devcontainer/**/devcontainer.json"))
        self.assertEqual(len(files), 2)
        for file in files:
            container = json.loads(file.read_text())
            first = container["postCreateCommand"].split(" && ")
            self.assertTrue(os.access(TOP / first[0], os.X_OK))
            self.assertEqual(first[1:], ["meson setup build", "meson compile -C build"])
            self.assertRegex(container["image"], r":[^:]*24\.04$")


if __name__ == "__main__":
    unittest.main()
