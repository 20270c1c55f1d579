"""Two programs of a round at the same time: on a processor each, and whatever one does is its own affair."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, NO_TIMES, SLEEP_SECONDS, CliTest, default_signals, environment, execute, left_sleepers

PROGRAM = BINARY.parent / "recorded_amount"
FEW = ("-n", "2", "--warmup", "0")

# Says where it runs, and waits until the other of its round is there: who is counted runs alone.
MEET = r"""
[ -n "$LD_PRELOAD" ] && exit 0
grep Cpus_allowed_list: /proc/self/status >> $1.log
n=$(wc -l < $1.log)
touch $1.$n
i=0
while [ ! -e $2.$n ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i + 1)); done
[ -e $2.$n ]
"""


def has_two_processors():
    tried = execute("run", "-q", "-n", "1", "--warmup", "0", "-o", "-", "--duet", "--against", "true", "--", "true")
    return "two processors of one kind" not in tried.errors


def shell(script):
    return ["sh", "-c", script]


class Duet(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not has_two_processors():
            print("skipped: run --duet: this process may not run on two processors of one kind", file=sys.stderr)
            raise unittest.SkipTest("no two processors of one kind")

    def setUp(self):
        super().setUp()
        self.path = self.folder / "r.json"

    def tearDown(self):
        self.assertEqual(left_sleepers(), [], "nothing is left behind")
        super().tearDown()

    def arguments(self, base, candidate, *options):
        return ["run", "-o", self.path, "--duet", *NO_TIMES, *options, "--against", shlex.join(base), "--", *candidate]

    def duet(self, code, base, candidate, *options):
        outcome = self.expect(code, *self.arguments(base, candidate, *options))
        self.result = json.loads(self.path.read_text())
        self.cases = {case["params"]["build"]: case for case in self.result["cases"]}
        return outcome

    def statuses(self):
        return self.cases["base"]["status"], self.cases["candidate"]["status"]


class Together(Duet):
    def test_both_run_at_the_same_time_each_on_a_processor_of_its_own(self):
        (self.folder / "meet.sh").write_text(MEET)
        self.duet(0, ["sh", "meet.sh", "a", "b"], ["sh", "meet.sh", "b", "a"], "-n", "12", "--warmup", "1", "--seed", "1")
        self.assertEqual(self.statuses(), ("ok", "ok"))
        places = [[int(line.split()[1]) for line in (self.folder / f"{name}.log").read_text().splitlines()] for name in "ab"]
        self.assertEqual(len(places[0]), len(places[1]))
        self.assertGreaterEqual(len(places[0]), 13)
        pair = self.result["run"]["processors"]
        for of_both in zip(*places):
            self.assertEqual(sorted(of_both), sorted(pair))
        self.assertEqual(set(places[0]), set(pair), "which is on which is drawn anew")
        self.assertIs(self.result["run"]["duet"], True)

    def test_the_result_and_its_reports_say_so(self):
        outcome = self.duet(0, ["true"], ["true"], "-n", "7", "-r", "md=s.md", "-r", "html=p.html", "-r", "junit=j.xml")
        first, second = self.result["run"]["processors"]
        words = f"each on one of the processors {first} and {second}"
        self.assertIn(words, " ".join(outcome.text.split()))
        for name in ("s.md", "p.html"):
            self.assertIn(words, (self.folder / name).read_text(encoding="utf-8"), name)
        self.assertIn(words, self.expect(0, "report", self.path, "-f", "html").text)
        self.assertIn(words, self.expect(0, "report", self.path, "-f", "md").text)
        again = self.expect(0, "report", self.path, "-f", "json")
        self.assertEqual(json.loads(again.text)["run"]["processors"], [first, second])

    def test_turns_say_nothing_of_it(self):
        outcome = self.expect(0, "run", "-o", self.path, *NO_TIMES, "-n", "7", "--against", "true", "--", "true")
        run = json.loads(self.path.read_text())["run"]
        self.assertNotIn("duet", run)
        self.assertNotIn("processors", run)
        self.assertNotIn("duet", outcome.text)

    def test_exact_counts_are_found(self):
        words = [[os.fspath(PROGRAM), count, "64", "0", "done"] for count in ("1000", "1020")]
        outcome = self.duet(1, *words)
        self.assertIn("regressed", outcome.text)
        counts = [[value for value in self.cases[build]["metrics"]["allocations"]["values"] if value is not None]
                  for build in ("base", "candidate")]
        self.assertEqual(counts[1][0] - counts[0][0], 20)
        self.assertEqual(self.cases["base"]["repetitions"], self.cases["candidate"]["repetitions"])

    def test_pairs_of_several_cases(self):
        self.duet(0, shell("exit 0 # ${axis.n}"), shell("exit 0 # ${axis.n}"), "-a", "n=[1,2]", "-n", "7")
        self.assertEqual([case["status"] for case in self.result["cases"]], ["ok"] * 4)
        self.assertEqual([case["repetitions"] for case in self.result["cases"]], [7] * 4)

    def test_events_are_those_of_turns(self):
        self.duet(5, ["true"], ["true"], *FEW, "--events", "e")
        events = [json.loads(line) for line in (self.folder / "e").read_text().splitlines()]
        ended = [event for event in events if event["type"] == "repetition"]
        self.assertEqual(len(ended), 4)
        self.assertEqual(len({event["pid"] for event in ended}), 4)
        begun = {event["pid"] for event in events if event["type"] in ("case_start", "repetition_start")}
        self.assertEqual(begun, {event["pid"] for event in ended})


class Misbehaviour(Duet):
    def test_one_fails(self):
        self.duet(3, ["true"], ["false"], *FEW)
        self.assertEqual(self.statuses(), ("ok", "error"))
        self.assertGreaterEqual(self.cases["base"]["repetitions"], 1)

    def test_one_is_killed(self):
        self.duet(3, shell("kill -KILL $$"), ["true"], *FEW)
        self.assertEqual(self.statuses(), ("error", "ok"))
        self.assertIn("SIGKILL", self.cases["base"]["reason"])

    def test_one_hangs(self):
        script = f"trap '' TERM; sleep {SLEEP_SECONDS} & setsid sleep {SLEEP_SECONDS} & while :; do sleep 1; done"
        begin = time.monotonic()
        self.duet(3, shell(script), ["true"], *FEW, "--timeout", "5s")
        self.assertLess(time.monotonic() - begin, 120, "whatever it does, the wait ends")
        self.assertEqual(self.statuses(), ("timeout", "ok"))
        self.assertGreaterEqual(self.cases["candidate"]["repetitions"], 1)

    def test_one_leaves_processes_behind(self):
        self.duet(5, shell(f"setsid sleep {SLEEP_SECONDS} & sleep {SLEEP_SECONDS} & sleep 0.3"), shell("sleep 0.3"), *FEW)
        self.assertEqual(self.statuses(), ("ok", "ok"))
        self.assertIn("killed", self.cases["base"]["facts"]["left behind"])
        self.assertNotIn("left behind", self.cases["candidate"].get("facts", {}))

    def test_one_prints_something_else(self):
        self.duet(1, ["echo", "one"], ["echo", "two"], *FEW, "--stdout", "checksum")
        self.assertEqual(self.cases["candidate"]["status"], "failed")

    def test_both_cannot_be_run(self):
        outcome = execute(*self.arguments(["/no/such/program"], ["/none/either"]), cwd=self.folder)
        self.assertEqual(outcome.code, 2)
        self.assertFalse(self.path.exists())


class Interruption(Duet):
    def running(self, program, sleeping):
        """With both programs at work."""
        process = subprocess.Popen([BINARY, *self.arguments(program, program, "-n", "50")], env=environment(), cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals, start_new_session=True)
        self.wait_for(lambda: len(left_sleepers()) >= sleeping)
        return process

    def wait_for(self, what):
        deadline = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_ctrl_c_ends_both(self):
        process = self.running(shell(f"setsid sleep {SLEEP_SECONDS} & sleep {SLEEP_SECONDS}"), 4)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(process.wait(60), 130)
        self.assertTrue(json.loads(self.path.read_text())["run"]["interrupted"])

    def test_sigterm_ends_both(self):
        process = self.running(shell(f"setsid sleep {SLEEP_SECONDS} & sleep {SLEEP_SECONDS}"), 4)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 143)

    def test_the_end_of_memsweep_ends_both(self):
        process = self.running(["sleep", SLEEP_SECONDS], 2)
        process.kill()
        process.wait()
        self.wait_for(lambda: not left_sleepers())


class Refusals(CliTest):
    def test_without_against(self):
        self.assertIn("--against", self.expect(2, "run", "--duet", "--", "true").errors)
        self.expect(2, "run", "--duet", "small")

    def refused(self, said, *options, **how):
        outcome = execute("run", "-o", "r.json", "--duet", *options, "--against", "true", "--", "true", cwd=self.folder, **how)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn(said, outcome.errors)
        self.assertEqual(list(self.folder.iterdir()), [], "nothing was measured, and nothing says that it was a duet")

    def test_on_one_processor(self):
        one = min(os.sched_getaffinity(0))
        self.refused("two processors", prepare=lambda: os.sched_setaffinity(0, {one}))

    def test_a_described_machine(self):
        self.refused("HWLOC_SYNTHETIC", env=environment(HWLOC_SYNTHETIC="core:4 pu:1"))

    def test_one_file_for_both(self):
        self.refused("--stdout", "--stdout", "printed")


if __name__ == "__main__":
    unittest.main()
