#!/usr/bin/env python3
"""Runs the program `neighbors` on files that people have, and on files that they should not have.

    test_neighbors.py NEIGHBORS_PROGRAM
"""

import os
import pty
import random
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PROGRAM = ""
HERE = Path(__file__).resolve().parent
METHODS = ["cpu", "atomic", "gather", "cells", "cells-cpu"]
FOUR = "0 0\n1.2 0\n0 1.2\n1.2 1.2\n"  # a square: the diagonal is 1.697


class NeighborsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="neighbors-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, data, name="xy.txt"):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def run_program(self, *arguments, code=0):
        """The finished process; its exit code has to be `code`. Runs in the test's own folder."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              timeout=100)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        if code == 0 and "--help" not in arguments:
            self.assertEqual(done.stderr, "")
        return done

    def lists(self, data, *arguments):
        """What the program writes for coordinates, as lines."""
        self.run_program(self.file(data), *arguments)
        return (self.folder / "neighbor.txt").read_text().splitlines()

    def refused(self, *arguments, says, code=2):
        """The program has to refuse, in one line that holds all of `says`, and to leave no file behind."""
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        done = self.run_program(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in says if isinstance(says, list) else [says]:
            self.assertIn(text, done.stderr)
        after = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(before, after)
        return done.stderr

    def refused_input(self, data, place, says, *arguments):
        """The same for an input; `place` is "line:column"."""
        (self.folder / "neighbor.txt").write_text("an old result\n")
        path = self.file(data)
        self.refused(path, *arguments, says=[f"neighbors: {path}:{place}: ", *([says] if isinstance(says, str) else says)])


class Lists(NeighborsTest):
    def test_four_mutual_neighbours(self):
        for method in METHODS:
            for precision in [[], ["--double"]]:
                with self.subTest(method=method, precision=precision):
                    lines = self.lists(FOUR, "--method", method, "--max-neighbors", 4, *precision)
                    self.assertEqual(lines, ["3 1 2 3 NaN", "3 0 2 3 NaN", "3 0 1 3 NaN", "3 0 1 2 NaN"])

    def test_the_file_ends_with_a_newline_and_has_single_spaces(self):
        self.run_program(self.file(FOUR))
        text = (self.folder / "neighbor.txt").read_bytes()
        self.assertTrue(text.endswith(b"NaN\n"))
        self.assertNotIn(b"  ", text)
        self.assertNotIn(b" \n", text)
        self.assertEqual(text.split(b"\n")[0].count(b"NaN"), 7)

    def test_strictly_below_the_cutoff(self):
        self.assertEqual(self.lists("0 0\n1.9 0\n", "--max-neighbors", 1), ["0 NaN", "0 NaN"])
        self.assertEqual(self.lists("0 0\n1.9 0\n", "--max-neighbors", 1, "--cutoff", "1.900001"), ["1 1", "1 0"])

    def test_one_atom(self):
        for method in METHODS:
            self.assertEqual(self.lists("3 4", "--max-neighbors", 2, "--method", method), ["0 NaN NaN"])

    def test_atoms_at_the_same_place_are_neighbours(self):
        for method in METHODS:
            self.assertEqual(self.lists("1 1\n1 1\n1.0 1\n", "--max-neighbors", 2, "--method", method),
                             ["2 1 2", "2 0 2", "2 0 1"])

    def test_a_large_capacity_costs_nothing_but_its_file(self):
        lines = self.lists(FOUR, "--max-neighbors", 5000)
        self.assertEqual([len(line.split()) for line in lines], [5001] * 4)

    def test_all_methods_write_the_same_file(self):
        sheet = HERE / "sheet.txt"
        written = set()
        for method in METHODS:
            for precision in [[], ["--double"]]:
                self.run_program(sheet, "--method", method, *precision)
                written.add((self.folder / "neighbor.txt").read_bytes())
        self.assertEqual(len(written), 1)

    def test_against_python(self):
        numbers = random.Random(4)
        points = [(round(numbers.uniform(-5, 5), 2), round(numbers.uniform(-5, 5), 2)) for _ in range(150)]
        text = "".join(f"{x} {y}\n" for x, y in points)
        lines = self.lists(text, "--double", "--cutoff", 1.234567, "--max-neighbors", 30)
        for n, (x, y) in enumerate(points):
            near = [m for m, (a, b) in enumerate(points)
                    if m != n and (a - x) * (a - x) + (b - y) * (b - y) < 1.234567 * 1.234567]
            words = [str(len(near)), *map(str, near), *["NaN"] * (30 - len(near))]
            self.assertEqual(lines[n], " ".join(words))

    def test_the_summary(self):
        done = self.run_program(self.file(FOUR))
        self.assertRegex(done.stdout, r"4 atoms\n.* 6 bonds in .*\n  3 neighbours: 4 atoms\n")


class Formats(NeighborsTest):
    WANTED = ["1 1 NaN", "1 0 NaN", "0 NaN NaN"]

    def assert_read(self, data):
        self.assertEqual(self.lists(data, "--max-neighbors", 2), self.WANTED)

    def test_line_ends(self):
        for end in ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n \t \n"]:
            for last in [end, ""]:
                with self.subTest(end=end, last=last):
                    self.assert_read(f"0 0{end}1 0{end}5 5{last}")
        self.assert_read("0 0\r\n1 0\n5 5\r")

    def test_blanks(self):
        self.assert_read("\n\n  0\t0  \n\t1 \t 0\n5\t\t5\t\n\n")

    def test_numbers(self):
        self.assert_read("0e0 -0\n+1 .0\n5. 50e-1\n")
        self.assert_read("0.0E+00 1e-400\n1000E-3 -1e-400\n+0.5e1 500.0e-2\n")
        self.assert_read("1e-310 4.9e-324\n1.0000000000000000000000000000000000000000001 0\n5 000005\n")

    def test_byte_order_mark(self):
        self.assert_read(b"\xef\xbb\xbf0 0\n1 0\n5 5\n")

    def test_a_very_long_line(self):
        self.assert_read("0" + " " * 3_000_000 + "0\n1." + "0" * 2_000_000 + " 0\n5 5\n")

    def test_from_a_pipe(self):
        done = subprocess.run([PROGRAM, "/dev/stdin", "--output", "/dev/stdout", "--max-neighbors", "2"],
                              input="0 0\n1 0\n5 5\n", capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.stdout.splitlines(), self.WANTED)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [])


class InputErrors(NeighborsTest):
    def test_missing_file(self):
        self.refused("no-such-file.txt", says=["no-such-file.txt", "No such file"])

    def test_a_folder(self):
        self.refused(self.folder, says=[str(self.folder), "Is a directory"])

    def test_empty(self):
        self.refused_input("", "1:1", "empty")
        self.refused_input("\n \r\n\t\n", "1:1", "no atoms")

    def test_one_number(self):
        self.refused_input("0 0\n\n  7.5 \n", "3:3", "'7.5'")

    def test_three_numbers(self):
        self.refused_input("0 0\n1 2 3\n", "2:5", "'3'")
        self.refused_input("0 0\r1 2\t 3\r", "2:6", "'3'")

    def test_not_a_number(self):
        for word in ["x", "1.5.2", "--1", "+-1", "++1", "1e", "e5", "0x10", ".", "-", "+", "1_000", "one",
                     "1f", "\u0660", "\u00bd"]:
            with self.subTest(word=word):
                self.refused_input(f"0 0\n1 {word}\n", "2:3", [f"'{word}'", "not a number"])
                self.refused_input(f"0 0\n{word} 1\n", "2:1", [f"'{word}'", "not a number"])

    def test_not_finite(self):
        for word in ["nan", "NaN", "inf", "-Infinity", "+inf", "nan(0)"]:
            with self.subTest(word=word):
                self.refused_input(f"{word} 0\n", "1:1", [f"'{word}'", "not a"])

    def test_too_large(self):
        self.refused_input("0 0\n\t1e400 0\n", "2:2", ["1e400", "too large"])
        self.refused_input("0 -1e400\n", "1:3", ["-1e400", "too large"], "--double")
        self.refused_input("0 1e39\n", "1:3", ["1e39", "too large", "--double"])
        self.run_program(self.file("0 1e39\n"), "--double")

    def test_commas_and_comments(self):
        self.refused_input("1,2\n", "1:1", ["'1,2'", "blanks or tabs"])
        self.refused_input("1, 2\n", "1:1", ["'1,'", "blanks or tabs"])
        self.refused_input("0 0\n# x y\n1 1\n", "2:1", ["'#'", "comments"])
        self.refused_input("0 0 # the first\n", "1:5", "'#'")
        self.refused_input("1d3 0\n", "1:1", ["'1d3'", "e or E"])

    def test_other_encodings(self):
        self.refused_input("0 0\n".encode("utf-16"), "1:1", "ASCII or UTF-8")
        self.refused_input("0 0\n".encode("utf-16-le"), "1:1", "ASCII or UTF-8")
        self.refused_input(b"0 0\n\x1b[31m 5\n", "2:1", "\\x1b")

    def test_a_byte_order_mark_is_no_column(self):
        self.refused_input(b"\xef\xbb\xbfx 0\n", "1:1", "'x'")

    def test_a_long_word_is_shown_in_part(self):
        self.refused_input("1" * 1_000_000 + "x 0\n", "1:1", "1111...'")

    def test_too_many_neighbours(self):
        for method in METHODS:
            with self.subTest(method=method):
                self.refused_input("9 9\n\n" + FOUR + "1 1\n", "3",
                                   ["atom 1 ", "--max-neighbors 4"], "--max-neighbors", 2, "--method", method)
        self.run_program(self.file("9 9\n" + FOUR + "1 1\n"), "--max-neighbors", 4)


class ArgumentErrors(NeighborsTest):
    def test_cutoff(self):
        path = self.file(FOUR)
        for value in ["0", "-1.9", "-0", "nan", "inf", "-inf", "1e400"]:
            with self.subTest(value=value):
                self.refused(path, "--cutoff", value, says=["--cutoff", "positive"])
        self.refused(path, "--cutoff", "1e-30", says="too small")
        self.refused(path, "--cutoff", "1e30", says="too large")
        self.run_program(path, "--cutoff", "1e30", "--double")
        for value in ["", "abc", "1.9x"]:
            self.refused(path, "--cutoff", value, says="--cutoff")

    def test_capacity(self):
        path = self.file(FOUR)
        for value in ["0", "-3", "3000000000"]:
            self.refused(path, "--max-neighbors", value, says="--max-neighbors " + value)
        for value in ["2.5", "ten", "1e2", "", "0x10", "99999999999999999999"]:
            self.refused(path, "--max-neighbors", value, says="--max-neighbors")
        self.assertEqual(self.lists(FOUR, "--max-neighbors", "010")[0].count("NaN"), 7)  # ten, not eight

    def test_others(self):
        path = self.file(FOUR)
        self.refused(says="FILE")
        self.refused(path, "--method", "magic", says="--method")
        self.refused(path, "--no-such-option", says="--no-such-option")
        self.refused(path, path, says="")
        self.refused(path, "--seed", 3, says="--generate")
        for value in ["-1", "18446744073709551616", "x"]:
            self.refused("new.txt", "--generate", 3, "--seed", value, says="--seed")
        self.refused(path, "--output", "", says="empty name")
        self.refused(path, "--picture", "", says="empty name")
        self.refused("new.txt", "--generate", 3, "--cutoff", 2, says="--cutoff")
        for value in ["0", "-5", "1e3", "99999999999"]:
            self.refused("new.txt", "--generate", value, says="--generate")

    def test_arguments_come_before_files(self):
        self.refused("no-such-file.txt", "--cutoff", "-1", says="--cutoff")


class Outputs(NeighborsTest):
    def test_another_name(self):
        self.run_program(self.file(FOUR), "--output", "lists.txt")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["lists.txt", "xy.txt"])

    def test_an_old_file_is_replaced_and_keeps_its_mode(self):
        old = self.folder / "neighbor.txt"
        old.write_text("old\n" * 1000)
        old.chmod(0o640)
        self.assertEqual(len(self.lists(FOUR)), 4)
        self.assertEqual(stat.S_IMODE(old.stat().st_mode), 0o640)

    def test_a_new_file_has_the_mode_that_the_user_wants(self):
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        self.lists(FOUR)
        self.assertEqual(stat.S_IMODE((self.folder / "neighbor.txt").stat().st_mode), 0o640)

    def test_a_link_stays_a_link(self):
        (self.folder / "results").mkdir()
        (self.folder / "neighbor.txt").symlink_to("results/real.txt")
        self.lists(FOUR)
        self.assertTrue((self.folder / "neighbor.txt").is_symlink())
        self.assertEqual(len((self.folder / "results/real.txt").read_text().splitlines()), 4)

    def test_unwritable_is_reported_before_the_input_is_read(self):
        for option in ["--output", "--picture"]:
            for path in ["no/such/folder/file", str(self.folder), "/proc/no-such-file"]:
                with self.subTest(option=option, path=path):
                    self.refused("no-such-file.txt", option, path, says=[path, "cannot be written"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_read_only(self):
        (self.folder / "kept").mkdir()
        (self.folder / "kept").chmod(0o500)
        self.addCleanup((self.folder / "kept").chmod, 0o700)
        path = self.file(FOUR)
        self.refused(path, "--output", "kept/x", says=["kept/x", "Permission denied"])
        (self.folder / "old").write_text("old")
        (self.folder / "old").chmod(0o400)
        self.refused(path, "--output", "old", says=["old", "Permission denied"])
        (self.folder / "kept").chmod(0)
        self.refused(path, "--output", "kept/x", says=["kept/x", "Permission denied"])

    def test_input_and_output_have_to_differ(self):
        path = self.file(FOUR)
        (self.folder / "link").symlink_to("xy.txt")
        self.refused(path, "--output", "xy.txt", says="same file")
        self.refused(path, "--output", "./link", says="same file")
        self.refused(path, "--picture", path, says="same file")
        self.refused(path, "--output", "new", "--picture", "./new", says="same file")
        (self.folder / "to_new").symlink_to("new")
        self.refused(path, "--output", "new", "--picture", "to_new", says="same file")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk(self):
        done = self.run_program(self.file(FOUR), "--output", "/dev/full", code=1)
        self.assertIn("No space left", done.stderr)
        self.assertTrue(os.path.exists("/dev/full"))
        old = self.folder / "neighbor.txt"
        old.write_text("old\n")
        done = self.run_program(self.file(FOUR), "--picture", "/dev/full", code=1)
        self.assertIn("/dev/full", done.stderr)
        self.assertEqual(old.read_text(), "old\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["neighbor.txt", "xy.txt"])

    def test_a_device_is_not_replaced(self):
        done = subprocess.run([PROGRAM, self.file(FOUR), "--output", "/dev/null", "--picture", "/dev/null"],
                              capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("6 bonds", done.stderr)  # standard output might be the output
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_what_the_shell_has_opened_is_not_replaced(self):
        wanted = "a line before\n" + "".join(line + "\n" for line in self.lists(FOUR))
        (self.folder / "neighbor.txt").unlink()
        for mode in ["w", "a"]:
            with open(self.folder / "all.txt", mode) as file:
                if mode == "w":
                    file.write("a line before\n")
                    file.flush()
                done = subprocess.run([PROGRAM, "xy.txt", "--output", "/dev/stdout"], stdout=file,
                                      stderr=subprocess.PIPE, text=True, cwd=self.folder, timeout=60)
            self.assertEqual(done.returncode, 0)
            self.assertIn("6 bonds", done.stderr)
            self.assertEqual((self.folder / "all.txt").read_text(), wanted)
            wanted += wanted.split("\n", 1)[1]

    def test_closed_streams(self):
        self.file(FOUR)
        for redirection, code in [(">&-", 1), ("2>&-", 0), ("<&- >&- 2>&-", 1), ("nowhere 2>&-", 2)]:
            command = f"exec {shlex.quote(PROGRAM)} {'' if 'nowhere' in redirection else 'xy.txt'} {redirection}"
            done = subprocess.run(["sh", "-c", command], capture_output=True, cwd=self.folder, timeout=60)
            self.assertEqual(done.returncode, code, redirection)
            self.assertEqual(len((self.folder / "neighbor.txt").read_text().splitlines()), 4)

    def test_a_name_as_long_as_a_name_may_be(self):
        self.run_program(self.file(FOUR), "--output", 255 * "x")
        self.refused("xy.txt", "--output", 256 * "x", says="File name too long")

    def start_long_run(self, ignored=()):
        """A run that has begun its output, and will not be finished soon. What a shell above ignores does not count."""
        def set_signals():
            for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

        (self.folder / "neighbor.txt").write_text("old\n")
        path = self.file("".join(f"{n} 0\n" for n in range(200_000)))
        running = subprocess.Popen([PROGRAM, path, "--method", "cpu"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=set_signals)
        deadline = time.monotonic() + 30
        while not list(self.folder.glob("*.tmp")) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        return running

    def test_an_interrupted_run_leaves_nothing(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
            running = self.start_long_run()
            running.send_signal(number)
            self.assertEqual(running.wait(timeout=30), -number)
            self.assertEqual((self.folder / "neighbor.txt").read_text(), "old\n")
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["neighbor.txt", "xy.txt"])

    def test_nohup(self):
        running = self.start_long_run(ignored=[signal.SIGHUP])
        running.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(running.poll())
        running.terminate()
        running.wait(timeout=30)

    def test_a_reader_that_leaves(self):
        path = self.file("".join(f"{n} 0\n" for n in range(50_000)))
        running = subprocess.Popen([PROGRAM, path, "--output", "/dev/stdout", "--picture", "bonds.svg"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        running.stdout.close()
        self.assertNotEqual(running.wait(timeout=60), 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["xy.txt"])

    def test_a_limit_on_the_size_of_files(self):
        path = self.file("".join(f"{n} 0\n" for n in range(50_000)))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        done = subprocess.run([PROGRAM, path], cwd=self.folder, capture_output=True, preexec_fn=limit, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["xy.txt"])

    def test_the_picture(self):
        for data, bonds in [(FOUR, 6), ("5 5\n", 0), ("1 1\n1 1\n", 1), ("-1.7e308 0\n1.7e308 0\n", 0)]:
            self.run_program(self.file(data), "--picture", "bonds.svg", "--double")
            text = (self.folder / "bonds.svg").read_text()
            self.assertNotRegex(text, r"\b(nan|inf)\b")
            picture = ElementTree.fromstring(text)
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(f".//{space}line")), bonds)
            self.assertEqual(len(picture.findall(f".//{space}circle")), data.count("\n"))


class Generator(NeighborsTest):
    def test_any_size_the_same_every_time(self):
        for n in [1, 2, 10, 333, 5000]:
            self.run_program("--generate", n, "a.txt")
            self.run_program("b.txt", "--generate", n, "--seed", 1)
            self.run_program("c.txt", "--generate", n, "--seed", 2)
            a, b, c = [(self.folder / f"{name}.txt").read_bytes() for name in "abc"]
            self.assertEqual(a.count(b"\n"), n)
            self.assertEqual(a, b)
            self.assertNotEqual(a, c)
            self.run_program("a.txt")

    def test_it_looks_like_graphene(self):
        self.run_program("--generate", 5000, "a.txt")
        lines = self.lists((self.folder / "a.txt").read_text())
        three = sum(line.startswith("3 ") for line in lines)
        self.assertGreater(three, 4000)
        self.assertLess(three, 5000)  # there are defects, and an edge
        self.run_program("a.txt", "--cutoff", "1.19", "--output", "close.txt")
        self.assertNotRegex((self.folder / "close.txt").read_text(), r"(?m)^[1-9]")

    def test_the_sheet_of_the_chapter(self):
        sheet = HERE / "sheet.txt"
        self.run_program("--generate", len(sheet.read_text().splitlines()), "a.txt")
        self.assertEqual((self.folder / "a.txt").read_text(), sheet.read_text())

    def test_unwritable(self):
        self.refused("--generate", 10, "no/such/folder/file", says=["no/such/folder/file", "cannot be written"])


class Terminal(NeighborsTest):
    def test_help(self):
        text = self.run_program("--help").stdout
        for word in ["--cutoff", "1.9", "--max-neighbors", "10", "--method", *METHODS, "--double", "--output",
                     "neighbor.txt", "--picture", "--generate", "--seed", "Exit codes", "strictly below"]:
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 110)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def seen_on_a_terminal(self, *arguments):
        """What the program writes to standard error if that is a terminal."""
        ours, theirs = pty.openpty()
        running = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        seen = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            seen += chunk
        os.close(ours)
        self.assertEqual(running.wait(timeout=60), 0)
        return seen.decode()

    def seen_of_a_long_run(self, arguments, n):
        """The same of a run of 2 seconds or more: n grows until this machine takes as long."""
        while True:
            begin = time.monotonic()
            seen = self.seen_on_a_terminal(*arguments(n))
            if time.monotonic() - begin > 2:
                return seen
            n *= 2

    def test_a_bar_for_long_runs_only(self):
        self.assertEqual(self.seen_on_a_terminal(self.file(FOUR)), "")
        grid = "".join(f"{k % 250} {k // 250}\n" for k in range(500_000)).splitlines(keepends=True)
        seen = self.seen_of_a_long_run(lambda n: [self.file("".join(grid[:n])), "--method", "cpu"], 60_000)
        self.assertRegex(seen, r"cpu +\[#*\.+\] +\d+ %")
        self.assertTrue(seen.endswith("\r\x1b[K"))
        seen = self.seen_of_a_long_run(lambda n: ["new.txt", "--generate", n], 1_500_000)
        self.assertRegex(seen, r"atoms +\[#*\.+\] +\d+ %")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop())
    unittest.main()
