"""A gate judges a metric by its role: what a program costs, and not what explains it."""

import json
import sys
import unittest

from memsweep_cli import CliTest


class Roles(CliTest):
    def test_waiting_more_often_is_no_regression(self):
        self.write("p.py", "import time\nfor _ in range(int(open('turns').read())): time.sleep(0.0005)\n")
        for turns, name in ((2, "base"), (90, "candidate")):
            self.write("turns", str(turns))
            self.expect(0, "run", "-q", "-n", "8", "-o", f"{name}.json", "--", sys.executable, "p.py")
        switches = [json.loads((self.folder / f"{name}.json").read_text())["cases"][0]["metrics"]["context_switches"]["summary"]["median"]
                    for name in ("base", "candidate")]
        self.assertGreater(switches[1], switches[0] + 40)

        def verdict(*options):
            outcome = self.memsweep("compare", "base.json", "candidate.json", "--force", "-f", "json", *options)
            return {one["metric"]: one["verdict"] for one in json.loads(outcome.text)["comparisons"][0]["judgements"]}["context_switches"]

        self.assertEqual(verdict(), "informational")
        self.assertEqual(verdict("--gate", "memory"), "informational")
        # Judged, whatever a busy machine lets the counts of two times eight runs say.
        for asked in (("--metric", "context_switches"), ("--threshold", "context_switches=5%")):
            self.assertIn(verdict(*asked), ("regressed", "inconclusive"), asked)

    def test_every_metric_has_a_role(self):
        rows = json.loads(self.expect(0, "list", "metrics", "--json").text)["rows"]
        roles = {row["name"]: row["role"] for row in rows if row["of"] == "repetition"}
        self.assertEqual(set(roles.values()), {"headline", "outcome", "event", "time_part", "context", "machine"})
        self.assertEqual(roles["context_switches"], "context")


if __name__ == "__main__":
    unittest.main()
