#!/usr/bin/env python3
"""Puts files that compile alike into a few translation units, so that clang-tidy reads each header once and not per file.

    scripts/tidy_batches.py [--alone] BUILD_DIR OUT_DIR < files, NUL-separated

Files of one folder and one compile command go into one unit, which includes them one after another. Where two of them
cannot stand in one unit (both define a name in the same unnamed namespace), the later one goes into the next unit.
With --alone each file is a unit of its own. Writes OUT_DIR/NAME.cpp and OUT_DIR/compile_commands.json, whose commands
have no word that clang refuses, and prints the units, one a line.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# clang-tidy's own front end, so that what it refuses is known before it lints.
COMPILER = ["clang++-16", "-fsyntax-only", "-x", "c++", "-"]
REFUSED_WORD = re.compile(r"(?:unknown argument:|optimization flag) '([^']+)'")
LOCATION = re.compile(r"^(/[^:]+):\d+:\d+: (?:fatal )?error:", re.MULTILINE)


def flags_of(entry):
    """The compile command without compiler, source and output."""
    words = shlex.split(entry["command"])
    kept, skip = [], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c"):
            skip = word == "-o"
        elif word != entry["file"]:
            kept.append(word)
    return kept


def refused_words(words):
    """Those of the words that clang does not know or does not support, such as GCC's names of single passes."""
    ran = subprocess.run([*COMPILER, *sorted(words)], input="", text=True, capture_output=True, check=False)
    return set(REFUSED_WORD.findall(ran.stderr))


def refused(text, flags, directory):
    """Which files of a unit the compiler complains about."""
    ran = subprocess.run([*COMPILER, *flags, "-w"], input=text, cwd=directory, text=True, capture_output=True, check=False)
    return set(LOCATION.findall(ran.stderr)) if ran.returncode else set()


def unit_of(files):
    return "".join(f'#include "{name}"\n' for name in files)


def batches(files, flags, directory):
    """The files in units that compile. A file that does not compile alone stays alone: clang-tidy says why."""
    waiting = files
    while waiting:
        unit, later = waiting, []
        while len(unit) > 1:
            bad = refused(unit_of(unit), flags, directory)
            if not bad:
                break
            moved = [name for name in unit[1:] if name in bad] or unit[len(unit) // 2:]
            unit = [name for name in unit if name not in moved]
            later += moved
        yield unit
        waiting = [name for name in waiting if name in set(later)]


def main():
    alone = sys.argv[1] == "--alone"
    build, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1 + alone:])
    commands = {os.path.realpath(entry["file"]): entry for entry in json.loads((build / "compile_commands.json").read_text())}
    refused_by_clang = refused_words({word for entry in commands.values() for word in flags_of(entry) if word.startswith("-f")})
    groups = {}
    for name in filter(None, sys.stdin.read().split("\0")):
        path = os.path.realpath(name)
        entry = commands[path]
        flags = tuple(word for word in flags_of(entry) if word not in refused_by_clang)
        groups.setdefault((os.path.dirname(path), entry["directory"], flags), []).append(path)

    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.cpp"):
        old.unlink()
    def units_of(group):
        (_, directory, flags), files = group
        return [[name] for name in files] if alone else list(batches(files, list(flags), directory))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        units = list(pool.map(units_of, groups.items()))
    database = []
    for index, ((folder, directory, flags), split) in enumerate(zip(groups, units)):
        for part, files in enumerate(split):
            unit = files[0]
            if not alone:
                unit = out / f"{os.path.basename(folder)}_{index}_{part}.cpp"
                unit.write_text(unit_of(files))
            # A name of one file may shadow that of another in the same unit; GCC looks for shadows in each file.
            database.append({"directory": directory, "file": str(unit), "arguments": ["clang++", *flags, "-Wno-shadow", "-c", str(unit)]})
            print(unit)
    (out / "compile_commands.json").write_text(json.dumps(database, indent=1))


if __name__ == "__main__":
    main()
