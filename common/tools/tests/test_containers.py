"""The containers of Codespaces: the command that their descriptions name is README.md's, and runs in a clean clone.

    COURSE_TEST_BUILD=build test_containers.py      runs it, in a checkout with the folder build

The gate has made that folder with README.md's first command: little is built a second time. Its tests of the tools and of the CPU
device, which a container does not have, are left out meanwhile; Meson removes their programs, and the next build makes them again.
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from tools.lib.checkout import TOP

READS = (".devcontainer", "chapters", "common/subprojects", "common/tools/lib", "common/tools/setup.sh", "exercises", "meson.*", "solutions")

SETUP, MAKE = "common/tools/setup.sh", "meson setup build"  # README.md's first command begins with them


def containers():
    """The descriptions of the containers: what each devcontainer.json says."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(TOP.glob(".devcontainer/**/devcontainer.json"))]


class Containers(unittest.TestCase):
    def test_what_they_run_is_there(self):
        self.assertEqual(len(containers()), 2)
        for container in containers():
            first = container["postCreateCommand"].split(" && ")
            self.assertEqual(first, [SETUP, MAKE, "meson compile -C build"])
            self.assertTrue(os.access(TOP / first[0], os.X_OK))
            # test_setup.py has the packages of this system.
            self.assertRegex(container["image"], r"(^|[:-])ubuntu-?24\.04$")


@unittest.skipUnless(os.environ.get("COURSE_TEST_BUILD"), "COURSE_TEST_BUILD names no build folder")
class OnABuild(unittest.TestCase):
    def setUp(self):
        self.assertEqual(Path(os.environ["COURSE_TEST_BUILD"]).resolve(), TOP / "build", "the command names the folder build")
        self.configure("-Dself_tests=false", os.environ)
        unseen = {name: value for name, value in os.environ.items() if name != "COURSE_OPENED"}  # what this opens is not the command's
        self.addCleanup(self.configure, "-Dself_tests=true", unseen)

    def configure(self, option, environment):
        done = subprocess.run(["meson", "setup", "--reconfigure", "build", option], cwd=TOP, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_command_of_the_containers(self):
        for command in {container["postCreateCommand"] for container in containers()}:
            done = subprocess.run(["sh", "-ec", command], cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
