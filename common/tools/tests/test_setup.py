"""setup.sh: what it decides to do on many systems, with stand-ins for their tools."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

READS = ("common/tools/setup.sh",)

TOOL = TOP / "common/tools/setup.sh"
SHELL = "sh sort head tail sed awk grep seq cat dirname id mktemp tee rm env".split()
# What a machine that has everything answers.
ALL = {
    "g++": "12.2.0", "clang++-16": "16.0.6", "addr2line": "2.40", "git": "2.39", "ninja": "1.11", "pkg-config": "1.8",
    "python3": "3.11", "boost": "1.74", "meson": "1.7.0", "fmt": "9.1.0", "CLI11": "2.1.2", "nlohmann_json": "3.11.2", "catch2": "3.7.1",
}
LIBRARIES = ("fmt", "CLI11", "nlohmann_json", "catch2")
# What Ubuntu 24.04 has: https://packages.ubuntu.com/noble. It is the system of the containers for Codespaces, and Colab's.
NOBLE = {
    "g++": "13.2.0", "clang": "18.0", "binutils": "2.42", "git": "2.43.0", "ninja-build": "1.11.1", "pkg-config": "1.8.1",
    "python3": "3.12.3", "libboost-context-dev": "1.83.0", "pipx": "1.4.3", "libfmt-dev": "9.1.0", "libcli11-dev": "2.4.1",
    "nlohmann-json3-dev": "3.11.3", "catch2": "3.4.0",
}
NO_NETWORK = "W: Failed to fetch http://m.example/d/dists/x  Temporary failure resolving 'm.example'"


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "bin").mkdir()
        (self.root / "apt" / "sources.list.d").mkdir(parents=True)
        (self.root / "apt" / "sources.list").write_text("deb http://m.example/d bookworm main\n")
        for name in SHELL:
            (self.root / "bin" / name).symlink_to(shutil.which(name))
        chapter = self.root / "top" / "chapters" / "01-first"
        chapter.mkdir(parents=True)
        (chapter / "common").symlink_to("../../common")
        (self.root / "top" / "course").symlink_to("common/tools/learn/course.py")
        self.system("debian", "12")

    def tearDown(self):
        self.folder.cleanup()

    def system(self, name, version):
        (self.root / "os-release").write_text(f'ID={name}\nVERSION_ID="{version}"\n')

    def script(self, name, body):
        file = self.root / "bin" / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def run_it(self, *options, without=(), managers=(), packages=(), kernel="Linux", apt="exit 1", **versions):
        """Exit code and output, on a machine that has everything but `without`, some in other versions."""
        here = {name: versions.get(name.replace("+", "x"), version) for name, version in ALL.items() if name not in without}
        here |= {name: version for name, version in versions.items() if name in LIBRARIES}
        libraries = "".join(f"{name}) echo {here[name]} ;; " for name in LIBRARIES if name in here)
        for name, version in here.items():
            if name not in (*LIBRARIES, "boost"):
                self.script(name, f"echo {version}")
        if "pkg-config" in here:
            self.script("pkg-config", f'case "$2" in {libraries}*) exit 1 ;; esac')
        if "g++" in here:
            self.script("g++", f'[ "$1" = -dumpfullversion ] && echo {here["g++"]} || exit {0 if "boost" in here else 1}')
        self.script("uname", f"echo {kernel}")
        self.script("dpkg-query", f'case " {" ".join(packages)} " in *" $4 "*) echo installed ;; *) exit 1 ;; esac')
        self.script("sudo", '"$@"')
        for name in managers:
            self.script(name, "exit 1")
        self.script("apt-get", apt) if apt else (self.root / "bin" / "apt-get").unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", str(TOOL), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={
                "PATH": f"{self.root}/bin",
                "HOME": str(self.root),
                "COURSE_TOP": str(self.root / "top"),
                "COURSE_OS_RELEASE": str(self.root / "os-release"),
                "COURSE_APT_FOLDER": str(self.root / "apt"),
            },
        )
        return done.returncode, done.stdout

    # ---- what is there

    def test_nothing_to_do_on_any_system(self):
        for name, version in (("debian", "12"), ("ubuntu", "22.04"), ("fedora", "41"), ("arch", ""), ("linuxmint", "22")):
            self.system(name, version)
            code, text = self.run_it()
            self.assertEqual(code, 0, text)
            self.assertIn("Everything that the course needs is installed.", text)
            self.assertIn("Meson 1.7.0", text)
        (self.root / "os-release").unlink()
        self.assertEqual(self.run_it()[0], 0)

    def test_each_need_is_noticed(self):
        self.system("fedora", "41")
        for name in ALL:
            if name in LIBRARIES:  # Meson downloads them
                code, text = self.run_it(without=[name])
                self.assertEqual(code, 0)
                self.assertIn("but for what Meson downloads at set-up:\n", text)
                continue
            with self.subTest(name=name):
                (self.root / "bin" / name).unlink(missing_ok=True)
                code, text = self.run_it(without=[name])
                self.assertEqual(code, 2)
                self.assertIn("Missing are:\n", text)

    def test_what_is_too_old_is_missing(self):
        for name, version, says in (
            ("gxx", "11.4.0", "g++ 12 or newer (here is 11.4.0)"), ("meson", "1.3.2", "Meson 1.4 or newer (here is 1.3.2)"),
            ("python3", "3.10", "python3 3.11 or newer (here is 3.10)"),
        ):
            self.system("ubuntu", "22.04")
            code, text = self.run_it(**{name: version})
            self.assertEqual(code, 2)
            self.assertIn(f"Missing are:\n  {says}\n", text)
        self.script("clang++", "echo 14.0.0")
        (self.root / "bin" / "clang++-16").unlink()
        self.assertIn("clang++ 16 or newer (here is 14.0.0)", self.run_it(without=["clang++-16"])[1])

    # ---- other systems

    def test_other_systems_get_the_names_of_packages(self):
        self.system("fedora", "41")
        missing = ["addr2line", "boost", "meson", "catch2"]
        for name in ("addr2line", "meson"):
            (self.root / "bin" / name).unlink(missing_ok=True)
        code, text = self.run_it(without=missing, managers=["dnf"], apt=None)
        self.assertEqual(code, 2)
        self.assertIn("installs nothing on this system (fedora 41). Missing are:\n  addr2line\n  Boost.Context\n  Meson 1.4 or newer\n", text)
        self.assertIn("  sudo dnf install binutils boost-devel meson catch-devel\n", text)
        self.assertNotIn("sudo apt-get", text)
        (self.root / "bin" / "dnf").unlink()
        self.assertIn("  sudo pacman -S --needed binutils boost meson catch2\n",
                      self.run_it(without=missing, managers=["pacman"], apt=None)[1])
        (self.root / "bin" / "pacman").unlink()
        self.assertIn("  sudo apt-get install binutils libboost-context-dev meson catch2\n", self.run_it(without=missing)[1])
        text = self.run_it(without=missing, apt=None)[1]
        self.assertIn("  dnf:    binutils boost-devel meson catch-devel\n", text)

    def test_a_mac_and_windows_are_told_what_helps(self):
        code, text = self.run_it(kernel="Darwin")
        self.assertEqual(code, 2)
        self.assertIn("dev container", text)
        code, text = self.run_it(kernel="MINGW64_NT-10.0")
        self.assertEqual(code, 2)
        self.assertIn("wsl --install", text)

    def test_links_that_a_copy_did_not_keep(self):
        link = self.root / "top" / "chapters" / "01-first" / "common"
        link.unlink()
        link.write_text("../../common")
        code, text = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("setup.sh: chapters/01-first/common should be a symbolic link, and is a file of its own", text)

    # ---- Debian and Ubuntu

    def install(self, *missing, options=("--dry-run",), **more):
        """What it says that it will do where these are missing."""
        for name in missing:
            (self.root / "bin" / name).unlink(missing_ok=True)
        code, text = self.run_it(*options, without=missing, **more)
        self.assertEqual(code, 0, text)
        return text

    def test_kernels_need_a_clang(self):
        self.assertIn("install clang-16\n", self.install("clang++-16"))
        for name, version in (("debian", "13"), ("ubuntu", "24.04")):
            self.system(name, version)
            self.assertIn("install clang\n", self.install("clang++-16"))

    def test_debian_12_takes_the_backports_from_its_own_mirror(self):
        (self.root / "apt" / "sources.list").write_text(
            "deb [signed-by=/k] http://mirror.example/sec bookworm-security main\n"
            "deb [signed-by=/k] http://mirror.example/debian bookworm main contrib\n"
        )
        text = self.install("addr2line", "ninja", "meson", "catch2")
        self.assertIn("add bookworm-backports from http://mirror.example/debian,", text)
        self.assertIn("install meson catch2 from bookworm-backports", text)
        self.assertIn("install binutils ninja-build\n", text)

    def test_debian_12_with_deb822_sources(self):
        (self.root / "apt" / "sources.list").unlink()
        file = self.root / "apt" / "sources.list.d" / "debian.sources"
        file.write_text(
            "Types: deb\nURIs: http://mirror.example/sec\nSuites: bookworm-security\nComponents: main\n\n"
            "Types: deb\nURIs: http://mirror.example/d\nSuites: bookworm bookworm-updates\nComponents: main\n"
        )
        self.assertIn("backports from http://mirror.example/d,", self.install("meson"))
        file.write_text(file.read_text().replace("bookworm-updates", "bookworm-backports"))
        text = self.install("meson")
        self.assertNotIn("add bookworm-backports", text)
        self.assertIn("from bookworm-backports", text)

    def test_debian_12_without_a_mirror_says_so(self):
        (self.root / "apt" / "sources.list").unlink()
        code, text = self.run_it("--dry-run", meson="1.0.1")
        self.assertEqual(code, 1)
        self.assertIn("found no mirror", text)

    def test_an_old_catch2_does_not_do(self):
        self.assertIn("install catch2 from bookworm-backports", self.install(catch2="2.13.8"))

    def test_debian_13(self):
        self.system("debian", "13")
        text = self.install("git", "meson", "catch2", "fmt")
        self.assertIn("install git meson libfmt-dev catch2\n", text)
        self.assertNotIn("backports", text)

    def test_ubuntu_gets_meson_with_pipx(self):
        self.system("ubuntu", "24.04")
        text = self.install(catch2="3.4.0", meson="1.3.2")
        self.assertIn("install pipx\n", text)
        self.assertIn("install meson with pipx", text)
        self.assertNotIn("catch2", text)

    def test_a_bare_ubuntu_has_what_is_installed(self):
        self.system("ubuntu", "24.04")
        for name in set(ALL) - {"g++", "boost"}:
            (self.root / "bin" / name).unlink(missing_ok=True)
        text = self.install(*ALL)
        self.assertEqual(set(re.search(r"  install (.*)\n", text)[1].split()), set(NOBLE))
        self.assertIn("install meson with pipx", text)
        tool = TOOL.read_text(encoding="utf-8").replace("$clang_minimum", re.search(r"clang_minimum=(\d+)", TOOL.read_text(encoding="utf-8"))[1])
        least = {package: minimum for minimum, package in re.findall(r"^need '[^']*' (\d[\d.]*) .*\)\" (\S+) \S+ \S+$", tool, re.MULTILINE)}
        self.assertEqual(len(least), 8)
        for package in set(least) - {"meson"}:  # pipx brings it
            here, needed = ([int(part) for part in version.split(".")] for version in (NOBLE[package], least[package]))
            self.assertGreaterEqual(here, needed, package)

    def test_contributors_get_more(self):
        more = "clang-format clangd-16 python3-matplotlib python3-pexpect libopenmpi-dev openmpi-bin"
        more += " python3-sphinx python3-myst-parser python3-jsonschema libjs-remark-slide libjs-lunr bubblewrap similarity-tester cmake python3-clang-16"
        self.assertIn(f"install {more} chromium chromium-driver python3-selenium\n", self.install(options=("--contributor", "--dry-run")))
        self.system("ubuntu", "24.04")  # where Chromium is a snap
        self.assertIn(f"install {more}\n".replace("clangd-16", "clangd"), self.install(options=("--contributor", "--dry-run")))
        self.assertNotIn("clang-format", self.install())
        self.system("fedora", "41")
        self.assertIn("Contributors also need clang-format", self.install(options=("--contributor",)))

    def test_what_is_missing_is_installed(self):
        self.system("debian", "13")
        (self.root / "bin" / "git").unlink(missing_ok=True)
        code, text = self.run_it(without=["git"], apt=f'echo "called: $*" >>{self.root}/calls')
        self.assertEqual(code, 0, text)
        self.assertEqual((self.root / "calls").read_text(),
                         "called: -q -y update\ncalled: -q -y install --no-install-recommends git\n")

    def test_a_failed_installation_fails(self):
        (self.root / "bin" / "git").unlink(missing_ok=True)
        code, text = self.run_it(without=["git"], apt='case "$*" in *install*) echo "E: no such package"; exit 100 ;; esac')
        self.assertEqual(code, 1)
        self.assertLess(text.index("install git"), text.index("E: no such package"))
        self.assertIn("setup.sh: failed: apt install", text)

    def test_no_network(self):
        (self.root / "bin" / "git").unlink(missing_ok=True)
        code, text = self.run_it(without=["git"], apt=f'echo "{NO_NETWORK}"')  # apt-get update ends with 0 then
        self.assertEqual(code, 1)
        self.assertTrue(text.endswith("setup.sh: no server of packages can be reached: is there a network, or a proxy to be set?\n"), text)

    def test_unknown_options_change_nothing(self):
        self.assertEqual(self.run_it("--force")[0], 2)


if __name__ == "__main__":
    unittest.main()
