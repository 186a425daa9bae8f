"""grade.py: Meson's logs become scores."""

import csv
import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from tools.lib.checkout import TOP
from tools.teach import grade
from tools.tests.in_folder import InFolder

READS = ("exercises",)

TOOLS = TOP / "common/tools"
CHAPTER = "01-global-atomic"
NAMES = ["lost_update", "ticket", "word_count"]

# What Meson 1.7 writes for each fate of a test.
FATES = {
    "passed": '<testcase name="{}" classname="{}" time="8.8"><system-out>all 8 checks passed</system-out></testcase>',
    "failed": '<testcase name="{}" classname="{}" time="9"><failure /><system-out>y &lt;&lt;&lt;1&gt;&gt;&gt; \\x1b</system-out></testcase>',
    "crashed": '<testcase name="{}" classname="{}" time="0.01"><failure /></testcase>',
    "not started": '<testcase name="{}" classname="{}" time="0.1"><skipped /><system-out>Not started. Open it.</system-out></testcase>',
    "skipped": '<testcase name="{}" classname="{}" time="0.1"><skipped /><system-out>skipped: no GPU</system-out></testcase>',
    "time": '<testcase name="{}" classname="{}" time="1"><error>Test did not finish before configured timeout.</error></testcase>',
    "interrupted": '<testcase name="{}" classname="{}" time="1"><error>Test was interrupted by user.</error></testcase>',
}


def log(*cases, style="{project}:{suite} / {name}"):
    """The text of a log; cases: (name, fate) or (name, fate, suite)."""
    texts = []
    for name, fate, *suite in cases:
        full = style.format(project=CHAPTER, suite=(suite or ["exercises"])[0], name=name)
        texts.append(FATES[fate].format(full, CHAPTER))
    return (f"<?xml version='1.0' encoding='utf-8'?>\n<testsuites tests=\"{len(texts)}\" errors=\"0\" failures=\"0\">"
            f'<testsuite name="{CHAPTER}" tests="{len(texts)}">{"".join(texts)}</testsuite></testsuites>')


class Folder(InFolder):
    def learner(self, name, *cases, **style):
        self.write(f"{name}/build/meson-logs/{grade.LOG}", log(*cases, **style))
        return str(self.folder / name)


class Logs(Folder):
    def verdicts(self, *cases, **style):
        for name, fate, *_ in cases:
            self.write(f"build/results/{name}.json", json.dumps(grade.results.new(fate.replace(" ", "_"))))
        file = self.write("log.xml", log(*cases, **style))
        found, _ = grade.read_log(file, {(CHAPTER, name) for name in NAMES}, self.folder / "build")
        return {name: verdict for (_, name), verdict in found.items()}

    def test_every_fate(self):
        expected = {"passed": "passed", "failed": "failed", "crashed": "failed", "not started": "not started",
                    "skipped": "skipped", "time": "no end", "interrupted": "no end"}
        for fate, verdict in expected.items():
            self.assertEqual(self.verdicts(("ticket", fate)), {"ticket": verdict})

    def test_a_log_alone_does_not_say_why_a_test_was_skipped(self):
        exercises = {(CHAPTER, "ticket")}
        file = self.write("a/build/meson-logs/testlog.junit.xml", log(("ticket", "not started")))
        self.assertEqual(grade.read_log(file, exercises)[0], {(CHAPTER, "ticket"): "skipped"})
        learner, = grade.read_results([str(self.folder / "a")], sorted(exercises))
        self.assertEqual(learner.verdicts, {(CHAPTER, "ticket"): "skipped"})
        self.write("a/build/results/ticket.json", json.dumps(grade.results.new("not_started")))
        learner, = grade.read_results([str(self.folder / "a")], sorted(exercises))
        self.assertEqual(learner.verdicts, {(CHAPTER, "ticket"): "not started"})

    def test_a_result_grants_no_points(self):
        self.write("build/results/ticket.json", json.dumps(grade.results.new("passed")))
        for fate, verdict in (("failed", "failed"), ("skipped", "skipped")):
            file = self.write("log.xml", log(("ticket", fate)))
            self.assertEqual(grade.read_log(file, {(CHAPTER, "ticket")}, self.folder / "build")[0], {(CHAPTER, "ticket"): verdict})

    def test_other_suites_do_not_count(self):
        found = self.verdicts(("ticket", "failed"), ("ticket-solution", "passed", "solutions"),
                              ("word_count", "passed", "solutions"), ("lost_update", "passed", "mistakes"))
        self.assertEqual(found, {"ticket": "failed"})

    def test_names_as_other_versions_of_meson_write_them(self):
        for style in ("{project}:{suite} / {name}", "{name}", "{project}:{suite} - {name}", "{project}:{suite}+more / {name}"):
            self.assertEqual(self.verdicts(("ticket", "passed"), style=style), {"ticket": "passed"}, style)

    def test_of_repeated_runs_the_worst_counts(self):
        for fates in (("passed", "failed"), ("failed", "passed"), ("time", "passed")):
            self.assertNotEqual(self.verdicts(*(("ticket", fate) for fate in fates))["ticket"], "passed")

    def test_a_suite_of_another_project_does_not_count(self):
        text = log(("ticket", "failed"), ("word_count", "passed")).replace("01-global-atomic:exercises / word", "other:exercises / word")
        found, notes = grade.read_log(self.write("log.xml", text), {(CHAPTER, name) for name in NAMES})
        self.assertEqual(found, {(CHAPTER, "ticket"): "failed"})
        self.assertEqual(notes, ["2 exercises are not in the log"])

    def test_what_is_no_log_is_an_error(self):
        whole = log(("ticket", "passed"))
        bad = {
            "": "is empty",
            "\n \n": "is empty",
            whole[:200]: "no complete XML",
            "<html>": "no complete XML",
            whole.encode("utf-16"): "no complete XML",
            log(): "has no exercise",
            log(("ticket-solution", "passed", "solutions")): "has no exercise",
            '<!DOCTYPE x [<!ENTITY a "b">]>' + whole.split("\n")[1]: "DOCTYPE",
        }
        for text, reason in bad.items():
            with self.assertRaises(grade.GradeError, msg=reason) as caught:
                grade.read_log(self.write("log.xml", text), {(CHAPTER, "ticket")})
            self.assertIn(reason, str(caught.exception))


class Command(Folder):
    """The whole tool, on this checkout's exercises."""

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, str(TOOLS / "teach/grade.py"), *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def rows(self, *arguments):
        code, out, err = self.run_it("--csv", "-", *arguments)
        return code, {row["learner"]: row for row in csv.DictReader(io.StringIO(out))}, err

    def test_scores(self):
        ada = self.learner("ada", ("ticket", "passed"), ("word_count", "passed"), ("lost_update", "not started"))
        bob = self.learner("bob", ("ticket", "failed"), ("word_count", "skipped"), ("lost_update", "passed"))
        code, rows, _ = self.rows(ada, bob + "/build/meson-logs/" + grade.LOG)
        self.assertEqual(code, 0)
        exercises = len(grade.exercises_of(TOP))
        self.assertEqual([rows["ada"][key] for key in ("points", "of")], ["2", str(exercises)])
        self.assertEqual(rows["ada"]["notes"], f"{exercises - 3} exercises are not in the log")
        self.assertEqual([rows["bob"][f"{CHAPTER}/{name}"] for name in NAMES], ["1", "0", "0"])

    def test_weights(self):
        ada = self.learner("ada", ("ticket", "passed"), ("word_count", "passed"), ("lost_update", "failed"))
        others = {chapter: 0 for chapter, _ in grade.exercises_of(TOP)}
        points = self.write("points.json", json.dumps({**others, f"{CHAPTER}/ticket": 2.5, CHAPTER: 1}))
        _, rows, _ = self.rows("--points", points, ada)
        self.assertEqual([rows["ada"][key] for key in ("points", "of", "percent")], ["3.5", "4.5", "77.8"])

    def test_wrong_weights_are_no_scores(self):
        ada = self.learner("ada", ("ticket", "passed"))
        for text, reason in {"{": "Expecting", "[]": "it must be", '{"01-globl": 1}': "'01-globl'", f'{{"{CHAPTER}": -1}}': "-1",
                             f'{{"{CHAPTER}": true}}': "True", f'{{"{CHAPTER}": NaN}}': "nan", f'{{"{CHAPTER}": "2"}}': "'2'"}.items():
            code, out, err = self.run_it("--points", self.write("points.json", text), ada)
            self.assertEqual((code, out), (1, ""), text)
            self.assertIn(reason, err)

    def test_an_error_names_its_learner_and_is_no_zero(self):
        ada = self.learner("ada", ("ticket", "passed"))
        self.write(f"bob/build/meson-logs/{grade.LOG}", log(("ticket", "passed"))[:150])
        (self.folder / "eve").mkdir()
        self.learner("two", ("ticket", "passed"))
        self.write(f"two/build-01/meson-logs/{grade.LOG}", log(("ticket", "passed")))
        code, rows, err = self.rows(ada, *(str(self.folder / name) for name in ("bob", "eve", "two")))
        self.assertEqual(code, 1)
        self.assertEqual(rows["ada"]["points"], "1")
        for name, reason in {"bob": "no complete XML", "eve": "run `meson test -C build`", "two": "2 logs"}.items():
            self.assertEqual(rows[name]["points"], "")
            self.assertEqual(rows[name][f"{CHAPTER}/ticket"], "")
            self.assertIn(reason, rows[name]["error"])
            self.assertIn(f"{name} has no score", err)
        code, out, _ = self.run_it(ada, str(self.folder / "eve"))
        self.assertRegex(out, r"(?m)^eve +ERROR$")

    def test_odd_names(self):
        names = ["=1+1", "Zoë 王", "a\nb", "'quoted', \"too\"", "-x", "\x1b[31mred", os.fsdecode(b"\xff")]
        learners = [self.learner(name, ("ticket", "passed")) for name in names]
        code, rows, _ = self.rows(*learners)
        self.assertEqual(code, 0)
        self.assertEqual(list(rows), ["'=1+1", "Zoë 王", "a\\nb", "'quoted', \"too\"", "'-x", "\\x1b[31mred", "\\udcff"])
        code, out, _ = self.run_it(*learners)
        self.assertEqual(code, 0)
        self.assertIn("a\\nb", out)
        self.assertNotIn("\x1b", out)

    def test_two_learners_of_one_name(self):
        code, out, err = self.run_it(self.learner("a/ada", ("ticket", "passed")), self.learner("b/ada", ("ticket", "passed")))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("both called 'ada'", err)

    def test_links_and_devices_are_not_read(self):
        ada = Path(self.learner("ada", ("ticket", "passed"))) / "build/meson-logs" / grade.LOG
        places = {name: self.folder / name / "build/meson-logs" for name in ("link", "pipe", "zero")}
        for folder in places.values():
            folder.mkdir(parents=True)
        (places["link"] / grade.LOG).symlink_to(ada)
        os.mkfifo(places["pipe"] / grade.LOG)
        (places["zero"] / grade.LOG).symlink_to("/dev/zero")
        (self.folder / "folder").mkdir()
        (self.folder / "folder/build").symlink_to(self.folder / "ada/build")
        code, out, _ = self.run_it(*(str(self.folder / name) for name in (*places, "folder")))
        self.assertEqual((code, out.count("ERROR\n")), (1, 4))
        for name, reason in {"link": "it is a link", "zero": "it is a link", "pipe": "it is no regular file", "folder": "its folder build is a link"}.items():
            self.assertRegex(out, f"(?m)^{name}: ERROR: .* cannot be read: {reason}$")

    def test_json(self):
        code, out, _ = self.run_it("--json", "-", self.learner("ada", ("ticket", "passed"), ("word_count", "time")))
        ada = json.loads(out)["learners"][0]
        self.assertEqual((code, ada["points"]), (0, 1))
        found = {exercise["exercise"]: (exercise["verdict"], exercise["points"]) for exercise in ada["exercises"]}
        self.assertEqual(found["ticket"], ("passed", 1))
        self.assertEqual(found["word_count"], ("no end", 0))
        self.assertEqual(found["lost_update"], ("not run", 0))

    def test_the_table_of_one_learner_has_every_exercise(self):
        code, out, _ = self.run_it(self.learner("ada", ("ticket", "passed"), ("word_count", "failed")))
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^01-global-atomic/ticket +passed +1$")
        self.assertRegex(out, r"(?m)^01-global-atomic/word_count +failed +0$")


if __name__ == "__main__":
    unittest.main()
