#!/usr/bin/env bash
# Everything that only a machine with a GPU can tell: builds with nvcc, runs all tests, runs lessons
# and solutions under compute-sanitizer, and each ladder three times, whose results it writes.
#
#   common/tools/measure/gpu_check.sh OUTPUT_FOLDER [meson setup options]
#
# OUTPUT_FOLDER gets build.log, tests.log, a log of each sanitizer, NN-topic.json of each ladder, and
# summary.md, one table of all. Exit code 0 only if all passed and each sanitizer really looked: one that
# is missing, refuses the device or overlooks a planted error is not "clean".
set -uo pipefail

if [ $# -lt 1 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
shift
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$top/build-gpu-check
tools=$top/common/tools
sanitizers='memcheck racecheck initcheck synccheck'
rm -f "$out"/{build,tests,memcheck,racecheck,initcheck,synccheck}.log "$out"/testlog-*.json \
  "$out"/[0-9][0-9]-*.json "$out"/{steps.txt,summary.md}

step() {  # OK|BAD TEXT
  echo "$SECONDS s: $*"
  echo "$*" >>"$out/steps.txt"
}

if ! command -v nvcc >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
  step BAD 'not available: needs nvcc on PATH and a GPU'
  exit 1
fi
step OK "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p')"

again=()
[ ! -e "$build/build.ninja" ] || again=(--reconfigure)
if {
  meson setup "${again[@]}" "$build" "$top" -Ddevice=cuda -Dself_tests=true "$@" && meson compile -C "$build" &&
    meson compile -C "$build" mistakes
} >"$out/build.log" 2>&1 </dev/null; then
  step OK "built in $SECONDS s"
else
  tail -n 20 "$out/build.log"
  step BAD 'the build failed: see build.log'
  exit 1
fi

meson test -C "$build" --setup all --print-errorlogs >"$out/tests.log" 2>&1 </dev/null
cp "$build/meson-logs/testlog-all.json" "$out"
echo "$SECONDS s: tests ran"

# Side by side: each takes minutes, most of them on cores of the CPU.
for tool in $sanitizers; do
  meson test -C "$build" --no-rebuild --setup $tool --suite lessons --suite solutions --suite probe \
    --num-processes 4 >/dev/null 2>&1 </dev/null &
done
wait
for tool in $sanitizers; do
  cp "$build/meson-logs/testlog-$tool.json" "$out"
  cat "$build/meson-logs/$tool"/*.log >"$out/$tool.log"
done
echo "$SECONDS s: sanitizers ran"

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
    0) step OK "$chapter: PyTorch, $(wc -l <"$build/torch.log") rows" ;;
    77) step OK "$chapter: PyTorch is not available: $(tail -n 1 "$build/torch.log")" ;;
    *) step BAD "$chapter: PyTorch's rows failed: see tests.log" ;;
  esac
}

# mpi_rows CHAPTER RUN.json ...: adds the times of its program with MPI, where that is installed.
mpi_rows() {
  local chapter=$1 code
  shift
  "$top/chapters/$chapter/mpi_rows.py" "$build/chapters/$chapter/sum_mpi" "${@/#/--json=}" \
    >"$build/mpi.log" 2>&1 </dev/null
  code=$?
  cat "$build/mpi.log" >>"$out/tests.log"
  case $code in
    0) step OK "$chapter: MPI, $(wc -l <"$build/mpi.log") rows" ;;
    77) step OK "$chapter: $(tail -n 1 "$build/mpi.log")" ;;
    *) step BAD "$chapter: the rows of MPI failed: see tests.log" ;;
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
  if [ ${#runs[@]} = 3 ] && [ -e "$top/chapters/$chapter/mpi_rows.py" ]; then mpi_rows "$chapter" "${runs[@]}"; fi
  [ ${#runs[@]} != 3 ] || "$tools/measure/merge_runs.py" "$out/$chapter.json" "${runs[@]}" >>"$out/tests.log" 2>&1
done
echo "$SECONDS s: ladders ran"

"$tools/measure/gpu_summary.py" "$out"
code=$?
echo "Logs and results: $out"
exit $code
