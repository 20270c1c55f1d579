"""What `compare` and `run --baseline` say of two results, in every format, and with which exit code.

Results are measured once and their values replaced, so that every verdict is known in advance.
"""

import copy
import json
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from memsweep_cli import SOURCE, CliTest, alloc, drop, environment, execute, sample, scenario, strict_json

# Ten repetitions with 1 % of noise, none of them equal; what a change is planted into.
NOISE = [1.000, 1.010, 0.990, 1.012, 0.988, 1.005, 0.995, 1.008, 0.992, 1.001]
NOISE_AGAIN = [1.002, 0.991, 1.009, 0.989, 1.011, 0.994, 1.006, 0.993, 1.007, 0.999]
MODES = {"axes": {"mode": ["refcount", "leak"]}, "release": {"mode": "${axis.mode}"}, "repetitions": 10}
TYPICAL = {"s": 1.0, "B": 1e9, "1": 1e6}  # of what is noisy, by unit
HOSTILE = "</script>'\"|`<b>*_[x](y)&\u0007\u202e\n\t\x1b[31m@all#1 \uffff $x$ https://x.example"


def planted(document, factor=1.0, metric="wall_time", noise=None, case=None):
    """A copy whose metric has known values: noise around `factor` seconds (or pages, or bytes)."""
    document = copy.deepcopy(document)
    for one in document["cases"]:
        if case is None or one["id"] == case:
            one["metrics"][metric]["values"] = [factor * value for value in (NOISE if noise is None else noise)]
    return document


class CompareTest(CliTest):
    measured = None

    def setUp(self):
        super().setUp()
        if CompareTest.measured is None:
            self.small(**MODES)
            self.expect(0, "run", "small.json", "-q", "-o", "measured.json")
            CompareTest.measured = json.loads((self.folder / "measured.json").read_text())
        # Every noisy metric gets known values, so that nothing that was measured decides a test.
        self.base = copy.deepcopy(CompareTest.measured)
        for case in self.base["cases"]:
            for metric in case["metrics"].values():
                if metric["class"] == "noisy":
                    metric["values"] = [TYPICAL[metric["unit"]] * value for value in NOISE]
            case["metrics"]["major_faults"]["values"] = [0] * len(NOISE)
        self.write("base.json", self.base)

    def compare(self, code, candidate, *options, base="base.json"):
        if isinstance(candidate, dict):
            self.write("candidate.json", candidate)
            candidate = "candidate.json"
        return self.expect(code, "compare", base, candidate, *options)

    def judged(self, code, candidate, *options):
        """{(candidate's case, metric): judgement} of the only comparison."""
        document = strict_json(self.compare(code, candidate, "-f", "json", *options).out)
        self.assertEqual((document["format"], document["format_version"]), ("memsweep-comparison", 1))
        self.assertEqual(len(document["comparisons"]), 1)
        comparison = document["comparisons"][0]
        found = {(one["candidate_case"] or one["base_case"], one["metric"]): one for one in comparison["judgements"]}
        self.assertEqual(len(found), len(comparison["judgements"]), "one judgement per case and metric")
        return found

    def wall_time(self, code, candidate, *options):
        return self.judged(code, candidate, *options)["small/mode=refcount", "wall_time"]


class Verdicts(CompareTest):
    def test_a_result_is_the_same_as_itself(self):
        judged = self.judged(0, self.base)
        self.assertEqual({one["verdict"] for one in judged.values()}, {"same", "informational"})
        self.assertTrue(self.compare(0, self.base).text.startswith("No regression in "))

    def test_noise_alone_says_nothing(self):
        again = copy.deepcopy(self.base)
        for case in again["cases"]:
            for metric in case["metrics"].values():
                if metric["class"] == "noisy" and metric["values"][0]:
                    metric["values"] = [TYPICAL[metric["unit"]] * value for value in NOISE_AGAIN]
        judged = self.judged(0, again)
        self.assertLessEqual({one["verdict"] for one in judged.values()}, {"same", "inconclusive", "informational"})

    def test_ten_percent_slower_is_found(self):
        judged = self.judged(1, planted(self.base, 1.1, case="small/mode=refcount"))
        found = judged["small/mode=refcount", "wall_time"]
        self.assertEqual((found["verdict"], found["gates"]), ("regressed", True))
        self.assertEqual(found["effect"]["kind"], "ratio")
        self.assertAlmostEqual(found["effect"]["estimate"], 1.1, delta=0.01)
        low, high = found["effect"]["ci95"]
        self.assertLess(1.05, low)
        self.assertLessEqual(low, found["effect"]["estimate"])
        self.assertLessEqual(found["effect"]["estimate"], high)
        self.assertLessEqual(found["q"], 0.05)
        self.assertLessEqual(found["p"], found["q"])
        self.assertEqual([key for key, one in judged.items() if one["gates"]], [("small/mode=refcount", "wall_time")])

    def test_ten_percent_faster_is_an_improvement(self):
        found = self.wall_time(0, planted(self.base, 0.9))
        self.assertEqual((found["verdict"], found["gates"]), ("improved", False))

    def test_small_change_is_the_same(self):
        self.assertEqual(self.wall_time(0, planted(self.base, 1.01))["verdict"], "same")

    def test_large_noise_is_inconclusive(self):
        wild = [1.0, 2.0, 0.5, 1.7, 0.6, 1.9, 0.7, 1.4, 0.8, 1.2]
        self.write("base.json", planted(self.base, 1, noise=wild))
        self.assertEqual(self.wall_time(0, planted(self.base, 1.2, noise=wild))["verdict"], "inconclusive")

    def test_few_repetitions_are_insufficient(self):
        few = planted(self.base, 1, noise=NOISE[:4])
        self.write("base.json", few)
        found = self.wall_time(5, planted(self.base, 2, noise=NOISE[:4]))
        self.assertEqual((found["verdict"], found["gates"]), ("insufficient", False))
        self.assertRegex(found["why"], r"4 against 4 repetitions; .*\d+ of each are needed")

    def test_an_exact_counter_needs_no_repetitions(self):
        more = planted(self.base, 1, "allocations", noise=[8])
        self.write("base.json", planted(self.base, 1, "allocations", noise=[7]))
        found = self.judged(1, more, "--metric", "allocations")["small/mode=leak", "allocations"]
        self.assertEqual((found["verdict"], found["p"], found["effect"]["ci95"]), ("regressed", None, None))

    def test_cases_and_metrics_on_one_side(self):
        fewer = copy.deepcopy(self.base)
        gone = fewer["cases"].pop()["id"]
        del fewer["cases"][0]["metrics"]["cpu_time"]
        judged = self.judged(0, fewer)
        self.assertEqual(judged[gone, None]["verdict"], "missing")
        self.assertEqual(judged["small/mode=refcount", "cpu_time"]["verdict"], "missing")
        self.write("fewer.json", fewer)
        added = strict_json(self.compare(0, self.base, "-f", "json", base="fewer.json").out)["comparisons"][0]["judgements"]
        self.assertEqual(sorted(one["metric"] or "" for one in added if one["verdict"] == "added"), ["", "cpu_time"])

    def test_a_case_that_fails_now_gates_and_one_that_recovers_does_not(self):
        failing = copy.deepcopy(self.base)
        failing["cases"][0].update(status="error", reason="killed by signal 11")
        judged = self.judged(1, failing)
        self.assertEqual(judged["small/mode=refcount", None]["verdict"], "newly-failing")
        self.assertIn("killed by signal 11", judged["small/mode=refcount", None]["why"])
        self.write("failing.json", failing)
        fixed = self.compare(0, self.base, base="failing.json")
        self.assertIn("fixed", fixed.text)

    def test_a_busier_machine_is_no_regression(self):
        def waiting(seconds):
            document = copy.deepcopy(self.base)
            for case in document["cases"]:
                wall = case["metrics"]["wall_time"]
                delay = case["metrics"].setdefault("run_delay_time", copy.deepcopy(wall))
                delay["values"] = [seconds] * len(NOISE)
                wall["values"] = [value + seconds for value in wall["values"]]
                case["metrics"].pop("time_per_op", None)
            return document
        self.base = waiting(0)
        self.write("base.json", self.base)
        busy = waiting(TYPICAL["s"])
        found = self.wall_time(0, busy)
        self.assertEqual(found["verdict"], "inconclusive")
        self.assertIn("the machine was busier: ", found["why"])
        self.assertIn("waiting for a processor explains 100 %", found["why"])
        self.assertIn("the machine was busier", " ".join(self.compare(0, busy).text.split()))
        for case in busy["cases"]:
            case["metrics"]["run_delay_time"]["values"] = [TYPICAL["s"] / 2] * len(NOISE)
        self.assertEqual(self.wall_time(1, busy)["verdict"], "regressed")
        for case in busy["cases"]:
            case["metrics"]["run_delay_time"]["values"] = [TYPICAL["s"] * 0.8] * len(NOISE)
        found = self.wall_time(0, busy)
        self.assertIn("in 10 of 10 repetitions of the candidate the case waited for a processor", found["why"])

    def test_the_machines_own_cost_never_gates(self):
        judged = self.judged(0, planted(self.base, 5, "fault_cost"))
        found = judged["small/mode=refcount", "fault_cost"]
        self.assertEqual((found["verdict"], found["gates"]), ("informational", False))
        self.assertIn("the machine itself differs", self.compare(0, planted(self.base, 5, "fault_cost")).text)


class Codes(CompareTest):
    def test_no_gate(self):
        slower = planted(self.base, 1.5)
        self.compare(1, slower)
        outcome = self.compare(0, slower, "--no-gate")
        self.assertIn("regressed", outcome.text)
        self.assertFalse(any(one["gates"] for one in self.judged(0, slower, "--no-gate").values()))

    def test_unlike_machines(self):
        other = copy.deepcopy(self.base)
        other["machine"].update(fingerprint="0" * 64, cores=other["machine"]["cores"] + 3)
        outcome = self.compare(2, other)
        self.assertEqual(outcome.out, b"")
        self.assertIn("the machines differ: cores", outcome.errors)
        self.assertIn("--force", outcome.errors)
        forced = self.compare(0, other, "--force")
        self.assertIn("compared by force, although the machines differ: cores", " ".join(forced.text.split()))

    def test_unlike_scenarios(self):
        other = copy.deepcopy(self.base)
        other["run"]["scenario"]["fingerprint"] = "1" * 64
        other["run"]["overrides"] = {"variable.count": "7"}
        outcome = self.compare(2, other)
        self.assertIn("the scenarios differ: variable.count", outcome.errors)
        self.compare(1, planted(other, 1.5), "--force")

    def test_unreadable(self):
        for name, content in (("absent.json", None), ("empty.json", ""), ("list.json", "[]"), ("bad.json", b"\xff\xfe{"),
                              ("other.json", scenario())):
            with self.subTest(name):
                if content is not None:
                    self.write(name, content)
                outcome = self.expect(2, "compare", "base.json", name)
                self.assertIn(name, outcome.errors)
                self.assertEqual(outcome.out, b"")
                self.expect(2, "compare", name, "base.json")

    def test_wrong_usage(self):
        for arguments in ([], ["base.json"], ["base.json", "--between", "mode=leak"], ["base.json", "--between", "mode=leak", "mode"],
                          ["base.json", "base.json", "--between", "mode=leak", "mode=refcount"], ["-", "-"],
                          ["base.json", "base.json", "-f", "vega"], ["base.json", "base.json", "--metric", "wal_time"],
                          ["base.json", "base.json", "--threshold", "wall_time"], ["base.json", "base.json", "--threshold", "wall_time=5"],
                          ["base.json", "base.json", "--threshold", "wal_time=5%"],
                          ["base.json", "base.json", "--threshold", "wall_time=5%,1MiB"],
                          ["base.json", "base.json", "--gate", "absent"], ["base.json", "base.json", "--surprise"]):
            with self.subTest(arguments):
                outcome = self.expect(2, "compare", *arguments)
                self.assertTrue(outcome.errors.strip())
                self.assertEqual(outcome.out, b"")
        self.assertIn('did you mean "wall_time"?', self.memsweep("compare", "base.json", "base.json", "--metric", "wal_time").errors)

    def test_nothing_in_common(self):
        other = copy.deepcopy(self.base)
        for case in other["cases"]:
            case["id"] = case["id"].replace("mode", "kind")
        self.assertIn("no case is in both", self.compare(2, other).errors)

    def test_nothing_judged(self):
        failing = copy.deepcopy(self.base)
        for case in failing["cases"]:
            case.update(status="timeout", reason="too slow")
        self.write("base.json", failing)
        self.compare(5, failing)

    def test_the_first_of_several_wins(self):
        self.write("same.json", self.base)
        self.write("slow.json", planted(self.base, 1.5))
        self.write("few.json", planted(self.base, 1, noise=NOISE[:3]))
        unlike = copy.deepcopy(self.base)
        unlike["machine"]["fingerprint"] = "0" * 64
        self.write("unlike.json", unlike)
        for code, candidates in ((0, ["same"]), (5, ["same", "few"]), (1, ["few", "slow", "same"]), (2, ["slow", "few", "unlike"])):
            with self.subTest(candidates):
                self.expect(code, "compare", "base.json", *[f"{name}.json" for name in candidates])
        # A regression of an exact counter stands, however few the repetitions.
        self.compare(1, planted(planted(self.base, 1, noise=NOISE[:3]), 1, "allocations", noise=[99]))

    def test_standard_input(self):
        self.expect(0, "compare", "base.json", "-", stdin=json.dumps(self.base).encode())


class Choices(CompareTest):
    def test_metric(self):
        slower = planted(self.base, 1.5)
        self.assertEqual({metric for _, metric in self.judged(0, slower, "--metric", "cpu_time", "--metric", "minor_faults")},
                         {"cpu_time", "minor_faults"})
        self.judged(1, slower, "--metric", "wall_time")

    def test_threshold(self):
        slower = planted(self.base, 1.1)
        self.assertEqual(self.wall_time(0, slower, "--threshold", "wall_time=20%")["threshold"], {"relative": 0.2, "absolute": 0})
        self.wall_time(1, slower, "--threshold", "wall_time=2%")
        self.wall_time(0, slower, "--threshold", "wall_time=2%,200ms")
        bigger = planted(self.base, 2e9, "working_set_peak")
        self.write("base.json", planted(self.base, 1.9e9, "working_set_peak"))
        self.judged(1, bigger)
        self.judged(0, bigger, "--threshold", "working_set_peak=2%,1GiB")

    def test_only_changed(self):
        slower = planted(self.base, 1.5, case="small/mode=leak")
        self.assertEqual(set(self.judged(1, slower, "--only-changed")), {("small/mode=leak", "wall_time")})
        text = self.compare(1, slower, "--only-changed").text
        self.assertNotIn("cpu_time", text)
        self.assertIn("wall_time", text)

    def gate(self, **keys):
        return self.write("gate.json", {"format": "memsweep-gate", "version": 1, **keys})

    def test_gate_file(self):
        slower = planted(self.base, 1.1)
        self.wall_time(0, slower, "--gate", self.gate(thresholds={"wall_time": "20%"}))
        self.wall_time(1, slower, "--gate", self.gate(thresholds={"cpu_time": "20%"}))
        self.wall_time(1, slower, "--gate", self.gate(thresholds={"wall_time": "20%"}), "--threshold", "wall_time=2%")
        self.assertEqual(self.wall_time(0, slower, "--gate", self.gate(informational=["wall_time"]))["verdict"], "informational")
        self.assertEqual({metric for _, metric in self.judged(0, slower, "--gate", self.gate(only=["cpu_time"]))}, {"cpu_time"})

    def test_gate_errors_have_a_place(self):
        self.write("gate.json", '{ "format": "memsweep-gate", "version": 1,\n  "treshold": {},\n  "thresholds": { "wall_time": "5" },\n'
                                '  "only": ["wal_time"] }')
        outcome = self.compare(2, self.base, "--gate", "gate.json")
        self.assertEqual(re.findall(r"(?m)^gate\.json:(\d+):\d+: ", outcome.errors), ["2", "3", "4"], f"\n{outcome}")
        self.assertIn('did you mean "thresholds"?', outcome.errors)
        for gate, said in (("memroy", 'did you mean "memory"?'), ("nope", "known: memory, quiet_machine")):
            outcome = self.memsweep("compare", "base.json", "base.json", "--gate", gate)
            self.assertIn(f"{gate}: cannot read: No such file or directory; {said}", outcome.errors)

    def test_gates_that_ship_are_found_by_name(self):
        self.write("slow.json", planted(self.base, 1.5))
        names = sorted(path.stem for path in (SOURCE / "configs/gates").glob("*.json"))
        self.assertIn("memory", names)
        for name in names:
            with self.subTest(name):
                code = 0 if name == "memory" else 1
                here = [str(self.folder / "base.json"), str(self.folder / "slow.json")]
                outcome = execute("compare", *here, "--gate", name, cwd=SOURCE)
                self.assertEqual(outcome.code, code, f"\n{outcome}")

    def test_the_gate_memory_judges_no_time(self):
        for case in self.base["cases"]:
            for name in ("run_delay_time", "kernel_time"):  # waiting, or dearer page faults, would explain a latency
                if name in case["metrics"]:
                    case["metrics"][name]["values"] = [0] * len(NOISE)
        slower = copy.deepcopy(self.base)
        times = set()
        for case in slower["cases"]:
            latency = copy.deepcopy(case["metrics"]["wall_time"])
            case["metrics"]["release_latency_max"] = latency
            for name, metric in case["metrics"].items():
                if metric["unit"] == "s":
                    times.add(name)
                    metric["values"] = [3 * value for value in metric["values"]]
        for case in self.base["cases"]:
            case["metrics"]["release_latency_max"] = copy.deepcopy(case["metrics"]["wall_time"])
        self.write("base.json", self.base)
        shutil.copy(SOURCE / "configs/gates/memory.json", self.folder / "memory.json")
        judged = self.judged(0, slower, "--gate", "memory.json")
        verdicts = {metric: one["verdict"] for (_, metric), one in judged.items()}
        self.assertIn("release_latency_max", times)
        self.assertEqual({verdicts[name] for name in times if name in verdicts}, {"informational"})
        self.compare(1, slower)

    def test_explain(self):
        text = " ".join(self.compare(1, planted(self.base, 1.5), "--explain").text.split())
        for part in ("n = 10, median", "Hodges-Lehmann", "95 % interval", "Mann-Whitney p = ", "q = ", "allowed: 5 %",
                     "it would pass with --threshold wall_time="):
            self.assertIn(part, text)
        few = planted(self.base, 1, noise=NOISE[:3])
        self.assertRegex(" ".join(self.compare(5, few, "--explain").text.split()), r"needed: \d+ repetitions of each side")

    def test_the_threshold_that_explain_names_lets_it_pass(self):
        slower = planted(self.base, 1.237)
        threshold = re.search(r"--threshold (wall_time=\S+)", self.compare(1, slower, "--explain", "--only-changed").text)
        self.compare(0, slower, "--threshold", threshold.group(1))


class Between(CompareTest):
    def test_ratio_with_interval(self):
        slower = planted(self.base, 3, case="small/mode=leak")
        self.write("one.json", planted(slower, 3, "time_per_op", case="small/mode=leak"))
        document = strict_json(self.expect(1, "compare", "one.json", "--between", "mode=refcount", "mode=leak", "-f", "json").out)
        comparison = document["comparisons"][0]
        self.assertTrue(comparison["between"])
        self.assertEqual((comparison["base"]["name"], comparison["candidate"]["name"]), ("mode=refcount", "mode=leak"))
        found = [one for one in comparison["judgements"] if one["metric"] == "wall_time"]
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0]["base_case"], found[0]["candidate_case"]), ("small/mode=refcount", "small/mode=leak"))
        self.assertAlmostEqual(found[0]["effect"]["estimate"], 3, delta=0.05)
        low, high = found[0]["effect"]["ci95"]
        self.assertLessEqual(low, 3 * 1.03)
        self.assertGreaterEqual(high, 3 * 0.97)
        text = " ".join(self.expect(1, "compare", "one.json", "--between", "mode=refcount", "mode=leak").text.split())
        self.assertRegex(text, r"mode=leak: .*of mode=refcount \(95 % interval [\d.]+ to [\d.]+\)")
        self.expect(0, "compare", "one.json", "--between", "mode=leak", "mode=refcount", "--metric", "wall_time")
        self.expect(0, "compare", "one.json", "--between", "mode=refcount", "mode=leak", "--no-gate")

    def test_options_may_come_first(self):
        self.expect(0, "compare", "--between", "mode=refcount", "mode=leak", "--metric", "wall_time", "base.json")

    def test_values_that_no_case_has(self):
        outcome = self.expect(2, "compare", "base.json", "--between", "mode=refcount", "mode=arena")
        self.assertIn("no case has mode=arena; there are: mode=leak, mode=refcount", outcome.errors)
        self.assertIn("axes: mode", self.expect(2, "compare", "base.json", "--between", "mod=refcount", "mode=leak").errors)


class Formats(CompareTest):
    def hostile(self):
        """A base and a candidate in which every text from a result is hostile, and something of every verdict."""
        base = copy.deepcopy(self.base)
        base["machine"]["host"] = HOSTILE
        for case in base["cases"]:
            case["params"]["mode"] += HOSTILE
            case["scenario"] = HOSTILE
            case["id"] = f"{HOSTILE}/mode={case['params']['mode']}"
            case["metrics"][HOSTILE] = copy.deepcopy(case["metrics"]["wall_time"])
        candidate = planted(base, 2, HOSTILE)
        candidate["cases"][1].update(status="error", reason=HOSTILE)
        extra = copy.deepcopy(candidate["cases"][0])
        extra["id"] += "x"
        candidate["cases"].append(extra)
        self.write("base.json", base)
        return candidate

    def test_text_fits_80_columns(self):
        for candidate_of in (lambda: planted(self.base, 1.5), self.hostile):
            candidate = candidate_of()
            for options in ([], ["--explain"], ["--only-changed"]):
                outcome = self.compare(1, candidate, *options)
                for line in outcome.text.splitlines():
                    self.assertLessEqual(len(line), 80, line)
                self.assertNotIn("\x1b", outcome.text)
                self.assertNotIn("\x07", outcome.text)
                self.assertNotIn("\u202e", outcome.text)
            self.assertIn("regressed", outcome.text.splitlines()[0], "the verdict comes first")

    def test_colour(self):
        self.write("slow.json", planted(self.base, 1.5))
        painted = self.expect(1, "compare", "base.json", "slow.json", "--color", "always").text
        self.assertIn("\x1b[31m", painted)
        plain = re.sub(r" +(?m:$)", "", re.sub(r"\x1b\[\d*m", "", painted))
        self.assertEqual(plain, self.expect(1, "compare", "base.json", "slow.json").text)
        env = environment(CLICOLOR_FORCE="1", NO_COLOR="1")
        self.assertNotIn("\x1b", self.expect(1, "compare", "base.json", "slow.json", env=env).text)

    def test_junit(self):
        for candidate_of in (lambda: planted(self.base, 1.5, case="small/mode=leak"), self.hostile):
            candidate = candidate_of()
            outcome = self.compare(1, candidate, "-f", "junit", "-o", "r.xml")
            self.assertEqual(outcome.out, b"")
            suites = xml.etree.ElementTree.parse(self.folder / "r.xml").getroot()
            self.assertEqual(suites.tag, "testsuites")
            cases = suites.findall("testsuite/testcase")
            judged = [key for key, one in self.judged(1, "candidate.json").items() if one["verdict"] != "informational"]
            self.assertEqual(len(cases), len(judged), "one test case per judged metric")
            self.assertEqual(int(suites.get("tests")), len(cases))
            self.assertEqual(int(suites.get("failures")), len(suites.findall("testsuite/testcase/failure")))
            self.assertEqual(int(suites.get("skipped")), len(suites.findall("testsuite/testcase/skipped")))
            self.assertGreaterEqual(int(suites.get("failures")), 1)
            self.assertEqual(len({(case.get("classname"), case.get("name")) for case in cases}), len(cases))
            if shutil.which("xmllint"):
                checked = subprocess.run(["xmllint", "--noout", self.folder / "r.xml"], capture_output=True, check=False)
                self.assertEqual(checked.returncode, 0, checked.stderr)
        quiet = xml.etree.ElementTree.fromstring(self.compare(0, "candidate.json", "-f", "junit", "--no-gate").out)
        self.assertEqual(quiet.findall("testsuite/testcase/failure"), [])

    def test_junit_is_checked_by_xmllint(self):
        if not shutil.which("xmllint"):
            self.leave_out(self.id(), "xmllint is not installed")

    def test_json(self):
        for candidate_of in (lambda: self.base, self.hostile):
            candidate = candidate_of()
            outcome = self.memsweep("compare", "base.json", self.write("candidate.json", candidate), "-f", "json", "--explain")
            document = strict_json(outcome.out)
            self.check_numbers(document)
            for comparison in document["comparisons"]:
                self.assertEqual(sum(comparison["counts"].values()), len(comparison["judgements"]))
                for one in comparison["judgements"]:
                    self.assertIn(one["verdict"], comparison["counts"])
                    self.assertTrue(one["explanation"] and one["why"])
            again = self.memsweep("compare", "base.json", "candidate.json", "-f", "json", "--explain")
            self.assertEqual(again.out, outcome.out, "the same bytes")

    def test_markdown(self):
        text = self.compare(1, planted(self.base, 1.5, case="small/mode=leak"), "-f", "md").text
        self.assertRegex(text, r"\A<!-- memsweep comparison small -->\n### \u2717 1 of \d+ metrics regressed")
        self.assertIn("**regressed**", text)
        self.assertEqual(text.count("<details>"), 2, "the tables are folded")
        self.assertEqual(text.count("</details>"), 2)
        for block in re.findall(r"(?m)(?:^\|.*\n)+", text):
            self.assertEqual(len({line.count("|") for line in block.splitlines()}), 1, "as many cells in every row")
        hostile = self.compare(1, self.hostile(), "-f", "md").text
        for block in re.findall(r"(?m)(?:^\|.*\n)+", hostile):
            self.assertEqual({line.count("|") for line in block.splitlines()}, {7}, "a name ends a cell")
        for active in ("</script", "<b>", "`", "@all", "all#", "https://", "[x]", "\x07", "\x1b"):
            self.assertNotIn(active, hostile)

    def test_several_candidates(self):
        self.write("slow.json", planted(self.base, 1.5))
        self.write("same.json", self.base)
        text = self.expect(1, "compare", "base.json", "slow.json", "same.json").text
        self.assertEqual(text.count("\nbase "), 2)
        document = strict_json(self.expect(1, "compare", "base.json", "slow.json", "same.json", "-f", "json").out)
        self.assertEqual([one["outcome"] for one in document["comparisons"]], ["regressed", "passed"])
        root = xml.etree.ElementTree.fromstring(self.expect(1, "compare", "base.json", "slow.json", "same.json", "-f", "junit").out)
        self.assertEqual(len(root.findall("testsuite")), 2)

    def test_output_file(self):
        plain = self.compare(0, self.base, "-o", "out.txt")
        self.assertEqual(plain.out, b"")
        self.assertTrue((self.folder / "out.txt").read_text().startswith("No regression"))
        self.compare(2, self.base, "-o", "no/such/folder/../../../../proc/none")
        self.assertEqual(self.compare(0, self.base, "-q").out, b"")

    def test_other_locales_change_nothing(self):
        self.write("slow.json", planted(self.base, 1.5))
        foreign = self.german()
        for form in ("json", "md", "junit", "text"):
            plain = self.expect(1, "compare", "base.json", "slow.json", "-f", form)
            german = self.expect(1, "compare", "base.json", "slow.json", "-f", form, env=foreign)
            self.assertEqual(plain.out, german.out)


class Baseline(CompareTest):
    KEYS = {"repetitions": 6, "steps": [alloc(), sample("held"), drop()]}

    def small_baseline(self):
        self.small(**self.KEYS)
        self.expect(0, "run", "small.json", "-q", "-o", "before.json")
        return json.loads((self.folder / "before.json").read_text())

    def exactly(self, before, factor):
        """Only an exact counter differs from what will be measured: the machine decides nothing."""
        for metric in before["cases"][0]["metrics"].values():
            if metric["class"] == "noisy":
                metric["values"] = [1e12 * value for value in NOISE]
        counter = before["cases"][0]["metrics"]["allocated_bytes"]
        counter["values"] = [factor * value for value in counter["values"]]
        self.write("before.json", before)

    def run_against(self, code, *options):
        return self.expect(code, "run", "small.json", "-o", "after.json", "--baseline", "before.json", *options)

    def test_more_bytes_than_the_baseline_fail_the_run(self):
        self.exactly(self.small_baseline(), 0.5)
        outcome = self.run_against(1)
        self.assertIn("allocated_bytes", outcome.text)
        self.assertIn("regressed", outcome.text)
        self.assertEqual(self.result("after.json")["run"]["exit_code"], 1)
        self.assertIn("regressed", self.run_against(1, "-q").errors)

    def test_fewer_do_not(self):
        self.exactly(self.small_baseline(), 2)
        self.assertIn("improved", self.run_against(0).text)
        self.assertEqual(self.result("after.json")["run"]["exit_code"], 0)

    def reports_against(self, code):
        """The reports of a run that is held against its baseline, by format."""
        formats = ("junit", "md", "html", "badge", "text")
        self.run_against(code, *(word for name in formats for word in ("-r", f"{name}=r.{name}")))
        return {name: (self.folder / f"r.{name}").read_text() for name in formats}

    def test_reports_tell_the_verdict(self):
        before = self.small_baseline()
        self.exactly(before, 0.5)
        worse = self.reports_against(1)
        self.assertRegex(worse["junit"], r'<testsuites [^>]*failures="[1-9]')
        self.assertIn('type="regressed"', worse["junit"])
        self.assertRegex(worse["badge"], r"\d regressed")
        for name in ("md", "html", "text"):
            self.assertIn("regressed", worse[name])
            self.assertIn("allocated_bytes", worse[name])
        self.exactly(before, 4)
        better = self.reports_against(0)
        self.assertRegex(better["junit"], r'<testsuites [^>]*failures="0"')
        self.assertRegex(better["badge"], r"\d improved")
        self.assertIn("improved", better["md"])

    def test_a_threshold_holds_for_a_baseline_too(self):
        self.exactly(self.small_baseline(), 0.5)
        self.run_against(0, "--threshold", "allocated_bytes=150%")
        self.assertIn("judged nothing", self.run_against(1, "--threshold", "instructions=1%").errors)
        self.assertIn("what to compare with", self.expect(2, "run", "--threshold", "wall_time=5%", "--", "true").errors)
        self.assertIn("what to compare with", self.expect(2, "run", "small.json", "--threshold", "wall_time=5%").errors)

    def test_a_quick_run_never_gates(self):
        self.exactly(self.small_baseline(), 0.5)
        self.assertIn("regressed", self.run_against(0, "--quick", "-r", "badge=r.svg").text)
        self.assertIn("no gate", (self.folder / "r.svg").read_text())

    def test_too_few_repetitions(self):
        self.exactly(self.small_baseline(), 1)
        self.run_against(5, "-n", "2")

    def test_a_gate_decides_what_is_judged(self):
        self.exactly(self.small_baseline(), 0.5)
        gate = self.write("gate.json", {"format": "memsweep-gate", "version": 1, "thresholds": {"allocated_bytes": "150%"}})
        self.run_against(0, "--gate", gate)
        self.expect(2, "run", "small.json", "--gate", gate)

    def test_an_unfit_baseline_ends_the_run_before_it_begins(self):
        before = self.small_baseline()
        self.write("before.json", "{")
        self.assertIn("before.json", self.run_against(2).errors)
        before["run"]["scenario"]["fingerprint"] = "0" * 64
        self.write("before.json", before)
        self.assertIn("the scenarios differ", self.run_against(2, "--events", "e").errors)
        self.assertFalse((self.folder / "after.json").exists())
        self.assertFalse((self.folder / "e").exists())

    def test_stdout_that_is_taken_stays_whole(self):
        self.exactly(self.small_baseline(), 0.5)
        outcome = self.expect(1, "run", "small.json", "-o", "-", "--baseline", "before.json")
        self.check_result(strict_json(outcome.out))
        self.assertIn("regressed", outcome.errors)

    def test_a_baseline_may_be_replaced_by_its_own_run(self):
        self.exactly(self.small_baseline(), 2)
        self.expect(0, "run", "small.json", "-o", "before.json", "--baseline", "before.json", "-q")
        self.result("before.json")


if __name__ == "__main__":
    unittest.main()
