#!/usr/bin/env python3
"""Counts the instructions of an operation of memsweep_bench's hot paths under callgrind: exact, so that no machine is too busy.

    benchmarks/instructions.py                                         print them
    benchmarks/instructions.py --write                                 and keep them in results/reference/hot_path_instructions.txt
    benchmarks/instructions.py --check                                 exit code 1 when one has more than a tenth more than is kept there

Each path runs twice, the second time with more turns: what is beyond the loop cancels. Compilers make different instructions, so
what one of them built is held against its own reference alone; for another, for a build that is not optimised and without
valgrind nothing is judged, exit code 77.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/release/memsweep_bench"
REFERENCE = ROOT / "results/reference/hot_path_instructions.txt"
PATHS = ("pool_hit/tls", "pool_hit/floor", "array_create_free/pooled", "array_create_free/floor", "array_create_free/promised",
         "engine_alloc_drop/exact", "engine_alloc_drop/uncounted", "engine_alloc_drop/malloc_free")
FEW, MANY = 10_000, 30_000
GROWTH = 1.10
NOT_JUDGED = 77


def compiler_of(bench):
    return subprocess.run([bench, "--hot-path", "compiler", "0"], capture_output=True, text=True, check=True).stdout.strip()


def instructions(bench, path, turns):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", bench, "--hot-path", path, str(turns)],
                          capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"callgrind could not run {path}:\n{done.stderr}")
    return int(found.group(1))


def per_operation(bench):
    return {path: (instructions(bench, path, MANY) - instructions(bench, path, FEW)) / (MANY - FEW) for path in PATHS}


def text_of(compiler, counts):
    lines = ["# benchmarks/instructions.py --write: instructions of an operation, counted by callgrind", f"# {compiler}"]
    return "\n".join(lines + [f"{path:32} {count:8.1f}" for path, count in counts.items()]) + "\n"


def kept(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[1].removeprefix("# "), {name: float(count) for name, count in (line.split() for line in lines[2:])}


def grown(counts, reference):
    return [f"{path}: {count:.1f} instructions, {reference[path]:.1f} are kept" for path, count in counts.items()
            if path in reference and count > reference[path] * GROWTH + 0.5]


def not_judged(why):
    print(f"left out: instructions of the hot paths: {why}")
    sys.exit(NOT_JUDGED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bench", type=pathlib.Path, default=BENCH, help="memsweep_bench, default that of the release build")
    parser.add_argument("--reference", type=pathlib.Path, default=REFERENCE)
    parser.add_argument("--write", action="store_true", help="keep the counts")
    parser.add_argument("--check", action="store_true", help="hold the counts against those that are kept")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        not_judged("there is no valgrind")
    compiler = compiler_of(arguments.bench)
    if arguments.check:
        recorded_with, reference = kept(arguments.reference)
        if compiler != recorded_with:
            not_judged(f"recorded with {recorded_with}, this is {compiler}")
    counts = per_operation(arguments.bench)
    print(text_of(compiler, counts), end="")
    if arguments.write:
        arguments.reference.write_text(text_of(compiler, counts), encoding="utf-8")
    if arguments.check and (worse := grown(counts, reference)):
        sys.exit("\n".join(worse))


if __name__ == "__main__":
    main()
