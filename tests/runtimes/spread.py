#!/usr/bin/env python3
"""How far the recordings of one curve differ from run to run.

    tests/runtimes/spread.py OUT -o tests/runtimes/spread.json     OUT: what record.py OUT --runs 5 left
    ... --typical FOLDER       copies of each curve the run that is nearest to the median of all, unless FOLDER has the curve

Of every curve, over the runs: least and most of the rows, of the peak of unreleased buffers, of those unreleased at the
end, of the iteration of the first collection (null where none came), and of the collections after the first row (column
gc0: on a JVM all of them, on Mono minor and major ones, on CPython those of generation 0).
"""

import argparse
import json
import pathlib
import shutil
import statistics

import record


def figures(path):
    rows = record.rows_of(path)
    unreleased = [int(row["unreleased"]) for row in rows]
    collections = [int(row["gc0"]) - int(rows[0]["gc0"]) for row in rows]
    first = next((int(row["i"]) for row, count in zip(rows, collections) if count > 0), None)
    return {"iterations": int(rows[-1]["i"]) + 1, "peak_unreleased": max(unreleased), "end_unreleased": unreleased[-1],
            "first_collection": first, "collections": collections[-1]}


def spread(paths):
    runs = [figures(path) for path in paths]
    ranges = {}
    for name in runs[0]:
        values = [run[name] for run in runs if run[name] is not None]
        ranges[name] = {"min": min(values), "max": max(values)} if values else None
    return {"runs": len(runs), **ranges}


def most_typical(paths):
    runs = [figures(path) for path in paths]
    names = ("peak_unreleased", "end_unreleased", "collections")
    medians = {name: statistics.median(run[name] for run in runs) for name in names}
    return min(zip(paths, runs), key=lambda pair: sum(abs(pair[1][name] - medians[name]) for name in names))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    parser.add_argument("--typical", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    curves = sorted({path.stem for path in options.recorded.glob("run*/*.csv")})
    if not curves:
        parser.error(f"{options.recorded}: no recordings in run1/, run2/, ...")
    spreads = {curve: spread(sorted(options.recorded.glob(f"run*/{curve}.csv"))) for curve in curves}
    for curve in curves if options.typical else ():
        if not (options.typical / f"{curve}.csv").exists():
            shutil.copy(most_typical(sorted(options.recorded.glob(f"run*/{curve}.csv"))), options.typical)
    lines = ",\n".join(f"  {json.dumps(curve)}: {json.dumps(values)}" for curve, values in spreads.items())
    options.out.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
