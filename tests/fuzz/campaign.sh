#!/usr/bin/env bash
# Searches with every parser's fuzz target, one after the other, and prints a table of what was done and found.
#
#   tests/fuzz/campaign.sh [TARGET/PARSER...]     default: every folder of tests/fuzz/corpus; build the preset fuzz first
#
# RUNS     inputs for each parser in all [1000000]
# AT_ONCE  of them in this call [all that are left]
# SEED     of the mutations [1]
#
# Inputs that reach new code, and whatever crashed, leaked, hung for 10 s (loaders 100 s) or took 2 GB, stay below build/fuzz/found, and so does how
# many inputs each parser has had: a call goes on where an earlier one ended or was interrupted (SIGINT). Exits with 1 where
# something was found. A parser of which RUNS inputs have run is passed over.
cd "$(dirname "$0")/../.." || exit 2
export ASAN_OPTIONS="malloc_context_size=2:quarantine_size_mb=16:detect_stack_use_after_return=0"
parsers=("$@")
[[ $# -gt 0 ]] || mapfile -t parsers < <(cd tests/fuzz/corpus && printf '%s\n' */*)
failed=0
printf '%-24s %10s %10s %8s %9s %9s  %s\n' parser inputs in_all seconds slowest_s peak_MiB finding
for corpus in "${parsers[@]}"; do
  target=${corpus%%/*}
  found=build/fuzz/found/$corpus
  mkdir -p "$found"
  so_far=$(cat "$found.inputs" 2> /dev/null || echo 0)
  runs=$((${RUNS:-1000000} - so_far))
  [[ -z ${AT_ONCE:-} || $AT_ONCE -gt $runs ]] || runs=$AT_ONCE
  [[ $runs -gt 0 ]] || continue
  dictionary=()
  [[ ! -e tests/fuzz/$target.dict ]] || dictionary=("-dict=tests/fuzz/$target.dict")
  timeout=10
  [[ $target != loader ]] || timeout=100 # the largest scenarios take 2 s, and 40 s with sanitizers
  MEMSWEEP_FUZZ_PARSER=${corpus##*/} nice -n 19 "build/fuzz/fuzz_$target" -runs="$runs" -seed="$((${SEED:-1} + so_far))" \
    -timeout="$timeout" -rss_limit_mb=2048 -reload=0 -entropic=0 "${dictionary[@]}" -print_final_stats=1 -artifact_prefix="$found.finding-" \
    "$found" "tests/fuzz/corpus/$corpus" > "$found.log" 2>&1 || failed=1
  awk -v name="$corpus" -v so_far="$so_far" -v count="$found.inputs" '
    /^stat::number_of_executed_units/ { inputs = $2 }
    /^stat::slowest_unit_time_sec/ { slowest = $2 }
    /^stat::peak_rss_mb/ { peak = $2 }
    /^Done .* runs in/ { seconds = $5 }
    /^SUMMARY: / { finding = $0 }
    END {
      print so_far + inputs > count
      printf "%-24s %10d %10d %8d %9d %9d  %s\n", name, inputs, so_far + inputs, seconds, slowest, peak, finding ? finding : "none"
    }' "$found.log"
done
exit $failed
