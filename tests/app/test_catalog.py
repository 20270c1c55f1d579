"""Every scenario that ships is valid and runs, and what it asserts holds."""

import json
import unittest

from memsweep_cli import CATALOG, SOURCE, CliTest, sanitized, validator

FILES = sorted(CATALOG.glob("*.json"))
# Of files that take long where page faults are dear: every operation, and a part of the cases or rounds.
PART = {"concat_sweep": ("-k", "case=(size_1000|prom_int8_int16)/"),
        "allocator_small": ("-k", "size=(16|8192)/"),
        "producer_consumer": ("-s", "times=100"),
        "retained_after_free": ("-k", "allocator=(glibc|mimalloc)/blocks=8/"),
        "pool_vs_none": ("-k", "bytes=(4096|1048576)/")}
# What a test below runs, asking more of it.
IN_FULL = {"alloc_sweep", "first_touch", "numpy_loop", "prom_finalizer", "training_loop", "trim", "trim_at_limit", "trim_in_sweep",
           "trim_out_mixed", "view_or_copy"}


class Catalog(CliTest):
    def test_there_is_one(self):
        self.assertGreaterEqual({path.stem for path in FILES},
                                {"finalizer_repro", "churn", "training_loop", "numpy_loop", "alloc_sweep", "leak_1000", "first_touch"})

    def test_every_file_is_valid(self):
        outcome = self.expect(0, "validate", *map(str, FILES))
        self.assertEqual(outcome.text.count(": ok, "), len(FILES), f"\n{outcome}")
        judge = validator("scenario")
        for path in FILES:
            document = json.loads(path.read_text())
            self.assertEqual(document["name"], path.stem, "found by its name")
            if judge is not None:
                self.assertEqual([error.message for error in judge.iter_errors(document)], [], path.name)

    def test_every_file_runs_quickly(self):
        for path in FILES:
            if path.stem in IN_FULL and not sanitized():
                continue
            with self.subTest(path.stem):
                outcome = self.memsweep("run", str(path), "--quick", "-q", "-o", f"{path.stem}.out",
                                        *PART.get(path.stem, ()))
                self.assertIn(outcome.code, (0, 4), f"\n{outcome}")
                result = self.result(f"{path.stem}.out")
                self.assertEqual(result["run"]["scenario"]["name"], path.stem)
                self.assertTrue(result["cases"])
                for case in result["cases"]:
                    self.assertIn(case["status"], ("ok", "skipped"), case["reason"])
                measured = any(case["repetitions"] for case in result["cases"])
                self.assertEqual(outcome.code, 0 if measured else 4)

    def run_in_full(self, name, *options):
        if sanitized():
            self.leave_out(self.id(), "a sanitizer's own memory is in every figure")
        outcome = self.expect(0, "run", str(CATALOG / f"{name}.json"), "-n", "2", "--warmup", "0", "--timeout", "10m", "-q", "-o",
                              "r.json", *options)
        result = self.result()
        for case in result["cases"]:
            if case["status"] == "skipped":
                self.leave_out(f"{name}: {case['id']}", case["reason"])
            self.assertEqual((case["status"], case["repetitions"]), ("ok", 2), f"{case['reason']}\n{outcome}")
        for one in result["assertions"]:
            self.assertTrue(one["passed"], one)
        return result

    def test_numpy_loop(self):
        result = self.run_in_full("numpy_loop")
        untouched = self.case(result, "numpy_loop/touch=none")["metrics"]["minor_faults"]["values"]
        touched = self.case(result, "numpy_loop/touch=full")["metrics"]["minor_faults"]["values"]
        self.assertLess(max(untouched), min(touched), "untouched zeros never were resident")

    def run_without_time(self, name):
        """The result, with every assertion but those on times, which only warn."""
        if sanitized():
            self.leave_out(self.id(), "a sanitizer's own memory is in every figure")
        outcome = self.expect(0, "run", str(CATALOG / f"{name}.json"), "-n", "1", "--warmup", "0", "-o", "r.json")
        result = self.result()
        for one in result["assertions"]:
            self.assertTrue(one["passed"] is not False or one["severity"] == "warn", one)
        return result, outcome.text

    def test_trim(self):
        result, text = self.run_without_time("trim")
        for case in result["cases"]:
            how = case["params"]["trim"]
            if case["status"] == "skipped":
                self.assertIn(how, ("pageout", "cgroup"))
                self.assertRegex(case["reason"], "^requires (swap|memory.reclaim)")
                continue
            self.assertEqual([one["how"] for one in case.get("trims", [])], [] if how == "none" else [how])
            for one in case.get("trims", []):
                self.assertEqual(one["contents"], {"dontneed": "lost", "free": "uncertain"}.get(how, "kept"))
        self.assertIn("trim soft: page-table entries are dropped", " ".join(text.split()))
        soft = [one for one in result["contrasts"] if one["case"].endswith("trim=soft")]
        self.assertEqual([one["base"] for one in soft], ["trim/resource=memfd/trim=none"])
        parts = soft[0]["attribution"]
        if parts is not None:
            known = parts["page_faults"] + parts["allocator"] + (parts["collector_wait"] or 0) + (parts["run_delay"] or 0)
            self.assertAlmostEqual(known + parts["unexplained"], parts["extra"], delta=parts["extra"] * 1e-9)
            self.assertAlmostEqual(known / parts["extra"], parts["explained"], delta=1e-9)

    def test_trim_at_limit(self):
        self.run_without_time("trim_at_limit")

    def test_trim_out_mixed(self):
        self.run_without_time("trim_out_mixed")

    def test_trim_in_sweep(self):
        self.run_without_time("trim_in_sweep")

    def test_prom_finalizer(self):
        self.run_without_time("prom_finalizer")

    def test_view_or_copy(self):
        self.run_without_time("view_or_copy")

    def test_first_touch(self):
        self.run_in_full("first_touch")

    def test_training_loop(self):
        result = self.run_in_full("training_loop", "-s", "epochs=5")
        for case in result["cases"]:
            epochs = [point for point in case["points"] if point["name"] == "epoch" and point["repetition"] == 0]
            self.assertEqual(len(epochs), 5)

    def test_alloc_sweep(self):
        result = self.run_in_full("alloc_sweep", "-k", "size=(4KiB|1MiB|128MiB)/", "-s", "times=5")
        self.assertEqual(len(result["cases"]), 9)
        for size in ("1MiB", "128MiB"):
            faults = {touch: self.case(result, f"alloc_sweep/size={size}/touch={touch}")["metrics"]["faults_per_op"]["values"][0]
                      for touch in ("none", "page", "full")}
            self.assertLessEqual(faults["none"], faults["page"] + 1, size)

    def test_the_schemas_in_the_source_are_the_printed_ones(self):
        for which, file in (("scenario", "scenario"), ("result", "result"), ("gate", "gate"), ("comparison", "comparison"), ("history", "history"),
                            ("limits", "limits"), ("fleet", "fleet"), ("fleet-trend", "fleet-trend"),
                            ("explain", "explain"), ("advice", "advice")):
            shipped = json.loads((SOURCE / f"scenarios/schema/memsweep-{file}-1.schema.json").read_text())
            self.assertEqual(json.loads(self.expect(0, "schema", which).out), shipped)


if __name__ == "__main__":
    unittest.main()
