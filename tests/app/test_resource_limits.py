"""Refused memory, threads, processes, stacks, descriptors and file sizes are no bugs: an answer that names them, or the work done.

MEMSWEEP_TEST_LIMITS   how many commands are run under a limit; 25 unless told
"""

import os
import random
import re
import resource
import shutil
import unittest

from memsweep_cli import MIB, CliTest, binary_for_others, environment, execute, sanitized, scenario, seed

TRIES = int(os.environ.get("MEMSWEEP_TEST_LIMITS") or 25)
MOST_SECONDS = 120  # against hanging, no expectation
ANSWERS = {0, 1, 2, 3, 4, 5}
KIB = 1 << 10

COMMANDS = {"run": ["small.json", "-o", "out/r.json"],
            "probe": ["bandwidth", "faults", "--size", "64KiB", "-n", "1", "--min-time", "1ms"],
            "record": ["-o", "out/o.mst", "--", "true"], "watch": ["--", "true"],
            "replay": ["t.mst", "--on", "glibc,pool:tls", "--release", "immediate,finalizer", "--settle", "0s", "-n", "1", "-o", "out/p.json"],
            "fit": ["t.mst"], "info": ["t.mst"], "export": ["t.mst", "-f", "rmm", "-o", "out/e"], "validate": ["small.json"], "list": ["metrics"],
            "profile": ["fit", "loop.csv", "-o", "out/my.json"], "import": ["log.csv", "-o", "out/i.mst"], "report": ["r.json", "-f", "html", "-o", "out/h.html"],
            "compare": ["r.json", "s.json"], "merge": ["r.json", "s.json", "-o", "out/m.json"]}
# From where the dynamic linker has what it needs, to where nothing is refused.
LIMITS = {"memory": (resource.RLIMIT_AS, [size * MIB for size in (20, 24, 28, 32, 36, 40, 48, 64, 96, 160, 256, 512)]),
          "data": (resource.RLIMIT_DATA, [512 * KIB, *(size * MIB for size in (1, 2, 4, 8, 12, 16, 24, 32, 64))]),
          "stack": (resource.RLIMIT_STACK, [size * KIB for size in (64, 96, 128, 256, 511, 512, 1024)]),
          "processes": (resource.RLIMIT_NPROC, [0, 1, 2, 3, 4, 5, 6, 8, 12]),
          "descriptors": (resource.RLIMIT_NOFILE, [4, 5, 6, 7, 8, 9, 10, 12, 16]),
          "file size": (resource.RLIMIT_FSIZE, [0, 1, 1024, 4096, 64 * KIB, 200 * KIB, MIB, 2 * MIB])}
NAMED = re.compile(r"memory|thread|process|stack|descriptor|Too many open files|File too large|Resource temporarily unavailable", re.IGNORECASE)
# The linker's own refusals, of memsweep or of the program that it runs, come before any code of ours.
LINKER = re.compile(r"error while loading shared libraries|cannot allocate TLS|cannot map zero-fill")


class Limits(CliTest):
    def setUp(self):
        super().setUp()
        if sanitized():
            self.skipTest("sanitizers need more than these limits allow")
        self.write("small.json", scenario("small", axes={"mode": ["refcount", "finalizer"]}, release={"mode": "${axis.mode}"}))
        for result in ("r.json", "s.json"):
            self.expect(0, "run", "small.json", "-q", "-o", result)
        rows = ["Thread,Time,Action,Pointer,Size,Stream"]
        for i in range(200):
            rows.append(f"1,00:00:00.{i:06},allocate,0x{0x1000 * (i + 1):x},{100 + i},0")
            rows.append(f"2,00:00:00.{i:06},free,0x{0x1000 * (i + 1):x},{100 + i},0")
        self.write("log.csv", "\n".join(rows) + "\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst")
        self.write("loop.csv", "# command: python3 repro.py loop cycle 400 8 0\ni,unreleased,gc0,gc1,gc2\n0,1,0,0,0\n300,301,0,0,0\n301,1,1,0,0\n")
        self.folder.chmod(0o777)

    def check(self, command, limit, value):
        kind = LIMITS[limit][0]
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        out.chmod(0o777)

        def limited():
            if kind == resource.RLIMIT_NPROC and os.geteuid() == 0:  # whom that limit does not hold
                os.setgroups([])
                os.setgid(65534)
                os.setuid(60_000 + os.getpid() % 5000)  # nobody else's, so that only ours are counted
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(kind, (value, value))

        outcome = execute(command, *COMMANDS[command], cwd=self.folder, prepare=limited, timeout=MOST_SECONDS,
                          binary=binary_for_others(), env=environment(TMPDIR=str(out)))
        said = outcome.text + outcome.errors
        told = f"{limit} limited to {value}\n{outcome}"
        if outcome.code == 127 or (outcome.code != 0 and command in ("record", "watch")):  # these end as their program does
            if LINKER.search(said):
                return
        self.assertIn(outcome.code, ANSWERS, told)
        for word in ("internal error", "terminate called", "Traceback", "nothing was recorded: no process"):
            self.assertNotIn(word, said, told)
        if outcome.code not in (0, 5):  # 5: two runs of one repetition have no verdict
            self.assertRegex(said, NAMED, told)

    def test_refused_resources_are_named(self):
        rng = random.Random(seed("limits"))
        for _ in range(TRIES):
            limit = rng.choice(sorted(LIMITS))
            with self.subTest():
                self.check(rng.choice(sorted(COMMANDS)), limit, rng.choice(LIMITS[limit][1]))

    def test_threads_of_a_replay_and_of_finalizers(self):
        for most in (2, 3, 4, 5):
            for command in ("run", "replay"):
                with self.subTest(command, most=most):
                    self.check(command, "processes", most)

    def test_a_trace_whose_chunks_cannot_be_decompressed(self):
        for value in (1, 2):
            self.check("replay", "data", value * MIB)
            self.check("info", "data", value * MIB)

    def test_a_stack_that_is_too_small(self):
        self.check("report", "stack", 64 * KIB)


if __name__ == "__main__":
    unittest.main()
