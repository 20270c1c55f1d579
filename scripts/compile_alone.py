#!/usr/bin/env python3
"""Compiles every .cpp file by itself, syntax and warnings only, as a build with MEMSWEEP_UNITY=OFF would.

    scripts/compile_alone.py BUILD_DIR [OTHER_BUILD_DIR]

A unity build hides a file that lacks an include or shadows a name. BUILD_DIR holds the compile_commands.json of a
build that was configured with MEMSWEEP_UNITY=OFF. The other build is configured so, too: files that it has compiled are
left out here, and all tests. Prints what the compiler says; exit 1 when it refuses a file.

Half of what a test takes is Catch2's headers. They are compiled once, for the tests that include them, ahead of
everything else: a test that lacks an include which Catch2 happens to have is not refused.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

LEFT_OUT = {"-O3", "-O2", "-O1", "-c"}  # warnings that need the optimizer come from the unity build
TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
CATCH = "tests/support/catch.hpp"


def includes_catch(entry):
    return f'#include "{CATCH}"' in pathlib.Path(entry["file"]).read_text()


def is_test(entry):
    return pathlib.Path(entry["file"]).resolve().is_relative_to(TESTS)


def output_of(words):
    return words[words.index("-o") + 1]


def words_of(entry):
    """The command without its output and its input."""
    words = shlex.split(entry["command"])
    while words and pathlib.Path(words[0]).name in ("ccache", "sccache"):
        words.pop(0)
    output = words.index("-o")
    return [word for word in words[:output] + words[output + 2:] if word not in LEFT_OUT and word != entry["file"]]


def run(words, entry):
    return subprocess.run(words, cwd=entry["directory"], text=True, capture_output=True, check=False)


def precompiled(entry, folder):
    """A header that includes Catch2's, compiled with the options of this test."""
    header = pathlib.Path(folder) / "ahead.hpp"
    header.write_text(f'#include "{CATCH}"\n')
    made = run([*words_of(entry), "-x", "c++-header", str(header), "-o", f"{header}.gch"], entry)
    if made.returncode:
        sys.exit(f"compile_alone: {CATCH}: {made.stderr}")
    return header


def refusal(entry, ahead):
    """What the compiler says against the file, or nothing."""
    options = ["-include", str(ahead)] if ahead and includes_catch(entry) else []
    ran = run([*words_of(entry), *options, entry["file"], "-fsyntax-only"], entry)
    return ran.stderr if ran.returncode else ""


def compiled_in(build):
    """The files of which the build has an object."""
    entries = json.loads((build / "compile_commands.json").read_text())
    return {entry["file"] for entry in entries
            if (pathlib.Path(entry["directory"]) / output_of(shlex.split(entry["command"]))).is_file()}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    done = compiled_in(pathlib.Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else set()
    entries = json.loads((build / "compile_commands.json").read_text())
    # A file of several targets is compiled once.
    entries = list({entry["file"]: entry for entry in entries
                    if entry["file"].endswith(".cpp") and pathlib.Path(entry["file"]).is_file()
                    and entry["file"] not in done and not (done and is_test(entry))}.values())
    test = next(filter(includes_catch, entries), None)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ahead = precompiled(test, folder) if test else None
        refused = [text for text in pool.map(refusal, entries, itertools.repeat(ahead)) if text]
    for text in refused:
        print(text)
    elsewhere = f"; {len(done)} more by {sys.argv[2]}, and the tests not" if done else ""
    print(f"compile_alone: {len(entries)} files, {len(refused)} refused{elsewhere}")
    return 1 if refused or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
