"""Kills and storage faults at random moments, and then: is every repetition that was reported in a file?

MEMSWEEP_TEST_KILLS    how many kills; 12 unless told
MEMSWEEP_TEST_FAULTS   how many storage faults; 8 unless told
MEMSWEEP_TEST_COUNTS   FILE: how often what was done, and what was lost, stands in FILE.<test> at any time

A lost repetition is one that the events call measured and that neither the result, nor what lies beside it (FILE.partial,
FILE.journal), nor the refuge in TMPDIR holds.
"""

import collections
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from memsweep_cli import (BINARY, CliTest, alloc, default_signals, drop, environment, event_lines, idle, is_live_worker, rng, scenario,
                          strict_json)

KILLS = int(os.environ.get("MEMSWEEP_TEST_KILLS") or 12)
FAULTS = int(os.environ.get("MEMSWEEP_TEST_FAULTS") or 8)
COUNTS = os.environ.get("MEMSWEEP_TEST_COUNTS")
PATIENCE_S = 120
REPETITIONS = 3
# Flushing a file takes so long that writing the whole result is too much for most repetitions, on any machine.
SLOW_DISK = ("strace", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_exit=500000")
SHORT = scenario("short", axes={"n": [1, 2]}, repetitions=REPETITIONS, steps=[alloc(size="4KiB", count="${axis.n}"), drop(), idle("1ms")])
RUN = ("run", "short.json", "-q", "-o", "r.json", "--events", "events")
OF_A_RUN = ("r.json*", "events", ".memsweep-*", "refuge/*")  # what one leaves that the next would be judged by


def measured(events):
    """Reported repetitions, by case."""
    counts = collections.Counter()
    for event in events:
        if event["type"] == "repetition" and event["status"] == "ok":
            counts[event["case"]] = max(counts[event["case"]], event["repetition"] + 1)
    return counts


def running_with(mark):
    """Processes with that among their words; what only waits to be reaped has none."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass  # it has ended
    return found


def whole_or_none(path):
    try:
        return strict_json(path.read_bytes())
    except FileNotFoundError:
        return None


class Campaign(CliTest):
    def setUp(self):
        super().setUp()
        self.refuge = self.folder / "refuge"
        self.refuge.mkdir()
        self.env = environment(TMPDIR=str(self.refuge))
        self.write("short.json", SHORT)
        self.done = collections.Counter()
        self.addCleanup(self.tell)

    def tell(self):
        for what, count in sorted(self.done.items()):
            print(f"{what}: {count}", flush=True)

    def count(self, what, number=1):
        """Counted at once, so that a campaign that is ended early has its figures too."""
        self.done[what] += number
        if COUNTS:
            lines = [f"{what}: {number}\n" for what, number in sorted(self.done.items())]
            with open(f"{COUNTS}.{self._testMethodName}", "w", encoding="utf-8") as counts:
                counts.writelines(lines)

    def launch(self, *argv, prefix=(), limits=None):
        def in_child():
            default_signals()
            if limits is not None:
                limits()

        with open(self.folder / "stderr", "wb") as errors:
            process = subprocess.Popen([*prefix, os.fspath(BINARY), *argv], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True, preexec_fn=in_child)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def errors(self):
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")

    def wait(self, process):
        try:
            code = process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.end(process)
            self.fail(f"hangs: {self.errors()}")
        self.assertNotIn("internal error", self.errors())
        return code

    def wait_until(self, is_so):
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), deadline, self.errors())
            time.sleep(0.01)

    def length_of(self, *argv):
        begin = time.monotonic()
        self.assertIn(self.wait(self.launch(*argv)), (0, 5), self.errors())  # 5: compared, too few repetitions for a verdict
        return time.monotonic() - begin

    def clear(self, *names):
        for name in names:
            for path in self.folder.glob(name):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def kept(self, path, run_id):
        """Repetitions by case of everything that holds a part of that run."""
        counts = collections.Counter()

        def count(document):
            if document["run"]["id"] == run_id:
                for case in document["cases"]:
                    counts[case["id"]] = max(counts[case["id"]], case["repetitions"])

        for file in (path, path.with_name(path.name + ".partial"), *self.refuge.glob("memsweep-*.json")):
            document = whole_or_none(file)
            if document is not None:
                count(document)
        for file in (path, path.with_name(path.name + ".partial")):
            journal = file.with_name(file.name + ".journal")
            for line in journal.read_bytes().split(b"\n")[:-1] if journal.exists() else ():
                number, _, document = line.partition(b" ")
                document = strict_json(document)
                if document["run"]["id"] == run_id:
                    for case in document["cases"]:
                        if counts[case["id"]] == int(number):
                            counts[case["id"]] += 1
        return counts

    def check_nothing_lost(self, path, what):
        events = event_lines(self.folder / "events")
        reported = measured(events)
        self.count("repetitions reported and looked for", sum(reported.values()))
        if not reported:
            return reported
        kept = self.kept(path, events[0]["run_id"])
        lost = {case: (count, kept[case]) for case, count in reported.items() if kept[case] < count}
        if lost:
            self.count(f"repetitions lost: {what}", sum(count - there for count, there in lost.values()))
        self.assertEqual(lost, {}, f"{what}: reported and kept; {self.errors()}")
        return reported

    def check_resumed(self, reported):
        """What a killed run had measured stays as it was, and what it lacked is measured."""
        before = whole_or_none(self.folder / "r.json.partial") or whole_or_none(self.folder / "r.json")  # beside an earlier result
        self.clear("events")
        self.assertEqual(self.wait(self.launch("run", "short.json", "-q", "-o", "r.json", "--resume", "--events", "events")), 0, self.errors())
        result = self.result("r.json")
        self.assertEqual([case["repetitions"] for case in result["cases"]], [REPETITIONS] * 2)
        again = collections.Counter(event["case"] for event in event_lines(self.folder / "events") if event["type"] == "repetition")
        for case in result["cases"]:
            self.assertLessEqual(again[case["id"]], REPETITIONS - reported[case["id"]], "a repetition was measured twice")
        for case in before["cases"]:
            now = self.case(result, case["id"])
            for name, metric in case["metrics"].items():
                self.assertEqual(now["metrics"][name]["values"][:len(metric["values"])], metric["values"], f"{case['id']}: {name}")
        self.count("runs resumed to their end")


class Kills(Campaign):
    """SIGKILL to the driver, to its whole process group or to a worker."""

    def after(self, process, length_s):
        time.sleep(self.random.uniform(0, length_s))
        return process.poll() is None

    def kill_run(self, argv, group):
        self.clear("r.json*", ".memsweep-*", "events")
        earlier = self.random.random() < 0.3
        if earlier:
            self.write("r.json", self.earlier)
        slow = group and argv[0] == "run" and shutil.which("strace")
        process = self.launch(*argv, "-q", "-o", "r.json", *(["--events", "events"] if argv[0] == "run" else ["--progress", "json"]),
                              prefix=SLOW_DISK if slow else ())
        alive = self.after(process, self.lengths[argv[0]])
        if alive:
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        if argv[0] != "run":
            lines = self.errors().split("\n")[:-1]
            self.write("events", "".join(line + "\n" for line in lines if line.startswith("{")))
        reported = self.check_nothing_lost(self.folder / "r.json", f"SIGKILL to {argv[0]}")
        if earlier and not reported:
            self.assertIsNotNone(whole_or_none(self.folder / "r.json"), "the earlier result is gone")
        if alive and reported and argv[0] == "run" and self.done["kills: memsweep run"] % 5 == 0:
            self.check_resumed(reported)
        return alive

    def test_between_two_writes_of_the_result(self):
        if not shutil.which("strace"):
            self.leave_out("a slow disk", "strace is not installed")
        process = self.launch("run", "short.json", "-q", "-o", "r.json", "--events", "events", prefix=SLOW_DISK)
        self.wait_until(lambda: sum(measured(event_lines(self.folder / "events")).values()) >= 4)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reported = self.check_nothing_lost(self.folder / "r.json", "SIGKILL between two writes")
        self.assertGreaterEqual(sum(reported.values()), 4)
        self.check_resumed(reported)
        self.assertEqual(sorted(path.name for path in self.folder.glob("r.json*")), ["r.json"], "nothing is left beside the result")

    def test_after_a_write_that_failed(self):
        """Lines of a journal that follow on a repetition which no file holds could not be taken over."""
        if not shutil.which("strace"):
            self.leave_out("a write that fails", "strace is not installed")
        self.write("long.json", scenario("long", repetitions=1000, steps=[alloc(), drop(), idle("300ms")]))
        process = self.launch("run", "long.json", "-q", "-o", "r.json", "--events", "events",
                              prefix=("strace", "-o", "/dev/null", "-e", "trace=fsync,rename", "-e", "inject=fsync:delay_exit=1000000",
                                      "-e", "inject=rename:error=EIO:when=2"))

        def count():
            return sum(measured(event_lines(self.folder / "events")).values())

        self.wait_until(lambda: "r.json: cannot write" in self.errors())
        most = count() + 2  # the one whose write failed, and one more
        self.wait_until(lambda: count() >= most)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.check_nothing_lost(self.folder / "r.json", "SIGKILL after a write that failed")

    def kill_worker(self):
        self.clear("r.json*", "events")
        process = self.launch("run", "short.json", "-q", "-o", "r.json", "--events", "events")
        time.sleep(self.random.uniform(0, self.lengths["run"]))
        workers = [event["pid"] for event in event_lines(self.folder / "events") if "pid" in event]
        alive = bool(workers) and is_live_worker(workers[-1])
        if alive:
            try:
                os.kill(workers[-1], signal.SIGKILL)
            except ProcessLookupError:
                alive = False
        self.assertIn(self.wait(process), (0, 3), self.errors())
        self.check_nothing_lost(self.folder / "r.json", "SIGKILL to a worker")
        result = self.result("r.json")
        self.assertIsNotNone(result["run"]["ended"])
        self.assertTrue(all(case["reason"] for case in result["cases"] if case["status"] != "ok"))
        return alive

    def kill_record(self):
        self.clear("t.mst*", "u.mst*")
        process = self.launch("record", "-q", "-o", "t.mst", "--", "sh", "-c", "for i in 1 2 3; do ls > /dev/null; done")
        alive = self.after(process, self.lengths["record"])
        if alive:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        trace = "t.mst"
        if (self.folder / "t.mst.recording").exists() and any((self.folder / "t.mst.recording").iterdir()):
            outcome = self.memsweep("record", "--recover", "t.mst.recording", "-o", "u.mst", env=self.env)
            self.assertIn(outcome.code, (0, 2), f"\n{outcome}")
            if outcome.code == 2 and "ran without the recorder" not in outcome.errors:  # one that was killed before it loaded it
                self.assertIn("nothing was recorded", outcome.errors)
                return alive
            trace = "u.mst"
        if (self.folder / trace).exists():
            self.expect(0, "info", trace, env=self.env)
        return alive

    def kill_writer(self, *argv):
        """A command that writes one file: the earlier one stays, or the new one is there, whole."""
        name = argv[0]
        self.clear("out", ".memsweep-*")
        self.write("out", b"{}")
        process = self.launch(name, "-o", "out", *argv[1:])
        alive = self.after(process, self.lengths[name])
        if alive:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertIsNotNone(whole_or_none(self.folder / "out"))
        return alive

    def kill_with_programs(self, argv, program):
        """Whatever a program has started ends with memsweep; `program`: of which each process has that mark among its words."""
        mark = f"{1000 + self.random.random():.9f}"
        self.clear("p.*")
        process = self.launch(*(word.replace("MARK", mark) for word in (*argv, "--", "sh", "-c", program)))
        alive = self.after(process, 0.3)
        if alive:
            self.random.choice((os.kill, os.killpg))(process.pid, signal.SIGKILL)
        process.wait()
        self.wait_until(lambda: not running_with(mark))
        return alive

    def test_no_program_outlives_memsweep(self):
        self.random = rng("programs")
        background = "sleep MARK & sleep MARK & sleep MARK"
        orphans = f"(sleep MARK &) ; setsid sleep MARK & {background}"
        against = ("--against", "sleep MARK")
        ways = {"run": (("run", "-q"), orphans), "run --against": (("run", "-q", *against), orphans),
                "run --duet": (("run", "-q", "--duet", *against), orphans), "run --count": (("run", "-q", "--count"), orphans),
                "record": (("record", "-q", "-o", "p.mst"), background), "watch": (("watch", "-q"), orphans)}
        for number in range(max(KILLS, len(ways))):
            name = list(ways)[number % len(ways)]
            with self.subTest(name, number=number):
                if self.kill_with_programs(*ways[name]):
                    self.count(f"kills with programs: {name}")

    def test_kills(self):
        self.random = rng("kills")
        self.expect(0, "run", "short.json", "-q", "-n", "1", "-o", "a.json")
        self.expect(0, "run", "short.json", "-q", "-n", "1", "-o", "b.json")
        self.earlier = (self.folder / "a.json").read_bytes()
        self.expect(0, "record", "-q", "-o", "small.mst", "--", "ls")
        replay = ("replay", "small.mst", "--on", "glibc,null", "-n", "2", "--warmup", "0", "--settle", "0s", "--no-latency")
        writers = {"merge": ("merge", "a.json", "b.json"), "compare": ("compare", "a.json", "b.json", "-f", "json"),
                   "report": ("report", "a.json", "-f", "json"), "watch": ("watch", "-f", "json", "--", "sleep", "0.1"),
                   "probe": ("probe", "topology", "-f", "json")}
        subjects = {"memsweep run": (6, lambda: self.kill_run(("run", "short.json"), False)),
                    "memsweep run, with its workers": (2, lambda: self.kill_run(("run", "short.json"), True)),
                    "a worker of run": (3, self.kill_worker), "memsweep replay": (3, lambda: self.kill_run(replay, False)),
                    "memsweep record, with what it records": (2, self.kill_record)}
        subjects |= {f"memsweep {name}": (1, lambda argv=argv: self.kill_writer(*argv)) for name, argv in writers.items()}
        self.lengths = {"run": self.length_of("run", "short.json", "-q", "-o", "c.json"), "replay": self.length_of(*replay, "-q", "-o", "d.json"),
                        "record": self.length_of("record", "-q", "-o", "e.mst", "--", "sh", "-c", "ls > /dev/null")}
        self.lengths |= {name: self.length_of(name, "-o", "f.json", *argv[1:]) for name, argv in writers.items()}
        names = list(subjects)
        weights = [subjects[name][0] for name in names]
        attempts = 0
        while sum(count for what, count in self.done.items() if what.startswith("kills: ")) < KILLS and attempts < 20 * KILLS:
            attempts += 1
            name = self.random.choices(names, weights)[0]
            with self.subTest(name, attempt=attempts):
                if subjects[name][1]():
                    self.count(f"kills: {name}")


class Leftovers(Campaign):
    """Whatever is killed whenever: after the next start of the same command nothing is left of it."""

    def left(self):
        names = [path.name for path in self.folder.glob(".memsweep-*")]
        return names + [path.name for path in self.refuge.iterdir()] + [path.name for path in self.folder.glob("out.json.*")]

    def kill(self, name, argv):
        number = self.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
        self.clear("out*")
        process = self.launch(*argv, prefix=SLOW_DISK if number == signal.SIGKILL and self.random.random() < 0.5 and shutil.which("strace") else ())
        time.sleep(self.random.uniform(0, self.lengths[name]))
        alive = process.poll() is None
        if alive:
            os.killpg(process.pid, number)
        code = process.wait(PATIENCE_S)
        if alive and number != signal.SIGKILL:
            self.assertEqual(self.left(), [], f"{name} left it at {number.name}")
        elif alive and code == -number and self.left():
            self.count(f"SIGKILL that left something: {name}")
        self.wait_until_gone(process.pid)
        self.assertEqual(self.wait(self.launch(*argv)), 0, self.errors())
        self.assertEqual(self.left(), [], f"{name}: left after the next start")
        return alive

    def wait_until_gone(self, group):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)

    def test_leftovers(self):
        self.random = rng("leftovers")
        rows = "".join(f"1,00:00:00.0,{'allocate' if i % 3 else 'free'},{16 * (i % 5000) + 16},64,0\n" for i in range(100_000))
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n" + rows)
        self.write("wide.json", scenario("wide", axes={"n": list(range(1, 30))}, steps=[alloc(size="4KiB"), drop()]))
        self.expect(0, "import", "log.csv", "-o", "log.mst", "-q")
        for result in ("a.json", "b.json"):
            self.expect(0, "run", "wide.json", "-q", "-o", result)
        commands = {"import": ("import", "log.csv", "-o", "out", "-q"), "export": ("export", "log.mst", "-f", "rmm", "-o", "out"),
                    "merge": ("merge", "a.json", "b.json", "-o", "out"), "report": ("report", "a.json", "-f", "html", "-o", "out"),
                    "fit": ("fit", "log.mst", "--policy", "first_fit", "-o", "out"),
                    "run --count": ("run", "-q", "--count", "-n", "1", "--warmup", "0", "-o", "out.json", "--", "ls")}
        self.lengths = {name: self.length_of(*argv) for name, argv in commands.items()}
        attempts = 0
        while sum(count for what, count in self.done.items() if what.startswith("kills: ")) < KILLS and attempts < 20 * KILLS:
            attempts += 1
            name = self.random.choice(list(commands))
            with self.subTest(name, attempt=attempts):
                if self.kill(name, commands[name]):
                    self.count(f"kills: memsweep {name}")


class StorageFaults(Campaign):
    """Calls that fail in the driver, disks that fill up or become read-only, and a limit to the size of files."""

    CALLS = {"write": ("EIO", "ENOSPC", "EINTR", "EDQUOT"), "fsync": ("EIO", "ENOSPC", "EINTR", "EDQUOT"), "rename": ("EIO", "ENOSPC", "EROFS"),
             "close": ("EIO", "EINTR"), "openat": ("EIO", "ENOSPC", "EINTR", "EMFILE")}

    def failing_call(self):
        """The n-th call of one kind fails, once, in the driver alone. None when that is no fault which Linux has."""
        call = self.random.choice([name for name in self.CALLS if self.calls[name]])
        number = self.random.choice(self.calls[call])
        error = self.random.choice(self.CALLS[call])
        log = self.folder / "calls"
        self.clear(log.name, *OF_A_RUN)
        process = self.launch(*RUN, prefix=("strace", "-y", "-o", os.fspath(log), "-e", f"trace={call}",
                                            "-e", f"inject={call}:error={error}:when={number}"))
        if call == "close" and not self.closes_a_file(process, log):
            self.end(process)
            return None
        code = self.wait(process)
        self.assertIn(code, (0, 2, 3), self.errors())
        self.judge(code, f"{call} fails with {error} at call {number}")
        return f"{call} fails with {error}"

    def closes_a_file(self, process, log):
        """Which call is the n-th one differs from run to run. A close that fails closes all the same, but not where strace lets it
        fail: then the end of a socket that we wait for never comes."""
        while True:
            has_ended = process.poll() is not None
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
            failed = [line for line in lines if line.endswith("(INJECTED)")]
            if failed or has_ended:
                return all(os.fspath(self.folder) in line for line in failed)
            time.sleep(0.01)

    def file_size_limit(self):
        import resource

        limit = self.random.randrange(1, 24_000)
        code = self.run_with(limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertIn(code, (0, 2), self.errors())
        # The refuge and the events are cut off by the same limit: only that it says so can be asked.
        if code == 0:
            self.judge(code, f"files up to {limit} bytes")
        else:
            self.assertIn("memsweep: error: ", self.errors())
        return "a limit to the size of files"

    def disk(self, event):
        self.clear("disk/*", *OF_A_RUN)
        process = self.launch("run", "short.json", "-q", "-o", "disk/r.json", "--events", "events")
        time.sleep(self.random.uniform(0, self.length_s))
        event()
        code = self.wait(process)
        subprocess.run(["mount", "-o", "remount,rw", self.tmpfs], check=True)
        self.assertIn(code, (0, 2), self.errors())
        self.judge(code, event.__name__, self.tmpfs / "r.json")

    def fill(self):
        room = self.random.randrange(0, 60_000)
        with open(self.tmpfs / "filler", "wb", buffering=0) as filler:
            free = os.statvfs(self.tmpfs)
            try:
                filler.write(bytes(max(0, free.f_bavail * free.f_bsize - room)))
            except OSError:
                pass

    def full_disk(self):
        self.disk(self.fill)
        return "the disk fills up"

    def read_only(self):
        self.disk(lambda: subprocess.run(["mount", "-o", "remount,ro", self.tmpfs], check=False, capture_output=True))
        return "the disk becomes read-only"

    def run_with(self, **options):
        self.clear(*OF_A_RUN)
        return self.wait(self.launch(*RUN, **options))

    def judge(self, code, what, path=None):
        """Code 0: the whole result is where it was asked for. Otherwise it says why, and nothing that was reported is lost."""
        path = path or self.folder / "r.json"
        with self.subTest(what):
            self.check_nothing_lost(path, what)
            if code == 0:
                self.assertEqual(sum(case["repetitions"] for case in self.result(path)["cases"]), 2 * REPETITIONS)
            else:
                self.assertRegex(self.errors(), "memsweep: (error|warning): |: error|: timeout", "says what failed")
        for left in self.refuge.iterdir():
            left.unlink()

    def calls_to_fail(self, lines):
        """The numbers of those worth it, by call: what opens and closes files before a run is ready is not about storage."""
        ready = next(i for i, line in enumerate(lines) if line.startswith("openat(") and '"events"' in line)
        worth = {call: [] for call in self.CALLS}
        seen = collections.Counter()
        for i, line in enumerate(lines):
            call = line.partition("(")[0]
            seen[call] += 1
            if call not in ("openat", "close") or (i > ready and (call == "openat" or os.fspath(self.folder) in line)):
                worth.setdefault(call, []).append(seen[call])
        return {call: worth[call] for call in self.CALLS}

    def test_storage_faults(self):
        self.random = rng("storage faults")
        self.tmpfs = self.new_tmpfs("4m")
        kinds = [self.full_disk, self.read_only, self.file_size_limit]
        weights = [2, 1, 1]
        if shutil.which("strace"):
            log = self.folder / "calls"
            self.assertEqual(self.run_with(prefix=("strace", "-y", "-o", os.fspath(log), "-e", "trace=" + ",".join(self.CALLS))), 0, self.errors())
            self.calls = self.calls_to_fail(log.read_text(encoding="utf-8", errors="replace").splitlines())
            kinds.append(self.failing_call)
            weights.append(8)
        else:
            print("\nskipped: calls that fail: strace is not installed", flush=True)
        self.length_s = self.length_of("run", "short.json", "-q", "-o", "c.json")
        attempts = 0
        while sum(count for what, count in self.done.items() if what.startswith("faults: ")) < FAULTS and attempts < 20 * FAULTS:
            attempts += 1
            kind = self.random.choices(kinds, weights)[0]
            with self.subTest(attempt=attempts):
                what = kind()
                if what:
                    self.count(f"faults: {what}")


if __name__ == "__main__":
    unittest.main()
