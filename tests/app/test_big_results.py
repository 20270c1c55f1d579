"""What a long result needs in memory to be read, reported and compared: a bound by its size, never the whole of a report."""

import copy
import json
import os
import subprocess
import sys

from memsweep_cli import BINARY, MIB, SOURCE, CliTest, environment, sanitized

REFERENCE = json.loads((SOURCE / "results/reference/finalizer_repro.json").read_text())
TEXT_BYTES = 40_000_000
MOST_TIMES_TEXT = 5  # 200 MB within 1 GB
OWN_BYTES = 16 * MIB  # the program itself, its page assets and the sink


def peak_bytes(*args, codes=(0,)):
    """The highest resident set of one command, from a parent of its own: a child begins with its parent's pages."""
    watch = ("import os, sys, subprocess; child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL);"
             "_, status, usage = os.wait4(child.pid, 0); print(os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10)")
    done = subprocess.run([sys.executable, "-c", watch, os.fspath(BINARY), *map(os.fspath, args)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=True, env=environment(), timeout=300)
    code, peak = map(int, done.stdout.split())
    assert code in codes, f"{args}: exit {code}"
    return peak


def with_long_lists(bytes_wanted):
    """Curves, points and values in equal parts, numbers of the usual length."""
    result = copy.deepcopy(REFERENCE)
    case = result["cases"][0]
    result["cases"] = [case]
    point = json.dumps(case["points"][0])
    case["points"] = [case["points"][0]] * (bytes_wanted // 3 // len(point))
    for metric in case["metrics"].values():
        count = bytes_wanted // 3 // len(case["metrics"]) // 20
        metric["values"] = [0.1 + 1 / (i + 7) for i in range(count)]
    for series in case["series"]:
        count = bytes_wanted // 3 // len(case["series"]) // 35
        series["t"] = [i * 1.0001e-5 for i in range(count)]
        series["v"] = [(i * 2654435761) % (1 << 30) for i in range(count)]
    return result


class BigResults(CliTest):
    def setUp(self):
        super().setUp()
        if sanitized():
            self.leave_out("big results", "sanitizers multiply memory")

    def written(self, name, result):
        path = self.folder / name
        path.write_text(json.dumps(result))
        return path

    def test_reports_and_comparisons_fit_five_times_the_text(self):
        result = with_long_lists(TEXT_BYTES)
        base = self.written("base.json", result)
        candidate = self.written("candidate.json", result)
        size = base.stat().st_size
        self.assertGreater(size, TEXT_BYTES * 0.8)
        bound = MOST_TIMES_TEXT * size + OWN_BYTES
        for format_ in ("text", "json", "html", "csv", "gbench", "trace", "md"):
            with self.subTest(format=format_):
                self.assertLess(peak_bytes("report", base, "-f", format_, "-o", self.folder / "out"), bound)
        for format_ in ("text", "json"):
            with self.subTest(compare=format_):
                self.assertLess(peak_bytes("compare", base, candidate, "-f", format_, "-o", self.folder / "out"), bound)

    def test_a_csv_of_a_million_rows_needs_no_more_than_reading_does(self):
        rows = 1_000_000
        result = copy.deepcopy(REFERENCE)
        case = result["cases"][0]
        case.update(points=[], phases=[], series=[])
        result.update(cases=[case], assertions=[])
        per_metric = rows // len(case["metrics"]) + 1
        for metric in case["metrics"].values():
            metric["values"] = [0.1 + 1 / (i + 7) for i in range(per_metric)]
        path = self.written("rows.json", result)
        out = self.folder / "rows.csv"
        to_file = peak_bytes("report", path, "-f", "csv", "-o", out)
        with out.open("rb") as file:
            self.assertEqual(sum(1 for _ in file), per_metric * len(case["metrics"]) + 1)
        self.assertGreater(out.stat().st_size, 100 * MIB)
        reading = peak_bytes("report", path, "-f", "csv-matrix")
        self.assertLess(to_file, reading + 4 * MIB)
        self.assertLess(peak_bytes("report", path, "-f", "csv"), reading + 4 * MIB)
        self.assertLess(peak_bytes("report", path, "-f", "json", "-o", self.folder / "again.json"), reading + 16 * MIB)
