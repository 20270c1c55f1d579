#!/usr/bin/env python3
"""What `explain` says that removing a call site returns, beside the program really run without it.

    benchmarks/without_a_site.py [--kind KIND]... [--allocator NAME]... [--first-seed N] [--seeds N] [--runs N] [--out FILE]

benchmarks/without_a_site/programs.cpp has programs of up to six call sites, single-threaded and with threads, some of them drawn by a
seed. Each is run under each allocator that is installed as it is, and without each of its sites; it reads of the kernel what it holds
at its end, and what it still holds once its allocator was asked to give back: medians of the runs, without any recorder. `explain`
records the program once and replays the recording without each site.

A figure agrees where it is within 10 % or 16 pages of what the real runs span: what a program with threads holds is another amount in
each run. Only figures that are told count: where the replay of everything is more than 5 % off the program, explain offers none, and it
tells none that is less than ten times the replay's own error; the row says so. Beside it stands the figure that needs no replay: what of
a site is live, and what it left behind. The load of the machine stands beside each program.

Exit codes: 0 95 of 100 told figures of single-threaded programs agree, and 90 of those with threads; 1 not; 2 something failed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from verdicts import ROOT, Failed, call, median

MEMSWEEP = ROOT / "build/release/memsweep"
LIBRARIES = {"glibc": "", "jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0", "tcmalloc": "libtcmalloc_minimal.so.4"}
SITES = {"cache": 1, "retain": 1, "pins": 2, "aligned": 2, "random": 6, "churn": 6, "arenas": 2, "handed": 2, "phases": 6}
SEEDED = ("random", "churn", "phases")
THREADED = ("arenas", "handed", "phases")
FIGURES = ("returns", "returns_after_request")
PAGE = os.sysconf("SC_PAGESIZE")


def environment(allocator, **more):
    variables = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "WITHOUT", "ASK")}
    if LIBRARIES[allocator]:
        variables["LD_PRELOAD"] = LIBRARIES[allocator]
    return {**variables, **more}


def installed(allocator):
    run = subprocess.run(["true"], env=environment(allocator), capture_output=True, text=True)
    return run.returncode == 0 and "cannot be preloaded" not in run.stderr


def held(program, kind, seed, allocator, runs, without=0):
    rows = []
    for _ in range(runs):
        run = subprocess.run([program, kind, str(seed)], env=environment(allocator, ASK="1", WITHOUT=str(without)), capture_output=True, text=True)
        numbers = [int(word) for word in run.stdout.split()]
        if run.returncode != 0 or len(numbers) != 2:
            raise Failed(f"{kind} {seed} under {allocator} ended with {run.returncode}: {run.stdout}{run.stderr}")
        rows.append(numbers)
    return [list(column) for column in zip(*rows)]


def returned(whole, rest):
    """What the runs really returned: by figure the median, and the least and the most of any two runs, with and without."""
    return {name: (median(before) - median(after), min(before) - max(after), max(before) - min(after))
            for name, before, after in zip(FIGURES, whole, rest)}


def explained(program, kind, seed, allocator, folder):
    result = pathlib.Path(folder) / "explained.json"
    preload = [f"LD_PRELOAD={LIBRARIES[allocator]}"] if LIBRARIES[allocator] else []
    run = subprocess.run([MEMSWEEP, "explain", "-f", "json", "-o", result, "--remove", "8", "--", "env", *preload, program, kind, str(seed)],
                         env=environment("glibc"), capture_output=True, text=True)
    if run.returncode != 0:
        raise Failed(f"explain {kind} {seed} under {allocator} ended with {run.returncode}: {run.stderr}")
    return json.loads(result.read_text())


def agrees(said, real):
    middle, least, most = real
    allowed = max(abs(middle) / 10, 16 * PAGE)
    return least - allowed <= said <= most + allowed


def rows_of(program, kind, seed, allocator, runs, folder):
    load = os.getloadavg()[0]
    report = explained(program, kind, seed, allocator, folder)
    whole = held(program, kind, seed, allocator, runs)
    rows = []
    for number in range(1, SITES[kind] + 1):
        found = [one for one in report["sites"] if f"_{number} " in one["site"] and one["live"] + one["left_behind"] > 0]
        site = found[0] if found else None
        rest = held(program, kind, seed, allocator, runs, number)
        real = returned(whole, rest)
        said = site["without"] if site else None
        row = {"kind": kind, "seed": seed, "allocator": allocator, "site": number, "threads": kind in THREADED, "load": round(load, 2),
               "rank": report["sites"].index(site) + 1 if site else None, "real": {name: one[0] for name, one in real.items()},
               "real_least": {name: one[1] for name, one in real.items()}, "real_most": {name: one[2] for name, one in real.items()},
               "said": said and {name: said[name] for name in FIGURES},
               "error": said and {name: said[name.replace("returns", "error")] for name in FIGURES},
               "not_told": said and {name: said[name.replace("returns", "not_told")] for name in FIGURES},
               "without_replay": site and site["live"] + site["left_behind"], "replay_check": report["replay_check"], "not_replayed": report["not_replayed"]}
        row["agrees"] = said and {name: None if said[name] is None else agrees(said[name], real[name]) for name in FIGURES}
        row["agrees_without_replay"] = site and agrees(row["without_replay"], real["returns"])
        rows.append(row)
    return rows


def judge(rows):
    summary = {}
    for name, threads in (("single", False), ("threads", True)):
        mine = [row for row in rows if row["threads"] == threads]
        programs = {(row["kind"], row["seed"], row["allocator"]): row["not_replayed"] for row in mine}
        replayed = [row for row in mine if row["said"]]
        told = {figure: [row["agrees"][figure] for row in replayed if row["agrees"][figure] is not None] for figure in FIGURES}
        top = [row for row in replayed if row["rank"] == 1 and any(agree is not None for agree in row["agrees"].values())]
        summary[name] = {"programs": len(programs), "programs_offered": sum(why is None for why in programs.values()), "sites": len(replayed),
                         "figures": sum(map(len, told.values())), "told": {figure: len(agree) for figure, agree in told.items()},
                         "agree": {figure: sum(agree) for figure, agree in told.items()},
                         "top_sites": len(top), "top_sites_agree": sum(all(agree is not False for agree in row["agrees"].values()) for row in top),
                         "without_replay": sum(row["agrees_without_replay"] for row in replayed)}
    return summary


def is_good(summary):
    agree = {name: sum(one["agree"].values()) for name, one in summary.items()}
    return agree["single"] >= 0.95 * summary["single"]["figures"] and agree["threads"] >= 0.9 * summary["threads"]["figures"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=list(SITES))
    parser.add_argument("--allocator", action="append", choices=list(LIBRARIES))
    parser.add_argument("--first-seed", type=int, default=1, help="of each kind that has them")
    parser.add_argument("--seeds", type=int, default=5, help="so many from there on")
    parser.add_argument("--runs", type=int, default=3, help="of the program, and of it without each site")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    allocators = [one for one in arguments.allocator or LIBRARIES if installed(one)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "programs"
        call("g++", "-O1", "-g", "-std=c++20", "-fno-builtin", "-pthread", "-o", program, ROOT / "benchmarks/without_a_site/programs.cpp")
        for kind in arguments.kind or SITES:
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds) if kind in SEEDED else [1]:
                for allocator in allocators:
                    for row in rows_of(program, kind, seed, allocator, arguments.runs, folder):
                        rows.append(row)
                        said = "not offered" if row["said"] is None else " ".join(
                            "not told" if row["said"][name] is None else f"{row['said'][name] >> 10:8}{'' if row['agrees'][name] else '!'}" for name in FIGURES)
                        print(f"{kind:8} {seed:2} {allocator:9} site {row['site']} really {row['real']['returns'] >> 10:8} "
                              f"{row['real']['returns_after_request'] >> 10:8} KiB, said {said}", flush=True)
    summary = judge(rows)
    print(json.dumps(summary))
    if arguments.out:
        machine = json.loads(call(MEMSWEEP, "doctor", "--json", codes=(0, 1)))["machine"]
        document = {"runs": arguments.runs, "first_seed": arguments.first_seed, "seeds": arguments.seeds, "allocators": allocators, "machine": machine, "summary": summary, "rows": rows}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if is_good(summary) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
