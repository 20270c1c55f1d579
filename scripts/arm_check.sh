#!/usr/bin/env bash
# memsweep for 64-bit Arm: cross-compiled, and run under qemu-user as far as that carries.
#
#   scripts/arm_check.sh [--short] [build | run [CHECKS]]    without a word both; CHECKS: a pattern of their names, as in 'unit: *'
#
#   --short   a third of it: fewer unit tests, and no tests of scenarios
#
# Libraries are unpacked into ~/.cache/memsweep/arm64. The build is build/arm64, where every file is compiled by itself:
# scripts/check.sh --but-of then need not. Programs start each other through a binfmt_misc of their own namespace, which
# takes Linux 6.7 and neither root nor a change of this system. qemu emulates the processor, and the kernel below it is
# this one: what is read, imported, reported, fitted and replayed is judged here, and what the emulator itself has in
# /proc, counters and time is not.
#
# Exit codes  0 all that ran passed; 1 something failed; 2 a tool is missing, or wrong usage; 3 this machine cannot do it: no
#             network for the libraries, or a kernel before Linux 6.7
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=${XDG_CACHE_HOME:-$HOME/.cache}/memsweep/arm64
export MEMSWEEP_ARM64_ROOT=$root QEMU_LD_PREFIX=$root
libraries=(libfmt-dev libfmt9 libexpected-dev nlohmann-json3-dev libcli11-dev libmd-dev libmd0 libzstd-dev libzstd1 libhwloc-dev
    libhwloc15 libudev1 libre2-dev libre2-9 libxxhash-dev zlib1g-dev zlib1g libdw-dev libdw1 libelf1 liblzma5 libbz2-1.0
    opencl-c-headers catch2 libvalijson-dev libc6 libgcc-s1 libstdc++6)
# The unit ring, and of the scenario ring what neither starts a program nor counts pages nor looks at the machine.
units=(base model sys device memory lifetime transfer probe array trace measure schedule scenarios reporters engine)
scenarios=(test_traces test_formats test_schemas test_merge)
# What qemu 7.2 cannot do, of these: file of tests, name, reason.
no_siblings="qemu has no CLONE_PARENT, by which a command is started"
no_vfork="qemu's vfork does not wait for the new program"
left_out=(
    engine "a command is measured by its kernel" "$no_siblings"
    engine "a command's bad end is told with its last words" "$no_siblings"
    engine "a command at its timeout ends with all that it has started" "$no_siblings"
    engine "what a command leaves behind is killed" "$no_siblings"
    engine "what a command prints is hashed, kept or forgotten" "$no_siblings"
    engine "prepare and cleanup surround a command" "$no_siblings"
    engine "a command's working set is sampled over time" "$no_siblings"
    engine "a stop signal ends a command" "$no_siblings"
    engine "programs that run at the same time wait for each other, on a processor each" "$no_siblings"
    engine "of programs that run at the same time none answers for what another leaves or does" "$no_siblings"
    engine "of programs that run at the same time one at its timeout ends alone" "$no_siblings"
    engine "of programs that run at the same time one that cannot be run costs no other" "$no_siblings"
    engine "the loss of one guard or supervisor costs no other program" "$no_siblings"
    trace "a look at a program that begins or ends takes it for none without the recorder" "$no_vfork"
    trace "a look finds a program that was started without the recorder" "$no_vfork"
    trace "a replayed thread ends where the recorded one did" "qemu says that a thread has ended before its task is gone"
    scenarios "the largest legal scenarios stay small" "emulated it takes longer than the 60 s of a processor that it may take"
    test_traces test_processes_are_told_apart "$no_siblings"
    test_traces test_zeroes_without_end_are_no_log "emulated it takes longer than the 60 s that it waits"
)

build() {
    scripts/debian_root.sh --alone bookworm arm64 "$root" "${libraries[@]}" || exit 3
    cmake -G Ninja -S . -B build/arm64 --toolchain cmake/arm64.cmake -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-Og -DNDEBUG" \
        -DMEMSWEEP_UNITY=OFF -DMEMSWEEP_WARNINGS_ARE_ERRORS=ON -DMEMSWEEP_BUILD_BENCHMARKS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
    cmake --build build/arm64 --target memsweep "${units[@]/#/test_}"
}

failed=0
# check NAME COMMAND...: runs it under the emulator, and prints a line.
check() {
    local name=$1 began=$SECONDS status=0
    shift
    # shellcheck disable=SC2053  # a pattern
    [[ $name == $wanted ]] || return 0
    timeout --kill-after=10 900 "$@" >build/arm64/check.log 2>&1 </dev/null || status=$?
    printf '%-7s %4d s  %s\n' "$([[ $status == 0 ]] && echo passed || echo FAILED)" $((SECONDS - began)) "$name"
    if [[ $status != 0 ]]; then
        failed=1
        tail -n 20 build/arm64/check.log | sed 's/^/        /'
    fi
    grep -E '^(All tests|test cases:|Ran [0-9]+ tests|  *skipped: |skipped: )' build/arm64/check.log | sort -u | sed 's/^ */        /' || true
}

# name_left_out TESTS: prints what of them is left out, and puts the names into the array `without`.
name_left_out() {
    local at
    without=()
    for ((at = 0; at < ${#left_out[@]}; at += 3)); do
        if [[ ${left_out[at]} == "$1" ]]; then
            without+=("${left_out[at + 1]}")
            printf 'left out        %s: %s: %s\n' "${left_out[@]:at:3}"
        fi
    done
}

# Runs what is not left out, each of which must be there.
check_unit() {
    local program=build/arm64/test_$1 name names chosen=("[unit]")
    # shellcheck disable=SC2053
    [[ "unit: $1" == $wanted ]] || return 0
    name_left_out "$1"
    names=$("$program" "[unit]" --list-test-names-only || true)  # Catch2 v2 exits with their number
    for name in "${without[@]}"; do
        # shellcheck disable=SC2016  # for the inner shell
        grep -qxF -- "$name" <<<"$names" || check "unit: $1" sh -c 'echo "there is no test of this name: $0"; exit 1' "$name"
        chosen+=("~\"${name//,/\\,}\"")
    done
    check "unit: $1" "$program" "${chosen[@]}"
}

check_scenario() {
    # shellcheck disable=SC2053
    [[ "scenario: $1" == $wanted ]] || return 0
    name_left_out "$1"
    check "scenario: $1" env -C tests/app MEMSWEEP="$memsweep" MEMSWEEP_SOURCE="$PWD" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import sys, unittest

def tests_of(suite):
    return [test for part in suite for test in tests_of(part)] if isinstance(suite, unittest.TestSuite) else [suite]

tests = tests_of(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]))
kept = [test for test in tests if test.id().rpartition(".")[2] not in sys.argv[2:]]
if len(tests) - len(kept) != len(sys.argv[2:]):
    sys.exit(f"there is no such test among {sys.argv[2:]}")
sys.exit(not unittest.TextTestRunner().run(unittest.TestSuite(kept)).wasSuccessful())' "$1" "${without[@]}"
}

run() {
    local memsweep=$PWD/build/arm64/memsweep unit file out=build/arm64/checked
    rm -rf "$out" && mkdir -p "$out"
    check "version" "$memsweep" --version
    for unit in "${units[@]}"; do
        check_unit "$unit"
    done
    check "validate: the catalog" "$memsweep" validate scenarios/catalog/*.json
    check "info" "$memsweep" info scenarios/traces/sqlite.mst
    check "fit" "$memsweep" fit scenarios/traces/sqlite.mst
    check "report" "$memsweep" report results/reference/churn.json
    check "report as a page" "$memsweep" report results/reference/churn.json -f html -o "$out/churn.html"
    for file in tests/trace/logs/*; do
        check "import: ${file##*/}" "$memsweep" import "$file" -o "$out/${file##*/}.mst"
    done
    check "replay on glibc" "$memsweep" replay scenarios/traces/sqlite.mst --on glibc,pool:tls -n 1 --settle 0s --no-latency -o "$out/replay.json"
    check "run" "$memsweep" run scenarios/catalog/alloc_sweep.json --quick -o "$out/run.json"
    for unit in "${scenarios[@]}"; do
        check_scenario "$unit"
    done
    return "$failed"
}

# Starts this script again where the kernel starts Arm's programs by the emulator.
run_with_binfmt() {
    local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    unshare --user --map-root-user --mount true || exit 3
    # shellcheck disable=SC2016  # for the inner shell
    unshare --user --map-root-user --mount bash -c '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
            printf %s "$1" >/proc/sys/fs/binfmt_misc/register || exit 3
        shift
        exec "$@"' \
        arm_check ":memsweep-aarch64:M::$magic:$mask:$(command -v qemu-aarch64):F" \
        "$PWD/scripts/arm_check.sh" ${short[@]+"${short[@]}"} emulated "$wanted"
}

for tool in aarch64-linux-gnu-g++ qemu-aarch64 cmake ninja unshare; do
    if ! command -v "$tool" >/dev/null; then
        echo "arm_check: $tool is missing (scripts/install_deps.sh --all)" >&2
        exit 2
    fi
done
short=()
if [[ ${1:-} == --short ]]; then
    units=(base model memory array trace) scenarios=() short=(--short)
    shift
fi
wanted=${2:-*}
case ${1:-both} in
build) build ;;
run) run_with_binfmt ;;
both)
    build
    run_with_binfmt
    ;;
emulated) run ;;
*)
    sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
