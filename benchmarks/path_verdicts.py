#!/usr/bin/env python3
"""How often `run --against` takes one program at two paths for two programs, and whether it still finds 1 % more allocations.

    benchmarks/path_verdicts.py [--comparisons 200] [--planted 60] [--program NAME]... [--seed 1] [--times] [--out FILE]

Everything is measured. A comparison is one `memsweep run --against CMD -- CMD` of a program that keeps its own name, that of its
script and that of its folder, in two folders whose names have 1 to 80 characters at random (the C++ program's own name has 1 to 40,
too). The programs alternate: C++, python3 (its own allocator), python3 (malloc), bash, perl, node, java.

  nothing      the same program at both paths. False: any metric regressed or improved.
  planted      1 % more calls that allocate, at the candidate's path. Found: `allocations` regressed. Its own allocator hides them
               from the counter in python3, which is left out.

Times, the working set and instructions are allowed to change by anything unless --times: they are what program_verdicts.py judges,
and end no comparison here. How many turns make 1 % is measured first. Needs g++, node and java (not javac) beside what the tests need.

Exit codes: 0 within the targets (no false verdict, 95 % found), 1 not, 2 something failed.
"""

import argparse
import json
import pathlib
import random
import shutil
import string
import struct
import subprocess
import sys
import tempfile

from program_verdicts import FOUND_NEEDED, against, values_of
from verdicts import ROOT, Failed, call, median

NO_TIMES = [word for metric in ("wall_time", "cpu_time", "working_set_peak", "instructions") for word in ("--threshold", f"{metric}=1000000%")]
SOURCES = {
    "app.cpp": r"""#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>
int main(int, char** words)
{
    const std::string name = words[0];
    const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
    std::vector<std::string> kept;
    for (int i = 0; i < std::atoi(words[1]); ++i) {
        kept.push_back(std::to_string(i) + ", a text that is too long to be kept in place");
    }
    std::cout << name << (folder / "beside.txt") << kept.size() << '\n';
}
""",
    "p.py": r"""import os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import beside
kept = [[i] for i in range(int(sys.argv[1]))]
print(here, len(kept), beside.__file__)
""",
    "beside.py": "values = list(range(100))\n",
    "p.sh": r"""here=$(cd "$(dirname "$0")" && pwd)
kept=
for ((i = 0; i < $1; ++i)); do kept[i]=$i; done
for file in "$here"/*; do [ -e "$file" ] && last=$file; done
echo "$here ${#kept[@]} $last"
""",
    "p.pl": r"""use FindBin;
use lib $FindBin::Bin;
my @kept = map { { a => $_ } } 1 .. $ARGV[0];
print "$0 $FindBin::Bin ", scalar(@kept), "\n";
""",
    "p.js": r"""const beside = require("./beside.js");
const kept = [];
for (let i = 0; i < Number(process.argv[2]); ++i) kept.push(Buffer.alloc(9000));
console.log(__filename, kept.length, beside.length);
""",
    "beside.js": "module.exports = [1, 2, 3];\n",
}


def java_class():
    """Main.class: main(words) calls ByteBuffer.allocateDirect(64) words[0] times. Made here, so that no compiler is needed."""
    def text(word):
        return b"\x01" + struct.pack(">H", len(word)) + word.encode()

    pool = [b"\x07\0\x02", text("Main"), b"\x07\0\x04", text("java/lang/Object"), text("main"), text("([Ljava/lang/String;)V"), text("Code"),
            b"\x0a\0\x09\0\x0b", b"\x07\0\x0a", text("java/lang/Integer"), b"\x0c\0\x0c\0\x0d", text("parseInt"), text("(Ljava/lang/String;)I"),
            b"\x0a\0\x0f\0\x11", b"\x07\0\x10", text("java/nio/ByteBuffer"), b"\x0c\0\x12\0\x13", text("allocateDirect"), text("(I)Ljava/nio/ByteBuffer;")]
    code = (b"\x2a\x03\x32\xb8\0\x08\x3c"  # turns = parseInt(words[0])
            b"\x1b\x9e\0\x0f"              # while (turns > 0)
            b"\x10\x40\xb8\0\x0e\x57"      # allocateDirect(64)
            b"\x84\x01\xff\xa7\xff\xf3\xb1")
    body = struct.pack(">HHI", 2, 2, len(code)) + code + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHHHI", 9, 5, 6, 1, 7, len(body)) + body
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, 49, len(pool) + 1) + b"".join(pool)
    return head + struct.pack(">HHHHHH", 0x21, 1, 3, 0, 0, 1) + method + struct.pack(">H", 0)


# Of a folder, the name of the C++ program in it, and how many turns it takes; whether calls that its turns make are malloc's.
PROGRAMS = {
    "c++": (lambda folder, name, n: [f"{folder}/{name}", str(n)], 4_000, True),
    "python3": (lambda folder, name, n: ["python3", f"{folder}/p.py", str(n)], 4_000, False),
    "python3 (malloc)": (lambda folder, name, n: ["env", "PYTHONMALLOC=malloc", "PYTHONHASHSEED=0", "python3", f"{folder}/p.py", str(n)], 20_000, True),
    "bash": (lambda folder, name, n: ["bash", f"{folder}/p.sh", str(n)], 1_500, True),
    "perl": (lambda folder, name, n: ["perl", f"{folder}/p.pl", str(n)], 5_000, True),
    "node": (lambda folder, name, n: ["node", f"{folder}/p.js", str(n)], 2_000, True),
    "java": (lambda folder, name, n: ["java", "-Xint", "-XX:+UseSerialGC", "-cp", f"{folder}/classes", "Main", str(n)], 20_000, True),
}


def fill(folder, name, built):
    folder.mkdir()
    for file, text in SOURCES.items():
        (folder / file).write_text(text)
    (folder / "beside.txt").write_text("")
    (folder / "classes").mkdir()
    (folder / "classes/Main.class").write_bytes(java_class())
    shutil.copy(built, folder / name)


def random_name(chance, longest):
    return "".join(chance.choice(string.ascii_lowercase) for _ in range(chance.randint(1, longest)))


class Campaign:
    def __init__(self, binary, folder, options):
        self.binary, self.folder, self.options = binary, folder, options
        self.chance = random.Random(options.seed)
        self.built = folder / "app"
        (folder / "app.cpp").write_text(SOURCES["app.cpp"])
        call("g++", "-std=c++20", "-O1", "-o", self.built, folder / "app.cpp")
        self.limits = [] if options.times else NO_TIMES

    def places(self, program):
        """Two folders with the same files, and what the C++ program is called in each."""
        names = set()
        while len(names) < 2:
            names.add(random_name(self.chance, 80))
        names = sorted(names, key=lambda _: self.chance.random())
        called = [random_name(self.chance, 40) + ".app" if program == "c++" else "app" for _ in names]
        for name, own in zip(names, called):
            fill(self.folder / name, own, self.built)
        return list(zip(names, called))

    def compare(self, program, more, *limits):
        words, n, _ = PROGRAMS[program]
        places = self.places(program)
        commands = [words(folder, name, turns) for (folder, name), turns in zip(places, (n, n + more))]
        result, changed, code = against(self.binary, self.folder, *commands, *(limits or self.limits))
        for folder, _ in places:
            shutil.rmtree(self.folder / folder)
        return result, changed, code, [len(folder) + len(name) for folder, name in places]

    def one_percent(self, program):
        """How many turns make 1 % more calls: taken as a line through n and 2 n."""
        _, n, _ = PROGRAMS[program]
        result, *_ = self.compare(program, n, *self.limits, "-n", "3")
        once, twice = (median(values_of(result, build, "allocations")) for build in ("base", "candidate"))
        if twice <= once:
            raise Failed(f"{program}: its allocations do not grow with its turns ({once} and {twice})")
        return max(1, round(n * 0.01 * once / (twice - once)))

    def run(self, kind, program, more):
        result, changed, code, lengths = self.compare(program, more)
        medians = {metric: [median(values_of(result, build, metric)) for build in ("base", "candidate")]
                   for metric in ("allocations", "allocated_bytes", "live_bytes_peak")}
        return {"kind": kind, "program": program, "lengths": lengths, "changed": changed, "failed": code == 1,
                "rounds": len(values_of(result, "base", "wall_time")), "medians": medians}


def is_found(one):
    return one["changed"].get("allocations") == "regressed"


def table(rows):
    lines = [f"{'kind':9} {'program':17} {'comparisons':>11} {'false':>6} {'found':>6} {'rounds':>7} {'largest difference of allocated_bytes':>38}"]
    for kind in ("nothing", "planted"):
        for program in PROGRAMS:
            own = [one for one in rows if one["kind"] == kind and one["program"] == program]
            if own:
                false = sum(bool(one["changed"]) for one in own) if kind == "nothing" else ""
                found = sum(map(is_found, own)) if kind == "planted" else ""
                rounds = sum(one["rounds"] for one in own) / len(own)
                far = max((abs(b - a) for a, b in (one["medians"]["allocated_bytes"] for one in own))) if kind == "nothing" else ""
                lines.append(f"{kind:9} {program:17} {len(own):11} {false:>6} {found:>6} {rounds:7.1f} {far:>38}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memsweep", default=ROOT / "build/release/memsweep", type=pathlib.Path)
    parser.add_argument("--comparisons", default=200, type=int)
    parser.add_argument("--planted", default=60, type=int)
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    programs = options.program or list(PROGRAMS)
    rows = []
    with tempfile.TemporaryDirectory(prefix="memsweep-paths-") as name:
        campaign = Campaign(options.memsweep.resolve(), pathlib.Path(name), options)
        counted = [program for program in programs if PROGRAMS[program][2]]
        turns = {program: campaign.one_percent(program) for program in (counted if options.planted else [])}
        for kind, count, of in (("nothing", options.comparisons, programs), ("planted", options.planted, counted)):
            for i in range(count):
                program = of[i % len(of)]
                rows.append(campaign.run(kind, program, turns[program] if kind == "planted" else 0))
                one = rows[-1]
                if (kind == "nothing" and one["changed"]) or (kind == "planted" and not is_found(one)):
                    print(json.dumps(one), flush=True)
    print(table(rows))
    nothing, planted = ([one for one in rows if one["kind"] == kind] for kind in ("nothing", "planted"))
    false, found = sum(bool(one["changed"]) for one in nothing), sum(map(is_found, planted))
    summary = {"comparisons": len(nothing), "false_verdicts": false, "planted": len(planted), "found": found,
               "memsweep": subprocess.run([options.memsweep, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
               "seed": options.seed, "times_judged": options.times}
    if options.out:
        rows_text = ",\n".join("  " + json.dumps(one) for one in rows)
        options.out.write_text(f"{json.dumps(summary, indent=1)[:-2]},\n \"rows\": [\n{rows_text}\n ]\n}}\n")
    print(json.dumps(summary))
    return 0 if not false and found >= FOUND_NEEDED * len(planted) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as problem:
        print(problem, file=sys.stderr)
        sys.exit(2)
