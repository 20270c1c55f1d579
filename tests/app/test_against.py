"""Two programs compared in rounds: what changed is found, what did not change is no finding, and what was measured stays."""

import json
import os
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from memsweep_cli import BINARY, NO_TIMES, CliTest, default_signals, environment, event_lines

PROGRAM = BINARY.parent / "recorded_amount"
STATIC = BINARY.parent / "recorded_static"
EXACT = ("allocations", "allocated_bytes", "live_bytes_peak", "live_bytes_end")


def amount(blocks=1000, size=64, kept=0, word="done"):
    return [os.fspath(PROGRAM), str(blocks), str(size), str(kept), word]


class Against(CliTest):
    def setUp(self):
        super().setUp()
        self.result = self.folder / "r.json"

    def compare(self, code, base, candidate, *options):
        return self.expect(code, "run", "-o", self.result, *options, "--against", " ".join(base), "--", *candidate)

    def cases(self):
        return {case["params"]["build"]: case for case in json.loads(self.result.read_text())["cases"]}

    def values(self, build, metric):
        return [value for value in self.cases()[build]["metrics"][metric]["values"] if value is not None]

    def test_more_allocations_are_found(self):
        outcome = self.compare(1, amount(1000), amount(1020), *NO_TIMES)
        self.assertIn("regressed", outcome.text)
        self.assertIn("allocations", outcome.text)
        self.assertEqual(len(set(self.values("base", "allocations"))), 1, "exact counters repeat")
        self.assertEqual(self.values("candidate", "allocations")[0] - self.values("base", "allocations")[0], 20)

    def test_a_larger_peak_is_found(self):
        self.compare(1, amount(1000, 64), amount(1000, 66), *NO_TIMES)
        peaks = [self.values(build, "live_bytes_peak")[0] for build in ("base", "candidate")]
        self.assertEqual(peaks[1] - peaks[0], 2000)

    def test_what_is_not_freed_is_found(self):
        self.compare(1, amount(1000, 64), amount(1000, 64, kept=10), *NO_TIMES)
        ends = [self.values(build, "live_bytes_end")[0] for build in ("base", "candidate")]
        self.assertEqual(ends[1] - ends[0], 640)

    def test_fewer_allocations_are_no_finding(self):
        self.assertIn("improved", self.compare(0, amount(1020), amount(1000), *NO_TIMES).text)

    def test_both_are_counted_while_one_varies(self):
        program, *words = amount(1000)
        steady = self.write("steady.sh", f"exec {program} {' '.join(words)}\n")
        varies = self.write("varies.sh", f"echo >>turns; exec {program} $((1000 + $(wc -l <turns) % 3)) {' '.join(words[1:])}\n")
        allowed = [word for metric in EXACT for word in ("--threshold", f"{metric}=1000%")]
        self.compare(0, ["sh", os.fspath(steady)], ["sh", os.fspath(varies)], *NO_TIMES, *allowed, "-n", "9")
        self.assertGreater(len(set(self.values("candidate", "allocations"))), 1)
        for build in ("base", "candidate"):
            self.assertEqual(len(self.values(build, "allocations")), 9, build)

    def test_a_pair_of_which_nothing_could_be_told_is_no_finding(self):
        said = self.expect((0, 5), "run", "-n", "2", "-q", "--against", "true", "-r", "text", "--", "true").text
        for finding in (line for line in said.splitlines() if line.startswith("  * ")):
            self.assertGreater(len(finding.split()), 3, said)

    def test_a_program_against_itself(self):
        self.compare(0, amount(), amount(), *NO_TIMES)
        rounds = {case["repetitions"] for case in self.cases().values()}
        self.assertEqual(len(rounds), 1, "both sides ran once in each round")
        self.assertLess(rounds.pop(), 50, "it ended when the verdict was sure")

    def test_a_change_that_is_allowed(self):
        self.compare(0, amount(1000), amount(1020), *NO_TIMES, "--threshold", "allocations=5%", "--threshold",
                     "allocated_bytes=5%", "--threshold", "live_bytes_peak=5%")

    def test_a_fixed_number_of_rounds(self):
        self.compare(1, amount(1000), amount(1020), *NO_TIMES, "-n", "7")
        self.assertEqual([case["repetitions"] for case in self.cases().values()], [7, 7])
        self.compare(5, amount(1000), amount(1020), *NO_TIMES, "-n", "2")

    def test_different_answers(self):
        self.compare(0, amount(), amount(word="other"), *NO_TIMES)
        outcome = self.compare(1, amount(), amount(word="other"), *NO_TIMES, "--stdout", "checksum")
        self.assertEqual(self.cases()["candidate"]["status"], "failed")
        self.assertIn("printed something else", outcome.text + outcome.errors)
        self.compare(0, amount(), amount(), *NO_TIMES, "--stdout", "checksum")

    def test_a_candidate_that_fails(self):
        self.assertEqual(self.compare(3, amount(), ["false"]).code, 3)
        self.assertEqual(self.cases()["candidate"]["status"], "error")

    def test_the_budget_ends_it(self):
        self.compare(5, ["sleep", "0.2"], ["sleep", "0.2"], "--budget", "1s")
        result = json.loads(self.result.read_text())
        self.assertIn("budget-ended", [warning["code"] for warning in result["warnings"]])
        self.assertGreaterEqual(result["cases"][0]["repetitions"], 1)

    def test_an_interruption_keeps_what_was_measured(self):
        running = subprocess.Popen([BINARY, "run", "-n", "500", "-o", self.result, "--against", "sleep 0.1", "--", "sleep", "0.1"],
                                   env=environment(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(self.folder.glob("r.json*")):
            time.sleep(0.05)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(60), 130)
        left = [path for path in self.folder.glob("r.json*") if not path.name.endswith(".journal")]
        self.assertEqual(len(left), 1)
        self.assertTrue(json.loads(left[0].read_text())["run"]["interrupted"])

    def test_events_say_what_is_measured_again(self):
        """memsweep is stopped for moments, so that its canary is late; whether a round was repeated for it the result says."""
        process = subprocess.Popen([os.fspath(BINARY), "run", "-q", "-n", "24", "-o", self.result, "--events", "events", "--against", "true", "--", "true"],
                                   cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals)
        self.addCleanup(process.kill)
        while process.poll() is None:
            if (self.folder / "events").exists() and (self.folder / "events").read_text().count('"repetition",') >= 16:
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.02)
                process.send_signal(signal.SIGCONT)
            time.sleep(0.003)
        events = event_lines(self.folder / "events")
        document = json.loads(self.result.read_text())
        repeated = [warning["message"] for warning in document["warnings"] if warning["code"] == "rounds-repeated"]
        rounds = int(repeated[0].split()[0]) if repeated else 0
        for case in document["cases"]:
            mine = [(event["type"], event["repetition"]) for event in events if event.get("case") == case["id"] and "repetition" in event]
            kept = []
            for kind, number in mine:
                if kind == "repetition":
                    kept.append(number)
                elif kind == "repetition_discarded":
                    self.assertEqual(kept.pop(), number)
            self.assertEqual(kept, list(range(case["repetitions"])), "each number counts once")
            self.assertEqual(sum(kind == "repetition_discarded" for kind, _ in mine), rounds)
        if rounds == 0:
            print("\nskipped: events of a round that is measured again: the canary was never late", flush=True)

    def test_the_result_is_an_ordinary_one(self):
        self.compare(1, amount(1000), amount(1020), *NO_TIMES)
        self.expect(0, "report", self.result, "-f", "md")
        self.compare(1, amount(1000), amount(1020), *NO_TIMES, "-r", "md=s.md", "-r", "html=p.html", "-r", "junit=j.xml")
        for name in ("s.md", "p.html", "j.xml"):
            self.assertIn("regressed", (self.folder / name).read_text(encoding="utf-8"), name)
        self.assertRegex((self.folder / "p.html").read_text(encoding="utf-8"), r"recorded_amount 1020 [^<]* against [^<]*recorded_amount 1000 ",
                         "a page names what it compares")
        outcome = self.expect(1, "compare", self.result, "--between", "build=base", "build=candidate", "--metric", "allocations")
        self.assertIn("allocations", outcome.text)

    def report(self, form):
        return self.expect(0, "report", self.result, "-f", form).text

    def test_a_stored_result_is_the_comparison(self):
        for code, candidate, tone in ((1, amount(1020), "bad"), (0, amount(1000), "good")):
            allowed = ["--threshold", "live_bytes_peak=1%", "--threshold", "allocated_bytes=1%"]
            live = self.compare(code, amount(1000), candidate, *NO_TIMES, *allowed, "-r", "md=s.md", "-r", "html=p.html", "-r", "junit=j.xml")
            for form, name in (("md", "s.md"), ("html", "p.html"), ("junit", "j.xml")):
                self.assertEqual(self.report(form), (self.folder / name).read_text(encoding="utf-8"), "as the run has written it")
            self.assertIn(f'class="verdict {tone}"', self.report("html"))
            root = xml.etree.ElementTree.fromstring(self.report("junit"))
            tests = {test.get("name"): test for test in root.iter("testcase")}
            self.assertLessEqual({*EXACT, "working_set_peak"}, set(tests), "a test for each metric that was judged")
            failed = {name for name, test in tests.items() if test.find("failure") is not None}
            self.assertEqual("allocations" in failed, code == 1, "each threshold is that of the run")
            self.assertRegex(self.report("md"), r"\A<!-- memsweep comparison recorded_amount -->\n### (✗|✓|\?) ")
            self.assertIn("<details>", self.report("md"))
            self.assertIn("<svg", self.report("badge"))
            lines = live.text.splitlines()
            verdict = next(number for number, line in enumerate(lines) if "regress" in line)
            table = next(number for number, line in enumerate(lines) if "wall_time" in line)
            self.assertLess(verdict, table, "the verdict is first")

    def test_what_could_not_be_told_is_no_success(self):
        self.compare((0, 1, 5), ["sleep", "0.01"], ["sleep", "0.01"], "-n", "2")
        root = xml.etree.ElementTree.fromstring(self.report("junit"))
        self.assertTrue(list(root.iter("skipped")))

    def test_one_program_is_counted_where_asked(self):
        for options, counted in (((), 0), (("--count",), 1)):
            self.expect(0, "run", "-n", "2", "-o", self.result, *options, "--", *amount(1000, 64, kept=10))
            case = json.loads(self.result.read_text())["cases"][0]
            ends = case["metrics"].get("live_bytes_end", {"values": []})["values"]
            self.assertEqual(len(ends), 2 * counted)
            self.assertTrue(all(value >= 640 for value in ends), ends)

    def test_a_static_program_cannot_be_counted(self):
        self.compare(0, [os.fspath(STATIC)], [os.fspath(STATIC)], "--threshold", "wall_time=1000%", "--threshold",
                     "cpu_time=1000%", "--threshold", "instructions=1000%")
        case = self.cases()["base"]
        self.assertIn("statically linked", json.dumps(case["facts"]))
        self.assertEqual([value for value in case["metrics"]["allocations"]["values"] if value is not None], [])

    def test_what_does_not_go_together(self):
        self.expect(2, "run", "--against", "true")
        self.expect(2, "run", "--count", "churn")
        self.expect(2, "run", "--budget", "1s", "--", "true")
        self.expect(2, "run", "-n", "auto", "--", "true")
        self.expect(2, "run", "--against", "'true", "--", "true")
        self.expect(2, "run", "--against", "no-such-program-here", "--", "true")
        self.expect(2, "run", "--against", "true", "--threshold", "no_metric=5%", "--", "true")
        self.expect(2, "run", "--against", "true", "-a", "build=[1,2]", "--", "true")


if __name__ == "__main__":
    unittest.main()
