#!/usr/bin/env python3
"""How often `compare` is wrong about two runs that ran minutes apart: false alarms of one binary, and planted changes.

    benchmarks/separate_runs.py [--runs 15] [--folder DIR] [--out FILE]

Runs of the catalog's churn: in turn one on the machine as it is and one beside two processes that copy memory and sleep, in turns of
0.1 to 2 s; after every third pair one more of each with 10 % more allocations (`-s times=330`). Then each run without a plant is
compared with each later one, and with each run that has one.

  false    pairs without a plant in which any metric is called regressed or improved
  found    pairs with the plant in which a metric is called regressed: any (the counts are exact), and a time

Runs that DIR holds already are not run again, so that a campaign can be continued, and judged by another binary.
Exit codes: 0 within the targets (false in at most 1 %, found in 95 %), 1 not, 2 something failed.
"""

import argparse
import itertools
import json
import multiprocessing
import pathlib
import sys
import tempfile
import time

from verdicts import ROOT, Failed, call, neighbour

NEIGHBOURS = 2
PLANT = ("-s", "times=330")
TIMES = ("wall_time", "cpu_time")
FALSE_ALLOWED, FOUND_NEEDED = 0.01, 0.95


def take(options, name, plant, loaded, seed):
    path = options.folder / f"{name}.json"
    if path.exists():
        return path
    neighbours = [multiprocessing.Process(target=neighbour, args=(seed * NEIGHBOURS + number,), daemon=True)
                  for number in range(NEIGHBOURS if loaded else 0)]
    for process in neighbours:
        process.start()
    try:
        call(options.binary, "run", ROOT / "scenarios/catalog/churn.json", "-q", "-o", path, *(PLANT if plant else ()))
    finally:
        for process in neighbours:
            process.terminate()
    return path


def take_all(options):
    """[(path, planted, beside neighbours)], in the order in which they ran"""
    runs = []
    for number in range(options.runs):
        for plant in (False, True) if number % 3 == 1 else (False,):
            for loaded in (False, True):
                name = f"{'plant' if plant else 'plain'}_{'loaded' if loaded else 'quiet'}_{number:02}"
                runs.append((take(options, name, plant, loaded, number), plant, loaded))
                if sys.stderr.isatty():
                    print(f"\r\x1b[K{name}\r", end="", file=sys.stderr, flush=True)
    return runs


def decided(options, base, candidate):
    """What is called regressed or improved."""
    text = call(options.binary, "compare", base, candidate, "--force", "-f", "json", codes=(0, 1, 5))
    return [one for one in json.loads(text)["comparisons"][0]["judgements"] if one["verdict"] in ("regressed", "improved")]


def beside(*loaded):
    return "+".join("neighbours" if one else "nobody" for one in loaded)


def judge(options, runs):
    plain = [(path, loaded) for path, plant, loaded in runs if not plant]
    false, found = {}, {}
    for (base, one), (candidate, other) in itertools.combinations(plain, 2):
        outcome = false.setdefault(beside(*sorted((one, other))), {"pairs": 0, "false": 0, "details": []})
        alarms = decided(options, base, candidate)
        outcome["pairs"] += 1
        outcome["false"] += bool(alarms)
        outcome["details"] += [{"base": base.stem, "candidate": candidate.stem, "case": alarm["candidate_case"],
                                "metric": alarm["metric"], "why": alarm["why"]} for alarm in alarms]
    for candidate, plant, loaded in runs:
        for base, other in plain if plant else ():
            outcome = found.setdefault(beside(other, loaded), {"pairs": 0, "any": 0, "time": 0})
            regressed = [one["metric"] for one in decided(options, base, candidate) if one["verdict"] == "regressed"]
            outcome["pairs"] += 1
            outcome["any"] += bool(regressed)
            outcome["time"] += any(metric in TIMES for metric in regressed)
    return false, found


def summed(outcomes, key):
    return sum(one[key] for one in outcomes.values())


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=15, help="of each kind, without a plant (default: %(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the results of the runs")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the counts and every alarm")
    options = parser.parse_args(argv)
    began = time.time()
    with tempfile.TemporaryDirectory() as own:
        options.folder = options.folder or pathlib.Path(own)
        options.folder.mkdir(exist_ok=True)
        try:
            runs = take_all(options)
            false, found = judge(options, runs)
            machine = json.loads(runs[0][0].read_text(encoding="utf-8"))["machine"]
            tool = json.loads(call(options.binary, "--version", "--json"))
        except Failed as problem:
            print(f"separate_runs: {problem}", file=sys.stderr)
            return 2
    pairs, planted = summed(false, "pairs"), summed(found, "pairs")
    print(f"{'beside':24}{'pairs':>7}{'false':>7}")
    for name, one in false.items():
        print(f"{name:24}{one['pairs']:7}{one['false']:7}")
    print(f"\n{'base, then planted':24}{'pairs':>7}{'found':>7}{'by a time':>11}")
    for name, one in found.items():
        print(f"{name:24}{one['pairs']:7}{one['any']:7}{one['time']:11}")
    if options.out:
        options.out.write_text(json.dumps({
            "taken": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)), "tool": tool,
            "machine": {key: machine[key] for key in ("cpu", "cores", "memory", "kernel", "page_size", "fingerprint")},
            "false": false, "found": found}, indent=1) + "\n", encoding="utf-8")
    holds = summed(false, "false") <= FALSE_ALLOWED * pairs and summed(found, "any") >= FOUND_NEEDED * planted
    print("within the targets" if holds else "outside the targets")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
