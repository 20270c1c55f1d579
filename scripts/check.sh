#!/usr/bin/env bash
# Format and lint: clang-format and clang-tidy 16 over the C++ files, shellcheck over the scripts; and every .cpp file
# compiled by itself (scripts/compile_alone.py), since the presets compile a dozen at a time.
#
#   scripts/check.sh                  everything, as CI does
#   scripts/check.sh --changed        clang-tidy only on the .cpp files that differ from HEAD; the rest is quick
#   scripts/check.sh --no-tidy        without clang-tidy and without compiling
#   scripts/check.sh --but-of DIR     everything, but what the build in DIR, of MEMSWEEP_UNITY=OFF, has just compiled by itself is
#                                     not compiled again, and tests are not compiled by themselves
#   scripts/check.sh --fix            format the files instead of checking their format, and stop there
#
# clang-tidy reads build/lint/compile_commands.json; headers are linted through the files that include them. Without
# --changed it reads a folder at a time (scripts/tidy_batches.py), in a fifth of the time; misc-unused-using-decls then sees nothing.
# Version 16: 14 stumbles over libstdc++ 12's ranges, and another formats differently.
# Exit codes  0 clean; 1 a finding; 2 wrong usage or a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fix=false tidy=all built=()
while [[ $# -gt 0 ]]; do
    argument=$1
    shift
    case "$argument" in
    --but-of)
        built=("${1:?--but-of needs a build folder}")
        shift
        ;;
    --fix) fix=true ;;
    --changed | --tidy-changed) tidy=changed ;;
    --no-tidy) tidy=none ;;
    -h | --help)
        sed -n '2,16s/^# \{0,1\}//p' scripts/check.sh
        exit 0
        ;;
    *)
        echo "check: unknown argument '$argument'; see scripts/check.sh --help" >&2
        exit 2
        ;;
    esac
done

need() {
    if ! command -v "$1" >/dev/null; then
        echo "check: $1 is missing: run scripts/install_deps.sh --check" >&2
        exit 2
    fi
}

need git
need clang-format-16
# A checkout may belong to another user, as in a container; reading its list of files is harmless.
git=(git -c "safe.directory=$PWD")
if ! "${git[@]}" rev-parse --git-dir >/dev/null; then
    echo "check: this is not a git checkout, so there is no telling which files are the project's" >&2
    exit 2
fi

# Tracked and new files that match the patterns, NUL-separated; what is deleted or ignored is not among them.
files() {
    "${git[@]}" ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
        while IFS= read -r -d '' file; do
            if [[ -f $file ]]; then
                printf '%s\0' "$file"
            fi
        done
}

cpp_patterns=('*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh')
if "$fix"; then
    files "${cpp_patterns[@]}" | xargs -0 -r clang-format-16 -i
    exit 0
fi

status=0
report() {
    if [[ $2 == 0 ]]; then
        echo "check: $1: clean"
    else
        echo "check: $1: findings above"
        status=1
    fi
}

outcome=0
files "${cpp_patterns[@]}" | xargs -0 -r clang-format-16 --dry-run -Werror || outcome=$?
report "clang-format (scripts/check.sh --fix mends it)" "$outcome"

# clang-format leaves comments as they are: it would tear those of headers, whose lines begin with a label.
outcome=0
if { files "${cpp_patterns[@]}" | LC_ALL=C.UTF-8 xargs -0 -r grep -nHE '^.{121,}' || true; } | grep -E ':[0-9]+:(.*[[:space:]])?//'; then
    outcome=1
fi
report "comments of at most 120 columns" "$outcome"

if command -v shellcheck >/dev/null; then
    outcome=0
    files '*.sh' .ci/run | xargs -0 -r shellcheck || outcome=$?
    report shellcheck "$outcome"
else
    echo "check: shellcheck: left out, it is not installed"
fi

if [[ $tidy != none ]]; then
    need clang-tidy-16
    need cmake
    cmake --preset lint >/dev/null
    cmake --build --preset lint >/dev/null  # what the build writes and the sources include
    # What CMake compiles and nothing else: a fuzz target of another preset has no compile command here.
    # Tests break the rules on purpose (a use after a move, a made-up address): they are formatted, not linted.
    mapfile -d '' -t units < <(files '*.cpp' ':!tests' | python3 -c '
import json, os, sys
compiled = {os.path.realpath(entry["file"]) for entry in json.load(open("build/lint/compile_commands.json"))}
for name in sys.stdin.read().split("\0"):
    if name and os.path.realpath(name) in compiled:
        sys.stdout.write(name + "\0")')
    if [[ $tidy == changed ]]; then
        mapfile -d '' -t units < <(
            { "${git[@]}" diff -z --name-only --diff-filter=d HEAD -- '*.cpp' ':!tests'
              "${git[@]}" ls-files -z --others --exclude-standard -- '*.cpp' ':!tests'; } | sort -zu |
                comm -z -12 - <(printf '%s\0' "${units[@]}" | sort -zu))
    fi
    database=build/lint/tidy count=${#units[@]} batching=(--alone) options=()
    if [[ $tidy == all ]]; then
        outcome=0
        python3 scripts/compile_alone.py build/lint ${built[@]+"${built[@]}"} || outcome=$?
        report "every file by itself" "$outcome"
        batching=() options=(--checks=-bugprone-suspicious-include)  # it includes .cpp files on purpose
    fi
    outcome=0
    if ((count != 0)); then
        batches=$(printf '%s\0' "${units[@]}" | scripts/tidy_batches.py ${batching[@]+"${batching[@]}"} build/lint "$database")
        # clang-tidy counts the warnings that it suppressed in system headers, one line a file: of no use to anyone.
        xargs -d '\n' -n 1 -P "$(nproc)" clang-tidy-16 --quiet -p "$database" ${options[@]+"${options[@]}"} <<<"$batches" 2> >(
            grep -vE '^[0-9]+ warnings? (generated|treated as errors?)' >&2) || outcome=$?
    fi
    report "clang-tidy, $count files" "$outcome"
fi
exit "$status"
