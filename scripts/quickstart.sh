#!/usr/bin/env bash
# From a fresh clone to a first report: installs what is missing, builds build/release/memsweep, runs
# scenarios/catalog/finalizer_repro.json, prints the report and writes results/quickstart.{json,html}.
#
#   scripts/quickstart.sh [--no-install]
#
# The report goes to stdout, the build's output to stderr. Exit code: memsweep's own, or that of the step that failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=true
for argument in "$@"; do
    case "$argument" in
    --no-install) install=false ;;
    -h | --help)
        sed -n '2,7s/^# \{0,1\}//p' scripts/quickstart.sh
        exit 0
        ;;
    *)
        echo "quickstart: unknown argument '$argument'; usage: scripts/quickstart.sh [--no-install]" >&2
        exit 2
        ;;
    esac
done

if "$install"; then
    scripts/install_deps.sh >&2
fi
scripts/build.sh release memsweep >&2

mkdir -p results
status=0
build/release/memsweep run scenarios/catalog/finalizer_repro.json \
    -o results/quickstart.json -r html=results/quickstart.html || status=$?

printf '\n'
for file in results/quickstart.json results/quickstart.html; do
    if [[ -e $file ]]; then
        printf 'written: %s\n' "$PWD/$file"
    fi
done
printf 'the tool: %s --help\n' "$PWD/build/release/memsweep"
exit "$status"
