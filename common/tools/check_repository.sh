#!/bin/sh
# Checks the CUDA files of another repository, as a service for continuous integration does: installs what the
# machine lacks, builds the CPU device where that has not been done, and runs the files from the current folder.
#
#   common/tools/check_repository.sh [OPTION ...] FILE|FOLDER|PATTERN ...
#
# What follows is for `./course run --each`, whose exit code is this one's. COURSE_BUILD=FOLDER names the build folder, which is
# worth keeping from one job to the next; by default it is build in this copy of the course.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${COURSE_BUILD:-$top/build}
"$top/common/tools/setup.sh" >&2
[ -e "$build/build.ninja" ] || meson setup "$build" "$top" -Ddevice=cpu -Dchapters=00-start-here >&2
exec "$top/course" run --build "$build" --each "$@"
