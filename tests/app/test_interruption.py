"""A run that is stopped, by the user or by the kernel, loses nothing that was measured, leaves nobody behind, and can go on."""

import os
import signal
import time
import unittest

from memsweep_cli import CliTest, alloc, drop, event_lines, idle, is_live_worker, rng, sample, scenario, strict_json, values_of

CASES = ("kept/n=1", "kept/n=2", "kept/n=3")


def kept(repetitions=2, wait="30ms", **keys):
    return scenario("kept", axes={"n": [1, 2, 3]}, repetitions=repetitions,
                    steps=[alloc(count="${axis.n}"), sample("held"), drop(), idle(wait)], **keys)


def journaled(path, run_id):
    """The (case, repetition) pairs of that run that FILE.journal holds; what a kill cut off at its end is left out."""
    journal = path.with_name(path.name + ".journal")
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    parts = [(int(number), strict_json(document)) for number, _, document in (line.partition(b" ") for line in lines)]
    return [(document["cases"][0]["id"], number) for number, document in parts if document["run"]["id"] == run_id]


def repetitions_of(result, path):
    """The (case, repetition) pairs that a result and its journal hold."""
    own = [(case["id"], i) for case in result["cases"] for i in range(case["repetitions"])]
    return own + [pair for pair in journaled(path, result["run"]["id"]) if pair not in own]


class Interruption(CliTest):
    """What SIGINT, SIGTERM, SIGHUP and SIGKILL leave behind."""

    def earlier_result(self):
        """Bytes of a result of another scenario at r.json."""
        self.write("earlier.json", scenario("earlier"))
        self.expect(0, "run", "earlier.json", "-q", "-o", "r.json")
        return (self.folder / "r.json").read_bytes()

    def stop(self, number, code, group=False):
        self.write("kept.json", kept(wait="300ms"))
        driver = self.start("kept.json", "-o", "r.json", "-r", "csv=r.csv")
        driver.wait_for("case_start", case="kept/n=2")
        workers = driver.workers()
        if group:
            os.killpg(driver.process.pid, number)  # as a terminal does for Ctrl-C
        else:
            driver.send(number)
        outcome = driver.finish(10)
        self.assertEqual(outcome.code, code, f"\n{outcome}")
        self.assertNotIn("internal error", outcome.errors)
        self.assert_workers_end(workers)
        result = self.result()
        self.assertTrue(result["run"]["interrupted"])
        self.assertEqual(result["run"]["exit_code"], code)
        self.assertIsNotNone(result["run"]["ended"])
        self.assertEqual([case["id"] for case in result["cases"]], list(CASES))
        self.assertEqual([case["repetitions"] for case in result["cases"]], [1, 0, 0], "what was measured is kept")
        self.assertEqual(driver.events()[-1], driver.events()[-1] | {"type": "run_end", "exit_code": code})
        self.assertRegex(outcome.text, "(?i)interrupted|partial", "a partial report must not look like a whole one")
        self.assertTrue((self.folder / "r.csv").stat().st_size, "the reports are written all the same")
        return result, outcome

    def test_sigint(self):
        self.stop(signal.SIGINT, 130)

    def test_sigint_of_the_terminal(self):
        self.stop(signal.SIGINT, 130, group=True)

    def test_sigterm(self):
        self.stop(signal.SIGTERM, 143)

    def test_sighup(self):
        self.stop(signal.SIGHUP, 130)

    def test_what_was_never_measured_is_not_ok(self):
        result, outcome = self.stop(signal.SIGINT, 130)
        self.assertNotIn("All 3 cases were measured", outcome.text)
        claimed = [case["id"] for case in result["cases"] if case["repetitions"] == 0 and case["status"] == "ok"]
        self.assertEqual(claimed, [], "cases without any value that claim to be ok")

    def test_an_ignored_signal_stays_ignored(self):
        self.write("kept.json", kept(repetitions=1))
        driver = self.start("kept.json", "-q", "-o", "r.json", prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # nohup
        driver.wait_for("case_start")
        driver.send(signal.SIGHUP)
        self.assertEqual(driver.finish().code, 0)
        self.assertFalse(self.result()["run"]["interrupted"])

    def test_between_two_scenarios(self):
        self.write("kept.json", kept(wait="5s"))
        self.write("next.json", scenario("next"))
        driver = self.start("kept.json", "next.json", "-q", "-o", "%s.out")
        driver.wait_for("case_start")
        driver.send(signal.SIGINT)
        self.assertEqual(driver.finish(10).code, 130)
        self.assertFalse((self.folder / "next.out").exists(), "the second scenario was begun")

    def test_during_warm_up_and_with_an_earlier_result(self):
        before = self.earlier_result()
        self.write("kept.json", kept(wait="5s", warmup=1))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        driver.wait_for("run_start")
        deadline = time.monotonic() + 10
        while not any(map(is_live_worker, driver.workers())) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        workers = driver.workers()
        driver.send(signal.SIGINT)
        outcome = driver.finish(10)
        self.assertEqual(outcome.code, 130, f"\n{outcome}")
        self.assert_workers_end(workers)
        self.assertEqual((self.folder / "r.json").read_bytes(), before, "nothing was measured: the earlier result stays")

    def test_the_message_names_the_file_that_holds_the_partial_result(self):
        before = self.earlier_result()
        self.write("kept.json", kept(wait="5s"))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        driver.wait_for("case_start")
        driver.send(signal.SIGTERM)
        outcome = driver.finish(10)
        self.assertEqual(outcome.code, 143, f"\n{outcome}")
        self.assertEqual((self.folder / "r.json").read_bytes(), before)
        named = outcome.errors.rpartition("result: ")[2].strip()
        self.assertEqual(self.result(named)["run"]["scenario"]["name"], "kept", f"{named} holds the earlier result\n{outcome}")


class Killed(CliTest):
    MOMENTS = 20

    def check_after_kill(self, events, earlier, before):
        """`events` of the killed run; `earlier`: bytes that lay at r.json, or None."""
        path, partial = self.folder / "r.json", self.folder / "r.json.partial"
        if not path.exists():
            self.assertIsNone(earlier, "the earlier result is gone")
        source = path
        if earlier is not None and path.read_bytes() == earlier:
            self.assertNotIn("case_end", [event["type"] for event in events], "a case has ended, but the file is the old one")
            source = partial
        finished = [event for event in events if event["type"] == "repetition" and event["status"] == "ok"]
        if not source.exists():
            self.assertEqual(finished, [], "repetitions were measured and no file holds them")
            return
        result = self.result(source.name)
        counts = {case["id"]: case["repetitions"] for case in result["cases"]}
        if earlier is not None and source == path:
            whole = [case["id"] for case in result["cases"] if case["repetitions"] == case["planned_repetitions"]]
            self.assertTrue(whole, "the earlier result was replaced before a case had ended")
        for event in events:
            if event["type"] == "case_end":
                self.assertEqual(counts[event["case"]], 2, f"{event['case']} had ended")
        for case, number in journaled(source, result["run"]["id"]):
            counts[case] = max(counts[case], number + 1)
        for event in finished:
            self.assertGreater(counts[event["case"]], event["repetition"], f"lost: {event}")
        if result["run"]["ended"] is None:
            self.assertTrue(result["run"]["interrupted"], "a file of an unfinished run says so")

    def test_at_20_random_moments(self):
        random = rng("SIGKILL at random moments")
        self.write("earlier.json", scenario("earlier"))
        self.expect(0, "run", "earlier.json", "-q", "-o", "earlier.out")
        earlier = (self.folder / "earlier.out").read_bytes()
        self.write("kept.json", kept())
        whole = self.start("kept.json", "-q", "-o", "whole.out")
        begin = time.monotonic()
        whole.finish()
        length_s = time.monotonic() - begin
        for number in range(self.MOMENTS):
            with_earlier = number % 2 == 0
            after_s = random.uniform(0, length_s)
            with self.subTest(number=number, after_s=after_s, with_earlier=with_earlier):
                for left in self.folder.glob("r.json*"):
                    left.unlink()
                if with_earlier:
                    self.write("r.json", earlier)
                driver = self.start("kept.json", "-q", "-o", "r.json")
                time.sleep(after_s)
                workers = driver.workers()
                driver.send(signal.SIGKILL)
                driver.finish()
                self.check_after_kill(driver.events(), earlier if with_earlier else None, earlier)
                self.assert_workers_end(workers | driver.workers())
        self.assertLessEqual(len(list(self.folder.glob(".memsweep-*"))), self.MOMENTS, "at most one temporary file a kill")

    def test_stopped_worker_of_a_killed_driver(self):
        self.write("kept.json", kept(wait="20s"))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        pid = driver.wait_for_worker("kept/n=1")
        os.kill(pid, signal.SIGSTOP)
        driver.send(signal.SIGKILL)
        driver.finish()
        self.assert_workers_end({pid})


class Resume(CliTest):
    PLANNED = 3

    def resumed(self, *options):
        """Goes on with r.json; returns the (case, repetition) pairs that were measured now."""
        events = self.folder / "resumed.ndjson"
        events.unlink(missing_ok=True)
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json", "--resume", "--events", "resumed.ndjson", *options)
        return [(event["case"], event["repetition"]) for event in event_lines(events) if event["type"] == "repetition"]

    def check_whole(self, planned=PLANNED):
        result = self.result()
        self.assertEqual([case["id"] for case in result["cases"]], list(CASES))
        self.assertEqual([case["repetitions"] for case in result["cases"]], [planned] * 3)
        self.assertEqual({case["status"] for case in result["cases"]}, {"ok"})
        for case in result["cases"]:
            held = [point["repetition"] for point in case["points"] if point["name"] == "held"]
            self.assertEqual(held, list(range(planned)), "one point per repetition")
        self.assertEqual((result["run"]["interrupted"], result["run"]["exit_code"]), (False, 0))
        self.assertEqual(sorted(path.name for path in self.folder.glob("r.json*")), ["r.json"], "nothing is left beside the result")
        return result

    def check_kept(self, earlier, result):
        for before in earlier["cases"]:
            after = self.case(result, before["id"])
            for name, values in values_of(before).items():
                self.assertEqual(values_of(after)[name][:len(values)], values, f"{before['id']} {name}")
            for part in ("points", "phases", "series"):
                self.assertEqual(after[part][:len(before[part])], before[part])

    def check_goes_on(self, number):
        self.write("kept.json", kept(self.PLANNED, wait="100ms"))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        driver.wait_for("repetition", count=4)
        driver.send(number)
        driver.finish(10)
        earlier = self.result()
        done = repetitions_of(earlier, self.folder / "r.json")
        self.assertGreaterEqual(len(done), 3)
        now = self.resumed()
        result = self.check_whole()
        self.check_kept(earlier, result)
        everything = [(case, i) for case in CASES for i in range(self.PLANNED)]
        self.assertEqual(sorted(done + now), sorted(everything), "each repetition is measured exactly once")
        self.assertEqual(result["run"]["id"], earlier["run"]["id"], "it is the same run")

    def test_after_sigint(self):
        self.check_goes_on(signal.SIGINT)

    def test_after_sigkill(self):
        self.check_goes_on(signal.SIGKILL)

    def test_after_a_kill_beside_an_earlier_result(self):
        self.write("earlier.json", scenario("earlier"))
        self.expect(0, "run", "earlier.json", "-q", "-o", "r.json")
        self.write("kept.json", kept(self.PLANNED, wait="100ms"))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        driver.wait_for("repetition", count=2)
        driver.send(signal.SIGKILL)
        driver.finish()
        earlier = self.result("r.json.partial")
        self.resumed()
        self.check_kept(earlier, self.check_whole())

    def test_of_a_resumed_run(self):
        self.write("kept.json", kept(self.PLANNED, wait="100ms"))
        for options in ([], ["--resume"]):
            driver = self.start("kept.json", "-q", "-o", "r.json", *options)
            driver.wait_for("repetition", count=3)
            driver.send(signal.SIGKILL)
            driver.finish()
        left = [(self.result(name), self.folder / name) for name in ("r.json", "r.json.partial") if (self.folder / name).exists()]
        youngest, path = max(left, key=lambda one: len(repetitions_of(*one)))
        done = repetitions_of(youngest, path)
        self.assertGreaterEqual(len(done), 5, "two runs measured three repetitions each")
        now = self.resumed()
        self.check_kept(youngest, self.check_whole())
        self.assertEqual(sorted(done + now), [(case, i) for case in CASES for i in range(self.PLANNED)], "each is measured exactly once")

    def test_of_a_whole_result_measures_nothing(self):
        self.write("kept.json", kept(1))
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json")
        earlier = self.result()
        self.assertEqual(self.resumed(), [])
        self.check_kept(earlier, self.check_whole(1))

    def test_for_more_repetitions(self):
        self.write("kept.json", kept(1))
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json")
        earlier = self.result()
        self.assertEqual(sorted(self.resumed("-n", "2")), [(case, 1) for case in CASES])
        self.check_kept(earlier, self.check_whole(2))

    def test_measures_a_crashed_case_again(self):
        self.write("kept.json", kept(1, wait="200ms"))
        driver = self.start("kept.json", "-q", "-o", "r.json")
        os.kill(driver.wait_for_worker("kept/n=2"), signal.SIGKILL)
        self.assertEqual(driver.finish().code, 3)
        earlier = self.result()
        self.assertEqual(self.resumed(), [("kept/n=2", 0)])
        self.check_whole(1)
        self.check_kept(earlier, self.result())

    def test_judges_the_assertions_again(self):
        self.write("kept.json", kept(1, assert_=[{"expr": "held.live_bytes.max < 130kB"}]))
        self.expect(1, "run", "kept.json", "-q", "-o", "r.json")
        self.expect(1, "run", "kept.json", "-q", "-o", "r.json", "--resume")
        self.assertEqual(self.result()["summary"]["assertions_failed"], 2)

    def test_with_a_filter_keeps_the_other_cases(self):
        self.write("kept.json", kept(1))
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json", "-k", "n=[12]")
        earlier = self.result()
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json", "--resume", "-k", "n=3")
        self.check_kept(earlier, self.result())

    def test_prefers_the_result_to_an_older_leftover(self):
        self.write("kept.json", kept(1))
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json", "-k", "n=1")
        os.rename(self.folder / "r.json", self.folder / "r.json.partial")  # as a kill leaves it when the first run's file is then removed
        self.expect(0, "run", "kept.json", "-q", "-o", "r.json")
        earlier = self.result()
        self.assertEqual(self.resumed(), [], "the whole result was ignored for an older leftover")
        self.assertEqual([values_of(case) for case in self.result()["cases"]], [values_of(case) for case in earlier["cases"]])


if __name__ == "__main__":
    unittest.main()
