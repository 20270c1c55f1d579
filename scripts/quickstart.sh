#!/usr/bin/env bash
# From a fresh clone to a first report: installs what is missing, builds what `cmake --install` installs, runs
# scenarios/catalog/finalizer_repro.json, prints the report and writes results/quickstart.{json,html}.
#
#   scripts/quickstart.sh [--no-install]
#
# The report goes to stdout; each step, and how far the build is, to stderr: in one line on a terminal, in plain lines
# elsewhere. Exit code: memsweep's own, or that of the step that failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=true
for argument in "$@"; do
    case "$argument" in
    --no-install) install=false ;;
    -h | --help)
        sed -n '2,8s/^# \{0,1\}//p' scripts/quickstart.sh
        exit 0
        ;;
    *)
        echo "quickstart: unknown argument '$argument'; usage: scripts/quickstart.sh [--no-install]" >&2
        exit 2
        ;;
    esac
done

steps=2
if "$install"; then
    steps=3
fi
step=0
begin_step() {
    step=$((step + 1))
    printf '[%d/%d] %s\n' "$step" "$steps" "$1" >&2
}

# "95 s", "3 min 20 s"
time_text() {
    if (($1 < 100)); then
        printf '%d s' "$1"
    else
        printf '%d min %d s' $(($1 / 60)) $(($1 % 60))
    fi
}

# Reads the build's output. Lines of ninja's progress, which NINJA_STATUS begins with "@done/all/seconds@", become one
# line on a terminal and a line per tenth elsewhere; everything else passes through.
show_build() {
    local line finished all seconds percent text shown=-10 clear='' end=''
    if [[ -t 2 ]]; then
        clear=$'\r\033[K'
    fi
    while IFS= read -r line; do
        if [[ ! $line =~ ^@([0-9]+)/([0-9]+)/([0-9]+)[.0-9]*@ ]]; then
            printf '%s%s\n' "$clear" "$line" >&2
            end=''
            continue
        fi
        finished=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} seconds=${BASH_REMATCH[3]}
        percent=$((100 * finished / all))
        text="[$step/$steps] building: $percent %, $(time_text "$seconds") so far"
        if ((percent >= 5 && finished < all)); then
            text+=", about $(time_text $((seconds * (all - finished) / finished))) left"
        fi
        if [[ -n $clear ]]; then
            printf '%s%s' "$clear" "$text" >&2
            end=$'\n'
        elif ((percent >= shown + 10)); then
            printf '%s\n' "$text" >&2
            shown=$percent
        fi
    done
    printf '%s' "$end" >&2
}

if "$install"; then
    begin_step "installing what is missing"
    scripts/install_deps.sh >&2
fi
begin_step "building build/release/memsweep and its manual pages"
NINJA_STATUS='@%f/%t/%e@ ' scripts/build.sh release memsweep memsweep_manuals 2>&1 | show_build
begin_step "measuring scenarios/catalog/finalizer_repro.json"

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
