"""The recordings are whole and as they say they are; overlay.py shows what it is given, and refuses what does not fit.

    cd tests/runtimes && python3 -m unittest -v test_runtimes
"""

import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import record

HERE = pathlib.Path(__file__).resolve().parent
RECORDINGS = HERE / "recordings"
CURVES = {pathlib.Path(name).stem: (runtime, commands[0]) for runtime, curves in record.CURVES.items()
          for name, commands in curves() if name.endswith(".csv")}
LIVE = {"allocations": {"values": [3, 3]}, "allocated_bytes": {"values": [3000, 3000]}, "collections": {"values": [1, 2]}}


def rows_of(curve):
    return record.rows_of(RECORDINGS / f"{curve}.csv")


class Recordings(unittest.TestCase):
    def test_every_curve_is_there_and_no_other(self):
        self.assertEqual({path.stem for path in RECORDINGS.glob("*.csv")}, set(CURVES))
        self.assertEqual({path.name for path in RECORDINGS.glob("*.txt")}, {f"{runtime}_phases.txt" for runtime in record.CURVES})
        self.assertEqual(set(json.loads((HERE / "spread.json").read_text())), set(CURVES))

    def test_every_checked_curve_is_there_and_no_other(self):
        names = {name for curves in record.CHECKS.values() for name, _ in curves()}
        self.assertEqual({path.name for path in (HERE / "checks").iterdir()}, names)

    def test_each_says_how_it_was_made(self):
        for table, folder in ((record.CURVES, RECORDINGS), (record.CHECKS, HERE / "checks")):
            for runtime, curves in table.items():
                for name, commands in curves():
                    if name.endswith(".csv"):
                        with open(folder / name, encoding="utf-8") as file:
                            self.assertEqual(file.readline(), record.head(runtime, commands[0]), name)

    def test_rows_go_forward(self):
        for curve in CURVES:
            with self.subTest(curve):
                rows = rows_of(curve)
                iterations, collections = ([int(row[column]) for row in rows] for column in ("i", "gc0"))
                self.assertEqual(iterations[0], 0)
                self.assertEqual(iterations, sorted(set(iterations)))
                self.assertEqual(collections, sorted(collections))
                self.assertGreaterEqual(min(int(row["unreleased"]) for row in rows), 0)

    def test_what_is_released_at_once_never_piles_up(self):
        for curve in ("mono_loop_dispose", "java_Serial_loop_explicit", "java_G1_loop_explicit", "python_loop_refcount"):
            self.assertEqual({row["unreleased"] for row in rows_of(curve)}, {"0"}, curve)


class Overlay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "r.csv").write_text("i,t_ms,rss_mib,unreleased,gc0\n0,1.0,1.0,1,4\n1,2.0,2.0,2,4\n2,3.0,1.0,2,5\n")
        self.result([self.case("m/a=<1>", [1000, 2000, 1000])])

    def case(self, identity, live):
        points = [{"repetition": repetition, "name": "each", "live_bytes": value} for repetition in (0, 1) for value in live]
        points.append({"repetition": 0, "name": "after_drain", "live_bytes": 0})
        return {"id": identity, "metrics": LIVE, "points": points}

    def result(self, cases):
        (self.folder / "m.json").write_text(json.dumps({"format": "memsweep-result", "cases": cases}))

    def overlay(self, *arguments, expected=0):
        done = subprocess.run([sys.executable, HERE / "overlay.py", *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done.stdout if expected == 0 else done.stderr

    def test_table(self):
        lines = [line.split() for line in self.overlay("m.json", "r.csv").splitlines()]
        self.assertIn(["peak", "unreleased", "2", "2", "0", "%"], lines)
        self.assertIn(["unreleased", "at", "the", "end", "2", "1", "-50.0", "%"], lines)
        self.assertIn(["collections", "1", "1", "0", "%"], lines)
        self.assertEqual(lines[-3:], [["0", "1", "1", "0"], ["1", "2", "2", "0"], ["2", "2", "1", "-1"]])
        self.assertIn(["collections", "1", "2", "+100.0", "%"],
                      [line.split() for line in self.overlay("m.json", "r.csv", "--repetition", "1").splitlines()])

    def test_page_is_one_file_with_both_curves(self):
        self.overlay("m.json", "r.csv", "-o", "o.html")
        text = (self.folder / "o.html").read_text()
        html.parser.HTMLParser().feed(text)
        self.assertEqual(text.count("<polyline"), 2)
        self.assertIn("m/a=&lt;1&gt;", text)
        self.assertNotIn("<1>", text)
        for outside in ("http", "src=", "href=", "@import"):
            self.assertNotIn(outside, text)

    def test_refuses_what_does_not_fit(self):
        self.assertIn("not JSON", self.overlay("r.csv", "r.csv", expected=2))
        self.assertIn("no recording", self.overlay("m.json", "m.json", expected=2))
        self.assertIn("no live_bytes", self.overlay("m.json", "r.csv", "--point", "other", expected=2))
        self.assertIn("no points", self.overlay("m.json", "r.csv", "--repetition", "7", expected=2))
        self.result([self.case("a", [1000]), self.case("b", [1000])])
        self.assertIn("--case one of: a, b", self.overlay("m.json", "r.csv", expected=2))
        self.overlay("m.json", "r.csv", "--case", "b")


if __name__ == "__main__":
    unittest.main()
