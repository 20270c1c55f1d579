"""Results of many hosts: what `merge` makes of them, who is named, and what `report` and `compare` say."""

import csv
import io
import json
import math
import pathlib
import random
import statistics
import unittest

from memsweep_cli import CliTest, alloc, drop, environment, strict_json, validator
from synthetic_fleet import Fleet

PROBE = ("probe", "latency", "bandwidth", "--size", "1MiB", "--min-time", "1ms", "-n", "7",
         "-k", "probe_latency/.*size=(16384|1048576)$|probe_bandwidth/kernel=(read|copy|triad)/")


def read(path):
    return strict_json(pathlib.Path(path).read_bytes())


class Fleets(CliTest):
    measured = []

    def setUp(self):
        super().setUp()
        if not Fleets.measured:
            for _ in range(3):
                Fleets.measured.append(strict_json(self.expect(0, *PROBE, "-q", "-f", "json").out))
            self.assertTrue(Fleets.measured[0]["cases"])

    def fleet(self, hosts, bad, seed=7):
        made = Fleet(Fleets.measured, hosts, bad, random.Random(seed), most_scatter=0.03)
        (self.folder / f"s{seed}").mkdir()
        return made, made.write(self.folder / f"s{seed}")

    def merged(self, paths, *options, out="fleet.json", code=0):
        self.expect(code, "merge", *paths, "-o", out, *options)
        document = strict_json((self.folder / out).read_bytes())
        errors = sorted(validator("fleet").iter_errors(document), key=str) if validator("fleet") else []
        self.assertEqual([error.message for error in errors[:3]], [])
        return document

    def test_hosts_keep_their_facts_and_medians(self):
        made, paths = self.fleet(6, 0)
        document = self.merged(paths)
        self.assertEqual([host["name"] for host in document["hosts"]], made.hosts)
        self.assertEqual(document["missing"], [])
        first = read(paths[2])
        host = document["hosts"][2]
        self.assertEqual(host["machine"], first["machine"])
        self.assertEqual(host["tags"], first["run"]["tags"])
        self.assertEqual(host["sources"], [paths[2]])
        columns = {(metric["case"], metric["metric"]): metric for metric in document["metrics"]}
        compared = 0
        for case in first["cases"]:
            for name, metric in case["metrics"].items():
                values = [value for value in metric["values"] if value is not None]
                if values:
                    column = columns[case["id"], name]
                    self.assertEqual(column["n"][2], len(values))
                    self.assertEqual(column["median"][2], statistics.median(values))
                    compared += 1
        self.assertGreater(compared, 10)
        self.assertEqual((self.folder / "fleet.json").read_bytes(), self.expect(0, "report", "fleet.json", "-f", "json").out)

    def test_every_planted_node_and_no_other_is_named(self):
        made, paths = self.fleet(400, 8)
        document = self.merged(paths)
        self.assertEqual(sorted(document["judgement"]["bad_hosts"]), sorted(made.bad))
        lines = [json.loads(line) for line in self.expect(1, "report", "fleet.json", "-f", "health", "--check").text.splitlines()]
        self.assertEqual(sorted(line["host"] for line in lines), sorted(made.bad))
        for line in lines:
            self.assertFalse(line["healthy"])
            self.assertTrue(all(one["kind"] == "outlier" and one["q"] <= 0.01 for one in line["evidence"]))

    def test_a_fleet_of_like_nodes_is_healthy(self):
        _, paths = self.fleet(60, 0, seed=3)
        document = self.merged(paths)
        self.assertEqual(document["judgement"]["bad_hosts"], [])
        self.assertTrue(document["judgement"]["healthy"])
        self.assertIn("none is unlike the others", self.expect(0, "report", "fleet.json", "--check").text)
        self.assertEqual(self.expect(0, "report", "fleet.json", "-f", "health").out, b"")

    def test_few_hosts_one_of_them_far_out(self):
        made, paths = self.fleet(4, 0, seed=4)
        bad = read(paths[1])
        for case in bad["cases"]:
            if "bandwidth" in case["metrics"]:
                metric = case["metrics"]["bandwidth"]
                metric["values"] = [value and value / 4 for value in metric["values"]]
        self.write("bad.json", bad)
        document = self.merged([paths[0], "bad.json", *paths[2:]])
        self.assertEqual(document["judgement"]["bad_hosts"], [made.hosts[1]])
        self.assertEqual({one["rule"] for one in document["judgement"]["outliers"]}, {"few"})

    def test_shared_rack(self):
        made = Fleet(Fleets.measured, 200, 0, random.Random(5), most_scatter=0.03)
        made.bad = dict.fromkeys(made.hosts[40:46], "channel")
        (self.folder / "rack").mkdir()
        document = self.merged(made.write(self.folder / "rack"))
        self.assertEqual(sorted(document["judgement"]["bad_hosts"]), made.hosts[40:46])
        self.assertEqual([(tag["tag"], tag["value"], tag["bad"], tag["hosts"]) for tag in document["judgement"]["shared_tags"]],
                         [("rack", "r001", 6, 40)])

    def test_tags_from_a_table(self):
        made, paths = self.fleet(4, 0, seed=6)
        (self.folder / "racks.csv").write_text("host,switch\n" + "".join(f"{host},s{i % 2}\n" for i, host in enumerate(made.hosts)))
        document = self.merged(paths, "--tags", "racks.csv")
        self.assertEqual([host["tags"]["switch"] for host in document["hosts"]], ["s0", "s1", "s0", "s1"])
        for text, said in (("name,rack\n", "first of them \"host\""), ("host,rack\nn1\n", "racks.csv:2: 1 fields")):
            (self.folder / "racks.csv").write_text(text)
            self.assertIn(said, self.expect(2, "merge", *paths, "-o", "no.json", "--tags", "racks.csv").errors)

    def test_missing_hosts(self):
        made, paths = self.fleet(5, 0, seed=8)
        outcome = self.expect(3, "merge", *paths[:3], *paths[4:], "-o", "fleet.json", "--expect", "5")
        self.assertIn(f"4 of 5 hosts came; missing: {made.hosts[3]}", outcome.errors)
        self.assertEqual(strict_json((self.folder / "fleet.json").read_bytes())["missing"], [made.hosts[3]])
        self.assertIn("1 missing", self.expect(3, "report", "fleet.json", "--check").text)
        line = json.loads(self.expect(0, "report", "fleet.json", "-f", "health").out)
        self.assertEqual((line["host"], line["evidence"][0]["kind"]), (made.hosts[3], "missing"))
        self.merged(paths, "--expect", "n[00001-00005]")
        self.assertIn("missing: other", self.expect(3, "merge", *paths, "-o", "x.json", "--expect", "n[00001-00005],other").errors)
        self.assertIn("3 hosts that no result names", self.expect(3, "merge", *paths, "-o", "x.json", "--expect", "8").errors)
        (self.folder / "cut.json").write_text("{\"format\"")
        outcome = self.expect(3, "merge", *paths[:4], "cut.json", "-o", "fleet.json", "--expect", "5")
        self.assertRegex(outcome.errors, rf"(?s)cut\.json:1:\d+: not valid JSON.*missing: {made.hosts[4]}")
        self.expect(2, "merge", *paths[:4], "cut.json", "-o", "y.json")
        for wrong in ("0", "n[3-1]", "n[1", "-1", "+5"):
            self.assertIn("--expect", self.expect(2, "merge", *paths, "-o", "z.json", "--expect", wrong).errors)

    def test_every_format_names_the_bad_host(self):
        made, paths = self.fleet(40, 1, seed=9)
        self.merged(paths)
        (bad,) = made.bad
        for form in ("text", "md", "csv", "json", "html", "health"):
            with self.subTest(form):
                self.expect(0, "report", "fleet.json", "-f", form, "-o", f"out.{form}")
                written = (self.folder / f"out.{form}").read_bytes()
                self.assertIn(bad.encode(), written)
                if form != "text":  # which suits the terminal
                    self.assertEqual(self.expect(0, "report", "fleet.json", "-f", form).out, written)
        rows = list(csv.DictReader(io.StringIO((self.folder / "out.csv").read_bytes().decode())))
        self.assertEqual({row["host"] for row in rows}, set(made.hosts))
        self.assertEqual({row["host"] for row in rows if row["verdict"] == "worse"}, {bad})
        self.assertIn("a fleet is written as", self.expect(2, "report", "fleet.json", "-f", "gbench").errors)

    def check_trend_schema(self, document):
        judge = validator("fleet-trend")
        if judge is None:
            self.leave_out("comparisons of fleets against memsweep schema fleet-trend", "python3-jsonschema is not installed")
        self.assertEqual([error.message[:200] for error in judge.iter_errors(document)], [])
        (trend,) = document["trends"]
        for part, broken in (("changes", {"verdict": "worse"}), ("changes", {"effect": {"kind": "ratio", "estimate": 1.2}}), ("changes", {"hosts": 0}),
                             ("changes", {"unit": "MB"}), ("outlying", {"worse": 1}), ("outlying", {"q": 2})):
            spoiled = document | {"trends": [trend | {part: [trend[part][0] | broken]}]}
            self.assertTrue(list(judge.iter_errors(spoiled)), f"the schema lets {broken} pass")
        for broken in ({"trends": []}, {"format": "memsweep-fleet"}, {"format_version": 2}, {"trends": [trend | {"gone": "n01"}]},
                       {"trends": [{key: value for key, value in trend.items() if key != "outlying"}]}):
            self.assertTrue(list(judge.iter_errors(document | broken)), f"the schema lets {list(broken)} pass")

    def test_two_runs_of_a_fleet(self):
        made, paths = self.fleet(30, 0, seed=10)
        self.merged(paths, out="before.json")
        self.expect(0, "compare", "before.json", "before.json")
        victim = made.hosts[7]
        (self.folder / "later").mkdir()
        later = []
        for host, path in zip(made.hosts, paths):
            result = read(path)
            result["run"]["id"] += "-later"
            for case in result["cases"]:
                for name, metric in case["metrics"].items():
                    factor = (1.2 if name == "latency" else 1) * (0.5 if host == victim and name == "bandwidth" else 1)
                    metric["values"] = [value and value * factor for value in metric["values"]]
            later.append(str(self.folder / "later" / f"{host}.json"))
            self.write(later[-1], result)
        self.merged(later, out="after.json")
        document = strict_json(self.expect(1, "compare", "before.json", "after.json", "-f", "json").out)
        (trend,) = document["trends"]
        self.assertEqual({change["metric"] for change in trend["changes"] if change["verdict"] == "regressed"}, {"latency"})
        for change in trend["changes"]:
            if change["metric"] == "latency":
                self.assertTrue(math.isclose(change["effect"]["estimate"], 1.2))
                self.assertEqual(change["hosts"], 30)
        self.assertEqual({one["host"] for one in trend["outlying"]}, {victim})
        self.assertEqual(trend["newly_bad"], [victim])
        self.expect(0, "compare", "before.json", "after.json", "--no-gate")
        for form in ("text", "md", "html"):
            self.assertIn(victim.encode(), self.expect(1, "compare", "before.json", "after.json", "-f", form).out)
        self.assertIn("fleets are compared as", self.expect(2, "compare", "before.json", "after.json", "-f", "junit").errors)
        self.assertIn("compared with fleets", self.expect(2, "compare", "before.json", paths[0]).errors)
        self.check_trend_schema(document)

    def test_several_results_of_a_host_are_its_repetitions(self):
        self.small(steps=[alloc(), drop()], repetitions=3)
        env = [{"SLURMD_NODENAME": name} for name in ("a", "b", "a")]
        for i, variables in enumerate(env):
            self.expect(0, "run", "small.json", "-q", "-o", f"r{i}.json", env=environment(**variables))
        document = self.merged(["r0.json", "r1.json", "r2.json"])
        self.assertEqual([host["name"] for host in document["hosts"]], ["a", "b"])
        self.assertEqual(document["metrics"][0]["n"], [6, 3])
        self.assertIn("is in r0.json too", self.expect(2, "merge", "r0.json", "r1.json", "r0.json", "-o", "no.json").errors)
        self.expect(0, "merge", "r0.json", "r1.json", "--one-machine", "-o", "one.json")
        self.assertEqual(strict_json((self.folder / "one.json").read_bytes())["format"], "memsweep-result")
        self.small("other", steps=[alloc(size="1MiB"), drop()], repetitions=3)
        self.expect(0, "run", "other.json", "-q", "-o", "o.json", env=environment(SLURMD_NODENAME="c"))
        self.assertIn("measured another scenario", self.expect(2, "merge", "r0.json", "r1.json", "o.json", "-o", "no.json").errors)
        self.merged(["r0.json", "r1.json", "o.json"], "--force")

    def test_ranks_that_would_write_one_file(self):
        self.small(steps=[alloc(), drop()])
        ranks = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
        for pattern, said in (("r.json", "4 ranks would write"), ("%h.json", "2 ranks on this host would write")):
            self.assertIn(said, self.expect(2, "run", "small.json", "-q", "-o", pattern, env=environment(**ranks)).errors)
        self.expect(0, "run", "small.json", "-q", "-o", "r-%r.json", "--tag", "rack=7", env=environment(**ranks))
        placement = self.result("r-1.json")["run"]["placement"]
        self.assertEqual((placement["launcher"], placement["rank"], placement["ranks"], placement["local_ranks"]), ("mpi", 1, 4, 2))
        outcome = self.expect(0, "probe", "topology", "-q", "-o", "%h-%s.json", "--tag", "rack=7", env=environment(SLURMD_NODENAME="n7"))
        document = strict_json((self.folder / "n7-probe_topology.json").read_bytes())
        self.assertEqual(document["run"]["tags"], {"rack": "7"}, outcome)


if __name__ == "__main__":
    unittest.main()
