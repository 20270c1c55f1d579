"""What the options of `run` change: cases, values, order, tags, and where results and reports go."""

import csv
import io
import json
import os
import platform
import unittest

from memsweep_cli import CliTest, alloc, drop, environment, event_lines, sample, scenario, strict_json

SIZES = {"variables": {"times": 2, "text": "plain"}, "axes": {"size": ["4KiB", "8KiB"], "mode": ["refcount", "leak"]},
         "release": {"mode": "${axis.mode}"},
         "steps": [{"op": "repeat", "times": "${times}", "steps": [alloc(size="${axis.size}"), drop()]}, sample("end")]}


class RunTest(CliTest):
    def run_small(self, *options, code=0, **keys):
        self.small(**(keys or SIZES))
        return self.expect(code, "run", "small.json", "-q", *options)

    def measured(self, *options, **keys):
        self.run_small("-o", "r.json", *options, **keys)
        return self.result()

    def ids(self, *options, **keys):
        return [case["id"].removeprefix("small/") for case in self.measured(*options, **keys)["cases"]]


class Accounting(RunTest):
    def test_off(self):
        result = self.measured(memory={"accounting": "${axis.accounting}"}, axes={"accounting": ["exact", "off"]},
                               series={"interval": "1ms", "metrics": ["working_set", "live_bytes"]},
                               steps=[alloc(), sample("held"), drop(), {"op": "idle", "duration": "20ms"}])
        for case in result["cases"]:
            exact = case["params"]["accounting"] == "exact"
            self.assertEqual(case["points"][0]["live_bytes"] is not None, exact)
            self.assertEqual("live_bytes" in [series["name"] for series in case["series"]], exact)
            for name in ("live_bytes_peak", "allocations", "allocated_bytes"):
                metric = case["metrics"][name]
                self.assertEqual(set(metric["values"]) == {None}, not exact)
                if not exact:
                    self.assertEqual(metric["reason"], "the case asks for no accounting")
            self.assertEqual(set(case["metrics"]["operations"]["values"]), {1})
        self.assertGreater(result["calibration"]["harness_time_per_op"], 0)
        self.assertIsNotNone(result["calibration"]["harness_time_per_op_uncounted"])
        self.assertNotIn("harness_time_per_op_uncounted", self.measured("-n", "1")["calibration"])


class Cases(RunTest):
    def test_axes_as_written(self):
        self.assertEqual(self.ids(), ["mode=refcount/size=4KiB", "mode=leak/size=4KiB", "mode=refcount/size=8KiB", "mode=leak/size=8KiB"])

    def test_one_value(self):
        self.assertEqual(self.ids("-a", "size=16KiB", "-a", "mode=leak"), ["mode=leak/size=16KiB"])

    def test_list(self):
        self.assertEqual(self.ids("-a", "mode=[leak]", "-a", "size=[1KiB,3KiB]"), ["mode=leak/size=1KiB", "mode=leak/size=3KiB"])

    def test_range_by_factor(self):
        sizes = ["4KiB", "16KiB", "64KiB"]
        self.assertEqual(self.ids("-a", "size=[4KiB:64KiB:*4]", "-a", "mode=leak"), [f"mode=leak/size={size}" for size in sizes])

    def test_range_by_step(self):
        keys = {"axes": {"n": [1]}, "steps": [alloc(count="${axis.n}"), drop()]}
        result = self.measured("-a", "n=[1:10:+4]", **keys)
        self.assertEqual([case["params"]["n"] for case in result["cases"]], [1, 5, 9])

    def test_overrides_are_recorded(self):
        result = self.measured("-a", "size=16KiB", "-a", "mode=leak", "-s", "times=3")
        self.assertEqual(result["run"]["overrides"], {"axis.size": "16KiB", "axis.mode": "leak", "variable.times": "3"})
        self.assertEqual(result["cases"][0]["metrics"]["allocations"]["values"], [3])

    def test_values_of_the_wrong_kind(self):
        for options in (["-s", "times=0"], ["-s", "times=x"], ["-a", "mode=[arenna]"], ["-a", "size=[8M]"], ["-a", "size=[1:"],
                        ["-a", "size=[]"], ["-a", "size=[1KiB:2KiB:*1]"], ["-a", "mode=[leak,leak]"]):
            with self.subTest(options=options):
                outcome = self.run_small("-o", "r.json", *options, code=2)
                self.assertTrue(outcome.errors.strip())
                self.assertEqual(outcome.out, b"")

    def test_filter(self):
        self.assertEqual(self.ids("-k", "mode=leak/size=8"), ["mode=leak/size=8KiB"])
        self.assertEqual(len(self.ids("-k", "^small/.*=4KiB$")), 2)

    def test_repetitions_and_warm_up(self):
        result = self.measured("-n", "3", "--warmup", "2", "-k", "leak/size=4", "--events", "e")
        self.assertEqual(result["cases"][0]["metrics"]["allocations"]["values"], [2, 2, 2])
        self.assertEqual(len([event for event in event_lines(self.folder / "e") if event["type"] == "repetition"]), 3)

    def test_only_who_chose_few_repetitions_is_told_of_more(self):
        for told, options in ((False, ()), (True, ("-n", "3"))):
            self.expect(0, "run", "leak_slope", "-q", "-o", "few.json", *options)
            self.assertEqual("few-repetitions" in {one["code"] for one in self.result("few.json")["warnings"]}, told, options)
        self.run_small("-o", "few.json", repetitions=3)
        self.assertIn("few-repetitions", {one["code"] for one in self.result("few.json")["warnings"]})
        self.run_small("-o", "few.json", "--quick")
        self.assertNotIn("few-repetitions", {one["code"] for one in self.result("few.json")["warnings"]})

    def order(self, *options):
        keys = {"axes": {"n": [1, 2, 3, 4]}, "order": "shuffled", "repetitions": 2, "steps": [alloc(size="4KiB", count="${axis.n}"), drop()]}
        self.measured("--events", "e", *options, **keys)
        return [event["case"] for event in event_lines(self.folder / "e") if event["type"] == "repetition"]

    def test_seed_decides_the_shuffled_order(self):
        first = self.order("--seed", "1")
        self.assertEqual(self.order("--seed", "1"), first)
        self.assertEqual(self.result()["run"]["seed"], 1)
        for round_ in (first[:4], first[4:]):
            self.assertEqual(sorted(round_), [f"small/n={n}" for n in (1, 2, 3, 4)], "every case once a round")
        self.assertTrue(any(self.order("--seed", str(seed)) != first for seed in (2, 3, 4)), "the seed changes nothing")

    def test_largest_seed(self):
        self.assertEqual(self.measured("--seed", str(2**64 - 1), "-k", "leak/size=4")["run"]["seed"], 2**64 - 1)

    def test_isolation_none_uses_one_worker(self):
        result = self.measured("--isolation", "none", "-n", "2", "--events", "e")
        self.assertEqual(result["run"]["isolation"], "none")
        pids = {event["pid"] for event in event_lines(self.folder / "e") if "pid" in event}
        self.assertEqual(len(pids), 1)
        self.measured("-n", "2", "--events", "e")
        self.assertEqual(len({event["pid"] for event in event_lines(self.folder / "e") if "pid" in event}), 8)

    def test_tags(self):
        result = self.measured("--tag", "branch=main", "--tag", "note=a=b, c", "--tag", "empty=", "-k", "leak/size=4")
        self.assertEqual(result["run"]["tags"], {"branch": "main", "note": "a=b, c", "empty": ""})

    def test_stdin(self):
        document = json.dumps(scenario("piped", **SIZES)).encode()
        self.expect(0, "run", "-", "-q", "-o", "r.json", "-k", "leak/size=4", stdin=document)
        self.assertEqual(self.result()["run"]["scenario"]["name"], "piped")
        outcome = self.expect(2, "run", "-", "-q", "-o", "x.json", stdin=b'{ "format": 1 }')
        self.assertRegex(outcome.errors, r":1:13: ")

    def test_environment_in_a_scenario(self):
        self.small(variables={"times": "${env:TIMES:-2}"}, steps=[{"op": "repeat", "times": "${times}", "steps": [alloc(size="4KiB")]}])
        for value, allocations in ((None, 2), ("", 2), ("5", 5)):
            self.expect(0, "run", "small.json", "-q", "-o", "r.json", env=environment(TIMES=value))
            self.assertEqual(self.result()["cases"][0]["metrics"]["allocations"]["values"], [allocations])


class ResultFile(RunTest):
    ONE = ("-k", "leak/size=4")

    def made(self, pattern, *options, **variables):
        """Names of what a run with that pattern wrote."""
        self.small(**SIZES)
        before = set(self.folder.rglob("*"))
        self.expect(0, "run", "small.json", "-q", *self.ONE, *([] if pattern is None else ["-o", pattern]), *options,
                    env=environment(**variables))
        new = [path for path in set(self.folder.rglob("*")) - before if path.is_file()]
        self.assertEqual(len(new), 1, new)
        self.result(new[0])
        name = str(new[0].relative_to(self.folder))
        new[0].unlink()
        return name

    def test_default(self):
        self.assertRegex(self.made(None), r"^results/small-\d{8}T\d{6}Z\.json$")

    def test_default_names_never_replace_a_result(self):
        self.small()
        together = [self.start("small.json", "-q") for _ in range(4)]
        outcomes = [driver.finish() for driver in together] + [self.expect(0, "run", "small.json", "-q") for _ in range(4)]
        named = [outcome.errors.rpartition("result: ")[2].strip() for outcome in outcomes]
        self.assertEqual(len(set(named)), len(outcomes), named)
        self.assertEqual(sorted(named), sorted(f"results/{path.name}" for path in (self.folder / "results").iterdir()))
        self.assertEqual(len({self.result(name)["run"]["id"] for name in named}), len(outcomes), "a result of another run")

    def test_patterns(self):
        self.assertRegex(self.made("%s-%t.out"), r"^small-\d{8}T\d{6}Z\.out$")
        self.assertEqual(self.made("new/folder/%s.out"), "new/folder/small.out")
        self.assertEqual(self.made("100%%.out"), "100%.out")
        self.assertEqual(self.made("%h.out"), f"{platform.node()}.out")
        self.assertEqual(self.made("%h.out", SLURMD_NODENAME="node7"), "node7.out")
        self.assertEqual(self.made("r%r.out"), "r0.out")
        for variable in ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
            self.assertEqual(self.made("r%r.out", **{variable: "12"}), "r12.out")
        for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):  # of mpirun in a batch script
            self.assertEqual(self.made("r%r.out", SLURM_PROCID="0", **{variable: "3"}), "r3.out")

    def test_names_from_outside_stay_in_the_folder(self):
        self.assertNotIn("/", self.made("%h.out", SLURMD_NODENAME="../../evil"))
        self.assertNotIn("/", self.made("r%r.out", SLURM_PROCID="../x"))

    def test_two_scenarios(self):
        self.small("one")
        self.small("two")
        self.expect(0, "run", "one.json", "two.json", "-q", "-o", "%s.out")
        for name in ("one", "two"):
            self.assertEqual(self.result(f"{name}.out")["run"]["scenario"]["name"], name)

    def test_two_scenarios_do_not_share_a_report_file(self):
        self.small("one")
        self.small("two")
        outcome = self.expect(2, "run", "one.json", "two.json", "-q", "-o", "%s.out", "-r", "csv=all.csv")
        self.assertIn("several scenarios need %s in the names of their results, reports and baselines", outcome.errors)
        self.assertEqual(list(self.folder.glob("*.csv")), [])

    def test_stdout_holds_nothing_but_the_result(self):
        outcome = self.run_small("-o", "-", *self.ONE)
        self.result(outcome.out)
        self.small(**SIZES)
        outcome = self.expect(0, "run", "small.json", "-o", "-", *self.ONE)  # not quiet: the report gives way
        self.assertEqual(self.result(outcome.out)["run"]["exit_code"], 0)
        self.assertFalse((self.folder / "-").exists())

    def test_what_cannot_be_replaced_gets_one_document(self):
        with self.subTest("/dev/stdout"):
            self.check_one(self.run_small("-o", "/dev/stdout", *self.ONE).out)
        with self.subTest("a pipe, as in -o >(gzip > r.json.gz)"):
            read_end, write_end = os.pipe()
            self.small(**SIZES)
            driver = self.start("small.json", "-q", *self.ONE, "-o", f"/dev/fd/{write_end}", pass_fds=[write_end])
            os.close(write_end)
            with os.fdopen(read_end, "rb") as reader:
                self.check_one(reader.read())
            self.assertEqual(driver.finish().code, 0)

    def check_one(self, data):
        self.assertEqual(data.count(b'"format": "memsweep-result"'), 1, "every save is appended: several documents in one stream")
        self.result(data)

    def test_existing_file_keeps_its_mode_and_the_new_one_follows_the_umask(self):
        self.run_small("-o", "r.json", *self.ONE)
        path = self.folder / "r.json"
        path.chmod(0o640)
        self.run_small("-o", "r.json", *self.ONE)
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.assertEqual([name.name for name in self.folder.glob(".memsweep*")], [])


class Reports(RunTest):
    def rows(self, data):
        return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))

    def test_files(self):
        outcome = self.run_small("-o", "r.json", "-r", "csv=r.csv", "-r", "html=sub/r.html", "-r", "csv-summary=s.csv", "-r", "json=again.json",
                                 "-r", "text=r.txt")
        result = self.result()
        self.assertEqual(outcome.out, b"")
        rows = self.rows((self.folder / "r.csv").read_bytes())
        self.assertEqual(len(rows), sum(len(metric["values"]) for case in result["cases"] for metric in case["metrics"].values()))
        self.assertEqual({row["run_id"] for row in rows}, {result["run"]["id"]})
        page = (self.folder / "sub/r.html").read_text()
        self.assertTrue(page.lstrip().lower().startswith("<!doctype html>"))
        self.assertEqual(strict_json((self.folder / "again.json").read_bytes()), result)
        self.assertNotIn("\x1b", (self.folder / "r.txt").read_text())

    def test_csv_on_stdout_stands_alone(self):
        self.small(**SIZES)
        outcome = self.expect(0, "run", "small.json", "-o", "r.json", "-r", "csv")
        rows = self.rows(outcome.out)
        self.assertEqual(list(rows[0])[:4], ["run_id", "started", "host", "scenario"])
        self.assertEqual({row["case"] for row in rows}, {case["id"] for case in self.result()["cases"]})
        self.assertEqual(self.expect(0, "report", "r.json", "-f", "csv").out, outcome.out, "the same from the file")
        self.assertEqual(self.expect(0, "report", "-", "-f", "csv", stdin=(self.folder / "r.json").read_bytes()).out, outcome.out)

    def test_report_to_a_file(self):
        self.run_small("-o", "r.json")
        for form in ("csv", "csv-summary", "csv-series", "html", "json", "text"):
            with self.subTest(form):
                stdout = self.expect(0, "report", "r.json", "-f", form)
                self.assertEqual(self.expect(0, "report", "r.json", "-f", form, "-o", f"out.{form}").out, b"")
                if form != "text":
                    self.assertEqual((self.folder / f"out.{form}").read_bytes(), stdout.out)

    def test_report_of_several_results(self):
        self.run_small("-o", "a.out")
        self.run_small("-o", "b.out")
        ids = {self.result(name)["run"]["id"] for name in ("a.out", "b.out")}
        text = self.expect(0, "report", "a.out", "b.out", "-f", "csv").text
        for run_id in ids:
            self.assertIn(f",{run_id},", text)

    def test_report_of_what_is_no_result(self):
        self.run_small("-o", "r.json")
        whole = (self.folder / "r.json").read_bytes()
        for what, data in (("empty", b""), ("half", whole[:len(whole) // 2]), ("list", b"[]"), ("version 2", whole.replace(b'"format_version": 1', b'"format_version": 2')),
                           ("NUL", b"\0" * 100), ("deep", b"[" * 100_000), ("number", whole.replace(b'"page_size": 4096', b'"page_size": "4096"'))):
            with self.subTest(what):
                self.write("broken.json", data)
                outcome = self.expect(2, "report", "broken.json", "-f", "html")
                self.assertEqual(outcome.out, b"")
                self.assertIn("broken.json", outcome.errors)

    def test_report_keeps_what_it_does_not_know(self):
        self.run_small("-o", "r.json")
        document = self.result()
        document["later"] = {"any": [1]}
        document["cases"][0]["later"] = "x"
        self.write("later.json", document)
        self.expect(0, "report", "later.json", "-f", "csv")


if __name__ == "__main__":
    unittest.main()
