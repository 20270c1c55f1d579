"""Each format read back by the program it is written for: what a report means to its reader, not what it looks like."""

import copy
import csv
import functools
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from memsweep_cli import CliTest, alloc, drop, environment, execute, idle, sample, scenario, strict_json

COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")  # where libbenchmark-tools puts it
REPETITIONS = 10  # compare.py calls its U test unreliable below 9

MEASURED = scenario(
    "formats", description="something of everything", repetitions=REPETITIONS,
    axes={"mode": ["refcount", "finalizer"], "size": ["64KiB", "64MiB"]}, release={"mode": "${axis.mode}"},
    steps=[alloc(size="${axis.size}", phase="fill"), sample("held"), drop(), {"op": "collect"}, {"op": "drain"},
           {"op": "repeat", "times": 3, "steps": [alloc(size="4KiB", phase="again"), drop()]}, idle("6ms"), sample("end")],
    series={"interval": "2ms"},
    assert_=[{"expr": "end.live_bytes.max == 0B"}, {"expr": "held.live_bytes.max == 3B"}, {"expr": "wall_time.max < 1ns", "severity": "warn"},
             {"expr": "ratio(wall_time.median, mode=finalizer, mode=refcount) > 0"}])

HOSTILE = ["</script><script>alert(1)</script>", "\"quoted\" 'and' \\back\\slashed\\", "one\ntwo\r\nthree\tfour", "a,b;c|d `e` *f* _g_ @h #1",
           "naïve 数组 🙂 \ufffe\uffff", "=cmd|' /C calc'!A0", "esc \x1b[31m \u202e \x00 \x7f \u2028", "{a=\"b\"} 1\n# EOF", "]]> <!-- & &amp; %s {} ",
           "x" * 20_000]
FORMATS = ("csv", "csv-summary", "csv-series", "csv-matrix", "gbench", "gha", "gha-smaller", "gha-bigger", "bmf", "prom", "openmetrics",
           "hyperfine", "badge", "junit", "trace", "md", "html", "svg", "vega", "health", "json", "text")


@functools.cache
def interpreter_with(*modules):
    """A Python that has them: this one, or the system's, where Debian's packages put theirs. None: neither has."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", f"import {', '.join(modules)}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def with_hostile_names(document, texts=HOSTILE):
    """Every name that a result can carry, and those of its metrics, replaced or lengthened by one that is hostile."""
    document = copy.deepcopy(document)
    names = iter(texts * 100)
    run = document["run"]
    run["scenario"]["name"] = next(names)
    run["scenario"]["description"], document["machine"]["host"], run["argv"][0] = next(names), next(names), next(names)
    run["tags"] = {next(names): next(names), next(names): next(names)}
    ids = {}
    for case in document["cases"]:
        case["params"] = {name + next(names): value if not isinstance(value, str) else value + next(names) for name, value in case["params"].items()}
        case["scenario"] = run["scenario"]["name"]
        ids[case["id"]] = case["id"] + next(names)
        case["id"] = ids[case["id"]]
        case["metrics"] = {name if name in ("wall_time", "cpu_time") else name + next(names): metric for name, metric in case["metrics"].items()}
        for part in ("points", "phases", "series"):
            for entry in case[part]:
                entry["name"] += texts[0]
    document["cases"][0]["metrics"] |= {"a-b": document["cases"][0]["metrics"]["wall_time"], "a b": document["cases"][0]["metrics"]["wall_time"]}
    for assertion in document["assertions"]:
        assertion["expr"] += next(names)
        assertion["case"] = ids.get(assertion["case"], assertion["case"])
    for warning in document["warnings"]:
        warning["message"] += next(names)
    return document


class WithResults(CliTest):
    """Results with something of everything in them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory(prefix="memsweep-test-") as folder:
            (pathlib.Path(folder) / "s.json").write_text(json.dumps(MEASURED))
            cls.outcome = execute("run", "s.json", "-q", "-o", "r.json", "--max-memory", "32MiB", cwd=folder)
            cls.document = strict_json((pathlib.Path(folder) / "r.json").read_bytes())
        cls.hostile = with_hostile_names(cls.document)
        # The asserted cases failed and the big ones were skipped; what is written about cases that are ok must be tested, too.
        cls.good = copy.deepcopy(cls.document)
        for case in cls.good["cases"]:
            if case["metrics"]:
                case["status"], case["reason"] = "ok", None
        cls.hostile_good = with_hostile_names(cls.good)

    def setUp(self):
        super().setUp()
        for name in ("document", "hostile", "good", "hostile_good"):
            self.write(f"{name}.json", getattr(self, name))


class Formats(WithResults):
    def report(self, name, form):
        return self.expect(0, "report", f"{name}.json", "-f", form).out

    def ok_cases(self, name):
        return [case for case in getattr(self, name)["cases"] if case["status"] == "ok"]

    def consumer(self, command, *args, stdin=None):
        done = subprocess.run([command, *args], input=stdin, capture_output=True, cwd=self.folder, env=environment(), timeout=120, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def program(self, name, package):
        found = shutil.which(name)
        if found is None:
            self.leave_out(self.id(), f"{name} is not installed ({package})")
        return found

    def python_with(self, package, *modules):
        python = interpreter_with(*modules)
        if python is None:
            self.leave_out(self.id(), f"no Python with {', '.join(modules)} ({package})")
        return python

    def test_the_result_has_something_of_everything(self):
        self.assertEqual(self.outcome.code, 1, f"\n{self.outcome}")
        self.check_result(self.document)
        self.assertEqual({case["status"] for case in self.document["cases"]}, {"failed", "skipped"})
        self.assertEqual(len(self.ok_cases("good")), 2)

    def test_every_format_is_listed_and_takes_every_name(self):
        listed = {row["format"] for row in strict_json(self.expect(0, "list", "formats", "--json").out)["rows"]}
        self.assertEqual(listed, set(FORMATS))
        words = re.split(r"[\s,]+", self.expect(0, "report", "--help").text)
        self.assertLessEqual(listed, set(words), "a format that --help does not name")
        for form in FORMATS:
            for name in ("document", "hostile", "good", "hostile_good"):
                with self.subTest(form, result=name):
                    self.assertTrue(self.report(name, form).decode("utf-8"))

    # gbench

    def test_gbench(self):
        document = strict_json(self.report("good", "gbench"))
        self.assertEqual(document["context"]["json_schema_version"], 1)
        cases = {case["id"]: case for case in self.good["cases"]}
        entries = document["benchmarks"]
        self.assertEqual(len(entries), REPETITIONS * len(self.ok_cases("good")))
        for entry in entries:
            case = cases[entry["name"]]
            self.assertEqual((entry["run_type"], entry["time_unit"]), ("iteration", "ns"))
            for key, metric in (("real_time", "wall_time"), ("cpu_time", "cpu_time")):
                self.assertAlmostEqual(entry[key] / 1e9, case["metrics"][metric]["values"][entry["repetition_index"]], delta=1e-12)
            self.assertEqual(entry["minor_faults"], case["metrics"]["minor_faults"]["values"][entry["repetition_index"]])
        skipped = {case["id"] for case in self.good["cases"] if case["status"] != "ok"}
        self.assertEqual({row["name"] for row in document["context"]["memsweep_skipped"]}, skipped)
        self.assertEqual(strict_json(self.report("document", "gbench"))["benchmarks"], [])

    def test_gbench_in_compare_py(self):
        if not COMPARE.exists():
            self.leave_out(self.id(), f"{COMPARE} is not installed (libbenchmark-tools)")
        python = self.python_with("python3-scipy", "numpy", "scipy")
        for name in ("good", "hostile_good"):
            with self.subTest(name):
                self.write("base.json", self.report(name, "gbench"))
                slower = strict_json((self.folder / "base.json").read_bytes())
                for entry in slower["benchmarks"]:
                    entry["real_time"] *= 3
                self.write("slower.json", slower)
                code, out, err = self.consumer(python, os.fspath(COMPARE), "--no-color", "-d", "out.json", "benchmarks", "base.json", "slower.json")
                self.assertEqual(code, 0, err)
                self.assertEqual(out.count(f"U Test, Repetitions: {REPETITIONS} vs {REPETITIONS}"), len(self.ok_cases(name)))
                rows = [row for row in strict_json((self.folder / "out.json").read_bytes()) if row["run_type"] == "iteration"]
                self.assertEqual(len(rows), len(self.ok_cases(name)))
                for row in rows:
                    self.assertAlmostEqual(row["measurements"][0]["time"], 2)
                    self.assertLess(row["utest"]["time_pvalue"], 0.01)

    # gha and bmf

    def test_gha_is_a_file_per_direction(self):
        document = copy.deepcopy(self.good)
        turned = self.ok_cases("good")[0]["id"]
        next(case for case in document["cases"] if case["id"] == turned)["metrics"]["allocations"]["better"] = "higher"
        self.write("both.json", document)
        outcome = self.expect(2, "report", "both.json", "-f", "gha")
        self.assertIn("gha-smaller or gha-bigger", outcome.errors)
        self.assertEqual(outcome.out, b"")
        (self.folder / "out").mkdir()
        self.expect(0, "report", "both.json", "-f", "gha", "-o", "out/NAME")
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["NAME.bigger.json", "NAME.smaller.json"])
        smaller, bigger = (strict_json((self.folder / f"out/NAME.{which}.json").read_bytes()) for which in ("smaller", "bigger"))
        self.assertEqual([entry["name"] for entry in bigger], [f"{turned}/allocations"])
        self.assertEqual(smaller, [entry for entry in strict_json(self.report("good", "gha")) if entry["name"] != f"{turned}/allocations"])
        for part, entries in (("gha-smaller", smaller), ("gha-bigger", bigger)):
            self.assertEqual(strict_json(self.expect(0, "report", "both.json", "-f", part).out), entries)

    def test_gha_entries(self):
        for name in ("good", "hostile_good"):
            entries = strict_json(self.report(name, "gha"))
            medians = sum(metric["summary"] is not None for case in self.ok_cases(name) for metric in case["metrics"].values())
            self.assertEqual(len(entries), medians)
            self.assertEqual(len({entry["name"] for entry in entries}), medians, "charts are kept by name")
            for entry in entries:
                self.assertIsInstance(entry["value"], (int, float))
                self.assertRegex(entry["name"], r"^[!-~]+$")
                self.assertRegex(entry["range"], r"^± [0-9.e+-]+$", "the only form that is scaled with the value")
                self.assertEqual([line.split("=")[0] for line in entry["extra"].split("\n")], ["n", "mad", "min"])
        self.assertEqual(strict_json(self.report("document", "gha")), [])

    def test_bmf(self):
        for name in ("good", "hostile_good"):
            document = strict_json(self.report(name, "bmf"))
            self.assertEqual(len(document), len(self.ok_cases(name)))
            for benchmark, measures in document.items():
                self.assertTrue(0 < len(benchmark) <= 1024)
                for slug, value in measures.items():
                    self.assertRegex(slug, r"^[a-z0-9]+(-[a-z0-9]+)*$")
                    self.assertEqual(set(value), {"value", "lower_value", "upper_value"})
                    self.assertLessEqual(value["lower_value"], value["value"])
                    self.assertLessEqual(value["value"], value["upper_value"])
        case = self.ok_cases("good")[0]
        found = strict_json(self.report("good", "bmf"))[case["id"]]["wall-time"]
        summary = case["metrics"]["wall_time"]["summary"]
        self.assertEqual(found, {"value": summary["median"], "lower_value": summary["ci95"][0], "upper_value": summary["ci95"][1]})

    # prom and openmetrics

    def test_prom_in_promtool(self):
        promtool = self.program("promtool", "prometheus")
        for name in ("document", "good"):
            code, out, err = self.consumer(promtool, "check", "metrics", stdin=self.report(name, "prom"))
            self.assertEqual((code, out, err), (0, "", ""), name)
        for name in ("hostile", "hostile_good"):
            code, out, err = self.consumer(promtool, "check", "metrics", stdin=self.report(name, "prom"))
            self.assertNotIn("error while linting", out + err, f"{name}: it cannot even be read")
            self.assertIn(code, (0, 3), "3: it finds fault with the style of a name")

    READ_OPENMETRICS = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
text = open(sys.argv[1], encoding="utf-8", newline="\\n").read()
json.dump([[family.name, family.type, family.unit, [[one.labels, one.value] for one in family.samples]]
           for family in text_string_to_metric_families(text)], sys.stdout)
"""

    def openmetrics(self, name):
        python = self.python_with("python3-prometheus-client", "prometheus_client")
        self.write("metrics.txt", self.report(name, "openmetrics"))
        code, out, err = self.consumer(python, "-c", self.READ_OPENMETRICS, "metrics.txt")
        self.assertEqual(code, 0, err[-3000:])
        return {family: (kind, unit, samples) for family, kind, unit, samples in json.loads(out)}

    def test_openmetrics_in_prometheus_client(self):
        families = self.openmetrics("good")
        self.assertTrue(self.report("good", "openmetrics").endswith(b"\n# EOF\n"))
        _, unit, samples = families["memsweep_wall_time_seconds"]
        self.assertEqual(unit, "seconds")
        found = {(labels["mode"], labels["size"]): value for labels, value in samples}
        medians = {(case["params"]["mode"], case["params"]["size"]): case["metrics"]["wall_time"]["summary"]["median"] for case in self.ok_cases("good")}
        self.assertEqual(found, medians)
        self.assertEqual(families["memsweep_build"][0], "info")
        self.assertEqual(families["memsweep_live_bytes_peak_bytes"][1], "bytes")
        statuses = {labels["status"]: value for labels, value in families["memsweep_cases"][2]}
        self.assertEqual(statuses, {"ok": 2, "skipped": 2, "failed": 0, "error": 0, "timeout": 0})
        for name in ("document", "hostile"):
            self.openmetrics(name)

    def test_openmetrics_keeps_hostile_values(self):
        families = self.openmetrics("hostile_good")
        _, _, samples = families["memsweep_wall_time_seconds"]
        self.assertEqual(len(samples), len(self.ok_cases("hostile_good")))
        for (labels, value), case in zip(samples, self.ok_cases("hostile_good")):
            self.assertEqual(labels["scenario"], case["scenario"])
            self.assertLessEqual({text for text in case["params"].values() if isinstance(text, str)}, set(labels.values()))
            self.assertEqual(value, case["metrics"]["wall_time"]["summary"]["median"])

    # junit

    def test_junit_in_xmllint(self):
        xmllint = self.program("xmllint", "libxml2-utils")
        for name in ("document", "good", "hostile", "hostile_good"):
            code, out, err = self.consumer(xmllint, "--noout", "--nonet", "-", stdin=self.report(name, "junit"))
            self.assertEqual((code, out, err), (0, "", ""), name)

    def test_junit_agrees(self):
        for name in ("document", "hostile"):
            document = getattr(self, name)
            root = xml.etree.ElementTree.fromstring(self.report(name, "junit"))
            self.assertEqual(root.tag, "testsuites")
            tests = root.findall("testsuite/testcase")
            skipped = document["summary"]["skipped"]
            self.assertEqual(len(tests), len(document["assertions"]) + skipped)
            self.assertEqual(len(root.findall("testsuite/testcase/failure")), document["summary"]["assertions_failed"])
            self.assertEqual(len(root.findall("testsuite/testcase/skipped")), skipped)
            self.assertEqual({key: int(root.get(key)) for key in ("tests", "failures", "errors", "skipped")},
                             {"tests": len(tests), "failures": document["summary"]["assertions_failed"], "errors": 0, "skipped": skipped})
            warned = [test for test in tests if (test.findtext("system-out") or "").startswith("warned: ")]
            self.assertEqual(len(warned), document["summary"]["assertions_warned"])
            for test in tests:
                self.assertGreaterEqual(float(test.get("time")), 0)
        root = xml.etree.ElementTree.fromstring(self.report("document", "junit"))
        expressions = {test.get("name") for test in root.iter("testcase")}
        self.assertLessEqual({assertion["expr"] for assertion in self.document["assertions"]}, expressions)
        self.assertTrue(all(test.get("classname").startswith("formats") for test in root.iter("testcase")))

    # svg

    def test_svg_is_one_file_of_well_formed_xml(self):
        space = "{http://www.w3.org/2000/svg}"
        for name in ("document", "hostile", "good", "hostile_good"):
            with self.subTest(name):
                text = self.report(name, "svg").decode()
                root = xml.etree.ElementTree.fromstring(text)
                self.assertEqual(root.tag, f"{space}svg")
                self.assertEqual({element.tag.removeprefix(space) for element in root.iter()},
                                 {"svg", "title", "desc", "style", "rect", "text", "path", "circle"})
                self.assertNotRegex(text, r"href|url\(|@import|<!DOCTYPE|\son[a-z]+=", "it fetches and runs nothing")
                drawn = sum(metric in case["metrics"] for case in getattr(self, name)["cases"] for metric in ("wall_time", "working_set_peak"))
                self.assertGreater(drawn, 0)
                self.assertEqual(len(root.findall(f"{space}circle")), drawn, "a dot for each time and each peak")
                for element in root.iter(f"{space}text"):
                    self.assertTrue(0 <= float(element.get("y")) <= float(root.get("height")))
                    self.assertTrue(0 <= float(element.get("x")) <= float(root.get("width")))
                    self.assertLess(len("".join(element.itertext())), 130, "no name is wider than the picture")

    def test_svg_beside_the_result_is_no_badge(self):
        self.expect(0, "report", "good.json", "-f", "svg", "-o", "chart.svg")
        self.assertEqual((self.folder / "chart.svg").read_bytes(), self.report("good", "svg"))
        self.assertNotEqual(self.report("good", "svg"), self.report("good", "badge"))

    # trace

    def test_trace(self):
        for name in ("good", "hostile_good"):
            trace = strict_json(self.report(name, "trace"))
            events = trace["traceEvents"]
            self.assertEqual({event["ph"] for event in events}, {"M", "X", "C", "i"}, "what Perfetto imports without a loss")
            names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
            self.assertEqual(list(names.values()), [case["id"] for case in getattr(self, name)["cases"]])
            phases = sum(len(case["phases"]) for case in getattr(self, name)["cases"])
            self.assertEqual(sum(event["ph"] == "X" and event["tid"] != 1 for event in events), phases)
            self.assertEqual(sum(event["ph"] == "i" for event in events), sum(len(case["points"]) for case in getattr(self, name)["cases"]))
            self.check_nesting(events)
            for event in events:
                if event["ph"] == "C":
                    self.assertTrue(all(isinstance(value, (int, float)) for value in event["args"].values()))
        self.assertIn("working_set", {event["name"] for event in strict_json(self.report("good", "trace"))["traceEvents"] if event["ph"] == "C"})

    def check_nesting(self, events):
        tracks = {}
        for event in events:
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                nanoseconds = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
                tracks.setdefault((event["pid"], event["tid"]), []).append(nanoseconds)
        for track, spans in tracks.items():
            enclosing = []
            for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
                while enclosing and enclosing[-1] <= start:
                    enclosing.pop()
                self.assertTrue(not enclosing or end <= enclosing[-1], f"{track}: overlaps, which Perfetto does not support")
                enclosing.append(end)

    # md

    def test_md(self):
        text = self.report("document", "md").decode()
        self.assertRegex(text.split("\n")[0], r"^## ✗ 0 of 4 cases ok; ", "the verdict first")
        self.assertIn("| ✗ FAILED | held.live_bytes.max == 3B ", text)
        for name in ("document", "good", "hostile", "hostile_good"):
            self.check_markdown(self.report(name, "md").decode())

    def check_markdown(self, text):
        self.assertLess(len(text.encode()), 1 << 20, "GitHub drops a larger summary")
        self.assertEqual(set(re.findall(r"<(?!!-- -->)[^>]*>?", text)), {"<details>", "</details>", "<summary>", "</summary>"})
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        width = None
        for line in text.split("\n"):
            if line.startswith("|"):
                cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
                self.assertIn(width, (None, cells), f"a name has made a column: {line[:300]}")
                width = cells
            else:
                width = None
            self.assertRegex(line, r"^(|\||- |## |### |<|[A-Za-z0-9\\].*)", "a name begins a block of its own")
        self.assertNotRegex(text, r"(?<!\\)`")

    # csv and its parts

    def test_sizes_of_axes_are_read_at_a_glance(self):
        text = self.report("document", "text").decode()
        self.assertRegex(text, r"(?m)^ *(refcount|finalizer)? +64KiB ")
        self.assertNotIn(" 65536 ", text)

    def test_csv_parts_lie_beside_it(self):
        (self.folder / "out").mkdir()
        self.expect(0, "report", "document.json", "-f", "csv", "-o", "out/all.csv")
        parts = {"all.csv": "csv", "all.summary.csv": "csv-summary", "all.series.csv": "csv-series"}
        self.assertEqual(set(os.listdir(self.folder / "out")), set(parts), "and none without a row, as the matrices here would be")
        for name, form in parts.items():
            self.assertEqual((self.folder / "out" / name).read_bytes(), self.report("document", form))
        self.assertEqual(self.report("document", "csv-matrix"), b"matrix,row,col,value,unit\r\n")
        self.assertEqual(self.expect(0, "report", "document.json", "-f", "csv", "-o", "/dev/stdout").out, self.report("document", "csv"))

    def test_a_part_without_rows_replaces_an_earlier_one(self):
        self.write("all.matrix.csv", "of another result")
        self.expect(0, "report", "document.json", "-f", "csv", "-o", "all.csv")
        self.assertEqual((self.folder / "all.matrix.csv").read_bytes(), self.report("document", "csv-matrix"))

    def test_csv_has_a_column_per_axis(self):
        for form in ("csv", "csv-summary"):
            for row in csv.DictReader(io.StringIO(self.report("document", form).decode(), newline="")):
                self.assertEqual(row["params"], f"mode={row['axis.mode']}/size={row['axis.size']}")
                self.assertTrue(row["case"].endswith(row["params"]))

    def test_csv_keeps_hostile_names(self):
        for form in ("csv", "csv-summary", "csv-series"):
            rows = list(csv.reader(io.StringIO(self.report("hostile", form).decode(), newline=""), strict=True))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            column = rows[0].index("case")
            self.assertLessEqual({row[column] for row in rows[1:]}, {case["id"] for case in self.hostile["cases"]})

    def test_run_writes_every_format(self):
        self.small()
        wanted = [form for form in FORMATS if form not in ("gha", "csv")]
        reports = [part for form in wanted for part in ("-r", f"{form}=out/{form}")]
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", *reports, "-r", "gha=out/gha.json", "-r", "csv=out/all.csv")
        for form in wanted:
            if form != "text":
                self.assertEqual((self.folder / "out" / form).read_bytes(), self.expect(0, "report", "r.json", "-f", form).out, form)
        self.assertTrue((self.folder / "out/gha.smaller.json").exists())
        self.assertTrue((self.folder / "out/all.summary.csv").exists())
        self.assertFalse((self.folder / "out/all.series.csv").exists(), "nothing was sampled over time")


if __name__ == "__main__":
    unittest.main()
