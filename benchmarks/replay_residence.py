#!/usr/bin/env python3
"""What a replay says a program with threads would hold under an allocator, beside what it really holds.

    benchmarks/replay_residence.py [--program NAME]... [--allocator NAME]... [--idle SECONDS] [--runs N] [--real-runs N]
                                  [--out FILE]

Everything is measured. benchmarks/replay_residence/programs.cpp has twelve programs whose threads are kept apart: joined one after
the other, by a mutex, a condition variable, a queue, barriers between phases, a thread for each request; each frees all of its blocks
or leaves every tenth behind. Each is run under each allocator by LD_PRELOAD and prints what is resident without files at its peak,
at its last event and after it has been idle; it is recorded once, under glibc, and the trace is replayed on all of them.

A figure agrees where the replay's median is within 10 % or 1 MiB of what the real runs span: who gets a mutex next, and how many
requests are in hand at once, differs from run to run, and with it what an allocator holds. Where memsweep declines a verdict on
memory, because more may be live in the replay than was recorded, the figures count apart. Advice is contradicted where the
allocator that replay says holds less, in each of its replays, really holds more, by more than 10 % and 1 MiB, at the moment that it
names, in the medians.

Exit codes: 0 nine in ten agree and no advice is contradicted, 1 not, 2 something failed.
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
NAMES = [kind + end for kind in ("join", "mutex", "condition", "queue", "phases", "requests") for end in ("", "_keeping")]
LIBRARIES = {"glibc": "", "jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0", "tcmalloc": "libtcmalloc_minimal.so.4"}
MOMENTS = ("peak", "end", "idle")
MIB = 1 << 20


def really(program, name, allocators, idle, runs):
    """By allocator and moment what the program itself reads of /proc/self/status: the least, the median, the most. While one
    idles the next runs."""
    started = []
    for allocator in [one for one in allocators for _ in range(runs)]:
        variables = dict(os.environ)
        variables.pop("LD_PRELOAD", None)
        if LIBRARIES[allocator]:
            variables["LD_PRELOAD"] = LIBRARIES[allocator]
        process = subprocess.Popen([program, name, str(idle)], env=variables, stdout=subprocess.PIPE, text=True)
        started.append((allocator, process, process.stdout.readline()))
    rows = {allocator: [] for allocator in allocators}
    for allocator, process, line in started:
        words = (line + process.communicate()[0]).split()
        if process.returncode != 0 or len(words) != len(MOMENTS):
            raise Failed(f"{name} under {allocator} ended with {process.returncode}: {words}")
        rows[allocator].append([int(word) for word in words])
    return {allocator: {moment: (min(column), median(list(column)), max(column)) for moment, column in zip(MOMENTS, zip(*mine))}
            for allocator, mine in rows.items()}


def replayed(trace, allocators, idle, runs):
    """By allocator: the least, the median and the most by moment, and the most that can be live."""
    text = call(MEMSWEEP, "replay", trace, "--on", ",".join(allocators), "-n", str(runs), "--warmup", "0", "--no-latency", "--settle", f"{idle}s",
                 "--json", "-q", codes=(0, 1, 5))
    result = json.loads(text)
    found = {}
    for case in result["cases"]:
        if case["status"] != "ok":
            raise Failed(f"{case['id']}: {case['reason']}")
        metrics = case["metrics"]
        figures = {moment: metrics[f"resident_{moment}"]["summary"] for moment in MOMENTS}
        found[case["params"]["on"]] = {moment: (one["min"], one["median"], one["max"]) for moment, one in figures.items()}
        found[case["params"]["on"]]["live_bytes_bound"] = metrics["live_bytes_bound"]["summary"]["median"]
    return found


def agrees(said, least, most):
    return least - max(least / 10, MIB) <= said <= most + max(most / 10, MIB)


def judge(rows):
    judged = [row for row in rows if not row["declined"]]
    agreeing = sum(row["agrees"] for row in judged)
    contradicted = []
    for program in {row["program"] for row in judged}:
        for moment in MOMENTS:
            mine = [row for row in judged if row["program"] == program and row["moment"] == moment]
            least = min(mine, key=lambda row: row["replayed"])
            for row in mine:
                apart = row["replayed_least"] - least["replayed_most"]
                more = row["replayed"] - least["replayed"]
                is_advice = apart > 0 and more > max(least["replayed"] / 20, MIB / 4)
                if is_advice and least["real"] > row["real"] * 1.1 and least["real"] - row["real"] > MIB:
                    contradicted.append(f"{program}, {moment}: {least['allocator']} before {row['allocator']}")
    return {"judged": len(judged), "declined": len(rows) - len(judged), "agree": agreeing, "contradicted": contradicted}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", choices=NAMES)
    parser.add_argument("--allocator", action="append", choices=list(LIBRARIES))
    parser.add_argument("--idle", type=float, default=12)
    parser.add_argument("--runs", type=int, default=3, help="replays on each allocator")
    parser.add_argument("--real-runs", type=int, default=8)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    allocators = arguments.allocator or list(LIBRARIES)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "programs"
        call("g++", "-O2", "-std=c++20", "-pthread", "-o", program, ROOT / "benchmarks/replay_residence/programs.cpp")
        for name in arguments.program or NAMES:
            trace = pathlib.Path(folder) / f"{name}.mst"
            call(MEMSWEEP, "record", "-q", "-o", trace, "--", program, name, "0")
            peak = json.loads(call(MEMSWEEP, "info", "--json", trace))["peak_live_bytes"]
            said = replayed(trace, allocators, arguments.idle, arguments.runs)
            real = really(program, name, allocators, arguments.idle, arguments.real_runs)
            for allocator in allocators:
                for moment in MOMENTS:
                    least, middle, most = real[allocator][moment]
                    found_least, found, found_most = said[allocator][moment]
                    row = {"program": name, "allocator": allocator, "moment": moment, "real": middle, "real_least": least, "real_most": most,
                           "replayed": found, "replayed_least": found_least, "replayed_most": found_most,
                           "declined": said[allocator]["live_bytes_bound"] > 1.05 * peak, "agrees": agrees(found, least, most)}
                    rows.append(row)
                    print(f"{name:18} {allocator:9} {moment:5} {least / MIB:8.1f} to {most / MIB:8.1f} MiB, replayed {found / MIB:8.1f}"
                          f"{'' if row['agrees'] else '  differs'}{'  declined' if row['declined'] else ''}", flush=True)
            trace.unlink()
    summary = judge(rows)
    print(json.dumps(summary))
    if arguments.out:
        machine = json.loads(call(MEMSWEEP, "doctor", "--json", codes=(0, 1)))["machine"]
        document = {"idle_seconds": arguments.idle, "runs": arguments.runs, "real_runs": arguments.real_runs, "machine": machine,
                    "summary": summary, "rows": rows}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if summary["agree"] >= 0.9 * summary["judged"] and not summary["contradicted"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
