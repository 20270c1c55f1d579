#!/usr/bin/python3
"""Compares our concatenation with NumPy's: the cases of the sweep that NumPy can run, on this machine, interleaved.

    benchmarks/concat_beside_numpy.py [--rounds 20] [--binary build/release/concat_time] [LABEL ...]

Each round runs every case in both, each time in a process of its own: the same inputs, warm-up and repetitions, a
result allocated and freed per call, the upper middle of the sorted times. Which of the two comes first changes from
round to round. Printed are the medians, the median of the rounds' ratios with its exact 95 % interval (ours over
NumPy's, below 1 is faster), and the geometric mean.
Needs Debian's python3-numpy. Exit codes: 0 measured, 2 wrong usage or a case failed.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import concat_sweep  # noqa: E402: found by the line above
from paired_rounds import geometric_mean, interval_of_median  # noqa: E402

WARMUP = 20
FREED_BYTES = 16 << 20


def numpy_median_ns(case):
    np.empty(FREED_BYTES, np.uint8)  # freed at once: malloc is in the state that concat_time's is in
    call = case.build()
    clock = time.perf_counter_ns
    for _ in range(WARMUP):
        call()
    times = []
    for _ in range(case.repetitions):
        start = clock()
        call()
        times.append(clock() - start)
    return sorted(times)[case.repetitions // 2]


def alone(measure, *arguments):
    """What `measure` returns, from a process of its own: a heap that earlier cases have left full of free memory, or
    have taught to map none, makes a case faster than it is."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "w") as out:
            print(measure(*arguments), file=out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not text:
        sys.exit(f"concat_beside_numpy: a process of NumPy's ended with status {status}")
    return float(text)


def our_median_ns(binary, label):
    done = subprocess.run([binary, label], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(2)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--binary", default=ROOT / "build/release/concat_time")
    parser.add_argument("labels", nargs="*", metavar="LABEL")
    options = parser.parse_args()
    table = {label: case for label, case in concat_sweep.cases().items() if case.in_numpy}
    unknown = [label for label in options.labels if label not in table]
    if unknown or options.rounds < 1:
        parser.error(f"no such case: {', '.join(unknown)}" if unknown else "at least one round")
    labels = options.labels or list(table)
    times = {label: ([], []) for label in labels}
    for number in range(options.rounds):
        for label in labels:
            case = table[label]
            for first in (True, False):
                if first == (number % 2 == 0):
                    times[label][0].append(our_median_ns(options.binary, label))
                else:
                    times[label][1].append(alone(numpy_median_ns, case))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    report(times, options.rounds)


def report(times, rounds):
    print(f"NumPy {np.__version__}, {rounds} rounds; times in ms, ratio = ours / NumPy's")
    print(f"{'case':34} {'ours':>9} {'NumPy':>9} {'ratio':>6}   95 % interval")
    ratios = []
    for label, (own, other) in times.items():
        rounds_ratios = [a / b for a, b in zip(own, other)]
        low, high = interval_of_median(rounds_ratios)
        ratios.append(statistics.median(rounds_ratios))
        ms = [statistics.median(values) / 1e6 for values in (own, other)]
        print(f"{label:34} {ms[0]:9.4f} {ms[1]:9.4f} {ratios[-1]:6.2f}   {low:.2f} to {high:.2f}")
    print(f"{len(ratios)} cases: geometric mean {geometric_mean(ratios):.3f}, highest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
