#!/usr/bin/env bash
# Takes the pictures of docs/gallery.md anew: what Chromium makes of the HTML reports of the reference results, of a trace
# that is shipped, of a small program explained, and of a machine that a test describes.
#
#   scripts/screenshots.sh [FOLDER]      default docs; MEMSWEEP: the binary; CHROMIUM: a browser other than the one on the PATH
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$root/docs}
memsweep=${MEMSWEEP:-$root/build/release/memsweep}
chromium=${CHROMIUM:-$(command -v chromium || true)}
[[ -x $memsweep ]] || { echo "screenshots: $memsweep is not built: scripts/build.sh" >&2; exit 2; }
[[ -x ${memsweep%/*}/recorded_memory ]] || { echo "screenshots: tests are not built: scripts/test.sh" >&2; exit 2; }
[[ -n $chromium ]] || { echo "screenshots: chromium is not installed" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME HEIGHT ARGUMENTS...: the top of the page that `memsweep ARGUMENTS` writes.
take() {
    local name=$1 height=$2
    shift 2
    (cd "$root" && "$memsweep" "$@" -f html -o "$work/$name.html")
    shoot "$name" 1100 "$height" "$work/$name.html"
}

# NAME WIDTH HEIGHT FILE
shoot() {
    local name=$1
    HOME=$work timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-background-networking \
        --force-device-scale-factor=1 --virtual-time-budget=8000 --window-size="$2,$3" \
        --screenshot="$folder/$name.png" "file://$4" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    echo "$folder/$name.png"
}
take report 1720 report results/reference/finalizer_repro.json
take comparison 900 compare results/reference/churn.json --between mode=refcount mode=finalizer --no-gate
take churn 1500 report results/reference/churn.json
take fit 1560 fit scenarios/traces/sqlite.mst
take info 1300 info scenarios/traces/sqlite.mst
(cd "${memsweep%/*}" && ./memsweep explain -f html -o "$work/explain.html" -- ./recorded_memory pins >/dev/null)
shoot explain 1100 1000 "$work/explain.html"
HWLOC_XMLFILE=$root/tests/sys/machines/intel_memory_expander.xml "$memsweep" probe topology -q --svg "$work/topology.svg" >/dev/null
shoot topology 1502 572 "$work/topology.svg"
