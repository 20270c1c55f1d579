"""What is recorded is what was called, to the last call, whatever becomes of the program."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, children_of, environment, execute, process_state

BUILD = BINARY.parent
CALLS = ("malloc", "calloc", "realloc", "free", "aligned_alloc", "map", "unmap", "failed_alloc")  # as count_calls.cpp has them
SLOT = 64 << 10  # what a thread of a recorded process may lose
LONGEST_S = 120
PAGES_IN_CACHE = """
import ctypes, mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
mapped = mmap.mmap(file, 0, mmap.MAP_PRIVATE)
states = (ctypes.c_ubyte * (len(mapped) // mmap.PAGESIZE))()
start = ctypes.c_void_p(ctypes.addressof(ctypes.c_ubyte.from_buffer(mapped)))
assert ctypes.CDLL(None).mincore(start, ctypes.c_size_t(len(mapped)), states) == 0
print(sum(state & 1 for state in states) * mmap.PAGESIZE)
"""
FORBIDS_FILES = """
import ctypes, resource
malloc = ctypes.CDLL(None).malloc
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
for _ in range(60_000):
    malloc(1000)
"""


def program(name):
    return BUILD / name


def begins(recording):
    """Whether the recorder has written into the file, which it makes first."""
    with contextlib.suppress(OSError), open(recording, "rb") as file:
        return any(file.read(8))
    return False


class Recording(CliTest):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "t.mst"

    def record(self, *command, options=(), code=0, env=None):
        outcome = execute("record", "-o", self.trace, *options, "--", *command, env=env, cwd=self.folder, timeout=LONGEST_S)
        self.assertIn(outcome.code, code if isinstance(code, tuple) else (code,), f"\n{outcome}")
        self.assertFalse(pathlib.Path(f"{self.trace}.recording").exists(), "nothing is left behind")
        return outcome

    def info(self, code=0):
        return json.loads(self.expect(code, "info", self.trace, "--json").out)

    def counted(self, *command, code=0, env=None):
        """Recorded with a counting library behind the recorder: (totals of the trace, calls counted)."""
        counts = self.folder / "counts"
        counts.write_bytes(bytes(4096))
        variables = environment(LD_PRELOAD=os.fspath(program("libmemsweep_count_calls.so")), COUNT_CALLS=os.fspath(counts))
        variables.update(env or {})
        self.record(*command, code=code, env=variables)
        numbers = struct.unpack(f"{len(CALLS)}Q", counts.read_bytes()[:8 * len(CALLS)])
        return self.info(), dict(zip(CALLS, numbers))

    def assert_equal_counts(self, *command, code=0, env=None):
        info, counts = self.counted(*command, code=code, env=env)
        recorded = {name: info["by_kind"].get(name, 0) for name in CALLS}
        self.assertEqual(recorded, counts)
        self.assertGreater(sum(counts.values()), 0, "something was counted")
        return info


class Programs(Recording):
    def test_every_function(self):
        info = self.assert_equal_counts(program("recorded_program"), "calls")
        self.assertEqual(info["failures"], 2)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))
        self.assertEqual(info["by_kind"]["aligned_alloc"], 5)

    def test_threads(self):
        info = self.assert_equal_counts(program("recorded_program"), "threads", "6")
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0), "blocks pass between threads in order")
        self.assertEqual(info["by_kind"]["thread_start"], 18)
        self.assertGreater(info["by_kind"]["thread_exit"], 0)

    def test_fork(self):
        info = self.assert_equal_counts(program("recorded_program"), "fork")
        self.assertEqual(info["by_kind"]["fork"], 4)
        self.assertEqual(info["by_kind"]["process_exit"], 5)
        self.assertEqual(info["unknown_frees"], 5, "children free what their parent allocated, by exit() its static block too")

    def test_exec(self):
        info = self.assert_equal_counts(program("recorded_program"), "exec")
        self.assertGreaterEqual(info["by_kind"]["exec"], 1)
        self.assertEqual(info["duplicate_allocations"], 0)

    def test_what_memsweep_ignores_the_program_does_not(self):
        ours = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
        look = "sed -n 's/^SigIgn:\\t/0x/p' /proc/$$/status > ignored"
        for words in (["record", "-q", "-o", "s.mst"], ["watch"], ["run", "-q", "-n", "1", "--warmup", "0", "-o", "s.json"]):
            with self.subTest(words[0]):
                self.expect(0, *words, "--", "sh", "-c", look, cwd=self.folder)
                self.assertEqual(int((self.folder / "ignored").read_text(), 16) & ours, 0)

    def test_signal_handlers(self):
        info = self.assert_equal_counts(program("recorded_program"), "signals")
        self.assertGreaterEqual(info["by_kind"]["map"], 300)
        self.assertEqual(info["unknown_frees"], 0)

    def test_signal_handlers_that_fork(self):
        info, counts = self.counted(program("recorded_program"), "handler_forks")
        self.assertEqual(info["by_kind"]["fork"], 300)
        self.assertEqual(info["by_kind"]["process_exit"], 301, "no child ends with a signal of its own")
        for name in CALLS:  # a call that a fork cuts in two is counted, and recorded, by one process or by both
            self.assertLessEqual(abs(info["by_kind"].get(name, 0) - counts[name]), 300, name)
        self.assertGreater(counts["malloc"], 100_000)

    def test_exit_without_a_farewell(self):
        info = self.assert_equal_counts(program("recorded_program"), "exits", code=3)
        self.assertGreaterEqual(info["end_live_bytes"], 1234 + 111)

    def test_exit_codes_and_signals(self):
        self.record(program("recorded_program"), "status", "42", code=42)
        for number in (signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                info = self.assert_equal_counts(program("recorded_program"), "loop", "50000", str(int(number)), code=128 + number)
                self.assertGreaterEqual(info["by_kind"]["malloc"], 50000, "nothing of what it did is lost")

    def test_the_descriptors_are_closed(self):
        self.assert_equal_counts(program("recorded_program"), "closes")

    def test_limits_on_files(self):
        outcome = execute("record", "-o", self.trace, "--", program("recorded_program"), "limits", cwd=self.folder)
        self.assertEqual(outcome.code, 2, f"\n{outcome}")
        self.assertIn("recording stopped early: File too large", outcome.errors)
        self.assertGreater(self.info()["events"], 10_000)

    def test_nothing_is_read_ahead(self):
        measure = '"$1" -c "$2" "$3.recording/$$.0.mst"; exit $?'
        in_cache = int(self.record("sh", "-c", measure, "sh", sys.executable, PAGES_IN_CACHE, self.trace).out)
        self.assertGreater(in_cache, 0)
        self.assertLess(in_cache, 2 * SLOT, "the header and the slot of one thread that allocates little")

    def test_peak_live_bytes(self):
        self.record(program("recorded_program"), "exits", code=3)
        base = self.info()["peak_live_bytes"]
        self.record(program("recorded_program"), "calls")
        # `blocks` with 16 places, what it holds, and realloc's 20 bytes come in turn; the program's start costs the same.
        live = 16 * 8 + 1000 + 5000 + 300 + 64 + 128 + 256 + 4096 + 4096 + 8000
        self.assertEqual(self.info()["peak_live_bytes"] - (base - 1234), live)

    def test_own_malloc(self):
        outcome = self.record(program("recorded_own_malloc"), code=2)
        self.assertEqual(outcome.text, "own\n")
        self.assertIn("brings its own malloc", outcome.errors)
        self.assertEqual([one["program"] for one in self.info()["unrecorded"]], ["recorded_own_malloc"])

    def test_what_cannot_be_recorded(self):
        outcome = self.expect(2, "record", "-o", self.trace, "--", program("recorded_static"))
        self.assertIn("statically linked", outcome.errors)
        self.assertEqual(outcome.text, "", "it was not run")
        self.assertFalse(self.trace.exists())
        if os.geteuid() == 0:
            copy = self.folder / "setuid"
            shutil.copy(program("recorded_program"), copy)
            os.chown(copy, 65534, 65534)
            copy.chmod(0o4755)
            self.assertIn("setuid", self.expect(2, "record", "-o", self.trace, "--", copy, "calls").errors)
        self.assertIn("No such file", self.expect(2, "record", "-o", self.trace, "--", "no-such-program").errors)
        self.expect(2, "record", "-o", self.trace)
        self.expect(2, "record", "-o", self.folder / "no/such/folder.mst", "--", "true")

    def test_kill_9_of_everything(self):
        """The program and memsweep die; what is left becomes a trace."""
        process = subprocess.Popen([BINARY, "record", "-o", self.trace, "--", program("recorded_program"), "wait"], stdout=subprocess.PIPE,
                                   env=environment(), start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        folder = pathlib.Path(f"{self.trace}.recording")
        self.kill_all(process, folder)
        process.stdout.close()
        outcome = self.expect(2, "record", "-o", self.trace, "--", "true")
        self.assertIn("--recover", outcome.errors)
        self.expect(0, "record", "--recover", folder, "-o", self.trace)
        self.assertFalse(os.path.exists(folder))
        info = self.info()
        self.assertGreaterEqual(info["events"], 10_000)
        self.assertGreaterEqual(info["end_live_bytes"], 4321)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))

    def test_kill_9_of_memsweep_alone(self):
        """Chunks stand in the begun trace or in the recording, whenever it dies; the program ends with it, maybe within a call."""
        counts = self.folder / "counts"
        for before, delay in itertools.product(([], ["env", "X=1"]), (0, 0.01, 0.03, 0.06)):
            with self.subTest(before=before, delay=delay):
                counts.write_bytes(bytes(4096))
                variables = environment(LD_PRELOAD=os.fspath(program("libmemsweep_count_calls.so")), COUNT_CALLS=os.fspath(counts))
                process = subprocess.Popen([BINARY, "record", "-o", self.trace, "--", *before, program("recorded_program"), "loop", "2000000", "0"],
                                           env=variables, start_new_session=True)
                folder, last = pathlib.Path(f"{self.trace}.recording"), f"*.{1 if before else 0}.mst"
                self.wait_until(lambda folder=folder, last=last: any(begins(path) for path in folder.glob(last)))
                time.sleep(delay)
                process.kill()
                process.wait()
                if not folder.exists():
                    continue  # it was done
                (recording,) = folder.glob(last)
                self.wait_until(lambda pid=recording.name.split(".")[0]: not os.path.exists(f"/proc/{pid}"))
                self.assertIn("1 process", self.expect(0, "record", "--recover", folder, "-o", self.trace).errors)
                self.assertFalse(folder.exists())
                numbers = struct.unpack(f"{len(CALLS)}Q", counts.read_bytes()[:8 * len(CALLS)])
                info = self.info()
                for name, number in zip(CALLS, numbers):
                    self.assertIn(number - info["by_kind"].get(name, 0), (0, 1), name)

    def test_a_signal_while_it_finishes(self):
        """The program's signals are the program's; the next one ends memsweep, which leaves what --recover needs."""
        if not shutil.which("strace"):
            self.leave_out("a slow disk", "strace is not installed")
        slow = ["strace", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:delay_exit=1500000"]
        process = subprocess.Popen([*slow, BINARY, "record", "-o", self.trace, "--", "sh", "-c", "ls; exec sleep 1000"],
                                   env=environment(), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def recorded():
            return [(memsweep, pid) for memsweep in children_of(process.pid) for pid in children_of(memsweep)
                    if (process_state(pid) or ("", b""))[1].startswith(b"sleep")]

        self.wait_until(recorded)
        ((memsweep, sleeper),) = recorded()
        os.kill(memsweep, signal.SIGINT)  # passed on to the program
        self.wait_until(lambda: process_state(sleeper) is None)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        os.kill(memsweep, signal.SIGINT)
        _, said = process.communicate(timeout=LONGEST_S)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.assertIn(b"Interrupted system call", said)
        self.assertIn(b"--recover", said)
        self.expect(0, "record", "--recover", self.folder / "t.mst.recording", "-o", self.trace)
        self.assertGreater(self.info()["allocations"], 0)

    def test_processes_are_there_until_they_end(self):
        for how in ("exit", "_exit", "kill", "exec"):
            with self.subTest(how):
                self.record(program("recorded_program"), "together", how)
                self.assertGreaterEqual(self.info()["peak_live_bytes"], 40_000_000, "all four held theirs at one time")

    def test_what_was_freed_before_a_rest_is_not_there_behind_it(self):
        self.record(program("recorded_program"), "apart")
        info = self.info()
        self.assertLess(info["peak_live_bytes"], 20_000_000)
        self.assertGreaterEqual(info["seconds"], 0.66, "also the rest before _exit counts")

    def test_how_long_a_program_ran_that_allocates_little(self):
        self.record(sys.executable, "-S", "-E", "-c", "import time; time.sleep(0.4)")
        self.assertGreaterEqual(self.info()["seconds"], 0.4)
        source = self.folder / "p.c"
        source.write_text("#include <stdlib.h>\n#include <unistd.h>\n"
                          "int main(void) { void* volatile p = malloc(9); usleep(400000); free(p); return 0; }\n")
        if shutil.which("cc"):
            subprocess.run(["cc", "-O0", "-o", self.folder / "p", source], check=True)
            self.record(self.folder / "p")
            self.assertGreaterEqual(self.info()["seconds"], 0.4)

    def test_a_folder_that_others_put_something_into(self):
        folder = self.folder / "t.recording"
        for name in ("pipe", "link"):
            with self.subTest(name):
                folder.mkdir()
                for entry in ("1.mst", "starts", "unfinished.trace"):
                    if name == "pipe":
                        os.mkfifo(folder / entry)
                    else:
                        (folder / entry).symlink_to("/dev/zero")
                errors = self.expect(2, "record", "--recover", folder, "-o", self.trace).errors
                self.assertIn("is no regular file" if name == "pipe" else "cannot open", errors)
                shutil.rmtree(folder)

    def test_a_recovery_that_is_killed(self):
        process = subprocess.Popen([BINARY, "record", "-o", self.trace, "--", program("recorded_program"), "loop", "3000000", "19"],
                                   env=environment(), start_new_session=True)
        folder = pathlib.Path(f"{self.trace}.recording")
        self.wait_until(lambda: self.is_stopped(folder))
        self.kill_all(process, folder)
        for delay in (0.005, 0.02, 0.05):
            recovery = subprocess.Popen([BINARY, "record", "--recover", folder, "-o", self.trace], env=environment())
            time.sleep(delay)
            if recovery.poll() is None:
                recovery.kill()
            recovery.wait()
        if folder.exists():
            self.expect(0, "record", "--recover", folder, "-o", self.trace)
        self.assertGreaterEqual(self.info()["by_kind"]["malloc"], 3_000_000)

    def test_a_recovery_that_is_killed_while_it_removes_the_recording(self):
        process = subprocess.Popen([BINARY, "record", "-o", self.trace, "--", "env", "X=1", program("recorded_program"), "loop", "300000", "19"],
                                   env=environment(), start_new_session=True)
        folder = pathlib.Path(f"{self.trace}.recording")
        self.wait_until(lambda: self.is_stopped(folder))
        self.kill_all(process, folder)
        left = self.folder / "left"
        os.rename(folder, left)
        outcome, killed_at = None, 0
        while outcome is None or outcome.code != 0:
            killed_at += 1
            for before in (folder, f"{folder}.removed"):
                shutil.rmtree(before, ignore_errors=True)
            shutil.copytree(left, folder)
            with self.subTest(killed_at=killed_at):
                variables = environment(LD_PRELOAD=os.fspath(program("libmemsweep_killed_at_removal.so")), KILLED_AT=str(killed_at))
                outcome = execute("record", "--recover", f"{folder}/", "-o", self.trace, env=variables, cwd=self.folder)  # as shells complete it
                self.assertIn(outcome.code, (0, -signal.SIGKILL), f"\n{outcome}")
                if folder.exists():
                    self.expect(0, "record", "--recover", folder, "-o", self.trace)
                self.assertGreaterEqual(self.info()["by_kind"]["malloc"], 300_000)
                self.assertFalse(folder.exists())
        self.assertGreater(killed_at, 5, "the output, the folder, two images and the begun trace")

    def wait_until(self, condition):
        deadline = time.monotonic() + LONGEST_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def states(self, folder):
        """Of the processes recorded there that still run, killed or not."""
        found = set()
        for path in folder.glob("*.mst"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found.add(pathlib.Path(f"/proc/{path.name.split('.')[0]}/stat").read_text().rpartition(")")[2].split()[0])
        return found - {"Z", "X"}

    def kill_all(self, process, folder):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.wait_until(lambda: not self.states(folder))  # what is killed may run on for a while, and its recording is kept

    def is_stopped(self, folder):
        return "T" in self.states(folder)

    def test_a_damaged_recording_loses_a_chunk_at_most(self):
        for before in ([], ["env", "X=1"]):
            with self.subTest(before=before):
                self.lose_a_chunk(before)

    def lose_a_chunk(self, before):
        process = subprocess.Popen([BINARY, "record", "-o", self.trace, "--", *before, program("recorded_program"), "loop", "300000", "19"],
                                   env=environment(), start_new_session=True)
        folder = pathlib.Path(f"{self.trace}.recording")
        self.wait_until(lambda: self.is_stopped(folder))
        trace = folder / "unfinished.trace"
        several = 8 << 10  # chunks: one has some 500 bytes, and all that are full have 20,000
        self.wait_until(lambda: trace.exists() and trace.stat().st_size >= several)
        self.kill_all(process, folder)
        with open(trace, "r+b") as file:
            file.seek(trace.stat().st_size // 2)
            file.write(bytes(1))
            file.write(b"\xff")
        errors = self.expect(0, "record", "--recover", folder, "-o", self.trace).errors
        damaged = int(re.search(r"(\d+) damaged chunks? left out", errors)[1])
        self.assertIn(damaged, (1, 2))  # ours, and one that was being written when all was killed
        info = self.info(code=1)
        self.assertGreater(info["by_kind"]["malloc"], 300_000 - damaged * SLOT // 8)
        self.assertLess(info["by_kind"]["malloc"], 300_000)

    def test_full_disk(self):
        disk = self.new_tmpfs("320k")
        trace = disk / "t.mst"
        outcome = execute("record", "-o", trace, "--", program("recorded_program"), "loop", "2000000", "15", cwd=self.folder)
        self.assertEqual(outcome.code, 128 + signal.SIGTERM, f"\n{outcome}")
        self.assertIn("No space left on device", outcome.errors)
        folder = pathlib.Path(f"{trace}.recording")
        if not trace.exists():
            self.assertIn(f"--recover {folder}", outcome.errors)
            self.expect(2, "record", "--recover", folder, "-o", self.trace)  # 2: the recording itself had stopped
            self.assertGreater(self.info()["events"], 20_000)  # what four slots hold
        else:
            self.assertGreater(json.loads(self.expect(0, "info", trace, "--json").out)["events"], 20_000)  # what four slots hold

    def test_a_disk_that_is_full_before_the_program_runs(self):
        disk = self.new_tmpfs("256k")
        (disk / "filler").write_bytes(bytes(240 << 10))
        trace, ran = disk / "t.mst", self.folder / "ran"
        outcome = self.expect(2, "record", "-o", trace, "--", "touch", ran)
        self.assertRegex(outcome.errors, rf"{trace}.*: No space left on device")
        self.assertFalse(ran.exists(), "hours would be spent on nothing")
        self.assertEqual(os.listdir(disk), ["filler"], "nothing is in the way of the next recording")
        (disk / "filler").unlink()
        self.expect(0, "record", "-o", trace, "--", "true")

    def test_a_disk_that_is_full_when_a_process_begins(self):
        disk = self.new_tmpfs("2m")
        script = 'head -c 4M /dev/zero > "$1/filler"; "$2" calls; ls "$1" > /dev/null; rm "$1/filler"'
        outcome = self.expect(2, "record", "-o", disk / "t.mst", "--", "sh", "-c", script, "sh", disk, program("recorded_program"))
        self.assertRegex(outcome.errors, "could not be recorded: No space left on device")
        self.assertGreater(json.loads(self.expect(0, "info", disk / "t.mst", "--json").out)["events"], 0)
        self.assertEqual(os.listdir(disk), ["t.mst"])

    def test_few_descriptors(self):
        codes = set()
        for most in range(4, 15):
            with self.subTest(most):
                self.trace.unlink(missing_ok=True)
                outcome = execute("record", "-o", self.trace, "--", program("recorded_program"), "calls", cwd=self.folder,
                                  limits=[(resource.RLIMIT_NOFILE, most)])
                self.assertIn(outcome.code, (0, 2), f"\n{outcome}")
                self.assertNotIn("nothing was recorded", outcome.errors)
                codes.add(outcome.code)
                if re.search("(socketpair|fcntl|posix_spawn): Too many open files", outcome.errors):
                    self.assertEqual(list(self.folder.glob("t.mst*")), [], "the program was not started")
                    continue
                if outcome.code == 2:
                    self.assertRegex(outcome.errors, rf"Too many open files; .*--recover {self.trace}.recording ")
                    self.expect(0, "record", "--recover", f"{self.trace}.recording", "-o", self.trace)
                self.assertGreater(self.info()["events"], 20)
        self.assertEqual(codes, {0, 2})

    def test_more_processes_than_descriptors(self):
        script = 'i=0; while [ $i -lt 60 ]; do "$1" status 0; i=$((i+1)); done'
        outcome = execute("record", "-o", self.trace, "--", "sh", "-c", script, "sh", program("recorded_program"), cwd=self.folder,
                          limits=[(resource.RLIMIT_NOFILE, 32)])
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        self.assertEqual(self.info()["by_kind"]["process_exit"], 61)

    def test_a_program_that_holds_all_descriptors(self):
        outcome = self.record(program("recorded_program"), "hoards", code=2)
        self.assertIn("recording stopped early: Too many open files; what came before is in the trace", outcome.errors)
        self.assertIn("1 process could not be recorded: Too many open files", outcome.errors)
        self.assertGreater(self.info()["events"], 1_000)

    def test_a_limit_on_files_that_no_recording_fits(self):
        outcome = execute("record", "-o", self.trace, "--", "true", cwd=self.folder, limits=[(resource.RLIMIT_FSIZE, 500 << 10)])
        self.assertEqual(outcome.code, 2, f"\n{outcome}")
        self.assertRegex(outcome.errors, rf"{self.trace}.recording: .*File too large")
        self.assertEqual(os.listdir(self.folder), [])

    def test_lost_events_are_no_unseen_blocks(self):
        """A program that may write no file any more, and then fills its heap."""
        outcome = self.record(sys.executable, "-c", FORBIDS_FILES, code=2)
        self.assertIn("recording stopped early: File too large", outcome.errors)
        self.assertGreater(int(self.info()["facts"]["lost_events"]), 0)
        self.assertNotIn("does not see", outcome.errors + self.expect(0, "info", self.trace).errors)

    def test_a_limit_on_addresses_is_left_to_the_program(self):
        limit = 400_000  # kB
        status = self.record("sh", "-c", f"ulimit -v {limit}; exec cat /proc/self/status").out.decode()
        self.assertLess(int(re.search(r"VmPeak:\s*(\d+) kB", status)[1]), limit // 4)

    def test_an_exported_process_ends(self):
        """What it holds then is no more when the next one allocates, and is still there when nothing follows."""
        script = '"$1" calls; "$1" calls; (exec "$1" calls); exec "$1" exits'
        self.record("sh", "-c", script, "sh", program("recorded_program"), code=3)
        whole = self.info()
        for form in ("rmm", "umpire"):
            with self.subTest(form):
                self.expect(0, "export", self.trace, "-f", form, "-o", "log")
                self.expect(0, "import", "log", "-o", "again.mst")
                again = json.loads(self.expect(0, "info", "again.mst", "--json").out)
                self.assertEqual(again["peak_live_bytes"], whole["peak_live_bytes"])
                self.assertEqual(again["bytes_allocated"], whole["bytes_allocated"])
                self.assertGreaterEqual(again["end_live_bytes"], 1234 + 111)
                self.assertLess(again["end_live_bytes"], whole["end_live_bytes"])

    def test_threads_of_a_process_that_is_not_recorded(self):
        script = '"$1" threads 2; exit $?'
        self.record("sh", "-c", script, "sh", program("recorded_program"), options=["--no-children"])
        limited = 'ulimit -f 500; "$1" threads 2; exit $?'
        outcome = self.record("sh", "-c", limited, "sh", program("recorded_program"), code=2)
        self.assertIn("1 process could not be recorded: File too large", outcome.errors)

    def test_a_recording_of_nothing(self):
        folder = self.folder / "t.mst.recording"
        folder.mkdir()
        (folder / "1.0.mst").write_bytes(bytes(4096))  # a process that was killed before it wrote its headers
        self.assertIn("nothing was recorded", self.expect(2, "record", "--recover", folder, "-o", self.trace).errors)
        self.assertFalse(folder.exists(), "it is in the way of no further recording")
        folder.mkdir()
        (folder / "1.0.mst").write_bytes(b"x" * 4096)
        outcome = self.expect(2, "record", "--recover", folder, "-o", self.trace)
        self.assertRegex(outcome.errors, rf"{folder}/1.0.mst: not a recording")
        self.assertEqual(os.listdir(folder), ["1.0.mst"], "what is not understood is not removed")

    def test_processes_of_two_namespaces(self):
        if subprocess.run(["unshare", "-p", "-f", "true"], capture_output=True, check=False).returncode != 0:
            self.leave_out(self.id(), "no pid namespaces of our own")
        script = 'unshare -p -f "$1" fork & unshare -p -f "$1" fork & wait'
        self.record("sh", "-c", script, "sh", program("recorded_program"))
        info = self.info()
        inner = [one["process"] for one in info["by_process"] if one["program"] == "recorded_program"]
        self.assertEqual(len(inner), len(set(inner)), info["by_process"])
        self.assertEqual(sorted(number % 10_000_000 for number in inner), sorted([1, 2, 3, 4, 5] * 2), "a process and its children, twice")
        self.assertEqual(len({number // 10_000_000 for number in inner}), 2, inner)
        self.assertEqual(info["by_kind"]["process_exit"], len(info["by_process"]), info["by_process"])

    def test_no_children(self):
        self.record(program("recorded_program"), "fork", options=["--no-children"])
        self.assertEqual(self.info()["threads"], 1)
        self.record("env", "X=1", program("recorded_program"), "exec", options=["--no-children"])
        self.assertEqual(self.info()["threads"], 1, "what it executes itself is still the program")

    def test_min_size(self):
        self.record(program("recorded_program"), "threads", "2")
        whole = self.info()
        self.record(program("recorded_program"), "threads", "2", options=["--min-size", "1000B"])
        large = self.info()
        self.assertGreater(large["allocations"], 100)
        self.assertLess(large["allocations"], whole["allocations"] / 2)
        self.assertEqual((large["unknown_frees"], large["duplicate_allocations"]), (0, 0))

    def test_sample(self):
        self.record(program("recorded_program"), "threads", "2", options=["--sample", "10"])
        info = self.info()
        self.assertGreater(info["allocations"], 1000)
        self.assertLess(info["allocations"], 60_000)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))


class Gaps(Recording):
    """A trace that lacks something says so, whatever is made of it."""

    def said(self, *command, code=0):
        outcome = self.expect(code, *command)
        return " ".join((outcome.text + outcome.errors).split())

    def check(self, *words):
        for command in (["fit", self.trace], ["info", self.trace], ["info", self.trace, "--by", "function"], ["report", self.trace, "-f", "md"],
                        ["report", self.trace, "-f", "html"], ["replay", self.trace, "--on", "glibc", "-n", "1", "--settle", "0s"],
                        ["export", self.trace, "-f", "rmm", "-o", "t.csv"]):
            with self.subTest(command):
                said = self.said(*command)
                for word in words:
                    self.assertIn(word, said)

    def test_a_sample(self):
        self.record(program("recorded_program"), "threads", "2", options=["--sample", "10", "--stacks"])
        self.check("one block of 10")
        self.assertIn("one block of 10", self.said("fit", self.trace, "--capacity", "1GiB", code=5))

    def test_sizes(self):
        self.record(program("recorded_program"), "threads", "2", options=["--min-size", "1000B", "--stacks"])
        self.check("elow 1,000 B")

    def test_nothing_is_said_of_a_whole_trace(self):
        self.record(program("recorded_program"), "threads", "2", options=["--stacks"])
        for command in (["fit", self.trace], ["report", self.trace, "-f", "md"], ["info", self.trace, "--by", "function"]):
            said = self.said(*command)
            for word in ("one block of", "elow", "could not be recorded", "without the recorder"):
                self.assertNotIn(word, said)


class RealPrograms(Recording):
    def test_python(self):
        script = ("import json, re, threading\n"
                  "def work():\n    return [json.loads(json.dumps({'k': i, 's': str(i) * 3})) for i in range(20000)]\n"
                  "t = threading.Thread(target=work); t.start(); t.join(); print(len(work()))")
        info = self.assert_equal_counts("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable, "-c", script,
                                        env={"PYTHONMALLOC": "malloc"})
        self.assertGreater(info["allocations"], 100_000)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))

    def test_sqlite(self):
        sqlite = shutil.which("sqlite3")
        if sqlite is None:
            self.leave_out(self.id(), "sqlite3 is not installed")
        sql = ("create table t(a integer, b text); with recursive c(x) as (select 1 union all select x+1 from c where x<20000) "
               "insert into t select x, hex(randomblob(8)) from c; create index i on t(b); select count(*) from t;")
        info = self.assert_equal_counts(sqlite, ":memory:", sql)
        self.assertGreater(info["allocations"], 10_000)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))

    def test_compiler(self):
        compiler = shutil.which("g++")
        if compiler is None:
            self.leave_out(self.id(), "g++ is not installed")
        self.write("a.cpp", "#include <map>\n#include <string>\nint main() { return (int)std::map<std::string, int>{{\"a\", 0}}[\"a\"]; }\n")
        info = self.assert_equal_counts(compiler, "-o", self.folder / "a", self.folder / "a.cpp")
        self.assertGreaterEqual(info["by_kind"]["process_exit"], 3, "driver, compiler, assembler, linker")
        self.assertEqual(info["duplicate_allocations"], 0)
        self.assertEqual(subprocess.run([self.folder / "a"], check=False).returncode, 0)

    def test_other_allocators(self):
        for line in self.expect(0, "list", "allocators", cwd=SOURCE).text.splitlines():
            library = next((word for word in line.split() if word.startswith("/") and ".so" in word), None)
            if library is None or "libc.so" in library:
                continue
            with self.subTest(library):
                self.record(program("recorded_program"), "threads", "4", env=environment(LD_PRELOAD=library))
                info = self.info()
                self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))
                self.assertGreater(info["allocations"], 4 * 3 * 20_000)

    def test_shell_pipelines(self):
        outcome = self.record("sh", "-c", "echo b; echo a | sort; exit 5", code=5)
        self.assertEqual(outcome.text, "b\na\n")
        self.assertGreater(self.info()["events"], 10)


if __name__ == "__main__":
    unittest.main()
