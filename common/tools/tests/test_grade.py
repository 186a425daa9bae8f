#!/usr/bin/env python3
"""grade.py: Meson's logs become scores. grade_submissions.py: what it takes from a learner, and what not."""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS.parent))
from build import mistakes  # noqa: E402
from tools.teach import grade, grade_submissions  # noqa: E402

TOP = TOOLS.parents[1]
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


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(file)

    def learner(self, name, *cases, **style):
        self.write(f"{name}/build/meson-logs/{grade.LOG}", log(*cases, **style))
        return str(self.folder / name)


class Logs(Folder):
    def verdicts(self, *cases, **style):
        for name, fate, *_ in cases:
            self.write(f"build/results/{name}.json", json.dumps(grade.results.new(fate.replace(" ", "_"))))
        file = Path(self.write("log.xml", log(*cases, **style)))
        found, _ = grade.read_log(file, {(CHAPTER, name) for name in NAMES}, self.folder / "build")
        return {name: verdict for (_, name), verdict in found.items()}

    def test_every_fate(self):
        expected = {"passed": "passed", "failed": "failed", "crashed": "failed", "not started": "not started",
                    "skipped": "skipped", "time": "no end", "interrupted": "no end"}
        for fate, verdict in expected.items():
            self.assertEqual(self.verdicts(("ticket", fate)), {"ticket": verdict})

    def test_a_log_alone_does_not_say_why_a_test_was_skipped(self):
        exercises = {(CHAPTER, "ticket")}
        file = Path(self.write("a/build/meson-logs/testlog.junit.xml", log(("ticket", "not started"))))
        self.assertEqual(grade.read_log(file, exercises)[0], {(CHAPTER, "ticket"): "skipped"})
        learner, = grade.read_results([str(self.folder / "a")], sorted(exercises))
        self.assertEqual(learner.verdicts, {(CHAPTER, "ticket"): "skipped"})
        self.write("a/build/results/ticket.json", json.dumps(grade.results.new("not_started")))
        learner, = grade.read_results([str(self.folder / "a")], sorted(exercises))
        self.assertEqual(learner.verdicts, {(CHAPTER, "ticket"): "not started"})

    def test_a_result_grants_no_points(self):
        self.write("build/results/ticket.json", json.dumps(grade.results.new("passed")))
        for fate, verdict in (("failed", "failed"), ("skipped", "skipped")):
            file = Path(self.write("log.xml", log(("ticket", fate))))
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
        found, notes = grade.read_log(Path(self.write("log.xml", text)), {(CHAPTER, name) for name in NAMES})
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
                grade.read_log(Path(self.write("log.xml", text)), {(CHAPTER, "ticket")})
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


class Suspicions(unittest.TestCase):
    CHECK = "TEST_CASE(\"x\") { REQUIRE(course::same(sum(v), 3, name)); }"

    def reasons(self, text):
        return grade_submissions.suspicions(text, self.CHECK)

    def test_no_answer_of_this_course_is_suspicious(self):
        files = [*TOP.glob("exercises/*/*.cuh"), *TOP.glob("solutions/*/*.cuh")]
        self.assertGreater(len(files), 10)
        for file in files:
            chapter = TOP / "chapters" / file.parent.name
            check = (chapter / "checks" / f"{file.stem}.cu").read_text()
            answers = {file: file.read_text().replace("\nNOT_STARTED", "\n")}
            for diff in (chapter / "mistakes" / file.stem).glob("*.diff"):
                answers[diff] = mistakes.apply_file(diff)
            for name, text in answers.items():
                self.assertEqual(grade_submissions.suspicions(text, check), [], name)

    def test_what_decides_a_verdict_in_another_way(self):
        texts = {
            "static int x = (std::exit(0), 0);": "exit",
            "static int x = (_exit(77), 0);": "_exit",
            "auto end = std::quick_exit;": "quick_exit",
            "ex\\\nit(0);": "exit",
            "exit/**/(0);": "exit",
            "char c = L'\"'; exit(0); char d = L'\"';": "exit",
            '#define R2 \nR2 R"(//)"; exit(0); //': "exit",
            '#define FOOR\nFOOR"("; exit(0); ")";': "exit",
            "#define REQUIRE(x)": "redefines REQUIRE",
            "%:define same(...) 1": "redefines same",
            "#  undef TEST_CASE": "redefines TEST_CASE",
            "#def\\\nine REQUIRE(x)": "redefines REQUIRE",
            "/* */ # define name 1": "redefines name",
            "#define E(x) ex##x": "makes names",
            '#include "../../solutions/01-global-atomic/word_count.cuh"': "includes",
            "#include </etc/passwd>": "includes",
            '#include "/etc/passwd"': "includes",
            "#include FILE": "includes",
            "#include <catch2/catch_all.hpp>": "includes",
            "#include <simt/testing.hpp>": "includes",
            "#include_next <x.h>": "#include_next",
            "#line 3": "#line",
            '#pragma push_macro("REQUIRE")': "#pragma",
            "bool b = (course::exercise_not_started = true);": "exercise_not_started",
            "int f() { NOT_STARTED }": "NOT_STARTED",
            "[[gnu::constructor]] void f();": "constructor",
            "auto v = getenv(\"COURSE_PROOF\");": "getenv",
            "asm(\".incbin \\\"x\\\"\");": "asm",
            "??=define REQUIRE(x)": "trigraph",
        }
        for text, reason in texts.items():
            self.assertIn(reason, "; ".join(self.reasons(text)), text)

    def test_what_is_harmless(self):
        for text in ("// exit(0) and NOT_STARTED\n", '/* #define REQUIRE */ const char* s = "exit(0) // ";', "#pragma once\n#pragma unroll 4",
                     "#define WARP 32\n#ifdef __CUDA_ARCH__\n#endif", "int exits = 1'000; CUDA_CHECK(f()); CUDA_CHECK_LAUNCH();",
                     '#include <course/error.cuh>\n#include <cooperative_groups.h>\n#include <vector>\n#include "sum.cuh"'):
            self.assertEqual(self.reasons(text), [], text)


class Taking(Folder):
    """What is copied from a submission."""

    def take(self, accepted=()):
        course = self.folder / "course"
        for name in NAMES:
            self.write(f"course/exercises/{CHAPTER}/{name}.cuh", "NOT_STARTED\n")
        refused, notes = grade_submissions.take(self.folder / "ada", course, [(CHAPTER, name) for name in NAMES], accepted)
        texts = {name: (course / "exercises" / CHAPTER / f"{name}.cuh").read_text() for name in NAMES}
        return {name: reason for (_, name), reason in refused.items()}, notes, texts

    def mine(self, name, text):
        return self.write(f"ada/exercises/{CHAPTER}/{name}", text)

    def test_known_regular_files_only(self):
        self.mine("ticket.cuh", "int mine;\n")
        self.mine("helper.cuh", "int x;\n")
        self.write("ada/exercises/99-new/word_count.cuh", "int x;\n")
        self.write("ada/chapters/01-global-atomic/checks/ticket.cu", "int x;\n")
        refused, notes, texts = self.take()
        self.assertEqual(refused, {})
        self.assertEqual(notes, [f"not copied: {CHAPTER}/helper.cuh"])
        self.assertEqual(texts, {"lost_update": "NOT_STARTED\n", "ticket": "int mine;\n", "word_count": "NOT_STARTED\n"})
        self.assertEqual(sorted(file.name for file in (self.folder / "course").rglob("*.cu*")), [f"{name}.cuh" for name in NAMES])

    def test_links_and_other_kinds_are_refused(self):
        secret = self.write("secret", "int secret;\n")
        Path(self.mine("x", "")).unlink()
        folder = self.folder / "ada/exercises" / CHAPTER
        (folder / "ticket.cuh").symlink_to(secret)
        os.mkfifo(folder / "word_count.cuh")
        self.mine("lost_update.cuh", b"x" * 300_000)
        refused, _, texts = self.take()
        self.assertEqual(refused["ticket"], "it is a link")
        self.assertEqual(refused["word_count"], "it is no regular file")
        self.assertIn("300000 bytes", refused["lost_update"])
        self.assertEqual(set(texts.values()), {"NOT_STARTED\n"})

    def test_folders_that_are_links_are_refused(self):
        self.write(f"elsewhere/{CHAPTER}/ticket.cuh", "int x;\n")
        (self.folder / "ada/exercises").mkdir(parents=True)
        (self.folder / "ada/exercises" / CHAPTER).symlink_to(self.folder / "elsewhere" / CHAPTER)
        self.assertEqual(set(self.take()[0].values()), {"its folder is a link"})
        (self.folder / "ada/exercises" / CHAPTER).unlink()
        (self.folder / "ada/exercises").rmdir()
        (self.folder / "ada/exercises").symlink_to(self.folder / "elsewhere")
        with self.assertRaises(grade.GradeError):
            self.take()

    def test_a_suspicious_file_is_refused_until_it_is_accepted(self):
        self.mine("ticket.cuh", "static int x = (exit(0), 0);\n")
        refused, _, texts = self.take()
        self.assertEqual(refused, {"ticket": "it uses exit"})
        self.assertEqual(texts["ticket"], "NOT_STARTED\n")
        refused, _, texts = self.take({(CHAPTER, "ticket")})
        self.assertEqual(refused, {})
        self.assertIn("exit", texts["ticket"])

    @unittest.skipUnless((TOP / "solutions").is_dir(), "a release has no solutions")
    def test_the_published_solution_is_noted(self):
        text = (TOP / "solutions" / CHAPTER / "ticket.cuh").read_text()
        self.mine("ticket.cuh", "// my own work\n" + text.replace("  ", "\t"))
        self.assertEqual(self.take()[1], [f"{CHAPTER}/ticket is the published solution"])

    def test_arguments(self):
        (self.folder / "a/ada").mkdir(parents=True)
        (self.folder / "b/ada").mkdir(parents=True)
        for arguments, reason in {
            (self.folder / "a/ada", self.folder / "b/ada"): "called 'ada'",
            ("--chapters", "77-x", self.folder / "a/ada"): "no chapter 77-x",
        }.items():
            done = subprocess.run([sys.executable, str(TOOLS / "teach/grade_submissions.py"), "--out", str(self.folder / "out"), *map(str, arguments)],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
