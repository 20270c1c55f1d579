#!/usr/bin/env python3
"""What recording costs: per event on the mixed loop, and as a share of the time of real programs.

    benchmarks/record_overhead.py [--rounds 15] [--build build/release] [--only NAME]

Rounds of one run without and one run with the recorder, in turn first and second. The recorded run is started with the
library preloaded, as `memsweep record` starts it; turning the recording into a trace comes after the program and is given
apart. A program's slow-down is the median over the rounds of the ratio of the two times with its exact 95 % interval; the
loop's cost is the median of the differences, and the bytes are those of the recorder's raw chunks.
Held to: 8 ns and 4 bytes an event on the loop; 8 % on each program.
Exit codes: 0 nothing is shown to cost more, 1 something is, 2 wrong usage or a program failed.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from paired_rounds import interval_of_median

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_NS, MOST_BYTES, MOST_RATIO = 8.0, 4.0, 1.08
LOOP_MILLIONS = 10

SQL = ("create table t(a integer, b text, c real); with recursive n(x) as (select 1 union all select x+1 from n where x<200000) "
       "insert into t select x, hex(x*7919), x*0.5 from n; create index i on t(b); select count(*), sum(a) from t where b>'5';")
PYTHON = ("import json\nrows = [{'id': i, 'name': str(i) * 3, 'tags': [str(i), str(i + 1)]} for i in range(30000)]\n"
          "for _ in range(3):\n    rows = json.loads(json.dumps(rows))\nprint(len(rows))")
CPLUSPLUS = "#include <regex>\n#include <iostream>\nint main() { std::cout << std::regex_match(\"abc\", std::regex(\"[a-c]+\")); }\n"


def programs(folder):
    found = {}
    if shutil.which("sqlite3"):
        found["sqlite3"] = (["sqlite3", ":memory:", SQL], {})
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    found["python3"] = ([python, "-c", PYTHON], {"PYTHONMALLOC": "malloc"})
    if shutil.which("g++"):
        (folder / "a.cpp").write_text(CPLUSPLUS)
        found["g++"] = (["g++", "-O1", "-c", "-o", str(folder / "a.o"), str(folder / "a.cpp")], {})
    return found


class Runner:
    def __init__(self, build, folder):
        self.memsweep, self.library, self.folder = build / "memsweep", build / "libmemsweep_record.so", folder
        self.recording = folder / "recording"

    def run(self, command, variables, recorded):
        env = dict(os.environ, **variables)
        if recorded:
            shutil.rmtree(self.recording, ignore_errors=True)
            self.recording.mkdir()
            env.update(LD_PRELOAD=str(self.library), MEMSWEEP_RECORD=str(self.recording))
        begin = time.perf_counter()
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=False)
        taken = time.perf_counter() - begin
        if done.returncode != 0:
            print(f"{command[0]} failed with {done.returncode}", file=sys.stderr)
            sys.exit(2)
        return taken, done.stdout

    def assembled(self):
        """(seconds, events, bytes of raw chunks) of the last recording."""
        raw = sum(max(path.stat().st_size - (4096 + (4096 << 16)), 0) for path in self.recording.glob("*.mst"))
        begin = time.perf_counter()
        trace = self.folder / "t.mst"
        done = subprocess.run([self.memsweep, "record", "--recover", self.recording, "-o", trace], stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(2)
        return time.perf_counter() - begin, int(done.stderr.split(": ")[-1].split()[0].replace(",", "")), raw


def rounds_of(runner, command, variables, count, value):
    pairs = []
    for number in range(count):
        order = (False, True) if number % 2 == 0 else (True, False)
        taken = {recorded: value(*runner.run(command, variables, recorded)) for recorded in order}
        pairs.append((taken[False], taken[True]))
    return pairs


def judge_loop(runner, build, rounds):
    command = [str(build / "record_cost"), str(LOOP_MILLIONS)]
    pairs = rounds_of(runner, command, {}, rounds, lambda _, out: float(out.split()[1]))
    differences = [recorded - bare for bare, recorded in pairs]
    low, high = interval_of_median(differences)
    runner.run(command, {}, True)
    _, events, raw = runner.assembled()
    print(f"mixed loop     bare {statistics.median(bare for bare, _ in pairs):6.2f} ns, recorded + "
          f"{statistics.median(differences):5.2f} ns [{low:.2f}, {high:.2f}] an event, {raw / events:.2f} bytes an event")
    return low > MOST_NS or raw / events > MOST_BYTES


def judge_program(runner, name, command, variables, rounds):
    pairs = rounds_of(runner, command, variables, rounds, lambda taken, _: taken)
    ratios = [recorded / bare for bare, recorded in pairs]
    low, high = interval_of_median(ratios)
    runner.run(command, variables, True)
    seconds, events, _ = runner.assembled()
    print(f"{name:14} bare {1e3 * statistics.median(bare for bare, _ in pairs):7.1f} ms, recorded x {statistics.median(ratios):.4f} "
          f"[{low:.4f}, {high:.4f}]; {events:,} events, into a trace in {1e3 * seconds:.0f} ms")
    return low > MOST_RATIO


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        runner = Runner(build, pathlib.Path(folder).resolve())
        beyond = False
        if options.only in (None, "loop"):
            beyond |= judge_loop(runner, build, options.rounds)
        for name, (command, variables) in programs(runner.folder).items():
            if options.only in (None, name):
                beyond |= judge_program(runner, name, command, variables, options.rounds)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
