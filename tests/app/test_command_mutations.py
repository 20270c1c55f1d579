"""Command lines that nobody would write, and files in the wrong place: an answer or an error, never a signal, a hang or a gigabyte.

MEMSWEEP_TEST_COMMANDS   how many are tried; 150 unless told
"""

import os
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from memsweep_cli import BINARY, MIB, SOURCE, CliTest, default_signals, environment, execute, sanitized, scenario, seed

COMMANDS = int(os.environ.get("MEMSWEEP_TEST_COMMANDS") or 150)
MOST_SECONDS = 10  # of processor time
PATIENCE_S = 300
MOST_BYTES = 2 << 30
ANSWERS = {0, 1, 2, 3, 4, 5}

# What each command needs to come near its work; the mutations put options and values around it.
NEEDED = {"run": ["small.json", "-n", "1", "--timeout", "2s"], "new": ["mine"], "validate": ["small.json"], "compare": ["r.json", "r.json"], "report": ["r.json"],
          "merge": ["r.json", "r.json"], "list": ["cases", "small.json"], "schema": ["scenario"], "doctor": [], "info": ["t.mst"],
          "import": ["log.csv", "-o", "out.mst"], "export": ["t.mst", "-f", "rmm"], "fit": ["t.mst"],
          "replay": ["t.mst", "--on", "glibc", "--dry-run"], "record": ["-o", "out.mst", "--", "true"], "watch": ["--", "true"],
          "explain": ["--", "true"], "whatif": ["t.mst", "--without", "main"], "advise": ["--", "true"],
          "profile": ["fit", "loop.csv", "-o", "my.json"], "completion": ["bash"], "man": [], "help": ["run"]}
# Measurements of seconds, however they are asked for, and words that other tests measure.
LEFT_OUT = {"probe", "cliffs"}

NUMBERS = ["0", "1", "-1", "2", "18446744073709551615", "18446744073709551616", "1e9", "0x10", "+5", "1.5", "NaN", "inf", "9" * 400, "", " 1"]
SIZES = ["0", "1B", "4KiB", "1TiB", "16EiB", "8M", "-4KiB", "4 KiB", "1e30GiB", "99999999999999999999GiB", "0.1B"]
DURATIONS = ["0s", "1ns", "1ms", "-1s", "1", "9e99h", "999999999999h", "1 s", "s"]
WORDS = ["all", "glibc", "malloc", "auto", "none", "json", "csv", "html", "text", "md", "junit", "refcount", "finalizer:nosuch", "leak:dotnet", "pool",
         "rmm", "umpire", "memory", "nope", "bash", "scenario", "result", "cases", "metrics", "wall_time", "axis", "mode=leak", "a=b", "=", "a=", "=b"]
PATTERNS = ["a|" * 50_000, "(" * 5000, "(" * 200 + ")" * 200, "(a*)*b", "[", "\\", "^$", ".*", "x{1000}{1000}", "[[:nosuch:]]", "*"]
HOSTILE = ["\x1b[31mred\x1b[0m", "\n", "\r\n::error::x", "%s%n%h%r%t%%", "%", "%q", "\u202egnp.exe", "a" * 100_000, "../" * 300, "é" * 500, "\udcff",
           "/dev/null", "/dev/full", "/dev/zero", "/proc/self/mem", "/", ".", "-", "--", "-o", "--out", "@file", "${axis.x}", "=cmd()"]
FILES = ["small.json", "r.json", "t.mst", "log.csv", "empty", "folder", "missing", "broken.json", "cut.mst", "link"]
POOLS = (NUMBERS, SIZES, DURATIONS, WORDS, PATTERNS, HOSTILE, FILES)


def options_of(command):
    """Every option of a command that --help names, as it is written."""
    return sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", execute(command, "--help").text)) - {"-h", "--help"})


def mutated(rng, words, options):
    words = list(words)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(words) + 1)
        value = rng.choice(rng.choice(POOLS))
        kind = rng.randrange(6)
        if kind <= 1 and options:
            words[at:at] = [rng.choice(options), value]
        elif kind == 2 and options:
            words[at:at] = [f"{rng.choice(options)}={value}"]
        elif kind == 3 and words:
            words[rng.randrange(len(words))] = value
        elif kind == 4 and words:
            del words[rng.randrange(len(words))]
        else:
            words.insert(at, value)
    return words


class CommandLines(CliTest):
    def setUp(self):
        super().setUp()
        self.small(axes={"mode": ["leak", "refcount"]}, release={"mode": "${axis.mode}"})
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        self.expect(0, "record", "-o", "t.mst", "--", "true")
        self.write("log.csv", b"Thread,Time,Action,Pointer,Size,Stream\n1,00:00:00.000001,allocate,0x10,64,0\n1,00:00:00.000002,free,0x10,64,0\n")
        self.write("loop.csv", "# command: python loop cycle 400 8\ni,unreleased,gc0,gc1,gc2\n0,1,0,0,0\n300,301,0,0,0\n301,1,1,0,0\n")
        self.write("empty", b"")
        self.write("broken.json", b'{ "format": 1 ')
        trace = next(path for path in self.folder.glob("t.mst*") if path.is_file())
        self.write("cut.mst", trace.read_bytes()[:-7])
        (self.folder / "folder").mkdir()
        (self.folder / "link").symlink_to("link")

    def answer(self, words):
        """Exit status, stderr, processor seconds and bytes. What waits is ended from outside, and says so by None."""
        words = [word.replace("\0", "") for word in words]
        with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:

            def in_child():
                default_signals()
                resource.setrlimit(resource.RLIMIT_FSIZE, (256 * MIB, 256 * MIB))

            process = subprocess.Popen([os.fsencode(BINARY), *map(os.fsencode, words)], cwd=self.folder, env=environment(TMPDIR=str(self.folder)),
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, preexec_fn=in_child)
            deadline = time.monotonic() + PATIENCE_S
            status = None
            while time.monotonic() < deadline:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                time.sleep(0.002)
            else:
                os.killpg(process.pid, signal.SIGKILL)
                _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            return process.returncode, err.read(), usage

    def check(self, words):
        code, said, usage = self.answer(words)
        told = f"{[word[:80] for word in words]}: exit {code}: {said[:1500]!r}"
        self.assertIn(code, ANSWERS, told)
        self.assertNotIn(b"internal error", said, told)
        self.assertNotIn(b"\x1b", said, f"an escape sequence of a command line reaches the terminal: {told}")
        self.assertLess(usage.ru_utime + usage.ru_stime, MOST_SECONDS, told)
        if not sanitized():
            self.assertLess(usage.ru_maxrss << 10, MOST_BYTES, told)
        if code == 2 and (words[0], any(word.startswith("--json") for word in words)) != ("validate", True):  # whose errors are rows of its document
            self.assertNotEqual(said, b"", told)

    def test_mutations_of_command_lines(self):
        rng = random.Random(seed("command lines"))
        options = {command: options_of(command) for command in NEEDED}
        told = set(re.findall(r"(?m)^  ([a-z-]+) ", execute("--help").text.partition("Subcommands:")[2]))
        self.assertEqual(told - LEFT_OUT - set(NEEDED), set(), "a command that nothing here tries")
        for _ in range(COMMANDS):
            command = rng.choice(sorted(NEEDED))
            self.check([command, *mutated(rng, NEEDED[command], options[command])])

    def test_patterns_that_explode(self):
        for pattern in PATTERNS:
            for words in (["run", "small.json", "--dry-run", "-k", pattern], ["compare", "r.json", "r.json", "--metric", pattern]):
                with self.subTest(pattern=pattern[:40], command=words[0]):
                    self.check(words)


if __name__ == "__main__":
    unittest.main()
