#!/usr/bin/env python3
"""Every sentence that `memsweep explain` prints of programs of the distribution, beside what an observer without memsweep says.

    benchmarks/explain_programs.py [--only NAME]... [--memsweep PATH] [--out FILE]

Observers: smaps and VmHWM of the program alone, stopped at its end (exit_observer.py); gdb, which at the same place has the program
call malloc_stats() and malloc_trim(0); redis' own INFO and MEMORY PURGE; heaptrack for what is live at a site; strace for processes.
Figures of two runs are called equal within 5 % or 512 KiB; pages of files may be an eighth or 1 MiB more, as what unwinds stacks reads
the tables of libraries.
"""

import argparse
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

import exit_observer

HERE = pathlib.Path(__file__).resolve().parent
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SIZE = r"([\d.,]+ (?:B|KiB|MiB|GiB))"
SLACK, SHARE = 512 << 10, 0.05

JAVA = "class Fill { static Object[] kept = new Object[20000]; public static void main(String[] a) { for (int i = 0; i < 200000; i++) " \
       "kept[i % 20000] = new byte[400]; System.out.println(kept.length); } }"
SQL = "create table t as select g as a, md5(g::text) as b from generate_series(1,200000) g;\nselect count(*), sum(length(b)) from t;\n" \
      "select b, count(*) from t group by b order by 2 desc limit 1;\n"


def size_of(text):
    number, unit = text.replace(",", "").split()
    return float(number) * UNITS[unit]


def near(one, other, slack=SLACK, share=SHARE):
    return abs(one - other) <= max(slack, share * max(one, other))


def mib(size):
    return f"{size / (1 << 20):.2f} MiB"


def files_match(size, alone):
    """What unwinds stacks reads tables that the program alone does not: an eighth more, or 1 MiB."""
    return alone.files() * (1 - SHARE) - SLACK <= size <= max(alone.files() * 1.125, alone.files() + (1 << 20))


def mapped_match(size, alone):
    """Blocks that malloc mapped one by one are memory without a name too, and need not be resident."""
    most = alone.nearest(size, alone.nameless)
    least = most - alone.mapped_blocks
    return (least - max(SLACK, SHARE * least) <= size <= most + max(SLACK, SHARE * most),
            f"memory without a name: smaps {mib(most)}, of which malloc_stats says that malloc mapped up to {mib(alone.mapped_blocks)}")


def programs(folder):
    (folder / "Fill.java").write_text(JAVA)
    (folder / "p.cpp").write_text("#include <regex>\nint main() { return std::regex_match(\"x\", std::regex(\"[a-z]\")); }\n")
    cc1plus = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["g++", "-E", "-P", folder / "p.cpp", "-o", folder / "p.ii"], check=True)
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", folder, folder / "Fill.java"], check=True)
    return {
        "python3": ["python3", "-c", "x = {i: str(i) * 9 for i in range(200000)}; y = [x.pop(i) for i in range(0, 200000, 3)]; print(len(x)); "
                    "import sys; sys.stdout.flush(); import os; os._exit(0)"],
        "python3 to its end": ["python3", "-c", "x = {i: str(i) * 9 for i in range(200000)}; print(len(x))"],
        "perl": ["perl", "-e", "my %h; $h{$_} = 'x' x 80 for 1..150000; delete $h{$_} for 1..100000; print scalar(keys %h), qq(\\n)"],
        "ruby": ["ruby", "-e", "h = {}; 150000.times { |i| h[i] = 'x' * (i % 190) }; 100000.times { |i| h.delete(i) }; puts h.size"],
        "node": ["node", "-e", "const a = []; for (let i = 0; i < 300000; i++) a.push('x' + i); console.log(a.length)"],
        "java": ["java", "-Xmx128m", "-cp", str(folder), "Fill"],
        "g++": ["g++", "-c", str(folder / "p.cpp"), "-o", str(folder / "p.o")],
        "cc1plus": [cc1plus, "-quiet", "-fpreprocessed", str(folder / "p.ii"), "-o", str(folder / "p.s")],
        "sqlite3": ["sqlite3", ":memory:", "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 200000) "
                    "insert into t select x, hex(x) from c; delete from t where a % 3; select count(*) from t;"],
        "jq": ["jq", "-n", "[range(200000) | {a: ., b: \"x\\(.)\"}] | map(select(.a % 3 == 0)) | length"],
    }


class Alone:
    """What the observers say of a program without memsweep."""

    def __init__(self, words, folder, env=None, stdin=None, prefix=()):
        self.words, self.folder, self.env, self.prefix = [shutil.which(words[0]), *words[1:]], folder, {**os.environ, **(env or {})}, list(prefix)
        self.stdin = stdin
        self.look()

    def look(self, runs=5):
        """Runs differ by where memory lies, and programs with threads by their order: what one is compared with is the nearest."""
        self.seen = [self.observe(self.env) for _ in range(runs)]
        self.areas = self.seen[0]["smaps"]
        self.rss = 1024 * exit_observer.total(self.areas, "Rss")
        self.peak = 1024 * int((re.search(r"VmHWM:\s+(\d+)", self.seen[0]["status"]) or [0, 0])[1])
        self.asked = [self.ask() for _ in range(8)]
        self.ask()

    def nearest(self, size, figure):
        """Of the runs' figures."""
        kept, found = self.areas, []
        for one in self.seen:
            self.areas = one["smaps"]
            found.append(figure())
        self.areas = kept
        return min(found, key=lambda one: abs(one - size))

    def own(self):
        return self.of(lambda area: True, "Rss") - self.files()

    def observe(self, env):
        with open(self.stdin or os.devnull, "rb") as source, open(os.devnull, "wb") as nothing:
            return exit_observer.at_exit([*self.prefix, *self.words], env, stdout=nothing, stdin=source)

    def of(self, wanted, key):
        return 1024 * sum(area[4].get(key, 0) for area in self.areas if wanted(area))

    def files(self):
        def is_file(area):
            return area[3].startswith("/") and not area[3].startswith(("/dev/zero", "/dev/shm/", "/memfd:", "/SYSV"))
        return self.of(is_file, "Rss") - self.of(is_file, "Anonymous")

    def nameless(self):
        return self.of(lambda area: not area[3] or area[3].startswith("[anon"), "Anonymous")

    def heap(self):
        return self.of(lambda area: area[3] == "[heap]", "Anonymous")

    def ask(self):
        """At exit_group(2), by gdb: figures of malloc_stats(), how it came there, anonymous memory before and after malloc_trim(0)."""
        script = self.folder / "ask.gdb"
        script.write_text("set pagination off\nset confirm off\nhandle all nostop noprint pass\ncatch syscall exit_group\n"
                          "run\nbt\npython import gdb\n"
                          "python print('before', open('/proc/%d/smaps_rollup' % gdb.selected_inferior().pid).read())\n"
                          "call ((void(*)(void))malloc_stats)()\ncall ((int(*)(unsigned long))malloc_trim)(0)\n"
                          "python print('after', open('/proc/%d/smaps_rollup' % gdb.selected_inferior().pid).read())\nkill\n")
        with open(self.stdin or os.devnull, "rb") as source:
            done = subprocess.run([*self.prefix, "gdb", "-nx", "-batch", "-x", str(script), "--args", *self.words], env=self.env, stdin=source,
                                  capture_output=True, text=True, errors="replace", check=False, cwd=self.folder)
        out = done.stdout + done.stderr
        anonymous = [1024 * int(one) for one in re.findall(r"Anonymous:\s+(\d+)", out)]
        in_use = re.findall(r"in use bytes\s+=\s+(\d+)", out)
        system = re.findall(r"system bytes\s+=\s+(\d+)", out)
        self.by_exit = "__run_exit_handlers" in out
        self.returned = anonymous[0] - anonymous[1] if len(anonymous) == 2 else None
        self.in_use = int(in_use[-1]) if in_use else None
        self.system = int(system[-1]) if system else None
        self.mapped_blocks = self.system - sum(int(one) for one in system[:-1]) if system else 0
        return self.returned

    def processes(self):
        done = subprocess.run([*self.prefix, "strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork,execve", *self.words],
                              capture_output=True, text=True, errors="replace", check=False, env=self.env, cwd=self.folder,
                              stdin=open(self.stdin or os.devnull, "rb"))
        return sum("CLONE_THREAD" not in line and re.search(r"(clone3?|v?fork)\(", line) is not None for line in done.stderr.splitlines())

    def live_by_site(self):
        """heaptrack's leaks: [(bytes, calls, function)]; None where it is not installed."""
        if shutil.which("heaptrack") is None or self.prefix:
            return None
        out = self.folder / "heaptrack"
        subprocess.run(["heaptrack", "-o", str(out), *self.words], env=self.env, capture_output=True, check=False, cwd=self.folder,
                       stdin=open(self.stdin or os.devnull, "rb"))
        found = next(iter(self.folder.glob("heaptrack*.zst")), None) or next(iter(self.folder.glob("heaptrack*.gz")), None)
        if found is None:
            return None
        text = subprocess.run(["heaptrack_print", "-f", str(found), "-p", "0", "-a", "1", "-T", "0", "-l", "1", "-n", "5"], capture_output=True,
                              text=True, errors="replace", check=False).stdout
        found.unlink()
        return text


def check_sentence(sentence, report, alone):
    """(whether it holds, by which observer); None: by none."""
    categories = {one["name"]: one["bytes"] for one in report["categories"]}
    word = report["verdict"]["word"]
    parts = []
    if match := re.match(rf"\S[^:]*: (?:{SIZE} of )?{SIZE} (?:are|were)", sentence):
        part = size_of(match[1]) if match[1] else None
        whole = size_of(match[2])
        if part is not None or word == "nothing_to_change":
            files = categories["files_program"] + categories["files_data"]
            own = alone.nearest(whole - files, alone.own)
            parts.append((near(whole - files, own), f"resident but for pages of files, {mib(whole - files)}: smaps at its end without us {mib(own)}"))
            parts.append((files_match(files, alone), f"pages of files, {mib(files)}: smaps {mib(alone.files())}"))
        else:
            part = whole
        if word in ("retention", "kept", "fragmentation") and alone.in_use is not None:
            free = alone.system - alone.in_use
            parts.append((part <= free + max(SLACK, SHARE * free), f"free in the heap: malloc_stats {mib(free)}"))
        if word == "files":
            parts.append((files_match(part, alone), f"pages of files: smaps {mib(alone.files())}"))
        if word == "mapped_by_program":
            parts.append(mapped_match(part, alone))
        if word in ("in_use", "leak", "grows") and alone.in_use is not None:
            parts.append((categories["live"] <= alone.in_use * (1 + SHARE) + SLACK, f"in use: malloc_stats {mib(alone.in_use)}"))
        if word == "nothing_to_change" and alone.returned is not None:
            parts.append((alone.returned < max(4 << 20, 0.2 * alone.rss), f"malloc_trim(0) in the program itself returns {mib(alone.returned)}"))
        if live := re.search(rf"; {SIZE} (?:is|are) live", sentence):
            parts.append((alone.in_use is None or size_of(live[1]) <= alone.in_use * (1 + SHARE) + SLACK,
                          f"live: malloc_stats says {mib(alone.in_use or 0)} are in use"))
        return parts
    if match := re.match(rf"(\S+), tried in a copy of the program, returns ({SIZE}|nothing)", sentence):
        returned = 0 if match[2] == "nothing" else size_of(match[2])
        if alone.returned is None:
            return []
        asked = sorted(max(one or 0, 0) for one in alone.asked)
        width = asked[-1] - asked[0]
        return [(asked[0] - width - SLACK <= returned <= asked[-1] + width + SLACK,
                 f"{match[1]} in the program itself, by gdb at its end: {', '.join(mib(one) for one in asked)}")]
    if sentence.startswith("No request was tried: the program did not end by exit()"):
        return [(not alone.by_exit, "gdb's backtrace at exit_group: " + ("through exit()" if alone.by_exit else "not through exit()"))]
    if match := re.match(r"(Most is live at|Most of it at|Left behind by|Pinned by) (.*?)( \(\S*\))?: (.*)", sentence):
        function = match[2].split("+")[0]
        parts = []
        text = alone.live_by_site()
        if text:
            title = "MEMORY LEAKS" if match[1].startswith("Most") else "MOST CALLS TO ALLOCATION FUNCTIONS"
            first = text.split(title, 1)[-1][:1500]
            named = next((line for line in first.splitlines() if function in line), "")
            figure = next((line for line in first.splitlines() if re.match(r"\s*[\d.]+[KMG]?B? (leaked|calls)|.*(leaked|calls to)", line)), "")
            parts.append((bool(named), f"heaptrack, {title.lower()}: {figure.strip()[:90]}: {named.strip()[:90] or first[:300]}"))
        for setting in re.findall(r"(GLIBC_TUNABLES=\S+?)[.]?(?: or|$)", sentence):
            name, value = setting.split("=", 1)
            rss = 1024 * exit_observer.total(alone.observe({**alone.env, name: value})["smaps"], "Rss")
            parts.append((rss <= alone.rss + SLACK, f"with {setting} it holds {mib(rss)} instead of {mib(alone.rss)}: smaps"))
        return parts
    if match := re.match(rf"Up to {SIZE} were resident before", sentence):
        return [(near(size_of(match[1]), alone.peak), f"VmHWM without us {mib(alone.peak)}")]
    if match := re.match(rf"{SIZE} were mapped by code outside", sentence):
        return [mapped_match(size_of(match[1]), alone)]
    if "started other processes" in sentence:
        count = alone.processes()
        return [(count > 0, f"strace sees {count} processes made")]
    if "brings its own malloc" in sentence:
        symbols = subprocess.run(["nm", "-D", "--defined-only", os.path.realpath(alone.words[0])], capture_output=True, text=True, check=False).stdout
        return [(" malloc" in symbols, "nm: it defines malloc")]
    if match := re.match(r"Setting to try: (\S+?)=(\S+?)\.?$", sentence):
        rss = 1024 * exit_observer.total(alone.observe({**alone.env, match[1]: match[2]})["smaps"], "Rss")
        return [(rss <= alone.rss + SLACK, f"with it it holds {mib(rss)} instead of {mib(alone.rss)}: smaps")]
    return []


def explain(args, words, folder, env=None, stdin=None, prefix=()):
    out = folder / "explained.json"
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run([*prefix, args.memsweep, "explain", "-f", "json", "-o", str(out), "--", *words], env={**os.environ, **(env or {})},
                              stdin=source, capture_output=True, text=True, errors="replace", check=False, cwd=folder)
    if not out.exists():
        raise RuntimeError(done.stderr[-400:])
    report = json.loads(out.read_text())
    out.unlink()
    return report


class Listing:
    def __init__(self):
        self.lines, self.count, self.unchecked, self.wrong = [], 0, 0, 0

    def add(self, text):
        self.lines.append(text)
        print(text, flush=True)

    def judge(self, name, command, report, check):
        self.add(f"\n{name}: {command[:200]}")
        self.add(f"  resident {report['rss']}, sum {report['sum']}, verdict {report['verdict']['word']}; load {os.getloadavg()[0]:.1f}")
        for sentence in [*report["verdict"]["why"], *report["warnings"]]:
            self.count += 1
            self.add(f"  * {sentence}")
            parts = check(sentence)
            self.unchecked += not parts
            self.wrong += not all(holds for holds, _ in parts)
            for holds, how in parts:
                self.add(f"      {'holds' if holds else 'DOES NOT HOLD'}: {how}")
            if not parts:
                self.add("      no observer")


def redis(args, folder, listing):
    """600,000 texts of 100 to 239 bytes; two of three are deleted."""

    def serve(prefix):
        socket = folder / "redis.sock"
        process = subprocess.Popen([*prefix, "redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no", "--dir",
                                    str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not socket.exists():
            time.sleep(0.05)
        return process, ["redis-cli", "-s", str(socket)]

    def work(client):
        def words(*parts):
            return f"*{len(parts)}\r\n" + "".join(f"${len(part)}\r\n{part}\r\n" for part in parts)
        fill = "".join(words("SET", f"key:{i}", "x" * (100 + i % 140)) for i in range(600_000))
        delete = "".join(words("DEL", f"key:{i}") for i in range(600_000) if i % 3)
        for text in (fill, delete):
            subprocess.run([*client, "--pipe"], input=text, text=True, check=True, capture_output=True)
        time.sleep(15)  # while its table gets smaller, and jemalloc gives back what it has not used for 10 s
        info = subprocess.run([*client, "info", "memory"], capture_output=True, text=True, check=True).stdout
        return {line.split(":")[0]: line.split(":")[1].strip() for line in info.splitlines() if ":" in line}

    def rollup(pid, key):
        return 1024 * int(re.search(rf"{key}:\s+(\d+)", exit_observer.read(f"/proc/{pid}/smaps_rollup"))[1])

    process, client = serve([])
    alone = work(client)
    rss = rollup(process.pid, "Rss")
    script = folder / "redis.gdb"
    script.write_text("set pagination off\nset confirm off\nhandle all nostop noprint pass\ncatch syscall exit_group\ncontinue\n"
                      f"shell grep Anonymous: /proc/{process.pid}/smaps_rollup\n"
                      "call ((int(*)(const char*,void*,void*,void*,unsigned long))mallctl)(\"thread.tcache.flush\",0,0,0,0)\n"
                      "call ((int(*)(const char*,void*,void*,void*,unsigned long))mallctl)(\"arena.4096.purge\",0,0,0,0)\n"
                      f"shell grep Anonymous: /proc/{process.pid}/smaps_rollup\nkill\n")
    debugger = subprocess.Popen(["gdb", "-nx", "-batch", "-p", str(process.pid), "-x", str(script)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    time.sleep(8)  # until it is attached
    subprocess.run([*client, "shutdown", "nosave"], capture_output=True, check=False)
    asked = [1024 * int(one) for one in re.findall(r"Anonymous:\s+(\d+)", debugger.communicate()[0])]
    purged = asked[0] - asked[1]
    process.wait()
    (folder / "redis.sock").unlink(missing_ok=True)
    process, client = serve(["env", "MALLOC_CONF=narenas:1"])
    work(client)
    one_arena = rollup(process.pid, "Rss")
    subprocess.run([*client, "shutdown", "nosave"], capture_output=True, check=False)
    process.wait()
    out = folder / "redis.json"
    process, client = serve([args.memsweep, "explain", "-f", "json", "-o", str(out), "--"])
    work(client)
    subprocess.run([*client, "shutdown", "nosave"], capture_output=True, check=False)
    process.wait()
    report = json.loads(out.read_text())
    live = sum(one["bytes"] for one in report["categories"] if one["name"] in ("live", "rounding"))
    allocated, holes = int(alone["allocator_allocated"]), int(alone["allocator_active"]) - int(alone["allocator_allocated"])

    def check(sentence):
        if match := re.match(rf"Fragmentation: {SIZE} of {SIZE} are holes beside live blocks; {SIZE} are live", sentence):
            return [(near(size_of(match[1]), holes, share=0.1), f"holes: INFO allocator_active - allocator_allocated {mib(holes)}"),
                    (near(size_of(match[2]), rss), f"resident: smaps_rollup {mib(rss)}"),
                    (size_of(match[3]) <= allocated and near(live, allocated, share=0.1),
                     f"live, with what jemalloc rounds up {mib(live)}: INFO allocator_allocated {mib(allocated)}")]
        if match := re.match(rf"\S+, tried in a copy of the program, returns ({SIZE}|nothing)", sentence):
            returned = 0 if match[1] == "nothing" else size_of(match[1])
            return [(near(returned, purged, slack=1 << 20), f"the same in the program itself, by gdb at its end: {mib(purged)}")]
        if match := re.match(r"Pinned by (\S+).*: its ([\d,]+) live blocks", sentence):
            return [("sds" in match[1] or "dict" in match[1] or "alloc" in match[1] or "+" in match[1],
                     f"200,000 keys stay, of two blocks each, an entry and an object with its text: {match[2]}"),
                    ("MALLOC_CONF=narenas:1" not in sentence or one_arena <= rss + SLACK,
                     f"with MALLOC_CONF=narenas:1 it holds {mib(one_arena)} instead of {mib(rss)}: smaps_rollup")]
        return []

    listing.judge("redis-server, shaped like redis#3720", "600,000 SET, two of three DEL, SHUTDOWN NOSAVE", report, check)


def postgres(args, folder, listing):
    binary = next(iter(sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))), None)
    if binary is None or os.geteuid() != 0:
        listing.add("\npostgres: left out: it is not installed, or this is not root, who can become its user")
        return
    sql = folder / "work.sql"
    sql.write_text(SQL)
    data = folder / "data"
    folder.chmod(0o777)
    user = ["runuser", "-u", "postgres", "--"]
    subprocess.run([*user, str(binary.parent / "initdb"), "-D", str(data), "-A", "trust"], check=True, capture_output=True)
    words = [str(binary), "--single", "-D", str(data), "postgres"]
    drop = folder / "drop.sql"
    drop.write_text("drop table t;\n")

    def again():
        subprocess.run([*user, *words], stdin=drop.open("rb"), check=True, capture_output=True)

    for _ in range(2):  # the first time it reads and writes what later ones find
        subprocess.run([*user, *words], stdin=sql.open("rb"), check=True, capture_output=True)
        again()
    report = explain(args, words, folder, stdin=sql, prefix=user)
    again()
    prefix = ["setpriv", f"--reuid={pwd.getpwnam('postgres').pw_uid}", "--clear-groups"]
    alone = Alone.__new__(Alone)
    alone.words, alone.folder, alone.env, alone.prefix, alone.stdin = words, folder, dict(os.environ), prefix, str(sql)
    alone.observe = lambda env: (Alone.observe(alone, env), again())[0]
    alone.ask = lambda: (Alone.ask(alone), again())[0]
    alone.look()
    listing.judge("postgres --single", SQL.replace("\n", " "), report, lambda sentence: check_sentence(sentence, report, alone))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--memsweep", default=str(HERE.parent / "build/release/memsweep"))
    parser.add_argument("--out")
    args = parser.parse_args()
    args.memsweep = str(pathlib.Path(args.memsweep).resolve())
    os.environ.update(PYTHONHASHSEED="0", PERL_HASH_SEED="0")
    listing = Listing()
    listing.add("# " + " ".join(["benchmarks/explain_programs.py", *sys.argv[1:]]) + f"; Linux {os.uname().release}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, words in programs(folder).items():
            if args.only and name not in args.only:
                continue
            if shutil.which(words[0]) is None:
                listing.add(f"\n{name}: left out: not installed")
                continue
            report = explain(args, words, folder)
            alone = Alone(words, folder)
            listing.judge(name, " ".join(words), report, lambda sentence: check_sentence(sentence, report, alone))
        for name, run in (("redis", redis), ("postgres", postgres)):
            if not args.only or name in args.only:
                run(args, folder, listing)
    listing.add(f"\n{listing.count} sentences: {listing.wrong} do not hold, {listing.unchecked} without an observer")
    if args.out:
        pathlib.Path(args.out).write_text("\n".join(listing.lines) + "\n")
    return 1 if listing.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
