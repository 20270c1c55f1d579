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
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

WARMUP = 20
ROOT = pathlib.Path(__file__).resolve().parent.parent


def joined(arrays, **options):
    options.setdefault("axis", 0)
    return lambda: np.concatenate(arrays, **options)


def square(rows=1000):
    return np.arange(rows * 1000, dtype=np.int32).reshape(rows, 1000)


def dtype_case(name):
    return lambda: joined([np.ones(1_000_000, dtype=name) for _ in range(2)])


def layout_case(shape, axis, order="C"):
    def build():
        arrays = [np.arange(1_000_000, dtype=np.int32).reshape(shape).copy() for _ in range(2)]
        return joined([np.asarray(array, order=order) for array in arrays], axis=axis)

    return build


def transposed():
    source = square()
    return joined([source.T, source.T])


def counted(count, elements=100_000):
    return lambda: joined([np.arange(elements, dtype=np.int32) for _ in range(count)])


def mixed(first, second):
    return lambda: joined([np.ones(1_000_000, dtype=first), np.ones(1_000_000, dtype=second)])


def asked(first, second, out=None, **options):
    def build():
        arrays = [np.arange(1_000_000, dtype=name) for name in (first, second)]
        if out:
            options["out"] = np.zeros(2_000_000, dtype=out)
            options["out"][:] = 0
        return joined(arrays, **options)

    return build


def cases():
    """label -> (a function that builds the inputs and gives the call, repetitions), in the order of the sweep."""
    table = {}
    for name in ("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex128").split():
        table[f"dtype_{name}_1M"] = dtype_case(name), 100
    flat, cube = (1_000_000,), (100, 100, 100)
    for label, build in (
        ("c_contig_1d", layout_case(flat, 0)),
        ("c_contig_2d_axis0", layout_case((1000, 1000), 0)),
        ("c_contig_2d_axis1", layout_case((1000, 1000), 1)),
        ("c_contig_3d_axis0", layout_case(cube, 0)),
        ("c_contig_3d_axis2", layout_case(cube, 2)),
        ("f_contig_2d_axis0", layout_case((1000, 1000), 0, "F")),
        ("f_contig_2d_axis1", layout_case((1000, 1000), 1, "F")),
        ("strided_2d_axis0", lambda: joined([square(2000)[::2], square()])),
        ("transposed_2d_axis0", transposed),
        ("sliced_2d_axis0", lambda: joined([square(2000)[500:1500, :], square()])),
        ("broadcast_2d_axis0", lambda: joined([np.broadcast_to(square(1), (1000, 1000)), square()])),
    ):
        table["layout_" + label] = build, 100
    for elements in (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000):
        repetitions = 500 if elements < 100_000 else 200 if elements < 1_000_000 else 50
        table[f"size_{elements}"] = counted(2, elements), repetitions
    for count in (2, 4, 8, 16, 64, 256, 1024):
        table[f"count_{count}"] = counted(count), 100 if count <= 64 else 30
    for label, first, second in (
        ("int8_int16", "int8", "int16"),
        ("int8_uint8", "int8", "uint8"),
        ("int32_int64", "int32", "int64"),
        ("int32_uint32", "int32", "uint32"),
        ("int32_float32", "int32", "float32"),
        ("int32_float64", "int32", "float64"),
        ("int64_float64", "int64", "float64"),
        ("half_single", "float16", "float32"),
        ("float32_float64", "float32", "float64"),
        ("float64_complex", "float64", "complex128"),
        ("int32_complex", "int32", "complex128"),
    ):
        table["prom_" + label] = mixed(first, second), 100
    table["out_int32_1M"] = asked("int32", "int32", out="int32"), 100
    table["out_mixed_to_float64"] = asked("float32", "int32", out="float64", casting="unsafe"), 100
    table["dtype_override_int32_to_float64"] = asked("int32", "int32", dtype="float64"), 100
    table["axis_none_2x_1M_2D"] = lambda: joined([square(), square()], axis=None), 100
    table["casting_unsafe_int64_to_int32"] = asked("int64", "int64", dtype="int32", casting="unsafe"), 100
    return table


def numpy_median_ns(build, repetitions):
    call = build()
    clock = time.perf_counter_ns
    for _ in range(WARMUP):
        call()
    times = []
    for _ in range(repetitions):
        start = clock()
        call()
        times.append(clock() - start)
    return sorted(times)[repetitions // 2]


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


def interval_of_median(values):
    """Order statistics that enclose the median with at least 95 %; the whole range where there are too few."""
    ordered, n = sorted(values), len(values)
    outside, rank = 0.0, 0
    while True:
        outside += math.comb(n, rank) / 2**n
        if 2 * outside > 0.05:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--binary", default=ROOT / "build/release/concat_time")
    parser.add_argument("labels", nargs="*", metavar="LABEL")
    options = parser.parse_args()
    table = cases()
    unknown = [label for label in options.labels if label not in table]
    if unknown or options.rounds < 1:
        parser.error(f"no such case: {', '.join(unknown)}" if unknown else "at least one round")
    labels = options.labels or list(table)
    times = {label: ([], []) for label in labels}
    for number in range(options.rounds):
        for label in labels:
            build, repetitions = table[label]
            for first in (True, False):
                if first == (number % 2 == 0):
                    times[label][0].append(our_median_ns(options.binary, label))
                else:
                    times[label][1].append(alone(numpy_median_ns, build, repetitions))
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
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"{len(ratios)} cases: geometric mean {mean:.3f}, highest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
