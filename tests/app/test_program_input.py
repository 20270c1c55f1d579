"""What programs behind -- read: redirected files and pipes, --stdin, nothing; each run the same bytes from their start.

The program is `wc`, or a copy of what it read into a file: its output is judged, never its time.
"""

import concurrent.futures
import hashlib
import os
import resource
import socket
import subprocess
import time
import unittest

from memsweep_cli import BINARY, MIB, NO_TIMES, PATIENCE_S, CliTest, default_signals, environment, scenario

LINES = b"".join(b"line %d\n" % number for number in range(1000))
# Says for each run what it was given, and how much: `run` has the repetitions, warm-ups and counting runs of both programs.
TELL = "echo \"$0 $(sha256sum)\" >> told"


class Input(CliTest):
    def run_with(self, stdin, *words, code=0, prepare=None, out="r.json"):
        """Runs with this file object or descriptor as standard input; `prepare` in the child."""
        warmup = () if "--warmup" in words else ("--warmup", "0")
        done = subprocess.run([BINARY, "run", "-q", "-o", out, *warmup, *words], stdin=stdin, cwd=self.folder, env=environment(PYTHONHASHSEED="0"),
                              capture_output=True, timeout=PATIENCE_S, preexec_fn=prepare or default_signals, check=False)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), done.stderr.decode())
        return done.stderr.decode()

    def runs(self):
        """What each run read, in order, as (program, digest)."""
        told = [tuple(line.split()[:2]) for line in (self.folder / "told").read_text().splitlines()]
        (self.folder / "told").unlink()
        return told

    def facts(self, path="r.json"):
        return {case["id"]: case.get("facts", {}).get("input") for case in self.result(path)["cases"]}

    def expected(self, data):
        return f"{len(data)} B, sha256 {hashlib.sha256(data).hexdigest()}"

    def sources(self):
        """Every kind of standard input that holds LINES: (name, what opens it)."""
        self.write("in.txt", LINES)

        def fed_by(shell_text):
            process = subprocess.Popen(["sh", "-c", shell_text], cwd=self.folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            return process.stdout

        def fed_by_socket():
            ours, theirs = socket.socketpair()
            theirs.sendall(LINES)
            theirs.close()
            self.addCleanup(ours.close)
            return ours

        def at_an_offset():
            (self.folder / "longer.txt").write_bytes(b"passed over\n" + LINES)
            file = open(self.folder / "longer.txt", "rb")
            os.lseek(file.fileno(), len(b"passed over\n"), os.SEEK_SET)
            self.addCleanup(file.close)
            return file

        def without_a_name():
            (self.folder / "gone.txt").write_bytes(LINES)
            file = open(self.folder / "gone.txt", "rb")
            (self.folder / "gone.txt").unlink()
            self.addCleanup(file.close)
            return file

        def plain():
            file = open(self.folder / "in.txt", "rb")
            self.addCleanup(file.close)
            return file

        yield "file", plain
        yield "file without a name", without_a_name
        yield "file at an offset", at_an_offset
        yield "pipe", lambda: fed_by("cat in.txt")
        yield "slow pipe", lambda: fed_by("sleep 1; head -c 4000 in.txt; sleep 1; tail -c +4001 in.txt")
        yield "socket", fed_by_socket

    def test_every_run_reads_all_of_every_kind_of_input(self):
        digest = hashlib.sha256(LINES).hexdigest()
        for name, opened in self.sources():
            with self.subTest(name):
                self.run_with(opened(), "-n", "2", "--warmup", "1", "--count", "--", "sh", "-c", TELL, "a")
                runs = self.runs()
                self.assertEqual(runs, [("a", digest)] * 5, "a warm-up, two timed runs, two counting ones")
                self.assertEqual(set(self.facts().values()), {self.expected(LINES)})

    def test_both_programs_read_it_in_turns_and_at_once(self):
        digest = hashlib.sha256(LINES).hexdigest()
        for how in ([], ["--duet"] if (os.cpu_count() or 1) > 1 else []):
            for name, opened in self.sources():
                with self.subTest(name, how=how):
                    self.run_with(opened(), *how, "-n", "5", *NO_TIMES, "--against", f"sh -c {quoted(TELL)} base", "--",
                                  "sh", "-c", TELL, "candidate", code=(0, 5))
                    runs = self.runs()
                    self.assertEqual({digest for _, digest in runs}, {digest})
                    self.assertEqual({program for program, _ in runs}, {"base", "candidate"})
                    self.assertGreaterEqual(len(runs), 10)

    def test_a_regression_on_the_input_is_seen(self):
        """A filter does its work on what is redirected, and nothing without it."""
        self.write("in.txt", LINES)
        script = "import sys; lines = [line for _ in range(int(sys.argv[1])) for line in (open('/proc/self/fd/0').readlines())]"
        with open(self.folder / "in.txt", "rb") as file:
            self.run_with(file, "-n", "12", *NO_TIMES, "--against", f"python3 -c {quoted(script)} 1", "--", "python3", "-c", script, "9",
                          code=1)

    def test_nothing_to_read_is_what_it_was(self):
        empty = hashlib.sha256(b"").hexdigest()
        master, terminal = os.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, terminal)
        os.write(master, b"typed by somebody\n")
        read_end, write_end = os.pipe()
        os.close(write_end)
        self.addCleanup(os.close, read_end)
        (self.folder / "empty").write_bytes(b"")

        def closed():
            default_signals()
            os.close(0)

        with open(self.folder / "empty", "rb") as file:
            for name, stdin, prepare in (("/dev/null", subprocess.DEVNULL, None), ("terminal", terminal, None), ("closed", subprocess.DEVNULL, closed),
                                         ("pipe at its end", read_end, None), ("empty file", file, None)):
                with self.subTest(name):
                    self.run_with(stdin, "-n", "2", "--", "sh", "-c", TELL, "a", prepare=prepare)
                    self.assertEqual(self.runs(), [("a", empty)] * 2)
                    self.assertEqual(set(self.facts().values()), {None})
        self.write("in.txt", LINES)
        with open(self.folder / "in.txt", "rb") as file:
            self.run_with(file, "-n", "2", "--stdin", "/dev/null", "--", "sh", "-c", TELL, "a")
            self.assertEqual(self.runs(), [("a", empty)] * 2)

    def test_an_open_pipe_without_an_end_is_refused_with_the_way_out(self):
        def refused(before, out):
            read_end, write_end = os.pipe()
            os.write(write_end, before)
            try:
                return self.run_with(read_end, "-n", "1", "--", "sh", "-c", TELL, "a", code=2, out=out)
            finally:
                os.close(read_end)
                os.close(write_end)

        # Both at once: each is waited for.
        with concurrent.futures.ThreadPoolExecutor() as both:
            silent, after_a_part = both.submit(refused, b"", "silent.json"), both.submit(refused, b"a part", "part.json")
        for said in (silent.result(), after_a_part.result()):
            self.assertRegex(said, "standard input: .* for 10")
            for hint in ("--stdin /dev/null", "--stdin FILE", "--stdin -"):
                self.assertIn(hint, said)
        for name in ("told", "silent.json", "part.json"):
            self.assertFalse((self.folder / name).exists())

        def little_room():
            default_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))

        with open("/dev/zero", "rb") as endless:  # a device that is no terminal is read, and here there is no room for it
            self.assertIn("temporary file", self.run_with(endless, "-n", "1", "--", "sh", "-c", TELL, "a", code=2, prepare=little_room))

    def test_stdin_names_a_file_or_waits(self):
        digest = hashlib.sha256(LINES).hexdigest()
        self.write("in.txt", LINES)
        self.run_with(subprocess.DEVNULL, "-n", "2", "--stdin", "in.txt", "--", "sh", "-c", TELL, "a")
        self.assertEqual(self.runs(), [("a", digest)] * 2)
        subprocess.run(["bash", "-c", f"{quoted(str(BINARY))} run -q -o r.json -n 2 --warmup 0 --stdin <(cat in.txt) -- sh -c {quoted(TELL)} a"],
                       cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, check=True)
        self.assertEqual(self.runs(), [("a", digest)] * 2)
        with subprocess.Popen(["sh", "-c", "sleep 12; cat in.txt"], cwd=self.folder, stdout=subprocess.PIPE) as slow:
            self.run_with(slow.stdout, "-n", "2", "--stdin", "-", "--", "sh", "-c", TELL, "a")
        self.assertEqual(self.runs(), [("a", digest)] * 2)
        for wrong, said in ((("--stdin", "gone"), "gone"), (("--stdin", "."), "irectory")):
            self.assertIn(said, self.run_with(subprocess.DEVNULL, *wrong, "--", "true", code=2))
        self.small()
        self.assertIn("--stdin", self.expect(2, "run", "small.json", "--stdin", "in.txt").errors)

    def test_another_input_is_another_measurement(self):
        self.write("in.txt", LINES)
        self.write("same.txt", LINES)
        self.write("other.txt", LINES + b"x")

        def measure(stdin, *options, code=0, out="r.json"):
            return self.run_with(subprocess.DEVNULL, "--stdin", stdin, "-n", "1", *options, "--", "wc", "-l", code=code, out=out)

        measure("in.txt", out="base.json")
        measure("same.txt", out="same.json")
        measure("other.txt", out="other.json")
        self.run_with(subprocess.DEVNULL, "-n", "1", "--", "wc", "-l", out="none.json")
        self.assertEqual(self.result("base.json")["run"]["scenario"]["fingerprint"], self.result("same.json")["run"]["scenario"]["fingerprint"])
        self.expect(5, "compare", "base.json", "same.json")  # too few repetitions, but the same
        said = self.expect(2, "compare", "base.json", "other.json").errors
        self.assertIn(self.expected(LINES), said)
        self.assertIn(self.expected(LINES + b"x"), said)
        self.assertIn("nothing that is known", self.expect(2, "compare", "none.json", "base.json").errors)
        self.assertIn("not comparable", measure("other.txt", "--baseline", "base.json", code=2))
        self.assertIn("fingerprint", measure("other.txt", "--resume", out="base.json", code=2))

    def test_the_file_of_a_scenario_is_known_by_what_it_holds(self):
        self.write("in.txt", LINES)
        document = scenario(name="reads", command={"run": ["wc", "-l"], "stdin": "in.txt"}, repetitions=1)
        del document["steps"]
        self.write("reads.json", document)
        self.expect(0, "run", "reads.json", "-q", "-o", "base.json")
        self.assertEqual(set(self.facts("base.json").values()), {self.expected(LINES)})
        self.write("in.txt", LINES + b"x")
        said = self.expect(2, "run", "reads.json", "-q", "-o", "r.json", "--baseline", "base.json").errors
        self.assertIn(self.expected(LINES + b"x"), said)
        self.assertIn("would read", self.expect(2, "run", "reads.json", "-q", "-o", "base.json", "--resume", "-n", "2").errors)
        document["command"]["prepare"] = ["touch", "made.txt"]
        document["command"]["stdin"] = "made.txt"
        self.write("reads.json", document)
        self.expect(0, "run", "reads.json", "-q", "-o", "r.json")
        self.assertEqual(set(self.facts().values()), {None})

    def test_steps_and_scenarios_leave_standard_input_alone(self):
        self.small()
        read_end, write_end = os.pipe()
        os.write(write_end, b"for somebody else\n")
        try:
            begin = time.monotonic()
            self.assertNotIn("standard input", self.run_with(read_end, "small.json"))
            self.assertNotIn("standard input", self.run_with(read_end, "--dry-run", "--", "cat"))
            self.assertLess(time.monotonic() - begin, 60)
            document = scenario(name="reads", command={"run": ["cat"]}, repetitions=1)
            del document["steps"]
            self.write("reads.json", document)
            self.assertIn("standard input is not read", self.run_with(read_end, "reads.json"))
            self.assertEqual(os.read(read_end, 100), b"for somebody else\n")
        finally:
            os.close(read_end)
            os.close(write_end)
        self.write("loop.txt", "a\nb\n")
        loop = f"while read -r word; do {quoted(str(BINARY))} run -q -o r.json -n 1 --warmup 0 -- sh -c {quoted(TELL)} $word; done < loop.txt"
        subprocess.run(["bash", "-c", loop], cwd=self.folder, env=environment(), check=True)
        self.assertEqual([program for program, _ in self.runs()], ["a", "b"], "a loop over a file goes on behind memsweep")

    def test_record_and_watch_pass_it_on(self):
        self.write("in.txt", LINES)
        for name, command in (("watch", ["watch"]), ("record", ["record", "-o", "t.mst"])):
            for opened in (dict(stdin=open(self.folder / "in.txt", "rb")), dict(input=LINES)):
                with self.subTest(name):
                    done = subprocess.run([BINARY, *command, "--", "sh", "-c", "wc -c"], cwd=self.folder, env=environment(), capture_output=True,
                                          check=True, **opened)
                    self.assertEqual(int(done.stdout), len(LINES))

    def test_what_a_shell_would_act_on_is_said(self):
        self.write("in.txt", LINES)
        for text in ("wc -l < in.txt", "cat in.txt | wc -l", "true && false", "true ; false", "wc -l 2> log", "cat in.txt|wc"):
            with self.subTest(text):
                self.assertIn("--shell", self.expect(2, "run", "--against", text, "--", "true").errors)
                script = text.replace("false", "true")
                outcome = self.memsweep("run", "-q", "-o", "r.json", "-n", "5", *NO_TIMES, "--shell", "--against", script, "--", script)
                self.assertIn(outcome.code, (0, 5), str(outcome))
                self.assertNotIn("--shell", outcome.errors)
        for words in (("echo", "<", "in.txt"), ("echo", "|", "wc"), ("echo", "2>", "log"), ("echo", "&&", "true")):
            with self.subTest(words):
                self.assertIn(f"the word {words[1]} ", self.expect(0, "run", "-q", "-o", "r.json", "-n", "1", "--", *words).errors)
        self.assertNotIn("--shell", self.expect(0, "run", "-q", "-o", "r.json", "-n", "1", "--", "find", ".", "-exec", "true", ";").errors)
        self.assertIn("--shell", self.expect(2, "run", "--shell", "--", "wc", "-l").errors)
        self.run_with(subprocess.DEVNULL, "-n", "1", "--shell", "--", "wc -l < in.txt > out.txt")
        self.assertEqual((self.folder / "out.txt").read_text().split()[0], "1000")


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


if __name__ == "__main__":
    unittest.main()
