#!/usr/bin/env bash
# memsweep for 64-bit Arm: cross-compiled, and run under qemu-user as far as that carries.
#
#   scripts/arm_check.sh [build|run]    without a word both
#
# Libraries are unpacked into ~/.cache/memsweep/arm64, and the build is build/arm64. Programs start each other through a
# binfmt_misc of their own namespace, which takes Linux 6.7 and neither root nor a change of this system. qemu emulates the
# processor, and the kernel below it is this one: what is read, imported, reported, fitted and replayed is judged here, and
# what the emulator itself has in /proc, counters and time is not.
#
# Exit codes  0 all that ran passed; 1 something failed; 2 a tool is missing, or wrong usage
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=${XDG_CACHE_HOME:-$HOME/.cache}/memsweep/arm64
export MEMSWEEP_ARM64_ROOT=$root QEMU_LD_PREFIX=$root
libraries=(libfmt-dev libfmt9 libexpected-dev nlohmann-json3-dev libcli11-dev libmd-dev libmd0 libzstd-dev libzstd1 libhwloc-dev
    libhwloc15 libudev1 libre2-dev libre2-9 libxxhash-dev zlib1g-dev zlib1g libdw-dev libdw1 libelf1 liblzma5 libbz2-1.0
    opencl-c-headers catch2 libvalijson-dev libc6 libgcc-s1 libstdc++6)
# Of the unit ring, and of the scenario ring, what neither counts pages nor looks at the machine.
units=(base model measure schedule reporters scenarios trace)
scenarios=(test_traces test_formats test_schemas test_compare test_merge test_names)

build() {
    scripts/debian_root.sh --alone bookworm arm64 "$root" "${libraries[@]}"
    cmake -G Ninja -S . -B build/arm64 --toolchain cmake/arm64.cmake -DCMAKE_BUILD_TYPE=Release \
        -DMEMSWEEP_WARNINGS_ARE_ERRORS=ON -DMEMSWEEP_BUILD_BENCHMARKS=OFF \
        -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
    cmake --build build/arm64 --target memsweep "${units[@]/#/test_}"
}

failed=0
# check NAME COMMAND...: runs it under the emulator, and prints a line.
check() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" >build/arm64/check.log 2>&1 </dev/null || status=$?
    printf '%-7s %4d s  %s\n' "$([[ $status == 0 ]] && echo passed || echo FAILED)" $((SECONDS - began)) "$name"
    if [[ $status != 0 ]]; then
        failed=1
        tail -n 20 build/arm64/check.log | sed 's/^/        /'
    fi
}

run() {
    local memsweep=$PWD/build/arm64/memsweep unit file out=build/arm64/checked
    rm -rf "$out" && mkdir -p "$out"
    check "version" "$memsweep" --version
    for unit in "${units[@]}"; do
        check "unit: $unit" "build/arm64/test_$unit" "[unit]"
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
        check "scenario: $unit" env -C tests/app MEMSWEEP="$memsweep" MEMSWEEP_SOURCE="$PWD" PYTHONDONTWRITEBYTECODE=1 \
            python3 -m unittest "$unit"
    done
    return "$failed"
}

# Starts this script again where the kernel starts Arm's programs by the emulator.
run_with_binfmt() {
    local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    # shellcheck disable=SC2016  # for the inner shell
    unshare --user --map-root-user --mount bash -c '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
            printf %s "$1" >/proc/sys/fs/binfmt_misc/register || exit 2
        exec "$2" emulated' \
        arm_check ":memsweep-aarch64:M::$magic:$mask:$(command -v qemu-aarch64):F" "$PWD/scripts/arm_check.sh"
}

for tool in aarch64-linux-gnu-g++ qemu-aarch64 cmake ninja unshare; do
    if ! command -v "$tool" >/dev/null; then
        echo "arm_check: $tool is missing (scripts/install_deps.sh --all)" >&2
        exit 2
    fi
done
case ${1:-both} in
build) build ;;
run) run_with_binfmt ;;
both)
    build
    run_with_binfmt
    ;;
emulated) run ;;
*)
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
