#!/usr/bin/env bash
# The browser tests, as ctest runs them: installs what package-lock.json pins into the folder that is named, then runs.
#
#   tests/browser/run.sh BUILD_FOLDER      MEMSWEEP: the binary; CHROMIUM: a browser other than the one on the PATH
#
# Exit codes  77, with the reason as the last line, where Node.js, npm, Chromium or the registry is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$1

leave_out() {
    echo "$1"
    exit 77
}
for tool in node npm; do
    command -v "$tool" >/dev/null || leave_out "$tool is not installed"
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[[ -n $CHROMIUM ]] || leave_out "chromium is not installed"
export CHROMIUM
if (($(node --print 'process.versions.node.split(".")[0]') < 18)); then
    leave_out "node $(node --version) is too old: node:test needs 18"
fi

mkdir -p "$work"
if ! cmp -s "$here/package-lock.json" "$work/package-lock.json" || [[ ! -d $work/node_modules ]]; then
    rm -rf "$work/node_modules"
    cp "$here/package.json" "$here/package-lock.json" "$work"
    if ! timeout 240 npm ci --prefix "$work" --no-audit --no-fund --loglevel=error; then
        rm -f "$work/package-lock.json"
        leave_out "npm could not install playwright-core and axe-core: is there a network?"
    fi
fi
cp "$here"/*.mjs "$work"
cd "$work"
node --test --test-reporter=spec report.test.mjs
