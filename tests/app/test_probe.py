"""`probe` measures what this machine has, says why of everything else, and its results are results: schema, report, compare, merge."""

import csv
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import unittest

from memsweep_cli import CATALOG, MIB, CliTest, environment, sanitized, strict_json, validator

QUICK = ("--size", "1MiB", "--min-time", "1ms", "-n", "6", "--progress", "none")
SCENARIOS = {"topology": {"probe_topology"}, "bandwidth": {"probe_bandwidth", "probe_numa"},
             "latency": {"probe_latency", "probe_parallel_loads", "probe_loaded_latency"}, "faults": {"probe_faults"},
             "device": {"probe_device"}}
FIGURE = {"probe_bandwidth": "bandwidth", "probe_latency": "latency", "probe_parallel_loads": "latency",
          "probe_loaded_latency": "latency", "probe_faults": "time_per_fault",
          "probe_transfer": "bandwidth", "probe_transfers": "bandwidth", "probe_device": "wall_time"}
STREAM_BYTES = {"read": 8, "write": 8, "memset": 8, "copy": 16, "memcpy": 16, "scale": 16, "update": 16, "add": 24, "triad": 24}


class Probe(CliTest):
    whole, kept = {}, {}  # what several tests look at is measured once: documents by word, results by arguments

    def measured(self, word):
        """All that a word measures."""
        if word not in self.whole:
            self.whole[word] = self.probe(word)
        return self.whole[word]

    def probe(self, *args, code=0, **options):
        outcome = self.expect(code, "probe", *args, "-f", "json", *QUICK, **options)
        document = strict_json(outcome.out)
        self.check_probe(document)
        return document

    def check_probe(self, document):
        judge = validator("result")
        if judge is not None:
            problems = [f"{list(error.absolute_path)}: {error.message}" for error in judge.iter_errors(document)]
            self.assertEqual(problems, [], "against memsweep schema result")
        self.check_numbers(document)
        self.check_counts(document)
        ids = [case["id"] for case in document["cases"]]
        self.assertEqual(len(set(ids)), len(ids), "case ids are unique")
        for case in document["cases"]:
            with self.subTest(case=case["id"]):
                params = [f"{name}={value}" for name, value in sorted(case["params"].items())]
                self.assertEqual(case["id"], "/".join([case["scenario"], *params]))
                self.assertIn(case["status"], ("ok", "skipped", "failed", "error"))
                self.assertEqual(case["status"] == "ok", case["reason"] is None, "a reason for what is not ok")
                for metric in case["metrics"].values():
                    self.check_metric(metric, case["repetitions"])
                self.check_figure(case)

    def check_figure(self, case):
        if case["status"] == "ok" and case["scenario"] != "probe_topology":
            metric = FIGURE.get(case["scenario"]) or ("latency" if case["params"]["kernel"] == "latency" else "bandwidth")
            self.assertGreater(case["repetitions"], 0)
            self.assertTrue(all(value >= 0 for value in case["metrics"][metric]["values"]))
        if case["status"] == "skipped":
            self.assertEqual(case["repetitions"], 0)

    def test_every_word_measures_its_part(self):
        for word, scenarios in SCENARIOS.items():
            with self.subTest(word):
                document = self.measured(word)
                self.assertEqual({case["scenario"] for case in document["cases"]}, scenarios)
                self.assertEqual(document["run"]["scenario"]["name"], f"probe_{word}")
                self.assertFalse(document["run"]["interrupted"])

    def test_bytes_are_named_and_agree(self):
        cpus = len(os.sched_getaffinity(0))
        document = self.measured("bandwidth")
        self.check_streaming(document["calibration"])
        cases = [case for case in document["cases"] if case["scenario"] == "probe_bandwidth"]
        self.assertEqual({case["params"]["kernel"] for case in cases}, set(STREAM_BYTES))
        self.assertEqual({case["params"]["threads"] for case in cases}, {1, cpus})
        loops = {(case["params"]["store"], case["params"]["threads"]): case["facts"]["loop"] for case in cases
                 if case["params"]["kernel"] == "write" and "variant" not in case["params"]}
        zeroes = {(case["params"]["store"], case["params"]["threads"]) for case in cases if "variant" in case["params"]}
        self.assertEqual(zeroes, set(loops), "each kind of store writes zeroes too")
        for case in cases:
            with self.subTest(case["id"]):
                self.assertEqual(case["status"], "ok", case["reason"])
                kernel, store = case["params"]["kernel"], case["params"]["store"]
                if "variant" in case["params"]:
                    self.assertEqual((case["params"]["variant"], kernel), ("zeroes", "write"))
                    self.assertEqual(case["facts"]["loop"], loops[store, case["params"]["threads"]], "the loop that writes data")
                stream, payload = (case["metrics"][name]["values"] for name in ("bandwidth", "payload_bandwidth"))
                for a, b in zip(stream, payload):
                    self.assertAlmostEqual(a / b, STREAM_BYTES[kernel] / 8, places=9)
                self.assertEqual("bus_bandwidth" in case["metrics"], store != "opaque")
                if store == "plain" and kernel != "update":
                    bus = case["metrics"]["bus_bandwidth"]["values"]
                    self.assertAlmostEqual(bus[0] / payload[0], STREAM_BYTES[kernel] / 8 + 1, places=9)
                self.assertEqual(case["facts"]["bytes_counted"], "stream")
                for fact in ("loop", "array_bytes", "pages", "placement", "llc_advertised", "fits_in_llc", "cpus"):
                    self.assertIn(fact, case["facts"])
        for threads in (1, cpus):
            for family in (("copy", "memcpy"), ("write", "memset"), ("read",), ("triad",)):
                shares = [case["metrics"]["ceiling_share"]["summary"]["median"] for case in cases
                          if case["params"]["threads"] == threads and case["params"]["kernel"] in family and "variant" not in case["params"]]
                self.assertAlmostEqual(max(shares), 1, places=9, msg=f"the best is its own ceiling: {family}")

    def check_streaming(self, calibration):
        """A size is one that was tried, or lies beyond what the caches hold."""
        for writing in ("streaming_from", "streaming_pieces_from"):
            size = calibration.get(writing, 2 * MIB)
            self.assertTrue(size in [MIB << doubled for doubled in range(1, 7)] or size > 64 * MIB, size)

    def test_the_matrix_is_complete_and_says_what_the_cases_say(self):
        document = self.measured("bandwidth")
        matrices = {matrix["name"]: matrix for matrix in document["matrices"]}
        self.assertEqual(set(matrices), {"numa_read", "numa_write", "numa_copy", "numa_latency"})
        for name, matrix in matrices.items():
            self.assertEqual(matrix["unit"], "s" if name == "numa_latency" else "B/s")
            self.assertEqual(matrix["better"], "lower" if name == "numa_latency" else "higher")
            self.assertEqual(len(matrix["values"]), len(matrix["rows"]))
            for row, cpu in enumerate(matrix["rows"]):
                self.assertEqual(len(matrix["values"][row]), len(matrix["cols"]))
                for col, memory in enumerate(matrix["cols"]):
                    case = self.case(document, f"probe_numa/cpu_node={cpu[4:]}/kernel={name[5:]}/mem_node={memory[4:]}")
                    metric = case["metrics"]["latency" if name == "numa_latency" else "bandwidth"]
                    self.assertAlmostEqual(matrix["values"][row][col], statistics.median(metric["values"]), delta=1e-6 * matrix["values"][row][col])
                    self.assertIn("placement", case["facts"])

    def test_latencies_grow_and_sets_without_huge_pages_say_how_many_are_needed(self):
        document = self.measured("latency")
        small = [case for case in document["cases"] if case["scenario"] == "probe_latency" and case["params"]["pages"] == "4k"]
        self.assertEqual([case["params"]["size"] for case in small], sorted(case["params"]["size"] for case in small))
        self.assertEqual({case["status"] for case in small}, {"ok"})
        for case in document["cases"]:
            if case["status"] == "skipped" and case["params"].get("pages", "").startswith("hugetlb"):
                self.assertRegex(case["reason"], "needs (1 free huge page|[0-9]+ free huge pages) of|no huge pages")

    def test_devices_are_listed_with_the_reason_why_they_are_skipped(self):
        outcome = self.expect(0, "probe", "device", *QUICK)
        self.assertIn("host_to_device_memcpy_ce", outcome.text)
        document = self.measured("device")
        self.assertGreater(len(document["cases"]), 20)
        for case in document["cases"]:
            self.assertIn(case["status"], ("ok", "skipped"))

    def test_without_a_driver_every_device_case_says_so(self):
        nowhere = environment(OCL_ICD_VENDORS="/nowhere", CUDA_VISIBLE_DEVICES="")
        document = self.probe("device", "topology", "--devices", "7", env=nowhere)
        cases = [case for case in document["cases"] if case["scenario"] == "probe_device"]
        self.assertGreater(len(cases), 20)
        for case in cases:
            self.assertEqual(case["status"], "skipped")
            self.assertRegex(case["reason"], "CUDA: .+; OpenCL: .+")
        self.assertEqual(self.case(document, "probe_topology/part=devices")["status"], "skipped")
        self.assertEqual(document["machine"]["devices"], [])
        version = strict_json(self.expect(0, "--version", "--json", env=nowhere).out)
        self.assertRegex(version["devices"], "^none: CUDA: ")
        text = self.expect(0, "probe", "device", *QUICK, env=nowhere).text
        rows = [line for line in text.splitlines() if line.endswith("  skipped")]
        self.assertEqual(len(rows), 1, text)
        self.assertRegex(rows[0], rf"^{len(cases)} cases ")

    def test_two_devices_are_measured_and_every_sample_verified(self):
        pair = environment(POCL_DEVICES="pthread pthread", CUDA_VISIBLE_DEVICES="")
        document = self.probe("device", "topology", env=pair)
        if len(document["machine"]["devices"]) < 2:
            print("skipped: device pairs: no two OpenCL devices (pocl-opencl-icd)")
            return
        cases = {case["id"].removeprefix("probe_device/"): case for case in document["cases"]}
        for one in ("device=gpu1/transfer=host_to_device_memcpy_ce", "device=gpu0/transfer=device_to_host_pageable",
                    "device=gpu0/to=gpu1/transfer=device_to_device_memcpy_write_ce", "transfer=all_to_host_memcpy_ce"):
            self.assertEqual(cases[one]["status"], "ok", one)
            by_whom = ", by its own device; the last one by the host too" if "/to=" in one else ""
            self.assertEqual(cases[one]["facts"]["verified"], "6 of 6 samples, every word" + by_whom)
            self.assertEqual(len(cases[one]["metrics"]["bandwidth"]["values"]), 6)
        self.assertEqual(cases["device=gpu0/transfer=host_to_device_write_combined"]["reason"],
                         "OpenCL has no write-combined host memory")
        for name in ("host_device_latency_sm", "device_local_latency_sm"):
            chased = cases[f"device=gpu1/transfer={name}"]
            self.assertEqual((chased["status"], len(chased["metrics"]["latency"]["values"])), ("ok", 6), chased["reason"])
        self.assertIn("OpenCL cannot be asked", cases["device=gpu0/to=gpu1/transfer=device_to_device_latency_sm"]["reason"])
        for name in ("host_to_device_staged", "device_to_host_staged"):
            self.assertEqual(cases[f"device=gpu1/transfer={name}"]["facts"]["verified"], "6 of 6 samples, every word")
        one = self.probe("device", "--devices", "1", "-k", "host_to_device_memcpy_ce|device_to_device", env=pair)
        self.assertEqual({case["params"]["device"] for case in one["cases"]}, {"gpu1"})
        self.assertIn("needs two devices", {case["reason"] for case in one["cases"]})
        both = self.probe("device", "--pairs", "1", "-k", "memcpy_write_ce|ring_write", env=pair)
        self.assertEqual(sorted(case["id"] for case in both["cases"]),
                         ["probe_device/device=gpu0/to=gpu1/transfer=device_to_device_bidirectional_memcpy_write_ce",
                          "probe_device/device=gpu0/to=gpu1/transfer=device_to_device_memcpy_write_ce", "probe_device/transfer=ring_write_ce"])
        self.assertEqual({case["status"] for case in both["cases"]}, {"ok"})
        self.assertIn("no device 7; there are 2", self.expect(2, "probe", "device", "--devices", "7", env=pair).errors)
        self.assertIn("--devices", self.expect(2, "probe", "device", "--devices", "x", env=pair).errors)
        self.assertIn("probe_topology/part=gpu1", cases)

    def test_topology_says_what_the_kernel_says(self):
        document = self.measured("topology")
        processors = self.case(document, "probe_topology/part=processors")["facts"]
        self.assertEqual(processors["usable"], len(os.sched_getaffinity(0)))
        self.assertIn("base", self.case(document, "probe_topology/part=pages")["facts"])
        self.assertTrue([case for case in document["cases"] if case["params"]["part"].startswith("node")])

    def test_on_one_processor(self):
        cpu = max(os.sched_getaffinity(0))
        document = self.probe("bandwidth", "latency", prepare=lambda: os.sched_setaffinity(0, {cpu}))
        threads = {case["params"]["threads"] for case in document["cases"] if case["scenario"] == "probe_bandwidth"}
        self.assertEqual(threads, {1})
        self.assertEqual({case["facts"]["cpus"] for case in document["cases"] if "cpus" in case.get("facts", {})}, {str(cpu)})
        loaded = [case for case in document["cases"] if case["scenario"] == "probe_loaded_latency"]
        self.assertEqual({case["status"] for case in loaded}, {"skipped"})
        self.assertIn("second processor", loaded[0]["reason"])

    @unittest.skipIf(sanitized(), "a sanitizer reserves the address space")
    def test_little_memory_makes_arrays_smaller_or_is_said(self):
        limits = ((resource.RLIMIT_AS, 700 * MIB),)
        document = strict_json(self.expect(0, "probe", "bandwidth", "-k", "probe_bandwidth/kernel=(read|copy|triad)/", "-f", "json", "-n", "1",
                                           "--min-time", "1ms", "-q", limits=limits).out)
        self.check_probe(document)
        sizes = {case["facts"]["array_bytes"] for case in document["cases"] if case["status"] == "ok"}
        self.assertTrue(sizes)
        self.assertLess(max(sizes), 200 * MIB)
        refused = strict_json(
            self.expect(0, "probe", "bandwidth", "-k", "probe_bandwidth", "-f", "json", "--size", "1TiB", "-n", "1", "--min-time", "1ms", "-q").out)
        cases = [case for case in refused["cases"] if case["scenario"] == "probe_bandwidth"]
        self.assertEqual({case["status"] for case in cases}, {"skipped"})
        self.assertIn("--size", cases[0]["reason"])

    def test_its_results_are_results(self):
        for name in ("a.json", "b.json"):
            outcome = self.expect(0, "probe", "faults", "-o", name, *QUICK)
            self.assertIn("probe_faults", outcome.text)
            self.check_probe(strict_json((self.folder / name).read_bytes()))
        self.assertIn(self.memsweep("compare", "a.json", "b.json").code, (0, 1, 5))
        self.expect(0, "merge", "a.json", "b.json", "-o", "both.json")
        merged = strict_json((self.folder / "both.json").read_bytes())
        self.assertEqual({case["repetitions"] for case in merged["cases"] if case["status"] == "ok"} & {12}, {12})
        for form in ("text", "html", "md", "csv-summary", "gbench", "prom", "vega"):
            self.expect(0, "report", "a.json", "-f", form)
        self.expect(0, "report", "a.json", "b.json")
        again = strict_json(self.expect(0, "report", "a.json", "-f", "json").out)
        self.assertEqual(again, strict_json((self.folder / "a.json").read_bytes()), "read and written again")

    def test_transfers_are_written_as_a_scenario_that_runs(self):
        words = ["host:pinned@node0 -> cpu -> host", "host -> gpu0.ce -> gpu0"]
        outcome = self.expect(0, "probe", words[0], "--dump-scenario", "--size", "64KiB", "-n", "2", "-o", "s.json")
        self.assertEqual(outcome.text, "")
        self.expect(0, "validate", "s.json")
        self.expect(0, "run", "s.json", "--warmup", "0", "-q", "-o", "r.json")
        case = self.result("r.json")["cases"][0]
        self.assertEqual(case["metrics"]["transferred_bytes"]["values"], [5 * 65536] * 2)
        self.assertEqual(case["metrics"]["transfer_wrong_bytes"]["values"], [0, 0])
        both = json.loads(self.expect(0, "probe", *words, "--dump-scenario").text)
        self.assertEqual([f"{one['src']} -> {one['exe']} -> {one['dst']}" for one in both["steps"][0]["transfers"]], words)
        self.expect(2, "probe", "bandwidth", "--dump-scenario")

    def test_presets_are_in_the_catalog_and_written_as_they_are(self):
        presets = sorted(path.stem.removeprefix("probe_") for path in CATALOG.glob("probe_*.json"))
        refused = self.expect(2, "probe", "topology", "--dump-scenario").errors
        self.assertEqual(sorted(refused.partition("preset: ")[2].partition(";")[0].split(", ")), presets)
        listed = {row["name"] for row in strict_json(self.expect(0, "list", "scenarios", "--json").out)["rows"]}
        for preset in presets:
            self.expect(0, "probe", preset, "--dump-scenario", "-o", f"{preset}.json")
            self.assertEqual((self.folder / f"{preset}.json").read_text(), (CATALOG / f"probe_{preset}.json").read_text())
            self.assertIn(f"probe_{preset}", listed)
        self.expect(0, "validate", *(f"{preset}.json" for preset in presets))
        self.assertIn("memsweep run probe_a2a", self.expect(2, "probe", "a2a").errors)
        self.expect(2, "probe", "h2d", "--dump-scenario", "-n", "3")

    def test_presets_of_all_devices(self):
        pair = environment(POCL_DEVICES="pthread pthread", CUDA_VISIBLE_DEVICES="")
        for preset, moved in (("a2a", 2 * 5 * 4 * MIB), ("one2all", None), ("all2one", None), ("healthcheck", None)):
            outcome = self.memsweep("run", f"probe_{preset}", "-n", "1", "--warmup", "0", "-q", "-o", "r.json", env=pair)
            self.assertIn(outcome.code, (0, 4), f"\n{outcome}")
            for case in self.result("r.json")["cases"]:
                if case["status"] == "skipped":
                    print(f"skipped: {case['id']}: {case['reason']}")
                    continue
                self.assertEqual(case["status"], "ok", case["reason"])
                if "gpu*" in json.dumps(case["params"]) and moved is None:
                    self.assertRegex(case["facts"]["routes"], "[0-9]+ left out: this machine has 2 devices")
                if moved is not None:
                    self.assertEqual(case["metrics"]["transferred_bytes"]["values"], [moved])
                self.assertEqual(case["metrics"]["transfer_wrong_bytes"]["values"], [0])
        nowhere = environment(OCL_ICD_VENDORS="/nowhere", CUDA_VISIBLE_DEVICES="")
        self.expect(4, "run", "probe_a2a", "-n", "1", "--warmup", "0", "-q", "-o", "n.json", env=nowhere)
        for case in self.result("n.json")["cases"]:
            self.assertEqual(case["status"], "skipped")
            self.assertRegex(case["reason"], "no device: CUDA: .+; OpenCL: .+")

    def test_of_several_transfers_only_that_is_skipped_which_cannot_be_carried(self):
        nowhere = environment(OCL_ICD_VENDORS="/nowhere", CUDA_VISIBLE_DEVICES="")
        words = ("host -> cpu -> host", "host -> gpu0.ce -> gpu0", "host@node977 -> cpu -> host", "gpu* -> gpu*.ce -> gpu*")
        document = self.probe(*words, env=nowhere)
        cases = document["cases"]
        self.assertEqual([case["params"].get("nr") for case in cases], [1, 2, 3, 4, 5, None])
        self.assertEqual([case["status"] for case in cases], ["ok", "skipped", "skipped", "skipped", "skipped", "ok"])
        self.assertEqual(cases[-1]["facts"]["measured"], "1 of 5")
        self.assertIn("no device", cases[1]["reason"])
        self.assertIn("node 977", cases[2]["reason"])

    def test_transfers_in_words(self):
        document = self.probe("host:pinned@node0 -> cpu -> host@node0")
        case = self.case(document, "probe_transfer/bytes=1048576/dst=host@node0/exe=cpu/src=host:pinned@node0")
        self.assertEqual(document["run"]["scenario"]["name"], "probe_transfer")
        if case["status"] == "ok":
            self.assertEqual(case["facts"]["bytes_counted"], "payload")
            self.assertIn("node 0", case["facts"]["src_placement"])
        else:
            self.assertIn("mlock", case["reason"])
        cases = self.probe("host -> cpu -> null", "null->cpu->host")["cases"]
        self.assertEqual([case["scenario"] for case in cases], ["probe_transfer", "probe_transfer", "probe_transfers"])
        self.assertEqual([case["params"].get("nr") for case in cases], [1, 2, None])
        gone = self.probe("host -> gpu0.ce -> gpu0", "host@node977 -> cpu -> host",
                          env=environment(OCL_ICD_VENDORS="/nowhere", CUDA_VISIBLE_DEVICES=""))["cases"]
        self.assertEqual({case["status"] for case in gone}, {"skipped"})
        for words, message in (("host -> cpu", "SRC -> EXE -> DST"), ("host:pined -> cpu -> host", 'did you mean "pinned"'),
                               ("null -> cpu -> null", "moves nothing"), ("host -> cpu -> ", "no place")):
            self.assertIn(message, self.expect(2, "probe", words).errors)

    def check_canary(self, document):
        """What the canaries found is there, and the verdict is that of their figures."""
        canary = document["calibration"]["canary"]
        self.assertEqual(list(canary), ["compute_error", "compute_tail", "copy_error", "copy_tail", "steal_share", "disturbed"])
        for name in ("compute_error", "compute_tail", "copy_error", "copy_tail"):
            self.assertGreaterEqual(canary[name], 0)
        spoilt = (max(canary["compute_error"], canary["copy_error"]) >= 0.05 or max(canary["compute_tail"], canary["copy_tail"]) >= 0.25
                  or (canary["steal_share"] or 0) >= 0.02)
        self.assertEqual(canary["disturbed"], spoilt)
        warned = [one["message"] for one in document["warnings"] if one["code"] == "busy-machine"]
        self.assertEqual(len(warned), 1 if spoilt else 0)
        self.assertEqual([text for text in document["findings"] if text.startswith("not trustworthy here")], warned)
        return canary

    def test_a_canary_sings_before_anything_is_measured(self):
        self.check_canary(self.probe("faults", "-k", "kind=first_touch/pages=4k"))
        self.assertNotIn("canary", self.measured("topology")["calibration"], "nothing is measured")

    def test_a_busy_machine_is_told_before_anything_else(self):
        """Eight programs want the one processor that the probe may use: of its rounds many wait for their turn."""
        cpu = max(os.sched_getaffinity(0))
        pinned = {"preexec_fn": lambda: os.sched_setaffinity(0, {cpu})}
        for _ in range(8):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], **pinned)
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)
        one = ("faults", "-k", "kind=first_touch/pages=4k")
        document = self.probe(*one, prepare=lambda: os.sched_setaffinity(0, {cpu}))
        canary = self.check_canary(document)
        if not canary["disturbed"]:  # a scheduler may give turns that are longer than all of the canary
            print(f"\nskipped: a busy machine: eight programs did not disturb the canary: {canary}")
            return
        self.write("busy.json", document)
        shown = self.expect(0, "report", "busy.json").text
        self.assertLess(shown.index("not trustworthy here"), shown.index("a page fault costs"))
        self.assertIn("not trustworthy here", self.expect(0, "report", "busy.json", "-f", "html").text)

    def test_a_filter_leaves_out_what_it_does_not_match(self):
        document = self.probe("bandwidth", "faults", "-k", "kernel=copy/store=plain|faults/kind=first")
        self.assertEqual({case["scenario"] for case in document["cases"]}, {"probe_bandwidth", "probe_faults"})
        self.assertEqual({case["params"].get("kernel", "copy") for case in document["cases"]}, {"copy"})
        self.assertEqual(document["matrices"], [])
        self.assertIn("regular expression", self.expect(2, "probe", "-k", "(").errors)

    def test_formats(self):
        rows = list(csv.DictReader(io.StringIO(self.expect(0, "probe", "bandwidth", "-k", "probe_numa", "-f", "csv-matrix", *QUICK).text)))
        self.assertTrue(rows)
        self.assertTrue(all(float(row["value"]) > 0 for row in rows))
        page = self.expect(0, "probe", "bandwidth", "-k", "probe_numa", "-f", "html", *QUICK).text
        self.assertIn("Matrix numa_read", page)
        text = self.expect(0, "probe", "bandwidth", "-k", "kernel=(read|copy|memcpy|triad)", *QUICK).text
        found = " ".join(text.split("Scenario ")[0].split())
        self.assertRegex(found, r"bandwidth, bytes read and written: one thread: [\d.]+ [GM]B/s read, [\d.]+ [GM]B/s copied, [\d.]+ [GM]B/s in a triad")
        for words in ("Matrix numa_copy", "kernel", "of the", "95 % of the median"):
            self.assertIn(words, text)

    def limits(self, *limits, **keys):
        return self.write("limits.json", {"format": "memsweep-limits", "version": 1, "limits": list(limits), **keys})

    def test_limits_that_hold_and_limits_that_do_not(self):
        holds = {"scenario": "probe_faults", "where": {"kind": "first_touch", "pages": "4k"}, "expr": "time_per_fault.median >= 0ns"}
        broken = holds | {"expr": "time_per_fault.median > 1h"}
        gone = {"scenario": "probe_bandwidth", "expr": "bandwidth.median > 1GB/s"}
        document = self.probe("faults", "--limits", self.limits(holds, gone | {"optional": True}))
        self.assertEqual([one["passed"] for one in document["assertions"]], [True, None])
        document = self.probe("faults", "--limits", self.limits(holds, broken, broken | {"severity": "warn"}, gone), code=1)
        self.assertEqual([one["passed"] for one in document["assertions"]], [True, False, False, False])
        self.assertEqual(document["summary"]["assertions_warned"], 1)
        case = self.case(document, "probe_faults/kind=first_touch/pages=4k")
        self.assertEqual(case["status"], "failed")
        self.assertRegex(case["reason"], "limit violated: time_per_fault.median > 1h: median .* of 6 samples, .* to ")
        outcome = self.expect(1, "probe", "faults", *QUICK, "--limits", self.limits(broken, gone))
        for words in ("FAILED: time_per_fault.median > 1h", "probe_faults/kind=first_touch/pages=4k", "no case that it speaks of was measured"):
            self.assertIn(words, outcome.text)
        self.assertEqual(self.expect(0, "probe", "faults", *QUICK, "--limits", self.limits(broken | {"severity": "warn"})).code, 0)

    def test_who_waits_is_told_how_long(self):
        said = self.expect(0, "probe", "faults", *QUICK[:-2], "-o", "r.json").errors.splitlines()
        self.assertRegex(said[0], r"^memsweep: whether other work disturbs this machine, ETA [\d.]+ m?s$")
        self.assertNotIn("ETA", self.expect(0, "probe", "faults", *QUICK[:-2], "-k", "first_touch", "-o", "r.json").errors, "of a few cases nobody knows")

    def test_a_limit_that_nothing_matches_names_the_nearest_word(self):
        good = {"scenario": "probe_faults", "where": {"kind": "first_touch"}, "expr": "time_per_fault.median >= 0ns"}
        wrong = (({"where": {"knid": "first_touch"}}, 'none has a parameter "knid"; did you mean "kind"?'),
                 ({"where": {"kind": "first_toch"}}, 'none has kind=first_toch; did you mean "first_touch"?'),
                 ({"scenario": "probe_fautls"}, 'nothing of "probe_fautls" was; did you mean "probe_faults"?'))
        document = self.probe("faults", "--limits", self.limits(*(good | change for change, _ in wrong)), code=1)
        for one, (_, said) in zip(document["assertions"], wrong, strict=True):
            self.assertEqual(one["reason"], f"no case that it speaks of was measured: {said}")

    def test_limits_files_are_checked_before_anything_is_measured(self):
        good = {"expr": "bandwidth.median > 1GB/s"}
        for limits, message in (([{"expr": "bandwidht.median > 1GB/s"}], 'did you mean "bandwidth"?'), ([{"expr": "bandwidth.median > 1ms"}], "unit"),
                                ([good | {"wher": {}}], 'did you mean "where"?'), ([good | {"where": {"kernel": [1]}}], "kernel"),
                                ([], "list of 1 to"), ([good | {"severity": "info"}], "severity"), ([good | {"optional": 1}], "optional"),
                                ([{}], "expr"), ([{"expr": "end.live_bytes.max == 0B"}], "no points")):
            with self.subTest(limits):
                outcome = self.expect(2, "probe", "faults", "--limits", self.limits(*limits))
                self.assertIn(message, outcome.errors)
                self.assertIn("limits.json:", outcome.errors)
                self.assertEqual(outcome.out, b"")
        self.expect(2, "probe", "--limits", "missing.json")
        self.write("scenario.json", {"format": "memsweep-scenario", "version": 1})
        self.assertIn("memsweep-limits", self.expect(2, "probe", "--limits", "scenario.json").errors)
        judge = validator("limits")
        if judge is not None:
            self.assertEqual(list(judge.iter_errors({"format": "memsweep-limits", "version": 1, "limits": [good]})), [])
            self.assertTrue(list(judge.iter_errors({"format": "memsweep-limits", "version": 1, "limits": [{}]})))

    def stored(self, *args):
        if args not in self.kept:
            self.expect(0, "probe", *args, *QUICK, "-q", "-o", "r.json")
            self.kept[args] = (self.folder / "r.json").read_bytes()
        (self.folder / "r.json").write_bytes(self.kept[args])
        document = strict_json(self.kept[args])
        self.check_probe(document)
        return document

    def test_limits_are_written_from_a_result_which_keeps_them(self):
        self.expect(0, "probe", "faults", "host -> cpu -> host", *QUICK, "-q", "-o", "r.json", "--write-limits", "l.json", "--margin", "20%", "--force")
        document = strict_json((self.folder / "r.json").read_bytes())
        self.check_probe(document)
        written = strict_json((self.folder / "l.json").read_bytes())
        judge = validator("limits")
        if judge is not None:
            self.assertEqual([error.message for error in judge.iter_errors(written)], [])
        figures = {(case["id"], name): case["metrics"][name] for case in document["cases"] if case["status"] == "ok"
                   for name in ("bandwidth", "latency", "time_per_fault") if name in case["metrics"]}
        # A time is what a loop took beyond another one: where a neighbour slowed the other one, it is no figure.
        figures = {key: metric for key, metric in figures.items() if metric["summary"] and metric["summary"]["min"] > 0}
        self.assertEqual({name for _, name in figures}, {"bandwidth", "time_per_fault"})
        self.assertEqual(len(written["limits"]), len(figures))
        self.expect(0, "report", "r.json", "--limits", "l.json")
        for factor, code in ((1.15, 0), (1.3, 1)):  # so much worse
            worse = json.loads(json.dumps(document))
            for case in worse["cases"]:
                for metric in case["metrics"].values():
                    scale = 1 / factor if metric["better"] == "higher" else factor
                    metric["values"] = [value and value * scale for value in metric["values"]]
                    for key, value in (metric["summary"] or {}).items():
                        if key in ("min", "max", "mean", "median"):
                            metric["summary"][key] = value * scale
            self.write("worse.json", worse)
            shown = strict_json(self.expect(code, "report", "worse.json", "--limits", "l.json", "-f", "json").out)
            self.assertEqual({one["passed"] for one in shown["assertions"]}, {code == 0})
            self.assertEqual(len(shown["assertions"]), len(figures))

    def test_limits_of_a_stored_result(self):
        self.stored("faults")
        self.expect(0, "report", "r.json", "--write-limits", "l.json", "--force")
        text = (self.folder / "l.json").read_text()
        self.assertIn("within 10 %", text)
        self.expect(0, "report", "r.json", "--limits", "l.json", "-f", "json", "-o", "again.json")
        again = self.expect(0, "report", "again.json", "--limits", "l.json", "--write-limits", "m.json", "--force").text
        count = text.count('"expr"')
        self.assertIn(f"All {count} limits hold;", again, "each counts once, and is no assertion")
        self.assertNotIn("ssertion", again)
        self.assertEqual((self.folder / "m.json").read_text(), text)

    def plant(self, document, change, name="planted.json"):
        planted = json.loads(json.dumps(document))
        change(planted)
        return self.write(name, planted)

    def test_no_limits_of_figures_that_the_result_does_not_trust(self):
        document = self.stored("latency", "-k", "(pages=4k/size=65536|chains=[12])$")
        latency = next(case for case in document["cases"] if case["scenario"] == "probe_latency")

        def trusted(planted):
            planted["warnings"] = []
            planted["cases"] = [case for case in planted["cases"] if case["id"] == latency["id"]]

        def busy(planted):
            trusted(planted)
            planted["warnings"] = [{"code": "busy-machine", "message": "not trustworthy here: planted", "hint": "end it"}]

        def impossible(planted):
            trusted(planted)
            smaller = json.loads(json.dumps(planted["cases"][0]))
            smaller["params"]["size"] = 32768
            smaller["id"] = smaller["id"].replace("65536", "32768")
            metric = smaller["metrics"]["latency"]
            metric["values"] = [value * 3 for value in metric["values"]]
            for key in ("min", "max", "mean", "median"):
                metric["summary"][key] *= 3
            planted["cases"].append(smaller)

        for change in (busy, impossible):
            with self.subTest(change.__name__):
                path = self.plant(document, change)
                said = self.expect(2, "report", path, "--write-limits", "l.json").errors
                self.assertIn("not trustworthy", said)
                self.assertIn("--force", said)
                self.assertFalse((self.folder / "l.json").exists())
                self.expect(0, "report", path, "--write-limits", "l.json", "--force")
                (self.folder / "l.json").unlink()
        self.expect(0, "report", self.plant(document, trusted), "--write-limits", "l.json", "--margin", "10%")
        limit, = strict_json((self.folder / "l.json").read_bytes())["limits"]
        self.assertRegex(limit["expr"], r"^latency\.min <= [0-9.]+ns$", "what the report shows")
        bound = float(limit["expr"].split()[-1][:-2]) / 1e9
        least = latency["metrics"]["latency"]["summary"]["min"]
        self.assertTrue(1.0999 * least <= bound <= 1.102 * least, (bound, least))

        def noisier(planted):  # every sample but the best is late: the figure is what it was
            trusted(planted)
            metric = planted["cases"][0]["metrics"]["latency"]
            metric["values"] = [value if value == min(metric["values"]) else value * 4 for value in metric["values"]]
            metric["summary"]["median"] *= 4
            metric["summary"]["max"] *= 4

        self.expect(0, "report", self.plant(document, noisier), "--limits", "l.json")

    def test_a_violated_limit_is_told_once(self):
        self.stored("faults")
        case = {"scenario": "probe_faults", "where": {"kind": "first_touch", "pages": "4k"}}
        path = self.limits(case | {"expr": "time_per_fault.median < 1ns"}, case | {"expr": "time_per_fault.min < 1ns"},
                           case | {"expr": "time_per_fault.median < 1h"}, {"scenario": "gone", "expr": "bandwidth.median > 1GB/s"})
        for format, once in (("text", ("time_per_fault.median < 1ns: median", "time_per_fault.min < 1ns: the least")), ("md", ())):
            shown = self.expect(1, "report", "r.json", "--limits", path, "-f", format).text
            shown = " ".join(shown.split())
            self.assertIn("3 of 4 limits violated", shown)
            self.assertNotIn("ssertion", shown)
            for text in once:
                self.assertEqual(shown.count("limit violated: " + text), 1, shown)
            self.assertNotIn("does not hold for", shown)
            self.assertIn("no case that it speaks of was measured", shown)
        stored = self.expect(1, "report", "r.json", "--limits", path, "-f", "json", "-o", "again.json")
        stored = strict_json(self.expect(1, "report", "again.json", "--limits", path, "-f", "json").out)
        self.assertEqual([one["limit"] for one in stored["assertions"]], [True] * 4)
        self.assertEqual([one["reason"] for one in stored["assertions"] if "not measured" in (one["reason"] or "")], [])
        self.assertEqual(sorted(one["passed"] for one in stored["assertions"]), [False] * 3 + [True])
        for one in stored["assertions"]:
            del one["limit"]  # as results of before
        self.write("before.json", stored)
        self.assertEqual(len(strict_json(self.expect(1, "report", "before.json", "--limits", path, "-f", "json").out)["assertions"]), 4)

    def test_a_filter_that_no_case_matches_is_an_error(self):
        for what in ("faults", "topology", "host -> cpu -> host"):
            with self.subTest(what):
                outcome = self.expect(2, "probe", what, *QUICK, "-k", "no such case", "-o", "r.json")
                self.assertIn('matches "no such case"', outcome.errors)
                self.assertFalse((self.folder / "r.json").exists())
        self.expect(0, "probe", "faults", *QUICK, "-k", "hugetlb_1g")  # may be skipped, with its reason

    def test_two_probes_by_default_can_be_compared(self):
        document = strict_json(self.expect(0, "probe", "--min-time", "1ms", "--size", "1MiB", "-f", "json").out)
        self.write("all.json", document)
        compared = strict_json(self.expect(0, "compare", "all.json", "all.json", "-f", "json").out)["comparisons"][0]
        self.assertGreater(compared["noisy_metrics"], 50)
        self.assertEqual(compared["counts"]["insufficient"], 0)

    def test_two_machines_are_what_two_probes_compare(self):
        document = self.stored("faults")

        def elsewhere(planted):
            planted["machine"].update(host="elsewhere", cores=64, cpu="Another CPU", fingerprint="f" * 64)

        def with_other_cases(planted):
            elsewhere(planted)
            planted["run"]["scenario"]["fingerprint"] = "e" * 64
            planted["cases"][-1]["id"] = planted["cases"][-1]["id"].replace("probe_faults/", "probe_faults/a=1/")
            planted["cases"][-1]["params"]["a"] = 1

        for change in (elsewhere, with_other_cases):
            with self.subTest(change.__name__):
                path = self.plant(document, change)
                outcome = self.memsweep("compare", "r.json", path)
                self.assertIn(outcome.code, (0, 5), str(outcome))
                shown = " ".join(outcome.text.split())
                self.assertIn(f"{document['machine']['host']} against elsewhere", shown)
                self.assertIn('against "Another CPU"', shown)
                self.assertNotIn("by force", shown)
                judged = strict_json(self.memsweep("compare", "r.json", path, "-f", "json").out)["comparisons"][0]
                self.assertIn("against 64", judged["machines"])
                self.assertEqual(judged["overruled"], [])
                self.assertIn("cannot be merged", self.expect(2, "merge", "r.json", self.plant(document, lambda one: (
                    change(one), one["run"].update(id="another"))), "-o", "m.json").errors)

        def sized(planted):
            elsewhere(planted)
            for case in planted["cases"]:
                case["fingerprint"] = "d" * 64
            planted["run"]["scenario"]["fingerprint"] = "e" * 64

        self.assertIn("--force", self.expect(2, "compare", "r.json", self.plant(document, sized)).errors)

    def test_what_has_no_limits(self):
        self.stored("topology")
        self.assertIn("--write-limits", self.expect(2, "report", "r.json", "--write-limits", "l.json").errors)
        for arguments, said in ((("r.json", "--margin", "0%"), "margin"), (("r.json", "--margin", "10"), "margin"), (("r.json", "--limits", "gone.json"), "gone.json"),
                                (("r.json", "r.json", "--write-limits", "l.json"), "one result"),
                                (("r.json", "-o", "l.json", "--write-limits", "l.json"), "same file")):
            with self.subTest(arguments):
                self.assertIn(said, self.expect(2, "report", *arguments).errors)
        self.assertFalse((self.folder / "l.json").exists())

    def test_wrong_usage(self):
        for arguments, message in ((("bandwith",), 'did you mean "bandwidth"?'), (("--size", "8M"), "--size"),
                                   (("--size", "-1"), "--size"), (("--size", "1KiB"), "at least 64KiB"),
                                   (("--min-time", "5"), "--min-time"), (("--min-time", "0s"), "--min-time"),
                                   (("--nodes", "x"), "--nodes"), (("--nodes", "977"), "no node 977"), (("-n", "0"), "--repetitions"), (("--samples", "0"), "--repetitions"),
                                   (("-f", "jsn"), 'did you mean "json"?'), (("device", "-o", "/proc/no/such"), "/proc/no")):
            with self.subTest(arguments):
                outcome = self.expect(2, "probe", *arguments)
                self.assertIn(message, outcome.errors)
                self.assertEqual(outcome.out, b"")


if __name__ == "__main__":
    unittest.main()
