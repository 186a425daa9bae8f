#!/usr/bin/env bash
# Gradescope runs this once, when it makes the autograder's image: it brings the course, and builds what all checks share.
# What to change: settings. The page: gradescope.md in common/docs.
set -euo pipefail
here=/autograder/source
. "$here/settings"
apt-get update
apt-get install -y git bubblewrap
git clone --depth 1 --branch "$COURSE_REF" "$COURSE_REPOSITORY" "$here/course"
"$here/course/common/tools/setup.sh"
# The starters as a submission: it has no points, and all that a grading needs is there afterwards.
"$here/course/common/tools/teach/platforms.py" gradescope --submission "$here/course" --grades /autograder/grades \
  --output /tmp/results.json $OPTIONS
# Answers run as another user: the course with its solutions is root's alone. The copy that compilers read has a group of its own.
chmod -R go-rwx "$here"
