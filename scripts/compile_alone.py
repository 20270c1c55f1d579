#!/usr/bin/env python3
"""Compiles every .cpp file by itself, syntax and warnings only, as a build with MEMSWEEP_UNITY=OFF would.

    scripts/compile_alone.py BUILD_DIR

A unity build hides a file that lacks an include or shadows a name. BUILD_DIR holds the compile_commands.json of a
build that was configured with MEMSWEEP_UNITY=OFF. Prints what the compiler says; exit 1 when it refuses a file.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

LEFT_OUT = {"-O3", "-O2", "-O1", "-c"}  # warnings that need the optimizer come from the unity build


def refusal(entry):
    """What the compiler says against the file, or nothing."""
    words = shlex.split(entry["command"])
    while words and pathlib.Path(words[0]).name in ("ccache", "sccache"):
        words.pop(0)
    output = words.index("-o")
    words = [word for word in words[:output] + words[output + 2:] if word not in LEFT_OUT]
    ran = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], text=True, capture_output=True, check=False)
    return ran.stderr if ran.returncode else ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if entry["file"].endswith(".cpp") and pathlib.Path(entry["file"]).is_file()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        refused = [text for text in pool.map(refusal, entries) if text]
    for text in refused:
        print(text)
    print(f"compile_alone: {len(entries)} files, {len(refused)} refused")
    return 1 if refused or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
