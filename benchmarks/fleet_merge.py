#!/usr/bin/env python3
"""Merge and outlier report of many hosts' results: time, memory, and whether who is bad is found.

    benchmarks/fleet_merge.py [--hosts 10000] [--bad 20] [--memsweep build/release/memsweep]

Three short probes of this machine give the figures and their spread; tests/app/synthetic_fleet.py makes the hosts' results
from them, some of them with a fault. Then `merge` and `report` run as a user would run them. Exit code 1: a bad host was
not found, or more than 1 % of those named are not bad.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "tests/app"))
from synthetic_fleet import Fleet  # noqa: E402

PROBE = ("probe", "latency", "bandwidth", "--size", "16MiB", "--min-time", "2ms", "-n", "7", "-q", "-f", "json",
         "-k", "probe_latency/.*size=(16384|1048576)$|probe_bandwidth/kernel=(read|copy|triad)/")


def timed(command, **options):
    begin = time.monotonic()
    process = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.monotonic() - begin, usage.ru_maxrss * 1024


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--hosts", type=int, default=10_000)
    options.add_argument("--bad", type=int, default=20)
    options.add_argument("--memsweep", default=str(SOURCE / "build/release/memsweep"))
    asked = options.parse_args()
    measured = [json.loads(subprocess.run([asked.memsweep, *PROBE], capture_output=True, check=True).stdout) for _ in range(3)]
    with tempfile.TemporaryDirectory(prefix="memsweep-fleet-") as name:
        folder = pathlib.Path(name)
        made = Fleet(measured, asked.hosts, asked.bad, random.Random(7))
        (folder / "results").mkdir()
        paths = made.write(folder / "results")
        total = sum(os.path.getsize(path) for path in paths)
        print(f"{asked.hosts} results, {total / 1e6:.0f} MB, {len(made.template['cases'])} cases each, {asked.bad} of them bad")
        fleet, report = folder / "fleet.json", folder / "fleet.html"
        code, merge_s, merge_rss = timed([asked.memsweep, "merge", *paths, "-o", str(fleet), "--expect", str(asked.hosts)])
        print(f"merge : exit {code}, {merge_s:.2f} s, {merge_rss / 1e6:.0f} MB; the fleet is {fleet.stat().st_size / 1e6:.1f} MB")
        seconds, memory = merge_s, merge_rss
        for form in ("health", "html", "text"):
            code, report_s, report_rss = timed([asked.memsweep, "report", str(fleet), "-f", form, "-o", f"{report}.{form}"])
            print(f"report: exit {code}, {report_s:.2f} s, {report_rss / 1e6:.0f} MB, -f {form}")
            seconds += report_s if form == "html" else 0
            memory = max(memory, report_rss)
        named = {json.loads(line)["host"] for line in open(f"{report}.health", encoding="utf-8")}
        missed, false = set(made.bad) - named, named - set(made.bad)
        print(f"merge and HTML report together: {seconds:.2f} s, {memory / 1e6:.0f} MB at most")
        print(f"named {len(named)}: {len(missed)} of {asked.bad} bad ones missed, {len(false)} falsely named")
        return 1 if missed or len(false) > 0.01 * len(named) else 0


if __name__ == "__main__":
    sys.exit(main())
