"""Scenarios with "ranks", and transfers between ranks in words, by three ranks of a real mpirun on this machine.

    python3 tests/fleet/test_ranks.py      MEMSWEEP: the binary, memsweep-mpi beside it

Exit code 77, with the reason as the last line, where there is no MPI. Bytes, places and exit codes are judged, never a time.
"""

import json
import os
import re
import shutil
import sys
import unittest

from fleet_case import MPI, FleetCase

RANKS = 3
PATIENCE_S = 150
PEER_PATIENCE = "60s"  # three ranks share two busy processors
PAGE = os.sysconf("SC_PAGESIZE")


class Ranks(FleetCase):
    def scenario(self, ranks, *transfers, **more):
        steps = [{"op": "transfer", "times": 3, "transfers": [{"src": src, "exe": "cpu", "dst": dst, "bytes": "64KiB"} for src, dst in step]} for step in transfers]
        document = {"format": "memsweep-scenario", "version": 1, "name": "between", "repetitions": 4, "ranks": ranks, "steps": steps,
                    "assert": [{"expr": "transfer_wrong_bytes.max == 0B"}, {"expr": "transferred_bytes.min == 192KiB"}]}
        path = self.folder / "between.json"
        path.write_text(json.dumps(document | more))
        return str(path)

    def run_mpi(self, *args, code=0):
        command = ["timeout", "-k", "5", str(PATIENCE_S), "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,tcp",
                   "--mca", "btl_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "1", "-n", str(RANKS), str(MPI), "-q",
                   "--patience", PEER_PATIENCE, "-o", str(self.folder / "%r.json"), "--gather", str(self.folder / "fleet.json"), *args]
        return self.call(code, *command)

    def results(self):
        return [json.loads((self.folder / f"{rank}.json").read_text()) for rank in range(RANKS)]

    def cases(self, rank):
        return {case["params"]["transfer"]: case for case in self.results()[rank]["cases"]}

    def check_measured(self, case, samples=4):
        self.assertEqual((case["status"], case["reason"]), ("ok", None))
        self.assertEqual(len(case["metrics"]["bandwidth"]["values"]), samples)
        self.assertTrue(all(value > 0 for value in case["metrics"]["bandwidth"]["values"]))
        self.assertEqual(case["metrics"]["transfer_wrong_bytes"]["values"], [0])

    def test_who_is_named_takes_part(self):
        there, back = "rank0:host -> rank2:host:pinned@node0", "rank2:host@node0 -> rank0:host"
        path = self.scenario(3, [there.split(" -> ")], [there.split(" -> "), back.split(" -> ")])
        self.run_mpi(path)
        first, idle, last = self.results()
        self.assertEqual(idle["cases"], [], "rank 1 is named nowhere")
        self.assertEqual(sorted(case["params"]["part"] for case in first["cases"]), ["1.1", "2.1", "2.2"])
        for result in (first, last):
            self.assertEqual([one["passed"] for one in result["assertions"]], [True] * 6)
            self.assertFalse(result["run"]["interrupted"])
            for case in result["cases"]:
                self.check_measured(case)
                self.assertEqual(case["metrics"]["transferred_bytes"]["values"], [3 * 65536] * 4)
                self.assertEqual(case["params"]["message"], "64KiB")
        self.assertEqual([case["id"] for case in first["cases"]], [case["id"] for case in last["cases"]])
        fleet = json.loads((self.folder / "fleet.json").read_text())
        self.assertEqual(len(fleet["matrices"]), 3)
        validated = self.memsweep(0, "validate", path)
        self.assertIn("ok, 1 case", validated.stdout)

    def test_the_kernel_says_where_the_data_lay(self):
        self.run_mpi(self.scenario("3+", [["rank1:host@node0", "rank2:host:4k@node0"]]))
        for rank in (1, 2):
            (case,) = self.cases(rank).values()
            for end in ("src", "dst"):
                pages = re.fullmatch(r"(\d+) pages on node 0 \(move_pages\)", case["facts"][f"{end}_placement"])
                self.assertTrue(pages, case["facts"])
                self.assertGreaterEqual(int(pages.group(1)) * PAGE, 65536)

    def test_in_words(self):
        there, device = "rank0:host:pinned -> rank1:host", "rank1:gpu0 -> rank2:gpu0"
        self.run_mpi(there, "rank2:host->cpu->rank1:host@node0", device, "rank0:host -> rank1:host@node999", "--message", "256KiB", "-n", "2")
        cases = self.cases(1)
        self.assertEqual(len(cases), 4)
        self.check_measured(cases[there], 2)
        self.check_measured(cases["rank2:host -> rank1:host@node0"], 2)
        for transfer, why in ((device, r"MPI takes no device memory|there is no gpu0|does not say"), ("rank0:host -> rank1:host@node999", "no memory on node 999")):
            self.assertEqual(cases[transfer]["status"], "skipped")
            self.assertRegex(cases[transfer]["reason"], why)
            self.assertNotIn("bandwidth", cases[transfer]["metrics"])
        self.assertEqual(self.cases(0)["rank0:host -> rank1:host@node999"]["reason"], cases["rank0:host -> rank1:host@node999"]["reason"])

    def test_too_many_or_too_few_ranks(self):
        for need, said in ((2, "needs 2 MPI ranks; this run has 3"), ("4+", "needs 4 or more MPI ranks; this run has 3")):
            with self.subTest(need):
                self.run_mpi(self.scenario(need, [["rank0:host", "rank1:host"]]))
                (case,) = self.cases(0).values()
                self.assertEqual((case["status"], case["reason"]), ("skipped", said))

    def test_an_assertion_that_does_not_hold(self):
        self.run_mpi(self.scenario(3, [["rank0:host", "rank1:host"]], **{"assert": [{"expr": "transferred_bytes.max == 1B"}]}), code=1)
        self.assertEqual([one["passed"] for one in self.results()[1]["assertions"]], [False])

    def test_resume_measures_what_is_lacking(self):
        path = self.scenario(3, [["rank0:host", "rank1:host"]], [["rank1:host", "rank2:host"]])
        self.run_mpi(path)
        kept = self.results()
        (self.folder / "2.json").unlink()
        lost = kept[1]
        lost["cases"] = [case for case in lost["cases"] if case["params"]["part"] == "1.1"]
        (self.folder / "1.json").write_text(json.dumps(lost))
        self.run_mpi(path, "--resume")
        again = self.results()
        self.assertEqual([case["metrics"]["bandwidth"]["values"] for case in again[0]["cases"]],
                         [case["metrics"]["bandwidth"]["values"] for case in kept[0]["cases"]], "not measured again")
        self.assertEqual(sorted(case["params"]["part"] for case in again[1]["cases"]), ["1.1", "2.1"])
        self.assertEqual([case["params"]["part"] for case in again[2]["cases"]], ["2.1"])
        self.run_mpi("rank0:host -> rank1:host", "--resume", code=2)

    def test_both_ways_at_once(self):
        fit, unfit = "rank1:host -> rank2:host", "rank2:host -> rank1:host@node999"
        self.run_mpi(unfit, fit, "--message", "4KiB", "-n", "2")
        for rank in (1, 2):
            cases = self.cases(rank)
            self.check_measured(cases[fit], 2)
            self.assertIn("no memory on node 999", cases[unfit]["reason"], "each flow takes the introduction of its own peer")

    def test_of_the_catalog(self):
        self.run_mpi("mpi_ranks")
        for case in self.results()[0]["cases"]:
            self.assertIn(case["status"], ("ok", "skipped"), case["reason"])
            if case["params"]["kind"] == "ordinary":
                self.check_measured(case, 7)

    def test_errors(self):
        self.assertIn("no rank 3: of 3 the last is rank 2", self.memsweep(2, "validate", self.scenario(3, [["rank0:host", "rank3:host"]])).stderr)
        self.assertIn("no rank 3", self.run_mpi(self.scenario(3, [["rank0:host", "rank3:host"]]), code=2).stderr)
        plain = self.folder / "plain.json"
        plain.write_text(json.dumps({"format": "memsweep-scenario", "version": 1, "name": "plain", "steps": [{"op": "idle", "duration": "1ms"}]}))
        self.assertIn('has no "ranks"', self.run_mpi(str(plain), code=2).stderr)
        for words, said in (("rank0:host -> rank0:host", "both ends are rank 0"), ("host -> rank1:host", "is no transfer"),
                            ("rank0:hots -> rank1:host", "no place"), ("rank0:host -> cpu0 -> rank1:host", "write cpu"),
                            ("host -> cpu -> rank1:host", "both ends name theirs")):
            self.assertIn(said, self.run_mpi(words, code=2).stderr, words)

    def test_one_process_skips_them(self):
        self.memsweep(4, "run", self.scenario(2, [["rank0:host", "rank1:host"]]), "-q", "-o", "one.json")
        (case,) = json.loads((self.folder / "one.json").read_text())["cases"]
        self.assertEqual((case["status"], case["reason"]), ("skipped", "needs 2 MPI ranks; run it with memsweep-mpi"))


if __name__ == "__main__":
    if not MPI.exists():
        print("memsweep-mpi was not built: MPI was not found")
        sys.exit(77)
    if shutil.which("mpirun") is None:
        print("mpirun is not installed")
        sys.exit(77)
    unittest.main(verbosity=2)
