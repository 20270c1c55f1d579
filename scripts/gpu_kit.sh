#!/usr/bin/env bash
# Packs what a day on a lent GPU needs into one folder that runs from wherever it is copied to: stripped programs, the
# contract tests, the catalog, the libraries they need but glibc, and gpu_check.sh, which runs it all. Needs no GPU.
#
#   scripts/gpu_kit.sh [--out DIR] [--build-dir DIR] [--nvbandwidth SOURCE_DIR] [--limit MIB]
#
#   --out DIR                 the kit (default build/gpu_kit); one that is there is replaced
#   --build-dir DIR           pack what this build has, and build nothing (default: build the release preset)
#   --nvbandwidth SOURCE_DIR  also build NVIDIA's nvbandwidth from this checkout of it, to measure beside it. Needs nvcc
#                             and boost's program_options (headers below $BOOST_ROOT/include where it is set)
#   --limit MIB               refuse a larger kit (default 40)
#
# Exit codes  0 the kit is there; 1 it could not be made; 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
    echo "gpu_kit: $1" >&2
    exit "${2:-1}"
}

out=$root/build/gpu_kit build='' nvbandwidth='' limit_mib=40
while [[ $# -gt 0 ]]; do
    case $1 in
    -h | --help)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    --out | --build-dir | --nvbandwidth | --limit)
        [[ $# -gt 1 ]] || die "$1 needs a value" 2
        case $1 in
        --out) out=$2 ;;
        --build-dir) build=$2 ;;
        --nvbandwidth) nvbandwidth=$2 ;;
        --limit) limit_mib=$2 ;;
        esac
        shift 2
        ;;
    *) die "unknown argument $1; see --help" 2 ;;
    esac
done
[[ $limit_mib =~ ^[1-9][0-9]*$ ]] || die "--limit: $limit_mib is no number of MiB" 2
[[ -z $nvbandwidth || -f $nvbandwidth/nvbandwidth.cpp ]] || die "--nvbandwidth: no nvbandwidth.cpp in $nvbandwidth" 2
if [[ -e $out ]]; then
    [[ ! -e $out/results ]] || die "--out: $out has results in it: move them away first" 2
    if [[ ! -d $out || -n $(ls -A "$out") ]] && [[ ! -f $out/gpu_check.sh || ! -f $out/bin/memsweep ]]; then
        die "--out: $out is there and no kit: it is left alone" 2
    fi
fi
for command in python3 strip ldd objdump; do
    command -v "$command" >/dev/null || die "$command is not installed"
done

if [[ -z $build ]]; then
    build=$root/build/release
    targets=(memsweep test_gpu test_device)
    "$root/scripts/build.sh" release "${targets[@]}"
    # Without the CUDA Toolkit there is no such target, and the kit serves OpenCL alone.
    if grep -q "^build gpu_references[ :]" "$build/build.ninja"; then
        cmake --build "$build" --target gpu_references
    fi
fi
[[ -x $build/memsweep ]] || die "no memsweep in $build: scripts/build.sh builds it"
build=$(cd "$build" && pwd)

mkdir -p "$(dirname "$out")"
out=$(cd "$(dirname "$out")" && pwd)/$(basename "$out")
kit=$(mktemp -d "$out.XXXXXX")
scratch=$(mktemp -d)
trap 'rm -rf "$kit" "$scratch"' EXIT
chmod 755 "$kit"
mkdir -p "$kit"/{bin,lib/fallback,share/memsweep/scenarios,samples}

# The nvml.h and libnvidia-ml.so that nvbandwidth is compiled and linked against: what it calls, no more. On the machine
# with the GPU the driver's own library answers.
make_nvml() {
    cat >"$1/nvml.h" <<'C'
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef struct nvmlDevice_st* nvmlDevice_t;
typedef enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3 } nvmlReturn_t;
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
#define nvmlInit nvmlInit_v2
nvmlReturn_t nvmlInit_v2(void);
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device);
#ifdef __cplusplus
}
#endif
C
    printf 'void %s(void) {}\n' nvmlInit_v2 nvmlErrorString nvmlSystemGetDriverVersion nvmlDeviceGetHandleByUUID \
        nvmlDeviceSetCpuAffinity >"$1/nvml.c"
    # The name that a driver brings, without which a machine that has no development files does not find it.
    gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$1/libnvidia-ml.so" "$1/nvml.c"
}

build_nvbandwidth() {
    local source=$1 work=$scratch/nvbandwidth nvcc toolkit file options include
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    [[ -x $nvcc ]] || die "--nvbandwidth: no nvcc: install the CUDA Toolkit"
    toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
    mkdir -p "$work"
    make_nvml "$work"
    include=(-I "$source" -I "$toolkit/include" -I "$work" ${BOOST_ROOT:+-I "$BOOST_ROOT/include"})
    options=(-O3 -std=c++17 -w "${include[@]}")
    for file in "$source"/*.cpp "$source"/json/jsoncpp.cpp; do
        g++ "${options[@]}" "-DGIT_VERSION=\"$(git -C "$source" describe --always --tags 2>/dev/null || echo unknown)\"" \
            -c "$file" -o "$work/$(basename "$file").o" || die "--nvbandwidth: $file does not compile"
    done
    "$nvcc" "${options[@]}" -arch=all-major -c "$source/kernels.cu" -o "$work/kernels.o" || die "--nvbandwidth: kernels.cu does not compile"
    # Where only the library is installed and not its development files, its own name serves.
    local boost=-lboost_program_options installed
    installed=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '/libboost_program_options/ { found = $NF } END { print found }')
    if [[ ! -e ${BOOST_ROOT:-/nowhere}/lib && -n $installed ]]; then
        boost="-Xlinker $installed"
    fi
    # shellcheck disable=SC2086  # two words where it is a file, which nvcc knows by its ending alone
    "$nvcc" -o "$build/nvbandwidth" "$work"/*.o $boost ${BOOST_ROOT:+-L "$BOOST_ROOT/lib"} -L "$toolkit/lib64/stubs" -L "$work" \
        -lcuda -lnvidia-ml || die "--nvbandwidth: it cannot be linked"
}

left_out=()
if [[ -n $nvbandwidth ]]; then
    build_nvbandwidth "$(cd "$nvbandwidth" && pwd)"
fi
programs=(memsweep test_gpu test_device copy_engine staging_limit pool_loop)
if [[ -n $nvbandwidth ]]; then
    programs+=(nvbandwidth)
else
    left_out+=("nvbandwidth: no source was named with --nvbandwidth")
fi
for program in "${programs[@]}"; do
    if [[ -x $build/$program ]]; then
        strip -o "$kit/bin/$program" "$build/$program"
    else
        left_out+=("$program: the build has none")
    fi
done

# glibc belongs to the machine, and so does the driver. The compiler's libraries are taken only where the machine's own
# are missing or older: what the driver opens in our process may want newer ones than ours.
ldd "$kit"/bin/* 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
    case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | libcuda.so.* | libnvidia-ml.so.*) ;;
    libstdc++.so.* | libgcc_s.so.*) cp -L "$library" "$kit/lib/fallback/" ;;
    *) cp -L "$library" "$kit/lib/" ;;
    esac
done
find "$kit/lib" -type f -exec strip --strip-unneeded {} +

cp -r "$root"/scenarios/{catalog,schema,traces} "$kit/share/memsweep/scenarios/"
cp -r "$root/configs" "$kit/share/memsweep/"
cp "$root"/scripts/gpu_check.sh "$root"/scripts/gpu_figures.awk "$root/LICENSE" "$kit/"
sed 's,"\.\./scenarios/,"../share/memsweep/scenarios/,' "$root/benchmarks/staging_equal.json" >"$kit/samples/staging_equal.json"
cp "$root/benchmarks/pytorch_settings.py" "$kit/samples/"
python3 "$root/tests/gpu/make_snapshot.py" "$kit/samples/pytorch.pickle"

version=$(LD_LIBRARY_PATH=$kit/lib "$kit/bin/memsweep" --version) || die "the packed memsweep does not start"
glibc=$(find "$kit/bin" "$kit/lib" -type f -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -n 1 || true)
{
    printf '%s, packed %s\n\n' "$version" "$(date -u +%Y-%m-%dT%H:%MZ)"
    cat <<TEXT
Everything that a day on a machine with an NVIDIA GPU needs. That machine needs a driver (580 or newer), nvidia-smi, bash
with the usual commands (coreutils, awk, tar) and glibc ${glibc#GLIBC_} or newer; no packages and no network.
Three commands, each of which stops itself after 560 s:

    ./gpu_check.sh a     facts, contract tests, every case of the probe, five rounds beside other programs
    ./gpu_check.sh b     memory of the driver, traces replayed, the catalog's transfers, compute-sanitizer
    ./gpu_check.sh c     both directions and all devices beside nvbandwidth, default options, staging and pools beside loops
                         written by hand, PyTorch's allocator under settings

Results and gpu_summary_a.txt and its like are left in ./results (--out DIR: elsewhere). ./gpu_check.sh --help
lists the rest.
TEXT
    if [[ ${#left_out[@]} -gt 0 ]]; then
        printf '\nNot in this kit:\n'
        printf '    %s\n' "${left_out[@]}"
    fi
} >"$kit/README"

bytes=$(find "$kit" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
if ((bytes > limit_mib << 20)); then
    find "$kit" -type f -printf '%s %P\n' | sort -rn | sed -n '1,5p' >&2
    die "the kit would have $((bytes >> 20)) MiB, more than $limit_mib; its largest files are above"
fi
rm -rf "$out"
mv "$kit" "$out"
printf 'gpu_kit: %s: %d.%d MiB\n\n' "$out" $((bytes >> 20)) $(((bytes & 0xFFFFF) * 10 >> 20))
sed -n '3,$p' "$out/README"
