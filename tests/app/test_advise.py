"""memsweep advise: which settings of an allocator a program should run with, or none, tried on programs whose answer is known."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from memsweep_cli import BINARY, MIB, CliTest, environment, execute, validator

PROGRAM = BINARY.parent / "advised_program"
OWN_MALLOC = BINARY.parent / "recorded_own_malloc"
# A program of some 20 ms cannot be held to 5 % on a busy machine: what is tested here is the memory.
LOOSE = ("--keep", "cpu_time<=20x")


class Advise(CliTest):
    def advise(self, *words, options=(), code=0, runs="60", keep=LOOSE):
        budget = () if "--budget" in options else ("--budget", runs)
        done = self.expect(code, "advise", "--json", "-q", *budget, *keep, *options, "--", *words)
        report = json.loads(done.text)
        self.assertEqual((report["format"], report["format_version"]), ("memsweep-advice", 1))
        judge = validator("advice")
        if judge is not None:
            self.assertEqual([(list(error.absolute_path), error.message) for error in judge.iter_errors(report)], [])
        return report

    def tried(self, report, text):
        [one] = [one for one in report["tried"] if self.text_of(one) == text]
        return one

    @staticmethod
    def text_of(one):
        return " ".join([one["allocator"], *(f"{name}={value}" for name, value in one["settings"].items())])

    def check_change(self, report, at_most):
        self.assertEqual(report["verdict"], "change", report["headline"])
        [advice] = report["advice"]
        self.assertTrue(advice["gain"]["proven"])
        self.assertGreaterEqual(advice["gain"]["n"], 3)
        self.assertLess(advice["gain"]["ratio"], at_most, report["headline"])
        for name, value in advice["environment"].items():
            self.assertIn(f'Environment="{name}={value}"', advice["systemd"])
            self.assertIn(f'{name}="{value}"', advice["dockerfile"])
        return advice

    def test_memory_that_glibc_keeps_is_had_back(self):
        report = self.advise(PROGRAM, "fastbins")
        self.check_change(report, 0.8)
        program = report["program"]
        self.assertEqual((program["allocator"], program["how"], program["changes_user"], program["threads"]), ("glibc", "libc", False, 1))
        self.assertGreater(program["bound_bytes"], 10 * MIB)
        self.assertRegex(report["headline"], r"^advised_program, rss@end: .* -> .* MiB \(-\d+\.\d %")
        # What it recommends does what it says, outside of memsweep too.
        [advice] = report["advice"]
        again = self.advise(PROGRAM, "fastbins", options=("--budget", "6"), code=(0, 5))
        self.assertAlmostEqual(again["default"]["value"]["median"], report["default"]["value"]["median"], delta=2 * MIB)
        self.assertTrue(advice["environment"])

    def test_aligned_blocks(self):
        self.check_change(self.advise(PROGRAM, "aligned"), 0.5)

    def test_arenas_are_tried_where_there_are_threads(self):
        report = self.advise(PROGRAM, "arenas", code=(0, 5))
        self.assertGreater(report["program"]["threads"], 1)
        self.assertIsNotNone(self.tried(report, "glibc arena_max=1")["measured"])
        alone = self.advise(PROGRAM, "live")
        self.assertIsNone(self.tried(alone, "glibc arena_max=1")["measured"])

    def test_what_is_live_stays(self):
        report = self.advise(PROGRAM, "live")
        self.assertEqual((report["verdict"], report["advice"]), ("change_nothing", []), report["headline"])
        self.assertIn("change nothing", report["headline"])

    def test_without_a_heap_nothing_is_tried(self):
        report = self.advise(PROGRAM, "tiny")
        self.assertEqual((report["verdict"], report["tried"]), ("change_nothing", []))
        self.assertRegex(report["headline"], "No setting can return more than|It ends before anybody can look at it")

    def test_what_prints_something_else_or_crashes_is_no_advice(self):
        for kind, word in (("prints", "unsafe"), ("crashes", "failed")):
            with self.subTest(kind):
                report = self.advise(PROGRAM, kind)
                dropped = {one["allocator"]: one["dropped"] for one in report["tried"] if one["stage"] != "untried" and one["allocator"] != "glibc"}
                self.assertTrue(dropped, report["tried"])
                self.assertEqual(set(dropped.values()), {word}, report["tried"])
                for advice in report["advice"]:
                    self.assertEqual(advice["allocator"], "glibc")

    def test_output_that_varies_is_not_compared(self):
        report = self.advise(PROGRAM, "varies", runs="12", code=(0, 5))
        self.assertTrue(any("differs from run to run" in one for one in report["warnings"]), report["warnings"])
        self.assertFalse([one for one in report["tried"] if one["dropped"] == "unsafe"])

    def test_a_malloc_of_its_own(self):
        report = self.advise(OWN_MALLOC)
        self.assertEqual((report["verdict"], report["advice"]), ("change_nothing", []))
        self.assertIn("a preload is inert", report["reason"])

    def test_of_dear_runs_the_settings_are_replayed_and_the_best_are_run(self):
        # Twenty settings of 0.7 s each are more than half of that.
        report = self.advise(PROGRAM, "slow", options=("--budget", "20s"), code=(0, 5))
        self.assertGreaterEqual(report["cost"]["replays"], 10)
        self.assertLessEqual(report["cost"]["real_runs"], 15)
        self.assertGreater(report["program"]["recorded_share"], 0.8)
        default = report["default"]["value"]["median"]
        measured = [one for one in report["tried"] if one["measured"] and one["predicted"]]
        self.assertTrue(measured, report["tried"])
        self.assertLessEqual(len(measured), 4)
        for one in measured:
            self.assertAlmostEqual(one["predicted"]["rss"], one["measured"]["rss"], delta=max(0.15 * default, 2 * MIB), msg=self.text_of(one))
            self.assertAlmostEqual(one["predicted"]["error"], one["predicted"]["rss"] / one["measured"]["rss"] - 1, places=6)
        replayed = [one for one in report["tried"] if one["stage"] == "replay"]
        self.assertGreaterEqual(len(replayed), 8)
        self.assertEqual({one["claim"] for one in replayed}, {"predicted"})
        # What was run is what was predicted to need least.
        self.assertLessEqual(max(one["predicted"]["rss"] for one in measured), min(one["predicted"]["rss"] for one in replayed))
        if report["verdict"] == "change":
            self.assertEqual([one["claim"] for one in report["tried"]].count("proven"), 1)
            self.check_change(report, 0.8)

    def test_a_prediction_that_nothing_has_confirmed_is_called_so(self):
        report = self.advise(PROGRAM, "slow", options=("--budget", "3s"), code=(0, 5))
        self.assertIn(report["verdict"], ("predicted_only", "change_nothing"), report["headline"])
        self.assertNotIn("proven", [one["claim"] for one in report["tried"]])

    def test_settings_of_an_allocator_that_it_is_linked_with_need_no_preload(self):
        library = next((path for path in ("/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2")
                        if os.path.exists(path)), None)
        if library is None or shutil.which("gcc") is None:
            self.leave_out("linked allocator", "needs gcc and libjemalloc")
        source, program, log = self.folder / "linked.c", self.folder / "linked", self.folder / "log"
        source.write_text("""#include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            static char *all[400];
            int main(int count, char **words) {
              const char *preload = getenv("LD_PRELOAD"), *settings = getenv("MALLOC_CONF");
              FILE *log = fopen(words[1], "a");
              fprintf(log, "%s|%s\\n", preload ? preload : "", settings ? settings : "");
              fclose(log);
              for (int i = 0; i < 400; i++) memset(all[i] = malloc(100000), 1, 100000);
              for (int i = 0; i < 400; i++) if (i % 8) free(all[i]);
              return 0; }""")
        subprocess.run(["gcc", "-fno-builtin", "-o", program, source, library], check=True)
        report = self.advise(program, log, code=(0, 5))
        self.assertEqual((report["program"]["allocator"], report["program"]["how"]), ("jemalloc", "linked"))
        self.assertEqual({one["dropped"] for one in report["tried"] if one["allocator"] == "glibc"}, {"inert"})
        own = [line.split("|") for line in log.read_text().splitlines() if line.split("|")[1]]
        tried = {one["environment"]["MALLOC_CONF"] for one in report["tried"] if one["allocator"] == "jemalloc" and one["measured"]}
        self.assertTrue(tried)
        self.assertEqual({settings for _, settings in own}, tried)
        self.assertEqual({preload for preload, _ in own}, {""})
        for advice in report["advice"]:
            if advice["allocator"] == "jemalloc":
                self.assertNotIn("LD_PRELOAD", advice["environment"])
            else:
                self.assertTrue(any("is linked with jemalloc" in one for one in report["warnings"]), report["warnings"])

    def test_the_budget_is_kept(self):
        for runs in (6, 9, 20):
            report = self.advise(PROGRAM, "fastbins", runs=str(runs), code=(0, 5))
            self.assertLessEqual(report["cost"]["real_runs"], runs)
        report = self.advise(PROGRAM, "fastbins", options=("--budget", "6"), code=(0, 5))
        self.assertIn(report["verdict"], ("predicted_only", "change_nothing"))

    def lasting(self, when):
        """A program that says when it begins, and says when it is over: a minute later where `when` holds, else at once."""
        return f"echo begun >> log; if {when}; then sleep 60; fi; {PROGRAM} slow; echo over >> log"

    def begun_and_over(self):
        words = (self.folder / "log").read_text().split()
        return words.count("begun"), words.count("over")

    def test_the_budget_ends_a_run_that_is_longer(self):
        report = self.advise(self.lasting("true"), options=("--shell", "--budget", "2s"), code=5)
        self.assertEqual(self.begun_and_over(), (1, 0))
        self.assertEqual((report["verdict"], report["advice"], report["cost"]["real_runs"]), ("predicted_only", [], 1))
        self.assertIn("nothing is proven. The budget ended while it ran as it is for the first time", report["headline"])

    def test_the_budget_ends_a_recording(self):
        # Only what is recorded lasts, and that is recorded once: what it was served by is known from what there is.
        report = self.advise(self.lasting('case "$LD_PRELOAD" in *libmemsweep_record*) ;; *) false ;; esac'),
                             options=("--shell", "--want", "rss@peak", "--budget", "24s"), code=(0, 5))
        begun, over = self.begun_and_over()
        self.assertEqual(begun - over, 1)
        self.assertGreaterEqual(over, 2, "it was run after that")
        self.assertEqual(report["program"]["allocator"], "glibc")
        self.assertTrue(any("could not be recorded" in one and "still running" in one for one in report["warnings"]), report["warnings"])

    def test_the_budget_ends_a_setting_that_hangs(self):
        report = self.advise(self.lasting('case "$LD_PRELOAD" in *mimalloc*|*jemalloc*|*tcmalloc*) ;; *) false ;; esac').replace("slow", "fastbins"),
                             options=("--shell", "--want", "rss@peak", "--budget", "10s"), code=(0, 5))
        begun, over = self.begun_and_over()
        # It has what was left of the budget, and a setting that begins then may have as much as three runs again.
        self.assertIn(begun - over, (1, 2))
        hung = [one for one in report["tried"] if "still running" in (one["why"] or "")]
        self.assertEqual({one["dropped"] for one in hung}, {"failed"})
        self.assertEqual({one["allocator"] for one in report["advice"]} - {"glibc"}, set())

    def test_what_cannot_be_started_is_no_short_program(self):
        alone = self.folder / BINARY.name
        shutil.copy(BINARY, alone)  # without its launcher
        done = subprocess.run([alone, "advise", "-q", "--", PROGRAM, "live"], capture_output=True, text=True, env=environment(), check=False)
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("memsweep-launch", done.stderr)

    def test_a_program_that_fails_as_it_is(self):
        self.assertIn("exit code 3", self.expect(3, "advise", "-q", "--", PROGRAM, "fails").errors)
        self.expect(2, "advise", "-q", "--", self.folder / "nothing")

    def test_another_user(self):
        setpriv = shutil.which("setpriv")
        if setpriv is None or os.geteuid() != 0:
            self.leave_out("another user", "needs root and setpriv")
        mark = self.folder / "mark"
        self.folder.chmod(0o777)
        report = self.advise(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "rests", mark, code=(0, 5),
                             options=("--want", "rss@idle=100ms", "--end-when", f"file:{mark}", "--budget", "6"))
        self.assertTrue(report["program"]["changes_user"])
        [refused] = [one for one in report["tried"] if one["dropped"] == "refused"]
        self.assertEqual(refused["settings"]["background_thread"], "true")

    def test_an_interruption_prints_the_best_so_far(self):
        process = subprocess.Popen([BINARY, "advise", "--json", *LOOSE, "--", PROGRAM, "fastbins"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment(), cwd=self.folder)
        for line in process.stderr:
            if b"settings on it" in line:
                break
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        report = json.loads(out)
        if process.returncode != 0:  # 0: it was faster than that
            self.assertEqual(process.returncode, 130)
            self.assertTrue(report["interrupted"])

    def test_reports(self):
        page, markdown = self.folder / "a.html", self.folder / "a.md"
        self.expect(0, "advise", "-q", *LOOSE, "--budget", "40", "-r", f"html={page}", "-r", f"md={markdown}", "--", PROGRAM, "fastbins")
        self.assertIn("Memory against time", page.read_text())
        self.assertIn("ENV ", markdown.read_text())

    def test_what_was_asked_wrongly(self):
        for options, word in ((("--want", "rss@noon"), "--want"), (("--keep", "cpu_time<=0.5x"), "--keep"), (("--keep", "rss<=1x"), "--keep"),
                              (("--budget", "3"), "--budget"), (("--budget", "soon"), "--budget"), (("--end-when", "file:"), "--end-when"),
                              (("--end-when", "line:("), "--end-when"), (("-r", "csv"), "csv")):
            with self.subTest(options):
                self.assertIn(word, self.expect(2, "advise", *options, "--", PROGRAM, "live").errors)
        self.expect(2, "advise")


class Resume(CliTest):
    """advise --resume FILE: what was measured is not measured again, whatever ended the run before."""

    def setUp(self):
        super().setUp()
        self.runs, self.made = self.folder / "runs", self.folder / "made"

    def words(self, kind="fastbins"):
        return ("--shell", *LOOSE, "--", f"echo x >> {self.made}; exec {PROGRAM} {kind}")

    def count(self):
        """How often the program really ran since the last call."""
        count = len(self.made.read_text().split()) if self.made.exists() else 0
        self.made.unlink(missing_ok=True)
        return count

    def resume(self, runs, code=(0, 5), words=None, options=()):
        done = execute("advise", "--json", "-q", "--budget", str(runs), "--resume", self.runs, *options, *(words or self.words()), cwd=self.folder)
        self.assertIn(done.code, code, f"\n{done}")
        return done

    def lines(self):
        return self.runs.read_bytes().splitlines(keepends=True)

    def test_a_larger_budget_goes_on(self):
        first = json.loads(self.resume(8).text)
        self.assertEqual(self.count(), first["cost"]["real_runs"])
        kept = self.lines()
        self.assertEqual(len(kept), 1 + first["cost"]["real_runs"])
        second = json.loads(self.resume(16).text)
        made = self.count()
        # With more room the search may go another way: then not all that was kept is asked for.
        self.assertGreaterEqual(made, second["cost"]["real_runs"] - first["cost"]["real_runs"])
        self.assertLess(made, second["cost"]["real_runs"] - 3)
        self.assertEqual(self.lines()[:len(kept)], kept)
        self.assertEqual(len(self.lines()), len(kept) + made)
        self.assertGreaterEqual(second["cost"]["seconds"], first["cost"]["seconds"] * 0.9)
        # All of it is there: the same answer, without a run.
        third = json.loads(self.resume(16).text)
        self.assertEqual(self.count(), 0)
        for key in ("verdict", "advice", "tried", "default", "program"):
            self.assertEqual(third[key], second[key], key)

    def test_what_was_unsafe_stays_so(self):
        words = ("--shell", "--budget", "14", "--resume", self.runs, *LOOSE)
        program = f'case "$LD_PRELOAD" in *mimalloc*|*jemalloc*|*tcmalloc*) echo other;; esac; exec {PROGRAM} aligned'
        first, again = (json.loads(self.expect((0, 1, 5), "advise", "--json", "-q", *words, "--", program).text) for _ in range(2))
        unsafe = [{(one["allocator"], str(one["settings"])) for one in report["tried"] if one["dropped"] == "unsafe"} for report in (first, again)]
        if not unsafe[0]:
            self.leave_out(self.id(), "no other allocator is installed")
        self.assertLessEqual(unsafe[0], unsafe[1])
        self.assertEqual([one["allocator"] for one in again["advice"] if one["allocator"] != "glibc"], [])

    def test_a_kill_loses_no_run(self):
        process = subprocess.Popen([BINARY, "advise", "--budget", "16", "--resume", self.runs, *self.words()], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment(), cwd=self.folder)
        limit = time.monotonic() + 60
        while (not self.runs.exists() or len(self.lines()) < 6) and time.monotonic() < limit:
            time.sleep(0.005)
        process.kill()
        process.wait(timeout=60)
        kept = [line for line in self.lines() if line.endswith(b"\n")]
        self.assertGreaterEqual(len(kept), 6)
        time.sleep(0.5)  # the guard ends what was running
        self.assertLessEqual(self.count() - (len(kept) - 1), 1, "only the run that was going on is not kept")
        report = json.loads(self.resume(16).text)
        self.assertEqual(self.count(), report["cost"]["real_runs"] - (len(kept) - 1))
        self.assertEqual(self.lines()[:len(kept)], kept)

    def test_an_interruption_prints_and_keeps(self):
        process = subprocess.Popen([BINARY, "advise", "--resume", self.runs, *self.words()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(), cwd=self.folder, text=True)
        limit = time.monotonic() + 60
        while (not self.runs.exists() or len(self.lines()) < 8) and time.monotonic() < limit:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 130), errors)
        self.assertIn("rss@end", out)
        self.assertIn("What was tried", out)
        kept = self.lines()
        self.count()
        report = json.loads(self.resume(40).text)
        made = self.count()
        self.assertLess(made, report["cost"]["real_runs"])
        self.assertEqual(self.lines()[:len(kept)], kept)
        self.assertEqual(len(self.lines()), len(kept) + made)

    def test_what_has_to_be_the_same(self):
        self.resume(6)
        kept = self.runs.read_bytes()
        for options, words, what in (((), self.words("aligned"), "program"), (("--want", "rss@peak"), None, "question"),
                                     (("--end-when", "signal"), None, "question"), ((), ("--shell", "--keep", "wall_time<=20x", *self.words()[3:]), "question"),
                                     (("--timeout", "7s"), None, "question")):
            with self.subTest((options, what)):
                done = self.resume(8, code=(2,), options=options, words=words)
                self.assertIn(what, done.errors)
                self.assertEqual(self.runs.read_bytes(), kept, "it is as it was")
        header = json.loads(kept.split(b"\n")[0])
        for key in ("program", "question", "machine"):
            self.runs.write_bytes(json.dumps({**header, key: "another"}).encode() + b"\n")
            self.assertIn(f"another {key}", self.resume(8, code=(2,)).errors)
        self.count()
        self.runs.write_bytes(kept)
        os.environ["MALLOC_ARENA_MAX"] = "2"
        try:
            self.assertIn("another program", self.resume(8, code=(2,)).errors)
        finally:
            del os.environ["MALLOC_ARENA_MAX"]
        self.assertEqual(self.count(), 0)

    def test_hostile_files(self):
        self.resume(6)
        kept = self.lines()
        self.count()
        # A line that was cut off, or that nobody wrote, is passed over; those behind it count.
        self.runs.write_bytes(b"".join(kept[:3]) + b'{"what":"x","ending":"finished"}\nnonsense\n[]\n{"took_ns":1e400}\n' + b"".join(kept[3:]) +
                              kept[-1][:20])
        self.resume(6)
        self.assertEqual(self.count(), 0)
        self.runs.write_bytes(b"".join(kept) + kept[1][:-9])
        report = json.loads(self.resume(8).text)
        self.assertEqual(self.count(), report["cost"]["real_runs"] - (len(kept) - 1))
        for other in (b"somebody's letter\n", b"{}\n", b'{"format":"memsweep-advise-runs","format_version":99}\n', b"\0" * 100):
            self.runs.write_bytes(other)
            self.assertIn("runs", self.resume(8, code=(2,)).errors)
            self.assertEqual(self.runs.read_bytes(), other, "what somebody else wrote stays")
        self.runs.unlink()
        self.runs.mkdir()
        self.resume(8, code=(2,))
        self.runs.rmdir()
        os.mkfifo(self.runs)
        self.resume(8, code=(2,))
        self.runs.unlink()
        self.runs.touch()
        self.resume(6)
        self.assertGreater(len(self.lines()), 1, "an empty file is begun")

    def test_a_setting_that_the_budget_has_ended_is_tried_again(self):
        words = ("--shell", *LOOSE, "--", f'case "$LD_PRELOAD" in *mimalloc*|*jemalloc*|*tcmalloc*) sleep 60;; esac; exec {PROGRAM} fastbins')
        report = json.loads(self.resume("6s", words=words).text)
        self.assertTrue([one for one in report["tried"] if "still running" in (one["why"] or "")], report["tried"])
        self.assertGreaterEqual(len(self.lines()), 5, "header, and the program as it is")
        self.assertNotIn(b"still running", self.runs.read_bytes())

    def test_a_program_that_failed_as_it_was_is_run_again(self):
        words = ("--shell", *LOOSE, "--", f"test -e {self.folder}/mended && exec {PROGRAM} fastbins")
        self.resume(6, code=(3,), words=words)
        (self.folder / "mended").touch()
        self.resume(6, words=words)


if __name__ == "__main__":
    unittest.main()
