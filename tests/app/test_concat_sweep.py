"""The concatenation sweep from outside: its cases alone and in the sweep, what it checks, and what a lost worker costs it."""

import re
import unittest

from memsweep_cli import CATALOG, CliTest, alloc, drop, event_lines, idle, sample, scenario

FILE = str(CATALOG / "concat_sweep.json")
LABELS = ("size_1000", "prom_int32_float64", "out_int32_1M")
MODES = ("refcount", "finalizer", "pool", "leak")


def name(label, mode, placement):
    return f"concat_sweep/case={label}/mode={mode}/placement={placement}"


class ConcatSweep(CliTest):
    def test_all_55_cases_in_every_mode_and_placement(self):
        outcome = self.expect(0, "run", FILE, "--dry-run")
        self.assertIn("concat_sweep: 440 cases", outcome.text)
        cases = set(re.findall(r"case=(\w+)/mode=(\w+)/placement=(\w+):", outcome.text))
        self.assertEqual(len({label for label, _, _ in cases}), 55)
        self.assertEqual({mode for _, mode, _ in cases}, set(MODES))
        self.assertEqual({placement for _, _, placement in cases}, {"alone", "sweep"})

    def test_results_agree_with_numpy_and_the_report_sets_both_placements_side_by_side(self):
        outcome = self.expect(0, "run", FILE, "-k", f"case=({'|'.join(LABELS)})/", "-n", "1", "-o", "r.json", "-r", "md=r.md",
                              "-r", "html=r.html", "--events", "events.ndjson")
        result = self.result()
        self.assertEqual(len(result["cases"]), len(LABELS) * len(MODES) * 2)
        for case in result["cases"]:
            self.assertEqual((case["status"], case["metrics"]["checksum_ok"]["values"]), ("ok", [1]), case["id"])
            self.assertGreater(case["metrics"]["time_per_op"]["values"][0], 0)
        self.check_calls(result)
        self.check_workers(event_lines(self.folder / "events.ndjson"))
        for text in (outcome.text, (self.folder / "r.md").read_text(), (self.folder / "r.html").read_text()):
            for words in ("in sweep", "ratio", "per fault", "refcount in a sweep:"):
                self.assertIn(words, " ".join(text.split()))

    def check_calls(self, result):
        """Inputs and results, counted exactly: 2 inputs and 20 + 500 or 100 calls, 1 + 3 under leak, into `out` none."""
        def allocations(label, mode, placement="alone"):
            return self.case(result, name(label, mode, placement))["metrics"]["allocations"]["values"][0]

        for placement in ("alone", "sweep"):
            self.assertEqual(allocations("size_1000", "refcount", placement), 2 + 520)
            self.assertEqual(allocations("prom_int32_float64", "finalizer", placement), 2 + 120)
            self.assertEqual(allocations("prom_int32_float64", "leak", placement), 2 + 4)
            self.assertEqual(allocations("out_int32_1M", "leak", placement), 3)
        self.assertEqual(allocations("prom_int32_float64", "pool"), 2 + 1)

        def live(label, mode, placement):
            return self.case(result, name(label, mode, placement))["metrics"]["live_bytes_peak"]["values"][0]

        # What leaked in size_1000 (its inputs and 4 results) and in prom_int32_float64 is still there in the last case.
        self.assertEqual(live("prom_int32_float64", "leak", "alone"), 12_000_000 + 4 * 16_000_000)
        self.assertEqual(live("prom_int32_float64", "leak", "sweep"), 5 * 8000 + 12_000_000 + 4 * 16_000_000)
        self.assertEqual(live("out_int32_1M", "leak", "sweep"), 5 * 8000 + 76_000_000 + 16_000_000)
        self.assertEqual(live("out_int32_1M", "refcount", "sweep"), 16_000_000)

    def check_workers(self, events):
        pids = {}
        for event in events:
            if event["type"] == "case_start":
                pids.setdefault(event["case"], set()).add(event["pid"])
        alone = [pids[name(label, mode, "alone")] for label in LABELS for mode in MODES]
        self.assertEqual(len(set.union(*alone)), len(alone), "a worker each")
        sweeps = [set.union(*(pids[name(label, mode, "sweep")] for label in LABELS)) for mode in MODES]
        self.assertEqual([len(one) for one in sweeps], [1] * len(MODES), "one worker per mode")
        self.assertEqual(len(set.union(*sweeps)), len(MODES))

    def test_the_pool_window_is_a_parameter(self):
        def hit_rate(*window):
            self.expect(0, "run", FILE, "-k", "case=size_1000/mode=pool/placement=alone", "-n", "1", "-q", "-o", "r.json", *window)
            return self.case(self.result(), name("size_1000", "pool", "alone"))["metrics"]["pool_hit_rate"]["values"][0]

        self.assertGreater(hit_rate(), 0.9)
        self.assertEqual(hit_rate("-s", "pool_floor=9000B"), 0)
        self.assertEqual(hit_rate("-s", "pool_ceiling=8000B"), 0)

    def test_a_budget_counts_what_a_sweep_leaves(self):
        self.expect(0, "run", FILE, "-k", "case=prom_int32_(int64|uint32|float32)/mode=leak/", "-n", "1", "-q", "-o", "r.json",
                    "--max-memory", "160MiB")
        statuses = {(case["params"]["case"], case["params"]["placement"]): case for case in self.result()["cases"]}
        for label in ("int64", "uint32", "float32"):
            self.assertEqual(statuses[f"prom_int32_{label}", "alone"]["status"], "ok")
        self.assertEqual(statuses["prom_int32_uint32", "sweep"]["status"], "ok")
        refused = statuses["prom_int32_float32", "sweep"]
        self.assertEqual(refused["status"], "skipped")
        self.assertIn("with what its sweep has left", refused["reason"])


class Placement(CliTest):
    STEPS = [sample("start"), alloc(count=3), idle("${axis.d}"), drop()]

    def run_sweep(self, code, durations, **keys):
        document = scenario("placed", self.STEPS, axes={"placement": ["alone", "sweep", "drain"], "d": durations},
                            release={"mode": "finalizer"}, **keys)
        self.expect(code, "run", self.write("placed.json", document), "-q", "-o", "r.json")
        return self.result()

    def test_what_a_case_leaves_meets_the_next_in_a_sweep_alone(self):
        result = self.run_sweep(0, ["1ms", "2ms", "3ms"], repetitions=2)
        for placement, live in (("alone", [0, 0, 0]), ("sweep", [0, 3 << 16, 6 << 16]), ("drain", [0, 0, 0])):
            for duration, expected in zip(("1ms", "2ms", "3ms"), live):
                points = self.case(result, f"placed/d={duration}/placement={placement}")["points"]
                self.assertEqual([point["live_bytes"] for point in points], [expected] * 2, (placement, duration))

    def test_a_timeout_in_a_sweep_takes_what_comes_after_it(self):
        result = self.run_sweep(3, ["1ms", "30s", "2ms"], timeout="3s")
        status = {case["id"].removeprefix("placed/"): (case["status"], case["reason"]) for case in result["cases"]}
        for placement in ("alone", "sweep", "drain"):
            self.assertEqual(status[f"d=1ms/placement={placement}"], ("ok", None))
            self.assertEqual(status[f"d=30s/placement={placement}"][0], "timeout")
        self.assertEqual(status["d=2ms/placement=alone"], ("ok", None))
        for placement in ("sweep", "drain"):
            lost = f"not measured: the worker of its sweep was lost in placed/d=30s/placement={placement}"
            self.assertEqual(status[f"d=2ms/placement={placement}"], ("skipped", lost))


if __name__ == "__main__":
    unittest.main()
