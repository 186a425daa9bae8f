#!/bin/sh
# Builds all known-wrong answers of a build folder at once, which their tests would do one by one.
#
#   common/tools/build_mistakes.sh BUILD_FOLDER
set -eu
targets=$(ninja -C "$1" -t targets all | sed -n 's/^\([^ :]*-mistakes\): .*/\1/p')
# shellcheck disable=SC2086  # one word for each target
exec ninja -C "$1" $targets
