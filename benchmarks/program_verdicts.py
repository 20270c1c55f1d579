#!/usr/bin/env python3
"""How often `run --against` is wrong about real programs on this machine, beside hyperfine with a rule of 10 %.

    benchmarks/program_verdicts.py [--comparisons 1000] [--planted 100] [--program NAME]... [--hyperfine-every 1] [--out FILE]

Everything is measured. A comparison is one `memsweep run --against CMD -- CMD` with its defaults (rounds until the verdict is
sure), and, at every one or every N-th, `hyperfine -N --runs 20 CMD CMD` right behind it.

  nothing      a program against itself. False: memsweep calls any metric regressed or improved; hyperfine's second mean is more than
               10 % above the first (a failed gate) or as much below it.
  time         5 % more processor time, by more turns of the program's loop. Found: cpu_time or wall_time regressed. Where the
               metric scatters by more than 3 % (err%, of the noisier side) it counts apart.
  memory       2 % more allocations, and 2 % more live bytes at the peak. Found: that metric regressed.

How many turns make 5 % and how many elements make 2 % is measured first. Half of the comparisons of each kind run beside two
neighbours that copy memory and sleep, in turns of 0.1 to 2 s. The programs alternate.

Exit codes: 0 within the targets (false verdicts in at most 1 % of the comparisons, 95 % found), 1 not, 2 something failed.
"""

import argparse
import json
import multiprocessing
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from verdicts import NOISE_LIMIT, ROOT, Failed, call, median, neighbour

RUNS = 20
RULE = 0.10
ALARMS_ALLOWED = 0.01
FOUND_NEEDED = 0.95
ROW = re.compile(r"^\| (\w+) \|.*\| \**(regressed|improved)\** \|$")

LINES = "numbers.txt"
SOURCE = "unit.cpp"
# Some 10 to 30 ms each; {n} is what is planted by.
TIMED = {
    "python3": (("/usr/bin/python3", "-S", "-E", "-c", "s=0\nfor i in range({n}): s+=i*i"), 200_000),
    "perl": (("perl", "-e", "my $s=0; $s+=$_*$_ for 1..{n}"), 400_000),
    "mawk": (("mawk", "BEGIN{{for(i=0;i<{n};i++)s+=i*i; print s}}"), 400_000),
}
UNCHANGED = {
    "sqlite3": ("sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 from c limit 150000) select sum(x*x) from c"),
    "gzip": ("gzip", "-1", "-c", LINES),
    "sort": ("sort", "-n", "-r", LINES),
    "g++": ("g++", "-fsyntax-only", SOURCE),
    "node": ("node", "-e", "let s=0; for (let i=0;i<1e6;i++) s+=i*i; console.log(s)"),
}
ALLOCATING = {
    "sqlite3": (("sqlite3", ":memory:", "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c limit {n}) insert into t select randomblob(900) from c"), 4_000),
    "python3": (("env", "PYTHONMALLOC=malloc", "PYTHONHASHSEED=0", "/usr/bin/python3", "-S", "-E", "-c", "a=[[i] for i in range({n})]"), 20_000),
    "perl": (("perl", "-e", "my @a; push @a, {{a=>$_}} for 1..{n}"), 10_000),
}


def words(template, n):
    return [word.format(n=n) for word in template]


def against(binary, folder, base, candidate, *options):
    """The result, the metrics that changed by their verdicts, and the exit code."""
    result, page = folder / "result.json", folder / "verdict.md"
    code = subprocess.run([binary, "run", "-q", "--against", shlex.join(base), "-o", result, "-r", f"md={page}", *options, "--", *candidate],
                          cwd=folder, capture_output=True, text=True, check=False)
    if code.returncode not in ((0, 1, 5) if options else (0, 1)):
        raise Failed(f"{shlex.join(candidate)}: exit code {code.returncode}\n{code.stderr}")
    rows = (ROW.match(line) for line in page.read_text().splitlines())
    return json.loads(result.read_text()), {row[1]: row[2] for row in rows if row}, code.returncode


def means(folder, base, candidate):
    export = folder / "hyperfine.json"
    call("env", "-C", folder, "hyperfine", "-N", "--style", "none", "--runs", RUNS, "--export-json", export, shlex.join(base), shlex.join(candidate))
    return [one["mean"] for one in json.loads(export.read_text())["results"]]


def values_of(result, build, metric):
    (case,) = (one for one in result["cases"] if one["params"]["build"] == build)
    return [value for value in case["metrics"][metric]["values"] if value is not None]


def noise_of(result, metric):
    return max(one["metrics"][metric]["summary"]["mdape"] for one in result["cases"])


def more_by(binary, folder, template, n, metric, share):
    """By how many turns the metric grows by this share: it is taken as a line through n and 2 n."""
    result, _, _ = against(binary, folder, words(template, n), words(template, 2 * n), "-n", "15")
    once, twice = (median(values_of(result, build, metric)) for build in ("base", "candidate"))
    if twice <= once:
        raise Failed(f"{template[0]}: {metric} does not grow with its turns ({once} and {twice})")
    return max(1, round(n * share * once / (twice - once)))


def prepare(folder):
    (folder / LINES).write_text("".join(f"{(i * 7919) % 100_003}\n" for i in range(60_000)))
    (folder / SOURCE).write_text("#include <cstdint>\n" + "".join(f"std::uint64_t f{i}(std::uint64_t x) {{ return x * {i}; }}\n" for i in range(400)))


def cases_of(kind, binary, folder, names):
    """(program, base, candidate, metric that must be found, or None)."""
    def chosen(table):
        return {name: one for name, one in table.items() if not names or name in names}

    if kind == "nothing":
        return ([(name, words(template, n), words(template, n), None) for name, (template, n) in chosen(TIMED).items()]
                + [(name, list(command), list(command), None) for name, command in chosen(UNCHANGED).items()])
    if kind == "time":
        return [(name, words(template, n), words(template, n + more_by(binary, folder, template, n, "cpu_time", 0.05)), ("cpu_time", "wall_time"))
                for name, (template, n) in chosen(TIMED).items()]
    cases = []
    for name, (template, n) in chosen(ALLOCATING).items():
        for metric in ("allocations", "live_bytes_peak"):
            if name != "sqlite3" or metric == "live_bytes_peak":  # its allocations are pages of several rows
                cases.append((name, words(template, n), words(template, n + more_by(binary, folder, template, n, metric, 0.02)), (metric,)))
    return cases


def compare_once(binary, folder, kind, case, beside, with_hyperfine):
    name, base, candidate, wanted = case
    result, changed, code = against(binary, folder, base, candidate)
    first, second = means(folder, base, candidate) if with_hyperfine else (None, None)
    return {"kind": kind, "program": name, "beside_neighbours": beside, "wanted": wanted, "changed": changed, "failed": code == 1,
            "rounds": len(values_of(result, "base", "wall_time")), "noise": round(noise_of(result, "cpu_time" if kind == "time" else "wall_time"), 4),
            "hyperfine": round(second / first, 4) if with_hyperfine else None}


def is_found(one):
    return any(one["changed"].get(metric) == "regressed" for metric in one["wanted"])


def counts_of(rows):
    """What is said of comparisons of one kind."""
    beside = [one["hyperfine"] for one in rows if one["hyperfine"] is not None]
    said = {"comparisons": len(rows), "with_hyperfine": len(beside), "rounds_mean": round(sum(one["rounds"] for one in rows) / len(rows), 1),
            "noise_median": median([one["noise"] for one in rows])}
    if rows[0]["wanted"] is None:
        return said | {"false_verdicts": sum(bool(one["changed"]) for one in rows), "false_failures": sum(one["failed"] for one in rows),
                       "hyperfine_false_failures": sum(ratio > 1 + RULE for ratio in beside),
                       "hyperfine_false_verdicts": sum(not 1 / (1 + RULE) <= ratio <= 1 + RULE for ratio in beside)}
    quiet = [one for one in rows if rows[0]["kind"] != "time" or one["noise"] <= NOISE_LIMIT]
    return said | {"found": sum(map(is_found, rows)), "within_noise": len(quiet), "found_within_noise": sum(map(is_found, quiet)),
                   "hyperfine_failures": sum(ratio > 1 + RULE for ratio in beside)}


def holds(counts):
    if "false_verdicts" in counts:
        return counts["false_verdicts"] <= ALARMS_ALLOWED * counts["comparisons"]
    return counts["within_noise"] > 0 and counts["found_within_noise"] >= FOUND_NEEDED * counts["within_noise"]


def summaries(rows):
    found = []
    for kind in dict.fromkeys(one["kind"] for one in rows):
        own = [one for one in rows if one["kind"] == kind]
        for beside in (False, True):
            part = [one for one in own if one["beside_neighbours"] == beside]
            if part:
                found.append({"kind": kind, "programs": "all", "beside_neighbours": beside, **counts_of(part)})
        for name in dict.fromkeys(one["program"] for one in own):
            found.append({"kind": kind, "programs": name, **counts_of([one for one in own if one["program"] == name])})
        found.append({"kind": kind, "programs": "all", **counts_of(own), "holds": holds(counts_of(own))})
    return found


def table(rows):
    text = f"{'planted':8} {'program':20} {'compared':>8} {'rounds':>7} {'err%':>6}  verdicts\n"
    for one in summaries(rows):
        name = one["programs"] + {None: "", False: ", quiet", True: ", neighbours"}[one.get("beside_neighbours")]
        if "false_verdicts" in one:
            said = (f"false {one['false_verdicts']} (failures {one['false_failures']}); "
                    f"of {one['with_hyperfine']} by hyperfine {one['hyperfine_false_verdicts']} (failures {one['hyperfine_false_failures']})")
        else:
            said = (f"found {one['found']}; where err% <= {NOISE_LIMIT:.0%}: {one['found_within_noise']} of {one['within_noise']}"
                    if one["kind"] == "time" else f"found {one['found']}") + f"; hyperfine {one['hyperfine_failures']}"
        text += f"{one['kind']:8} {name:20} {one['comparisons']:8} {one['rounds_mean']:7.1f} {one['noise_median']:6.1%}  {said}\n"
    return text


def document_of(options, began, machine, rows):
    return {"taken": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)), "seconds": round(time.time() - began),
            "tool": json.loads(call(options.binary, "--version", "--json")), "hyperfine": call("hyperfine", "--version").strip(),
            "machine": {key: machine[key] for key in ("cpu", "cores", "memory", "kernel", "page_size", "thp", "fingerprint")},
            "totals": summaries(rows), "comparisons": rows}


def measure(options, folder):
    """A row for each comparison; written after each, so that what was measured survives."""
    began, rows = time.time(), []
    machine = against(options.binary, folder, ["true"], ["true"], "-n", "6")[0]["machine"]
    for kind, count in (("nothing", options.comparisons), ("time", options.planted), ("memory", options.planted)):
        cases = cases_of(kind, options.binary, folder, options.program) if count else []
        for beside in (False, True) if cases else ():
            neighbours = [multiprocessing.Process(target=neighbour, args=(seed,), daemon=True) for seed in range(2 if beside else 0)]
            for process in neighbours:
                process.start()
            try:
                for number in range(count // 2):
                    rows.append(compare_once(options.binary, folder, kind, cases[number % len(cases)], beside,
                                             number // len(cases) % options.hyperfine_every == 0))
                    if options.out:
                        options.out.write_text(json.dumps(document_of(options, began, machine, rows), indent=1) + "\n")
            finally:
                for process in neighbours:
                    process.terminate()
    return rows


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--comparisons", type=int, default=1000, help="of a program with itself (default: %(default)s)")
    parser.add_argument("--planted", type=int, default=100, help="of each planted change (default: %(default)s)")
    parser.add_argument("--program", action="append", choices=[*TIMED, *UNCHANGED], help="default: all")
    parser.add_argument("--hyperfine-every", type=int, default=1, metavar="N", help="beside one comparison of N of each program")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the counts and every comparison")
    options = parser.parse_args(argv)
    options.binary = options.binary.resolve()
    if options.comparisons < 0 or options.planted < 0 or options.comparisons + options.planted < 2:
        parser.error("two comparisons at least: one without and one beside neighbours")
    return options


def main(argv):
    options = options_of(argv)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            prepare(folder)
            rows = measure(options, folder)
    except Failed as problem:
        print(f"program_verdicts: {problem}", file=sys.stderr)
        return 2
    print(table(rows), end="")
    missed = [one["kind"] for one in summaries(rows) if not one.get("holds", True)]
    print("all within their targets" if not missed else f"outside their targets: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
