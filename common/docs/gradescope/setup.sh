#!/usr/bin/env bash
# Gradescope runs this once, when it makes the autograder's image: it brings the course, and builds what all checks share.
# What to change: settings. The page: gradescope.md in common/docs.
set -euo pipefail
here=/autograder/source
. "$here/settings"
apt-get update
apt-get install -y git bubblewrap
git clone --depth 1 --branch "$COURSE_REF" "$COURSE_REPOSITORY" "$here/course"
"$here/course/common/tools/setup.sh" --contributor
# Answers run as another user: the course with its solutions is root's alone. The copy that compilers read has a group of its own.
chmod -R go-rwx "$here"
# The solutions as a submission: all that a grading needs is there afterwards, and the image is known to judge them right.
"$here/course/common/tools/teach/platforms.py" gradescope --submission "$here/course/solutions" --grades /autograder/grades \
  --output /tmp/results.json $OPTIONS
python3 - <<'END'
import json
import sys

tests = json.load(open("/tmp/results.json"))["tests"]
failed = [f"{test['name']}: {test['output']}" for test in tests if test["status"] != "passed"]
sys.exit("\n".join(["A solution does not pass in this image:", *failed]) if failed or not tests else 0)
END
