"""Several results in one report: what they make together, and what is said of those that do not belong together."""

import copy
import csv
import glob
import io
import json
import random

from memsweep_cli import SOURCE, CliTest, strict_json, validator

REFERENCE = json.loads((SOURCE / "results/reference/churn.json").read_text())
RUNS = 20
SLOWER_FROM = 12


def run(number, factor, generator):
    """The reference as another run: every figure that varies with a scatter of its own, times by a factor."""
    result = copy.deepcopy(REFERENCE)
    result["run"]["id"] += f"-{number}"
    result["run"]["started"] = f"2026-03-{number + 1:02}T06:00:00.000Z"
    for case in result["cases"]:
        case["series"] = []
        for metric in case["metrics"].values():
            if metric["class"] == "noisy" and metric["summary"]:
                scale = generator.uniform(0.99, 1.01) * (factor if metric["unit"] == "s" else 1)
                metric["values"] = [value if value is None else value * scale for value in metric["values"]]
                for key in ("min", "max", "mean", "median", "mad"):
                    metric["summary"][key] *= scale
                metric["summary"]["ci95"] = metric["summary"]["ci95"] and [end * scale for end in metric["summary"]["ci95"]]
    return result


class Histories(CliTest):
    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        self.paths = []
        for number in range(RUNS):
            path = self.folder / f"run-{number:02}.json"
            path.write_text(json.dumps(run(number, 1.2 if number >= SLOWER_FROM else 1, generator)))
            self.paths.append(path.name)

    def document(self, *paths):
        return strict_json(self.expect(0, "report", *(paths or self.paths), "-f", "json").out)

    def test_a_step_is_found_in_every_time_and_nowhere_else(self):
        document = self.document(*reversed(self.paths))
        (history,) = document["histories"]
        self.assertEqual([one["name"] for one in history["runs"]], self.paths)
        self.assertEqual(document["left_out"], [])
        for trend in history["trends"]:
            expected = []
            # A drain of nothing takes less than the 100 ns below which no time of a single event counts.
            below_floor = trend["metric"] == "drain_time" and 0.2 * trend["points"][0]["median"] < 100e-9
            if trend["unit"] == "s" and trend["class"] == "noisy" and trend["points"][0]["median"] > 0 and not below_floor:
                expected = [(SLOWER_FROM, "informational" if trend["metric"] == "fault_cost" else "regressed")]
            self.assertEqual([(one["run"], one["verdict"]) for one in trend["changes"]], expected, (trend["case"], trend["metric"]))
            self.assertEqual(len(trend["points"]), RUNS)

    def test_runs_that_only_scatter_have_no_change(self):
        (history,) = self.document(*self.paths[:SLOWER_FROM])["histories"]
        self.assertEqual([trend["changes"] for trend in history["trends"] if trend["changes"]], [])
        self.assertGreater(history["noisy_metrics"], 50)
        self.assertIn("no change of level", self.expect(0, "report", *self.paths[:SLOWER_FROM]).text)

    def test_every_format_says_since_when(self):
        for form in ("text", "md", "csv", "json", "html"):
            with self.subTest(form):
                out = self.expect(0, "report", *self.paths, "-f", form, "-o", f"out.{form}")
                self.assertEqual(out.out, b"")
                written = (self.folder / f"out.{form}").read_bytes()
                self.assertIn(f"2026-03-{SLOWER_FROM + 1:02}".encode(), written)
                self.assertIn(b"regressed", written)
                if form != "text":  # which suits the terminal
                    self.assertEqual(self.expect(0, "report", *self.paths, "-f", form).out, written)
        rows = list(csv.DictReader(io.StringIO((self.folder / "out.csv").read_bytes().decode())))
        trends = self.document()["histories"][0]["trends"]
        self.assertEqual(len(rows), sum(point is not None for trend in trends for point in trend["points"]))
        self.assertEqual({row["run"] for row in rows if row["change"]}, {str(SLOWER_FROM + 1)})

    def test_what_does_not_belong_together_is_said(self):
        other = json.loads((self.folder / self.paths[0]).read_text())
        other["run"]["id"], other["machine"]["fingerprint"] = "elsewhere", "0" * 64
        (self.folder / "other.json").write_text(json.dumps(other))
        document = self.document(*self.paths, self.paths[3], "other.json")
        self.assertEqual(len(document["histories"]), 1)
        self.assertEqual(document["left_out"], [f"{self.paths[3]}: the run of {self.paths[3]} again",
                                                "other.json: the only run of churn with this scenario on this machine"])
        self.assertIn("no two runs", self.expect(2, "report", self.paths[0], "other.json", "-f", "html").errors)

    def test_a_format_without_history_is_refused(self):
        self.assertIn("one by one", self.expect(2, "report", *self.paths[:2], "-f", "prom").errors)

    def test_an_unreadable_result_does_not_hide_the_others(self):
        (self.folder / "broken.json").write_text("{")
        outcome = self.expect(2, "report", *self.paths, "broken.json", "-f", "json")
        self.assertIn("broken.json:1:", outcome.errors)
        self.assertEqual(len(strict_json(outcome.out)["histories"][0]["runs"]), RUNS)


class Schemas(CliTest):
    def problems(self, which, document):
        judge = validator(which)
        if judge is None:
            self.leave_out(f"documents against memsweep schema {which}", "python3-jsonschema is not installed")
        return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in judge.iter_errors(document)]

    def test_gate_files(self):
        for path in glob.glob(str(SOURCE / "configs/gates/*.json")):
            with open(path, encoding="utf-8") as file:
                self.assertEqual(self.problems("gate", json.load(file)), [], path)
        good = {"format": "memsweep-gate", "version": 1, "x-mine": 1, "thresholds": {"wall_time": "5%", "working_set_peak": "2%,1MiB", "minor_faults": "64"}}
        self.assertEqual(self.problems("gate", good), [])
        for broken in ({"version": 2}, {"treshold": {}}, {"thresholds": {"wall_tim": "5%"}}, {"thresholds": {"wall_time": 5}},
                       {"thresholds": {"wall_time": "five"}}, {"only": []}, {"only": ["wall_time", "wall_time"]}):
            with self.subTest(broken):
                self.assertTrue(self.problems("gate", good | broken))
                (self.folder / "gate.json").write_text(json.dumps(good | broken))
                result = str(SOURCE / "results/reference/churn.json")
                self.expect(2, "compare", result, result, "--gate", "gate.json")

    def test_comparisons(self):
        result = SOURCE / "results/reference/churn.json"
        document = strict_json(self.expect(0, "compare", str(result), str(result), "-f", "json", "--explain", "--points").out)
        self.assertEqual(self.problems("comparison", document), [])
        self.assertTrue(any("." in (one["metric"] or "") for one in document["comparisons"][0]["judgements"]))
        other = json.loads(result.read_text())
        other["cases"] = other["cases"][1:]
        (self.folder / "other.json").write_text(json.dumps(other))
        document = strict_json(self.expect(0, "compare", str(result), "other.json", "-f", "json").out)
        self.assertEqual(self.problems("comparison", document), [])
        self.assertTrue(self.problems("comparison", document | {"comparisons": []}))
        broken = copy.deepcopy(document)
        broken["comparisons"][0]["judgements"][0]["verdict"] = "worse"
        self.assertTrue(self.problems("comparison", broken))

    def test_histories(self):
        generator = random.Random(2)
        for number in range(3):
            (self.folder / f"{number}.json").write_text(json.dumps(run(number, 1, generator)))
        document = strict_json(self.expect(0, "report", "0.json", "1.json", "2.json", "-f", "json").out)
        self.assertEqual(self.problems("history", document), [])
        self.assertTrue(self.problems("history", document | {"histories": [{}]}))
