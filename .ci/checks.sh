# What .ci/run and .ci/sanitizers share: each check is one line, and the last line counts them. $log is a file for what a
# command says.
# shellcheck shell=bash disable=SC2154  # $log
passed=0 failed=0 skipped=0

# limited COMMAND...: runs a command for at most $minutes, 20 unless set. What still runs then is shown and killed: a command
# that hangs is one failed check, not the end of all.
limited() {
  local command watch code most=${minutes:-20}
  set -m # each of the two in a process group of its own, which can be killed whole
  "$@" &
  command=$!
  {
    sleep $((60 * most))
    echo "still running after $most minutes:" && ps -eo pid,etimes,stat,args --forest
    kill -KILL -- "-$command"
  } &
  watch=$!
  disown "$watch"
  set +m
  wait "$command"
  code=$?
  kill -- "-$watch" 2>/dev/null
  return $code
}

# check NAME COMMAND...: counts a command as one check; 77 is a skip. Shows the log of a failure.
check() {
  local name=$1 seconds=$SECONDS code
  shift
  limited "$@" >"$log" 2>&1
  code=$?
  seconds=$((SECONDS - seconds))
  case $code in
    0) passed=$((passed + 1)) && echo "ok    $name (${seconds} s)" ;;
    77) skipped=$((skipped + 1)) && echo "skip  $name: $(tail -n 1 "$log")" ;;
    *) failed=$((failed + 1)) && echo "FAIL  $name (exit code $code)" && tail -n 60 "$log" | sed 's/^/      /' ;;
  esac
  return $code
}

# run_tests BUILD WHAT COMMAND...: runs `meson test` and counts its tests as Meson's log has them.
run_tests() {
  local build=$1 what=$2 seconds=$SECONDS code ok bad skip
  shift 2
  rm -f "$build"/meson-logs/testlog*.json
  limited "$@" >"$log" 2>&1
  code=$?
  read -r ok bad skip < <(python3 - "$build/meson-logs" <<'END'
import collections, json, pathlib, sys
logs = pathlib.Path(sys.argv[1]).glob("testlog*.json")
results = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
count = collections.Counter(result["result"] for result in results)
print(count["OK"], len(results) - count["OK"] - count["SKIP"], count["SKIP"])
for result in results:
    if result["result"] not in ("OK", "SKIP"):
        output = (result.get("stdout") or "") + (result.get("stderr") or "")
        lines = [f"FAIL  {result['name']}: {result['result']}", *output.splitlines()[-40:]]
        print("\n      ".join(lines), file=sys.stderr)
END
  )
  if [ $((ok + bad + skip)) = 0 ] || { [ $code != 0 ] && [ "$bad" = 0 ]; }; then
    bad=$((bad + 1)) && echo "FAIL  $what (exit code $code)" && tail -n 30 "$log"
  fi
  echo "      $what: $ok passed, $bad failed, $skip skipped ($((SECONDS - seconds)) s)"
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

finish() {
  echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ] && [ $passed -gt 0 ]
  exit
}
