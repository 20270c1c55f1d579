#!/usr/bin/env python3
"""Is a case inside the concatenation sweep as fast as alone? With reference counts it must be.

    benchmarks/sweep_beside_alone.py [--rounds 20] [--mode refcount] [--memsweep build/release/memsweep] [--filter REGEX]
                                    [--set VARIABLE=VALUE]
    benchmarks/sweep_beside_alone.py --result RESULT.json

Runs the scenario concat_sweep, in which every round has each case once alone and once in the sweep, or reads such a result.
A case's ratio is the median over the rounds of sweep / alone with its exact 95 % interval. It is "within" when the interval
lies inside 1 +- 5 %, "outside" when it lies wholly beyond, else "unclear"; likewise the geometric mean over the cases,
round by round, with 2 %.
Exit codes: 0 nothing is shown to be outside, 1 something is, 2 wrong usage or the run failed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from paired_rounds import geometric_mean, interval_of_median, verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASE_LIMIT, MEAN_LIMIT = 0.05, 0.02


def measured(options):
    with tempfile.TemporaryDirectory() as folder:
        result = options.keep or f"{folder}/result.json"
        command = [options.memsweep, "run", str(ROOT / "scenarios/catalog/concat_sweep.json"), "-q", "-n", str(options.rounds),
                   "-a", f"mode=[{options.mode}]", "-a", "placement=[alone,sweep]", "-o", result]
        more = (["-k", options.filter] if options.filter else []) + (["-s", options.set] if options.set else [])
        done = subprocess.run(command + more, check=False)
        if done.returncode not in (0, 1):
            sys.exit(2)
        return json.loads(pathlib.Path(result).read_text())


def pairs(document, mode, metric):
    """label -> (values alone, values in the sweep), of the cases measured both ways."""
    found = {}
    for case in document["cases"]:
        params = case["params"]
        if params["mode"] == mode and case["status"] == "ok":
            found.setdefault(params["case"], {})[params["placement"]] = case["metrics"][metric]["values"]
    return {label: (both["alone"], both["sweep"]) for label, both in found.items() if {"alone", "sweep"} <= set(both)}


def line(label, ratios, limit, detail=""):
    low, high = interval_of_median(ratios)
    judged = verdict(len(ratios), low, high, limit)
    print(f"{label:34} {statistics.median(ratios):7.3f}   {low:.3f} to {high:.3f}   {judged:8}{detail}")
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--mode", default="refcount")
    parser.add_argument("--filter", help="only cases whose id matches")
    parser.add_argument("--set", help="a variable of the scenario: huge_pages_from=0B leaves huge pages out")
    parser.add_argument("--memsweep", default=str(ROOT / "build/release/memsweep"))
    parser.add_argument("--keep", help="where the result goes, instead of being thrown away")
    parser.add_argument("--result", help="judge this result instead of measuring")
    options = parser.parse_args()
    document = json.loads(pathlib.Path(options.result).read_text()) if options.result else measured(options)
    times, faults = (pairs(document, options.mode, metric) for metric in ("time_per_op", "faults_per_op"))
    if not times:
        parser.error("the result has no case measured both alone and in the sweep")
    print(f"{options.mode}: time per call in the sweep / alone, medians of {len(next(iter(times.values()))[0])} rounds")
    print(f"{'case':34} {'ratio':>7}   95 % interval    verdict  alone, faults per call alone and in the sweep")
    judged, by_round = [], None
    for label, (alone, swept) in times.items():
        ratios = [b / a for a, b in zip(alone, swept)]
        fault_medians = [statistics.median(values) for values in faults[label]]
        detail = f" {statistics.median(alone) * 1e3:9.4f} ms {fault_medians[0]:10,.1f} {fault_medians[1]:10,.1f}"
        judged.append(line(label, ratios, CASE_LIMIT, detail))
        by_round = [[ratio] for ratio in ratios] if by_round is None else [a + [b] for a, b in zip(by_round, ratios)]
    mean = line("geometric mean", [geometric_mean(ratios) for ratios in by_round], MEAN_LIMIT)
    print(f"{len(judged)} cases: {judged.count('within')} within 5 %, {judged.count('unclear')} unclear, "
          f"{judged.count('outside')} outside; geometric mean {mean} 2 %")
    return 1 if "outside" in [*judged, mean] else 0


if __name__ == "__main__":
    sys.exit(main())
