#!/usr/bin/env python3
"""A runtime profile of one's own, from a recording: what the program allocates beside each array, worked out from when
collections came.

    fit_profile.py RECORDING.csv --inherits jvm-cleaner --heap-initial 128MiB --heap-max 512MiB --garbage 262144 -o my.json
    fit_profile.py RECORDING.csv --inherits jvm-cleaner-g1 --heap-max 256MiB -o my.json       without -Xms
    fit_profile.py RECORDING.csv --inherits cpython -o my.json
    fit_profile.py RECORDING.csv --inherits mono --garbage 262144 -o my.json

RECORDING.csv has a row per iteration, with columns i, unreleased and gc0 (on a JVM: collections of any kind), as Repro.java,
Repro.cs and repro.py beside this file print them, and as any loop can that allocates one native buffer per iteration.

Of a JVM and of Mono it gives managed_bytes, from the iterations between two collections of the largest number, and
nursery_used, from those before the first; of CPython temporary_containers and containers_at_start, of a loop that keeps no
containers beside its arrays. Everything else is the profile's that --inherits names. docs/scenario-format.md says where
each key comes from.

Exit codes  0 written; 2 the recording says too little.
"""

import argparse
import csv
import json
import pathlib
import re
import sys

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
MONO_NURSERY, MONO_LARGE, MONO_HEADER = 4 << 20, 8000, 32
JVM_HEADER = 16
REGION = 1 << 20
UNIT = 64 << 10  # of Serial's generations


class TooLittle(Exception):
    pass


def size(text):
    found = re.fullmatch(r"(\d+)([kmgKMG]?)(?:i?[bB])?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text}: a size such as 256MiB or 64m")
    return int(found[1]) * UNITS[found[2].lower()]


def collections(path):
    """The iterations that collections came in."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [(int(row["i"]), int(row["gc0"])) for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    except (KeyError, TypeError, ValueError) as problem:
        raise TooLittle(f"{path}: no recording: it needs numbers in the columns i and gc0") from problem
    return [after[0] for before, after in zip(rows, rows[1:]) if after[1] != before[1]]


def first_and_period(path, least):
    found = collections(path)
    if len(found) < least:
        raise TooLittle(f"{path}: {len(found)} collections, and {least} are needed: record more iterations")
    periods = sorted(after - before for before, after in zip(found, found[1:]))
    return found[0], periods[len(periods) // 2]


def serial_eden(initial, most):
    young = initial // 3 // UNIT * UNIT
    if most > initial:
        young = max(young, min(((initial - young) // 2 + 5320 + UNIT - 1) // UNIT * UNIT, most // 3 // UNIT * UNIT))
    return young - 2 * (young // 10 // UNIT * UNIT)


def of_serial(path, options):
    eden = serial_eden(options.heap_initial, options.heap_max)
    buffer = eden // 50
    usable = eden - (buffer // 2 if options.garbage <= buffer else buffer)
    first, period = first_and_period(path, 2)
    array = options.garbage + JVM_HEADER if options.garbage else 0
    managed = max(usable // period - array, 1)
    return {"managed_bytes": managed, "nursery_used": max(usable - first * (managed + array) - buffer + (350 << 10), 0)}


def of_g1(path, options):
    """Of the last two collections: by then eden has 60 % of the heap."""
    found = collections(path)
    if len(found) < 4:
        raise TooLittle(f"{path}: {len(found)} collections, and 4 are needed: record more iterations")
    regions = options.heap_initial // options.region
    if options.heap_min == 0:
        regions = 10 + (regions - 10) // 2
    eden = (regions * 6 // 10 - 1) * options.region
    if options.garbage > options.region // 8:
        raise TooLittle("arrays of more than an eighth of a region hide the small objects between them: record with less garbage")
    array = options.garbage + JVM_HEADER if options.garbage else 0
    return {"managed_bytes": max(eden // (found[-1] - found[-2]) - array, 1)}


def of_mono(path, options):
    if options.garbage > MONO_LARGE:
        raise TooLittle("large objects bring the collections, not small ones: record with --garbage 0")
    first, period = first_and_period(path, 2)
    array = options.garbage + MONO_HEADER if options.garbage else 0
    managed = max(MONO_NURSERY // period - array, 1)
    return {"managed_bytes": managed, "nursery_used": max(MONO_NURSERY - first * (managed + array), 0)}


def of_cpython(path, options):
    first, period = first_and_period(path, 2)
    temporary = max(options.threshold - period, 0)
    return {"threshold0": options.threshold, "temporary_containers": temporary,
            "containers_at_start": max(options.threshold - temporary - first, 0)}


FITS = {"jvm-cleaner": of_serial, "jvm-directbuffer": of_serial, "jvm-cleaner-g1": of_g1, "jvm-directbuffer-g1": of_g1,
        "mono": of_mono, "cpython": of_cpython}


def heap(options):
    """The keys of a JVM's heap, where one is given."""
    if not options.inherits.startswith("jvm"):
        return {}
    if options.heap_max == 0:
        raise TooLittle("of a JVM give --heap-max, and --heap-initial where it was started with -Xms")
    options.heap_min = options.heap_initial
    options.heap_initial = options.heap_initial or options.heap_max
    keys = {"heap_initial": options.heap_initial, "heap_min": options.heap_min, "heap_max": options.heap_max}
    return {**keys, "region": options.region} if options.inherits.endswith("g1") else keys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=pathlib.Path)
    parser.add_argument("--inherits", required=True, choices=sorted(FITS))
    parser.add_argument("--heap-initial", type=size, default=0, help="-Xms, if it was given")
    parser.add_argument("--heap-max", type=size, default=0, help="-Xmx; without it and -Xms a 64th of the machine's memory")
    parser.add_argument("--region", type=size, default=REGION, help="of G1")
    parser.add_argument("--garbage", type=size, default=0, help="bytes of the managed array beside each buffer")
    parser.add_argument("--threshold", type=int, default=700, help="gc.get_threshold()[0]")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        keys = heap(options)
        keys.update(FITS[options.inherits](options.recording, options))
    except (OSError, TooLittle) as problem:
        print(f"fit_profile: {problem}", file=sys.stderr)
        return 2
    profile = {"format": "memsweep-profile", "version": 1, "name": options.out.stem,
               "description": f"As {options.inherits}; fitted to {options.recording.name}.", "inherits": options.inherits,
               "verified": False, "release": keys}
    options.out.write_text(json.dumps(profile, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
