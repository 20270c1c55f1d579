"""Runs the built memsweep as a user would, and judges what it leaves behind.

MEMSWEEP             the binary under test; default: build/release/memsweep of this checkout
MEMSWEEP_SOURCE      the checkout; default: the one this file lies in
MEMSWEEP_TEST_SEED   repeats a run of the tests that draw random numbers; they print the seed they used

    cd tests/app && python3 -m unittest -v test_exit_codes

What this machine cannot do is left out with a line "skipped: WHAT: WHY", which scripts/left_out_tests.py collects.
"""

import atexit
import ctypes
import functools
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("MEMSWEEP_SOURCE") or pathlib.Path(__file__).resolve().parents[2]).resolve()
BINARY = pathlib.Path(os.environ.get("MEMSWEEP") or SOURCE / "build/release/memsweep").resolve()
CATALOG = SOURCE / "scenarios/catalog"

PATIENCE_S = 300  # for any single command, on a machine with 20 times too much to do: against hanging, no expectation
SLEEP_SECONDS = f"{8641976 + os.getpid()}"  # which nobody else's sleepers sleep
UTC = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
UNITS = {"B", "s", "B/s", "1", "op/s"}
COMMON_METRICS = {"wall_time", "cpu_time", "working_set_peak", "residual_working_set", "live_bytes_peak",
                  "floating_bytes_peak", "minor_faults", "major_faults"}
# A comparison of programs judged by the exact metrics alone: a time of 1 ms may be 9 where another process has the processor.
NO_TIMES = tuple(word for metric in ("wall_time", "cpu_time", "working_set_peak", "instructions")
                 for word in ("--threshold", f"{metric}=100000%"))
# What memsweep reads from the environment: the caller's own settings must not decide a test.
READ_BY_MEMSWEEP = ("MEMSWEEP_", "HWLOC_", "SLURM", "OMPI_", "PMI_", "NO_COLOR", "CLICOLOR", "DEBUGINFOD_", "LC_", "LANG", "TMPDIR")

MIB = 1 << 20


class Outcome:
    """How a command ended and what it printed."""

    def __init__(self, argv, code, out, err, max_rss_bytes=None, seconds=None):
        self.argv, self.code, self.out, self.err = argv, code, out, err
        self.max_rss_bytes, self.seconds = max_rss_bytes, seconds

    @property
    def text(self):
        return self.out.decode("utf-8", "replace")

    @property
    def errors(self):
        return self.err.decode("utf-8", "replace")

    def __str__(self):
        shown = " ".join(os.fsdecode(part)[:200] for part in self.argv)
        return f"$ {shown}\nexit {self.code}\nstdout: {self.text[:1500]!r}\nstderr: {self.errors[:3000]}"


def environment(**changes):
    """The caller's environment without what memsweep reads; a value of None removes a variable."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(READ_BY_MEMSWEEP)}
    for name, value in changes.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    return variables


def default_signals():
    """A test runner in the background ignores SIGINT, and memsweep would inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def seed(what):
    """The seed of a random test, printed so that a failure can be repeated."""
    number = int(os.environ.get("MEMSWEEP_TEST_SEED") or time.time_ns() % 1_000_000_007)
    print(f"\n{what}: MEMSWEEP_TEST_SEED={number}", file=sys.stderr, flush=True)
    return number


@functools.cache
def binary_for_others():
    """The binary as other users may run it: itself, or a copy with what it needs beside it, where a folder above keeps others out as
    root's home does."""
    if all(folder.stat().st_mode & 0o001 for folder in BINARY.resolve().parents):
        return BINARY
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-for-others-"))
    atexit.register(shutil.rmtree, folder, True)
    folder.chmod(0o755)
    programs = folder / "bin"
    programs.mkdir()
    for name in (BINARY.name, "memsweep-launch", "libmemsweep_record.so"):
        if (BINARY.parent / name).exists():
            shutil.copy(BINARY.parent / name, programs / name)
    for name in ("configs", "scenarios"):
        shutil.copytree(SOURCE / name, folder / "share/memsweep" / name)
    return programs / BINARY.name


def execute(*args, stdin=None, env=None, cwd=None, prepare=None, limits=(), timeout=PATIENCE_S, binary=BINARY):
    """Runs memsweep to its end. `limits` are (RLIMIT_*, value); `prepare` is called in the child before exec."""

    def in_child():
        default_signals()
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))
        if prepare is not None:
            prepare()

    argv = [os.fspath(binary), *args]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment() if env is None else env, cwd=cwd, preexec_fn=in_child,
                               start_new_session=True)
    begin = time.monotonic()
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"hangs: still running after {timeout} s\n{Outcome(argv, None, out, err)}") from None
    return Outcome(argv, process.returncode, out, err, seconds=time.monotonic() - begin)


@functools.cache
def tool():
    return json.loads(execute("--version", "--json").out)


def sanitized():
    """Sanitizers add memory and reserve address space: then only what does not depend on that is tested."""
    return bool(tool()["sanitizer"])


@functools.cache
def printed_schema(which):
    return json.loads(execute("schema", which).out)


@functools.cache
def validator(which):
    """Judges by the printed schema; None where python3-jsonschema is not installed."""
    try:
        import jsonschema
    except ImportError:
        return None
    return jsonschema.Draft7Validator(printed_schema(which))


@functools.cache
def own_mounts():
    """Gives this test process mounts that nobody else sees and that end with it. Empty, or why that is not possible."""
    if os.geteuid() != 0:
        return "mounting needs root"
    new_mount_namespace = 0x00020000
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(new_mount_namespace) != 0:
        return f"no mount namespace of our own: {os.strerror(ctypes.get_errno())}"
    private = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False)
    return "" if private.returncode == 0 else f"mounts cannot be made private: {private.stderr.decode().strip()}"


def process_state(pid):
    """(state letter, command line), or None when there is no such process."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return stat.rpartition(")")[2].split()[0], command


def is_live_worker(pid):
    state = process_state(pid)
    return state is not None and state[0] not in "ZX" and b"worker" in state[1].split(b"\0")


def children_of(pid):
    """Also those that no event names: warm-ups and the calibration."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry))
    return found


def left_sleepers():
    """Those that sleep SLEEP_SECONDS and are still there."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"sleep") and SLEEP_SECONDS.encode() in words:
                found.append(folder.name)
    return found


def resident_bytes(status_text):
    """The working set as results count it: VmRSS + HugetlbPages."""
    kib = sum(int(line.split()[1]) for line in status_text.splitlines() if line.startswith(("VmRSS:", "HugetlbPages:")))
    return kib << 10


def unique_keys(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"duplicate keys among {names}")
    return dict(pairs)


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def strict_json(data):
    """Parses as a strict reader would: UTF-8, no NaN, no duplicate keys, one document."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=unique_keys)


def event_lines(path):
    """Every complete line of an event file; what a kill cut off at the end is left out."""
    try:
        data = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        return []
    return [strict_json(line) for line in data.split(b"\n")[:-1]]


# Scenarios small enough that a repetition costs a worker's start.

def alloc(name="a", size="64KiB", **keys):
    return {"op": "alloc", "as": name, "bytes": size, "touch": "full", **keys}


def drop(name="a"):
    return {"op": "drop", "target": name}


def sample(name):
    return {"op": "sample", "name": name}


def idle(duration):
    return {"op": "idle", "duration": duration}


def scenario(name="small", steps=None, **keys):
    document = {"format": "memsweep-scenario", "version": 1, "name": name, "repetitions": 1, "warmup": 0}
    document["steps"] = [alloc(), sample("held"), drop(), sample("end")] if steps is None else steps
    document.update({key.rstrip("_"): value for key, value in keys.items()})  # assert_ is a keyword here
    return document


class Driver:
    """A run in the background, followed through its events."""

    def __init__(self, folder, *args, env=None, prepare=None, pass_fds=(), number=0):
        self.events_path = folder / f"events-{number}.ndjson"
        self.events_path.unlink(missing_ok=True)
        self.argv = [os.fspath(BINARY), "run", *args, "--events", os.fspath(self.events_path)]
        self._out = tempfile.TemporaryFile()
        self._err = tempfile.TemporaryFile()

        def in_child():
            default_signals()
            if prepare is not None:
                prepare()

        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err, cwd=folder,
                                        env=environment() if env is None else env, preexec_fn=in_child, pass_fds=pass_fds,
                                        start_new_session=True)

    def events(self):
        return event_lines(self.events_path)

    def wait_for(self, kind, count=1, **keys):
        """The `count`th event of that type with these keys."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            running = self.process.poll() is None
            found = [event for event in self.events()
                     if event["type"] == kind and all(event.get(key) == value for key, value in keys.items())]
            if len(found) >= count:
                return found[count - 1]
            if not running:
                break
            time.sleep(0.003)
        raise AssertionError(f"no {count}. event {kind} {keys} came: {self.events()}\n{self.finish()}")

    def wait_for_worker(self, case):
        """The pid of the first measured worker of that case."""
        return self.wait_for("case_start", case=case)["pid"]

    def workers(self):
        return {event["pid"] for event in self.events() if "pid" in event} | set(children_of(self.process.pid))

    def send(self, number):
        self.process.send_signal(number)

    def finish(self, timeout=PATIENCE_S):
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"hangs: still running after {timeout} s: {self.events()}\n{self.outcome()}") from None
        return self.outcome()

    def outcome(self):
        self._out.seek(0)
        self._err.seek(0)
        return Outcome(self.argv, self.process.returncode, self._out.read(), self._err.read())

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.kill()
        self._out.close()
        self._err.close()


class CliTest(unittest.TestCase):
    """A folder of its own for every test, which is also the working directory of what it runs."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._drivers = 0

    def need_commands(self, needed):
        """Leaves the test out where one of these (command, package) is missing."""
        for command, package in needed:
            if shutil.which(command) is None:
                self.leave_out(self.id(), f"{command} is not installed (package {package})")

    def leave_out(self, what, why):
        print(f"\nskipped: {what}: {why}", file=sys.stderr, flush=True)
        self.skipTest(why)

    def german(self):
        """An environment whose decimal point is a comma; made here where the system has none."""
        if "de_DE.utf8" in subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout:
            return environment(LC_ALL="de_DE.UTF-8")
        if shutil.which("localedef"):
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.folder / "de_DE.UTF-8"], capture_output=True, check=False)
            if (self.folder / "de_DE.UTF-8/LC_NUMERIC").exists():
                return environment(LC_ALL="de_DE.UTF-8", LOCPATH=str(self.folder))
            why = f"localedef: {made.stderr.decode().strip()[:100]}"
        else:
            why = "neither the locale de_DE.UTF-8 nor localedef is installed"
        print(f"\nskipped: {self.id()}: German decimals: {why}", flush=True)
        return environment(LC_ALL="C.UTF-8")

    def memsweep(self, *args, **options):
        options.setdefault("cwd", self.folder)
        return execute(*args, **options)

    def expect(self, code, *args, **options):
        """`code` is the one exit code that is right, or a tuple of those that are."""
        outcome = self.memsweep(*args, **options)
        self.assertIn(outcome.code, code if isinstance(code, tuple) else (code,), f"\n{outcome}")
        return outcome

    def write(self, name, document):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(document, bytes):
            path.write_bytes(document)
        else:
            path.write_text(document if isinstance(document, str) else json.dumps(document, indent=1), encoding="utf-8")
        return name

    def small(self, name="small", **keys):
        return self.write(f"{name}.json", scenario(name, **keys))

    def start(self, *args, **options):
        self._drivers += 1
        driver = Driver(self.folder, *args, number=self._drivers, **options)
        self.addCleanup(driver.close)
        return driver

    def new_tmpfs(self, size):
        """A disk of that size, to be filled."""
        why = own_mounts()
        if why:
            self.leave_out(self.id(), why)
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.leave_out(self.id(), f"no tmpfs can be mounted: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], capture_output=True, check=False)
        return disk

    # What must be true of every result.

    def result(self, path="r.json"):
        data = path if isinstance(path, bytes) else (self.folder / path).read_bytes()
        document = strict_json(data)
        self.check_result(document)
        return document

    def check_result(self, document):
        judge = validator("result")
        if judge is not None:
            problems = [f"{list(error.absolute_path)}: {error.message}" for error in judge.iter_errors(document)]
            self.assertEqual(problems, [], "against memsweep schema result")
        self.assertEqual((document["format"], document["format_version"]), ("memsweep-result", 1))
        self.check_numbers(document)
        self.assertRegex(document["run"]["started"], UTC)
        if document["run"]["ended"] is not None:
            self.assertRegex(document["run"]["ended"], UTC)
        ids = [case["id"] for case in document["cases"]]
        self.assertEqual(len(set(ids)), len(ids), "case ids are unique")
        for case in document["cases"]:
            with self.subTest(case=case["id"]):
                self.check_case(case)
        self.check_counts(document)

    def check_numbers(self, value, where="$"):
        if isinstance(value, dict):
            for key, inner in value.items():
                self.check_numbers(inner, f"{where}.{key}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self.check_numbers(inner, f"{where}[{index}]")
        elif isinstance(value, float):
            self.assertTrue(math.isfinite(value), f"{where} is {value}")

    def check_case(self, case):
        texts = {True: "true", False: "false"}
        params = [f"{name}={texts.get(value, value) if isinstance(value, bool) else value}"
                  for name, value in sorted(case["params"].items())]
        self.assertEqual(case["id"], "/".join([case["scenario"], *params]), "params sorted by axis name")
        self.assertEqual(case["status"] == "ok", case["reason"] is None, f"{case['status']}: {case['reason']}")
        if case["status"] != "skipped":
            self.assertLessEqual(COMMON_METRICS, set(case["metrics"]), "every run has these")
        for name, metric in case["metrics"].items():
            with self.subTest(metric=name):
                self.check_metric(metric, case["repetitions"])
        for part in ("points", "phases", "series"):
            for entry in case[part]:
                self.assertIn(entry["repetition"], range(case["repetitions"]), f"{part}: {entry['name']}")
        for series in case["series"]:
            self.assertIn(series["unit"], UNITS)
            self.assertEqual(len(series["t"]), len(series["v"]))
            self.assertEqual(series["t"], sorted(series["t"]))

    def check_metric(self, metric, repetitions):
        values = metric["values"]
        self.assertEqual(len(values), repetitions, "one value per repetition, none dropped")
        self.assertIn(metric["unit"], UNITS)
        there = [value for value in values if value is not None]
        if len(there) != len(values):
            self.assertTrue(metric["reason"], "a missing value has a reason")
        summary = metric["summary"]
        self.assertEqual(summary is None, not there)
        if summary is not None:
            self.assertEqual(summary["n"], len(there))
            self.assertEqual((summary["min"], summary["max"]), (min(there), max(there)))
            self.assertAlmostEqual(summary["median"], statistics.median(there), delta=1e-12 * abs(statistics.median(there)))
            self.assertEqual(summary["ci95"] is None, len(there) < 6, "an interval from 6 repetitions up")

    def check_counts(self, document):
        summary, cases = document["summary"], document["cases"]
        of = {"ok": "ok", "skipped": "skipped", "failed": "failed", "errors": "error", "timeouts": "timeout"}
        self.assertEqual(summary["cases"], len(cases))
        for key, status in of.items():
            self.assertEqual(summary[key], sum(case["status"] == status for case in cases), key)
        for key, severity in (("assertions_failed", "fail"), ("assertions_warned", "warn")):
            broken = sum(one["passed"] is False and one["severity"] == severity for one in document["assertions"])
            self.assertEqual(summary[key], broken, key)

    def case(self, document, case_id):
        found = [case for case in document["cases"] if case["id"] == case_id]
        self.assertEqual(len(found), 1, f"{case_id} among {[case['id'] for case in document['cases']]}")
        return found[0]

    def assert_workers_end(self, pids):
        """A worker whose driver is gone goes within 2 s."""
        deadline = time.monotonic() + 2
        while any(map(is_live_worker, pids)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual({pid: process_state(pid) for pid in pids if is_live_worker(pid)}, {}, "workers survived their driver")


def values_of(case):
    """Every measured value, in order, by metric."""
    return {name: metric["values"] for name, metric in case["metrics"].items()}


def rng(what):
    return random.Random(seed(what))
