#!/usr/bin/env python3
"""Whether `memsweep explain` leaves the programs that it explains as they are.

    benchmarks/explain_unchanged.py [--runs 3] [--only NAME]... [--memsweep PATH] [--out FILE]

Each program runs so many times alone and so many times with what explain gives it (the recorder, its environment), and each time an
observer of this folder's own stops it at its end: anonymous pages of each mapping, as smaps has them. Then explain itself runs it:
its output and exit code must be those of the program alone. In the first two addresses are not randomised.
The recorder's own are its library, its folder, and memory without a name that is left out of dumps. Its environment makes the stack
longer, and the loader has one more library on its lists, which is a page here and there. Where a program hashes addresses, where its
memory lies decides how much it holds: `heap_alone_randomised_kib` says between what it is alone when addresses are randomised.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import exit_observer

HERE = pathlib.Path(__file__).resolve().parent
NO_RANDOMIZE = 0x0040000
PAGE_KIB = os.sysconf("SC_PAGESIZE") // 1024
TEXT = "the quick brown fox jumps over the lazy dog %d\n"
PROGRAM_CPP = "template <int N> struct Sum { static constexpr int value = N + Sum<N - 1>::value; };\n" \
    "template <> struct Sum<0> { static constexpr int value = 0; };\n" \
    "int main() { return Sum<800>::value & 1; }\n"


def commands(folder):
    (folder / "text").write_text("".join(TEXT % (i * 7919 % 10007) for i in range(40000)))
    (folder / "text.json").write_text(json.dumps([{"id": i, "name": "n" * (i % 50)} for i in range(20000)]))
    (folder / "p.cpp").write_text(PROGRAM_CPP)
    cc1plus = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
    git = ["git", "-C", str(HERE.parent), "log", "--oneline", "-n", "2000"]
    return {
        "bash": ["bash", "-c", "x=(); for ((i = 0; i < 30000; i++)); do x+=($i); done; echo ${#x[@]}"],
        "perl": ["perl", "-e", "my %h; $h{$_} = 'x' x 80 for 1..80000; delete $h{$_} for 1..40000; print scalar(keys %h), qq(\\n)"],
        "python3": ["python3", "-c", "x = {i: str(i) * 5 for i in range(100000)}; print(len(x)); y = [x.pop(i) for i in range(50000)]"],
        "ruby": ["ruby", "-e", "h = {}; 60000.times { |i| h[i] = 'x' * (i % 90) }; puts h.size"],
        "lua5.4": ["lua5.4", "-e", "local t = {} for i = 1, 200000 do t[i] = tostring(i) end print(#t)"],
        "node": ["node", "-e", "const a = []; for (let i = 0; i < 200000; i++) a.push('x' + i); console.log(a.length)"],
        "tclsh": ["tclsh", str(folder / "p.tcl")],
        "gawk": ["gawk", "{ n[$0]++ } END { print length(n) }", str(folder / "text")],
        "mawk": ["mawk", "{ n[$0]++ } END { c = 0; for (k in n) c++; print c }", str(folder / "text")],
        "sqlite3": ["sqlite3", ":memory:", "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 60000) "
                    "insert into t select x, hex(x) from c; select count(*), sum(a) from t;"],
        "jq": ["jq", "map(.name | length) | add", str(folder / "text.json")],
        "git": git,
        "sort": ["sort", "--parallel=1", str(folder / "text")],
        "grep": ["grep", "-c", "fox.*1", str(folder / "text")],
        "sed": ["sed", "-e", "s/fox/cat/g", str(folder / "text")],
        "tar": ["tar", "-cf", "-", "-C", str(folder), "--mtime=@0", "text", "text.json"],
        "xz": ["xz", "-T1", "-1", "-c", str(folder / "text")],
        "gzip": ["gzip", "-n", "-c", str(folder / "text")],
        "openssl": ["openssl", "dgst", "-sha256", str(folder / "text")],
        "bc": ["bc", "-q", str(folder / "p.bc")],
        "cc1plus": [cc1plus, "-quiet", "-O1", str(folder / "p.cpp"), "-o", str(folder / "p.s")],
        "as": ["as", str(folder / "p.s"), "-o", str(folder / "p.o")],
        "find": ["find", str(HERE), "-name", "*.py"],
        "java": ["java", "-Xint", "-XX:+UseSerialGC", "-Xmx64m", "-version"],
        "gdb": ["gdb", "-nx", "-batch", "-ex", "info line main", shutil.which("bash")],
    }


def data_bytes_of(library):
    """How much memory without a file follows the library's last page, in whole pages."""
    page = os.sysconf("SC_PAGESIZE")
    headers = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    begin, in_file, in_memory = (int(loads[-1][i], 16) for i in (2, 4, 5))
    return -(-(begin + in_memory) // page) * page - -(-(begin + in_file) // page) * page


def anonymous(pid, areas, folder, recorder):
    """KiB by name, without the recorder's own; memory without a name together."""
    sums = collections.Counter()
    end_of_library = 0
    for begin, end, _, name, figures in areas:
        size = figures.get("Anonymous", 0)
        if name == recorder or name.startswith(str(folder)) or (not name and "dd" in figures.get("flags", [])):
            end_of_library = end if name == recorder else 0
            continue
        if not name and begin == end_of_library:  # its data, and whatever the kernel has merged with it
            size = exit_observer.present_kib(pid, min(begin + data_bytes_of(recorder), end), end)
        sums[name] += size
    return {name: size for name, size in sums.items() if size}


def observe(words, env, folder, recorder, output):
    with open(output, "wb") as file, open(os.devnull, "rb") as nothing:
        seen = exit_observer.at_exit(words, env, stdout=file, stdin=nothing,
                                     look=lambda pid, areas: anonymous(pid, areas, folder, recorder))
    return seen["code"], pathlib.Path(output).read_bytes(), seen["look"]


def is_allocated(name):
    return name in ("", "[heap]")


def compare(name, words, args, folder):
    recorder = str(pathlib.Path(args.memsweep).resolve().parent / "libmemsweep_record.so")
    fixed = {**os.environ, "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C"}
    alone, recorded = [], []
    for run in range(args.runs):
        alone.append(observe(words, fixed, folder / "none", recorder, folder / "out"))
        logs = folder / f"{name}-{run}"
        logs.mkdir()
        given = {**fixed, "LD_PRELOAD": recorder, "MEMSWEEP_RECORD": str(logs),
                 "MEMSWEEP_RECORD_OPTIONS": f"stacks,namespace={os.stat('/proc/self/ns/pid').st_ino},only-child-of={os.getpid()}"}
        recorded.append(observe(words, given, logs, recorder, folder / "out"))
        shutil.rmtree(logs)
    report = folder / "report.json"
    done = subprocess.run([args.memsweep, "explain", "-f", "json", "-o", report, "--", *words], env=fixed, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if not report.exists():
        return {"program": name, "failed": done.stderr.decode()[-200:]}
    explained = json.loads(report.read_text())
    report.unlink()
    exit_observer.libc.personality(0)
    randomised = [observe(words, fixed, folder / "none", recorder, folder / "out") for _ in range(4 * args.runs)]
    exit_observer.libc.personality(NO_RANDOMIZE)
    heap = [[sum(size for key, size in one[2].items() if is_allocated(key)) for one in runs] for runs in (alone, recorded, randomised)]
    rest = [[sum(size for key, size in one[2].items() if not is_allocated(key)) for one in runs] for runs in (alone, recorded)]
    return {"program": name, "same_output": {one[1] for one in alone + recorded} == {done.stdout}, "deterministic": len({one[1] for one in alone}) == 1,
            "same_code": {one[0] for one in alone + recorded} == {done.returncode}, "code": done.returncode,
            "heap_alone_kib": heap[0], "heap_recorded_kib": heap[1], "other_alone_kib": rest[0], "other_recorded_kib": rest[1],
            "heap_alone_randomised_kib": [min(heap[2]), max(heap[2])],
            "heap_differs_kib": max(0, min(heap[1]) - max(heap[0]), min(heap[0]) - max(heap[1])), "events": explained["moment"]["event"],
            "load": round(os.getloadavg()[0], 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--memsweep", default=str(HERE.parent / "build/release/memsweep"))
    parser.add_argument("--out")
    args = parser.parse_args()
    args.memsweep = str(pathlib.Path(args.memsweep).resolve())
    exit_observer.libc.personality(NO_RANDOMIZE)
    rows, left_out = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "p.tcl").write_text("for {set i 0} {$i < 50000} {incr i} { set a($i) [string repeat x [expr $i % 60]] }\nputs [array size a]\n")
        (folder / "p.bc").write_text("scale = 400\nfor (i = 0; i < 3000; i++) a[i] = i ^ 20\nsqrt(2)\na[2999]\nquit\n")
        for name, words in commands(folder).items():
            if args.only and name not in args.only:
                continue
            if shutil.which(words[0]) is None:
                left_out.append(f"{name}: not installed")
                continue
            row = compare(name, [shutil.which(words[0]), *words[1:]], args, folder)
            rows.append(row)
            print(json.dumps(row), flush=True)
    good = [row for row in rows if "failed" not in row]
    summary = {"programs": len(rows), "same_output": sum(row["same_output"] for row in good), "same_code": sum(row["same_code"] for row in good),
               "heap_equal": sum(row["heap_differs_kib"] == 0 for row in good),
               "heap_equal_to_one_page": sum(row["heap_differs_kib"] <= PAGE_KIB for row in good),
               "otherwise_as_alone_elsewhere": [row["program"] for row in good if row["heap_differs_kib"] > PAGE_KIB and
                                                row["heap_alone_randomised_kib"][0] - PAGE_KIB <= min(row["heap_recorded_kib"]) and
                                                max(row["heap_recorded_kib"]) <= row["heap_alone_randomised_kib"][1] + PAGE_KIB],
               "largest_difference_kib": max(row["heap_differs_kib"] for row in good)}
    print(json.dumps(summary), left_out)
    if args.out:
        head = {"command": " ".join(["benchmarks/explain_unchanged.py", *sys.argv[1:]]), "kernel": os.uname().release, "left_out": left_out,
                "summary": summary}
        pathlib.Path(args.out).write_text(json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}\n")


if __name__ == "__main__":
    main()
