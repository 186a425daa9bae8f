#!/usr/bin/env bash
# Everything that only a machine with a GPU can tell: builds with nvcc, runs all tests, runs lessons
# and solutions under compute-sanitizer, and each ladder three times, whose results it writes.
#
#   common/tools/gpu_check.sh OUTPUT_FOLDER [meson setup options]
#
# OUTPUT_FOLDER gets build.log, tests.log, a log of each sanitizer, NN-topic.json of each ladder, and
# summary.txt. Exit code 0 only if all passed and each sanitizer really looked: one that is missing,
# refuses the device or overlooks a planted error is "not available", which is not "clean".
set -uo pipefail

if [ $# -lt 1 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
shift
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$top/build-gpu-check
tools=$top/common/tools
rm -f "$out"/{build,tests,memcheck,racecheck,initcheck,synccheck}.log "$out"/[0-9][0-9]-*.json "$out"/summary.txt

failed=no
row() {  # NAME OK|BAD TEXT
  [ "$2" = OK ] || failed=yes
  printf '%-28s %-4s %s\n' "$1" "$2" "$3" | tee -a "$out/summary.txt"
}
finish() {
  echo "Logs and results: $out"
  [ $failed = no ] && exit 0
  exit 1
}

if ! command -v nvcc >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
  row device BAD 'not available: needs nvcc on PATH and a GPU'
  finish
fi
row device OK "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p')"

again=()
[ ! -e "$build/build.ninja" ] || again=(--reconfigure)
if {
  meson setup "${again[@]}" "$build" "$top" -Ddevice=cuda -Dself_tests=true "$@" && meson compile -C "$build" &&
    "$tools/build_mistakes.sh" "$build" &&
    nvcc -arch=native -g -lineinfo -o "$build/sanitizer_probe" "$tools/sanitizer_probe.cu"
} >"$out/build.log" 2>&1 </dev/null; then
  row build OK "$SECONDS s"
else
  row build BAD 'see build.log'
  tail -n 20 "$out/build.log"
  finish
fi

meson test -C "$build" --setup all --print-errorlogs >"$out/tests.log" 2>&1 </dev/null
code=$?
count() { sed -n "s/^$1: *\([0-9]*\).*/\1/p" "$out/tests.log" | tail -n 1; }
passed=$(count Ok)
# Meson leaves out the lines of what did not happen.
text="${passed:-0} passed" failures=$(count Fail) skips=$(count Skipped) timeouts=$(count Timeout)
text="$text, ${failures:-0} failed, ${skips:-0} skipped, ${timeouts:-0} out of time"
if [ $code = 0 ] && [ "${passed:-0}" -gt 0 ]; then row tests OK "$text"; else row tests BAD "$text"; fi

# Side by side: each takes minutes, most of them on a core of its own.
sanitizers='memcheck racecheck initcheck synccheck'
for tool in $sanitizers; do
  "$tools/sanitize.py" $tool "$build" "$out/$tool.log" "$build/sanitizer_probe" >"$build/$tool.verdict" 2>&1 &
  declare "pid_$tool=$!"
done
for tool in $sanitizers; do
  pid=pid_$tool
  if wait "${!pid}"; then row $tool OK "$(<"$build/$tool.verdict")"; else row $tool BAD "$(<"$build/$tool.verdict")"; fi
done

# torch_rows CHAPTER RUN.json ...: adds PyTorch's times on the arrays of the ladder, where it is installed.
torch_rows() {
  local chapter=$1 inputs=$build/$1-inputs code
  shift
  {
    "$build/chapters/$chapter/ladder" --inputs "$inputs" >/dev/null
    python3 "$top/chapters/$chapter/torch_rows.py" --inputs "$inputs" "${@/#/--json=}"
  } >"$build/torch.log" 2>&1 </dev/null
  code=$?
  cat "$build/torch.log" >>"$out/tests.log"
  rm -rf "$inputs"
  case $code in
    0) row "torch $chapter" OK "$(wc -l <"$build/torch.log") rows" ;;
    77) row "torch $chapter" OK "not available: $(tail -n 1 "$build/torch.log")" ;;
    *) row "torch $chapter" BAD 'see tests.log' ;;
  esac
}

for ladder in "$build"/chapters/*/ladder; do
  chapter=$(basename "$(dirname "$ladder")")
  runs=()
  for run in 1 2 3; do  # what differs between them is noise
    "$ladder" --json "$build/$chapter-$run.json" >>"$out/tests.log" 2>&1 </dev/null || break
    runs+=("$build/$chapter-$run.json")
  done
  if [ ${#runs[@]} = 3 ] && [ -e "$top/chapters/$chapter/torch_rows.py" ]; then torch_rows "$chapter" "${runs[@]}"; fi
  if [ ${#runs[@]} = 3 ] && "$tools/merge_runs.py" "$out/$chapter.json" "${runs[@]}" >>"$out/tests.log" 2>&1; then
    row "ladder $chapter" OK "$chapter.json, three runs"
  else
    row "ladder $chapter" BAD 'see tests.log'
  fi
done
finish
