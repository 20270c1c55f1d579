"""Every documented exit code, what stands beside it on stderr and in the result, and which of several wins."""

import os
import re
import signal
import subprocess
import sys
import unittest

from memsweep_cli import MIB, SOURCE, CliTest, alloc, drop, environment, idle, sample, sanitized, scenario

PLACE = r"(?m)^bad\.json:\d+:\d+: ."

# Refuses its second case at once; the first is measured.
LIMITED = {"axes": {"limit": ["1MiB", "64KiB"]}, "memory": {"limit": "${axis.limit}"},
           "steps": [alloc(size="128KiB"), sample("held"), drop()]}


class WrongUsage(CliTest):
    """Exit 2, a message on stderr, nothing on stdout, nothing measured, no file left behind."""

    COMMANDS = (
        # what, arguments, what stderr says
        ("no command", [], "(?i)usage"),
        ("unknown command", ["rnu", "small.json"], r'unknown command "rnu".*did you mean "run"'),
        ("a hidden command that lacks an option", ["man"], "--date is required"),
        ("unknown option", ["run", "small.json", "--reptitions", "2"], '--reptitions.*; did you mean "--repetitions"\\?'),
        ("no scenario", ["run"], "scenario is required"),
        ("missing file", ["run", "missing.json"], r"missing\.json: cannot read: No such file"),
        ("a mistyped scenario", ["run", "chrun"], r'chrun: cannot read: .*; did you mean "churn"\?'),
        ("a mistyped file of a scenario", ["run", "chrun.json"], r'did you mean "churn"\?'),
        ("a name that nothing has", ["run", "zzzzzz"], "memsweep list scenarios names"),
        ("a folder", ["run", "folder"], "folder: cannot read: Is a directory"),
        ("two files, one missing", ["run", "small.json", "missing.json", "-o", "%s.json"], r"missing\.json"),
        ("several without %s", ["run", "small.json", "other.json", "-o", "r.json"], "%s"),
        ("no repetitions", ["run", "small.json", "-n", "0"], "--repetitions"),
        ("repetitions in words", ["run", "small.json", "-n", "many"], "--repetitions"),
        ("repetitions in hexadecimal", ["run", "small.json", "-n", "0x10"], '--repetitions: "0x10"'),
        ("repetitions with a sign", ["run", "small.json", "-n", "+5"], r'--repetitions: "\+5"'),
        ("repetitions behind a blank", ["run", "small.json", "-n", " 5"], '--repetitions: " 5"'),
        ("negative warm-up", ["run", "small.json", "--warmup", "-1"], "--warmup"),
        ("negative seed", ["run", "small.json", "--seed", "-1"], "--seed"),
        ("seed beyond 64 bits", ["run", "small.json", "--seed", "99999999999999999999999"], "--seed"),
        ("seed in words", ["run", "small.json", "--seed", "x"], "--seed"),
        ("unknown isolation", ["run", "small.json", "--isolation", "thread"], "--isolation"),
        ("bare timeout", ["run", "small.json", "--timeout", "5"], "--timeout"),
        ("negative timeout", ["run", "small.json", "--timeout=-1s"], "--timeout"),
        ("no timeout at all", ["run", "small.json", "--timeout", "0s"], "--timeout"),
        ("wrong size unit", ["run", "small.json", "--max-memory", "8M"], "--max-memory.*MiB"),
        ("negative size", ["run", "small.json", "--max-memory=-1"], "--max-memory"),
        ("tag without value", ["run", "small.json", "--tag", "x"], "--tag"),
        ("axis without values", ["run", "small.json", "-a", "n"], "--axis"),
        ("unknown axis", ["run", "small.json", "-a", "m=1"], r'axis "m"'),
        ("unknown variable", ["run", "small.json", "-s", "tiems=1"], r'"tiems".*did you mean "times"'),
        ("broken expression", ["run", "small.json", "-k", "("], "--filter"),
        ("unknown report format", ["run", "small.json", "-r", "cvs"], '(?s)"cvs".*csv'),
        ("unknown letter", ["run", "small.json", "-o", "%q.json"], "%q"),
        ("unknown colour mode", ["run", "small.json", "--color", "maybe"], "--color"),
        ("result in place of a folder", ["run", "small.json", "-o", "folder"], "folder: cannot write: Is a directory"),
        ("result below a file", ["run", "small.json", "-o", "other.json/r.json"], "Not a directory"),
        ("report in place of a folder", ["run", "small.json", "-o", "r.json", "-r", "csv=folder"], "folder: cannot write"),
        ("unwritable events", ["run", "small.json", "-o", "r.json", "--events", "no/such/folder/e"], "cannot write events"),
        ("resume without a file", ["run", "small.json", "--resume"], "--resume.*-o"),
        ("json of what has none", ["export", "small.json", "-f", "rmm", "--json"], "--json: goes with --version"),
        ("two formats", ["report", "small.json", "-f", "csv", "--json"], "--json: means -f json, and -f csv was given too"),
        ("help of the unknown", ["help", "rnu"], 'did you mean "run"'),
        ("resume of a scenario", ["run", "small.json", "--resume", "-o", "other.json"], "no memsweep result"),
        ("report of nothing", ["report", "missing.json"], r"missing\.json: cannot read"),
        ("report of a scenario", ["report", "small.json"], "no memsweep result"),
        ("list of what", ["list"], "what is required"),
        ("list of the unknown", ["list", "everything"], "everything"),
        ("list cases of no file", ["list", "cases"], "name the scenario files"),
        ("schema of what", ["schema"], "which is required"),
        ("schema of the unknown", ["schema", "event"], "event"),
        ("nothing to validate", ["validate"], "file is required"),
        *((f"worker {number} by hand", ["worker", number], r"\Amemsweep: error: worker: is memsweep's own")
          for number in ("0", "1", "2", "99", "-1", "x", "99999999999999999999")),
        *((f"malloc-cost {number} by hand", ["malloc-cost", number, "16"], r"\Amemsweep: error: malloc-cost: is memsweep's own")
          for number in ("0", "1", "99")),
    )

    def test_every_wrong_command_line(self):
        self.small(variables={"times": 1}, axes={"n": [1, 2]}, steps=[
            {"op": "repeat", "times": "${times}", "steps": [alloc(count="${axis.n}"), drop()]}])
        self.small("other")
        (self.folder / "folder").mkdir()
        for what, arguments, said in self.COMMANDS:
            with self.subTest(what):
                before = sorted(os.listdir(self.folder))
                outcome = self.expect(2, *arguments)
                self.assertEqual(outcome.out, b"", f"data on stdout\n{outcome}")
                self.assertRegex(outcome.errors, said)
                self.assertNotIn("internal error", outcome.errors)
                self.assertEqual(sorted(os.listdir(self.folder)), before, "left something behind")

    def test_nothing_is_said_twice(self):
        self.write("bad.json", '{"format":')
        for command in (("validate", "bad.json", "bad.json"), ("run", "bad.json", "bad.json"), ("compare", "bad.json", "bad.json"),
                        ("report", "bad.json", "bad.json"), ("merge", "bad.json", "bad.json", "-o", "new.json")):
            with self.subTest(command):
                self.assertRegex(self.expect(2, *command).errors, r"\A[^\n]*bad\.json:1:1[^\n]*\n\Z")

    def test_no_message_steers_the_terminal(self):
        """Whatever a foreign file or a command line says, stderr has no control byte but the ends of its own lines."""
        evil = "x\x1b[31m\x07\x9b\ty"
        self.small(axes={"n": [1, 2]})
        files = ({"steps": [{"op": evil}]}, {"repetitions": evil}, {"timeout": evil}, {evil: 1}, {"name": evil},
                 {"memory": {"resource": evil}}, {"release": {"mode": evil}}, {"release": {"profile": evil}},
                 {"steps": [alloc(size=evil)]}, {"steps": [alloc("${" + evil + "}")]}, {"include": evil},
                 {"asserts": [{"expr": evil}]}, {"asserts": [{"expr": f"wall_time {evil} 1"}]}, {"axes": {evil: [1]}})
        commands = []
        for number, keys in enumerate(files):
            name = f"evil{number}.json"
            self.write(name, {**scenario("evil"), **keys})
            commands.append(("validate", name))
        commands += [("run", "small.json", "--dry-run", "-k", evil), ("run", evil), (evil,), ("run", "small.json", "--" + evil),
                     ("run", "small.json", "-n", evil), ("run", "small.json", "--timeout", evil),
                     ("compare", evil, evil), ("compare", "small.json", "small.json", "--metric", evil),
                     ("compare", "small.json", "small.json", "--threshold", evil + "=5%"),
                     ("compare", "small.json", "small.json", "--threshold", "wall_time=" + evil),
                     ("replay", evil, "--on", evil), ("list", evil), ("schema", evil), ("probe", evil), ("report", evil),
                     ("run", "small.json", "--dry-run", "--set", evil + "=1"), ("report", "small.json", "-f", evil)]
        for command in commands:
            with self.subTest(command):
                errors = self.memsweep(*command).err
                self.assertTrue(errors, "nothing was said")
                text = errors.decode("utf-8")
                controls = [c for c in text if (ord(c) < 0x20 and c != "\n") or 0x7f <= ord(c) < 0xa0]
                self.assertEqual(controls, [], repr(text))

    def test_nothing_that_goes_well_steers_the_terminal(self):
        """Progress, plans, listings, drawings and the name of a command repeat what others wrote, on both streams."""
        evil = "x\x1b[31m\x07\x9by"
        self.small("evil", axes={"n": ["x\x9b31my"]})  # a loader refuses other control characters
        self.write(evil + ".json", scenario("named"))
        machine = (SOURCE / "tests/sys/machines/intel_two_packages_gpus.xml").read_text(encoding="utf-8")
        drawn = environment(HWLOC_XMLFILE=self.write("machine.xml", machine.replace('name="nvml0"', 'name="c\x9b31m"')))
        commands = ((("run", "evil.json", "-o", "r.json", "--progress", "plain"), None), (("run", "evil.json", "--dry-run"), None),
                    (("validate", evil + ".json"), None), (("list", "cases", "evil.json"), None),
                    (("watch", "--", "sh", "-c", "true", evil), None), (("watch", "-o", "-", "--", "sh", "-c", "true", evil), None),
                    (("record", "-o", evil + ".mst", "--", "true", evil), None), (("info", evil + ".mst"), None),
                    (("probe", "topology", "-f", "text"), drawn))
        for command, env in commands:
            with self.subTest(command):
                outcome = self.expect(0, *command, env=env)
                text = (outcome.out + outcome.err).decode("utf-8")
                controls = [c for c in text if (ord(c) < 0x20 and c != "\n") or 0x7f <= ord(c) < 0xa0]
                self.assertEqual(controls, [], repr(text))

    def test_no_line_on_stdout_is_a_command_of_github(self):
        self.small("owned", description="::error file=a::owned")
        out = self.expect(0, "run", "owned.json", "-o", "r.json").text
        self.assertIn("::error file=a::owned", out)
        self.assertNotRegex(out, r"(?m)^\s*::")

    def test_invalid_scenario_names_the_place(self):
        self.write("bad.json", scenario(steps=[alloc(), {"op": "drp", "target": "a"}], repetitons=3))
        for command in (["run", "bad.json", "-o", "r.json"], ["validate", "bad.json"], ["run", "bad.json", "--dry-run"]):
            with self.subTest(command=command[0]):
                outcome = self.expect(2, *command)
                self.assertEqual(outcome.out, b"")
                self.assertRegex(outcome.errors, PLACE + '.*"repetitons".*did you mean "repetitions"')
                self.assertRegex(outcome.errors, PLACE + '.*"drp".*did you mean "drop"')
        self.assertFalse((self.folder / "r.json").exists())

    def test_a_valid_file_beside_an_invalid_one_is_not_run(self):
        self.small()
        self.write("bad.json", "{")
        outcome = self.expect(2, "run", "small.json", "bad.json", "-o", "%s.out", "--events", "e")
        self.assertRegex(outcome.errors, PLACE)
        self.assertFalse((self.folder / "small.out").exists() or (self.folder / "e").exists())

    def test_resume_of_nothing_begins_from_the_start(self):
        self.small()
        outcome = self.expect(0, "run", "small.json", "-q", "--resume", "-o", "new.json")
        self.assertIn("--resume: there is no new.json to go on with: from the start", outcome.errors)
        self.assertEqual(self.result("new.json")["summary"]["ok"], 1)

    def test_resume_of_another_fingerprint_leaves_the_file_alone(self):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        before = (self.folder / "r.json").read_bytes()
        self.small(steps=[alloc(size="128KiB"), drop()])
        outcome = self.expect(2, "run", "small.json", "-o", "r.json", "--resume", "--events", "e")
        self.assertRegex(outcome.errors, r"r\.json.*another scenario.*fingerprint")
        self.assertEqual((self.folder / "r.json").read_bytes(), before)
        self.assertFalse((self.folder / "e").exists(), "something was run")

    def test_resume_of_stdout_is_refused_without_reading_stdin(self):
        self.small()
        read_end, write_end = os.pipe()  # a terminal: open, and nothing comes
        self.addCleanup(os.close, write_end)
        with os.fdopen(read_end) as terminal:
            outcome = self.memsweep("run", "small.json", "-o", "-", "--resume", timeout=10, prepare=lambda: os.dup2(terminal.fileno(), 0))
        self.assertEqual((outcome.code, outcome.out), (2, b""), f"\n{outcome}")

    def test_two_scenarios_of_one_name_are_not_written_over_each_other(self):
        self.write("one.json", scenario("same", axes={"n": [1]}))
        self.write("two.json", scenario("same", axes={"n": [2]}))
        outcome = self.expect(2, "run", "one.json", "two.json", "-q", "-o", "%s.out")
        self.assertIn('two.json: two scenarios are named "same"', outcome.errors)
        self.assertEqual(list(self.folder.glob("*.out*")), [])


class Findings(CliTest):
    def test_0_when_all_is_well(self):
        self.small(assert_=[{"expr": "end.live_bytes.max == 0B"}])
        outcome = self.expect(0, "run", "small.json", "-o", "r.json")
        result = self.result()
        self.assertEqual((result["run"]["exit_code"], result["run"]["interrupted"]), (0, False))
        self.assertIn("result: r.json", outcome.errors)
        self.assertIn("small", outcome.text)

    def test_1_for_a_failed_assertion(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), sample("held"), drop()],
                   assert_=[{"expr": "held.live_bytes.max == 65536B"}])
        self.expect(1, "run", "small.json", "-q", "-o", "r.json")
        result = self.result()
        self.assertEqual([case["status"] for case in result["cases"]], ["ok", "failed"])
        self.assertEqual([(one["case"], one["actual"], one["passed"]) for one in result["assertions"]],
                         [("small/n=1", 65536, True), ("small/n=2", 131072, False)])
        self.assertEqual(result["run"]["exit_code"], 1)
        self.assertEqual(self.case(result, "small/n=2")["repetitions"], 1, "what was measured stays")

    def test_0_when_the_assertion_only_warns_or_the_run_is_quick(self):
        self.small(assert_=[{"expr": "live_bytes_peak.max == 1B", "severity": "warn"}])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        self.assertEqual(self.result()["summary"]["assertions_warned"], 1)
        self.small(assert_=[{"expr": "live_bytes_peak.max == 1B"}])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--quick")
        self.assertEqual(self.result()["summary"]["assertions_warned"], 1)

    def test_1_when_there_is_nothing_to_judge(self):
        self.small(steps=[alloc(), sample("held"), drop()], assert_=[{"expr": "held.pool_idle_bytes.max == 3B"}])
        self.expect(1, "run", "small.json", "-q", "-o", "r.json")
        self.assertEqual([(one["actual"], one["passed"]) for one in self.result()["assertions"]], [(None, False)])

    def test_what_speaks_of_no_measured_case_neither_holds_nor_fails(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()], assert_=[
            {"where": {"n": 2}, "expr": "live_bytes_peak.max == 3B"}, {"expr": "ratio(allocations.max, n=2, n=1) == 9"},
            {"expr": "live_bytes_peak.max == 64KiB"}])
        outcome = self.expect(0, "run", "small.json", "-o", "r.json", "-k", "n=1", "-r", "junit=r.xml")
        result = self.result()
        self.check_result(result)
        self.assertEqual([(one["passed"], one["reason"], one["where"]) for one in result["assertions"]],
                         [(None, "no case of this run has n=2", {"n": 2}), (None, "no two cases of this run differ in n=2 and n=1 alone", {}),
                          (True, None, {})])
        self.assertEqual(result["summary"]["assertions_not_evaluated"], 2)
        self.assertIn("1 of 3 assertions hold; 2 could not be evaluated.", outcome.text)
        self.assertIn("not evaluated: live_bytes_peak.max == 3B", outcome.text)
        self.assertEqual((self.folder / "r.xml").read_text().count("<skipped"), 2)
        self.assertEqual(self.expect(0, "report", "r.json", "-f", "json").out, (self.folder / "r.json").read_bytes())

    def test_4_when_nothing_was_measured(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        outcome = self.expect(4, "run", "small.json", "-o", "r.json", "--max-memory", "1KiB", "--events", "e")
        result = self.result()
        self.assertEqual([case["status"] for case in result["cases"]], ["skipped", "skipped"])
        for case in result["cases"]:
            self.assertIn("--max-memory", case["reason"])
        self.assertNotIn("case_start", (self.folder / "e").read_text())
        self.assertIn("skipped", outcome.text)
        self.expect(4, "run", "small.json", "-q", "-o", "none.json", "-k", "matches no case")
        self.assertEqual(self.result("none.json")["cases"], [])
        self.small(requires={"memory": "1000TiB"})
        self.expect(4, "run", "small.json", "-q", "-o", "r2.json")
        self.assertIn("requires", self.result("r2.json")["cases"][0]["reason"])

    def test_4_replaces_an_earlier_result_like_any_run(self):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        outcome = self.expect(4, "run", "small.json", "-o", "r.json", "--max-memory", "1KiB")
        self.assertIn("result: r.json", outcome.errors)
        self.assertEqual(sorted(path.name for path in self.folder.glob("r.json*")), ["r.json"],
                         "stderr says the result is r.json, but it lies beside it")
        self.assertEqual(self.result()["run"]["exit_code"], 4)

    def test_0_when_only_some_cases_are_above_the_budget(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        outcome = self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--max-memory", "100KiB")
        self.assertRegex(outcome.errors, r"small/n=2 skipped: would hold up to .*, above the budget of 100.0 KiB \(--max-memory\)")
        self.assertEqual([case["status"] for case in self.result()["cases"]], ["ok", "skipped"])

    def test_quick_skips_cases_above_64_mib(self):
        self.small(axes={"size": ["1MiB", "65MiB"]}, steps=[alloc(size="${axis.size}"), drop()], repetitions=3, warmup=1)
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--quick")
        small, large = self.result()["cases"]
        self.assertEqual((small["status"], small["repetitions"]), ("ok", 1))
        self.assertEqual((large["status"], large["repetitions"]), ("skipped", 0))
        self.assertIn("--quick", large["reason"])


class BrokenCases(CliTest):
    """Exit 3; the other cases' results stand."""

    def check_others_stand(self, broken, status, said):
        result = self.result()
        for case in result["cases"]:
            if case["id"] == broken:
                self.assertEqual(case["status"], status)
                self.assertRegex(case["reason"], said)
            else:
                self.assertEqual((case["status"], case["repetitions"]), ("ok", case["planned_repetitions"]), case["id"])
        self.assertEqual(result["run"]["exit_code"], 3)
        self.assertFalse(result["run"]["interrupted"])
        return result

    def crash(self, number, said, *options):
        self.small(axes={"n": [1, 2, 3]}, repetitions=2, steps=[alloc(count="${axis.n}"), idle("400ms"), drop()])
        driver = self.start("small.json", "-o", "r.json", *options)
        os.kill(driver.wait_for_worker("small/n=2"), number)
        outcome = driver.finish()
        self.assertEqual(outcome.code, 3, f"\n{outcome}")
        self.check_others_stand("small/n=2", "error", said)
        ends = [event for event in driver.events() if event["type"] == "repetition" and event["case"] == "small/n=2"]
        self.assertEqual([event["status"] for event in ends], ["error"], "it is not tried again")
        self.assertRegex(ends[0]["reason"], said)
        self.assertIn("small/n=2", outcome.text)

    def test_crash(self):
        self.crash(signal.SIGSEGV, "SIGSEGV")

    def test_killed_as_by_the_kernel(self):
        self.crash(signal.SIGKILL, "SIGKILL")

    def test_crash_of_a_shared_worker(self):
        self.crash(signal.SIGABRT, "SIGABRT", "--isolation", "none")

    def test_timeout(self):
        self.small(axes={"wait": ["0ms", "30s"]}, steps=[alloc(), idle("${axis.wait}"), drop()])
        self.expect(3, "run", "small.json", "-q", "-o", "r.json", "--timeout", "2s", timeout=30)
        self.check_others_stand("small/wait=30s", "timeout", "still running after 2")

    def test_a_stopped_worker_times_out(self):
        self.small(axes={"n": [1, 2]}, timeout="2s", steps=[alloc(count="${axis.n}"), idle("200ms"), drop()])
        driver = self.start("small.json", "-q", "-o", "r.json")
        pid = driver.wait_for_worker("small/n=1")
        os.kill(pid, signal.SIGSTOP)
        outcome = driver.finish(30)
        self.assertEqual(outcome.code, 3, f"\n{outcome}")
        self.check_others_stand("small/n=1", "timeout", "still running after 2")
        self.assert_workers_end([pid])

    def test_memory_limit(self):
        self.small(**LIMITED)
        self.expect(3, "run", "small.json", "-q", "-o", "r.json")
        self.check_others_stand("small/limit=64KiB", "error", "128.* KiB was refused.*limit")

    def test_planted_failure(self):
        self.small(axes={"every": [3, 2]}, memory={"fail_every": "${axis.every}"}, steps=[alloc(count=2), drop()])
        self.expect(3, "run", "small.json", "-q", "-o", "r.json")
        self.check_others_stand("small/every=2", "error", "refused")

    def test_no_address_space_left(self):
        self.small(axes={"size": ["64KiB", "1000TiB"]}, steps=[
            {"op": "alloc", "as": "a", "bytes": "${axis.size}", "touch": "none"}, drop()])
        self.expect(3, "run", "small.json", "-q", "-o", "r.json", "--max-memory", "2000TiB")
        self.check_others_stand("small/size=1000TiB", "error", "refused")

    def test_fail_fast_stops_there(self):
        self.small(**LIMITED | {"axes": {"limit": ["64KiB", "1MiB"]}})
        self.expect(3, "run", "small.json", "-q", "-o", "r.json", "--fail-fast")
        broken, after = self.result()["cases"]
        self.assertEqual(broken["status"], "error")
        self.assertEqual(after["repetitions"], 0)
        self.assertNotEqual(after["status"], "ok", "a case that was never measured is not ok")


class Reasons(CliTest):
    """A code that is not 0 is explained on stderr wherever no report is printed."""

    def assert_explained(self, code, reason, *command):
        self.assertRegex(self.expect(code, *command).errors, "(?m)^memsweep: " + reason)

    def test_run(self):
        self.small("limited", **LIMITED)
        self.small("refused", requires={"memory": "1000TiB"})
        self.small("failing", assert_=[{"expr": "live_bytes_peak.max == 0B"}])
        for options in (("-q", "-o", "r.json"), ("-q", "-o", "-"), ("-o", "-", "--progress", "none"), ("-q", "-o", "r.json", "-r", "csv")):
            with self.subTest(options):
                self.assert_explained(3, "limited/limit=64KiB broke off: .*128.* KiB was refused", "run", "limited.json", *options)
                self.assert_explained(4, "refused skipped: .*memory", "run", "refused.json", *options)
                self.assert_explained(1, "live_bytes_peak.max == 0B does not hold for failing: it is ", "run", "failing.json", *options)
        self.small()
        self.assertEqual(self.expect(0, "run", "small.json", "-q", "-o", "-").err, b"")

    def test_replay(self):
        row = "1,0{}:00:00.0,{},0x7000,1048576,0x0\n"
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n" + row.format(1, "allocate") + row.format(2, "free"))
        self.expect(0, "import", "log.csv", "-q", "-o", "t.mst")
        replay = ("replay", "t.mst", "--on", "glibc", "-n", "1", "--warmup", "0", "--settle", "0s", "-q", "-o", "r.json")
        self.assert_explained(3, "replay.*timed out: ", *replay, "--speed", "original", "--timeout", "50ms")  # of an hour
        self.assert_explained(4, "replay.*skipped: ", *replay, "--max-memory", "1KiB")

    def test_probe(self):
        self.write("limits.json", {"format": "memsweep-limits", "version": 1,
                                   "limits": [{"scenario": "probe_faults", "expr": "time_per_fault.median > 1h"}]})
        for options in (("-q",), ("-f", "json"), ("-o", "r.json", "-q")):
            with self.subTest(options):
                self.assert_explained(1, "(?:[0-9]+ cases |probe_faults/.*)failed.*: limit violated: time_per_fault.median > 1h", "probe", "faults",
                                      "-n", "1", "--min-time", "1ms", "--limits", "limits.json", *options)


class Table(CliTest):
    """Each code once, from the binary; and that what users read lists these codes and no other."""

    def exact_result(self, name, repetitions, change=None):
        """A measured result, its noisy metrics reduced to one with known values, so that the machine decides nothing."""
        if not (self.folder / "r.json").exists():
            self.expect(0, "run", "small.json", "-q", "-o", "r.json", "-n", "6")
        document = self.result()
        for case in document["cases"]:
            case["repetitions"] = repetitions
            case["metrics"] = {key: metric for key, metric in case["metrics"].items() if key == "wall_time" or metric["class"] == "exact"}
            case["metrics"]["wall_time"]["values"] = [1 + number / 1000 for number in range(repetitions)]
        if change:
            change(document)
        self.write(name, document)

    def interrupted(self, number):
        self.small("slow", steps=[alloc(), idle("20s"), drop()])
        driver = self.start("slow.json", "-q", "-o", "slow.out")
        driver.wait_for_worker("slow")
        driver.send(number)
        return driver.finish(15).code

    def bug(self):
        """A bug for want of one: a preloaded allocation that throws what nothing in the program expects."""
        (self.folder / "bug.cpp").write_text("""
            #include <cstddef>
            #include <stdexcept>
            extern "C" void* __libc_malloc(std::size_t bytes);
            extern "C" void* malloc(std::size_t bytes) {
                if (bytes > 50'000'000) throw std::logic_error("planted");
                return __libc_malloc(bytes);
            }
            """)
        subprocess.run(["c++", "-shared", "-fPIC", "-O1", "-o", "bug.so", "bug.cpp"], cwd=self.folder, check=True)

        def add_tag(document):
            document["run"]["tags"] = {"x": 60_000_000 * "y"}
        self.exact_result("large.json", 6, add_tag)
        outcome = self.memsweep("report", "large.json", "-f", "csv", env=environment(LD_PRELOAD=str(self.folder / "bug.so")))
        self.assertIn("internal error: planted", outcome.errors)
        return outcome.code

    def more_allocations(self, document):
        document["cases"][0]["metrics"]["allocations"]["values"] = 6 * [99]

    def another_machine(self, document):
        document["machine"]["fingerprint"] = "0" * 64

    def test_every_code(self):
        self.small()
        self.exact_result("base.json", 6)
        self.exact_result("worse.json", 6, self.more_allocations)
        self.exact_result("few.json", 3)
        self.exact_result("unlike.json", 6, self.another_machine)
        self.small("limited", **LIMITED)
        codes = {
            0: ("compare", "base.json", "base.json"),
            1: ("compare", "base.json", "worse.json"),
            2: ("compare", "base.json", "unlike.json"),
            3: ("run", "limited.json", "-q", "-o", "limited.out"),
            4: ("run", "small.json", "-q", "-o", "none.json", "--max-memory", "1KiB"),
            5: ("compare", "base.json", "few.json"),
            70: self.bug,
            130: lambda: self.interrupted(signal.SIGINT),
            143: lambda: self.interrupted(signal.SIGTERM),
        }
        if sanitized():
            print("\nskipped: exit code 70: a sanitizer has allocations of its own", file=sys.stderr, flush=True)
            del codes[70]
        for code, asked in codes.items():
            with self.subTest(code):
                self.assertEqual(asked() if callable(asked) else self.memsweep(*asked).code, code)
        page = self.expect(0, "man", "--date", "2026-01-31").text.partition(".SH EXIT STATUS")[2].partition(".SH")[0]
        listed = set(map(int, re.findall(r"\d+", " ".join(re.findall(r"(?m)^\.BR? .*$", page)))))
        self.assertEqual(listed - {70} if sanitized() else listed, set(codes))
        table = (SOURCE / "docs/ci.md").read_text().partition("| code |")[2].partition("\n\n")[0]
        self.assertEqual(set(map(int, re.findall(r"\d+", " ".join(row.split("|")[1] for row in table.splitlines()[2:])))), listed)


class Priorities(CliTest):
    """Of several the first of 130/143, 70, 2, 3, 1, 5, 4 wins."""

    def test_3_before_1(self):
        self.small(**LIMITED, assert_=[{"where": {"limit": "1MiB"}, "expr": "held.live_bytes.max == 0B"}])
        self.expect(3, "run", "small.json", "-q", "-o", "r.json")
        self.assertEqual([case["status"] for case in self.result()["cases"]], ["failed", "error"])

    def test_2_before_3(self):
        self.small(**LIMITED)
        outcome = self.expect(2, "run", "small.json", "-q", "-o", "/dev/full", env=self.refuge())
        self.assertIn("/dev/full", outcome.errors)

    def test_1_before_4_and_3_before_1_over_several_scenarios(self):
        self.small("failing", assert_=[{"expr": "live_bytes_peak.max == 0B"}])
        self.small("refused", requires={"memory": "1000TiB"})
        self.small("limited", **LIMITED)
        self.expect(1, "run", "failing.json", "refused.json", "-q", "-o", "%s.out")
        self.expect(1, "run", "refused.json", "failing.json", "-q", "-o", "%s.out")
        self.expect(3, "run", "failing.json", "limited.json", "refused.json", "-q", "-o", "%s.out")
        codes = {name: self.result(f"{name}.out")["run"]["exit_code"] for name in ("failing", "limited", "refused")}
        self.assertEqual(codes, {"failing": 1, "limited": 3, "refused": 4}, "each result has its own")

    def test_1_before_5_and_5_before_4(self):
        self.small(assert_=[{"expr": "allocations.max == 1", "severity": "warn"}])
        self.expect(0, "run", "small.json", "-q", "-o", "before.json", "-n", "6")
        self.expect(5, "run", "small.json", "-q", "-o", "r.json", "-n", "2", "--baseline", "before.json")
        self.expect(5, "run", "small.json", "-q", "-o", "r.json", "--max-memory", "1KiB", "--baseline", "before.json")
        before = self.result("before.json")
        before["cases"][0]["metrics"]["allocations"]["values"] = 6 * [0]
        self.write("before.json", before)
        self.expect(1, "run", "small.json", "-q", "-o", "r.json", "-n", "2", "--baseline", "before.json")

    def test_130_before_2_and_3(self):
        self.small(axes={"limit": ["64KiB", "1MiB"]}, memory={"limit": "${axis.limit}"}, steps=[alloc(size="128KiB"), idle("20s")])
        driver = self.start("small.json", "-q", "-o", "/dev/full", env=self.refuge())
        driver.wait_for_worker("small/limit=1MiB")
        driver.send(signal.SIGINT)
        outcome = driver.finish(15)
        self.assertEqual(outcome.code, 130, f"\n{outcome}")
        self.assertIn("/dev/full", outcome.errors)

    def refuge(self):
        from memsweep_cli import environment

        return environment(TMPDIR=str(self.folder))


if __name__ == "__main__":
    unittest.main()
