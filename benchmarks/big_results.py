#!/usr/bin/python3
"""Times what a long result costs: a CSV of 1,000,000 rows, and a result of 200 MB that is reported and compared.

    benchmarks/big_results.py [--rounds 5] [--binary build/release/memsweep]

Prints for each command the least and the median wall time, the CPU time of the least, and the peak resident set.
Files go to a temporary folder (TMPDIR), 1 GB of it. Exit codes: 0 measured, 2 wrong usage or a command failed.
"""

import argparse
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def measured(argv):
    begin = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1, 5):  # compare has verdicts of its own
        sys.exit(f"failed: {' '.join(map(str, argv))}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def rows(reference):
    result = copy.deepcopy(reference)
    case = result["cases"][0]
    case.update(points=[], phases=[], series=[])
    result.update(cases=[case], assertions=[])
    for metric in case["metrics"].values():
        metric["values"] = [0.1 + 1 / (i + 7) for i in range(1_000_000 // len(case["metrics"]) + 1)]
    return result


def long(reference, bytes_wanted):
    result = copy.deepcopy(reference)
    model = result["cases"][0]
    result["cases"] = []
    size = 0
    while size < bytes_wanted:
        case = copy.deepcopy(model)
        case["params"]["n"] = len(result["cases"])
        case["id"] += f"/n={case['params']['n']}"
        case["points"] *= 200
        for series in case["series"]:
            series["t"] = [i * 1.0001e-5 for i in range(20_000)]
            series["v"] = [(i * 2654435761) % (1 << 30) for i in range(20_000)]
        size += len(json.dumps(case))
        result["cases"].append(case)
    return result


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--binary", default=ROOT / "build/release/memsweep", type=pathlib.Path)
    chosen = arguments.parse_args()
    reference = json.loads((ROOT / "results/reference/finalizer_repro.json").read_text())
    with tempfile.TemporaryDirectory(prefix="memsweep-big-") as folder:
        folder = pathlib.Path(folder)
        (folder / "rows.json").write_text(json.dumps(rows(reference)))
        (folder / "long.json").write_text(json.dumps(long(reference, 200_000_000)))
        os.link(folder / "long.json", folder / "again.json")
        out = folder / "out"
        commands = {
            "1,000,000 rows: csv to a file": ["report", folder / "rows.json", "-f", "csv", "-o", out],
            "1,000,000 rows: csv to stdout": ["report", folder / "rows.json", "-f", "csv"],
            "1,000,000 rows: read alone": ["report", folder / "rows.json", "-f", "csv-matrix"],
            "200 MB: html": ["report", folder / "long.json", "-f", "html", "-o", out],
            "200 MB: json": ["report", folder / "long.json", "-f", "json", "-o", out],
            "200 MB with another: compare": ["compare", folder / "long.json", folder / "again.json", "-o", out],
        }
        print(f"{'':34}{'least':>9}{'median':>9}{'CPU':>9}{'peak':>11}")
        for name, command in commands.items():
            taken = [measured([chosen.binary, *command]) for _ in range(chosen.rounds)]
            seconds, cpu, peak = min(taken)
            median = statistics.median(one[0] for one in taken)
            print(f"{name:34}{seconds:7.2f} s{median:7.2f} s{cpu:7.2f} s{peak / 2**20:7.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
