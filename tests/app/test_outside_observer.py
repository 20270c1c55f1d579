"""What memsweep says about memory, against what this test sees of the same process from outside, and against known answers.

Needs about 1 GiB of memory that is free; a machine without it skips the cases, and the tests say so.
"""

import json
import pathlib
import time
import unittest

from memsweep_cli import CATALOG, MIB, CliTest, idle, resident_bytes, sanitized

POLL_S = 0.002
ARRAYS_BYTES = 800_000_000  # 100 arrays of 1,000,000 float64


class Watch:
    """The resident set of a process over time, as anybody may read it."""

    def __init__(self, pid):
        self.t, self.bytes = [], []
        try:
            with open(f"/proc/{pid}/status", "rb", buffering=0) as status:
                while True:
                    status.seek(0)
                    text = status.read().decode()
                    if "VmRSS" not in text:  # a zombie
                        return
                    self.t.append(time.monotonic())
                    self.bytes.append(resident_bytes(text))
                    time.sleep(POLL_S)
        except (FileNotFoundError, ProcessLookupError):
            return

    def longest_plateau(self):
        """(level, seconds) of the longest time without a change of more than a few pages."""
        best = (0, 0.0)
        start = 0
        for i, now in enumerate(self.bytes):
            if abs(now - self.bytes[start]) > MIB // 4:
                start = i
            best = max(best, (now, self.t[i] - self.t[start]), key=lambda one: one[1])
        return best


class ObserverTest(CliTest):
    def setUp(self):
        super().setUp()
        if sanitized():
            self.leave_out(self.id(), "a sanitizer's own memory is in every figure")

    def measured(self, path="r.json"):
        result = self.result(path)
        for case in result["cases"]:
            if case["status"] == "skipped":
                self.leave_out(self.id(), case["reason"])
        return result

    def points(self, case):
        return {point["name"]: point for point in case["points"]}

    def near(self, actual, expected, share, why, slack=0):
        self.assertLessEqual(abs(actual - expected), share * expected + slack, f"{why}: {actual:,} against {expected:,}")


class FinalizerRepro(ObserverTest):
    # mode: live bytes after drop, after collect may still be anything for a finalizer, after drain
    LIVE_AFTER_DROP = {"refcount": 0, "finalizer": ARRAYS_BYTES, "deferred_batch": 32_000_000}

    def observe(self, mode, path):
        driver = self.start(path, "-n", "1", "--warmup", "0", "-a", f"mode=[{mode}]", "--timeout", "10m", "-q", "-o", "r.json")
        try:
            pid = driver.wait_for("case_start")["pid"]
        except AssertionError:
            self.measured()  # skipped: says why
            raise
        watch = Watch(pid)
        outcome = driver.finish()
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        return self.measured()["cases"][0], watch

    def check_live_bytes(self, mode, case):
        points = self.points(case)
        live = {name: point["live_bytes"] for name, point in points.items()}
        self.assertEqual(live["after_alloc"], ARRAYS_BYTES)
        self.assertEqual(live["after_drop"], self.LIVE_AFTER_DROP[mode])
        self.assertEqual(points["after_drop"]["floating_bytes"], self.LIVE_AFTER_DROP[mode], "nobody can reach what was dropped")
        self.assertEqual(live["after_drain"], 0)
        self.assertEqual(case["metrics"]["live_bytes_peak"]["values"], [ARRAYS_BYTES])
        if mode == "refcount":
            self.assertLess(points["after_drop"]["working_set_delta"], 16 * MIB, "given back to the system")

    def check_mode(self, mode):
        case, watch = self.observe(mode, str(CATALOG / "finalizer_repro.json"))
        self.assertGreater(len(watch.bytes), 20, "too few looks to say anything")
        peak = case["metrics"]["working_set_peak"]["values"][0]
        self.near(max(watch.bytes), peak, 0.03, "the peak seen from outside against working_set_peak")
        curve = [series for series in case["series"] if series["name"] == "working_set"][0]
        self.near(max(curve["v"]), peak, 0.03, "the peak of the recorded curve against working_set_peak")
        self.check_live_bytes(mode, case)

    def test_refcount(self):
        self.check_mode("refcount")

    def test_finalizer(self):
        self.check_mode("finalizer")

    def test_deferred_batch(self):
        self.check_mode("deferred_batch")

    def test_plateau_after_drop(self):
        # The same steps with a rest after the drop: long enough to be seen without doubt.
        document = json.loads((CATALOG / "finalizer_repro.json").read_text())
        names = [step.get("name") for step in document["steps"]]
        document["steps"].insert(names.index("after_drop") + 1, idle("700ms"))
        self.write("rest.json", document)
        for mode, live in self.LIVE_AFTER_DROP.items():
            with self.subTest(mode):
                case, watch = self.observe(mode, "rest.json")
                level, seconds = watch.longest_plateau()
                self.assertGreater(seconds, 0.5, "no plateau was seen")
                self.near(level, self.points(case)["after_drop"]["working_set"], 0.03, "after drop, outside against inside", MIB)
                self.assertGreaterEqual(level, live, "memory that is live is resident")
                self.check_live_bytes(mode, case)


class Churn(ObserverTest):
    def test_peaks(self):
        self.expect(0, "run", str(CATALOG / "churn.json"), "-a", "mode=[refcount,finalizer]", "-a", "collect_every=[100]", "-n", "2",
                    "--warmup", "0", "--timeout", "10m", "-q", "-o", "r.json")
        result = self.measured()
        for mode, live in (("refcount", 8_000_000), ("finalizer", ARRAYS_BYTES)):
            case = self.case(result, f"churn/collect_every=100/mode={mode}")
            metrics = case["metrics"]
            self.assertEqual(metrics["live_bytes_peak"]["values"], [live] * 2)
            self.assertEqual(metrics["allocations"]["values"], [300, 300])
            for delta in metrics["working_set_peak_delta"]["values"]:
                if mode == "refcount":
                    self.assertLess(delta, 32 * MIB)
                else:
                    self.near(delta, 763 * MIB, 0.05, "100 arrays wait for a collection")
            for point in case["points"]:
                if point["name"] == "after_drain":
                    self.assertEqual(point["live_bytes"], 0)


class FirstTouch(ObserverTest):
    def test_faults_are_pages_touched(self):
        self.expect(0, "run", str(CATALOG / "first_touch.json"), "-n", "1", "--warmup", "0", "--timeout", "10m", "-q", "-o", "r.json")
        case = self.case(self.measured_some(), "first_touch/pages=4k")
        pages = 8 * 128 * MIB // 4096
        metrics = {name: metric["values"][0] for name, metric in case["metrics"].items()}
        self.assertEqual(metrics["pages_touched"], pages)
        self.near(metrics["minor_faults"], pages, 0.01, "minor faults against pages touched")
        points = self.points(case)
        self.near(points["touched"]["minor_faults"], pages, 0.01, "until the first point")
        self.near(points["touched_again"]["minor_faults"] - points["touched"]["minor_faults"] + pages, pages, 0.01, "no second fault")
        self.near(points["touched"]["working_set_delta"], pages * 4096, 0.01, "what was touched is resident")

    def measured_some(self):
        """The kernel may have huge pages off: that skips one of the two cases."""
        result = self.result()
        if self.case(result, "first_touch/pages=4k")["status"] == "skipped":
            self.measured()
        return result


if __name__ == "__main__":
    unittest.main()
