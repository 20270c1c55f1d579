"""Of a server that gives up rights before it forks its workers nothing is missing without a word."""

import ctypes
import json
import os
import subprocess
import unittest

from memsweep_cli import execute
from test_record import LONGEST_S, Recording, program

PROGRAM = program("recorded_prefork")
NEW_MOUNTS = 0x00020000
NEW_NETWORK = 0x40000000
REASON = "can make no file where it is recorded"


def may_unshare(flags):
    """In a process of its own: whether the kernel gives it such namespaces."""
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

    def parted(self):
        """What the program does before it forks, by the name of the case."""
        ways = {"user": ("user",), "root": ("root", self.root), "user and root": ("root", self.root, "user"), "closed": ("user", "descriptors")}
        if may_unshare(NEW_MOUNTS):
            ways["mounts"] = ("mounts", self.hidden)
            ways["mounts and user"] = ("mounts", self.hidden, "user")
        return ways

    def processes(self, outcome):
        """The parent, and all that came of it, with their descriptors."""
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

    def test_each_that_is_not_recorded_is_named(self):
        for name, words in self.parted().items():
            with self.subTest(name):
                outcome = self.record(PROGRAM, *words, code=2)
                self.assert_all_named(outcome, outcome.errors)

    def test_each_that_is_not_recorded_is_named_after_a_kill(self):
        script = '"$@" && kill -9 "$PPID"'
        outcome = execute("record", "-q", "-o", self.trace, "--", "sh", "-c", script, "sh", PROGRAM, "user", timeout=LONGEST_S)
        self.assertEqual(outcome.code, -9, outcome)
        recovered = self.expect(2, "record", "--recover", f"{self.trace}.recording", "-o", self.trace)
        self.assert_all_named(outcome, recovered.errors)

    def counted_allocations(self, *words):
        """None, and why; or the number."""
        self.expect(0, "run", "-q", "--count", "-n", "1", "--warmup", "0", "-o", "r.json", "--", PROGRAM, *words, cwd=self.folder)
        (case,) = json.loads((self.folder / "r.json").read_text())["cases"]
        (allocations,) = case["metrics"]["allocations"]["values"]
        return allocations, case.get("facts", {}).get("uncounted", "")

    def test_none_is_missing_in_a_count_without_a_word(self):
        all_of_them = self.counted_allocations()
        for name, words in self.parted().items():
            with self.subTest(name):
                allocations, why_not = self.counted_allocations(*words)
                if allocations is None:
                    self.assertIn(REASON, why_not)
                else:
                    self.assertEqual((allocations, why_not), all_of_them)


if __name__ == "__main__":
    unittest.main()
