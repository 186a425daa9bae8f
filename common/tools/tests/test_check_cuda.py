"""The action for repositories on GitHub, and the file that projects on GitLab include: what they run, in another repository.

With COURSE_TEST_BUILD, the folder `build` at the top of this copy of the course, their steps are run in order; the course that
GitLab's script clones is this one.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.tests import system_python

READS = (".github/actions/check-cuda", "chapters/*/chapter.toml", "common/docs/any-cuda-file.md", "common/simt/tests/programs/right/vector_add.cu", "common/tools", "course", "meson.*")

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = yaml = None

system_python.again_if_missing(yaml)

FOLDER = TOP / ".github" / "actions" / "check-cuda"
RACE = """\
#include "sizes.h"

__global__ void add(int* sum) { *sum += kStep; }

int main() {
  int* sum;
  cudaMallocManaged(&sum, sizeof(int));
  *sum = 0;
  add<<<2, 1>>>(sum);
  cudaDeviceSynchronize();
  cudaFree(sum);
}
"""
RIGHT = RACE.replace("*sum += kStep", "atomicAdd(sum, kStep)")
REFUSED = '#include <nvrtc.h>\nint main() {}\n'
PART = "__global__ void nothing() {}\n"


def action():
    return yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))


def gitlab():
    return yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text(encoding="utf-8"))["check-cuda"]


class Texts(unittest.TestCase):
    def test_the_action_is_one_of_github(self):
        steps = action()["runs"]["steps"]
        self.assertEqual(action()["runs"]["using"], "composite")
        for step in steps:
            self.assertEqual("uses" in step, "run" not in step, step)
            self.assertIn("shell", step if "run" in step else {"shell": ""}, "a composite action names the shell of each step")
            self.assertNotIn("checkout", step.get("uses", ""), "it checks out nothing")
            self.assertNotIn("${{ inputs", step.get("run", ""), "an input in a script could be one")

    def test_what_the_page_shows_is_there(self):
        page = (TOP / "common" / "docs" / "any-cuda-file.md").read_text(encoding="utf-8")
        for path in re.findall(rf"{repository.NAME}/(?:main/)?(\.github/actions/[\w./-]+)", page):
            self.assertTrue((TOP / path).exists(), path)
        self.assertIn(f"uses: {repository.owner(TOP)}/{repository.NAME}/.github/actions/check-cuda@", page)
        self.assertIn(f"{repository.owner(TOP)}/{repository.NAME}/main/.github/actions/check-cuda/gitlab-ci.yml", page)


class InAnotherRepository(unittest.TestCase):
    """Its folder holds a race, a program without, one that is refused, and a file without a main()."""

    def setUp(self):
        build = os.environ.get("COURSE_TEST_BUILD")
        if not build:
            self.skipTest("COURSE_TEST_BUILD is not set")
        self.assertEqual(Path(build).resolve(), TOP / "build", "the action's build folder")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.project = self.folder / "project"
        for path, text in (("src/race.cu", RACE), ("src/right.cu", RIGHT), ("src/fft.cu", REFUSED), ("src/part.cu", PART),
                           ("include files/sizes.h", "constexpr int kStep = 1;\n"), ("include/sizes.h", "constexpr int kStep = 1;\n")):  # fmt: skip
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        subprocess.run(["git", "init", "-q", self.project], check=True)

    def run_in_project(self, script, environment):
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.project, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})

    def run_action(self, **inputs):
        """The action's own steps, as the runner takes them: (exit code, output, outputs)."""
        outputs = {}
        values = {f"inputs.{name}": one["default"] for name, one in action()["inputs"].items()} | {f"inputs.{k}": v for k, v in inputs.items()}
        said = ""
        for step in action()["runs"]["steps"]:
            if "run" not in step:
                continue
            file = self.folder / "output"
            file.write_text("")
            environment = {name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], value)
                           for name, value in step.get("env", {}).items()}
            done = self.run_in_project(step["run"], {
                **environment, "GITHUB_ACTION_PATH": str(FOLDER), "GITHUB_OUTPUT": str(file), "RUNNER_TEMP": str(self.folder),
            })  # fmt: skip
            said += done.stdout
            outputs |= dict(line.split("=", 1) for line in file.read_text().splitlines())
            if done.returncode:
                return done.returncode, said, outputs
        return 0, said, outputs

    def test_a_race_is_an_annotation_and_a_result(self):
        code, said, outputs = self.run_action(files="  src/r*.cu \nsrc/fft.cu\n", options="-I 'include files' -I include")
        self.assertEqual(code, 66, said)
        self.assertRegex(outputs["key"], r"^[0-9a-f]{16}$")
        self.assertEqual(outputs["build"], str(TOP / "build"), "actions/cache takes no path with ..")
        self.assertRegex(said, r"::error file=src/race\.cu,line=3,title=DATA RACE in kernel add on sum.*::")
        self.assertRegex(said, r"::warning file=src/fft\.cu,line=1,")
        sarif = json.loads(Path(outputs["sarif-file"]).read_text())
        schema = json.loads((TOP / "common" / "tools" / "tests" / "sarif-2.1.0.json").read_text())
        jsonschema.validate(sarif, schema)
        results = [one for one in sarif["runs"][0]["results"] if one["level"] == "error"]
        self.assertEqual([one["ruleId"] for one in results], ["data_race"])
        location = results[0]["locations"][0]["physicalLocation"]
        self.assertEqual((location["artifactLocation"]["uri"], location["region"]["startLine"]), ("src/race.cu", 3))

    def test_without_a_finding_the_step_passes(self):
        (self.project / "src" / "race.cu").unlink()
        code, said, outputs = self.run_action(options='-I "include files"')
        self.assertEqual(code, 0, said)
        self.assertTrue(Path(outputs["sarif-file"]).exists())

    def test_gitlab_s_script_in_a_fresh_clone(self):
        if os.geteuid() != 0:
            self.skipTest("the job's user is root, who may install")
        job = gitlab()
        clone = next(line for line in job["script"] if line.startswith("git clone"))
        self.assertIn(repository.address(TOP), clone)
        target = Path(clone.split()[-1])
        self.assertFalse(target.exists(), f"{target} is in the way")
        self.addCleanup(shutil.rmtree, target, ignore_errors=True)
        config = self.folder / "gitconfig"
        subprocess.run(["git", "config", "--file", config, f"url.file://{TOP}.insteadOf", repository.address(TOP)], check=True)
        subprocess.run(["git", "config", "--file", config, "safe.directory", "*"], check=True)
        variables = {**job["variables"], "CHECK_CUDA_OPTIONS": "-I include", "GIT_CONFIG_GLOBAL": str(config)}
        done = self.run_in_project("\n".join(job["script"]), variables)
        self.assertEqual(done.returncode, 66, done.stdout)
        issues = json.loads((self.project / job["artifacts"]["reports"]["codequality"]).read_text())
        self.assertEqual([(one["check_name"], one["location"]) for one in issues],
                         [("data_race", {"path": "src/race.cu", "lines": {"begin": 3}})])  # fmt: skip
        self.assertTrue(issues[0]["description"].startswith("DATA RACE in kernel add on sum"), issues)


if __name__ == "__main__":
    unittest.main()
