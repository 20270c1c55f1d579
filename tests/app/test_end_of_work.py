"""--end-when: the end of a program's work is a moment of its recording, of what watch measures and of what explain explains; whatever
becomes of the program, and whatever becomes of the sign."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from memsweep_cli import BINARY, MIB, CliTest, environment, execute, validator

PROGRAM = BINARY.parent / "recorded_work"
ADVISED = BINARY.parent / "advised_program"
HELD = 21 * MIB  # what it holds when its work is done
BESIDE = MIB     # what else a program holds: buffers of stdio, the loader's
PAGE = os.sysconf("SC_PAGESIZE")


class EndOfWork(CliTest):
    def setUp(self):
        super().setUp()
        self.mark = self.folder / "mark"
        self.trace = self.folder / "t.mst"

    def signs(self):
        return (("file", f"file:{self.mark}"), ("line", "line:^work is d.ne$"), ("signal", "signal"))

    def record(self, way, word, sign, *options, code=0):
        outcome = self.expect(code, "record", "-o", self.trace, "--end-when", sign, *options, "--", PROGRAM, way, word, self.mark)
        self.assertFalse(pathlib.Path(f"{self.trace}.recording").exists(), "nothing is left behind")
        return outcome

    def info(self):
        return json.loads(self.expect(0, "info", self.trace, "-f", "json").out)

    def check_mark(self, sign, held=HELD, events=True):
        info = self.info()
        end = info["end_of_work"]
        self.assertEqual(end["sign"], sign)
        self.assertGreaterEqual(end["live_bytes"], held)
        self.assertLess(end["live_bytes"], held + BESIDE)
        self.assertGreaterEqual(end["live_blocks"], 3)
        self.assertLess(end["events"], info["events"] + (0 if events else 1))
        return info


class Recorded(EndOfWork):
    def test_the_mark_is_where_the_work_was_done(self):
        # Three large blocks: all of the program's events lie under one stamp of the clock.
        for word, sign in self.signs():
            with self.subTest(word):
                outcome = self.record("frees", word, sign, "-q")
                self.assertEqual(outcome.text.split("\n")[0], "begun")
                self.assertIn("over", outcome.text, "what it prints is passed on to the last")
                info = self.check_mark(sign)
                self.assertLess(info["end_live_bytes"], BESIDE, "it frees on its way out")
                self.trace.unlink()

    def test_one_that_goes_on_is_asked_to_end(self):
        for word, sign in self.signs():
            with self.subTest(word):
                began = time.monotonic()
                self.record("waits", word, sign, "-q")
                self.assertGreater(time.monotonic() - began, 2)
                self.check_mark(sign)
                self.trace.unlink()

    def test_one_that_does_not_listen(self):
        self.record("deaf", "file", f"file:{self.mark}")
        self.check_mark(f"file:{self.mark}")

    def test_a_sign_that_is_seen_when_it_is_over(self):
        # Whether it is seen in time is a matter of luck; that there is a mark is not.
        for _ in range(3):
            self.record("gone", "file", f"file:{self.mark}")
            end = self.info()["end_of_work"]
            self.assertEqual(end["sign"], f"file:{self.mark}")
            self.trace.unlink()

    def test_what_is_held_at_an_exit_is_live_then(self):
        # Seen in time or not: a shell keeps blocks until it is gone.
        for _ in range(5):
            self.expect(0, "record", "-q", "-o", self.trace, "--end-when", f"file:{self.mark}", "--", "sh", "-c", f": >'{self.mark}'")
            self.assertGreater(self.info()["end_of_work"]["live_bytes"], 0)
            self.trace.unlink()

    def test_all_processes_stand_in_the_mark(self):
        self.record("parent", "file", f"file:{self.mark}", "-q")
        info = self.check_mark(f"file:{self.mark}", held=3 * HELD)
        self.assertEqual(info["by_kind"]["fork"], 2)

    def test_without_the_sign(self):
        for sign in (f"file:{self.mark}", "line:^never$", "signal"):
            with self.subTest(sign):
                outcome = self.record("silent", "none", sign, code=2)
                self.assertIn("ended without the sign", outcome.errors)
                self.assertNotIn("end_of_work", self.info(), "the trace is there, and has no mark")
                self.trace.unlink()

    def test_the_programs_own_failure_comes_first(self):
        outcome = self.expect(7, "record", "-o", self.trace, "--end-when", "signal", "--", "sh", "-c", "exit 7")
        self.assertIn("ended without the sign", outcome.errors)

    def test_a_file_that_is_there_already_is_no_sign(self):
        self.mark.write_text("of an earlier run")
        self.record("silent", "none", f"file:{self.mark}", code=2)
        self.assertFalse(self.mark.exists())
        self.trace.unlink()
        self.mark.mkdir()
        for command in (["record", "-o", self.trace], ["watch"], ["explain"]):
            with self.subTest(command[0]):
                outcome = self.expect(2, *command, "--end-when", f"file:{self.mark}", "--", PROGRAM, "frees", "none")
                self.assertIn("cannot be removed", outcome.errors)
                self.assertNotIn("begun", outcome.text, "the program is not started")
        self.assertFalse(self.trace.exists())
        self.assertFalse(pathlib.Path(f"{self.trace}.recording").exists())

    def test_what_was_asked_wrongly(self):
        for sign in ("", "noon", "file:", "line:", "line:(", "line:[z-a]", "SIGNAL"):
            for command in (["record", "-o", self.trace], ["watch"], ["explain"], ["run"], ["advise"]):
                with self.subTest((command[0], sign)):
                    self.assertIn("--end-when", self.expect(2, *command, "--end-when", sign, "--", PROGRAM, "frees", "none").errors)
        for command in (["record", "-o", self.trace], ["watch"], ["explain"], ["run"], ["advise"]):
            twice = self.expect(2, *command, "--end-when", "signal", "--end-when", "exit", "--", PROGRAM, "frees", "none")
            self.assertIn("--end-when", twice.errors)
        self.expect(2, "record", "-o", self.trace, "--recover", self.folder, "--end-when", "signal")
        self.assertFalse(self.trace.exists())

    def test_exit_is_what_it_is_without(self):
        self.record("frees", "none", "exit", "-q")
        self.assertNotIn("end_of_work", self.info())

    def test_replay_and_whatif_end_there(self):
        self.record("frees", "file", f"file:{self.mark}", "--stacks", "-q")

        def live(*options):
            self.expect(0, "replay", self.trace, "--on", "glibc", "-n", "1", "--warmup", "0", "--settle", "1ms", "--no-latency", "-o",
                        "r.json", *options, cwd=self.folder)
            [case] = json.loads((self.folder / "r.json").read_text())["cases"]
            return case

        def metric(case, name):
            return case["metrics"][name]["values"][0]

        whole, end, out = live(), live("--until", "end"), live("--until", "exit")
        self.assertEqual(whole["fingerprint"], out["fingerprint"])
        self.assertNotEqual(whole["fingerprint"], end["fingerprint"])
        self.assertEqual(metric(whole, "live_bytes_peak"), metric(end, "live_bytes_peak"))
        report = json.loads(self.expect(0, "whatif", self.trace, "--without", "work", "-f", "json").out)
        self.assertEqual(report["until"], "end")
        at_exit = json.loads(self.expect(0, "whatif", self.trace, "--without", "work", "--until", "exit", "-f", "json").out)
        self.assertGreaterEqual(report["whole"]["held"], HELD - PAGE)
        self.assertLess(at_exit["whole"]["held"], BESIDE)

    def test_the_sites_are_those_of_the_end(self):
        self.record("frees", "file", f"file:{self.mark}", "--stacks", "-q")
        for command in (["info", "--by", "function"], ["report"]):
            sites = json.loads(self.expect(0, *command, self.trace, "-f", "json").out)
            self.assertEqual(sites["up_to"], f"file:{self.mark}")
            self.assertGreaterEqual(sites["total"]["end_live_bytes"], HELD)
            self.assertTrue(any("work" in site["name"] and site["end_live_bytes"] == HELD for site in sites["sites"]), sites["sites"][:3])
        self.assertIn("Up to the end of the work", self.expect(0, "report", self.trace).text)
        self.assertIn("live when the work was done", self.expect(0, "info", self.trace).text)

    def test_a_snapshot_of_the_end(self):
        for way in ("frees", "waits"):
            for options in (("--snapshot-at-end",), ("--snapshot-at-end", "--snapshot-every", "20ms")):
                with self.subTest((way, options)):
                    self.record(way, "file", f"file:{self.mark}", "--stacks", "-q", *options)
                    self.check_mark(f"file:{self.mark}")
                    report = json.loads(self.expect(0, "explain", self.trace, "--remove", "0", "-f", "json").out)
                    self.assertEqual(report["moment"]["at"], "end")
                    self.assertGreaterEqual(report["live"]["requested"], HELD)
                    self.assertLess(report["live"]["requested"], HELD + BESIDE)
                    self.assertEqual(report["rss"], report["sum"])
                    self.trace.unlink()

    def test_a_snapshot_without_the_sign_is_of_the_exit(self):
        self.record("silent", "none", "signal", "--stacks", "--snapshot-at-end", code=2)
        report = json.loads(self.expect(0, "explain", self.trace, "--remove", "0", "-f", "json").out)
        self.assertLess(report["live"]["requested"], BESIDE)

    def test_a_recording_that_was_cut_off_keeps_its_mark(self):
        process = subprocess.Popen([BINARY, "record", "-q", "-o", self.trace, "--end-when", f"file:{self.mark}", "--", PROGRAM, "waits",
                                    "file", self.mark], stdout=subprocess.DEVNULL, env=environment(), cwd=self.folder)
        recording = pathlib.Path(f"{self.trace}.recording")
        limit = time.monotonic() + 60
        while not (recording / "end.mark").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        self.expect(0, "record", "-q", "--recover", recording, "-o", self.trace)
        self.check_mark(f"file:{self.mark}", events=False)

    def test_long_lines_and_much_output(self):
        # A line beyond what is looked at is no sign, and breaks nothing; what is printed comes through whole.
        script = ("import sys\nout = sys.stdout\nout.write('x' * 3_000_000 + 'ready\\n')\nout.write('\\n' * 100_000)\n"
                  "sys.stderr.write('e' * 300_000)\nout.write('ready\\n')\nout.flush()\n")
        for sign, code in (("line:^x.*ready$", 2), ("line:^ready$", 0), ("line:(x+x+)+y", 2)):
            with self.subTest(sign):
                outcome = self.expect(code, "record", "-q", "-o", self.trace, "--end-when", sign, "--", "python3", "-c", script)
                self.assertEqual(len(outcome.out), 3_000_000 + 6 + 100_000 + 6)
                self.assertGreaterEqual(len(outcome.err), 300_000)
                self.trace.unlink()

    def test_damaged_marks_break_nothing(self):
        self.record("frees", "file", f"file:{self.mark}", "-q")
        whole = self.trace.read_bytes()
        place = whole.index(f"file:{self.mark}".encode())
        for at in range(place - 80, place + 80):
            damaged = bytearray(whole)
            damaged[at] ^= 0x5A
            self.trace.write_bytes(damaged)
            outcome = execute("info", self.trace, "-f", "json")
            self.assertIn(outcome.code, (0, 1, 2), f"byte {at}\n{outcome}")


class Watched(EndOfWork):
    def watch(self, way, word, sign, code=0):
        outcome = self.expect(code, "watch", "-f", "json", "-o", "w.json", "-i", "5ms", "--end-when", sign, "--", PROGRAM, way, word,
                              self.mark)
        return outcome, self.result("w.json")

    def test_what_is_resident_then(self):
        for word, sign in (*self.signs(), ("none", "exit")):
            for way in ("frees", "waits") if word != "none" else ("frees",):
                with self.subTest((way, word)):
                    outcome, result = self.watch(way, word, sign)
                    self.assertEqual(result["run"]["exit_code"], 0)
                    case = self.case(result, "watch")
                    [end] = case["metrics"]["working_set_end"]["values"]
                    [peak] = case["metrics"]["working_set_peak"]["values"]
                    if word == "none":
                        self.assertLess(end, HELD)
                    else:
                        self.assertGreaterEqual(end, HELD)
                        if way == "waits":
                            self.assertLess(case["metrics"]["wall_time"]["values"][0], 30, "it is watched until then")
                    self.assertLessEqual(end, peak + MIB)
                    self.assertIn("begun", outcome.text)

    def test_without_the_sign_there_is_a_reason(self):
        _, result = self.watch("silent", "none", "signal")
        metric = self.case(result, "watch")["metrics"]["working_set_end"]
        self.assertEqual(metric["values"], [None])
        self.assertIn("without the sign", metric["reason"])

    def test_text(self):
        outcome = self.expect(0, "watch", "--end-when", "line:^work is done$", "--", PROGRAM, "frees", "line")
        self.assertRegex(outcome.errors, "resident")
        self.assertNotIn("working_set_end", self.expect(0, "watch", "-f", "json", "--", "true").text)

    def test_its_fingerprint_is_another(self):
        prints = set()
        for options in ((), ("--end-when", "exit"), ("--end-when", "signal")):
            self.expect(0, "watch", "-f", "json", "-o", "w.json", *options, "--", "true")
            prints.add(self.result("w.json")["run"]["scenario"]["fingerprint"])
        self.assertEqual(len(prints), 3)


class Explained(EndOfWork):
    def test_the_end_is_the_sign(self):
        judge = validator("explain")
        for way in ("frees", "waits"):
            for word, sign in self.signs():
                with self.subTest((way, word)):
                    out = self.folder / "e.json"
                    self.expect(0, "explain", "-f", "json", "-o", out, "--remove", "0", "--end-when", sign, "--", PROGRAM, way, word, self.mark)
                    report = json.loads(out.read_text())
                    if judge is not None:
                        self.assertEqual([error.message for error in judge.iter_errors(report)], [])
                    self.assertEqual(report["moment"]["at"], "end")
                    self.assertGreaterEqual(report["live"]["requested"], HELD)
                    self.assertLess(report["live"]["requested"], HELD + BESIDE)
                    self.assertEqual(report["rss"], report["sum"])

    def test_without_the_sign(self):
        outcome = self.expect(2, "explain", "--end-when", "signal", "--", PROGRAM, "silent", "none")
        self.assertIn("ended without the sign", outcome.errors)

    def test_a_sign_that_is_printed_last(self):
        for _ in range(3):
            out = self.folder / "e.json"
            self.expect(0, "explain", "-f", "json", "-o", out, "--remove", "0", "--end-when", "line:done", "--", "sh", "-c", "echo done")
            self.assertEqual(json.loads(out.read_text())["moment"]["at"], "end")

    def test_what_it_goes_with(self):
        self.assertIn("--end-when", self.expect(2, "explain", "--at", "peak", "--end-when", "signal", "--", PROGRAM, "frees", "none").errors)
        self.assertIn("--end-when", self.expect(2, "explain", "t.mst", "--end-when", "signal").errors)


class Scenario(EndOfWork):
    def scenario(self, **command):
        path = self.folder / "s.json"
        path.write_text(json.dumps({"format": "memsweep-scenario", "version": 1, "name": "worked", "repetitions": 2, "warmup": 0,
                                    "command": {"run": [os.fspath(PROGRAM), "frees", "file", os.fspath(self.mark)], **command}}))
        return path

    def test_the_metric_is_of_that_moment(self):
        self.expect(0, "run", "-q", "-o", "r.json", self.scenario(end_when=f"file:{self.mark}"))
        [case] = self.result("r.json")["cases"]
        for value in case["metrics"]["working_set_end"]["values"]:
            self.assertGreaterEqual(value, HELD)
        self.expect(0, "run", "-q", "-o", "r.json", self.scenario())
        self.assertNotIn("working_set_end", self.result("r.json")["cases"][0]["metrics"])

    def test_what_a_shell_waits_for_is_asked_to_end_with_it(self):
        heard = self.folder / "heard"
        server = f"trap 'sleep 0.2; echo heard >> {heard}; exit 0' TERM; : > {self.mark}; while :; do sleep 0.05; done"
        for how, script in (("waited for", 'sh -c "$0"; true'), ("a daemon", '(sh -c "$0" &); sleep 100')):
            with self.subTest(how):
                self.expect(0, "run", "-q", "-n", "1", "-w", "0", "-o", "r.json", "--end-when", f"file:{self.mark}", "--", "sh", "-c", script, server)
                self.assertEqual(heard.read_text(), "heard\n")
                heard.unlink()

    def test_the_fingerprint_has_it_where_it_is_used(self):
        def fingerprint(*words):
            self.expect(0, "run", "-q", "-n", "1", "-o", "r.json", *words)
            return self.result("r.json")["cases"][0]["fingerprint"]

        self.assertNotEqual(fingerprint(self.scenario()), fingerprint(self.scenario(end_when="exit")))

    def test_what_is_wrong_is_said_at_its_place(self):
        for wrong in ("", "noon", "line:(", "file:", 7, None, ["signal"]):
            with self.subTest(wrong):
                outcome = self.expect(2, "validate", self.scenario(end_when=wrong))
                self.assertRegex(outcome.errors, r"s\.json:1:\d+: .*end_when")

    def test_a_line_is_looked_for_in_what_is_read(self):
        for where in ("inherit", "file.txt"):
            outcome = self.expect(2, "validate", self.scenario(end_when="line:done", stdout=where))
            self.assertRegex(outcome.errors, r"s\.json:1:\d+: .*end_when.*checksum")
            outcome = self.expect(2, "run", "--end-when", "line:done", "--stdout", where, "--", "true")
            self.assertIn("--end-when", outcome.errors)
        self.expect(0, "validate", self.scenario(end_when="line:done", stdout="checksum"))


class Run(CliTest):
    """What is resident when the work is done."""

    def metrics(self, *words, options=(), runs=2):
        self.expect(0, "run", "-q", "-n", str(runs), "-o", "r.json", *options, "--", *words)
        [case] = json.loads((self.folder / "r.json").read_text())["cases"]
        return case["metrics"]

    def test_at_the_exit_all_memory_is_still_there(self):
        # It lives for some milliseconds, and each time it is seen at its end.
        metrics = self.metrics(ADVISED, "live", options=("--end-when", "exit"), runs=40)
        peaks = metrics["working_set_peak"]["values"]
        for end, peak in zip(metrics["working_set_end"]["values"], peaks):
            self.assertGreater(end, 20 * MIB)
            self.assertLessEqual(end, peak * 1.1 + MIB)  # what the kernel counts late
        self.assertNotIn("working_set_end", self.metrics(ADVISED, "live"))

    def test_what_started_it_is_not_counted(self):
        # Of several processes the pages of files are left out: most of what so small a program holds.
        values = self.metrics("/bin/true", options=("--end-when", "exit"), runs=60)["working_set_end"]["values"]
        self.assertGreater(min(values), max(values) / 2)

    def test_a_main_thread_that_ends_first_is_not_the_end(self):
        source = self.folder / "outlived.c"
        source.write_text("#include <pthread.h>\n#include <unistd.h>\n"
                          "static void* work(void* none) { sleep(1); _exit(0); return none; }\n"
                          "int main(void) { pthread_t one; pthread_create(&one, 0, work, 0); pthread_exit(0); }\n")
        if shutil.which("gcc") is None:
            self.skipTest("no gcc")
        subprocess.run(["gcc", "-pthread", "-o", self.folder / "outlived", source], check=True)
        self.expect(0, "run", "-q", "-n", "2", "--end-when", "exit", "-o", "r.json", "--", self.folder / "outlived")
        text = (self.folder / "r.json").read_text()
        self.assertEqual(json.loads(text)["cases"][0]["metrics"]["working_set_end"]["values"], [None, None])
        self.assertIn("its main thread ended before it did", text)

    def test_of_both_programs_at_once(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor")
        self.expect((0, 1, 5), "run", "-q", "-n", "5", "--duet", "--end-when", "exit", "-o", "r.json", "--against", f"{ADVISED} live",
                    "--", ADVISED, "live")
        for case in json.loads((self.folder / "r.json").read_text())["cases"]:
            self.assertGreater(min(case["metrics"]["working_set_end"]["values"]), 20 * MIB)

    def test_each_sign(self):
        mark = self.folder / "mark"
        for kind, sign in (("rests", f"file:{mark}"), ("says", "line:work is done"), ("signals", "signal")):
            with self.subTest(kind):
                for value in self.metrics(ADVISED, kind, mark, options=("--end-when", sign))["working_set_end"]["values"]:
                    self.assertGreater(value, 10 * MIB)

    def test_without_the_sign_there_is_no_value(self):
        metric = self.metrics(ADVISED, "live", options=("--end-when", "line:never"))["working_set_end"]
        self.assertEqual(metric["values"], [None, None])

    def test_what_it_goes_with(self):
        self.assertIn("--end-when", self.expect(2, "run", "--end-when", "exit", "churn").errors)
        self.assertIn("--end-when", self.expect(2, "run", "--end-when", "noon", "--", ADVISED, "live").errors)


class Advise(CliTest):
    def advise(self, *words, options):
        done = self.expect((0, 5), "advise", "--json", "-q", "--keep", "cpu_time<=20x", "--budget", "6", *options, "--", *words)
        return json.loads(done.text)

    def test_the_sign_that_work_is_done(self):
        mark = self.folder / "mark"
        for kind, sign in (("rests", f"file:{mark}"), ("says", "line:^work is d.ne$"), ("signals", "signal")):
            with self.subTest(kind):
                began = time.monotonic()
                # The first run is asked to end when it has gone on for two seconds.
                report = self.advise(ADVISED, kind, mark, options=("--end-when", sign))
                self.assertGreater(time.monotonic() - began, 2)
                self.assertGreater(report["default"]["value"]["median"], 10 * MIB)
                self.assertEqual(report["end_when"], sign)

    def test_at_rest_needs_a_sign(self):
        self.assertIn("--end-when", self.expect(2, "advise", "--want", "rss@idle=1s", "--", ADVISED, "live").errors)
        report = self.advise(ADVISED, "rests", self.folder / "mark",
                             options=("--want", "rss@idle=200ms", "--end-when", f"file:{self.folder / 'mark'}"))
        self.assertEqual(report["want"], {"metric": "rss", "at": "idle", "idle_seconds": 0.2})


if __name__ == "__main__":
    unittest.main()
