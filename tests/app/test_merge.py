"""What `merge` joins, what it refuses, and that the joined result is a result like any other."""

import json
import unittest

from memsweep_cli import CliTest, alloc, drop, sample, strict_json, values_of

MODES = {"axes": {"mode": ["refcount", "finalizer"]}, "release": {"mode": "${axis.mode}"}, "repetitions": 3,
         "series": {"interval": "1ms"}, "steps": [alloc(), sample("held"), drop(), {"op": "collect"}, {"op": "drain"}, sample("end")],
         "assert_": [{"expr": "end.live_bytes.max == 0B"}, {"expr": "held.live_bytes.min == 64KiB"},
                     {"expr": "ratio(live_bytes_peak.median, mode=finalizer, mode=refcount) == 1"}]}


class Merging(CliTest):
    measured = {}

    def setUp(self):
        super().setUp()
        self.small(**MODES)
        for name in ("one", "two", "three"):
            if name not in Merging.measured:
                self.expect(0, "run", "small.json", "-q", "-o", f"{name}.json", "--tag", f"part={name}")
                Merging.measured[name] = (self.folder / f"{name}.json").read_text()
            self.write(f"{name}.json", Merging.measured[name])

    def document(self, name):
        return json.loads(Merging.measured[name])

    def refused(self, said, *arguments):
        outcome = self.expect(2, "merge", *arguments, "-o", "m.out")
        self.assertRegex(outcome.errors, said)
        self.assertEqual(outcome.out, b"")
        self.assertFalse((self.folder / "m.out").exists(), "a refused merge writes nothing")

    def test_repetitions_of_all_in_their_order(self):
        outcome = self.expect(0, "merge", "one.json", "two.json", "three.json", "-o", "m.json")
        self.assertEqual((outcome.out, outcome.err), (b"", b""))
        merged, parts = self.result("m.json"), [self.document(name) for name in ("one", "two", "three")]
        self.assertEqual([case["id"] for case in merged["cases"]], [case["id"] for case in parts[0]["cases"]])
        for case in merged["cases"]:
            apart = [values_of(self.case(part, case["id"])) for part in parts]
            self.assertEqual(case["repetitions"], 9)
            self.assertEqual(values_of(case), {name: sum((one[name] for one in apart), []) for name in apart[0]})
            self.assertEqual([point["repetition"] for point in case["points"] if point["name"] == "held"], list(range(9)))
        self.assertEqual(len(merged["assertions"]), len(parts[0]["assertions"]))
        self.assertTrue(all(one["passed"] for one in merged["assertions"]))
        self.assertEqual(merged["run"]["tags"]["part"], "one, two, three")
        self.assertEqual(merged["run"]["tags"]["merged_from"].split(), [part["run"]["id"] for part in parts])
        self.assertEqual(merged["run"]["started"], parts[0]["run"]["started"])
        self.assertEqual(merged["run"]["ended"], parts[2]["run"]["ended"])
        self.assertEqual(merged["run"]["exit_code"], 0)
        self.assertEqual(merged["run"]["scenario"], parts[0]["run"]["scenario"])
        self.expect(0, "report", "m.json")
        self.expect(0, "compare", "m.json", "m.json")

    def test_to_stdout_and_from_stdin_and_always_the_same(self):
        outcome = self.expect(0, "merge", "-", "two.json", "-o", "-", stdin=Merging.measured["one"].encode())
        self.check_result(strict_json(outcome.out))
        self.expect(0, "merge", "one.json", "two.json", "-o", "a.json")
        self.expect(0, "merge", "one.json", "two.json", "-o", "b.json")
        a, b = self.result("a.json"), self.result("b.json")
        self.assertEqual(a["run"].pop("argv")[1:4], ["merge", "one.json", "two.json"])
        b["run"].pop("argv")
        self.assertEqual(a, b)
        self.assertEqual(a["run"]["id"], strict_json(outcome.out)["run"]["id"])

    def test_one_result_is_itself(self):
        self.expect(0, "merge", "one.json", "-o", "m.json")
        self.assertEqual(self.result("m.json")["cases"], self.document("one")["cases"])

    def test_into_one_of_its_parts(self):
        self.expect(0, "merge", "one.json", "two.json", "-o", "one.json")
        self.assertEqual(self.result("one.json")["cases"][0]["repetitions"], 6)
        self.refused(r"run .* is in one\.json too", "one.json", "two.json")
        self.expect(0, "merge", "one.json", "three.json", "-o", "one.json")
        self.assertEqual(self.result("one.json")["cases"][0]["repetitions"], 9)

    def test_the_same_run_twice(self):
        self.refused(r"one\.json: run .* is in one\.json too", "one.json", "one.json")
        self.refused(r"run .* is in one\.json too", "one.json", "two.json", "one.json", "--force")

    def test_another_scenario(self):
        self.small("other")
        self.expect(0, "run", "other.json", "-q", "-o", "other.out")
        self.refused(r"other\.out: cannot be merged with one\.json: the scenarios differ: .*small.*other.*--force", "one.json", "other.out")
        self.expect(0, "merge", "one.json", "other.out", "-o", "m.json", "--force")
        merged = self.result("m.json")
        self.assertEqual([case["id"] for case in merged["cases"]][-1], "other")
        self.assertIn("merged-by-force", [warning["code"] for warning in merged["warnings"]])

    def test_another_machine(self):
        other = self.document("two")
        other["machine"].update(cores=96, fingerprint="0" * 64)
        self.write("other.json", other)
        self.refused(r"the machines differ: cores \d+ against 96", "one.json", "other.json")
        self.expect(0, "merge", "one.json", "other.json", "-o", "m.json", "--force")
        self.assertEqual(self.result("m.json")["cases"][0]["repetitions"], 6)

    def test_conflicting_units(self):
        other = self.document("two")
        other["cases"][0]["metrics"]["wall_time"]["unit"] = "B"
        self.write("other.json", other)
        for force in ([], ["--force"]):
            self.refused(r"other\.json: small/mode=\w+: wall_time has unit B .* and s", "one.json", "other.json", *force)

    def test_cases_that_only_one_has(self):
        other = self.document("two")
        other["cases"] = other["cases"][1:]
        self.write("other.json", other)
        self.expect(0, "merge", "one.json", "other.json", "-o", "m.json")
        self.assertEqual([case["repetitions"] for case in self.result("m.json")["cases"]], [3, 6])

    def test_failures_stay(self):
        other = self.document("two")
        other["run"]["exit_code"] = 3
        other["cases"][0].update(status="error", reason="repetition 4: killed by signal 9")
        self.write("other.json", other)
        self.expect(0, "merge", "one.json", "other.json", "-o", "m.json")
        merged = self.result("m.json")
        self.assertEqual((merged["cases"][0]["status"], merged["run"]["exit_code"]), ("error", 3))
        self.assertEqual(merged["summary"]["errors"], 1)

    def test_unfinished_runs(self):
        other = self.document("two")
        other["run"].update(interrupted=True, exit_code=130)
        self.write("other.json", other)
        outcome = self.expect(0, "merge", "one.json", "other.json", "-o", "m.json")
        self.assertRegex(outcome.errors, r"other\.json: its run did not finish")
        self.assertTrue(self.result("m.json")["run"]["interrupted"])

    def test_wrong_usage(self):
        self.expect(2, "merge", "-o", "m.json")
        self.assertRegex(self.expect(2, "merge", "one.json").errors, "--out is required")
        self.refused("cannot read", "one.json", "missing.json")
        self.refused("no memsweep result", "one.json", "small.json")
        self.refused("one result only", "-", "-")
        self.assertRegex(self.expect(2, "merge", "one.json", "-o", "no/such/folder/m.json").errors, "no/such/folder")


if __name__ == "__main__":
    unittest.main()
