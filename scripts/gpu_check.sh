#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the release preset, runs every test of the ring [gpu], measures every case of
# the device probe, puts the copy engines' figures beside those of a small reference of nvbandwidth's method, and leaves
# the results in results/reference/.
#
#   scripts/gpu_check.sh [OUT]      OUT: another folder for the results
#
# Exit codes  0 all tests and cases passed; 1 one failed; 2 no nvcc or no device.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,9s/^# \{0,1\}//p' scripts/gpu_check.sh
    exit 0
fi
out=${1:-results/reference}
mkdir -p "$out"

nvcc=$(command -v nvcc || true)
[[ -n $nvcc ]] || nvcc=/usr/local/cuda/bin/nvcc
if [[ ! -x $nvcc ]]; then
    echo "gpu_check: no nvcc: install the CUDA Toolkit, 12 or newer" >&2
    exit 2
fi

cmake --preset release >/dev/null
cmake --build --preset release --target memsweep test_gpu
probe=build/release/memsweep
if ! "$probe" --version --json | grep -q 'gpu0:.*CUDA'; then
    echo "gpu_check: no CUDA device: $("$probe" --version --json | grep devices)" >&2
    exit 2
fi

status=0
build/release/test_gpu "[gpu]" || status=1
if sanitizer=$(command -v compute-sanitizer); then
    "$sanitizer" --error-exitcode 1 build/release/test_gpu "[gpu]" || status=1
else
    echo "gpu_check: skipped: compute-sanitizer: it is not installed"
fi

"$probe" probe topology device --size 512MiB -n 11 -f json -o "$out/gpu_probe.json" || status=1
"$nvcc" -O3 -arch=native -o build/release/copy_engine tests/gpu/reference/copy_engine.cu
build/release/copy_engine 11 >"$out/gpu_copy_engine.csv"

python3 - "$out/gpu_probe.json" "$out/gpu_copy_engine.csv" <<'PYTHON' || status=1
import csv, json, sys

cases = {case["params"]["transfer"]: case for case in json.load(open(sys.argv[1]))["cases"]
         if case["scenario"] == "probe_device" and case["params"].get("device", "gpu0") == "gpu0"}
short = False
for name, reference in csv.reader(open(sys.argv[2])):
    case = cases[name]
    ours = case["metrics"]["bandwidth"]["summary"]["median"] / 1e9 if case["status"] == "ok" else 0.0
    short |= ours < 0.99 * float(reference)
    print(f"{name:32} memsweep {ours:9.2f} GB/s   reference {float(reference):9.2f} GB/s   {ours / float(reference):.3f}")
failed = [name for name, case in cases.items() if case["status"] in ("failed", "error")]
print("failed: " + ", ".join(failed) if failed else "no case failed")
sys.exit(1 if failed or short else 0)
PYTHON
exit "$status"
