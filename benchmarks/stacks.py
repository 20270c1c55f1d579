#!/usr/bin/env python3
"""What call stacks cost a recorded program, beside heaptrack: the same programs in interleaved rounds.

    benchmarks/stacks.py [--rounds 10] [--program NAME]... [--memsweep PATH] [--out FILE]

Of each way: wall time until the trace is written, processor time of all its processes, resident memory of the largest, each as
the median of its rounds and as the ratio to the program alone; the allocations that it saw, and their peak. Without heaptrack it
is left out. A busy machine spoils the times, not the counts.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = """#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> all;
int main() { all["a"].push_back(1); }
"""
QUERY = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 60000) "
         "insert into t select x, hex(x * 7919) || hex(x) from c; create index i on t(b); "
         "select count(*) from t a join t b on a.b = b.b;")
THREADS = r"""#include <stdlib.h>
#include <pthread.h>
static pthread_barrier_t all;
static void *body(void *x) {
    void *kept[100];
    for (int i = 0; i < 20000; ++i) free(malloc(16 + i % 100));
    for (int i = 0; i < 100; ++i) kept[i] = malloc(16 + i);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 100; ++i) free(kept[i]);
    return x; }
int main() { pthread_t t[64]; pthread_barrier_init(&all, 0, 64); for (int i = 0; i < 64; ++i) pthread_create(&t[i], 0, body, 0);
             for (int i = 0; i < 64; ++i) pthread_join(t[i], 0); }
"""


def programs(folder):
    """{name: words}, of those that this machine has; a compiler without its driver, since heaptrack leaves children out."""
    found = {}
    if shutil.which("g++"):
        (folder / "x.cpp").write_text(SOURCE)
        (folder / "x.c").write_text(THREADS)
        subprocess.run(["g++", "-E", folder / "x.cpp", "-o", folder / "x.ii"], check=True)
        subprocess.run(["gcc", "-O2", "-fno-builtin", folder / "x.c", "-o", folder / "threads", "-lpthread"], check=True)
        compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
        found["g++"] = [compiler, "-quiet", "-O1", "-fpreprocessed", folder / "x.ii", "-o", "/dev/null"]
        found["64 threads"] = [folder / "threads"]
    if shutil.which("sqlite3"):
        found["sqlite3"] = ["sqlite3", ":memory:", QUERY]
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python:
        found["python3"] = [python, "-c", "import json\nd = [{'k%d' % i: [str(j) for j in range(20)]} "
                            "for i in range(4000)]\nfor _ in range(3): json.loads(json.dumps(d))"]
    if shutil.which("perl"):
        found["perl"] = ["perl", "-e", "my %h; $h{$_} = $_ x 3 for 1..60000; print scalar keys %h"]
    if shutil.which("node"):
        found["node"] = ["node", "-e", "let a = []; for (let i = 0; i < 1e5; i++) a.push({i}); console.log(a.length)"]
    return found


def ways(memsweep, folder):
    record = [memsweep, "record", "-q", "-o", folder / "t.mst"]
    found = {"alone": [], "record": [*record, "--"], "stacks": [*record, "--stacks=full", "--"],
             "sampled": [*record, "--stacks=512KiB", "--"]}
    if shutil.which("heaptrack"):
        found["heaptrack"] = ["heaptrack", "-o", folder / "heaptrack"]
    return found


def cost(words):
    """(seconds, seconds of processors, bytes of the largest process)."""
    begin = time.perf_counter()
    child = subprocess.Popen([os.fspath(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"stacks.py: {words[0]} exits with {child.returncode}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss << 10


def seen(way, memsweep, folder):
    """(allocations, peak bytes) as a way saw them."""
    if way == "heaptrack":
        log = next(folder.glob("heaptrack*.*"))
        said = subprocess.run(["heaptrack_print", log], capture_output=True, text=True, check=True).stdout
        calls = re.search(r"calls to allocation functions: (\d+)", said)
        peak = re.search(r"peak heap memory consumption: (\S+)", said)
        return (int(calls.group(1)) if calls else None), (peak.group(1) if peak else None)
    said = json.loads(subprocess.run([memsweep, "info", folder / "t.mst", "--json"], capture_output=True, text=True, check=True).stdout)
    return said["allocations"], said["peak_live_bytes"]


def clean(folder):
    for path in [*folder.glob("t.mst*"), *folder.glob("heaptrack*")]:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def measured(name, words, arguments, folder):
    figures = {way: [] for way in ways(arguments.memsweep, folder)}
    counts = {}
    for _ in range(arguments.rounds):
        for way, before in ways(arguments.memsweep, folder).items():
            clean(folder)
            figures[way].append(cost([*before, *words]))
            if way != "alone" and way not in counts:
                counts[way] = seen(way, arguments.memsweep, folder)
    medians = {way: [statistics.median(column) for column in zip(*rows)] for way, rows in figures.items()}
    result = {}
    for way, (wall, cpu, resident) in medians.items():
        ratios = [value / alone for value, alone in zip((wall, cpu, resident), medians["alone"])]
        allocations, peak = counts.get(way, (None, None))
        result[way] = {"wall": wall, "cpu": cpu, "resident": resident, "wall_ratio": ratios[0], "cpu_ratio": ratios[1],
                       "resident_ratio": ratios[2], "allocations": allocations, "peak": peak}
        print(f"{name:10} {way:9} wall {wall:7.3f} s x{ratios[0]:5.2f}  cpu {cpu:7.3f} s x{ratios[1]:5.2f}  "
              f"resident {resident / (1 << 20):6.1f} MiB x{ratios[2]:5.2f}  allocations {allocations}  peak {peak}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--memsweep", type=pathlib.Path, default=ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    os.environ["PYTHONMALLOC"] = "malloc"  # what python3 keeps in pools of its own, nobody sees
    with tempfile.TemporaryDirectory(prefix="memsweep-stacks-") as room:
        folder = pathlib.Path(room)
        results = {name: measured(name, words, arguments, folder) for name, words in programs(folder).items()
                   if not arguments.program or name in arguments.program}
    if arguments.out:
        arguments.out.write_text(json.dumps({"rounds": arguments.rounds, "programs": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
