"""What is refused by reading, what is for a person, and what is taken: every answer of the course, and what learners write.

    python3 common tools.tests.test_reading [--all]     --all: every text, and every variant of every exercise
"""

import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from build import variants
from tools.lib import cpp_text
from tools.lib.checkout import TOP
from tools.lib.failed import Failed
from tools.teach import libclang, reading, submissions, text_rules
from tools.tests import attacks, honest, reading_attacks

READS = ("chapters", "exercises", "solutions")

CHAPTER = "01-global-atomic"
EACH, EACH_VARIANT = 4, 30  # of the texts, and of the answers of the course: these are read without --all
READ_ALL = "--all" in sys.argv
SENTENCE = r"^line [1-9]\d*: (#?\S.*): \S.*[^.]$"


def begun(text):
    return text.replace("\nNOT_STARTED", "\n//")


def below_starter(text, name="lost_update"):
    starter = (TOP / "exercises" / CHAPTER / f"{name}.cuh").read_text(encoding="utf-8")
    return begun(starter) + "#include <vector>\n" + text


class Child:
    """Reads one answer in a process that is forked from this one, as the command reads it, with its limits."""

    def __init__(self, ready, folder, answer):
        self.output = tempfile.TemporaryFile(dir=folder)
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.dup2(self.output.fileno(), 1)
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
                tempfile.tempdir = folder
                chapter, name, text = answer
                code = ready.print(chapter, name, reading.as_compiled(text).encode("utf-8", "surrogatepass"))
            finally:
                os._exit(code)

    def found(self):
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        with self.output as output:
            output.seek(0)
            return reading.result_of(code, output.read().decode("utf-8", "replace"))


def read(answers):
    """[(refused, for_a_person)] of (chapter, exercise, text)s, two at the same time: what all need has been read before."""
    ready = reading.Ready(reading.own_folder().name)
    with tempfile.TemporaryDirectory(prefix="course-read-") as folder:
        children, found = [], []
        for answer in answers:
            children.append(Child(ready, folder, answer))
            if len(children) - len(found) == 2:
                found.append(children[len(found)].found())
        return found + [child.found() for child in children[len(found):]]


def read_by_command(answers):
    """The same, each by the command that a grading runs."""
    reading.own_folder()
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda answer: submissions.read_answer(*answer), answers))


def read_texts(texts):
    return read([(CHAPTER, "lost_update", below_starter(text)) for text in texts])


def some(texts):
    """Those of a dictionary of texts that are read this time."""
    return dict(item for i, item in enumerate(texts.items()) if READ_ALL or i % EACH == 0)


class Reading(unittest.TestCase):
    def setUp(self):
        try:
            libclang.bindings()
        except Failed as problem:
            self.skipTest(str(problem))

    def expect_refused(self, attempts):
        for (what, (_, part)), (refused, _) in zip(attempts.items(), read_texts([text for text, *_ in attempts.values()])):
            self.assertIn(part, "; ".join(refused), what)
            for sentence in refused:
                self.assertRegex(sentence, r"^line [1-9]\d*: \S", what)

    def test_nineteen_ways_past_a_reader_of_tokens_are_refused(self):
        self.assertEqual(len(reading_attacks.NINETEEN), 19)
        self.expect_refused(reading_attacks.NINETEEN)

    def test_other_ways_are_refused(self):
        self.assertGreater(len(reading_attacks.MORE), 90)
        self.expect_refused(some(reading_attacks.MORE))

    def test_every_attack_is_refused(self):
        self.assertGreater(len(attacks.REFUSED), 60)
        self.expect_refused(some(attacks.REFUSED))
        run = some({what: text for what, (text, *_) in attacks.RUN.items() if what not in attacks.NOT_BY_READING})
        for what, (refused, _) in zip(run, read_texts(run.values())):
            self.assertTrue(refused, what)

    def test_host_code_that_could_touch_other_memory_is_for_a_person(self):
        attempts = some(reading_attacks.FOR_A_PERSON)
        for (what, (_, part)), (refused, marks) in zip(attempts.items(), read_texts([text for text, _ in attempts.values()])):
            self.assertEqual(refused, [], what)
            self.assertIn(part, "; ".join(marks), what)

    def test_what_learners_write_is_taken(self):
        self.assertGreater(len(honest.IDIOMS), 54 + 40)
        idioms = some(honest.IDIOMS)
        for what, found in zip(idioms, read_texts(idioms.values())):
            self.assertEqual(found, ([], []), what)

    def test_no_answer_of_this_course_is_refused(self):
        answers = {}
        for solution in sorted(TOP.glob("solutions/*/*.cuh")):
            chapter, name = solution.parent.name, solution.stem
            starter = TOP / "exercises" / chapter / solution.name
            answers |= {file: (chapter, name, begun(file.read_text(encoding="utf-8"))) for file in (solution, starter)}
            for diff in sorted(TOP.glob(f"chapters/{chapter}/*/{name}/*.diff")):
                answers[diff] = chapter, name, variants.answer_of(diff)
        chosen = dict(answer for i, answer in enumerate(answers.items()) if READ_ALL or i % EACH_VARIANT == 0)
        self.assertGreater(len(chosen), 40)
        marked = []
        for file, (refused, marks) in zip(chosen, read(chosen.values())):
            self.assertEqual(refused, [], file)
            if marks and "mistakes" not in file.parts and "exercises" not in file.parts:
                marked.append(file)
        self.assertLess(len(marked), 1 + len(chosen) // 100, marked)

    def test_the_command_finds_what_a_forked_reader_finds(self):
        texts = [next(iter(honest.IDIOMS.values())), *(text for text, _ in [*reading_attacks.NINETEEN.values()][:2]), *(text for text, _ in [*reading_attacks.FOR_A_PERSON.values()][:2])]
        answers = [(CHAPTER, "lost_update", below_starter(text)) for text in texts]
        by_command = read_by_command(answers)
        self.assertEqual(by_command, read(answers))
        self.assertEqual([(bool(refused), bool(marks)) for refused, marks in by_command], [(False, False), *[(True, False)] * 2, *[(False, True)] * 2])

    def test_a_text_that_clang_cannot_read_is_one_answers_outcome(self):
        for code, output in ((-11, ""), (None, ""), (0, "{}"), (0, '{"refused": 3, "for_a_person": []}'), (0, '{"refused": [5], "for_a_person": []}'), (0, "x")):
            self.assertEqual(reading.result_of(code, output), ([reading.UNREADABLE], []), output)
        self.assertEqual(reading.result_of(0, '{"refused": ["a"], "for_a_person": ["b"]}'), (["a"], ["b"]))
        deep = "inline int f() { return " + "(" * 20000 + "1" + ")" * 20000 + "; }"
        many = "inline void f() { int " + ",".join(["a"] * 20000) + "; }"
        half = "template <int N> struct S { static constexpr int v = S<N - 1>::v + S<N - 2>::v; };\ninline int f() { return S<100000>::v; }"
        with mock.patch.object(reading, "SECONDS", 3):  # the last one takes whatever time it is given
            found = read_texts((deep, many, half))
        for text, (refused, marks) in zip((deep, many, half, deep), found + read_by_command([(CHAPTER, "lost_update", below_starter(deep))])):
            self.assertTrue(refused or marks, text[:40])

    def test_reading_ends_after_its_time(self):
        with mock.patch.object(reading.subprocess, "run", side_effect=subprocess.TimeoutExpired("x", 1)):
            self.assertEqual(reading.read_answer(CHAPTER, "ticket", "", "/nowhere"), ([reading.UNREADABLE], []))

    def test_without_the_library_it_is_the_machine_that_fails(self):
        with self.assertRaises(Failed):
            reading.read_answer(CHAPTER, "ticket", "", "/nowhere")


class Texts(unittest.TestCase):
    def test_what_is_compiled_is_what_was_read(self):
        text = "int a; // b\n/* c\n d */ int e = '\"'; // \"\nconst char* f = \"// g\";\n"
        blank = cpp_text.blank_comments(text)
        self.assertEqual([len(line) for line in blank.split("\n")], [len(line) for line in text.split("\n")])
        self.assertEqual(blank.split(), ["int", "a;", "int", "e", "=", "'\"';", "const", "char*", "f", "=", '"//', 'g";'])
        self.assertTrue(cpp_text.same_code("int a;  // b\n", "int\ta;"))
        self.assertFalse(cpp_text.same_code("int a;", "int b;"))
        self.assertEqual(reading.as_compiled(text), blank)

    def test_the_check_has_none_of_the_answers_macros(self):
        self.assertEqual(reading.as_compiled("#define A 1\n# define B(x) \\\n  x\n"), "#define A 1\n# define B(x) \\\n  x\n#pragma once\n#undef A\n#undef B\n")
        self.assertEqual(reading.as_compiled("#define A"), "#define A\n#pragma once\n#undef A\n")

    def test_each_branch_is_in_one_of_the_texts(self):
        text = "#ifdef A\n1\n#elif B\n2\n#else\n3\n#endif\n#if 0\n4\n#endif\n"
        texts = text_rules.branches(text)
        self.assertEqual(texts[0], text)
        self.assertEqual([other.split("\n")[0] + other.split("\n")[2] for other in texts[1:]], ["#if 1#elif 0", "#if 0#elif 1", "#if 0#elif 0"])
        self.assertTrue(all("#if 0\n4" in other for other in texts))
        guard = "#ifndef G\n#define G\n1\n#endif\n"
        self.assertEqual(text_rules.branches(guard), [guard])


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--all"]
    unittest.main()
