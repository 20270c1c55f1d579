#!/usr/bin/env python3
"""How good the advice of `memsweep advise` is on this machine, beside every setting really run.

    benchmarks/advice.py [--program NAME]... [--wish end|peak|idle]... [--budget 110] [--grid 3] [--repeat 1] [--out FILE]

Everything is measured. For each program and wish, `memsweep advise` is asked first. Then the grid: each setting that it tried or left
out is run --grid times outside of it, with the program as it is in between, so that what it missed is seen.

  off          where runs are dear for the budget (--budget 10s): how far predictions are from what the grid measured, each less the
               program as it is, as a ratio of what was measured.
  regret       what the advice leaves behind: memory under the advice less the least memory of those settings of the grid whose
               CPU time is at most 1.05 times the default's (a fifth more is forgiven to medians of three), at least 0.
  allowed      5 % of the default's memory, or 1 MiB.
  missed       what is known to be there was not found: perl at its end in 15 MiB, sqlite3 in 25, aligned in 5, cache in 100, bursts at rest in 8,
               ruby by its arenas or another malloc.
  broken       the advice made the program crash or print something else, or a proven price is more than 2 % above the promise.

The programs are written here; sqlite3, perl, python3, ruby, node, g++, rustc, postgres and redis-server are taken where they are installed. The load of the machine
stands beside each figure: processes that ran or waited, of the last minute.

Exit codes: 0 within the targets (regret allowed in 45 of 51, nothing broken, nothing missed), 1 not, 2 something failed.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MEMSWEEP = pathlib.Path(os.environ.get("MEMSWEEP") or ROOT / "build/release/memsweep")
MIB = 1 << 20
PROMISE = 1.05
TOLERATED = 1.02

# Each makes the file of MARK when its work is done, and stays for REST seconds.
HEAD = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void pause_for(double s) { struct timespec t = {(time_t)s, (long)((s - (time_t)s) * 1e9)}; nanosleep(&t, 0); }
static void done(void) {
  const char *mark = getenv("MARK"), *rest = getenv("REST");
  if (mark) close(open(mark, O_CREAT | O_WRONLY, 0600));
  pause_for(rest ? atof(rest) : 0);
}
static unsigned long sum;
static char *block(size_t n) { char *p = malloc(n); memset(p, 1, n); sum += p[n / 2]; return p; }
static unsigned state = 12345;
static unsigned draw(void) { state = state * 1103515245u + 12345u; return state >> 9; }
"""
PROGRAMS = {
    "retained": "int main(void) { static char *a[150000]; for (int r = 0; r < 40; r++) { for (int i = 0; i < 150000; i++) a[i] = block(112);"
                " for (int i = 0; i < 150000; i++) free(a[i]); } done(); printf(\"%lu\\n\", sum); }",
    "aligned": "int main(void) { for (int i = 0; i < 50; i++) { char *a = aligned_alloc(64, 1 << 20), *b = aligned_alloc(64, 1 << 20);"
               " memset(a, i, 1 << 20); memset(b, i, 1 << 20); for (int r = 0; r < 30; r++) for (int j = 0; j < 1 << 20; j += 64) sum += a[j] + b[j];"
               " block(48); free(a); free(b); } done(); printf(\"%lu\\n\", sum); }",
    "arenas": "static void *work(void *x) { static __thread char *q[2048]; for (int r = 0; r < 15; r++) { for (int i = 0; i < 2048; i++) q[i] = block(3900);"
              " if (r == 14) for (int i = 0; i < 40; i++) block(500); for (int i = 0; i < 2048; i++) free(q[i]); } return x; }"
              " int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, 0); for (int i = 0; i < 4; i++)"
              " pthread_join(t[i], 0); done(); puts(\"ok\"); }",
    "cache": "int main(void) { enum { N = 100000 }; static char *a[N]; for (int p = 0; p < 3; p++) { unsigned base = p == 0 ? 90 : p == 1 ? 280 : 650;"
             " for (int i = 0; i < 350000; i++) { unsigned k = draw() % N; free(a[k]); a[k] = block(base + draw() % base); }"
             " for (int k = 0; k < N; k++) if (draw() % (p < 2 ? 8 : 10)) { free(a[k]); a[k] = 0; } } done(); printf(\"%lu\\n\", sum); }",
    "bursts": "int main(void) { static char *a[30000]; for (int b = 0; b < 7; b++) { int n = b % 3 ? 3000 : 30000; for (int r = 0; r < 1; r++) {"
              " for (int i = 0; i < n; i++) a[i] = block(24 + draw() % 1700); block(40);"
              " for (int k = 0; k < 40000000; k++) sum += draw(); for (int i = 0; i < n; i++) free(a[i]); } pause_for(0.05); }"
              " done(); printf(\"%lu\\n\", sum); }",
    "rested": "int main(void) { enum { N = 60000 }; for (int r = 0; r < 12; r++) { char **a = malloc(N * sizeof *a); for (int i = 0; i < N; i++) a[i] = block(280);"
              " for (int i = 0; i < N; i++) if (i % 20000 != r) free(a[i]); free(a); } done(); puts(\"ok\"); }",
    "handed": "enum { N = 64, BATCH = 150 }; static char **q[N]; static int from, to, over; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
              " static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static char *kept[4000]; static void *consume(void *x) { for (int n = 0;;) {"
              " pthread_mutex_lock(&m); while (from == to && !over) pthread_cond_wait(&c, &m); if (from == to) { pthread_mutex_unlock(&m); return x; }"
              " char **b = q[from++ % N]; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); for (int i = 0; i < BATCH; i++) { if (++n % 60 == 0)"
              " kept[n / 60 % 4000] = b[i]; else free(b[i]); } free(b); } } int main(void) { pthread_t t; pthread_create(&t, 0, consume, 0);"
              " for (int i = 0; i < 1500; i++) { char **b = malloc(BATCH * sizeof *b); for (int j = 0; j < BATCH; j++) b[j] = block(24 + draw() % (i / 100 % 2 ? 1800 : 180));"
              " pthread_mutex_lock(&m); while (to - from == N) pthread_cond_wait(&c, &m); q[to++ % N] = b; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); }"
              " pthread_mutex_lock(&m); over = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); pthread_join(t, 0); done(); puts(\"ok\"); }",
    "sparse": "int main(void) { char *p[16]; for (int i = 0; i < 16; i++) { p[i] = malloc(4 << 20); for (int o = 0; o < 4 << 20; o += 1 << 20) p[i][o] = 1; }"
              " for (int r = 0; r < 60000000; r++) sum += p[r & 15][0]; done(); printf(\"%lu\\n\", sum); }",
    "live": "int main(void) { for (int i = 0; i < 60000; i++) block(600); for (int r = 0; r < 100000000; r++) sum += r; done(); printf(\"%lu\\n\", sum); }",
}
SQL = """pragma cache_size=2000;
create table t(a integer primary key, b, c);
with recursive n(x) as (select 1 union all select x+1 from n where x<90000) insert into t select x, hex(x*7907)||printf('%0*d', x%80, x), x*37%900 from n;
create index i on t(c, b);
select c, group_concat(b) from t group by c order by 2 limit 1 offset 800;
delete from t where a%10<>0;
select count(*), sum(c) from t;
.shell : > $MARK; exec sleep $REST
"""
PERL = """my %h; my $n=0; for my $r (1..3) { my @l; for my $i (1..90000) { push @l, "row $i " x ($i%11); $h{$i%4000}=substr($l[-1],0,40); }
@l=sort @l; $n += scalar(split / /) for @l; } open(my $m,'>',$ENV{MARK}); close $m; select(undef,undef,undef,$ENV{REST}); print "$n\\n";"""
PYTHON = """import os, time
keep = []
for r in range(4):
    rows = [(str(i) * 3, [i, i + 1], {'k': i}) for i in range(70000)]
    texts = [('%d,' % i) * (i % 50) for i in range(50000)]
    keep += rows[::800]
    del rows, texts
open(os.environ['MARK'], 'w').close(); time.sleep(float(os.environ['REST'])); print(len(keep))
"""
REDIS = """import os, socket, subprocess, time
where = os.environ['MARK'] + '.sock'
server = subprocess.Popen(['redis-server', '--port', '0', '--unixsocket', where, '--save', '', '--appendonly', 'no', '--loglevel', 'warning'], stdout=subprocess.DEVNULL)
s = socket.socket(socket.AF_UNIX)
for _ in range(500):
    try: s.connect(where); break
    except OSError: time.sleep(0.01)
def ask(commands):
    s.sendall(b''.join(b'*%d\\r\\n' % len(c) + b''.join(b'$%d\\r\\n%s\\r\\n' % (len(a), a) for a in c) for c in commands)); got = b''
    while got.count(b'\\r\\n') < len(commands): got += s.recv(1 << 20)
for i in range(0, 100000, 500): ask([(b'SET', b'k%d' % j, b'v' * (20 + j * 7919 % 700)) for j in range(i, i + 500)])
for i in range(0, 100000, 500): ask([(b'DEL', b'k%d' % j) for j in range(i, i + 500) if j * 31 % 8] or [(b'PING',)])
open(os.environ['MARK'], 'w').close(); time.sleep(float(os.environ['REST'])); ask([(b'DBSIZE',)]); s.sendall(b'SHUTDOWN NOSAVE\\r\\n'); server.wait(); print('ok')
"""
RUBY = """total = 0; lock = Mutex.new
6.times.map { |t| Thread.new { n = 0; 4.times { a = Array.new(5000) { |i| "v#{i}" * (1 + (i * 5 + t) % 70) }; n += a.sum(&:size); h = {}
a.each_with_index { |v, i| h[v[0, 24]] = [i, v.size] }; n += h.size }; lock.synchronize { total += n } } }.each(&:join)
File.write(ENV['MARK'], ''); sleep(ENV['REST'].to_f); puts total
"""
NODE = """const fs = require('fs'), kept = []; let n = 0;
for (let r = 0; r < 6; r++) { const b = []; for (let i = 0; i < 250; i++) { const one = Buffer.allocUnsafeSlow(16000 + i * 41); one.fill(i); b.push(one); }
n += JSON.parse(JSON.stringify(Array.from({length: 12000}, (_, i) => ({id: i, name: 'k' + i})))).length; if (r % 3 == 0) kept.push(b[0]); }
fs.writeFileSync(process.env.MARK, ''); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000 * process.env.REST); console.log(n, kept.length);
"""
RUST = """use std::collections::*;
fn both<T: Ord + Clone + std::hash::Hash + std::fmt::Debug>(v: &[T]) -> String { let (mut a, mut b) = (BTreeMap::new(), HashMap::new());
for (i, x) in v.iter().enumerate() { a.insert(x.clone(), i); b.insert(x.clone(), i); } let mut c: Vec<_> = b.into_iter().collect(); c.sort(); format!("{:?}{:?}", a, c) }
fn main() { println!("{}{}{}", both(&[1u8, 2]), both(&["a"]), both(&[(1, 2u64)])); }
"""
TEMPLATES = """#include <map>
#include <string>
#include <vector>
template <int N> struct T { std::map<int, std::vector<std::string>> m; int run() { m[N].push_back("x"); return N + T<N - 1>().run(); } };
template <> struct T<0> { int run() { return 0; } };
int main() { return T<25>().run(); }
"""
POSTGRES = r"""create temp table t as select g a, md5(g::text) b, g%3000 c from generate_series(1,30000) g;

select count(*), sum(length(x)) from (select c, string_agg(b, ',' order by a) x from t group by c) q;

select count(*) from t one join t other on one.b = other.b;

copy (select 1) to program 'touch MARK; exec sleep REST';

"""
IDLE_SECONDS = 2
# What must be found: by the memory under the advice, and its environment.
MUST = {("perl", "end"): lambda memory, _: memory <= 15 * MIB, ("sqlite3", "end"): lambda memory, _: memory <= 25 * MIB,
        ("aligned", "end"): lambda memory, _: memory <= 5 * MIB, ("cache", "end"): lambda memory, _: memory <= 100 * MIB,
        ("bursts", "idle"): lambda memory, _: memory <= 8 * MIB, ("ruby", "end"): lambda _, chosen: "arena" in chosen or "PRELOAD" in chosen}
# They give no sign that their work is done.
WITHOUT_SIGN = ("compiler", "rustc")


class Failed(Exception):
    pass


def built(folder, with_server=True):
    """Name -> words of the program."""
    commands = {}
    for name, body in PROGRAMS.items():
        source = folder / f"{name}.c"
        source.write_text(HEAD + body + "\n")
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-pthread", "-o", folder / name, source], check=True)
        commands[name] = [str(folder / name)]
    (folder / "q.sql").write_text(SQL)
    (folder / "p.pl").write_text(PERL)
    (folder / "p.py").write_text(PYTHON)
    (folder / "r.py").write_text(REDIS)
    if shutil.which("sqlite3"):
        commands["sqlite3"] = ["sqlite3", ":memory:", f".read {folder}/q.sql"]
    if shutil.which("perl"):
        commands["perl"] = ["perl", str(folder / "p.pl")]
    commands["python3"] = ["/usr/bin/python3", str(folder / "p.py")]
    if shutil.which("redis-server"):
        commands["redis"] = ["/usr/bin/python3", str(folder / "r.py")]
    add_others(commands, folder, with_server)
    return commands


def add_others(commands, folder, with_server):
    texts = {"p.rb": RUBY, "p.js": NODE, "p.rs": RUST, "t.cpp": TEMPLATES}
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, words in {"ruby": ["ruby", folder / "p.rb"], "node": ["node", folder / "p.js"],
                        "rustc": ["rustc", "--crate-type", "bin", "--emit", "metadata", "-o", folder / "p.rmeta", folder / "p.rs"],
                        "compiler": ["g++", "-std=c++20", "-O1", "-S", "-o", folder / "t.s", folder / "t.cpp"]}.items():
        if shutil.which(words[0]):
            commands[name] = [str(word) for word in words]
    binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if with_server and binaries and shutil.which("setpriv") and os.geteuid() == 0 and add_postgres(binaries[-1], folder):
        commands["postgres"] = ["/bin/sh", str(folder / "p.sh")]


def add_postgres(binary, folder):
    """A server of one user, which setpriv starts as another user; False where it cannot be set up."""
    folder.chmod(0o777)
    data, queries, script = folder / "pg", folder / "p.pg", folder / "p.sh"
    user = "setpriv --reuid=postgres --regid=postgres --clear-groups"
    queries.write_text(POSTGRES)
    script.write_text(f"sed \"s,MARK,$MARK,; s,REST,$REST,\" {queries} | exec {user} {binary} --single -j -D {data} -c work_mem=24MB -c fsync=off"
                      " -c shared_buffers=16MB postgres\n")
    made = subprocess.run([*user.split(), binary.parent / "initdb", "-D", data, "-A", "trust", "-N"], capture_output=True, check=False)
    return made.returncode == 0


def resident(pid):
    """Bytes of a process and its children: what no file backs of each, and what is of files once."""
    anonymous = files = 0
    todo = [pid]
    while todo:
        one = todo.pop()
        try:
            text = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text()
            for task in pathlib.Path(f"/proc/{one}/task").iterdir():
                todo += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        found = {name: int(value) << 10 for name, value in re.findall(r"^(Rss|Anonymous): +(\d+) kB", text, re.M)}
        if len(found) == 2:
            anonymous += found["Anonymous"]
            files = max(files, found["Rss"] - found["Anonymous"])
    return anonymous + files


def run_once(words, environment, wish, folder):
    """(bytes, seconds of processor time, output), outside of memsweep; None where it fails."""
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    rest = {"end": 0.3, "peak": 0, "idle": IDLE_SECONDS + 0.3}[wish]
    variables = {**os.environ, **environment, "MARK": str(mark), "REST": str(rest)}
    process = subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
    value = 0
    if wish != "peak":
        while not mark.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(IDLE_SECONDS if wish == "idle" else 0.01)
        value = resident(process.pid)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        return None
    return value or usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime, out


def ask(words, wish, runs, folder):
    mark = folder / "mark"
    rest = {"end": 0.3, "peak": 0, "idle": IDLE_SECONDS + 0.3}[wish]
    want = f"rss@idle={IDLE_SECONDS}s" if wish == "idle" else f"rss@{wish}"
    sign = [] if wish == "peak" else ["--end-when", f"file:{mark}"]
    done = subprocess.run([MEMSWEEP, "advise", "-q", "--json", "--want", want, "--budget", runs, *sign, "--", *words], cwd=folder, check=False,
                          env={**os.environ, "MARK": str(mark), "REST": str(rest)}, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1, 5):
        raise Failed(f"{words}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def grid(words, wish, report, times, folder):
    """Environment as text -> (memory, time relative to the default, whether it prints the same), by medians."""
    settings = {"{}": {}}
    for one in report["tried"]:
        if one["dropped"] not in ("refused", "inert"):
            settings[json.dumps(one["environment"])] = one["environment"]
    measured = {key: [] for key in settings}
    for _ in range(times):
        for key, environment in settings.items():
            measured[key].append(run_once(words, environment, wish, folder))
    base = [one for one in measured["{}"] if one]
    if not base:
        raise Failed(f"{words} fails as it is")
    outputs = {one[2] for one in base}
    cpu = statistics.median(one[1] for one in base)
    result = {}
    for key, runs in measured.items():
        good = [one for one in runs if one]
        if len(good) == times:
            same = len(outputs) > 1 or all(one[2] in outputs for one in good)
            result[key] = (statistics.median(one[0] for one in good), statistics.median(one[1] for one in good) / cpu, same)
    return result


def off(report, measured):
    """How far predictions are off, as a ratio of what the grid measured; empty: nothing was replayed."""
    default, asked = measured["{}"][0], report["default"]["value"]["median"]
    errors = []
    for one in report["tried"]:
        key = json.dumps(one["environment"])
        if one["predicted"] and key in measured:
            errors.append(abs(one["predicted"]["rss"] - asked - (measured[key][0] - default)) / measured[key][0])
    return sorted(errors)


def judged(name, wish, report, measured):
    default, _, _ = measured["{}"]
    allowed = max(0.05 * default, MIB)
    advice = report["advice"][0] if report["advice"] and report["verdict"] == "change" else None
    chosen = json.dumps(advice["environment"]) if advice else "{}"
    broken = chosen not in measured or not measured[chosen][2]
    under, ratio, _ = measured.get(chosen, (default, 1, True))
    fit = {key: memory for key, (memory, time_ratio, same) in measured.items() if same and time_ratio <= PROMISE * 1.05}
    best = min(fit, key=fit.get, default="{}")
    regret = max(0, under - min(fit.values(), default=default))
    errors = off(report, measured)
    proven = bool(advice and advice["price"]["proven"])
    return {"program": name, "wish": wish, "verdict": report["verdict"], "headline": report["headline"], "default_bytes": round(default),
            "advised": {} if chosen == "{}" else json.loads(chosen), "advised_bytes": round(under), "advised_cpu": round(ratio, 3),
            "best": json.loads(best), "best_bytes": round(fit.get(best, default)), "regret_bytes": round(regret), "allowed_bytes": round(allowed),
            "within": regret <= allowed, "missed": (name, wish) in MUST and not MUST[name, wish](under, chosen), "broken": broken or (proven and ratio > PROMISE * TOLERATED), "price_proven": proven,
            "replays": report["cost"]["replays"], "predictions": len(errors), "prediction_off": round(statistics.median(errors), 4) if errors else None,
            "prediction_off_p90": round(errors[int(0.9 * (len(errors) - 1))], 4) if errors else None,
            "real_runs": report["cost"]["real_runs"], "seconds": round(report["cost"]["seconds"], 1), "load": round(os.getloadavg()[0], 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", action="append")
    parser.add_argument("--wish", action="append", choices=("end", "peak", "idle"))
    parser.add_argument("--budget", default="110", help="runs, or a time, as advise takes it")
    parser.add_argument("--grid", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="memsweep-advice-") as scratch:
        folder = pathlib.Path(scratch)
        commands = built(folder)
        for name, wish in asked(args, commands):
            for _ in range(args.repeat):
                try:
                    report = ask(commands[name], wish, args.budget, folder)
                    rows.append(judged(name, wish, report, grid(commands[name], wish, report, args.grid, folder)))
                except Failed as problem:
                    print(f"failed: {problem}", file=sys.stderr)
                    return 2
                row = rows[-1]
                print(f"{name}@{wish}: {row['verdict']}, {row['default_bytes'] / MIB:.1f} -> {row['advised_bytes'] / MIB:.1f} MiB, best "
                      f"{row['best_bytes'] / MIB:.1f}, regret {row['regret_bytes'] / MIB:.1f}, {row['real_runs']} runs in {row['seconds']} s, "
                      f"load {row['load']}{'' if row['within'] else ', OUTSIDE'}{', MISSED' if row['missed'] else ''}", flush=True)
                if args.out:
                    args.out.write_text(json.dumps(result_of(rows), indent=1) + "\n")
    result = result_of(rows)
    print(f"regret within what is allowed: {result['within']} of {len(rows)}; broken: {result['broken']}; missed: {result['missed']}; "
          f"dearer than 110 runs and 2 minutes: {result['dear']}")
    return 0 if result["within"] * 51 >= 45 * len(rows) and not result["broken"] and not result["missed"] else 1


def asked(args, commands):
    """Program and wish; a program that gives no sign is looked at by its peak alone."""
    for name in args.program or commands:
        for wish in args.wish or ("end", "peak"):
            if wish == "peak" or name not in WITHOUT_SIGN:
                yield name, wish


def result_of(rows):
    return {"machine": platform.processor() or platform.machine(), "processors": os.cpu_count(), "kernel": platform.release(),
            "command": " ".join(["benchmarks/advice.py", *sys.argv[1:]]), "within": sum(row["within"] for row in rows), "of": len(rows),
            "broken": sum(row["broken"] for row in rows), "missed": sum(row["missed"] for row in rows),
            "dear": sum(row["real_runs"] > 110 and row["seconds"] > 120 for row in rows), "rows": rows}


if __name__ == "__main__":
    sys.exit(main())
