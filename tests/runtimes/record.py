#!/usr/bin/env python3
"""Records what real runtimes do with native buffers: every curve of tests/runtimes/recordings, anew, on this machine.

    tests/runtimes/record.py OUT               every curve once, into OUT/run1/
    tests/runtimes/record.py OUT --runs 5      five times, into OUT/run1/ to OUT/run5/
    tests/runtimes/record.py OUT --only 'mono_*' --only '*_16MB_*'
    tests/runtimes/record.py OUT --checks      the curves of tests/runtimes/checks instead: no profile was fitted to them
    tests/runtimes/record.py --list            the curves and their commands
    tests/runtimes/record.py my.csv -- java -Xmx512m -XX:+UseG1GC Repro loop cleaner 600 8000000 65536
                                               a curve of your own: a runtime, and the arguments that --list shows

`memsweep profile fit my.csv -o my.json` makes a runtime profile of a recording: its first line has the command.

Needs, for the curves of one runtime each (Debian's packages): mono-mcs mono-runtime libmono-system-core4.0-cil;
openjdk-17-jdk-headless; python3-numpy. Curves of a runtime that is not there are left out, with a line
"skipped: CURVES: WHY". A curve takes seconds, and up to 6 GiB of memory where nothing is ever collected.

Exit codes  0 recorded; 1 a program failed; 2 wrong usage; 77 nothing here can be recorded.
"""

import argparse
import csv
import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # Debian's own: the one that finds Debian's NumPy
PATIENCE_S = 300  # for any single curve
LONG = 2000  # a curve of more rows than this is thinned
EVERY = 100

COUNT, BYTES = 600, 8_000_000
GARBAGE = 262_144
HEAP = ["-Xms64m", "-Xmx256m"]
PACKAGES = {
    "mono": "mono-mcs mono-runtime libmono-system-core4.0-cil",
    "java": "openjdk-17-jdk-headless",
    "python": "python3-numpy",
}


def mono_curves():
    def loop(pressure, *more, count=COUNT, size=BYTES, mode="loop"):
        return [[mode, str(count), str(size), pressure, *map(str, more)]]

    # Five times: the finalizer thread races the reading after GC.Collect.
    yield "mono_phases.txt", [["phases", "100", str(BYTES), pressure]
                              for pressure in ("nopressure", "pressure") for _ in range(5)]
    yield "mono_loop_dispose.csv", loop("nopressure", mode="dispose")
    yield "mono_loop_nopressure.csv", loop("nopressure")
    yield "mono_loop_pressure.csv", loop("pressure")
    yield "mono_loop_nopressure_garbage256k.csv", loop("nopressure", GARBAGE)
    yield "mono_loop_pressure_garbage256k.csv", loop("pressure", GARBAGE)
    yield "mono_loop_garbage256k_slowfin5ms.csv", loop("nopressure", GARBAGE, 5000)
    yield "mono_loop_200kB_garbage8k.csv", loop("nopressure", 8192, count=20_000, size=200_000)
    for name, garbage in (("64k", 65_536), ("512k", 524_288), ("1m", 1_048_576)):
        yield f"mono_loop_nopressure_garbage{name}.csv", loop("nopressure", garbage)
    for name, size in (("4MB", 4_000_000), ("16MB", 16_000_000)):
        yield f"mono_loop_nopressure_{name}_garbage256k.csv", loop("nopressure", GARBAGE, size=size)


def java_curves():
    def loop(options, kind, *more, size=BYTES):
        return [[*HEAP, *options, "Repro", "loop", kind, str(COUNT), str(size), *map(str, more)]]

    def direct(limit):
        return f"-XX:MaxDirectMemorySize={limit}"

    yield "java_phases.txt", [[*HEAP, f"-XX:+Use{collector}GC", direct("4g"), "Repro", "phases", kind, "100", str(BYTES)]
                              for kind in ("direct", "cleaner", "finalize", "explicit", "directclose")
                              for collector in ("Serial", "G1")]
    for collector in ("Serial", "G1"):
        use, start = [f"-XX:+Use{collector}GC"], f"java_{collector}_loop"
        yield f"{start}_explicit.csv", loop(use, "explicit")
        yield f"{start}_cleaner.csv", loop(use, "cleaner")
        for name, garbage in (("64k", 65_536), ("256k", GARBAGE), ("512k", 524_288), ("1m", 1_048_576)):
            yield f"{start}_cleaner_garbage{name}.csv", loop(use, "cleaner", garbage)
        for name, size in (("4MB", 4_000_000), ("16MB", 16_000_000)):
            yield f"{start}_cleaner_{name}_garbage256k.csv", loop(use, "cleaner", GARBAGE, size=size)
            yield f"{start}_direct_{name}_max512m.csv", loop([*use, direct("512m")], "direct", size=size)
        yield f"{start}_finalize_garbage256k.csv", loop(use, "finalize", GARBAGE)
        for limit in ("256m", "512m", "1g"):
            yield f"{start}_direct_max{limit}.csv", loop([*use, direct(limit)], "direct")
        for limit in ("512m", "1g"):
            yield f"{start}_direct_max{limit}_garbage256k.csv", loop([*use, direct(limit)], "direct", GARBAGE)
        yield f"{start}_direct_max1g_noexplicitgc.csv", loop([*use, direct("1g"), "-XX:+DisableExplicitGC"], "direct")


def python_curves():
    yield "python_phases.txt", [["phases", kind, "100", str(BYTES // 8)] for kind in ("refcount", "cycle")]
    yield "python_loop_refcount.csv", [["loop", "refcount", str(COUNT), str(BYTES // 8)]]
    yield "python_loop_cycle.csv", [["loop", "cycle", str(COUNT), str(BYTES // 8)]]
    yield "python_loop_cycle_garbage50.csv", [["loop", "cycle", str(COUNT), str(BYTES // 8), "50"]]
    yield "python_loop_cycle_80kB.csv", [["loop", "cycle", "1800", "10000"]]


CURVES = {"mono": mono_curves, "java": java_curves, "python": python_curves}

# Heaps and list counts other than those that the profiles were made from; of heaps (-Xms or 0, -Xmx, garbage).
CHECKED_HEAPS = [(56, 224, 280_000), (56, 224, 120_000), (112, 448, 40_000), (112, 448, 220_000), (144, 144, 360_000),
                 (184, 368, 280_000), (240, 480, 90_000), (0, 112, 280_000), (0, 160, 220_000), (0, 224, 420_000), (0, 288, 280_000)]
CHECKED_LISTS = {35: 2000, 75: 2000, 140: 2000, 220: 2000, 320: 2000, 480: 2000, 600: 2000, 675: 2000, 900: 300, 1200: 300}
CHECKED_BYTES = 2_000_000


def java_checks():
    for collector in ("Serial", "G1"):
        for initial, most, garbage in CHECKED_HEAPS:
            heap = ([f"-Xms{initial}m"] if initial else []) + [f"-Xmx{most}m", f"-XX:+Use{collector}GC"]
            yield (f"java_{collector}_{initial}m_{most}m_garbage{garbage // 1000}k.csv",
                   [[*heap, "Repro", "loop", "cleaner", str(COUNT), str(CHECKED_BYTES), str(garbage)]])


def python_checks():
    for lists, count in CHECKED_LISTS.items():
        yield f"python_lists{lists}.csv", [["loop", "cycle", str(count), "10000", str(lists)]]


CHECKS = {"java": java_checks, "python": python_checks}


def head(runtime, arguments):
    """The first line of a recording: how its program was started."""
    return f"# command: {runtime} {' '.join(map(str, arguments))}\n"


def rows_of(path):
    """The rows of a recording, by their columns."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def chosen(curves, patterns):
    return [(name, commands) for name, commands in curves()
            if not patterns or any(fnmatch.fnmatch(pathlib.Path(name).stem, pattern) for pattern in patterns)]


def why_missing(runtime):
    """None where the runtime is there, else what is missing and how to get it."""
    commands = {"mono": ("mcs", "mono"), "java": ("javac", "java"), "python": (PYTHON,)}[runtime]
    absent = [command for command in commands if not shutil.which(command)]
    if not absent and runtime == "python":
        if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True).returncode != 0:
            absent = ["numpy"]
    return f"no {', no '.join(absent)} (apt-get install {PACKAGES[runtime]})" if absent else None


def build(runtime, folder):
    """Compiles the runtime's program into `folder`; returns the command to which its arguments are appended."""
    if runtime == "mono":
        program = folder / "Repro.exe"
        subprocess.run(["mcs", "-unsafe", "-optimize+", f"-out:{program}", HERE / "Repro.cs"], check=True)
        return ["mono", str(program)]
    if runtime == "java":
        subprocess.run(["javac", "-nowarn", "-d", folder, HERE / "Repro.java"], check=True, stderr=subprocess.DEVNULL)
        return ["java", "-cp", str(folder)]
    return [PYTHON, str(HERE / "repro.py")]


def title(runtime, arguments):
    """What a text of several runs says above each: what tells them apart."""
    kind = arguments[arguments.index("phases") + 1] if runtime != "mono" else arguments[-1]
    collector = next((argument for argument in arguments if argument.endswith("GC")), "")
    return f"# {kind} {collector}".rstrip() + "\n"


def thinned(text, every=EVERY):
    """Of a long curve: the first and last row, every 100th, and both rows of each collection and each release."""
    header, *rows = text.splitlines()
    columns = header.split(",")
    unreleased, minor = columns.index("unreleased"), columns.index("gc0")
    values = [[int(row.split(",")[column]) for column in (unreleased, minor)] for row in rows]
    kept = {0, len(rows) - 1, *range(0, len(rows), every)}
    for i in range(1, len(rows)):
        if values[i][1] != values[i - 1][1] or values[i][0] < values[i - 1][0]:
            kept |= {i - 1, i}
    return "\n".join([header, *(rows[i] for i in sorted(kept))]) + "\n"


def record(runtime, program, commands, path, thin):
    """Runs the commands and stores what they print. A JVM that runs out of direct memory ends its curve early: rows count."""
    text = ""
    for arguments in commands:
        if path.suffix == ".txt":
            text += title(runtime, arguments)
        done = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
        notes = "".join(line for line in done.stderr.splitlines(True) if re.match(r"OOM|cap", line))
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join([*program, *arguments])}: exit code {done.returncode}\n{done.stderr}")
        if notes:
            print(f"  {path.stem}: {notes.strip()}", flush=True)
        text += done.stdout
    if path.suffix == ".csv" and (thin or text.count("\n") > LONG):
        text = thinned(text, COUNT if thin else EVERY)
    if path.suffix == ".csv":
        text = head(runtime, commands[0]) + text
    path.write_text(text)


def record_own(path, command):
    """One curve that no table has."""
    runtime, *arguments = command
    reason = why_missing(runtime) if runtime in CURVES else f"no recorder for {runtime}: {', '.join(CURVES)}"
    if reason:
        print(f"skipped: {path}: {reason}")
        return 77
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        record(runtime, build(runtime, pathlib.Path(folder)), [arguments], path, False)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    options = parser.parse_args()
    table = CHECKS if options.checks else CURVES

    if options.list:
        for runtime in table:
            for name, commands in chosen(table[runtime], options.only):
                more = f" ... ({len(commands)} commands)" if len(commands) > 1 else ""
                print(f"{pathlib.Path(name).stem}: {' '.join(commands[0])}{more}")
        return 0
    if options.out is None or options.runs < 1:
        parser.error("OUT and at least one run, please")
    if options.command:
        try:
            return record_own(options.out, options.command)
        except (RuntimeError, subprocess.SubprocessError) as failure:
            print(f"record: {failure}", file=sys.stderr)
            return 1

    build_folder = options.out / "build"
    build_folder.mkdir(parents=True, exist_ok=True)
    programs = {}
    for runtime in table:
        names = [pathlib.Path(name).stem for name, _ in chosen(table[runtime], options.only)]
        if not names:
            continue
        reason = why_missing(runtime)
        if reason:
            print(f"skipped: {', '.join(names)}: {reason}", flush=True)
        else:
            programs[runtime] = build(runtime, build_folder)
    if not programs:
        print("nothing here can be recorded")
        return 77

    for run in range(1, options.runs + 1):
        folder = options.out / f"run{run}"
        folder.mkdir(exist_ok=True)
        for runtime, program in programs.items():
            for name, commands in chosen(table[runtime], options.only):
                began = time.monotonic()
                try:
                    record(runtime, program, commands, folder / name, options.checks)
                except (RuntimeError, subprocess.TimeoutExpired) as failure:
                    print(f"record: {name}: {failure}", file=sys.stderr)
                    return 1
                print(f"run {run}: {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
