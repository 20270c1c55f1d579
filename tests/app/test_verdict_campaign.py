"""The campaign that counts wrong verdicts still runs; of what it finds only what no machine can change is asked for."""

import subprocess
import sys
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, strict_json

CAMPAIGN = SOURCE / "benchmarks/verdicts.py"


class Campaign(CliTest):
    def run_it(self, *options):
        return subprocess.run([sys.executable, CAMPAIGN, "--binary", BINARY, *options], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=environment())

    def test_one_more_allocation_is_found_in_every_scenario(self):
        kinds = sorted(path.stem for path in (SOURCE / "benchmarks/verdicts").glob("*.json"))
        done = self.run_it("--plant", "allocation", "--comparisons", str(len(kinds)), "--out", "counts.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all within their targets", done.stdout)
        document = strict_json((self.folder / "counts.json").read_bytes())
        self.assertEqual(sorted((one["kind"], one["found"], one["details"]) for one in document["campaigns"]), [(kind, 1, []) for kind in kinds])
        self.assertEqual([(one["comparisons"], one["found"], one["holds"]) for one in document["totals"]], [(len(kinds), len(kinds), True)])

    def test_a_binary_that_fails_is_no_verdict(self):
        done = self.run_it("--plant", "nothing", "--comparisons", "1", "--binary", "/bin/false")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exit code 1", done.stderr)
        self.assertEqual(self.run_it("--comparisons", "0").returncode, 2)


if __name__ == "__main__":
    unittest.main()
