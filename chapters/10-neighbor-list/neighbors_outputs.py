"""What the program `neighbors` writes, and where: files, pipes, pictures, a terminal. test_neighbors.py runs these."""

import os
import pty
import resource
import signal
import stat
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from neighbors_case import FOUR, HERE, LINE, METHODS, PROGRAM, NeighborsTest


class Outputs(NeighborsTest):
    def test_another_name(self):
        self.run_program(self.file(FOUR), "--output", "lists.txt")
        self.assertEqual(self.names(), ["lists.txt", "xy.txt"])

    def test_an_old_file_is_replaced(self):
        (self.folder / "neighbor.txt").write_text("old\n" * 1000)
        self.assertEqual(len(self.lists(FOUR)), 4)
        self.assertEqual(self.names(), ["neighbor.txt", "xy.txt"])

    def test_a_link_stays_a_link(self):
        (self.folder / "results").mkdir()
        (self.folder / "results/real.txt").write_text("old\n")
        (self.folder / "neighbor.txt").symlink_to("results/real.txt")
        self.lists(FOUR)
        self.assertTrue((self.folder / "neighbor.txt").is_symlink())
        self.assertEqual(len((self.folder / "results/real.txt").read_text().splitlines()), 4)

    def test_unwritable_is_reported_before_the_input_is_read(self):
        for option in ["--output", "--picture"]:
            for path in ["no/such/folder/file", str(self.folder), "/proc/no-such-file", 256 * "x"]:
                with self.subTest(option=option, path=path):
                    self.refused("no-such-file.txt", option, path, says=[path, "cannot be written"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_a_folder_without_permission(self):
        (self.folder / "kept").mkdir(mode=0o500)
        self.refused(self.file(FOUR), "--output", "kept/x", says=["kept/x: cannot be written", "Permission denied"])

    def test_input_and_output_have_to_differ(self):
        path = self.file(FOUR)
        (self.folder / "link").symlink_to("xy.txt")
        self.refused(path, "--output", "xy.txt", says="same file")
        self.refused(path, "--output", "./link", says="same file")
        self.refused(path, "--picture", path, says="same file")
        self.refused(path, "--output", "new", "--picture", "./new", says="same file")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk(self):
        (self.folder / "neighbor.txt").write_text("old\n")
        for path in [self.file(FOUR), self.file(LINE, "line.txt")]:  # it fails at the end, and on the way
            for option in ["--output", "--picture"]:
                self.refused(path, option, "/dev/full", code=1, says="/dev/full: writing failed: No space left")

    def test_a_file_that_fails_in_the_middle(self):
        (self.folder / "neighbor.txt").write_text("old\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        done = subprocess.run([PROGRAM, self.file(LINE)], cwd=self.folder, capture_output=True, text=True,
                              restore_signals=False, preexec_fn=limit, timeout=60)  # Python ignores SIGXFSZ
        self.assertEqual((done.returncode, done.stderr), (1, "neighbors: neighbor.txt: writing failed: File too large\n"))
        self.assertEqual((self.folder / "neighbor.txt").read_text(), "old\n")
        self.assertEqual(self.names(), ["neighbor.txt", "xy.txt"])

    def test_a_run_that_is_killed_in_the_middle(self):
        (self.folder / "neighbor.txt").write_text("old\n")
        part = self.folder / "neighbor.txt.part"
        running = subprocess.Popen([PROGRAM, self.file(FOUR), "--max-neighbors", "100000000"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)  # 1.6 GB, if no one stopped it
        while running.poll() is None and not (part.exists() and part.stat().st_size > 0):
            time.sleep(0.001)
        running.kill()
        self.assertEqual(running.wait(timeout=30), -signal.SIGKILL)
        self.assertEqual((self.folder / "neighbor.txt").read_text(), "old\n")
        self.assertEqual(len(self.lists(FOUR)), 4)  # and the next run is not disturbed
        self.assertEqual(self.names(), ["neighbor.txt", "xy.txt"])

    def test_a_device_is_not_replaced(self):
        done = self.run_to(subprocess.PIPE, self.file(FOUR), "--output", "/dev/null", "--picture", "/dev/null")
        self.assertEqual(done.stdout, "")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_standard_input_and_output(self):
        wanted = "".join(line + "\n" for line in self.lists(FOUR))
        (self.folder / "neighbor.txt").unlink()
        for arguments in [["xy.txt", "--output", "-"], ["-", "--output", "-"], ["/dev/stdin", "--output", "/dev/stdout"]]:
            self.assertEqual(self.run_to(subprocess.PIPE, *arguments).stdout, wanted)
            with open(self.folder / "all.txt", "w") as file:  # what the shell has opened is not replaced, either
                file.write("a line before\n")
                file.flush()
                self.run_to(file, *arguments)
            self.assertEqual((self.folder / "all.txt").read_text(), "a line before\n" + wanted)
            (self.folder / "all.txt").unlink()
        self.assertEqual(len(self.run_program("-", "--generate", 10).stdout.splitlines()), 10)
        self.assertEqual(self.names(), ["xy.txt"])

    def run_to(self, output, *arguments):
        """The finished process, which reads FOUR. Standard output may be its result, so the summary is not there."""
        done = subprocess.run([PROGRAM, *arguments], input=FOUR, stdout=output, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("6 bonds", done.stderr)
        return done

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_summary_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, self.file(FOUR)], stdout=full, stderr=subprocess.PIPE, text=True,
                                  cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("all files are complete, but standard output cannot be written", done.stderr)
        self.assertEqual(len((self.folder / "neighbor.txt").read_text().splitlines()), 4)


class Pictures(NeighborsTest):
    def test_the_picture(self):
        for data, bonds in [(FOUR, 6), ("5 5\n", 0), ("1 1\n1 1\n", 1), ("-1.7e308 0\n1.7e308 0\n", 0)]:
            self.run_program(self.file(data), "--picture", "bonds.svg", "--double")
            text = (self.folder / "bonds.svg").read_text()
            self.assertNotRegex(text, r"\b(nan|inf)\b")
            picture = ElementTree.fromstring(text)
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(f".//{space}line")), bonds)
            self.assertEqual(len(picture.findall(f".//{space}circle")), data.count("\n"))

    def texts_of(self, *options):
        """The texts of the picture that a run with these options draws of the file."""
        self.run_program("xy.txt", "--picture", "bonds.svg", *options)
        text = (self.folder / "bonds.svg").read_text()
        self.assertNotRegex(text, r"\b(nan|inf)\b")
        return [element.text for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]

    def test_the_legend_of_a_picture(self):
        self.file(FOUR + "50 50\n")
        self.assertEqual(self.texts_of(), ["How many neighbours has each atom?", "no neighbour: 1", "3 neighbours: 4"])
        self.file("0 0\n1 0\n" + "".join(f"{9 + 0.1 * k} 9\n" for k in range(5)))
        self.assertEqual(self.texts_of()[1:], ["1 neighbour: 2", "4 or more neighbours: 5"])

    def test_the_nine_cells_around_an_atom(self):
        # Cells are a little wider than 1. Three runs: the row of cells below, the atom's own, and the one above.
        self.file("".join(f"{x + 0.5} {y + 0.5}\n" for y in range(7) for x in range(7)))
        for method in METHODS:
            texts = self.texts_of("--cells-around", 24, "--cutoff", 1.01, "--method", method)
            self.assertEqual(texts[-3:], ["Red: atom 24, at index 24. Dashed: the cutoff.", "Runs of the sorted array: 16 to 18, 23 to 25, 30 to 32.",
                                          "9 atoms looked at, itself among them; near: 4."])
            self.assertEqual(texts.pop(0), "Where does atom 24 look for neighbours?")
        self.assertEqual(sorted(map(int, texts[:-3])), [16, 17, 18, 23, 24, 25, 30, 31, 32])

    def test_cells_at_a_corner_and_cells_that_share_memory(self):
        # The first cell has two columns and rows of atoms, the next ones have one each.
        self.file("".join(f"{x + 0.5} {y + 0.5}\n" for y in range(7) for x in range(7)))
        texts = self.texts_of("--cells-around", 0, "--cutoff", 1.01)
        self.assertEqual(texts[-2:], ["Runs of the sorted array: 0 to 5, 14 to 16.", "9 atoms looked at, itself among them; near: 2."])
        self.file("-1.7e308 0\n1.7e308 0\n")
        self.assertIn("near: 0.", self.texts_of("--cells-around", 1, "--double")[-1])

    def test_cells_of_no_picture_or_no_atom(self):
        path = self.file(FOUR)
        self.refused(path, "--cells-around", 0, says="--cells-around needs --picture")
        self.refused(path, "--cells-around", 4, "--picture", "bonds.svg", says=["--cells-around 4: ", "xy.txt has 4 atoms, numbered from 0"])
        self.refused("new.txt", "--generate", 3, "--cells-around", 0, says="--generate")
        for value in ["-1", "x", "1.5"]:
            self.refused(path, "--cells-around", value, "--picture", "bonds.svg", says="--cells-around")


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

    def test_version_needs_no_file(self):
        self.assertRegex(self.run_program("--version").stdout, r"^neighbors \d+\.\d+\n$")

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
            n = n * 3 // 2

    def test_a_bar_for_long_runs_only(self):
        self.assertEqual(self.seen_on_a_terminal(self.file(FOUR)), "")
        grid = "".join(f"{k % 250} {k // 250}\n" for k in range(500_000)).splitlines(keepends=True)
        seen = self.seen_of_a_long_run(lambda n: [self.file("".join(grid[:n])), "--method", "cpu"], 60_000)
        self.assertRegex(seen, r"cpu +\[#*\.+\] +\d+ %")
        self.assertTrue(seen.endswith("\r\x1b[K"))
        seen = self.seen_of_a_long_run(lambda n: ["new.txt", "--generate", n], 1_500_000)
        self.assertRegex(seen, r"atoms +\[#*\.+\] +\d+ %")
