"""What PyTorch's allocator would reserve by its settings, beside what a card reserved and what a second simulation says."""

import json
import pickle
import random
import unittest

from memsweep_cli import MIB, SOURCE, CliTest
from pytorch_allocator import replay
from trace_events import events_of

TRACES = SOURCE / "tests/trace/pytorch"
REFERENCE = SOURCE / "results/reference/gpu_h200/pytorch_settings.json"
MODELS = ("mlp", "transformer", "cnn", "kvcache", "streams")
SEGMENT = 20 * MIB
SETTINGS = {"": {}, "expandable_segments:True": {"expandable": True}, "max_split_size_mb:32": {"max_split_mb": 32},
            "roundup_power2_divisions:4": {"divisions": 4}}


def snapshot(devices, segments=()):
    return {"segments": list(segments), "device_traces": devices}


class Program:
    """The entries of one device's trace, as PyTorch writes them."""

    def __init__(self):
        self.entries, self.live, self.next = [], [], 1 << 40

    def entry(self, action, address, size, stream=0):
        self.entries.append({"action": action, "addr": address, "size": size, "stream": stream, "time_us": len(self.entries)})

    def alloc(self, size, stream=0):
        self.entry("alloc", self.next, size, stream)
        self.live.append((self.next, size, stream))
        self.next += max(size, 512) + 512

    def free(self, at=0, completed=True):
        block = self.live.pop(at)
        self.entry("free_requested", *block)
        if completed:
            self.entry("free_completed", *block)
        return block

    def segment(self, action, address, size):
        self.entry(action, address, size)


def random_program(seed):
    """Steps as a training has them: what a step makes goes with it, some of it a little later, in up to three streams."""
    draw, program, late = random.Random(seed), Program(), []
    scale, streams = draw.choice((1, 4, 16)), draw.randrange(1, 4)
    for _ in range(draw.randrange(40, 60)):
        for _ in range(draw.randrange(1, 25)):
            size = draw.randrange(1, 1 << draw.randrange(1, 24)) * scale
            program.alloc(size, 64 * draw.randrange(streams))
        while len(program.live) > draw.randrange(2, 12):
            at = draw.randrange(len(program.live))
            if draw.random() < 0.1:
                late.append(program.free(at, completed=False))
            else:
                program.free(at)
        while late and draw.random() < 0.7:
            program.entry("free_completed", *late.pop(0))
    return snapshot([program.entries])


class PyTorch(CliTest):
    def trace(self, name, content):
        path = self.folder / name
        path.write_bytes(pickle.dumps(content, 4))
        self.expect(0, "import", str(path), "-o", str(path) + ".mst")
        return str(path) + ".mst"

    def fit(self, trace, *options, code=0):
        report = json.loads(self.expect(code, "fit", str(trace), "--pytorch", "-f", "json", *options).text)
        report["by_settings"] = {row["settings"]: row for row in report["settings"]}
        return report

    def said(self, trace, *options, code=0):
        return " ".join(self.expect(code, "fit", str(trace), "--pytorch", *options).text.split())

    def refused(self, trace, *options):
        return self.expect(2, "fit", str(trace), "--pytorch", *options).err.decode()

    def check_beside_second(self, trace):
        events = list(events_of(trace))
        report = self.fit(trace, *(word for conf in SETTINGS if conf for word in ("--setting", conf)))
        for conf, settings in SETTINGS.items():
            with self.subTest(trace=trace, settings=conf):
                second, failed = replay(events, **settings)
                self.assertIsNone(failed)
                row = report["by_settings"][conf]
                # Both know where the driver puts a segment by the same rule, so there is nothing to differ in.
                self.assertEqual((row["reserved_peak"], row["allocated_peak"]), (second.max_reserved, second.max_allocated))
        limit = report["by_settings"]["expandable_segments:True"]["reserved_peak"] * 9 // 10
        with self.subTest(trace=trace, limit=limit):
            # What is expandable lies where PyTorch puts it, not the driver: there is nothing to differ in.
            second, failed = replay(events, expandable=True, limit=limit)
            row = json.loads(self.memsweep("fit", str(trace), "--pytorch", "-f", "json", "--capacity", str(limit)).text)["settings"][1]
            self.assertEqual((row["reserved_peak"], row["allocated_peak"], row["retries"]), (second.max_reserved, second.max_allocated, second.retries))
            self.assertEqual(row["first_failure"] and row["first_failure"]["event"], failed)

    def test_recorded_runs_beside_a_second_simulation(self):
        for model in MODELS:
            self.check_beside_second(TRACES / f"{model}.mst")

    def test_random_runs_beside_a_second_simulation(self):
        for seed in range(25):
            self.check_beside_second(self.trace(f"random{seed}", random_program(seed)))

    def test_reference_has_what_is_predicted_now(self):
        reference = json.loads(REFERENCE.read_text())
        self.assertEqual(len(reference["runs"]), 80)
        together = {}
        for run in reference["runs"]:
            together.setdefault((run["model"], run["capacity"]), []).append(run)
        for (model, capacity), runs in together.items():
            options = [word for run in runs if run["settings"] for word in ("--setting", run["settings"])]
            options += ["--capacity", str(capacity)] if capacity else []
            report = json.loads(self.memsweep("fit", str(TRACES / f"{model}.mst"), "--pytorch", "-f", "json", *options).text)
            for run in runs:
                with self.subTest(model=model, name=run["name"]):
                    row = next(row for row in report["settings"] if row["settings"] == run["settings"])
                    card, said = run["card"], run["predicted"]
                    self.assertEqual((row["reserved_peak"], row["allocated_peak"], row["retries"]), (said["reserved"], said["allocated"], said["retries"]))
                    self.assertLessEqual(abs(said["reserved"] - card["reserved"]), SEGMENT if run["settings"] or capacity else card["reserved"] / 200)
                    self.assertEqual(said["first_failure"] is not None, card["refused"] > 0)
        card = [line.split() for line in (TRACES / "card.txt").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual([(row[0], row[1], int(row[4]), int(row[5])) for row in card],
                         [(run["model"], run["name"], run["card"]["reserved"], run["card"]["allocated"]) for run in reference["runs"]])

    def test_the_advice_is_a_line_to_copy(self):
        said = self.said(TRACES / "transformer.mst")
        self.assertIn("This run reserves 5.48 GiB under PyTorch's default settings and 3.39 GiB with expandable_segments:True", said)
        self.assertIn("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", said)
        report = self.fit(TRACES / "transformer.mst")
        self.assertEqual(report["saves"], report["settings"][0]["reserved_peak"] - report["by_settings"][report["best"]]["reserved_peak"])
        run = Program()
        run.alloc(3 * MIB)
        quiet = self.trace("quiet", snapshot([run.entries]))
        self.assertIn("Leave them as they are", self.said(quiet))
        self.assertIsNone(self.fit(quiet)["advice"])

    def test_a_capacity_says_what_fails_first(self):
        trace = TRACES / "kvcache.mst"
        said = self.said(trace, "--capacity", "650MiB", code=1)
        self.assertIn("At 650 MiB this run does not fit under PyTorch's default settings: the request for ", said)
        self.assertIn("It fits with expandable_segments:True", said)
        self.assertIn("It fits under none of", self.said(trace, "--capacity", "400MiB", code=1))
        self.assertNotIn("PYTORCH_CUDA_ALLOC_CONF", self.said(trace, "--capacity", "400MiB", code=1))
        self.assertIn("giving back all that is cached once", self.said(TRACES / "mlp.mst", "--capacity", "1000MiB"))
        report = self.fit(trace, "--capacity", "400MiB", code=1)
        self.assertIn("garbage_collection_threshold:0.8", report["by_settings"])
        failure = report["settings"][0]["first_failure"]
        self.assertEqual(failure["live_bytes"] + failure["cached_bytes"], failure["reserved_bytes"])

    def test_a_page_has_the_chart(self):
        page = self.expect(0, "fit", str(TRACES / "streams.mst"), "--pytorch", "-f", "html").text
        self.assertIn("Reserved over time", page)
        self.assertIn("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", page)

    def test_traces_of_others_are_refused(self):
        self.assertIn("--pytorch needs a snapshot of PyTorch's memory", self.refused(SOURCE / "scenarios/traces/sqlite.mst"))
        self.assertIn("--pytorch is about the memory of a device", self.refused(TRACES / "mlp.mst", "--device", "host"))
        for options in (("--policy", "tlsf"), ("--alignment", "64"), ("--runs", "2")):
            self.assertIn("do not go with it", self.refused(TRACES / "mlp.mst", *options))
        self.assertIn("--setting: only with --pytorch", self.expect(2, "fit", str(TRACES / "mlp.mst"), "--setting", "expandable_segments:True").err.decode())
        for conf, why in (("max_split_size_mb:1", "20 on"), ("backend:cudaMallocAsync", "only the native one"), ("what:1", "what is no setting"), ("expandable_segments", "has no value")):
            self.assertIn(why, self.refused(TRACES / "mlp.mst", "--setting", conf))

    def test_several_devices_are_apart(self):
        first, second = Program(), Program()
        first.alloc(30 * MIB)
        second.alloc(300 * MIB)
        trace = self.trace("two", snapshot([first.entries, second.entries]))
        self.assertIn("--device N", self.refused(trace))
        for device, size in ((0, 30), (1, 300)):
            self.assertEqual(self.fit(trace, "--device", str(device))["settings"][0]["reserved_peak"], size * MIB)
        self.assertIn("no block there", self.refused(trace, "--device", "2"))

    def test_a_refused_request_is_part_of_the_need(self):
        run = Program()
        run.alloc(30 * MIB)
        run.entries.append({"action": "oom", "device_free": 5, "size": 50 * MIB, "stream": 0, "time_us": 9})
        trace = self.trace("refused", snapshot([run.entries]))
        report = self.fit(trace)
        self.assertEqual((report["at_least"], report["refusals"], report["settings"][0]["reserved_peak"]), (True, 1, 80 * MIB))
        self.assertIn("reserves, as far as the log tells, 80.0 MiB", self.said(trace))
        self.assertEqual(self.fit(trace, "--capacity", "60MiB", code=1)["settings"][0]["first_failure"]["size"], 50 * MIB)
        self.fit(trace, "--capacity", "80MiB", code=5)

    def test_an_empty_cache_is_repeated(self):
        run = Program()
        for address, size in ((1, 30), (2, 40)):
            run.segment("segment_alloc", address << 40, size * MIB)
            run.alloc(size * MIB)
            run.free()
        for address, size in ((1, 30), (2, 40)):
            run.segment("segment_free", address << 40, size * MIB)
        run.alloc(60 * MIB)
        trace = self.trace("emptied", snapshot([run.entries]))
        report = self.fit(trace)
        self.assertEqual((report["emptied"], report["settings"][0]["reserved_peak"]), (1, 70 * MIB))
        self.assertIn("torch.cuda.empty_cache()", self.said(trace))

    def test_hostile_traces_end_in_words(self):
        unknown, zero, huge, none = Program(), Program(), Program(), Program()
        unknown.entry("free_requested", 1 << 30, 512)
        unknown.entry("free_completed", 1 << 30, 512)
        unknown.entry("free_completed", 1 << 31, 512)
        unknown.alloc(MIB)
        zero.alloc(0)
        huge.alloc((1 << 63) - 1)
        for name, program, options in (("unknown", unknown, ()), ("zero", zero, ()), ("zero", zero, ("--capacity", "1"))):
            trace = self.trace(name, snapshot([program.entries]))
            with self.subTest(name=name, options=options):
                outcome = self.memsweep("fit", trace, "--pytorch", *options)
                self.assertIn(outcome.code, (0, 1, 5))
        self.assertEqual(self.fit(self.trace("zero", snapshot([zero.entries])))["settings"][0]["allocated_peak"], 512)
        self.assertIn("64 PiB", self.refused(self.trace("huge", snapshot([huge.entries]))))
        self.assertIn("64 PiB", self.refused(self.trace("huge", snapshot([huge.entries])), "--capacity", "80GiB"))
        large = Program()
        large.alloc((1 << 56) - MIB)  # all that may be live, but for the small block's segment
        large.alloc(1)
        self.assertIn("event 2 takes what is reserved beyond 64 PiB", self.refused(self.trace("large", snapshot([large.entries]))))
        self.fit(self.trace("large", snapshot([large.entries])), "--capacity", str((1 << 56) + (1 << 30)))
        self.assertIn("asks for no memory", self.said(self.trace("none", snapshot([none.entries]))))
        wild = Program()
        for address, size in ((0, 1 << 62), ((1 << 63) - 1, 1 << 62), (5, 0), (7, 3 * MIB), (6, 3 * MIB)):
            wild.segment("segment_alloc", address, size)
            wild.alloc(3 * MIB)
        for address, size in ((0, 1 << 62), (9, 1 << 62)):
            wild.segment("segment_free", address, size)
        self.fit(self.trace("wild", snapshot([wild.entries])))

    def test_mutated_snapshots_do_no_harm(self):
        for seed in range(60):
            draw, entries = random.Random(seed), random_program(seed)["device_traces"][0]
            for entry in draw.sample(entries, len(entries) // 5):
                entry[draw.choice(("addr", "size", "stream"))] = draw.choice((0, 1, 511, 1 << 20, (1 << 55) + 3, (1 << 63) - 1, entry["addr"]))
                entry["action"] = draw.choice(("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom", entry["action"]))
            (self.folder / "mutated").write_bytes(pickle.dumps(snapshot([entries]), 4))
            trace = str(self.folder / "mutated.mst")
            if self.memsweep("import", "mutated", "-o", trace).code != 0:
                continue  # sizes that add up to more than 64 bits hold
            for options in ((), ("--capacity", "64MiB"), ("--capacity", "2EiB")):
                with self.subTest(seed=seed, options=options):
                    self.assertIn(self.memsweep("fit", trace, "--pytorch", *options).code, (0, 1, 2, 5))


if __name__ == "__main__":
    unittest.main()
