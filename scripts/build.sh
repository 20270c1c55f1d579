#!/usr/bin/env bash
# Configures and builds a preset into build/PRESET.
#
#   scripts/build.sh [PRESET [TARGET...]]      default: release, everything
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
targets=("${@:2}")
if [[ $preset == -* ]]; then
    echo "usage: scripts/build.sh [PRESET [TARGET...]]; presets:" >&2
    cmake --list-presets >&2
    [[ $preset == -h || $preset == --help ]] && exit 0
    exit 2
fi
if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then
    echo "build: cmake or ninja is missing: run scripts/install_deps.sh" >&2
    exit 2
fi
cmake --preset "$preset"
if [[ ${#targets[@]} -gt 0 ]]; then
    cmake --build --preset "$preset" --target "${targets[@]}"
else
    cmake --build --preset "$preset"
fi
