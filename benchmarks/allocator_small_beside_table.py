#!/usr/bin/env python3
"""Puts the figures of the catalog's allocator_small beside those of memsweep_bench, in turns on this machine.

    benchmarks/allocator_small_beside_table.py [--rounds 15] [--filter REGEX] [--build build/release]

What a malloc and its free take a thread, by the scenario and by malloc_free/*/{one_thread,two_threads}, a loop of as many
operations in as many new threads, of which scripts/malloc_table.py makes its tables. Each round measures both, one right after
the other and first and second in turn: a host's pace changes within seconds. Of a case the share is the median over the
rounds of scenario / loop, with its exact 95 % interval; it is "within" when the interval lies inside 1 +- 15 %, "outside" when
it lies wholly beyond, else "unclear". Beside it the medians of both and of the loop in a process's first thread, which takes no locks.
Exit codes: 0 nothing is shown to be outside, 1 something is, 2 wrong usage or a program failed.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from paired_rounds import interval_of_median, verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 0.15
KINDS = {"one_thread": 1, "two_threads": 2}


def output(*command, codes=(0,)):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        print(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


class Programs:
    def __init__(self, build, folder):
        self.memsweep, self.bench, self.result = build / "memsweep", build / "memsweep_bench", folder / "result.json"

    def cases(self):
        """(allocator, bytes, kind) of the loops that are measured in threads"""
        names = output(self.bench, "--benchmark_list_tests", "--benchmark_filter=^malloc_free/.*_threads?(/|$)").split()
        return [tuple(name.split("/")[1:4]) for name in names]

    def loop(self, allocator, count, kind):
        out = output(self.bench, f"--benchmark_filter=^malloc_free/{allocator}/{count}/{kind}(/|$)", "--benchmark_format=json")
        (one,) = json.loads(out)["benchmarks"]
        return None if one.get("error_occurred") else one["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[one["time_unit"]]

    def scenario(self, allocator, count, kind):
        size = f"{int(count) >> 10}KiB" if int(count) >= 1024 else count
        only = f"/allocator={allocator}/size=({count}|{size})/threads={KINDS[kind]}$"
        output(self.memsweep, "run", "allocator_small", "-q", "-n", 1, "--warmup", 0, "-k", only, "-o", self.result, codes=(0, 1))
        (case,) = json.loads(self.result.read_text(encoding="utf-8"))["cases"]
        return None if case["status"] != "ok" else 1e9 * KINDS[kind] * case["metrics"]["time_per_op"]["values"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--filter", default="", help="only cases ALLOCATOR/BYTES/KIND that match")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(options.build, pathlib.Path(folder))
        cases = [case for case in programs.cases() if re.search(options.filter, "/".join(case))]
        rounds = {case: [] for case in cases}
        first_thread = {case: [] for case in cases}
        for number in range(options.rounds):
            for case in cases:
                turn = [programs.scenario, programs.loop]
                order = turn if number % 2 == 0 else turn[::-1]
                taken = {measure: measure(*case) for measure in order}
                if None not in taken.values():
                    rounds[case].append([taken[measure] for measure in turn])
                    first_thread[case].append(programs.loop(*case[:2], "untouched"))
    print(f"{'allocator':10}{'bytes':>6}{'threads':>8}{'scenario':>10}{'loop':>8}{'share':>8}{'95 % interval':>18}  {'':9}{'first thread':>12}")
    found = {"within": 0, "unclear": 0, "outside": 0}
    for case, pairs in rounds.items():
        if not pairs:
            continue  # an allocator that is not installed
        shares = [ours / loop for ours, loop in pairs]
        low, high = interval_of_median(shares)
        judged = verdict(len(shares), low, high, LIMIT)
        found[judged] += 1
        ours, loop = (statistics.median(column) for column in zip(*pairs))
        print(f"{case[0]:10}{case[1]:>6}{KINDS[case[2]]:8}{ours:10.2f}{loop:8.2f}{statistics.median(shares):8.2f}"
              f"{low:9.2f} to {high:5.2f}  {judged:9}{statistics.median(first_thread[case]):12.2f}")
    print(", ".join(f"{count} {judged}" for judged, count in found.items()))
    sys.exit(found["outside"] != 0)


if __name__ == "__main__":
    main()
