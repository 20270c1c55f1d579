#!/usr/bin/env python3
"""Puts the figures of the catalog's allocator_small beside those of memsweep_bench.

    benchmarks/allocator_small_beside_table.py SMALL.json TABLE.json [SMALL.json TABLE.json ...]

SMALL.json is a result of `memsweep run allocator_small`, TABLE.json one of `scripts/malloc_table.py --run`, taken soon after it. Both
are nanoseconds that a malloc and its free take a thread, medians of their repetitions and rounds. A share is that of the scenario: 1
is the same. Of several pairs, taken in turns because a host's pace changes from minute to minute, all figures are medians.
Exit code 1 where the same threads differ by more than 15 %.
"""

import collections
import json
import pathlib
import statistics
import sys

LIMIT = 0.15
KINDS = {1: "one_thread", 2: "two_threads"}


def bytes_of(text):
    return int(text.removesuffix("KiB")) * (1024 if text.endswith("KiB") else 1)


def of_table(path):
    rounds = collections.defaultdict(list)
    for one in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
        if not one.get("error_occurred"):
            _, allocator, count, kind = one["name"].split("/")[:4]
            rounds[allocator, int(count), kind].append(one["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[one["time_unit"]])
    return {key: statistics.median(values) for key, values in rounds.items()}


def of_scenario(path):
    times = {}
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        params = case["params"]
        seconds = statistics.median(case["metrics"]["time_per_op"]["values"])
        times[params["allocator"], bytes_of(params["size"]), params["threads"]] = 1e9 * params["threads"] * seconds
    return times


def main():
    paths = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if not paths or len(paths) % 2 != 0:
        sys.exit(__doc__)
    pairs = [(of_scenario(small), of_table(table)) for small, table in zip(paths[::2], paths[1::2])]
    print(f"{'allocator':10}{'bytes':>6}{'threads':>8}{'scenario':>10}{'loop in such threads':>22}{'share':>7}"
          f"{'first thread':>14}{'share':>7}")
    apart = 0
    for allocator, count, threads in pairs[0][0]:
        same, first = (allocator, count, KINDS[threads]), (allocator, count, "untouched")
        if same not in pairs[0][1]:
            continue
        ours = [small[allocator, count, threads] for small, _ in pairs]
        beside = {key: [table[key] for _, table in pairs] for key in (same, first)}
        share = {key: statistics.median(a / b for a, b in zip(ours, beside[key])) for key in (same, first)}
        apart += abs(share[same] - 1) > LIMIT
        print(f"{allocator:10}{count:6}{threads:8}{statistics.median(ours):10.2f}{statistics.median(beside[same]):22.2f}"
              f"{share[same]:7.2f}{statistics.median(beside[first]):14.2f}{share[first]:7.2f}")
    print(f"{apart} differ from the loop in such threads by more than {100 * LIMIT:.0f} %")
    sys.exit(apart != 0)


if __name__ == "__main__":
    main()
