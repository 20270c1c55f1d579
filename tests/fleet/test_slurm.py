"""The recipes of docs/fleet.md on a real Slurm of three nodes on this machine.

    python3 tests/fleet/test_slurm.py      MEMSWEEP: the binary

Exit code 77, with the reason as the last line, where no Slurm can be had.
"""

import json
import os
import re
import subprocess
import sys
import unittest

from fleet_case import BINARY, SOURCE, FleetCase
from mini_slurm import MiniSlurm, Unavailable

NODES = ["sn1", "sn2", "sn3"]
SCENARIO = {"format": "memsweep-scenario", "version": 1, "name": "small", "repetitions": 3, "warmup": 0,
            "steps": [{"op": "alloc", "as": "a", "dtype": "float64", "shape": [100000], "touch": "full"}, {"op": "drop", "target": "a"}],
            "assert": [{"expr": "live_bytes_peak.max == 800000B"}]}
CLUSTER = None


def recipe(title):
    """The shell lines below a heading of docs/fleet.md, as they stand there."""
    text = (SOURCE / "docs/fleet.md").read_text()
    return re.search(rf"### {re.escape(title)}\n.*?```sh\n(.*?)```", text, re.DOTALL).group(1)


class Slurm(FleetCase):
    def setUp(self):
        super().setUp()
        (self.folder / "small.json").write_text(json.dumps(SCENARIO))
        (self.folder / "limits.json").write_text(json.dumps(
            {"format": "memsweep-limits", "version": 1, "limits": [{"scenario": "probe_bandwidth", "expr": "bandwidth.median > 1TB/s"}]}))
        CLUSTER.environment["PATH"] = f"{BINARY.parent}:{os.environ['PATH']}:/usr/sbin"

    def run_there(self, code, *command):
        return self.check_code(code, CLUSTER.run(*command, cwd=self.folder))

    def fleet(self, name="fleet.json"):
        return json.loads((self.folder / name).read_text())

    def check(self, fleet):
        self.assertEqual([host["name"] for host in fleet["hosts"]], NODES)
        self.assertEqual([host["tags"]["partition"] for host in fleet["hosts"]], ["short"] * 3)
        self.assertEqual(fleet["missing"], [])
        self.assertTrue(fleet["judgement"]["healthy"] or fleet["judgement"]["bad_hosts"])

    def test_srun_writes_a_result_per_node(self):
        self.run_there(0, "srun", "-N3", "-n3", "memsweep", "run", "small.json", "-q", "-o", "results/%h.json")
        for rank, name in enumerate(NODES):
            placement = json.loads((self.folder / f"results/{name}.json").read_text())["run"]["placement"]
            self.assertEqual((placement["node"], placement["launcher"], placement["rank"], placement["ranks"], placement["nodes"]),
                             (name, "slurm", rank, 3, "sn[1-3]"))
        self.run_there(0, "memsweep", "merge", *[f"results/{name}.json" for name in NODES], "-o", "fleet.json", "--expect", "3")
        self.check(self.fleet())
        done = self.run_there(3, "memsweep", "merge", "results/sn1.json", "results/sn3.json", "-o", "fleet.json", "--expect", "3")
        self.assertIn("missing: sn2", done.stderr)
        outcome = CLUSTER.run("srun", "-N3", "-n6", "memsweep", "run", "small.json", "-q", "-o", "results/%h.json", cwd=self.folder)
        self.assertIn("add %r", outcome.stderr)
        self.run_there(0, "srun", "-N3", "-n6", "memsweep", "run", "small.json", "-q", "-o", "two/%h-%r.json")
        self.run_there(0, "memsweep", "merge", *sorted(map(str, (self.folder / "two").glob("*.json"))), "-o", "fleet.json", "--expect", "sn[1-3]")
        fleet = self.fleet()
        self.check(fleet)
        self.assertEqual(fleet["metrics"][0]["n"], [6, 6, 6])

    def test_the_batch_script_of_the_docs(self):
        (self.folder / "job.sh").write_text(recipe("As a batch job").replace("scenario.json", "small.json"))
        self.run_there(0, "sbatch", "--wait", "-N3", "-o", "job.out", "job.sh")
        self.check(self.fleet("results/fleet.json"))
        self.assertIn("3 hosts of small", (self.folder / "job.out").read_text())

    def test_the_node_check_of_the_docs(self):
        check = recipe("Before a job: is this node fit?").replace("/etc/memsweep/limits.json", str(self.folder / "limits.json"))
        (self.folder / "check.sh").write_text(check)
        done = subprocess.run(["bash", "check.sh"], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=dict(CLUSTER.environment, SLURMD_NODENAME="sn2"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        line = json.loads(done.stdout)
        self.assertEqual((line["host"], line["healthy"]), ("sn2", False))
        self.assertIn("limit violated", line["evidence"][0]["text"])


if __name__ == "__main__":
    try:
        CLUSTER = MiniSlurm(len(NODES))
    except Unavailable as error:
        print(f"no Slurm can be had: {error}")
        sys.exit(77)
    try:
        unittest.main(verbosity=2, exit=False).result.wasSuccessful() or sys.exit(1)
    finally:
        CLUSTER.close()
