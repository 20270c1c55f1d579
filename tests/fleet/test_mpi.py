"""memsweep-mpi on four hosts that are network namespaces of this machine, under a real mpirun.

    python3 tests/fleet/test_mpi.py      MEMSWEEP: the binary, memsweep-mpi beside it; MEMSWEEP_FLEET_ROUNDS: of the faulty fleet

Exit code 77, with the reason as the last line, where such hosts cannot be made. Which host is named is judged, never a time.
"""

import json
import os
import subprocess
import sys
import time
import unittest

from fleet_case import MPI, FleetCase
from net_hosts import NetHosts, Unavailable

ROUNDS = int(os.environ.get("MEMSWEEP_FLEET_ROUNDS", "1"))
RUNS = 6  # of the faulty fleet, until one shows what it must
PATIENCE_S = 90
TIMED_OUT = (124, 137)  # of timeout(1): the command heard it, or was killed
KILLED_S = 25  # of a run that loses a host
OWN = ["--own", "bandwidth,latency", "--size", "8MiB", "--min-time", "50ms", "-n", "3",
       "-k", "probe_bandwidth/kernel=(copy|read)/.*threads=1$|probe_latency/.*size=1048576$"]
LINKS = ["--message", "2MiB", "--link-time", "2ms"]


class MpiFleet(FleetCase):
    @classmethod
    def setUpClass(cls):
        cls.hosts = NetHosts(4)

    @classmethod
    def tearDownClass(cls):
        cls.hosts.close()

    def setUp(self):
        super().setUp()
        for name in self.hosts.names:
            self.hosts.unshape(name)
        self.hosts.confine("", 1)

    def arguments(self, *more):
        return self.hosts.mpirun(str(MPI), "-o", str(self.folder / "%h.json"), "--gather", str(self.folder / "gathered.json"), *OWN, *LINKS, *more)

    def limited(self, seconds, *more):
        """As docs/fleet.md says: mpirun may hang once a host is gone."""
        return ["timeout", "-k", "5", str(seconds), *self.arguments(*more)]

    def run_mpi(self, *more):
        return self.check_code(0, subprocess.run(self.limited(PATIENCE_S, *more), capture_output=True, text=True, check=False))

    def came_to_its_end(self):
        done = subprocess.run(self.limited(PATIENCE_S), capture_output=True, text=True, check=False)
        if done.returncode not in TIMED_OUT:
            self.check_code(0, done)
        return done.returncode == 0

    def merged(self, code=0):
        results = sorted(str(path) for path in self.folder.glob(f"{self.hosts.mark}h*.json"))
        done = self.memsweep(code, "merge", *results, "-o", "fleet.json", "--expect", str(len(self.hosts.names)))
        return json.loads((self.folder / "fleet.json").read_text()), done

    @staticmethod
    def wrong_cells(fleet):
        """Cells that lack a value or have one where no link is."""
        return [(matrix["name"], i, j) for matrix in fleet["matrices"] for i, row in enumerate(matrix["values"]) for j, value in enumerate(row)
                if (value is not None) != (i != j if "ring" not in matrix["name"] else j == (i + 1) % 4)]

    def check_matrix(self, fleet):
        self.assertEqual(len(fleet["matrices"]), 6)
        for matrix in fleet["matrices"]:
            self.assertEqual(matrix["hosts"], self.hosts.names)
        self.assertEqual(self.wrong_cells(fleet), [])
        self.assertEqual([host["problems"] for host in fleet["hosts"]], [[]] * 4, "every byte was verified")

    def runs_until_only_the_faulty_are_named(self, faulty):
        """The hosts share two processors with whatever else runs here. One that was kept waiting is slow indeed, or does not
        answer in time, and beside slow hosts a faulty one does not stand out: such a run is repeated, RUNS in all at most.
        Those of them that came to their end are returned."""
        runs = []
        for _ in range(RUNS):
            if not self.came_to_its_end():
                continue
            fleet, _ = self.merged()
            gathered = json.loads((self.folder / "gathered.json").read_text())
            self.assertEqual(gathered["metrics"], fleet["metrics"])
            runs.append(fleet)
            if set(fleet["judgement"]["bad_hosts"]) == faulty and not self.wrong_cells(fleet):
                break
        return runs

    def test_faulty_hosts_are_named_and_no_other(self):
        shaped, confined = self.hosts.names[1:3]
        self.hosts.shape(shaped, "1gbit")
        self.hosts.confine(confined, 0.25)
        for number in range(ROUNDS):
            with self.subTest(round=number):
                runs = self.runs_until_only_the_faulty_are_named({shaped, confined})
                self.assertTrue(runs, "no run came to its end")
                complete = [fleet for fleet in runs if not self.wrong_cells(fleet)]
                report = self.memsweep(0, "report", "fleet.json").stdout
                self.assertTrue(complete, report)
                self.check_matrix(complete[-1])
                evidence = {(one["host"], "mpi_link" in one["case"]) for fleet in runs for one in fleet["judgement"]["outliers"] if one["worse"]}
                self.assertIn((shaped, True), evidence, report)
                self.assertIn((confined, False), evidence, report)
                always_named = set.intersection(*(set(fleet["judgement"]["bad_hosts"]) for fleet in runs))
                self.assertLessEqual(always_named, {shaped, confined}, report)
                self.assertLessEqual({shaped, confined}, set.union(*(set(fleet["judgement"]["bad_hosts"]) for fleet in runs)), report)
                self.memsweep(1 if runs[-1]["judgement"]["bad_hosts"] else 0, "report", "fleet.json", "--check")

    def test_a_host_killed_midway_costs_its_own_cases(self):
        victim, first = self.hosts.names[3], self.folder / f"{self.hosts.names[0]}.json"
        begin = time.monotonic()
        process = subprocess.Popen(self.limited(KILLED_S, "--patience", "2s", "--own-patience", "8s"),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while process.poll() is None and not first.exists() and time.monotonic() < begin + PATIENCE_S:
            time.sleep(0.05)
        self.hosts.kill(victim)
        output, _ = process.communicate()
        self.assertLess(time.monotonic() - begin, KILLED_S + 10)
        self.assertNotEqual(process.returncode, 0, output[-3000:])
        fleet, done = self.merged(3)
        self.assertIn(f"missing: {victim}", done.stderr)
        self.assertEqual(fleet["missing"], [victim])
        own = [metric for metric in fleet["metrics"] if metric["scenario"].startswith("probe_")]
        self.assertTrue(own)
        for metric in own:
            self.assertTrue(all(count > 0 for count in metric["n"]), (metric["case"], metric["n"], output[-3000:]))
        self.assertEqual([host["name"] for host in fleet["hosts"]], self.hosts.names[:3])
        before = {host["name"]: host["run_ids"] for host in fleet["hosts"]}
        self.run_mpi("--resume")
        fleet, _ = self.merged()
        self.check_matrix(fleet)
        self.assertEqual({host["name"]: host["run_ids"] for host in fleet["hosts"] if host["name"] != victim}, before)


if __name__ == "__main__":
    if not MPI.exists():
        print("memsweep-mpi was not built: MPI was not found")
        sys.exit(77)
    try:
        NetHosts(1).close()
    except Unavailable as error:
        print(f"hosts cannot be made here: {error}")
        sys.exit(77)
    unittest.main(verbosity=2)
