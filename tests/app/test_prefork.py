"""Of a server that gives up rights before it forks its workers nothing is missing, or not without a word."""

import ctypes
import json
import os
import subprocess
import unittest

from memsweep_cli import execute
from test_record import CALLS, LONGEST_S, Recording, program

PROGRAM = program("recorded_prefork")
NEW_MOUNTS = 0x00020000
NEW_NETWORK = 0x40000000
REASON = "can make no file where it is recorded"


def may_unshare(flags):
    """Whether the kernel gives a process such namespaces."""
    library = ctypes.CDLL(None)
    done = subprocess.run(["true"], preexec_fn=lambda: library.unshare(flags) == 0 or os._exit(1), check=False)
    return done.returncode == 0


class Prefork(Recording):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.leave_out(self.id(), "only root gives up rights that the recorder needs")
        self.root = self.folder / "root"
        self.root.mkdir()
        self.hidden = self.folder / "hidden"
        self.hidden.mkdir()
        self.trace = self.hidden / "t.mst"

    def ways(self):
        """What the program does before it forks, by the name of the case."""
        found = {"user": ("user",), "root": ("root", self.root), "root and user": ("root", self.root, "user"), "closed": ("user", "descriptors")}
        if may_unshare(NEW_MOUNTS):
            found["mounts"] = ("mounts", self.hidden)
            found["mounts and user"] = ("mounts", self.hidden, "user")
        return found

    def apart(self):
        """The same where nobody answers."""
        if not may_unshare(NEW_NETWORK):
            self.leave_out(self.id(), "no network namespaces of our own")
        return {name: ("network", *words) for name, words in self.ways().items()}

    def processes(self, outcome):
        """The parent, and the descriptors of each process."""
        lines = [[int(word) for word in line.split()] for line in outcome.out.splitlines()]
        self.assertEqual(len(lines), 9, outcome)
        return lines[0][0], {line[0]: line[2:] for line in lines}

    def assert_all_named(self, outcome, said):
        unrecorded = self.info()["unrecorded"]
        parent, processes = self.processes(outcome)
        self.assertEqual(sorted(one["process"] for one in unrecorded), sorted(set(processes) - {parent}))
        for one in unrecorded:
            self.assertEqual(one["program"], os.fspath(PROGRAM))
            self.assertIn(REASON, one["reason"])
        self.assertIn(REASON, said)

    def assert_all_recorded(self, outcome):
        info = self.info()
        _, processes = self.processes(outcome)
        recorded = {one["process"]: one["program"] for one in info["by_process"]}
        self.assertEqual({process: recorded.get(process) for process in processes}, dict.fromkeys(processes, PROGRAM.name))
        self.assertEqual((info["unrecorded"], info.get("facts", {}).get("lost_events", "0")), ([], "0"))

    def killed(self, *words):
        """What the program wrote, and what the recovery said, where memsweep was killed behind it."""
        outcome = execute("record", "-q", "-o", self.trace, "--", "sh", "-c", '"$@" && kill -9 "$PPID"', "sh", PROGRAM, *words, timeout=LONGEST_S)
        self.assertEqual(outcome.code, -9, outcome)
        return outcome, execute("record", "--recover", f"{self.trace}.recording", "-o", self.trace, timeout=LONGEST_S)

    def counted_allocations(self, *words):
        """The number, or None and why."""
        self.expect(0, "run", "-q", "--count", "-n", "1", "--warmup", "0", "-o", "r.json", "--", PROGRAM, *words, cwd=self.folder)
        (case,) = json.loads((self.folder / "r.json").read_text())["cases"]
        (allocations,) = case["metrics"]["allocations"]["values"]
        return allocations, case.get("facts", {}).get("uncounted", "")

    def test_each_is_recorded(self):
        for name, words in self.ways().items():
            with self.subTest(name):
                info, counts = self.counted(PROGRAM, *words)
                self.assertEqual({kind: info["by_kind"].get(kind, 0) for kind in CALLS}, counts)
                self.assertEqual(info["unrecorded"], [])
                self.assert_all_recorded(self.record(PROGRAM, *words))

    def test_each_is_recorded_after_a_kill(self):
        outcome, recovered = self.killed("user")
        self.assertEqual(recovered.code, 0, recovered)
        self.assert_all_recorded(outcome)

    def test_each_stack_is_there(self):
        for name, words in self.ways().items():
            with self.subTest(name):
                self.record(PROGRAM, *words, options=["--stacks"])
                said = self.expect(0, "info", "--by", "site", self.trace).out
                self.assertRegex(said, rb"work\(int\) +100\.0%")
                self.assertNotIn(b"no stack", said)

    def test_the_program_sees_the_same_descriptors(self):
        _, usual = self.processes(self.record(PROGRAM))
        for name, words in self.ways().items():
            if "descriptors" not in words:
                with self.subTest(name):
                    _, seen = self.processes(self.record(PROGRAM, *words))
                    self.assertEqual(sorted(seen.values()), sorted(usual.values()))

    def test_each_is_counted(self):
        usual = self.counted_allocations()
        self.assertIsNotNone(usual[0], usual)
        for name, words in self.ways().items():
            with self.subTest(name):
                self.assertEqual(self.counted_allocations(*words), usual)

    def test_each_that_is_not_recorded_is_named(self):
        for name, words in self.apart().items():
            with self.subTest(name):
                outcome = self.record(PROGRAM, *words, code=2)
                self.assert_all_named(outcome, outcome.errors)

    def test_each_that_is_not_recorded_is_named_after_a_kill(self):
        outcome, recovered = self.killed(*self.apart()["user"])
        self.assertEqual(recovered.code, 2, recovered)
        self.assert_all_named(outcome, recovered.errors)

    def test_none_is_missing_in_a_count_without_a_word(self):
        usual = self.counted_allocations()
        for name, words in self.apart().items():
            with self.subTest(name):
                allocations, why_not = self.counted_allocations(*words)
                if allocations is None:
                    self.assertIn(REASON, why_not)
                else:
                    self.assertEqual((allocations, why_not), usual)


if __name__ == "__main__":
    unittest.main()
