#!/usr/bin/env bash
# Makes vega.bundle.js, LICENSES.txt and SHA256SUMS from the versions that package-lock.json pins. Needs Node.js and the
# npm registry; building memsweep needs neither, since what this writes is in the repository.
#
#   third_party/vega/rebuild.sh            after a change of a version: `npm install --package-lock-only` first
#   third_party/vega/rebuild.sh --check    only: would it write what is there? exit 1 when not
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here"/{package.json,package-lock.json,entry.js,licenses.js} "$work"
cd "$work"
npm ci --no-audit --no-fund --loglevel=error
npx esbuild entry.js --bundle --minify --format=iife --charset=ascii --legal-comments=none \
    --metafile=inputs.json --outfile=bundle.js --log-level=warning
node licenses.js inputs.json >LICENSES.txt
# A page that contains the bundle passes it on, so the licences go with it.
{
    printf '/*!\n'
    cat LICENSES.txt
    printf '*/\n'
    cat bundle.js
} >vega.bundle.js
sha256sum vega.bundle.js LICENSES.txt entry.js package-lock.json >SHA256SUMS

if [[ ${1:-} == --check ]]; then
    diff SHA256SUMS "$here/SHA256SUMS"
else
    cp vega.bundle.js LICENSES.txt SHA256SUMS "$here"
fi
