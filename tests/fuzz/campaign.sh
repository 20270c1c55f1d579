#!/usr/bin/env bash
# Searches with every parser's fuzz target, one after the other, and prints a table of what was done and found.
#
#   tests/fuzz/campaign.sh [TARGET/PARSER...]     default: every folder of tests/fuzz/corpus; build the preset fuzz first
#
# RUNS   inputs for each parser [1000000]
# SEED   of the mutations [1]
#
# Inputs that reach new code, and whatever crashed, leaked, hung for 10 s or took 2 GB, stay below build/fuzz/found. Exits with 1
# where something did.
cd "$(dirname "$0")/../.." || exit 2
export ASAN_OPTIONS="malloc_context_size=2:quarantine_size_mb=16:detect_stack_use_after_return=0"
parsers=("$@")
[[ $# -gt 0 ]] || mapfile -t parsers < <(cd tests/fuzz/corpus && printf '%s\n' */*)
failed=0
printf '%-24s %10s %8s %9s %9s  %s\n' parser inputs seconds slowest_s peak_MiB finding
for corpus in "${parsers[@]}"; do
  target=${corpus%%/*}
  found=build/fuzz/found/$corpus
  mkdir -p "$found"
  dictionary=()
  [[ ! -e tests/fuzz/$target.dict ]] || dictionary=("-dict=tests/fuzz/$target.dict")
  MEMSWEEP_FUZZ_PARSER=${corpus##*/} nice -n 19 "build/fuzz/fuzz_$target" -runs="${RUNS:-1000000}" -seed="${SEED:-1}" -timeout=10 \
    -rss_limit_mb=2048 -entropic=0 "${dictionary[@]}" -print_final_stats=1 -artifact_prefix="$found.finding-" \
    "$found" "tests/fuzz/corpus/$corpus" > "$found.log" 2>&1 || failed=1
  awk -v name="$corpus" '
    /^stat::number_of_executed_units/ { inputs = $2 }
    /^stat::slowest_unit_time_sec/ { slowest = $2 }
    /^stat::peak_rss_mb/ { peak = $2 }
    /^Done .* runs in/ { seconds = $5 }
    /^SUMMARY: / { finding = $0 }
    END { printf "%-24s %10d %8d %9d %9d  %s\n", name, inputs, seconds, slowest, peak, finding ? finding : "none" }' "$found.log"
done
exit $failed
