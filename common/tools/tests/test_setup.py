#!/usr/bin/env python3
"""setup.sh: what it decides to do on the systems that it knows, with stand-ins for their tools."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "setup.sh"
ALL = (
    "g++ binutils git ninja-build pkg-config python3 libboost-context-dev libcli11-dev libfmt-dev "
    "nlohmann-json3-dev catch2"
).split()


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "bin").mkdir()
        (self.root / "apt" / "sources.list.d").mkdir(parents=True)
        self.system("debian", "12")

    def tearDown(self):
        self.folder.cleanup()

    def system(self, name, version):
        (self.root / "os-release").write_text(f'ID={name}\nVERSION_ID="{version}"\n')

    def script(self, name, body):
        file = self.root / "bin" / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def run_it(self, *options, packages=(), catch2="3.7.1", meson=None, clang="16.0.6"):
        """Exit code and output, on a system that has these packages, this Meson, and this clang++-16."""
        # dpkg-query -W -f FORMAT PACKAGE
        self.script(
            "dpkg-query",
            f'case " {" ".join(packages)} " in *" $4 "*) ;; *) exit 1 ;; esac\n'
            f'case "$3" in *Status*) echo installed ;; *) echo {catch2}-1 ;; esac',
        )
        self.script("meson", f"echo {meson}" if meson else "exit 127")
        self.script("g++", "echo 12.2.0")
        for name in ("clang++", *(f"clang++-{version}" for version in range(16, 31))):
            self.script(name, "exit 127")  # before what is installed here
        self.script("clang++", "echo 14.0.6")
        if clang:
            self.script("clang++-16", f"echo {clang}")
        self.script("ninja", "echo 1.11")
        self.script("apt-get", 'echo "apt-get was called" >&2; exit 1')
        self.script("pipx", "exit 1")
        done = subprocess.run(
            ["sh", str(TOOL), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={
                "PATH": f"{self.root}/bin:/usr/bin:/bin",
                "HOME": str(self.root),
                "COURSE_OS_RELEASE": str(self.root / "os-release"),
                "COURSE_APT_FOLDER": str(self.root / "apt"),
            },
        )
        return done.returncode, done.stdout

    def test_nothing_to_do(self):
        code, text = self.run_it(packages=ALL, meson="1.7.0")
        self.assertEqual(code, 0)
        self.assertIn("Everything that the course needs is installed.", text)
        self.assertIn("Meson 1.7.0", text)

    def test_kernels_need_a_clang(self):
        (self.root / "apt" / "sources.list").write_text("deb http://m.example/d bookworm main\n")
        text = self.run_it("--dry-run", packages=ALL, meson="1.7.0", clang=None)[1]
        self.assertIn("install clang-16\n", text)
        for name, version in (("debian", "13"), ("ubuntu", "24.04")):
            self.system(name, version)
            self.assertIn("install clang\n", self.run_it("--dry-run", packages=ALL, meson="1.7.0", clang=None)[1])
            self.assertIn("clang 18.1.3", self.run_it("--dry-run", packages=ALL, meson="1.7.0", clang="18.1.3")[1])

    def test_debian_12_takes_the_backports_from_its_own_mirror(self):
        (self.root / "apt" / "sources.list").write_text(
            "deb [signed-by=/k] http://mirror.example/sec bookworm-security main\n"
            "deb [signed-by=/k] http://mirror.example/debian bookworm main contrib\n"
        )
        code, text = self.run_it("--dry-run", packages=["g++", "git"])
        self.assertEqual(code, 0)
        self.assertIn("add bookworm-backports from http://mirror.example/debian,", text)
        self.assertIn("install catch2 meson from bookworm-backports", text)
        self.assertIn("install binutils ninja-build", text)

    def test_debian_12_with_deb822_sources(self):
        file = self.root / "apt" / "sources.list.d" / "debian.sources"
        file.write_text(
            "Types: deb\nURIs: http://mirror.example/sec\nSuites: bookworm-security\nComponents: main\n\n"
            "Types: deb\nURIs: http://mirror.example/d\nSuites: bookworm bookworm-updates\nComponents: main\n"
        )
        self.assertIn("backports from http://mirror.example/d,", self.run_it("--dry-run")[1])
        file.write_text(file.read_text().replace("bookworm-updates", "bookworm-backports"))
        text = self.run_it("--dry-run")[1]
        self.assertNotIn("add bookworm-backports", text)
        self.assertIn("from bookworm-backports", text)

    def test_debian_12_without_a_mirror_says_so(self):
        code, text = self.run_it("--dry-run")
        self.assertEqual(code, 1)
        self.assertIn("found no mirror", text)

    def test_an_old_catch2_does_not_do(self):
        (self.root / "apt" / "sources.list").write_text("deb http://m.example/d bookworm main\n")
        text = self.run_it("--dry-run", packages=ALL, catch2="2.13.8", meson="1.7.0")[1]
        self.assertIn("install catch2 from bookworm-backports", text)

    def test_debian_13(self):
        self.system("debian", "13")
        code, text = self.run_it("--dry-run", packages=["g++"])
        self.assertEqual(code, 0)
        self.assertRegex(text, r"install .*catch2 meson\n")
        self.assertNotIn("backports", text)

    def test_ubuntu_gets_meson_with_pipx(self):
        self.system("ubuntu", "24.04")
        code, text = self.run_it("--dry-run", packages=ALL, catch2="3.4.0", meson="1.3.2")
        self.assertEqual(code, 0)
        self.assertIn("install pipx", text)
        self.assertIn("install meson with pipx", text)
        self.assertNotIn("catch2", text)

    def test_contributors_get_more(self):
        code, text = self.run_it("--contributor", "--dry-run", packages=ALL, meson="1.10.1")
        self.assertEqual(code, 0)
        self.assertIn("install clang-format python3-matplotlib python3-pexpect libopenmpi-dev openmpi-bin chromium chromium-driver python3-selenium\n", text)
        text = self.run_it("--dry-run", packages=ALL, meson="1.10.1")[1]
        self.assertNotIn("clang-format", text)
        self.assertNotIn("mpi", text)

    def test_no_browser_on_ubuntu_where_it_is_a_snap(self):
        self.system("ubuntu", "24.04")
        text = self.run_it("--contributor", "--dry-run", packages=ALL, meson="1.10.1")[1]
        self.assertIn("install clang-format python3-matplotlib python3-pexpect libopenmpi-dev openmpi-bin\n", text)

    def test_a_failed_installation_fails(self):
        code, text = self.run_it(packages=[name for name in ALL if name != "git"], meson="1.7.0")
        self.assertNotEqual(code, 0)
        self.assertLess(text.index("install git"), text.index("apt-get was called") if os.getuid() == 0 else 1 << 30)

    def test_another_system_is_told_what_is_needed(self):
        self.system("fedora", "41")
        code, text = self.run_it()
        self.assertEqual(code, 2)
        self.assertIn("Boost.Context", text)

    def test_unknown_options_change_nothing(self):
        self.assertEqual(self.run_it("--force")[0], 2)


if __name__ == "__main__":
    unittest.main()
