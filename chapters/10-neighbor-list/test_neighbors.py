#!/usr/bin/env python3
"""Runs the program `neighbors` on files that people have, and on files that they should not have.

    test_neighbors.py NEIGHBORS_PROGRAM
"""

import random
import subprocess
import sys
import unittest

from neighbors_case import FOUR, HERE, METHODS, PROGRAM, NeighborsTest
from neighbors_outputs import Generator, Outputs, Pictures, Terminal  # noqa: F401


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


if __name__ == "__main__":
    sys.argv.pop()  # the program, which neighbors_case.py has read
    unittest.main()
