"""A command is watched from outside: what it printed, its status, and its memory over time."""

import signal
import sys
import unittest

from memsweep_cli import MIB, CliTest

HOLD = ("import sys, time\nblock = bytearray({size})\nfor i in range(0, len(block), 4096):\n    block[i] = 1\n"
        "time.sleep({seconds})\nprint('held')\nsys.exit({code})\n")


def holding(size, seconds=0.3, code=0):
    return [sys.executable, "-c", HOLD.format(size=size, seconds=seconds, code=code)]


class Watch(CliTest):
    def test_working_set_and_faults(self):
        outcome = self.expect(0, "watch", "-i", "10ms", "-f", "json", "-o", "w.json", "--", *holding(64 * MIB))
        self.assertEqual(outcome.text, "held\n", "the output is the program's alone")
        result = self.result("w.json")
        case = self.case(result, "watch")
        curves = {series["name"]: series for series in case["series"]}
        peak = max(curves["working_set"]["v"])
        self.assertGreater(peak, 64 * MIB)
        self.assertLess(peak, 256 * MIB)
        self.assertGreaterEqual(case["metrics"]["working_set_peak"]["values"][0], peak)
        self.assertGreaterEqual(case["metrics"]["minor_faults"]["values"][0], sum(curves["minor_faults"]["v"]) * 0.99)
        self.assertGreater(len(curves["working_set"]["t"]), 3)

    def test_children_are_watched(self):
        script = self.folder / "hold.py"
        script.write_text(HOLD.format(size=64 * MIB, seconds=0.3, code=0))
        self.expect(0, "watch", "-i", "10ms", "-f", "json", "-o", "w.json", "--", "sh", "-c", f"{sys.executable} {script} & wait")
        case = self.case(self.result("w.json"), "watch")
        curves = {series["name"]: series["v"] for series in case["series"]}
        self.assertGreater(max(curves["working_set"]), 64 * MIB)
        self.assertGreaterEqual(max(curves["processes"]), 2)

    def test_text(self):
        outcome = self.expect(7, "watch", "--", *holding(MIB, code=7))
        self.assertIn("exit code 7", outcome.errors)
        self.assertIn("working_set", outcome.errors)
        self.assertIn("█", outcome.errors)
        self.expect(0, "watch", "-f", "text", "-o", "w.txt", "--", "true")
        self.assertIn("working_set", (self.folder / "w.txt").read_text())

    def test_out_is_the_result_as_in_other_commands(self):
        outcome = self.expect(0, "watch", "-o", "w.json", "--", "true")
        self.assertIn("working_set", outcome.errors)
        self.assertEqual(self.result(self.folder / "w.json")["run"]["scenario"]["name"], "watch")

    def test_other_formats(self):
        for form in ("csv-series", "html", "md"):
            with self.subTest(form):
                self.expect(0, "watch", "-i", "10ms", "-f", form, "-o", f"w.{form}", "--", *holding(MIB, 0.1))
                self.assertRegex((self.folder / f"w.{form}").read_text(), "working.set")

    def test_statuses(self):
        self.expect(128 + signal.SIGKILL, "watch", "--", "sh", "-c", "kill -9 $$")
        for end, code, status, reason in (("exit 3", 3, "ok", None), ("kill -6 $$", 134, "error", "SIGABRT"),
                                          ("kill -15 $$", 143, "ok", None), ("exit 0", 0, "ok", None)):
            with self.subTest(end):
                self.expect(code, "watch", "-f", "json", "-o", "w.json", "--", "sh", "-c", end)
                case = self.case(self.result("w.json"), "watch")
                self.assertEqual(case["status"], status)
                self.assertIn(reason or "", case["reason"] or "")
        self.assertIn("No such file", self.expect(2, "watch", "--", "no-such-program").errors)
        self.expect(2, "watch", "-f", "no-such-format", "--", "true")
        self.expect(2, "watch", "-i", "0s", "--", "true")
        self.expect(2, "watch")


if __name__ == "__main__":
    unittest.main()
