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
            real = self.really("one", word)
            self.assert_near(site["without"]["returns"], real[0], function)
            self.assert_near(site["without"]["returns_after_request"], real[1], function)
        left, pins = (next(one for one in report["sites"] if function in one["site"]) for function in SITES.values())
        self.assertEqual((left["live"], pins["live"]), (0, 4 * 1250 * 48))

    def test_threads(self):
        for _ in range(3):  # which arena a thread gets differs from run to run
            report = self.explained(PROGRAM, "threads")
            if report["replay_check"]["usable"]:
                break
        self.assertTrue(report["replay_check"]["usable"], report["replay_check"])
        for word, function in SITES.items():
            site = next(one for one in report["sites"] if function in one["site"])
            real = self.really("threads", word)
            self.assert_near(site["without"]["returns"], real[0], function)
            self.assert_near(site["without"]["returns_after_request"], real[1], function)

    def test_whatif_says_the_same_of_a_trace(self):
        trace = self.record("one")
        for word, function in SITES.items():
            report = json.loads(self.expect(0, "whatif", trace, "--without", function, "-f", "json").text)
            self.assertEqual((report["format"], report["format_version"], report["runs"]), ("memsweep-whatif", 1, 3))
            self.assertEqual(report["returns"], report["whole"]["held"] - report["rest"]["held"])
            self.assertEqual(report["returns_after_request"], report["whole"]["held_after_request"] - report["rest"]["held_after_request"])
            real = self.really("one", word)
            self.assert_near(report["returns"], real[0], function)
            self.assert_near(report["returns_after_request"], real[1], function)
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

    def test_several_processes_are_said(self):
        one, two = self.record("one"), self.folder / "two.mst"
        self.expect(0, "record", "--stacks", "-q", "-o", two, "--", "sh", "-c", f"'{PROGRAM}' one; '{PROGRAM}' one; true")
        ask = lambda trace: json.loads(self.expect(0, "whatif", trace, "--without", "load_batch", "-f", "json").text)["warnings"]
        self.assertEqual(ask(one), [])
        self.assertRegex(" ".join(ask(two)), r"has [23] processes")

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
