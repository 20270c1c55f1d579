"""Without a call site: what `explain`, `whatif` and `replay --without` say that removing a site returns, beside the program really run
without it. The kernel's account of the program itself, without any recorder, is the observer."""

import json
import os
import re
import subprocess
import unittest

from memsweep_cli import BINARY, MIB, CliTest

PROGRAM = BINARY.parent / "recorded_sites"
PAGE = os.sysconf("SC_PAGESIZE")
SITES = {"load": "load_batch", "keep": "keep_entry"}


def held(*words):
    """What the program holds at its end, as it is and once malloc_trim was called; a thread is scheduled as it likes: the median."""
    runs = [[int(line) for line in subprocess.run([PROGRAM, *words, "--ask"], capture_output=True, check=True).stdout.split()] for _ in range(3)]
    return [sorted(column)[1] for column in zip(*runs)]


class WithoutASite(CliTest):
    def really(self, kind, site):
        return [whole - rest for whole, rest in zip(held(kind), held(kind, "--without", site))]

    def assert_near(self, said, real, what):
        self.assertLessEqual(abs(said - real), max(abs(real) / 10, 64 * PAGE), f"{what}: {said} said, {real} really")

    def assert_right(self, said, real, what):
        """Each figure is near, or not told, and then too small for that: as near as twice the error."""
        for name, truth in zip(("returns", "returns_after_request"), real):
            error = said[name.replace("returns", "error")]
            why = said[name.replace("returns", "not_told")]
            if said[name] is not None:
                self.assertIsNone(why)
                self.assertGreaterEqual(abs(said[name]), 10 * error)
                self.assert_near(said[name], truth, f"{what} {name}")
            else:
                self.assertRegex(why, r"^(too small to tell from the replay's own error of|its 3 replays are) [\d.]+ [KMG]?i?B")
                self.assertLess(abs(truth), 12 * error + 64 * PAGE, f"{what} {name}: {why}")

    def explained(self, *words, options=()):
        result = self.folder / "explained.json"
        self.expect(0, "explain", "-f", "json", "-o", result, *options, "--", *words)
        return json.loads(result.read_text())

    def record(self, *words):
        trace = self.folder / f"{'-'.join(words)}.mst"
        self.expect(0, "record", "--stacks", "-q", "-o", trace, "--", PROGRAM, *words)
        return trace

    def test_who_left_it_and_who_pins_it_are_two_answers(self):
        report = self.explained(PROGRAM, "one")
        check = report["replay_check"]
        self.assertTrue(check["usable"], check)
        nearest = min(max(check["resident"], check["measured"]), check["measured"] + check["never_a_block"])
        self.assertAlmostEqual(check["off"], abs(check["resident"] - nearest) / check["measured"], places=9)
        self.assertIsNone(report["not_replayed"])
        for word, function in SITES.items():
            site = next(one for one in report["sites"] if function in one["site"])
            self.assertEqual((site["without"]["runs"], site["without"]["how"]), (3, "replay"))
            self.assert_right(site["without"], self.really("one", word), function)
            self.assertGreaterEqual(site["without"]["error"], abs(check["resident"] - check["measured"]))
            self.assertGreaterEqual(site["without"]["error_after_request"], abs(check["resident_after_request"] - check["measured_after_request"]))
        left, pins = (next(one for one in report["sites"] if function in one["site"]) for function in SITES.values())
        self.assertEqual((left["live"], pins["live"]), (0, 4 * 1250 * 48))
        self.assertIsNotNone(left["without"]["returns"])
        self.assertEqual(check["measured_after_request"], check["measured"] - min(check["measured"], report["tried"][0]["returned"]))

    def test_threads(self):
        for _ in range(3):  # which arena a thread gets differs from run to run
            report = self.explained(PROGRAM, "threads")
            if report["replay_check"]["usable"]:
                break
        self.assertTrue(report["replay_check"]["usable"], report["replay_check"])
        for word, function in SITES.items():
            site = next(one for one in report["sites"] if function in one["site"])
            self.assert_right(site["without"], self.really("threads", word), function)

    def test_whatif_says_the_same_of_a_trace(self):
        trace = self.record("one")
        for word, function in SITES.items():
            report = json.loads(self.expect(0, "whatif", trace, "--without", function, "-f", "json").text)
            self.assertEqual((report["format"], report["format_version"], report["runs"]), ("memsweep-whatif", 1, 3))
            self.assertEqual(report["returns"], report["whole"]["held"] - report["rest"]["held"])
            self.assertEqual(report["returns_after_request"], report["whole"]["held_after_request"] - report["rest"]["held_after_request"])
            self.assert_right(report, self.really("one", word), function)
            self.assertEqual((report["process"], report["snapshot"], report["replay_check"]), (None, None, None))
            self.assertIn("--snapshot-at-end", report["not_checked"])
            self.assertEqual(len(report["sites"]), 1)
            self.assertIn(function, report["sites"][0])
            self.assertEqual(report["request"], "malloc_trim")

    def test_names_of_sites(self):
        trace = self.record("one")
        sites = json.loads(self.expect(0, "info", "--by", "site", trace, "-f", "json").text)["sites"]
        place = next(f"{one['file'].rpartition('/')[2]}:{one['line']}" for one in sites if "load_batch" in one["function"])
        whole = json.loads(self.expect(0, "whatif", trace, "--without", "load_b*", "-f", "json").text)
        for name in (place, f"*load_batch ({place})", "load?batch", "(anonymous namespace)::load_batch"):
            same = json.loads(self.expect(0, "whatif", trace, "--without", name, "-f", "json").text)
            self.assertEqual(same["sites"], whole["sites"])
        both = json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "--without", "keep_entry", "-f", "json").text)
        self.assertEqual(len(both["sites"]), 2)
        self.assertLess(both["rest"]["held"], MIB)
        for command in (("whatif", trace), ("replay", trace, "--on", "glibc")):
            outcome = self.expect(2, *command, "--without", "load_bacth")
            self.assertIn('did you mean "load_batch"?', outcome.errors)
            self.assertEqual(outcome.out, b"")

    def test_a_function_that_only_calls_is_no_site(self):
        trace = self.record("one")
        for command in (("whatif", trace), ("replay", trace, "--on", "glibc")):
            self.assertIn("is no call site of this trace", self.expect(2, *command, "--without", "main").errors)

    def test_a_snapshot_checks_the_replay(self):
        trace = self.folder / "snapshot.mst"
        self.expect(0, "record", "--stacks", "--snapshot-at-end", "-q", "-o", trace, "--", PROGRAM, "one")
        explained = json.loads(self.expect(0, "explain", trace, "-f", "json").text)
        ask = lambda *words: json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "-f", "json", *words).text)
        report = ask()
        site = next(one for one in explained["sites"] if "load_batch" in one["site"])
        self.assertEqual(report["snapshot"], {"at": "end", "seconds": report["snapshot"]["seconds"], "seconds_from_it": 0})
        self.assertAlmostEqual(report["snapshot"]["seconds"], explained["moment"]["seconds"], places=3)
        self.assertIsNone(report["not_checked"])
        for name in ("measured", "never_a_block"):
            self.assertEqual(report["replay_check"][name], explained["replay_check"][name])
        self.assertLessEqual(abs(report["replay_check"]["resident"] - explained["replay_check"]["resident"]), 8 * PAGE)
        self.assertIsNone(report["replay_check"]["resident_after_request"])
        self.assertLessEqual(abs(report["returns"] - site["without"]["returns"]), 8 * PAGE)
        self.assertGreaterEqual(report["error"], abs(report["replay_check"]["resident"] - report["replay_check"]["measured"]))
        self.assert_right(report, self.really("one", "load"), "load_batch")
        early = ask("--until", "1")
        self.assertEqual(early["snapshot"]["at"], "end")
        self.assertGreater(early["snapshot"]["seconds_from_it"], 0)
        self.assertEqual(early["replay_check"]["measured"], report["replay_check"]["measured"])
        other = ask("--on", "glibc{top_pad=32MiB}")
        self.assertEqual((other["snapshot"], other["replay_check"]), (None, None))
        self.assertIn("Another allocator", other["not_checked"])
        self.assertIn("Checked with the snapshot of its end", self.expect(0, "whatif", trace, "--without", "load_batch").text)

    def test_the_process_that_calls_the_site_is_replayed(self):
        one, two = self.record("one"), self.folder / "two.mst"
        self.expect(0, "record", "--stacks", "-q", "-o", two, "--", "sh", "-c", f"'{PROGRAM}' one; '{PROGRAM}' one --without load; true")
        ask = lambda trace, *words: json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "-f", "json", *words).text)
        alone, beside = ask(one), ask(two)
        self.assertEqual(beside["warnings"], [])
        by_process = json.loads(self.expect(0, "info", "--json", two).text)["by_process"]
        self.assertGreater(len(by_process), 1)
        callers = [each["process"] for each in by_process if each["bytes_allocated"] > 4 * MIB]
        self.assertEqual([beside["process"]], callers)
        for part in ("whole", "rest"):
            self.assertLessEqual(abs(beside[part]["held"] - alone[part]["held"]), 16 * PAGE, part)
        self.assertEqual(ask(two, "--process", str(callers[0]))["process"], callers[0])
        other = next(each["process"] for each in by_process if each["process"] != callers[0])
        self.assertIn("calls none of these sites", self.expect(2, "whatif", two, "--without", "load_batch", "--process", str(other)).errors)

    def test_a_site_of_several_processes_is_asked_about(self):
        trace = self.folder / "both.mst"
        self.expect(0, "record", "--stacks", "-q", "-o", trace, "--", "sh", "-c", f"'{PROGRAM}' one; '{PROGRAM}' one; true")
        refused = self.expect(2, "whatif", trace, "--without", "load_batch")
        processes = re.findall(r"(\d+) \([^)]*recorded_sites\)", refused.errors)
        self.assertEqual(len(processes), 2, refused.errors)
        held = [json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "--process", process, "-f", "json").text)["whole"]["held"] for process in processes]
        self.assertLessEqual(abs(held[0] - held[1]), 16 * PAGE)
        self.assertRegex(self.expect(0, "whatif", trace, "--without", "load_batch", "--process", processes[1]).text, rf"Of the trace's processes {processes[1]} \(.*recorded_sites\) is replayed\.")

    def test_moments(self):
        trace = self.record("one")
        at = lambda moment: json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "--until", moment, "-f", "json").text)
        peak, end = at("peak"), at("end")
        live = json.loads(self.expect(0, "info", "--json", trace).text)["peak_live_bytes"]
        self.assertGreaterEqual(peak["whole"]["held_after_request"], live)
        self.assertLess(end["whole"]["held_after_request"], peak["whole"]["held"] + 64 * PAGE)
        self.assertLess(at("1")["whole"]["held"], MIB)
        for wrong in ("peek", "0", "-1s"):
            self.assertIn("is no moment", self.expect(2, "whatif", trace, "--without", "load_batch", "--until", wrong).errors)

    def test_replay_without(self):
        trace = self.record("one")
        result = lambda *words: json.loads(self.expect((0, 5), "replay", trace, "--on", "glibc", "-n", "1", "--warmup", "0", "--settle", "0s", "--no-latency", "-q", "-f", "json", *words).text)["cases"][0]
        value = lambda case, name: case["metrics"][name]["summary"]["median"]
        whole, rest, cut = result(), result("--without", "load_batch"), result("--until", "peak")
        self.assertEqual(value(rest, "live_bytes_peak"), value(whole, "live_bytes_peak") - 160 * 40_000)
        self.assertLess(value(rest, "events"), value(whole, "events") / 10)
        self.assertLess(value(cut, "events"), value(whole, "events"))
        self.assertLess(value(rest, "resident_end"), value(whole, "resident_end"))

    def test_what_it_cannot_do_is_said(self):
        bare = self.folder / "bare.mst"
        self.expect(0, "record", "-q", "-o", bare, "--", PROGRAM, "one")
        self.assertIn("without stacks", self.expect(2, "whatif", bare, "--without", "load_batch").errors)
        sampled = self.folder / "sampled.mst"
        self.expect(0, "record", "--stacks=4KiB", "-q", "-o", sampled, "--", PROGRAM, "one")
        self.assertIn("--stacks=full", self.expect(2, "whatif", sampled, "--without", "load_batch").errors)
        trace = self.record("one")
        self.assertIn("no malloc of a library", self.expect(2, "whatif", trace, "--without", "load_batch", "--on", "tlsf").errors)
        report = self.explained("true")
        self.assertIn("smaller than", report["not_replayed"])
        self.assertIsNone(report["replay_check"])
        report = self.explained(PROGRAM, "one", options=("--remove", "0"))
        self.assertEqual((report["not_replayed"], report["replay_check"]), (None, None))
        self.assertTrue(all(site["without"] is None for site in report["sites"]))

    def test_settings_change_the_answer(self):
        trace = self.record("one")
        said = lambda on: json.loads(self.expect(0, "whatif", trace, "--without", "keep_entry", "--on", on, "-f", "json").text)["whole"]["held"]
        self.assertGreater(said("glibc{top_pad=32MiB}") + 64 * PAGE, said("glibc"))

    def test_texts(self):
        trace = self.record("one")
        text = " ".join(self.expect(0, "whatif", trace, "--without", "load_batch").text.split())
        self.assertRegex(text, r"of heap at its end; removing \(anonymous namespace\)::load_batch \(recorded_sites\.cpp:\d+\) returns [\d.]+ MiB\.")
        self.assertIn("After malloc_trim:", text)
        for kind, begin in (("md", "#"), ("html", "<!")):
            self.assertTrue(self.expect(0, "whatif", trace, "--without", "load_batch", "-f", kind).text.startswith(begin))
        outcome = self.expect(0, "explain", "--", PROGRAM, "one")
        self.assertIn("Without a call site", outcome.errors)


if __name__ == "__main__":
    unittest.main()
