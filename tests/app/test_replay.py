"""Traces replay on allocators, pools and release modes: counts and peaks are the recorded ones, and the result is like any other."""

import json
import unittest

from memsweep_cli import SOURCE, CliTest, environment, sanitized

SQLITE = SOURCE / "scenarios/traces/sqlite.mst"
FAST = ["-n", "2", "--warmup", "0", "--settle", "0s"]
METRICS = ["time_per_event", "dispatch_per_event", "working_set_peak", "retained_0s", "retained_100ms", "retained_1s", "retained_5s",
           "retained_trimmed", "minor_faults"]


def allocate(number, size):
    """Of a block by its number, in mtrace's words, as the two below."""
    return f"+ {16 + 16 * number:#x} {size:#x}"


def resize(number, size):
    return f"< {16 + 16 * number:#x}\n> {16 + 16 * number:#x} {size:#x}"


def free(number):
    return f"- {16 + 16 * number:#x}"


class Replay(CliTest):
    def setUp(self):
        super().setUp()
        if sanitized():
            self.leave_out(self.id(), "a sanitizer has a malloc of its own, so no allocator can be asked for")

    def trace_of(self, text, name="log.txt", *options):
        log = self.folder / name
        log.write_text(text)
        trace = self.folder / "t.mst"
        self.expect(0, "import", str(log), "-o", str(trace), *options)
        return trace

    def small(self):
        """Blocks of 1 KiB to 64 KiB, some resized, some left."""
        lines = []
        for i in range(400):
            lines.append(allocate(i, 1024 + i * 160))
            if i % 3 == 0:
                lines.append(resize(i, 2048 + i * 150))
            if i >= 50 and i % 5:
                lines.append(free(i - 50))
        return self.trace_of("\n".join(lines) + "\n")

    def replayed(self, trace, *options, code=0):
        return json.loads(self.expect(code, "replay", str(trace), *options, "-f", "json").text)

    def test_what_is_resident_is_known_where_nothing_is_left(self):
        lines = [allocate(i, 900) for i in range(40000)] + [free(i) for i in range(40000)]
        trace = self.trace_of("\n".join(lines) + "\n")
        metrics = self.replayed(trace, "-n", "1", "--warmup", "0", "--settle", "10ms", "--no-latency", "--on", "glibc")["cases"][0]["metrics"]
        for name in ("resident_peak", "resident_end", "resident_idle"):
            self.assertIsNotNone(metrics[name]["values"][0], name)
        self.assertGreater(metrics["resident_peak"]["values"][0], 40000 * 900)
        self.assertGreaterEqual(metrics["live_bytes_bound"]["values"][0], metrics["live_bytes_peak"]["values"][0])

    def totals(self, trace):
        return json.loads(self.expect(0, "info", str(trace), "--json").text)

    @staticmethod
    def median(case, metric):
        return case["metrics"][metric]["summary"]["median"]

    def test_result(self):
        trace = self.small()
        totals = self.totals(trace)
        result = self.replayed(trace, "--on", "glibc,null,pool:tls,pool:pow2,tlsf,best_fit,arena", "--release", "immediate,refcount",
                               "--touch", "first-byte", *FAST)
        self.assertEqual(result["format"], "memsweep-result")
        cases = {(one["params"]["on"], one["params"]["release"]): one for one in result["cases"]}
        self.assertEqual(len(cases), len(result["cases"]))
        self.assertIn(("arena", "arena"), cases)
        self.assertEqual(len(cases), 5 * 2 + 2)
        for key, case in cases.items():
            self.assertEqual((key, case["status"], case["reason"]), (key, "ok", None))
            self.assertEqual(case["params"]["threads"], 1)
            for metric in METRICS:
                self.assertIn(metric, case["metrics"])
            self.assertGreater(self.median(case, "time_per_event"), 0)
            if key[0] != "arena":  # which asks for slabs; the replay that times each call is not counted
                self.assertEqual(self.median(case, "allocations"), totals["allocations"], key)
            self.assertEqual(self.median(case, "events"), totals["events"], key)
            self.assertGreaterEqual(self.median(case, "live_bytes_peak"), totals["peak_live_bytes"])
        for direct in ("glibc", "null"):
            self.assertEqual(self.median(cases[direct, "immediate"], "live_bytes_peak"), totals["peak_live_bytes"])
        times = cases["glibc", "immediate"]["call_times"]
        self.assertEqual(sum(sum(one["n"]) for one in times if one["call"] == "allocate"), 2 * totals["allocations"])

    def test_a_replay_that_only_times_its_calls_is_counted(self):
        trace = self.small()
        scenario = {"format": "memsweep-scenario", "version": 1, "name": "alone", "repetitions": 1, "warmup": 0,
                    "steps": [{"op": "replay", "trace": str(trace), "latency": True}]}
        (self.folder / "alone.json").write_text(json.dumps(scenario))
        self.expect(0, "run", "alone.json", "-q", "-o", "r.json")
        metrics = self.result("r.json")["cases"][0]["metrics"]
        self.assertEqual(metrics["allocations"]["values"], [self.totals(trace)["allocations"]])

    def test_resident_peak(self):
        """A program that writes all it allocates: what is resident at its peak is what is live, to 5 %."""
        lines = [allocate(i, 300000) for i in range(300)] + [free(i) for i in range(0, 300, 2)]
        case = self.replayed(self.trace_of("\n".join(lines) + "\n"), "--on", "glibc", "--touch", "all", *FAST)["cases"][0]
        self.assertAlmostEqual(self.median(case, "working_set_peak_delta") / (300 * 300000), 1, delta=0.05)
        self.assertLess(abs(self.median(case, "realized_fragmentation")), 0.05)

    def test_what_stays_at_the_end(self):
        """A program that keeps a tenth of its blocks and never frees them: they are live where it is looked at."""
        blocks = 40000
        lines = [allocate(i, 900) for i in range(blocks)] + [free(i) for i in range(blocks) if i % 10]
        trace = self.trace_of("\n".join(lines) + "\n")
        case = self.replayed(trace, "--on", "glibc", "--no-latency", "-n", "2", "--warmup", "0", "--settle", "50ms")["cases"][0]
        peak, end, idle = (self.median(case, f"resident_{moment}") for moment in ("peak", "end", "idle"))
        self.assertGreater(peak, 0.95 * blocks * 900)
        self.assertLess(peak, 1.3 * blocks * 900)
        self.assertGreater(end, 0.9 * peak, "every page has a survivor")
        self.assertGreater(idle, 0.9 * end)
        self.assertLess(self.median(case, "retained_0s"), 0.2 * end, "then all is freed")

    def test_settings(self):
        """Settings in braces and the caller's own variables reach the worker, and stand in the result."""
        trace = self.small()
        result = json.loads(self.expect(0, "replay", str(trace), "--on", "glibc{arena_max=2,tcache_count=0},glibc", "--no-latency", *FAST,
                                        "-f", "json", env=environment(GLIBC_TUNABLES="glibc.malloc.mxfast=0")).text)
        variables = {case["params"]["on"]: case["allocator"]["environment"] for case in result["cases"]}
        self.assertEqual(variables["glibc"], {"GLIBC_TUNABLES": "glibc.malloc.mxfast=0"})
        self.assertEqual(variables["glibc{arena_max=2,tcache_count=0}"],
                         {"GLIBC_TUNABLES": "glibc.malloc.mxfast=0:glibc.malloc.arena_max=2:glibc.malloc.tcache_count=0"})
        self.assertIn("arena_maxx", self.expect(2, "replay", str(trace), "--on", "glibc{arena_maxx=2}").errors)
        self.assertIn("takes no settings", self.expect(2, "replay", str(trace), "--on", "tlsf{a=2}").errors)
        self.assertIn("closing brace", self.expect(2, "replay", str(trace), "--on", "glibc{arena_max=2").errors)

    def test_sqlite(self):
        case = self.replayed(SQLITE, "--on", "glibc", "--touch", "all", "--no-latency", *FAST)["cases"][0]
        self.assertEqual(self.median(case, "live_bytes_peak"), 12237891)
        self.assertEqual(self.median(case, "events"), 1216345)
        self.assertIsNone(case["metrics"]["retained_5s"]["summary"])
        self.assertNotIn("call_times", case)

    def test_transfers(self):
        """An Umpire log's copy is a copy between the two blocks."""
        def line(name, texts, **numbers):
            return json.dumps({"category": "operation", "name": name, "numeric_args": numbers, "string_args": texts,
                               "tags": {"replay": "true"}, "timestamp": 1}, separators=(",", ":"))

        log = "\n".join([line("allocate", {"allocator_ref": "0x1", "pointer": "0xa0"}, size=100),
                         line("allocate", {"allocator_ref": "0x2", "pointer": "0xb0"}, size=60),
                         line("copy", {"src": "0xa0", "src_allocator_ref": "0x1", "dst": "0xb0", "dst_allocator_ref": "0x2"},
                              size=60, src_offset=0, dst_offset=0), ""])
        case = self.replayed(self.trace_of(log, "log.json"), "--on", "glibc", *FAST)["cases"][0]
        self.assertEqual(self.median(case, "transferred_bytes"), 60)
        self.assertEqual(self.median(case, "events"), 3)

    def test_reports(self):
        trace = self.small()
        out = self.folder / "r.json"
        text = self.expect(0, "replay", str(trace), "--on", "glibc,tlsf,pool:tls", "-o", str(out), *FAST).text
        self.assertIn("Time and memory", text)
        self.assertIn("is fastest", text)
        self.assertIn("holds least", text)
        html = self.expect(0, "report", str(out), "-f", "html").text
        self.assertIn("Time against memory", html)
        self.assertIn("Single calls by size", html)
        self.assertIn("holds least", html)
        verdict = json.loads(out.read_text())["findings"][0]
        markdown = self.expect(0, "report", str(out), "-f", "md").text
        for report in (text, html, markdown):
            self.assertIn(verdict, " ".join(report.split()), "one verdict, and the same")
            self.assertNotIn("Take ", report)
            self.assertNotIn("Nothing was asserted", report)
        self.assertIn("time_per_event", self.expect(0, "report", str(out), "-f", "csv").text)
        self.assertIn(self.memsweep("compare", str(out), "--between", "on=glibc", "on=tlsf").code, {0, 1, 5})

    def test_threads(self):
        """Two threads of an RMM log exchange a block; both may be one."""
        rows = ["Thread,Time,Action,Pointer,Size,Stream"]
        for i in range(500):
            rows.append(f"1,00:00:00.{i:06},allocate,0x{0x1000 * (i + 1):x},{100 + i},0")
            rows.append(f"2,00:00:00.{i:06},free,0x{0x1000 * (i + 1):x},{100 + i},0")
        trace = self.trace_of("\n".join(rows) + "\n", "log.csv")
        result = self.replayed(trace, "--on", "glibc,tlsf", "--release", "immediate,finalizer", "--threads", "1,2",
                               "--collect-every", "50", *FAST)
        self.assertEqual(len(result["cases"]), 8)
        for case in result["cases"]:
            self.assertEqual((case["id"], case["status"]), (case["id"], "ok"))
            self.assertEqual(self.median(case, "events"), 1000)
        self.assertIn("deal", self.expect(2, "replay", str(trace), "--on", "glibc", "--threads", "3").errors)

    def test_scenario(self):
        trace = self.small()
        scenario = {"format": "memsweep-scenario", "version": 1, "name": "mine", "repetitions": 1, "warmup": 0,
                    "axes": {"mode": ["refcount", "finalizer"]}, "release": {"mode": "${axis.mode}", "collect_every": 100},
                    "steps": [{"op": "replay", "trace": trace.name, "touch": "all"}, {"op": "collect"}, {"op": "drain"},
                              {"op": "sample", "name": "end"}, {"op": "purge"}],
                    "assert": [{"expr": "end.live_bytes.max == 0B"},
                               {"where": {"mode": "finalizer"}, "expr": "floating_bytes_peak.max > 0B"}]}
        path = self.folder / "mine.json"
        path.write_text(json.dumps(scenario))
        self.expect(0, "run", str(path), "-o", str(self.folder / "out.json"))
        scenario["steps"][0]["trace"] = "nowhere.mst"
        path.write_text(json.dumps(scenario))
        self.assertIn("nowhere.mst", self.expect(2, "validate", str(path)).errors)

    def test_refusals(self):
        trace = self.small()
        self.assertIn("did you mean \"jemalloc\"", self.expect(2, "replay", str(trace), "--on", "jemaloc").errors)
        self.assertIn("finalizer", self.expect(2, "replay", str(trace), "--on", "glibc", "--release", "finalizr").errors)
        for release, said in (("leak:dotnet", "takes no profile"), ("immediate:dotnet", "takes no profile"),
                              ("finalizer:nosuch", "there are .*dotnet")):
            for on in ("glibc", "null", "arena"):
                with self.subTest(release=release, on=on):
                    self.assertRegex(self.expect(2, "replay", str(trace), "--on", on, "--release", release, "--dry-run").errors,
                                     said)
        self.expect(0, "replay", str(trace), "--on", "glibc", "--release", "finalizer:dotnet,sweep:dotnet", "--dry-run")
        self.expect(2, "replay", str(self.folder / "nowhere.mst"), "--on", "glibc")
        self.assertIn("save it to a file", self.expect(2, "replay", "-", "--on", "glibc").errors)
        self.expect(2, "replay", str(trace))
        skipped = self.replayed(trace, "--on", "/nowhere/libmalloc.so", *FAST, code=4)["cases"][0]
        self.assertEqual(skipped["status"], "skipped")
        dry = self.expect(0, "replay", str(trace), "--on", "glibc,tlsf", "--dry-run").text
        self.assertIn("replay/on=tlsf/release=immediate/threads=1", dry)
        self.assertRegex(dry, r"at least 8\d[.\d]* s in all", "two cases, six repetitions and a warm-up, one second idle, five of watching")


if __name__ == "__main__":
    unittest.main()
