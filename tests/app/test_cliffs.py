"""`cliffs` finds by itself what is known of the allocators of Debian 12, and names what moves it. Faults decide: they are exact."""

import unittest

from memsweep_cli import CliTest, environment, sanitized, strict_json

PAGE = 4096
# Last cheap size and metric by allocator, in a range that costs little to sweep.
KNOWN = (("glibc", "faults_per_op", 33_550_312, "24MiB", "40MiB"), ("jemalloc", "time_per_op", 32_768, "16KiB", "64KiB"),
         ("jemalloc", "faults_per_op", 7_340_032, "5MiB", "9MiB"), ("mimalloc", "time_per_op", 131_072, "64KiB", "256KiB"))


@unittest.skipIf(sanitized(), "a sanitizer has a malloc of its own")
class Cliffs(CliTest):
    def cliffs(self, allocator, low, high, *more):
        outcome = self.memsweep("cliffs", "--on", allocator, "--from", low, "--to", high, "-f", "json", *more)
        document = strict_json(outcome.out)
        self.assertEqual((document["format"], document["format_version"]), ("memsweep-cliffs", 1))
        self.assertEqual(len(document["allocators"]), 1)
        found = document["allocators"][0]
        self.assertEqual(outcome.code, 0 if found["status"] == "ok" else 4, f"\n{outcome}")
        if found["status"] == "skipped":
            self.assertIn("apt-get install", found["reason"])
            self.leave_out(f"{self.id()} {allocator}", found["reason"])
        return found

    def test_known_cliffs_are_found_within_a_page(self):
        for allocator, metric, last_cheap, low, high in KNOWN:
            with self.subTest(f"{allocator} {last_cheap}"):
                found = self.cliffs(allocator, low, high, "--no-verify")
                self.assertIn(allocator if allocator != "glibc" else "libc", found["library"])
                near = [c for c in found["cliffs"] if c["metric"] == metric and abs(c["last_cheap"] - last_cheap) <= PAGE]
                self.assertEqual(len(near), 1, found["cliffs"])
                self.assertEqual(near[0]["dear"]["bytes"], near[0]["cheap"]["bytes"] + 1)
                self.assertTrue(near[0]["cause"])
                if metric == "faults_per_op":
                    self.assertLess(near[0]["cheap"][metric], 1)
                    self.assertGreaterEqual(near[0]["dear"][metric], last_cheap // PAGE)

    def test_settings_are_tried_and_their_effect_is_told(self):
        glibc = self.cliffs("glibc", "30MiB", "36MiB")["cliffs"][0]
        self.assertEqual([t["effect"] for t in glibc["tried"]], ["removed"])
        self.assertLess(glibc["tried"][0]["first_dear_before"]["faults_per_op"], 1)
        jemalloc = self.cliffs("jemalloc", "6MiB", "9MiB")["cliffs"][0]
        effects = {t["setting"]: t for t in jemalloc["tried"]}
        self.assertEqual(effects["MALLOC_CONF=dirty_decay_ms:-1"]["effect"], "removed")
        moved = effects["MALLOC_CONF=oversize_threshold:4194304"]
        self.assertEqual(moved["effect"], "moved")
        self.assertLess(moved["last_cheap"], 7_340_032 - PAGE)

    def test_the_end_of_the_thread_cache_follows_its_setting(self):
        # A cliff of three times is not there on every processor; where it is, at exactly this size.
        settings = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=67108864"}
        outcome = self.memsweep("cliffs", "--on", "glibc", "--from", "700KiB", "--to", "1500KiB", "-f", "json", "--no-verify",
                                env=environment(**settings))
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        (cliff,) = [c for c in strict_json(outcome.out)["allocators"][0]["cliffs"] if c["metric"] == "faults_per_op"]
        self.assertLessEqual(abs(cliff["last_cheap"] - (1 << 20)), PAGE, "the environment's settings hold")
        self.assertIn("the mmap threshold, which does not grow", cliff["cause"])
        found = self.cliffs("glibc", "900B", "1200B", "--no-verify")
        for cliff in found["cliffs"]:
            self.assertIn("thread cache" if cliff["last_cheap"] == 1032 else "", cliff["cause"] or "")

    def test_text_names_the_size_the_cause_and_the_setting(self):
        outcome = self.expect(0, "cliffs", "--on", "glibc", "--from", "31MiB", "--to", "34MiB")
        for words in ("33,550,312 B", "why:", "glibc.malloc.mmap_threshold", "tried:"):
            self.assertIn(words, outcome.text)
        self.assertIn("sweeping sizes", outcome.errors)
        self.assertEqual(self.expect(0, "cliffs", "--on", "glibc", "--from", "1KiB", "--to", "2KiB", "-q").err, b"")

    def test_wrong_usage(self):
        for arguments, message in ((("--on", "jemaloc"), 'did you mean "jemalloc"?'), ((), "--on"),
                                   (("--on", "glibc", "--from", "8KiB", "--to", "4KiB"), "below --to"),
                                   (("--on", "glibc", "--from", "8 KB"), "--from")):
            outcome = self.expect(2, "cliffs", *arguments)
            self.assertIn(message, outcome.errors)
        self.expect(4, "cliffs", "--on", "/nonexistent/lib.so")


if __name__ == "__main__":
    unittest.main()
