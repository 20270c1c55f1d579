#!/usr/bin/env bash
# Installs what memsweep needs, on Debian and Ubuntu, through apt. Where everything is there already it says so and
# touches neither the network nor sudo.
#
#   scripts/install_deps.sh             what building and testing need
#   scripts/install_deps.sh --check     also what scripts/check.sh and the fuzz preset need
#   scripts/install_deps.sh --all       also everything optional
#   scripts/install_deps.sh --missing   with any of the above: only name what is missing; exit 1 when there is something
#
# Exit codes  0 everything is there; 1 apt failed, or --missing found something; 2 wrong usage, or a system where
#             nothing can be installed (not Debian, or neither root nor sudo): then it names what is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# package | group | what proves it is there, on a system without dpkg: a command, a <header>, import:MODULE, a /file or guest:kernel | who needs it
#   build     building and testing: without one of these nothing works, but for musl-tools
#   check     scripts/check.sh, the fuzz preset
#   optional  what some tests or targets use when it is there
package_table() {
    cat <<'TABLE'
g++                 build     g++                       the compiler, GCC 12 or newer; brings the sanitizers' runtimes
cmake               build     cmake                     the build: 3.25 or newer
ninja-build         build     ninja                     the generator of every preset
ccache              build     ccache                    makes rebuilding after a switch of branches fast
git                 build     git                       the commit that a result records
python3             build     python3                   manual pages, scripts/check_layers.py, scripts/test.sh
libfmt-dev          build     <fmt/core.h>              formatting
libexpected-dev     build     <tl/expected.hpp>         values or errors
nlohmann-json3-dev  build     <nlohmann/json.hpp>       scenario files, results
libcli11-dev        build     <CLI/CLI.hpp>             the command line
libmd-dev           build     <sha2.h>                  SHA-256 of scenario files
libzstd-dev         build     <zstd.h>                  traces
libhwloc-dev        build     <hwloc.h>                 processors, caches and NUMA nodes
libre2-dev          build     <re2/re2.h>               regular expressions of --filter
libxxhash-dev       build     <xxhash.h>                checksums of what programs print
zlib1g-dev          build     <zlib.h>                  traces: logs compressed by gzip
libdw-dev           build     <elfutils/libdwfl.h>      functions and lines of call stacks; opened at run time
musl-tools          build     musl-gcc                  memsweep-launch: starts programs in less time than one of glibc's can
opencl-headers      build     <CL/cl.h>                 devices behind OpenCL, whose loader is opened at run time
hipcc               optional  hipcc                     AMD's devices (HIP): compiled, never run
catch2              build     <tests/support/catch.hpp> tests
libvalijson-dev     build     <valijson/schema.hpp>     tests of the JSON Schemas
libbenchmark-dev    build     <benchmark/benchmark.h>   memsweep_bench
clang-format-16     check     clang-format-16           scripts/check.sh
clang-tidy-16       check     clang-tidy-16             scripts/check.sh
shellcheck          check     shellcheck                scripts/check.sh
clang-16            check     clang++-16                the presets asan, tsan and fuzz
libclang-rt-16-dev  check     clang++-16                the sanitizers and libFuzzer
llvm-16             check     llvm-symbolizer-16        the sanitizers: names in their stacks
golang-go           optional  go                        scenario tests: pprof, read by go tool pprof
libdevel-nytprof-perl optional /usr/share/perl5/Devel/NYTProf/flamegraph.pl scenario tests: collapsed, drawn by flamegraph.pl
python3-protobuf    optional  import:google.protobuf    scenario tests: pprof, read by another decoder
python3-jsonschema  optional  import:jsonschema         scenario tests: results against their schema
libbenchmark-tools  optional  compare.py                scenario tests: gbench, read by compare.py
python3-scipy       optional  import:scipy              scenario tests: the U test of compare.py
python3-numpy       optional  import:numpy              scenario tests: call stacks of extensions
python3-greenlet    optional  import:greenlet           scenario tests: call stacks where Python switches stacks
prometheus          optional  promtool                  scenario tests: prom, read by promtool
python3-prometheus-client optional import:prometheus_client scenario tests: openmetrics, read by its parser
libxml2-utils       optional  xmllint                   scenario tests: junit, read by xmllint
chromium            optional  chromium                  scenario tests: html, in a browser
nodejs              optional  node                      scenario tests: html, drives the browser
npm                 optional  npm                       scenario tests: html, installs what tests/browser/package-lock.json pins
debootstrap         optional  debootstrap               scenario tests: the package, installed on a Debian that has nothing else
dpkg-dev            optional  dpkg-shlibdeps            cpack -G DEB: finds the package's library dependencies
file                optional  file                      cpack -G DEB: tells binaries from other files
lintian             optional  lintian                   scenario tests: the package keeps Debian's rules
man-db              optional  man                       scenario tests: manual pages render without a warning
hwloc               optional  lstopo-no-graphics        scenario tests: what probe topology says, beside lstopo
pocl-opencl-icd     optional  /etc/OpenCL/vendors/pocl.icd device tests: processors as OpenCL devices
libjemalloc2        optional  /usr/lib/*/libjemalloc.so.2 scenario tests, benchmarks: cases under jemalloc
libmimalloc2.0      optional  /usr/lib/*/libmimalloc.so.2.0 scenario tests, benchmarks: cases under mimalloc
libtcmalloc-minimal4 optional /usr/lib/*/libtcmalloc_minimal.so.4 scenario tests, benchmarks: cases under tcmalloc
sqlite3             optional  sqlite3                   scenario tests, benchmarks: the task of docs/tasks.md on advice
redis-server        optional  redis-server              benchmarks: a program linked with its allocator
mono-mcs            optional  mcs                       scenario tests: leaks of a program whose finalizers run late
valgrind            optional  valgrind                  unit tests: instructions of the hot paths
qemu-system-x86     optional  qemu-system-x86_64        guest tests: machines with several NUMA nodes
qemu-user           optional  qemu-aarch64              scenario tests: what is compiled for Arm
g++-aarch64-linux-gnu optional aarch64-linux-gnu-g++    scenario tests: what is compiled for Arm
busybox-static      optional  busybox                   guest tests: the guest's tools
linux-image-cloud-amd64 optional guest:kernel           guest tests: the guest's kernel, only unpacked into ~/.cache/memsweep
openmpi-bin         optional  mpirun                    fleet tests: memsweep-mpi on several hosts
libopenmpi-dev      optional  mpicc                     memsweep-mpi
iproute2            optional  ip                        fleet tests: hosts that are network namespaces
slurmctld           optional  /usr/sbin/slurmctld       fleet tests: a Slurm of three nodes
slurmd              optional  /usr/sbin/slurmd          fleet tests: a Slurm of three nodes
slurm-client        optional  srun                      fleet tests: a Slurm of three nodes
munge               optional  /usr/sbin/munged          fleet tests: a Slurm of three nodes
mandoc              optional  mandoc                    scenario tests: manual pages are free of mistakes
zsh                 optional  zsh                       scenario tests: its completions load
fish                optional  fish                      scenario tests: its completions are asked
TABLE
}

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

say() {
    printf 'install_deps: %s\n' "$*"
}

groups=(build)
only_name=false
for argument in "$@"; do
    case "$argument" in
    --check) groups+=(check) ;;
    --all) groups+=(check optional) ;;
    --missing) only_name=true ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        say "unknown argument '$argument'" >&2
        usage >&2
        exit 2
        ;;
    esac
done

in_debian() {
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null
}

# Elsewhere: is the command on the PATH, does the compiler find the header, or Python the module?
is_found() {
    local proof=$1
    if [[ $proof == \<* ]]; then
        g++ -I "$root" -x c++ -E - <<<"#include $proof" >/dev/null 2>&1
    elif [[ $proof == import:* ]]; then
        python3 -c "import ${proof#import:}" 2>/dev/null
    elif [[ $proof == /* ]]; then
        compgen -G "$proof" >/dev/null
    else
        command -v "$proof" >/dev/null
    fi
}

is_there() {
    local package=$1 proof=$2
    if [[ $proof == guest:kernel ]]; then
        python3 "$root/tests/guest/guest_machine.py" --has-kernel 2>/dev/null
        return
    fi
    if in_debian && [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]]; then
        return 0
    fi
    # A command may come from elsewhere (Node.js from its own archive brings npm, and conflicts with Debian's package);
    # headers and modules must be those that the system's compiler and Python see.
    if in_debian && [[ $proof == \<* || $proof == import:* ]]; then
        return 1
    fi
    is_found "$proof"
}

# The wanted packages that are not there, one "package group reason" a line.
missing_rows() {
    local package group proof reason
    while read -r package group proof reason; do
        if [[ " ${groups[*]} " == *" $group "* ]] && ! is_there "$package" "$proof"; then
            printf '%s %s %s\n' "$package" "$group" "$reason"
        fi
    done < <(package_table)
}

print_rows() {
    local package reason
    while read -r package _ reason; do
        printf '  %-25s %s\n' "$package" "$reason"
    done
}

missing=$(missing_rows)
if [[ -z $missing ]]; then
    "$only_name" || say "everything is there"
    exit 0
fi
if "$only_name"; then
    print_rows <<<"$missing"
    exit 1
fi

if ! in_debian; then
    say "this is not Debian or Ubuntu; install by its own means (Debian's package names):" >&2
    print_rows <<<"$missing" >&2
    exit 2
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then
        say "missing, and neither root nor sudo to install it:" >&2
        print_rows <<<"$missing" >&2
        exit 2
    fi
    as_root=(sudo)
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

say "installing:"
print_rows <<<"$missing"
apt update || say "apt-get update failed; trying with the package lists that are here" >&2

# A package that this release of the system lacks stops the build group; elsewhere it is named and left out.
wanted=()
fetch_kernel=false
while read -r package group reason; do
    if [[ $group != build ]] && ! apt-cache show "$package" >/dev/null 2>&1; then
        say "this system has no package $package ($reason): left out" >&2
        continue
    fi
    if [[ $package == linux-image-* ]]; then
        fetch_kernel=true
        continue
    fi
    wanted+=("$package")
done <<<"$missing"
if [[ ${#wanted[@]} -gt 0 ]]; then
    apt install --no-install-recommends "${wanted[@]}" || exit 1
fi
# Installed, a kernel would bring an initramfs and a boot loader's hooks; guests need its files alone.
if "$fetch_kernel" && ! python3 "$root/tests/guest/guest_machine.py" --fetch; then
    say "without a kernel of its own the guest tests are left out" >&2
fi
say "done"
