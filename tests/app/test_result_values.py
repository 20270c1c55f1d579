"""The result file, value by value: against its schema, against itself, and against the formats that are made from it."""

import copy
import csv
import hashlib
import html.parser
import io
import json
import math
import pathlib
import platform
import tempfile
import unittest
import unittest.mock

from memsweep_cli import CliTest, alloc, drop, execute, idle, sample, scenario, strict_json, validator

REPETITIONS = 7

# One of everything that a result can hold: several axes and types, series, phases, a skipped, a failed and a broken case.
RICH = scenario(
    "rich", description="one of everything", repetitions=REPETITIONS, warmup=1,
    axes={"zeta": [True, False], "alpha": ["1MiB", "2MiB"], "mid": [0, 1]}, exclude=[{"zeta": False, "mid": 1}],
    memory={"fail_every": "${axis.mid}"}, release={"mode": "finalizer"},
    steps=[alloc(size="${axis.alpha}", phase="fill"), sample("held"), drop(), sample("dropped"), {"op": "collect"}, {"op": "drain"},
           idle("20ms"), sample("end")],
    series={"interval": "2ms"},
    assert_=[{"expr": "end.live_bytes.max == 0B"}, {"where": {"zeta": True}, "expr": "held.live_bytes.max == 3B"},
             {"expr": "wall_time.max < 1ns", "severity": "warn"}])


class Result(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory(prefix="memsweep-test-") as folder:
            scenario_file = pathlib.Path(folder) / "rich.json"
            scenario_file.write_text(json.dumps(RICH))
            cls.scenario_bytes = scenario_file.read_bytes()
            cls.outcome = execute("run", "rich.json", "-q", "-o", "rich.out", "--max-memory", "1MiB", "--tag", "b=2", "--tag", "a=1", cwd=folder)
            cls.result_bytes = (pathlib.Path(folder) / "rich.out").read_bytes()
        cls.document = strict_json(cls.result_bytes)

    def setUp(self):
        super().setUp()
        self.write("rich.out", self.result_bytes)

    def test_exit_code_and_counts(self):
        self.assertEqual(self.outcome.code, 3, f"\n{self.outcome}")
        self.check_result(self.document)
        summary = self.document["summary"]
        counts = {"cases": 6, "ok": 1, "skipped": 3, "failed": 1, "errors": 1, "timeouts": 0, "assertions_failed": 1, "assertions_warned": 2,
                  "assertions_not_evaluated": 0}
        self.assertEqual(summary, counts, "2 MiB is above the budget, mid=1 plants a failure, zeta=true asserts what is wrong")

    def test_against_the_schema(self):
        judge = validator("result")
        if judge is None:
            self.leave_out("results against memsweep schema result", "python3-jsonschema is not installed")
        self.assertEqual([error.message for error in judge.iter_errors(self.document)], [])
        for broken in ({"format": "x"}, {"cases": {}}, {"summary": None}):
            self.assertTrue(list(judge.iter_errors(self.document | broken)), f"the schema lets {broken} pass")

    def test_these_checks_can_fail(self):
        judge = CliTest("check_result")
        judge.check_result(self.document)
        whole = self.document["cases"].index(self.case(self.document, "rich/alpha=1MiB/mid=0/zeta=false"))

        def metric(document):
            return document["cases"][whole]["metrics"]["wall_time"]

        wrong = {
            "NaN": lambda document: metric(document)["values"].__setitem__(0, math.nan),
            "infinity": lambda document: document["cases"][whole]["points"][0].update(t=math.inf),
            "a value dropped": lambda document: metric(document)["values"].pop(),
            "a missing value without reason": lambda document: metric(document)["values"].__setitem__(0, None),
            "another median": lambda document: metric(document)["summary"].update(median=metric(document)["summary"]["median"] * 1.01),
            "another count": lambda document: document["summary"].update(ok=document["summary"]["ok"] + 1),
            "another unit": lambda document: metric(document).update(unit="ms"),
            "no metric": lambda document: document["cases"][whole]["metrics"].pop("minor_faults"),
            "local time": lambda document: document["run"].update(started="2026-01-31T12:00:00+01:00"),
            "order of params": lambda document: document["cases"][whole].update(id="rich/zeta=false/mid=0/alpha=1MiB"),
            "twice": lambda document: document["cases"].append(document["cases"][whole]),
            "no reason": lambda document: document["cases"][whole].update(status="failed"),
            "a point of no repetition": lambda document: document["cases"][whole]["points"][0].update(repetition=REPETITIONS),
            "a curve of two lengths": lambda document: document["cases"][whole]["series"][0]["v"].pop(),
        }
        for what, damage in wrong.items():
            document = copy.deepcopy(self.document)
            damage(document)
            for schema in (validator("result"), None):
                with self.subTest(what, schema=schema is not None), unittest.mock.patch("memsweep_cli.validator", return_value=schema):
                    self.assertRaises(AssertionError, judge.check_result, document)
        for text in ('{"a": 1, "a": 2}', '{"a": NaN}', '{} {}', '{"a": 1,}'):
            self.assertRaises(ValueError, strict_json, text)

    def test_scenarios_against_the_schema(self):
        judge = validator("scenario")
        if judge is None:
            self.leave_out("scenarios against memsweep schema scenario", "python3-jsonschema is not installed")
        self.assertEqual([error.message for error in judge.iter_errors(RICH)], [])
        for broken in ({"repetitons": 1}, {"steps": [{"op": "drp"}]}, {"version": 2}, {"name": "No Name"}):
            self.assertTrue(list(judge.iter_errors(RICH | broken)), f"the schema lets {broken} pass")

    def test_every_repetition_is_kept(self):
        case = self.case(self.document, "rich/alpha=1MiB/mid=0/zeta=true")
        self.assertEqual((case["repetitions"], case["planned_repetitions"]), (REPETITIONS, REPETITIONS), "and no warm-up")
        self.assertEqual(case["params"], {"alpha": "1MiB", "mid": 0, "zeta": True}, "values keep their type")
        for name in ("held", "dropped", "end"):
            self.assertEqual([point["repetition"] for point in case["points"] if point["name"] == name], list(range(REPETITIONS)))
        self.assertEqual({series["repetition"] for series in case["series"]}, set(range(REPETITIONS)))
        self.assertEqual({series["name"] for series in case["series"]}, {"working_set", "live_bytes"})
        self.assertLessEqual({"fill", "drop", "collect", "drain", "idle"}, {phase["name"] for phase in case["phases"]})
        for phase in case["phases"]:
            self.assertLessEqual(0, phase["start"])
            self.assertLessEqual(phase["start"], phase["end"])
        for metric in case["metrics"].values():
            if metric["class"] == "exact" and metric["summary"] is not None:
                self.assertEqual(len(set(metric["values"])), 1, "an exact counter repeats to the last digit")

    def test_exact_values(self):
        case = self.case(self.document, "rich/alpha=1MiB/mid=0/zeta=false")
        points = {point["name"]: point for point in case["points"] if point["repetition"] == 3}
        self.assertEqual([points[name]["live_bytes"] for name in ("held", "dropped", "end")], [1 << 20, 1 << 20, 0])
        self.assertEqual([points[name]["floating_bytes"] for name in ("held", "dropped", "end")], [0, 1 << 20, 0])
        self.assertEqual(case["metrics"]["allocations"]["values"], [1] * REPETITIONS)
        self.assertEqual(case["metrics"]["allocated_bytes"]["values"], [1 << 20] * REPETITIONS)

    def test_run_and_machine(self):
        run, machine = self.document["run"], self.document["machine"]
        self.assertEqual(run["tags"], {"a": "1", "b": "2"})
        self.assertLessEqual(run["started"], run["ended"])
        self.assertEqual(run["argv"][1:3], ["run", "rich.json"])
        self.assertRegex(run["scenario"]["sha256"], "^[0-9a-f]{64}$")
        self.assertRegex(machine["fingerprint"], "^[0-9a-f]{64}$")
        self.assertGreater(machine["memory"], 0)
        self.assertEqual(run["scenario"]["sha256"], hashlib.sha256(self.scenario_bytes).hexdigest())
        self.assertEqual(machine["host"], platform.node())
        self.assertIn(platform.release(), machine["kernel"])

    def test_fingerprint_ignores_what_it_must(self):
        def fingerprint(document, *options):
            self.write("f.json", document)
            self.expect(0, "run", "f.json", "-q", "-o", "f.out", *options)
            return self.result("f.out")["run"]["scenario"]["fingerprint"]

        plain = scenario("f", axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        first = fingerprint(plain)
        same = {**plain, "description": "other", "x-mine": [1], "timeout": "9s", "seed": 4, "order": "shuffled", "repetitions": 2}
        self.assertEqual(fingerprint(same), first)
        self.assertEqual(fingerprint({key: plain[key] for key in reversed(plain)}, "-n", "1", "--seed", "7"), first)
        self.assertNotEqual(fingerprint(plain, "-a", "n=[1,3]"), first)
        self.assertNotEqual(fingerprint({**plain, "steps": [alloc(count="${axis.n}")]}), first)

    # What is made from it.

    def test_json_round_trip(self):
        again = self.expect(0, "report", "rich.out", "-f", "json").out
        self.assertEqual(again, self.result_bytes, "reading and writing changes nothing")

    def rows(self, form):
        outcome = self.expect(0, "report", "rich.out", "-f", form)
        self.assertEqual(outcome.out.count(b"\n"), outcome.out.count(b"\r\n"), "RFC 4180 line ends")
        return list(csv.DictReader(io.StringIO(outcome.out.decode(), newline=""), strict=True))

    def test_csv_agrees(self):
        rows = self.rows("csv")
        self.assertEqual(list(rows[0]), "run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status,"
                                        "axis.alpha,axis.mid,axis.zeta".split(","))
        for case in self.document["cases"]:
            of_case = [row for row in rows if row["case"] == case["id"]]
            self.assertEqual({row["status"] for row in of_case}, {case["status"]})
            written = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in case["params"].items()}
            self.assertEqual({name: of_case[0][f"axis.{name}"] for name in written}, written)
            self.assertEqual(of_case[0]["params"], "/".join(f"{name}={value}" for name, value in written.items()))
            found = {(row["metric"], int(row["repetition"])): row["value"] for row in of_case if row["metric"]}
            values = {(name, i): value for name, metric in case["metrics"].items() for i, value in enumerate(metric["values"])}
            self.assertEqual({key: float(text) if text else None for key, text in found.items()}, values)

    def test_csv_summary_and_series_agree(self):
        for row in self.rows("csv-summary"):
            metric = self.case(self.document, row["case"])["metrics"].get(row["metric"])
            if metric is not None and metric["summary"] is not None:
                self.assertEqual(float(row["median"]), metric["summary"]["median"])
                self.assertEqual(int(row["n"]), metric["summary"]["n"])
        rows = self.rows("csv-series")
        self.assertEqual(len(rows), sum(len(series["t"]) for case in self.document["cases"] for series in case["series"]))

    def test_html_stands_alone(self):
        page = Page(self.expect(0, "report", "rich.out", "-f", "html").out.decode())
        self.assertEqual(page.outside, [], "refers to the network")
        self.assertEqual(page.left_open, [], "elements that are not closed")
        for case in self.document["cases"]:
            self.assertIn(case["params"]["alpha"], page.text)

    def test_terminal_text_agrees(self):
        text = self.expect(0, "report", "rich.out").text
        self.assertIn("rich", text)
        for status in ("failed", "error", "skipped"):
            self.assertIn(status, text)


class Page(html.parser.HTMLParser):
    """What a browser would make of it, as far as these tests care."""

    VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr", "source", "area", "base"}

    def __init__(self, text):
        super().__init__()
        self.text, self.outside, self.left_open, self.tags = "", [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))
        for name, value in attrs:
            if name in ("src", "href", "action", "data") and value and not value.startswith(("#", "data:")):
                self.outside.append((tag, value))
        if tag not in self.VOID:
            self.left_open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.left_open.pop()

    def handle_endtag(self, tag):
        if self.left_open and self.left_open[-1] == tag:
            self.left_open.pop()
        elif tag not in self.VOID:
            self.left_open.append(f"/{tag}")

    def handle_data(self, data):
        self.text += data


if __name__ == "__main__":
    unittest.main()
