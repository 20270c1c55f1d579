#!/usr/bin/env python3
"""How often `compare` is wrong, on this machine: false alarms between equal things, and planted changes that it misses.

    benchmarks/verdicts.py [--comparisons 200] [--neighbours N] [--plant NAME]... [--kind NAME]... [--out FILE]

Everything is measured: each comparison is one `memsweep run` of a scenario in benchmarks/verdicts/, two variants of it
interleaved with 20 repetitions each, and one `memsweep compare --between` with its default thresholds.

  nothing      two copies of the same case; an alarm is any metric that is called regressed or improved
  time         10 % more turns of the timed loop; found when wall_time is called regressed
  allocation   11 arrays instead of 10; found when `allocations` is called regressed
  memory       2 MiB more held; found when working_set_peak is called regressed

--neighbours makes the machine noisy on purpose: that many processes copy memory and sleep, in turns of 0.1 to 2 s. A
planted change counts against the 95 % that must be found only where the noise of its metric (err%, of the noisier of
the two) is at most 3 %; those beyond are counted apart.

Exit codes: 0 within the targets (alarms in at most 2.5 % of the comparisons, 95 % found), 1 not, 2 something failed.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "benchmarks/verdicts"
KINDS = ("small", "faults", "compute", "finalizer")
REPETITIONS = 20
NOISE_LIMIT = 0.03

# plant: the axis that carries it, what the second variant has for each value of the first, and where it must show.
PLANTS = {
    "nothing": ("copy", lambda value: value + 1, None),
    "time": ("turns", lambda value: value * 11 // 10, "wall_time"),
    "allocation": ("count", lambda value: value + 1, "allocations"),
    "memory": ("held", lambda value: value + (2 << 20), "working_set_peak"),
}
ALARMS_ALLOWED = 0.025
FOUND_NEEDED = 0.95


class Failed(Exception):
    pass


def call(*command, codes=(0,)):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def compare_once(binary, kind, plant, folder):
    """One run of both variants, and what `compare` says of it."""
    scenario = SCENARIOS / f"{kind}.json"
    axis, changed, _ = PLANTS[plant]
    base = json.loads(scenario.read_text())["axes"][axis][0]
    values = (base, changed(base))
    result = folder / f"{kind}.json"
    call(binary, "run", scenario, "-q", "-n", REPETITIONS, "-a", f"{axis}=[{values[0]},{values[1]}]", "-o", result)
    text = call(binary, "compare", result, "--between", *(f"{axis}={value}" for value in values), "-f", "json", codes=(0, 1))
    return json.loads(result.read_text()), json.loads(text)["comparisons"][0]["judgements"]


def noise_of(result, metric):
    """err% of a metric, of the noisier of the two cases."""
    return max(one["metrics"][metric]["summary"]["mdape"] for one in result["cases"])


def empty_outcome(kind, plant):
    return {"kind": kind, "plant": plant, "metric": PLANTS[plant][2], "comparisons": 0, "alarms": 0, "found": 0, "within_noise": 0,
            "found_within_noise": 0, "noise_of_wall_time": [], "details": []}


def add_comparison(outcome, result, judgements):
    """Counts it, and keeps every alarm and every miss in full."""
    metric = outcome["metric"]
    decided = [one for one in judgements if one["verdict"] in ("regressed", "improved")]
    if metric is None:
        outcome["alarms"] += bool(decided)
        detailed = decided
    else:
        found = any(one["metric"] == metric and one["verdict"] == "regressed" for one in decided)
        quiet = noise_of(result, metric) <= NOISE_LIMIT
        outcome["found"] += found
        outcome["within_noise"] += quiet
        outcome["found_within_noise"] += found and quiet
        detailed = [] if found or not quiet else [one for one in judgements if one["metric"] == metric]
    kept = ("metric", "verdict", "why", "base", "candidate", "q")
    outcome["details"] += [{"comparison": outcome["comparisons"], **{key: one.get(key) for key in kept}} for one in detailed]
    outcome["comparisons"] += 1
    outcome["noise_of_wall_time"].append(round(noise_of(result, "wall_time"), 5))


def neighbour(seed):
    """Copies 64 MiB to and fro for a while, sleeps for a while, until it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    chance = random.Random(seed)
    data = bytearray(64 << 20)
    while True:
        until = time.monotonic() + chance.uniform(0.1, 2)
        while time.monotonic() < until:
            data[:32 << 20] = data[32 << 20:]
        time.sleep(chance.uniform(0.1, 2))


def median(values):
    return sorted(values)[len(values) // 2]


def holds(outcome):
    """Of one plant, over all its kinds."""
    if outcome["metric"] is None:
        return outcome["alarms"] <= ALARMS_ALLOWED * outcome["comparisons"]
    return outcome["within_noise"] > 0 and outcome["found_within_noise"] >= FOUND_NEEDED * outcome["within_noise"]


def summed(outcomes, plant):
    own = [one for one in outcomes if one["plant"] == plant]
    total = {key: sum(one[key] for one in own) for key in ("comparisons", "alarms", "found", "within_noise", "found_within_noise")}
    return {"plant": plant, "kind": "all", "metric": own[0]["metric"], **total,
            "noise_of_wall_time": [value for one in own for value in one["noise_of_wall_time"]]}


def table(rows):
    text = f"{'planted':11} {'kind':10} {'comparisons':>11} {'alarms':>7} {'err% <= 3':>10} {'found':>12} {'noise of wall_time':>19}\n"
    for one in rows:
        noise = sorted(one["noise_of_wall_time"])
        if one["metric"] is None:
            counts = f"{one['alarms']:7} {'':>10} {'':>12}"
        else:
            share = f" ({one['found_within_noise'] / one['within_noise']:.0%})" if one["within_noise"] else ""
            counts = f"{'':7} {one['within_noise']:10} {str(one['found_within_noise']) + share:>12}"
        spread = f"{median(noise):.1%}, up to {noise[-1]:.0%}"
        text += f"{one['plant']:11} {one['kind']:10} {one['comparisons']:11} {counts} {spread:>19}\n"
    return text


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--comparisons", type=int, default=200, help="of each plant, spread over the kinds (default: %(default)s)")
    parser.add_argument("--neighbours", type=int, default=0, help="processes that make noise meanwhile (default: none)")
    parser.add_argument("--plant", action="append", choices=PLANTS, help="default: all")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the counts and every alarm and miss")
    options = parser.parse_args(argv)
    if options.comparisons < 1 or options.neighbours < 0:
        parser.error("--comparisons must be at least 1, --neighbours at least 0")
    return options


def document_of(options, began, machine, outcomes):
    totals = [summed(outcomes, plant) for plant in dict.fromkeys(one["plant"] for one in outcomes)]
    return {
        "taken": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began),
        "tool": json.loads(call(options.binary, "--version", "--json")),
        "machine": {key: machine[key] for key in ("cpu", "cores", "memory", "kernel", "page_size", "thp", "fingerprint")},
        "load_average_at_end": os.getloadavg(),
        "neighbours": options.neighbours,
        "repetitions": REPETITIONS,
        "totals": [{**{key: value for key, value in one.items() if key != "noise_of_wall_time"}, "holds": holds(one)} for one in totals],
        "campaigns": outcomes,
    }


def measure(options, folder):
    """The outcomes, one per plant and kind; written after each comparison, so that what was measured survives."""
    began = time.time()
    kinds = options.kind or KINDS
    outcomes = []
    for plant in options.plant or PLANTS:
        own = [empty_outcome(kind, plant) for kind in kinds]
        for number in range(options.comparisons):
            outcome = own[number % len(own)]
            if outcome["comparisons"] == 0:
                outcomes.append(outcome)
            result, judgements = compare_once(options.binary, outcome["kind"], plant, folder)
            before = len(outcome["details"])
            add_comparison(outcome, result, judgements)
            for one in outcome["details"][before:]:
                print(f"{plant} {outcome['kind']}: {one['metric']} {one['verdict']}: {one['why']}", file=sys.stderr, flush=True)
            if sys.stderr.isatty():
                print(f"\r\x1b[K{plant}: {number + 1} of {options.comparisons}\r", end="", file=sys.stderr, flush=True)
            if options.out:
                options.out.write_text(json.dumps(document_of(options, began, result["machine"], outcomes), indent=1) + "\n")
    return outcomes


def main(argv):
    options = options_of(argv)
    neighbours = [multiprocessing.Process(target=neighbour, args=(seed,), daemon=True) for seed in range(options.neighbours)]
    for process in neighbours:
        process.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            outcomes = measure(options, pathlib.Path(folder))
    except Failed as problem:
        print(f"verdicts: {problem}", file=sys.stderr)
        return 2
    finally:
        for process in neighbours:
            process.terminate()
    totals = [summed(outcomes, plant) for plant in dict.fromkeys(one["plant"] for one in outcomes)]
    print(table(outcomes + totals), end="")
    missed = [one["plant"] for one in totals if not holds(one)]
    print("all within their targets" if not missed else f"outside their targets: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
