"""What memsweep does for itself (it prepares, calibrates, counts what is left) is in no curve and no peak of what it measures."""

import csv
import io
import itertools
import os
import signal
import subprocess
import sys
import unittest

from memsweep_cli import BINARY, MIB, CliTest, alloc, drop, idle, sample, sanitized, scenario, strict_json

# The kernel's counters of resident pages lag behind by some pages on each processor.
SLACK = 2 * MIB
HELD = "1MiB"
BODIES = {
    "steps": [{"op": "repeat", "times": 20, "steps": [alloc(size=HELD), {"op": "write", "target": "a", "touch": "full"}, idle("1ms"), drop()]}],
    "parallel": [{"op": "parallel", "threads": 2, "steps": [
        {"op": "repeat", "times": 20, "steps": [alloc(size=HELD), {"op": "write", "target": "a", "touch": "full"}, idle("1ms"), drop()]}]}],
}


class Series(CliTest):
    """A loop that never holds more than 1 MiB (each thread), in every way in which a worker runs one."""

    def check(self, name, *args):
        self.expect(0, "run", f"{name}.json", "-q", "-o", f"{name}.result.json", "-r", f"csv-series={name}.csv", "-r", f"trace={name}.trace",
                    *args)
        result = self.result(f"{name}.result.json")
        sampled = 0
        for case in result["cases"]:
            peaks = case["metrics"]["working_set_peak"]["values"]
            for series in case["series"]:
                if series["name"] == "working_set":
                    sampled += len(series["v"])
                    self.assertLessEqual(max(series["v"]), peaks[series["repetition"]] + SLACK, f"{name}: {case['id']}, {series['repetition']}")
        self.assertGreater(sampled, 0)
        most = max(max(case["metrics"]["working_set_peak"]["values"]) for case in result["cases"])
        rows = csv.DictReader(io.StringIO((self.folder / f"{name}.csv").read_text()))
        self.assertLessEqual(max(float(row["value"]) for row in rows if row["series"] == "working_set"), most + SLACK, f"{name}: csv-series")
        events = strict_json((self.folder / f"{name}.trace").read_bytes())["traceEvents"]
        self.assertLessEqual(max(event["args"]["bytes"] for event in events if event["ph"] == "C" and event["name"] == "working_set"),
                             most + SLACK, f"{name}: trace")

    def test_no_curve_is_above_the_peak_beside_it(self):
        for (body, steps), isolation, warmup in itertools.product(BODIES.items(), ("process", "none"), (0, 1)):
            name = f"{body}_{isolation}_{warmup}"
            with self.subTest(name):
                self.write(f"{name}.json", scenario(name, repetitions=2, warmup=warmup, isolation=isolation, series={"interval": "1ms"},
                                                    axes={"mode": ["refcount", "finalizer"]} if body == "steps" else {"mode": ["refcount"]},
                                                    release={"mode": "${axis.mode}"}, steps=[*steps, sample("end")]))
                self.check(name)

    def test_no_more_samples_than_the_interval_asks_for(self):
        for interval, seconds in (("10ms", 0.01), ("150ms", 0.15)):
            self.write("slow.json", scenario("slow", repetitions=1, warmup=0, series={"interval": interval},
                                             steps=[alloc(size=HELD), idle("900ms"), drop(), sample("end")]))
            self.expect(0, "run", "slow.json", "-q", "-o", "r.json")
            (case,) = self.result("r.json")["cases"]
            self.assertTrue(case["series"])
            for series in case["series"]:
                self.assertLessEqual(len(series["t"]), series["t"][-1] / seconds + 3, f"{series['name']}, {interval}")

    def test_of_every_memory_whose_faults_are_priced(self):
        for memory in ({"resource": "malloc"}, {"resource": "pages"}, {"resource": "pages", "pages": "thp"}, {"resource": "memfd"}):
            name = "_".join(memory.values())
            with self.subTest(name):
                self.write(f"{name}.json", scenario(name, repetitions=2, series={"interval": "1ms"}, memory=memory,
                                                    steps=[*BODIES["steps"], sample("end")]))
                self.check(name)

    def test_a_sweep_in_one_worker(self):
        self.write("sweep.json", scenario("sweep", repetitions=2, series={"interval": "1ms"}, axes={"placement": ["alone", "sweep"], "n": [1, 2]},
                                          steps=[{"op": "repeat", "times": "${axis.n}", "steps": BODIES["steps"]}, sample("end")]))
        self.check("sweep")


class Watched(CliTest):
    """Of a program that is watched, also of one that ends before it can be sampled."""

    def watch(self, *command, **options):
        self.expect(0, "watch", "-i", "5s", "-f", "json", "-o", "w.json", "--", *command, **options)
        return {name: metric["values"][0] for name, metric in self.case(self.result("w.json"), "watch")["metrics"].items()}

    @unittest.skipIf(sanitized(), "a sanitizer's memory is no program's")
    def test_the_peak_is_the_program_s_own(self):
        """Whatever memsweep holds itself: the kernel hands the mark of whoever starts a program down to it."""
        for command in (["sleep", "0.05"], ["true"], ["sh", "-c", ":"]):
            with self.subTest(command):
                self.expect(0, "run", "-q", "-n", "3", "-o", "r.json", "--", *command)
                runs = self.result("r.json")["cases"][0]["metrics"]["working_set_peak"]["values"]
                self.assertLess(abs(self.watch(*command)["working_set_peak"] - runs[0]), MIB)

    def test_the_clock_runs_as_long_as_the_processor_works(self):
        processors = len(os.sched_getaffinity(0))
        for command in (["true"], ["ls", "/"], ["sh", "-c", ":"]) * 7:
            with self.subTest(command):
                found = self.watch(*command)
                self.assertLessEqual(found["cpu_time"], found["wall_time"] * processors)
                if command == ["true"]:  # has one thread
                    self.assertLessEqual(found["cpu_time"], found["wall_time"])
                self.assertGreater(found["minor_faults"], 0)

    def test_without_a_sample_it_says_so(self):
        for _ in range(10):
            text = self.expect(0, "watch", "--", "true").errors
            self.assertNotIn("0 samples", text)
            self.assertRegex(text, r"working_set +\S* *peak \d")
            self.assertRegex(text, r"; (\d+ samples?|no sample, for it ended before the first: .*the kernel's)\n$")

    def test_what_nobody_knows_is_not_0(self):
        outcome = self.memsweep("watch", "-i", "5s", "-o", "w.json", "--", "sh", "-c", "kill -KILL $PPID; sleep 0.05")
        self.assertIn("processor time not known: ", outcome.errors)
        self.assertRegex(outcome.errors, r"minor_faults .*not known: ")
        case = self.case(self.result("w.json"), "watch")
        for metric in ("cpu_time", "minor_faults", "major_faults"):
            self.assertEqual(case["metrics"][metric]["values"], [None])
            self.assertIn("guard", case["metrics"][metric]["reason"])

    def test_it_is_known_where_nobody_waits_for_children(self):
        outcome = self.expect(0, "watch", "--", "sleep", "0.05", prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertNotIn("not known", outcome.errors)

    def test_the_program_has_what_its_user_gave_it(self):
        """Descriptors, closed ones too, signals, and the session."""
        reading, writing = os.pipe()
        writes = f"import os; os.write({writing}, b'given\\n')"
        subprocess.run([BINARY, "watch", "--", sys.executable, "-c", writes], pass_fds=(writing,), capture_output=True, check=True)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.assertEqual(pipe.read(), "given\n")
        self.expect(0, "watch", "--", "sh", "-c", ":", prepare=lambda: os.close(0))
        session = 'read -r _ _ _ memsweep _ < /proc/$PPID/stat; ps -o sid= -p $$ -p $memsweep'
        self.assertEqual(len(set(self.expect(0, "watch", "--", "sh", "-c", session).text.split())), 1)
        self.assertEqual(self.expect(0, "watch", "--", "sh", "-c", "ls /proc/$$/fd").text.split(), ["0", "1", "2"], "and nothing of ours")


if __name__ == "__main__":
    unittest.main()
