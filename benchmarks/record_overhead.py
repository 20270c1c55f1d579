#!/usr/bin/env python3
"""What recording costs: per event on the mixed loop, and until the prompt is back for real programs.

    benchmarks/record_overhead.py [--rounds 15] [--build build/release] [--only NAME]

Rounds of one run alone and one under `memsweep record`, in turn first and second: the time is that of the whole command, its
trace written. A program's slow-down is the median over the rounds of the ratio of the two times with its exact 95 % interval;
the loop's cost is the median of the differences that the program itself measures; bytes are the trace's.
Held to: 8 ns an event and 4 bytes on the loop; 1.12 times for python3, whose work is allocating, 1.05 for the other programs.
Exit codes: 0 nothing is shown to cost more, 1 something is, 2 wrong usage or a program failed.
"""

import argparse
import json
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
MOST_NS, MOST_BYTES = 8.0, 4.0
LOOP_MILLIONS = 10

SQL = ("create table t(a integer, b text, c real); with recursive n(x) as (select 1 union all select x+1 from n where x<200000) "
       "insert into t select x, hex(x*7919), x*0.5 from n; create index i on t(b); select count(*), sum(a) from t where b>'5';")
PYTHON = ("import json\nrows = [{'id': i, 'name': str(i) * 3, 'tags': [str(i), str(i + 1)]} for i in range(30000)]\n"
          "for _ in range(10):\n    rows = json.loads(json.dumps(rows))\nprint(len(rows))")
CPLUSPLUS = "#include <regex>\n#include <iostream>\nint main() { std::cout << std::regex_match(\"abc\", std::regex(\"[a-c]+\")); }\n"


def programs(folder):
    """name -> (command, variables, how many times as long it may take)"""
    found = {}
    if shutil.which("sqlite3"):
        found["sqlite3"] = (["sqlite3", ":memory:", SQL], {}, 1.05)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    found["python3"] = ([python, "-c", PYTHON], {"PYTHONMALLOC": "malloc"}, 1.12)
    if shutil.which("g++"):
        (folder / "a.cpp").write_text(CPLUSPLUS)
        found["g++"] = (["g++", "-O1", "-c", "-o", str(folder / "a.o"), str(folder / "a.cpp")], {}, 1.05)
    return found


class Runner:
    def __init__(self, build, folder):
        self.memsweep, self.trace = build / "memsweep", folder / "t.mst"

    def run(self, command, variables, recorded):
        """(seconds, what the program printed)"""
        self.trace.unlink(missing_ok=True)
        prefix = [str(self.memsweep), "record", "-q", "-o", str(self.trace), "--"] if recorded else []
        begin = time.perf_counter()
        done = subprocess.run(prefix + command, env=dict(os.environ, **variables), stdout=subprocess.PIPE, check=False)
        taken = time.perf_counter() - begin
        if done.returncode != 0:
            print(f"{command[0]} failed with {done.returncode}", file=sys.stderr)
            sys.exit(2)
        return taken, done.stdout

    def recorded(self, command, variables):
        """(events, bytes) of a trace of it"""
        self.run(command, variables, True)
        done = subprocess.run([self.memsweep, "info", self.trace, "--json"], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["events"], self.trace.stat().st_size


def rounds_of(runner, command, variables, count, value):
    """[(alone, recorded)]"""
    pairs = []
    for number in range(count):
        order = (False, True) if number % 2 == 0 else (True, False)
        taken = {recorded: value(*runner.run(command, variables, recorded)) for recorded in order}
        pairs.append((taken[False], taken[True]))
    return pairs


def judge_loop(runner, build, rounds):
    command = [str(build / "record_cost"), str(LOOP_MILLIONS)]
    pairs = rounds_of(runner, command, {}, rounds, lambda _, out: float(out.split()[1]))
    differences = [recorded - alone for alone, recorded in pairs]
    low, high = interval_of_median(differences)
    events, size = runner.recorded(command, {})
    print(f"mixed loop     alone {statistics.median(alone for alone, _ in pairs):6.2f} ns, recorded + "
          f"{statistics.median(differences):5.2f} ns [{low:.2f}, {high:.2f}] an event, {size / events:.2f} bytes an event")
    return low > MOST_NS or size / events > MOST_BYTES


def judge_program(runner, name, program, rounds):
    command, variables, most = program
    pairs = rounds_of(runner, command, variables, rounds, lambda taken, _: taken)
    ratios = [recorded / alone for alone, recorded in pairs]
    low, high = interval_of_median(ratios)
    events, size = runner.recorded(command, variables)
    print(f"{name:14} alone {1e3 * statistics.median(alone for alone, _ in pairs):7.1f} ms, recorded x {statistics.median(ratios):.4f} "
          f"[{low:.4f}, {high:.4f}] until the prompt is back; {events:,} events, {size / events:.2f} bytes an event")
    return low > most


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
        for name, program in programs(runner.trace.parent).items():
            if options.only in (None, name):
                beyond |= judge_program(runner, name, program, options.rounds)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
