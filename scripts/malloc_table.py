#!/usr/bin/env python3
"""Measures malloc_free/* of memsweep_bench and makes a table of it.

    scripts/malloc_table.py --run results/reference/malloc_free.json     measure, keep Google Benchmark's JSON, print the table
    scripts/malloc_table.py --run --more results/reference/malloc_free.json    add rounds to those that the file has
    scripts/malloc_table.py results/reference/malloc_free.json           print the table of a result
    scripts/malloc_table.py results/reference/malloc_free.json --quoted-in docs/allocators.md    exit code 1 when that quotes another one

The rounds are interleaved over all benchmarks, and each cell is the fastest of them: what disturbs only makes slower. Page faults
are counts; `results/reference/README.md` says what else ran on the machine.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/release/memsweep_bench"


def one_round(bench):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([bench, "--benchmark_filter=^malloc_free/", f"--benchmark_out={out.name}", "--benchmark_out_format=json"],
                       stdout=subprocess.DEVNULL, check=True)
        return json.load(open(out.name, encoding="utf-8"))


def measure(path, rounds, bench, more):
    document = json.loads(path.read_text(encoding="utf-8")) if more and path.exists() else None
    load = [] if document is None else document["context"]["load_average_by_round"]
    load.append(os.getloadavg()[0])
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        found = one_round(bench)
        load.append(os.getloadavg()[0])
        if document is None:
            document = found
        else:
            document["benchmarks"] += found["benchmarks"]
    document["context"]["executable"] = bench.name  # not where somebody's checkout lies
    document["context"]["load_average_by_round"] = [round(one, 2) for one in load]
    path.write_text(text_of(document), encoding="utf-8")


def text_of(document):
    """Google Benchmark's JSON, a line for each measurement, without the places in its families."""
    rest = {key: value for key, value in document.items() if key != "benchmarks"}
    kept = [{key: round(value, 4) if isinstance(value, float) else value for key, value in one.items() if "family" not in key}
            for one in document["benchmarks"]]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in kept)
    return json.dumps(rest)[:-1] + f', "benchmarks": [\n{lines}\n]}}\n'


def size_text(count):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if count >> shift and not count & ((1 << shift) - 1):
            return f"{count >> shift} {unit}"
    return f"{count} B"


def time_text(nanoseconds):
    for unit, scale in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def cells(document):
    """(touched, bytes) -> allocator -> (fastest ns, fewest faults)"""
    table = collections.defaultdict(dict)
    for one in document["benchmarks"]:
        if one.get("error_occurred"):
            continue
        _, allocator, count, touched = one["name"].split("/")[:4]
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[one["time_unit"]]
        row = table[touched, int(count)]
        known = row.get(allocator, (float("inf"), float("inf")))
        row[allocator] = (min(known[0], one["real_time"] * scale), min(known[1], one["faults"]))
    return table


def table_text(document):
    table = cells(document)
    lines = []
    allocators = list(dict.fromkeys(name for row in table.values() for name in row))
    for touched in ("untouched", "touched"):
        lines.append(f"\n| {touched} | " + " | ".join(name.replace("_", " ") for name in allocators) + " |")
        lines.append("|---:|" + "---:|" * len(allocators))
        for (kind, count), row in sorted(table.items()):
            if kind != touched:
                continue
            texts = []
            for name in allocators:
                nanoseconds, faults = row.get(name, (None, None))
                text = "-" if nanoseconds is None else time_text(nanoseconds)
                texts.append(text + (f" ({faults:,.0f} f)" if faults and faults >= 0.5 else ""))
            lines.append(f"| {size_text(count)} | " + " | ".join(texts) + " |")
    return "\n".join(lines).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--run", action="store_true", help="measure first, into that file")
    parser.add_argument("--more", action="store_true", help="keep the rounds that the file has")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bench", type=pathlib.Path, default=BENCH, help="memsweep_bench, default that of the release build")
    parser.add_argument("--quoted-in", type=pathlib.Path, help="a document that must have the table")
    arguments = parser.parse_args()
    if arguments.run:
        measure(arguments.result, arguments.rounds, arguments.bench, arguments.more)
    table = table_text(json.loads(arguments.result.read_text(encoding="utf-8")))
    if arguments.quoted_in is None:
        print(table)
    elif table not in arguments.quoted_in.read_text(encoding="utf-8"):
        sys.exit(f"{arguments.quoted_in} does not quote the table of {arguments.result}:\n\n{table}")


if __name__ == "__main__":
    main()
