#!/usr/bin/env python3
"""A hundred pieces of advice of `memsweep advise`, each judged without memsweep.

    benchmarks/advice_campaign.py [--budget 12s] [--pairs 12] [--grids 24] [--minutes 40] [--only NAME]... --out FILE

Programs that distributions ship and programs of benchmarks/advice.py are asked about, each for its peak and its end, some at rest. Each
piece is judged by runs that memsweep takes no part in:

  told        the exit code is the documented one of its verdict. A setting that it calls failed or unsafe is run three times more:
              where none of them fails, `wrongly_failed` counts it.
  same        with the printed environment line the program exits, prints and complains as it does without it.
  there       the memory of the promise is there: with over without, by the medians of pairs at the exit stop (exit_observer) or at the
              sign that work is done, is at most the upper end of the promised interval. 1 % or 256 KiB are forgiven to the few runs;
              `memory_beyond_interval` counts without forgiving.
  cpu         with over without, CPU time of interleaved pairs: the median and the order statistics that enclose it with 95 %. Pairs are
              added up to --most-pairs until those are on one side of the limit. `exceeds`: the median is beyond the promise and 2 %.
              `surely_exceeds`: the whole interval is.
  regret      where it advises nothing: every setting that it did not refuse is really run, and again if it needs less by more than
              5 % and 1 MiB. What then prints the same, in CPU time within a quarter of what is allowed, is run in ten pairs.
              `regret_bytes` is what those leave of the gain, 0 if their CPU time is beyond the limit.

Results are written after each piece. The load of the machine, processes that ran or waited in the last minute, stands in each row.

Exit codes: 0 within the targets (no wrong exit code, no other output, memory there, at most one of a hundred beyond the promise, and
regret allowed), 1 not, 2 a program fails as it is.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import advice
import exit_observer
import paired_rounds

MIB = 1 << 20
LIMIT = advice.PROMISE * advice.TOLERATED
CODES = {"change": 0, "change_nothing": 0, "unsafe": 1, "predicted_only": 5}
IDLE = 1.0

RUBY = "h = Hash.new(0); 3.times { a = Array.new(25000) { |i| \"r#{i}\" * (1 + i % 9) }; a.each { |s| h[s[0, 4]] += s.size } }; puts h.size"
NODE = "const b = []; for (let r = 0; r < 15; r++) { b.push(Buffer.alloc(400000, r)); JSON.parse(JSON.stringify(Array.from({length: 9000}, (_, i) => ({i, n: 'k' + i})))); } console.log(b.length)"
PYTHON_JSON = "import json; d = json.load(open('data.json')); s = [json.dumps(one) for one in d]; print(len(s), len(json.dumps(d, indent=1)))"
PYTHON_RE = "import re; t = open('text').read(); w = re.findall(r'\\w+', t); c = {}\nfor one in w: c[one] = c.get(one, 0) + 1\nprint(len(w), len(c))"
PYTHON_SQL = ("import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t(a, b)'); c.executemany('insert into t values (?, ?)', "
              "((i, str(i) * 9) for i in range(40000))); c.execute('delete from t where a % 9'); print(c.execute('select count(*) from t').fetchone())")
PERL_HASH = "my %h; while (<>) { for (split) { $h{$_ . $. % 97}++ } } my @k = sort keys %h; print scalar(@k), \"\\n\";"
TCL = "set l {}; for {set i 0} {$i < 50000} {incr i} { lappend l [string repeat x [expr {$i % 40}]]; dict incr d [expr {$i % 9000}] }; puts [llength [lsort $l]]"
AWK = "{ for (i = 1; i <= NF; i++) n[$i, NR % 31]++ } END { for (k in n) s++; print s }"
JAVA = """import java.util.*; public class J { public static void main(String[] a) throws Exception { Thread[] t = new Thread[3]; for (int k = 0; k < 3; k++) {
t[k] = new Thread(() -> { for (int i = 0; i < 200; i++) { var d = new java.util.zip.Deflater(1); d.setInput(new byte[9000]); d.finish(); d.deflate(new byte[9000]); d.end(); } });
t[k].start(); } for (Thread x : t) x.join(); System.out.println("ok"); } }
"""


def write_inputs(folder):
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(4000)]
    lines = [" ".join(draw.choices(words, k=9)) for _ in range(30000)]
    (folder / "text").write_text("\n".join(lines) + "\n")
    (folder / "other").write_text("\n".join(line for i, line in enumerate(lines) if i % 17) + "\n")
    (folder / "short").write_text("\n".join(lines[:10000]) + "\n")
    (folder / "sorted").write_text("\n".join(sorted(lines)) + "\n")
    (folder / "data.json").write_text(json.dumps([{"id": i, "k": i % 50, "name": line[:40], "tags": line.split()[:4]} for i, line in enumerate(lines[:8000])]))
    (folder / "data.xml").write_text("<all>" + "".join(f"<one id='{i}'><name>{line}</name></one>" for i, line in enumerate(lines[:14000])) + "</all>")
    (folder / "big.c").write_text("".join(f"int f{i}(int a, int b) {{ int s = {i}; for (int k = 0; k < a; k++) s += k * b ^ {i}; return s > b ? s : f{max(i - 1, 0)}(b, a - 1); }}\n"
                                          for i in range(60)))
    (folder / "t.cpp").write_text(advice.TEMPLATES)
    (folder / "Makefile").write_text("all: " + " ".join(f"t{i}" for i in range(4000)) + "\n" + "".join(f"t{i}: x{i}\n\t@echo {i} $(subst a,b,{words[i % 4000]})\nx{i}:\n\t@true\n" for i in range(4000)))
    (folder / "build.ninja").write_text("rule r\n  command = echo $in > $out\n" + "".join(f"build o{i}: r text\n" for i in range(20000)))
    (folder / "n.bc").write_text("define f(n) { auto s; s = 1; while (n > 1) { s = s * n; n = n - 1; }; return s; }\nf(2500) % 1000007\nf(1500) % 97\n")
    (folder / "n.m4").write_text("define(`t', `ifelse($1, 0, `', `x$1 t(decr($1))')')" + "t(900)\n" * 12)
    (folder / "c.cmake").write_text("foreach(i RANGE 12000)\n list(APPEND l \"item${i}\")\nendforeach()\nlist(SORT l)\nlist(LENGTH l n)\nmessage(STATUS ${n})\n")
    (folder / "b.sh").write_text("for ((i = 0; i < 25000; i++)); do a[i]=\"line $i\"; m+=x; done; echo ${#a[@]} ${#m}\n")
    (folder / "J.java").write_text(JAVA)
    tree = folder / "tree"
    for i in range(1500):
        place = tree / str(i % 40)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{i}").write_text(lines[i] * 20)
    make_history(folder / "repo", lines)


def make_history(repo, lines):
    subprocess.run(["git", "init", "-q", repo], check=True)
    stream = []
    for i in range(250):
        stream.append(f"commit refs/heads/main\ncommitter A <a@b> {1700000000 + i * 60} +0000\ndata 4\nwork\n")
        for k in range(6):
            body = "\n".join(lines[(i * 7 + k * 31) % 5000:][:60])
            stream.append(f"M 644 inline d{k}/f{(i * 5 + k) % 90}\ndata {len(body)}\n{body}\n")
    subprocess.run(["git", "-C", repo, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)


def programs(folder):
    """Name -> (words, wishes). Those whose wish is "mark" or "idle" make the file of MARK and stay."""
    text, binary = str(folder / "text"), "/usr/bin/git"
    made = {
        "jq": ["jq", "-c", "group_by(.k) | map(length)", "data.json"], "jq-format": ["jq", ".", "data.json"],
        "perl-hash": ["perl", "-e", PERL_HASH, "short"], "python-json": ["/usr/bin/python3", "-c", PYTHON_JSON],
        "python-re": ["/usr/bin/python3", "-c", PYTHON_RE], "python-sqlite": ["/usr/bin/python3", "-c", PYTHON_SQL],
        "ruby": ["ruby", "-e", RUBY], "node": ["node", "-e", NODE], "java": ["java", "-Xmx64m", "-cp", ".", "J"],
        "mawk": ["mawk", AWK, "short"], "gawk": ["gawk", AWK, "short"], "busybox-awk": ["busybox", "awk", AWK, "short"],
        "busybox-sort": ["busybox", "sort", "text"], "sort": ["sort", "--parallel=1", "text"], "sort-key": ["sort", "-k3,3", "-S", "8M", "--parallel=2", "text"],
        "gzip": ["gzip", "-c", "text"], "xz": ["xz", "-1", "-T1", "-c", "short"], "xz-threads": ["xz", "-0", "-T2", "-c", "text"], "zstd": ["zstd", "-q", "-12", "-c", "short"],
        "bzip2": ["bzip2", "-c", "short"], "cc1": [cc1("cc1"), "-quiet", "-O1", "big.c", "-o", "/dev/null"],
        "cc1plus": [cc1("cc1plus"), "-quiet", "-imultiarch", machine(), "-D_GNU_SOURCE", "-std=c++20", "t.cpp", "-o", "/dev/null"], "clang": ["clang", "-cc1", "-O1", "-S", "big.c", "-o", "/dev/null"],
        "git-log": ["git", "-C", "repo", "log", "--stat", "main"], "git-diff": ["git", "-C", "repo", "diff", "main~200", "main"], "git-search": ["git", "-C", "repo", "log", "-p", "-S", "zz", "main"],
        "grep": ["grep", "-cE", "(ab|cd)+.*(ef|gh)[a-m]{2,}", "text"], "sed": ["sed", "-E", ":a;N;$!ba;s/\\n([a-m])/ \\1/g", "short"], "sed-lines": ["sed", "-E", "s/([a-z]+) ([a-z]+)/\\2 \\1/g", "text"],
        "tar": ["tar", "-cf", "-", "--sort=name", "--mtime=@0", "tree"], "diff": ["diff", "text", "other"], "bc": ["bc", "n.bc"], "make": ["make", "-n"],
        "make-database": ["make", "-n", "-p"], "ninja": ["ninja", "-n"], "openssl": ["openssl", "dgst", "-sha256", "text"], "bash": ["bash", "b.sh"], "find": ["find", "/usr/share/doc", "-maxdepth", "2", "-name", "*x*"],
        "nm": ["nm", "-CD", str(libstdcpp())], "objdump": ["objdump", "-d", "-C", "--stop-address=0xb0000", str(libstdcpp())], "readelf": ["readelf", "-Wa", str(libstdcpp())],
        "strings": ["strings", "-n", "6", binary], "xmllint": ["xmllint", "--format", "data.xml"],
        "tclsh": ["tclsh", str(folder / "t.tcl")], "vim": ["vim", "-es", "-u", "NONE", "-i", "NONE", "-n", "-c", "%sort", "-c", "%s/a/bb/g", "-c", "q!", "short"], "m4": ["m4", "n.m4"],
        "cmake": ["cmake", "-P", "c.cmake"], "uniq": ["uniq", "-c", "sorted"], "gdb": ["gdb", "-batch", "-nx", "-ex", "info functions zz", str(folder / "retained")],
        "shuf": ["shuf", "--random-source=text", "text"], "tsort": ["tsort", "short2"], "tac": ["tac", "text"], "sqlite-exit": ["sqlite3", ":memory:", ".read q2.sql"], "xxd": ["xxd", "text"],
    }
    (folder / "t.tcl").write_text(TCL)
    (folder / "short2").write_text(" ".join(f"a{i} a{i + 1 + i % 7}" for i in range(30000)) + "\n")
    (folder / "q2.sql").write_text("\n".join(line for line in advice.SQL.splitlines() if not line.startswith(".shell")) + "\n")
    if shutil.which("javac"):
        subprocess.run(["javac", "J.java"], cwd=folder, check=True)
    own = advice.built(folder, with_server=False)
    found = {name: (words, ("end", "peak")) for name, words in made.items() if shutil.which(words[0])}
    if not (folder / "J.class").exists():
        found.pop("java", None)
    for name in ("retained", "aligned", "arenas", "cache", "handed", "rested", "sparse", "live", "sqlite3", "perl", "python3", "node-buffers", "ruby-threads", "bursts"):
        words = own.get({"node-buffers": "node", "ruby-threads": "ruby"}.get(name, name))
        if words:
            found[name] = (words, ("mark", "peak", "idle") if name in ("rested", "arenas", "perl", "cache", "retained", "aligned") else ("mark", "peak"))
    return found


def cc1(name):
    return subprocess.run(["gcc", f"-print-prog-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


def machine():
    return subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()


def libstdcpp():
    return pathlib.Path(subprocess.run(["g++", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True, check=True).stdout.strip()).resolve()


class Judge:
    def __init__(self, folder):
        self.folder = folder

    def variables(self, environment, rest):
        mark = self.folder / "mark"
        mark.unlink(missing_ok=True)
        return {**os.environ, **environment, "MARK": str(mark), "REST": str(rest)}

    def plain(self, words, environment):
        """(exit code, stdout, stderr, seconds of processor time); where it has to mark its end, it does not stay."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, env=self.variables(environment, 0), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd=self.folder)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            errors.seek(0)
            return process.returncode, out.read(), errors.read(), usage.ru_utime + usage.ru_stime

    def memory(self, words, environment, wish):
        """Bytes; None where it fails."""
        if wish in ("mark", "idle"):
            return self.at_mark(words, environment, IDLE if wish == "idle" else 0.01)
        with open(os.devnull, "r+b") as nothing:
            seen = exit_observer.at_exit(words, env=self.variables(environment, 0), stdin=nothing, stdout=nothing, cwd=self.folder)
        if seen["code"] != 0 and seen["code"] != self.usual:
            return None
        if wish == "end":
            return exit_observer.total(seen["smaps"], "Rss") << 10
        return next((int(line.split()[1]) << 10 for line in seen["status"].splitlines() if line.startswith("VmHWM")), None)

    def at_mark(self, words, environment, wait):
        variables = self.variables(environment, wait + 0.3)
        process = subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        while not pathlib.Path(variables["MARK"]).exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(wait)
        value = advice.resident(process.pid)
        return value if process.wait() == 0 else None

    usual = 0  # exit code


def ask(words, wish, args, folder):
    want = {"peak": "rss@peak", "idle": f"rss@idle={IDLE:g}s"}.get(wish, "rss@end")
    sign = ["--end-when", f"file:{folder}/mark"] if wish in ("mark", "idle") else []
    rest = {"mark": 0.3, "idle": IDLE + 0.3}.get(wish, 0)
    environment = {**os.environ, "MARK": str(folder / "mark"), "REST": str(rest)}
    began = time.monotonic()
    done = subprocess.run([advice.MEMSWEEP, "advise", "-q", "-r", f"text={folder}/advice.txt", "-r", f"json={folder}/advice.json", "--want", want, "--budget", args.budget,
                           *sign, "--", *words], cwd=folder, check=False, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    if done.returncode not in CODES.values():
        return done, None, seconds
    return done, json.loads((folder / "advice.json").read_text()), seconds


def printed_line(text):
    """The environment that the first line behind the headline sets."""
    for line in text.splitlines():
        if line.startswith("  $ "):
            return dict(word.split("=", 1) for word in shlex.split(line[4:]))
    return {}


def judge_told(judge, words, report, row):
    row["failed_settings"] = row["wrongly_failed"] = 0
    usual = judge.plain(words, {})
    for one in report["tried"]:
        if one["dropped"] in ("failed", "unsafe"):
            row["failed_settings"] += 1
            runs = [judge.plain(words, one["environment"]) for _ in range(3)]
            if all(run[:2] == usual[:2] for run in runs):
                row["wrongly_failed"] += 1
                row.setdefault("wrongly", []).append({"settings": one["settings"], "allocator": one["allocator"], "why": one.get("why")})


def judge_change(judge, words, wish, report, args, row):
    [advised] = report["advice"]
    environment = printed_line((judge.folder / "advice.txt").read_text())
    usual = [judge.plain(words, {}) for _ in range(2)]
    varies = usual[0][:3] != usual[1][:3]
    with_it = [judge.plain(words, environment) for _ in range(2)]
    row["line_is_environment"] = environment == advised["environment"]
    row["same"] = all(one[0] == usual[0][0] if varies else one[:3] == usual[0][:3] for one in with_it)
    row["varies"] = varies
    row["advised"], row["promised_ratio"] = advised["environment"], advised["gain"]["ci95"]
    row["price_proven"] = advised["price"]["proven"]
    values = [(judge.memory(words, {}, wish), judge.memory(words, environment, wish)) for _ in range(3)]
    values = [pair for pair in values if all(pair)]
    if len(values) == 3:
        without, with_setting = (statistics.median(side) for side in zip(*values))
        row["memory"] = [round(without), round(with_setting)]
        row["memory_ratio"] = round(with_setting / without, 4)
        promised = advised["gain"]["ci95"] or [advised["gain"]["ratio"]] * 2
        row["there"] = with_setting <= promised[1] * without + max(0.01 * without, 256 << 10)
    else:
        row["there"] = False
    row.update(cpu_ratio(judge, words, environment, args.pairs, args.most_pairs))
    row["exceeds"] = row["cpu"] > LIMIT
    row["surely_exceeds"] = row["cpu_ci95"][0] > LIMIT


def cpu_ratio(judge, words, environment, least, most, limit=LIMIT):
    ratios = []
    order = random.Random(len(environment))
    while len(ratios) < most:
        sides = [{}, environment]
        order.shuffle(sides)
        times = {id(side): judge.plain(words, side)[3] for side in sides}
        without = next(value for side, value in ((side, times[id(side)]) for side in sides) if side is not environment)
        ratios.append(times[id(environment)] / without)
        if len(ratios) >= least:
            low, high = paired_rounds.interval_of_median(ratios)
            if high < limit or low > limit:
                break
    low, high = paired_rounds.interval_of_median(ratios)
    return {"cpu": round(statistics.median(ratios), 4), "cpu_ci95": [round(low, 4), round(high, 4)], "pairs": len(ratios)}


def judge_nothing(judge, words, wish, report, row):
    settings = [one for one in report["tried"] if one["dropped"] not in ("refused", "inert")]
    settings = [one for one in settings if one["environment"]]
    usual = judge.plain(words, {})
    base = [(judge.memory(words, {}, wish), judge.plain(words, {})[3]) for _ in range(3)]
    memory, cpu = (statistics.median(side) for side in zip(*base))
    allowed = max(0.05 * memory, MIB)
    looks_better = []
    for one in settings:
        values = [judge.memory(words, one["environment"], wish)]
        if values[0] is not None and memory - values[0] > allowed:
            values.append(judge.memory(words, one["environment"], wish))
        if None in values:
            row["grid_failed"] = row.get("grid_failed", 0) + 1
        elif memory - min(values) > allowed:
            run = judge.plain(words, one["environment"])
            if run[:2] == usual[:2] and run[3] <= cpu * advice.PROMISE * 1.25:
                looks_better.append((min(values), one))
    row.update({"grid": len(settings), "grid_default_bytes": round(memory), "allowed_bytes": round(allowed), "regret_bytes": 0})
    for _, one in sorted(looks_better, key=lambda pair: pair[0])[:4]:
        values = [(judge.memory(words, {}, wish), judge.memory(words, one["environment"], wish)) for _ in range(3)]
        if any(None in pair for pair in values):
            continue
        gained = statistics.median(pair[0] - pair[1] for pair in values)
        price = cpu_ratio(judge, words, one["environment"], 10, 10)
        row.setdefault("better", []).append({"environment": one["environment"], "dropped": one["dropped"], "gained_bytes": round(gained), **price})
        if price["cpu"] <= advice.PROMISE:
            row["regret_bytes"] = max(row["regret_bytes"], round(gained))
    row["within"] = row["regret_bytes"] <= allowed


def piece(name, words, wish, args, folder, with_grid):
    judge = Judge(folder)
    began = time.monotonic()
    judge.usual = judge.plain(words, {})[0]
    took = time.monotonic() - began
    row = {"program": name, "wish": wish, "load": round(os.getloadavg()[0], 2)}
    done, report, seconds = ask(words, wish, args, folder)
    row.update({"code": done.returncode, "seconds": round(seconds, 1)})
    if report is None:
        row.update({"told": judge.usual != 0 and done.returncode == 3, "verdict": "none", "errors": done.stderr[-300:]})
        return row
    row.update({"verdict": report["verdict"], "headline": report["headline"], "told": CODES[report["verdict"]] == done.returncode, "real_runs": report["cost"]["real_runs"],
                "replays": report["cost"]["replays"], "default_bytes": report["default"]["value"]["median"], "tried": sum(one["measured"] is not None for one in report["tried"])})
    judge_told(judge, words, report, row)
    if report["verdict"] == "change":
        judge_change(judge, words, wish, report, args, row)
    elif report["verdict"] == "change_nothing" and report["tried"] and with_grid and wish != "idle" and took < 2:
        judge_nothing(judge, words, wish, report, row)
    row["load_after"] = round(os.getloadavg()[0], 2)
    return row


def result_of(rows, args):
    changes = [row for row in rows if row["verdict"] == "change"]
    grids = [row for row in rows if "within" in row]
    return {"machine": platform.processor() or platform.machine(), "processors": os.cpu_count(), "kernel": platform.release(), "command": " ".join(["benchmarks/advice_campaign.py", *sys.argv[1:]]),
            "pieces": len(rows), "programs": len({row["program"] for row in rows}), "verdicts": {word: sum(row["verdict"] == word for row in rows) for word in [*CODES, "none"]},
            "wrong_codes": sum(not row["told"] for row in rows), "settings_that_failed": sum(row.get("failed_settings", 0) for row in rows),
            "wrongly_failed": sum(row.get("wrongly_failed", 0) for row in rows), "changes": len(changes), "other_output": sum(not row["same"] for row in changes),
            "memory_not_there": sum(not row["there"] for row in changes), "memory_beyond_interval": sum(row.get("memory_ratio", 2) > (row["promised_ratio"] or [0, 0])[1] for row in changes),
            "cpu_exceeds": sum(row["exceeds"] for row in changes),
            "cpu_surely_exceeds": sum(row["surely_exceeds"] for row in changes), "cpu_open": sum(row["cpu_ci95"][0] <= LIMIT < row["cpu_ci95"][1] for row in changes),
            "grids": len(grids), "regret_within": sum(row["within"] for row in grids), "longest_seconds": max((row["seconds"] for row in rows), default=0), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--budget", default="12s", help="a time, or runs, as advise takes it")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--most-pairs", type=int, default=30)
    parser.add_argument("--grids", type=int, default=24, help="so many pieces that advise nothing are judged by a grid")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", action="append", help="NAME or NAME@WISH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    began, rows = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="memsweep-campaign-") as scratch:
        folder = pathlib.Path(scratch)
        write_inputs(folder)
        made = programs(folder)
        asked = [(name, wish) for name, (_, wishes) in made.items() for wish in wishes]
        random.Random(args.seed).shuffle(asked)
        if args.only:
            asked = [(name, wish) for name, wish in asked if name in args.only or f"{name}@{wish}" in args.only]
        for name, wish in asked:
            if time.monotonic() - began > 60 * args.minutes:
                break
            grids = sum("within" in row for row in rows)
            rows.append(piece(name, made[name][0], wish, args, folder, grids < args.grids))
            row = rows[-1]
            print(f"{len(rows)} {time.monotonic() - began:.0f}s", json.dumps({key: value for key, value in row.items() if key not in ("advised", "real_runs", "replays")}), flush=True)
            args.out.write_text(json.dumps(result_of(rows, args), indent=1) + "\n")
    result = result_of(rows, args)
    print({key: value for key, value in result.items() if key != "rows"})
    good = not (result["wrong_codes"] or result["other_output"] or result["memory_not_there"] or result["wrongly_failed"])
    return 0 if good and result["cpu_exceeds"] * 100 <= max(len(rows), 100) and result["regret_within"] * 20 >= 19 * result["grids"] else 1


if __name__ == "__main__":
    sys.exit(main())
