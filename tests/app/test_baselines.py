"""Baselines live on: what later results of the same command compare with, without --force, and what they do not."""

import json
import unittest

from memsweep_cli import CliTest

REPETITIONS = 6
SCENARIO = {
    "format": "memsweep-scenario", "version": 1, "name": "gate", "axes": {"mode": ["refcount", "leak"]}, "release": {"mode": "${axis.mode}"},
    "steps": [{"op": "alloc", "as": "a", "count": 4, "dtype": "uint8", "shape": [1 << 20]}, {"op": "write", "target": "a", "touch": "page"},
              {"op": "drop", "target": "a"}, {"op": "sample", "name": "after_drop"}],
    "assert": [{"where": {"mode": "refcount"}, "expr": "after_drop.live_bytes.max == 0B"}],
}
PROBE = ("--size", "1MiB", "--min-time", "1ms", "-n", "5", "-q", "-k", "size=(4096|16384)$|kernel=copy/store=plain|minor")


class Baselines(CliTest):
    def run_scenario(self, out, changes=(), *options):
        self.write("gate.json", {**SCENARIO, **dict(changes)})
        self.expect(0, "run", "gate.json", "-q", "-n", str(REPETITIONS), "-o", out, *options)

    def is_comparable(self, base, candidate, *options):
        """Not what the verdict is: the machine may be busy."""
        outcome = self.memsweep("compare", base, candidate, *options)
        self.assertIn(outcome.code, (0, 1, 5), outcome)
        self.assertNotIn("by force", outcome.text)
        return outcome

    def test_assertions_may_change(self):
        self.run_scenario("base.json")
        reworded = {"where": {"mode": "refcount"}, "expr": "after_drop.live_bytes.max <= 0KiB", "severity": "warn"}
        for name, asserted in (("reworded", [reworded]), ("more", [*SCENARIO["assert"], {"expr": "wall_time.median >= 0s"}]), ("none", [])):
            with self.subTest(name):
                self.run_scenario("candidate.json", {"assert": asserted})
                self.is_comparable("base.json", "candidate.json")
        self.write("gate.json", {**SCENARIO, "assert": [reworded]})
        outcome = self.memsweep("run", "gate.json", "-q", "-n", str(REPETITIONS), "-o", "again.json", "--baseline", "base.json", "--gate", "memory")
        self.assertIn(outcome.code, (0, 1), outcome)
        self.assertNotIn("not comparable", outcome.errors)

    def test_what_is_measured_may_not(self):
        self.run_scenario("base.json")
        steps = [{**SCENARIO["steps"][0], "count": 5}, *SCENARIO["steps"][1:]]
        self.run_scenario("candidate.json", {"steps": steps})
        self.assertIn("the same cases, but other memory, release or steps", self.expect(2, "compare", "base.json", "candidate.json").errors)
        self.run_scenario("other.json", {"axes": {"mode": ["refcount", "pool"]}})
        self.assertIn("only the base has gate/mode=leak", self.expect(2, "compare", "base.json", "other.json").errors)

    def test_a_part_compares_with_the_whole(self):
        self.run_scenario("base.json")
        self.run_scenario("part.json", (), "-k", "refcount")
        self.run_scenario("fewer.json", {"axes": {"mode": ["refcount"]}})
        for part in ("part.json", "fewer.json"):
            with self.subTest(part):
                self.is_comparable("base.json", part)
                self.is_comparable(part, "base.json")

    def test_a_probe_compares_with_its_part(self):
        self.expect(0, "probe", "bandwidth", "latency", *PROBE, "-o", "whole.json")
        self.expect(0, "probe", "latency", *PROBE, "-o", "part.json")
        outcome = self.is_comparable("whole.json", "part.json", "-f", "json")
        judged = json.loads(outcome.text)["comparisons"][0]["judgements"]
        compared = {one["candidate_case"] for one in judged if one["candidate_case"] and one["base_case"]}
        self.assertTrue(compared)
        self.assertTrue(all(case.startswith("probe_latency/") for case in compared), compared)
        self.is_comparable("part.json", "whole.json")
        other = ("2MiB" if option == "1MiB" else option for option in PROBE)
        self.expect(0, "probe", "latency", *other, "-o", "other.json")
        self.assertIn("--size", self.expect(2, "compare", "whole.json", "other.json").errors)

    def test_a_command_that_is_watched(self):
        for out in ("one.json", "two.json"):
            self.expect(0, "watch", "-i", "10ms", "-f", "json", "-o", out, "--", "sleep", "0.05")
        self.expect(0, "watch", "-i", "10ms", "-f", "json", "-o", "other.json", "--", "sleep", "0.06")
        self.assertEqual(self.is_comparable("one.json", "two.json").code, 5)  # too few for a verdict
        self.expect(2, "compare", "one.json", "other.json")
        parts = []
        for number in range(12):
            parts.append(f"part{number}.json")
            self.expect(0, "watch", "-i", "10ms", "-f", "json", "-o", parts[-1], "--", "true")
        self.expect(0, "merge", *parts[:6], "-o", "before.json")
        self.expect(0, "merge", *parts[6:], "-o", "after.json")
        self.assertIn(self.is_comparable("before.json", "after.json").code, (0, 1))

    def test_a_replay(self):
        log = "Thread,Time,Action,Pointer,Size,Stream\n" + "".join(
            f"1,00:00:00.{i:06},allocate,0x{0x1000 * (i + 1):x},{100 + i},0\n" for i in range(200))
        (self.folder / "log.csv").write_text(log)
        self.expect(0, "import", "log.csv", "-o", "t.mst", "-q")
        for out, on in (("both.json", "glibc,tlsf"), ("one.json", "glibc")):
            self.expect(0, "replay", "t.mst", "--on", on, "-n", "5", "--warmup", "0", "--settle", "10ms", "--no-latency", "-q", "-o", out)
        self.is_comparable("both.json", "one.json")


if __name__ == "__main__":
    unittest.main()
