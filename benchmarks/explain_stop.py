#!/usr/bin/env python3
"""How long a program stands for `memsweep explain`, and what of that are the kernel's own parts: reading smaps, and fork(2).

    benchmarks/explain_stop.py [--memsweep build/release/memsweep] [--rounds 7] [--mib 100,1024,4096]

Beside each figure of memsweep stands the floor: what smaps and a fork cost in a process of the same size, measured in the same round."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def stop_of(memsweep, program, mib, way):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "explained.json")
        subprocess.run([memsweep, "explain", "-f", "json", "-o", out, "--", program, f"hold:{mib}", way],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        report = json.loads(out.read_text())
    recorder = next(one["bytes"] for one in report["categories"] if one["name"] == "recorder")
    return report["moment"]["stopped_seconds"] * 1e3, report["rss"], recorder


FLOOR = """
import mmap, os, sys, time
held = mmap.mmap(-1, int(sys.argv[1]) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
page = b"1" * (1 << 20)
for _ in range(int(sys.argv[1])):
    held.write(page)
begin = time.perf_counter()
with open("/proc/self/smaps", "rb", buffering=0) as smaps:
    while smaps.read(1 << 16):
        pass
read = time.perf_counter()
child = os.fork()
if child == 0:
    os._exit(0)
forked = time.perf_counter()
os.waitpid(child, 0)
print((read - begin) * 1e3, (forked - read) * 1e3)
"""


def floor_of(mib):
    text = subprocess.run([sys.executable, "-c", FLOOR, str(mib)], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [float(word) for word in text.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memsweep", type=pathlib.Path, default=pathlib.Path("build/release/memsweep"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mib", default="100,1024,4096")
    options = parser.parse_args()
    program = options.memsweep.resolve().parent / "recorded_memory"
    load = os.getloadavg()[0]
    for mib in [int(word) for word in options.mib.split(",")]:
        stops, floors = [], []
        for _ in range(options.rounds):
            stops.append(stop_of(options.memsweep, program, mib, "exit"))
            floors.append(floor_of(mib))
        gib = stops[0][1] / (1 << 30)
        milliseconds = [one[0] for one in stops]
        smaps = statistics.median(one[0] for one in floors)
        fork = statistics.median(one[1] for one in floors)
        print(f"{mib:5} MiB  stands {statistics.median(milliseconds):7.1f} ms [{min(milliseconds):.1f}, {max(milliseconds):.1f}], "
              f"{statistics.median(milliseconds) / gib:5.1f} ms a GiB; floor: smaps {smaps:.1f} + fork {fork:.1f} ms, "
              f"{(smaps + fork) / gib:.1f} ms a GiB; recorder {stops[0][2] / stops[0][1] * 100:.2f} % of Rss", flush=True)
    print(f"# load {load:.1f} before, {os.getloadavg()[0]:.1f} after; {time.strftime('%Y-%m-%d')}")


if __name__ == "__main__":
    main()
