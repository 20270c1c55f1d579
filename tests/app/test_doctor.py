"""What `doctor` says of this machine, whatever machine it is: its shape, its exit code, and that anybody may ask."""

import os
import pathlib
import unittest

from memsweep_cli import UTC, CliTest, binary_for_others, sanitized, strict_json

CHECKS = ["governor", "turbo", "virtualisation", "aslr", "perf-events", "huge-pages", "overcommit", "cgroup-limit", "swap", "pressure",
          "damon", "numa-balancing", "locked-memory", "free-page-reporting", "cold-memory", "cpu-canary", "memory-canary", "steal"]
NOBODY = 65534


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Doctor(CliTest):
    def checkup(self, **options):
        outcome = self.memsweep("doctor", "--json", **options)
        document = strict_json(outcome.out)
        self.assertEqual((document["format"], document["format_version"]), ("memsweep-doctor", 1))
        spoils = [check["name"] for check in document["checks"] if check["status"] == "spoils"]
        self.assertEqual(outcome.code, 1 if spoils else 0, f"\n{outcome}")
        self.assertEqual(document["fit"], not spoils)
        self.assertEqual(outcome.err, b"")
        return document, outcome

    def test_every_check_is_there_and_says_why(self):
        document, outcome = self.checkup()
        self.assertRegex(document["taken"], UTC)
        self.assertEqual([check["name"] for check in document["checks"]], CHECKS)
        for check in document["checks"]:
            with self.subTest(check["name"]):
                self.assertIn(check["status"], ("ok", "note", "spoils"))
                self.assertGreater(len(check["why"]), 20)
                if check["status"] == "ok":
                    self.assertTrue(check["value"])
                    self.assertIsNone(check["command"])
        counts = {status: sum(check["status"] == status for check in document["checks"]) for status in ("ok", "note", "spoils")}
        self.assertEqual(document["summary"], counts)
        if not sanitized():
            self.assertLess(outcome.seconds, 5)

    def test_settings_are_those_of_this_machine(self):
        checks = {check["name"]: check for check in self.checkup()[0]["checks"]}
        thp = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
        if thp.exists():
            self.assertIn(f"[{checks['huge-pages']['value']}]", thp.read_text())
        overcommit = {"0": "heuristic", "1": "always", "2": "never"}[pathlib.Path("/proc/sys/vm/overcommit_memory").read_text().strip()]
        self.assertEqual(checks["overcommit"]["value"], overcommit)
        for name in ("cpu-canary", "memory-canary"):
            self.assertGreater(checks[name]["figures"]["median"]["value"], 0)
            self.assertEqual(checks[name]["figures"]["median"]["unit"], "s")

    def test_an_ordinary_user_may_ask(self):
        if os.geteuid() != 0:
            self.skipTest("this is one: the other tests are enough")
        os.chmod(self.folder, 0o755)
        document, _ = self.checkup(prepare=as_nobody, binary=binary_for_others())
        self.assertEqual([check["name"] for check in document["checks"]], CHECKS)

    def test_text_has_the_verdict_first_and_every_check(self):
        outcome = self.memsweep("doctor")
        self.assertIn(outcome.code, (0, 1))
        self.assertRegex(outcome.text, r"^(Fit to measure on|Not fit to measure on as it is): ")
        self.assertEqual(outcome.text.startswith("Fit"), outcome.code == 0)
        for name in CHECKS:
            self.assertIn(name, outcome.text)
        for line in outcome.text.splitlines():
            self.assertTrue(len(line) <= 80 or line.startswith("    $ "), line)
        self.assertEqual(self.memsweep("doctor", "-q").out, b"")

    def test_wrong_usage(self):
        self.assertEqual(self.memsweep("doctor", "house").code, 2)
        self.assertEqual(self.memsweep("doctor", "--jsno").code, 2)

    def test_little_memory_is_no_error(self):
        import resource
        if sanitized():
            self.leave_out(self.id(), "a sanitizer reserves address space")
        document, _ = self.checkup(limits=[(resource.RLIMIT_AS, 40 << 20)])
        self.assertEqual([check["name"] for check in document["checks"]], CHECKS)


if __name__ == "__main__":
    unittest.main()
