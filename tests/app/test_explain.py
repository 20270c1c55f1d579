"""explain: where a program's memory is at its end. What each page is is known by how the programs are written; the kernel's own
account is the observer that everything must add up to."""

import ctypes
import json
import os
import pathlib
import platform
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, MIB, CliTest, validator

PROGRAM = BINARY.parent / "recorded_memory"
LIBRARIES = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4"}


def library(name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        path = pathlib.Path(folder, LIBRARIES[name])
        if path.exists():
            return str(path)
    return None


def refuse(*rows):
    """Has the kernel refuse a system call from here on: rows of a filter (seccomp(2)) behind the one that loads the call's number."""

    class Filter(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_uint16), ("filters", ctypes.POINTER(Filter))]

    filters = (Filter * (len(rows) + 1))(Filter(0x20, 0, 0, 0), *(Filter(*row) for row in rows))
    libc = ctypes.CDLL(None, use_errno=True)
    pr_set_no_new_privs, pr_set_seccomp, seccomp_mode_filter = 38, 22, 2
    libc.prctl(pr_set_no_new_privs, 1, 0, 0, 0)
    if libc.prctl(pr_set_seccomp, seccomp_mode_filter, ctypes.byref(Program(len(filters), filters)), 0, 0) != 0:
        os._exit(99)


def without_ptrace():
    """As the default of older container runtimes has it: EPERM."""
    number = {"x86_64": 101, "aarch64": 117}[platform.machine()]
    refuse((0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000))


def without_a_scan_of_pages():
    """As Linux before 6.7: ioctl(2) with PAGEMAP_SCAN is ENOTTY."""
    number = {"x86_64": 16, "aarch64": 29}[platform.machine()]
    refuse((0x15, 0, 3, number), (0x20, 0, 0, 24), (0x15, 0, 1, 0xC0606610), (0x06, 0, 0, 0x00050019), (0x06, 0, 0, 0x7FFF0000))


class Explain(CliTest):
    def ask(self, *words, code=0):
        result = self.folder / "explained.json"
        self.expect(code, "explain", "-f", "json", "-o", result, "--", *words)
        report = json.loads(result.read_text())
        self.check(report)
        return report

    def check(self, report):
        """What holds of every program that stands."""
        self.assertEqual((report["format"], report["format_version"]), ("memsweep-explain", 1))
        self.assertEqual(report["sum"], report["rss"], report["categories"])
        self.assertEqual(sum(one["bytes"] for one in report["categories"]), report["rss"])
        page = os.sysconf("SC_PAGESIZE")
        self.assertEqual(sum(one["pages"] for one in report["categories"]) * page, report["rss"])
        self.assertEqual(len(report["categories"]), 16)
        self.assertLessEqual(report["live"]["resident"], report["rss"])
        self.assertEqual(sum(site["live"] for site in report["sites"]), report["live"]["requested"])
        resident = {}
        for area in report["areas"]:
            self.assertEqual(sum(area["categories"].values()), area["resident"])
            for name, size in area["categories"].items():
                resident[name] = resident.get(name, 0) + size
        self.assertEqual(resident, {one["name"]: one["bytes"] for one in report["categories"] if one["bytes"] != 0})
        judge = validator("explain")
        if judge is not None:
            self.assertEqual([(list(error.absolute_path), error.message) for error in judge.iter_errors(report)], [])
        self.assertNotIn("add up", " ".join(report["warnings"]))

    def test_the_schema_finds_what_is_wrong(self):
        judge = validator("explain")
        if judge is None:
            self.leave_out(self.id(), "python3-jsonschema is not installed")
        report = self.ask(PROGRAM, "little")
        for change in ({"rss": -1}, {"verdict": {**report["verdict"], "word": "lost"}}, {"categories": report["categories"][1:]}):
            self.assertFalse(judge.is_valid({**report, **change}), change)
        self.assertFalse(judge.is_valid({key: value for key, value in report.items() if key != "areas"}))

    @staticmethod
    def of(report, *names):
        return sum(one["bytes"] for one in report["categories"] if one["name"] in names)

    @staticmethod
    def returned(report):
        return report["tried"][0]["returned"]

    def test_small_blocks_that_were_freed_are_retention(self):
        report = self.ask(PROGRAM, "retain")
        self.assertEqual(report["verdict"]["word"], "retention", report)
        kept = self.of(report, "kept_free")
        self.assertGreaterEqual(kept, 200_000 * 120)
        self.assertLessEqual(kept, 200_000 * 128 + 4 * MIB)
        self.assertEqual(report["tried"][0]["request"], "malloc_trim")
        self.assertGreaterEqual(self.returned(report), kept * 9 // 10)
        self.assertEqual(report["verdict"]["settings"], ["GLIBC_TUNABLES=glibc.malloc.mxfast=0"])
        site = report["sites"][report["verdict"]["site"] - 1]
        self.assertRegex(site["site"], r"load_index.*\(recorded_memory\.cpp:\d+\)")
        self.assertGreaterEqual(site["left_behind"], kept * 9 // 10)
        self.assertRegex(" ".join(site["stack"]), "retain.*main")

    def test_aligned_blocks_leave_retention(self):
        report = self.ask(PROGRAM, "aligned")
        self.assertEqual(report["verdict"]["word"], "retention", report["categories"])
        self.assertGreaterEqual(self.of(report, "kept_free"), 30 * MIB)
        self.assertEqual(report["live"]["requested"] - 60 * 40, self.live_without(report, "keep_row"))

    @staticmethod
    def live_without(report, function):
        return sum(site["live"] for site in report["sites"] if function not in site["site"])

    def test_arenas_of_threads(self):
        report = self.ask(PROGRAM, "arenas")
        self.assertEqual(report["verdict"]["word"], "retention", report["categories"])
        self.assertEqual(report["verdict"]["settings"], ["GLIBC_TUNABLES=glibc.malloc.arena_max=1"])
        self.assertGreaterEqual(self.of(report, "kept_free"), 20 * MIB)

    def test_holes_beside_what_stays(self):
        report = self.ask(PROGRAM, "pins")
        self.assertEqual(report["verdict"]["word"], "fragmentation", report["categories"])
        site = report["sites"][report["verdict"]["site"] - 1]
        self.assertIn("keep_row", site["site"])
        self.assertGreaterEqual(site["pins_alone"], self.of(report, "holes"))
        self.assertEqual(site["live"], 8000 * 24)

    def test_huge_pages_that_are_mostly_zero(self):
        mode = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
        if not mode.exists() or "[never]" in mode.read_text():
            self.leave_out(self.id(), "this machine has huge pages off")
        report = self.ask(PROGRAM, "huge")
        zero = self.of(report, "huge_zero")
        if zero == 0:
            self.leave_out(self.id(), "the kernel gave no huge pages")
        self.assertEqual(zero % os.sysconf("SC_PAGESIZE"), 0)
        self.assertLessEqual(zero, 32 * MIB)
        if zero > 8 * MIB:
            self.assertEqual(report["verdict"]["word"], "huge_pages")

    def test_what_is_lost_time_and_again_is_a_leak(self):
        report = self.ask(PROGRAM, "leak")
        self.assertEqual(report["verdict"]["word"], "leak", report["verdict"])
        site = report["sites"][report["verdict"]["site"] - 1]
        self.assertRegex(site["site"], r"forget.*\(recorded_memory\.cpp:\d+\)")
        self.assertEqual((site["live"], site["blocks"]), (50_000 * 100, 50_000))
        self.assertEqual(site["growth"]["answer"], "leak")
        self.assertGreaterEqual(site["unreachable"], site["live"] * 98 // 100)
        self.expect(1, "explain", "--fail-on", "leak", "--", PROGRAM, "leak")
        self.expect(0, "explain", "--fail-on", "leak", "--", PROGRAM, "cache")

    def test_what_is_added_all_the_time_and_found_again_only_grows(self):
        report = self.ask(PROGRAM, "grow")
        self.assertEqual(report["verdict"]["word"], "grows", report["verdict"])
        self.assertEqual(report["sites"][report["verdict"]["site"] - 1]["growth"]["answer"], "grows")

    def test_what_is_lost_in_many_pieces_is_a_leak_without_anything_else(self):
        for way, code in (("exit", 0), ("_exit", 0), ("term", 128 + signal.SIGTERM)):
            with self.subTest(way):
                report = self.ask(PROGRAM, "lose", way, code=code)
                self.assertEqual(report["verdict"]["word"], "leak", report["verdict"])
                site = report["sites"][report["verdict"]["site"] - 1]
                self.assertRegex(site["site"], r"load_index.*\(recorded_memory\.cpp:\d+\)")
                self.assertEqual((site["live"], site["blocks"], site["growth"]["answer"]), (20_000_000, 20_000, "none"))
                self.assertGreaterEqual(report["live"]["unreachable"], 19_000_000)
                self.assertLessEqual(report["verdict"]["bytes"], report["live"]["unreachable"])
        errors = " ".join(self.expect(1, "explain", "--fail-on", "leak", "--", PROGRAM, "lose").errors.split())
        self.assertRegex(errors, r"Leak: [\d.]+ MiB were lost, and nothing points to them any more\. .*Most of it at .*load_index")

    def test_what_the_first_function_pointed_to_is_no_leak_and_said(self):
        errors = " ".join(self.expect(0, "explain", "--fail-on", "leak", "--", PROGRAM, "frame").errors.split())
        self.assertIn("In use:", errors)
        report = self.ask(PROGRAM, "frame")
        said = "of what is live was found" in errors
        self.assertEqual(said, report["live"]["unreachable"] * 5 >= report["live"]["requested"], report["live"])

    def test_what_a_table_beside_the_heap_points_to_is_no_leak(self):
        for way, code in (("exit", 0), ("_exit", 0), ("term", 128 + signal.SIGTERM)):
            with self.subTest(way):
                report = self.ask(PROGRAM, "table", way, code=code)
                self.assertEqual(report["verdict"]["word"], "grows", report["verdict"])
                site = report["sites"][report["verdict"]["site"] - 1]
                rows = 50_000 * 200
                self.assertGreaterEqual(site["live"], rows + MIB)
                self.assertLessEqual(site["unreachable"], site["live"] - rows)  # blocks that had no room before them are lost
                if not any({"live", "mapped_by_program"} <= set(area["categories"]) for area in report["areas"]):
                    self.leave_out(self.id(), "this kernel does not make one mapping of two that lie side by side")

    def test_what_an_interpreters_pools_point_to_is_no_leak(self):
        code = ("import os\nkept = {}\nfor i in range(2000):\n kept[i] = bytearray(5000); query = bytearray(3000); del query\n"
                " rows = [bytearray(2000) for _ in range(5)]\nos._exit(0)\n")
        for _ in range(3):  # where pools lie changes from run to run
            report = self.ask(sys.executable, "-c", code)
            self.assertNotEqual(report["verdict"]["word"], "leak", report["verdict"])
            self.assertGreater(report["live"]["requested"], 10_000_000)
            self.assertLess(report["live"]["unreachable"], MIB)

    def test_live_blocks_are_in_use(self):
        report = self.ask(PROGRAM, "cache")
        self.assertEqual(report["verdict"]["word"], "in_use", report["verdict"])
        site = report["sites"][report["verdict"]["site"] - 1]
        self.assertEqual((site["live"], site["unreachable"]), (25_000_000, 0))
        self.assertGreaterEqual(self.of(report, "live"), 25_000_000)

    def test_what_the_program_maps_itself(self):
        for kind, word, category in (("mapped", "mapped_by_program", "mapped_by_program"), ("shared", "shared", "shared")):
            with self.subTest(kind):
                report = self.ask(PROGRAM, kind)
                self.assertEqual(report["verdict"]["word"], word, report["categories"])
                self.assertEqual(self.of(report, category), 24 * MIB)
        self.assertIn("does not see into them", " ".join(self.ask(PROGRAM, "mapped")["warnings"]))

    def test_what_a_threads_function_maps_as_its_last_call_is_the_programs(self):
        """It jumps to mmap, which then returns to glibc's code that began the thread."""
        if shutil.which("gcc") is None:
            self.leave_out(self.id(), "gcc is not installed")
        self.write("jump.c", "#include <pthread.h>\n#include <string.h>\n#include <sys/mman.h>\n"
                   "static void* map(void* bytes) { return mmap(0, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }\n"
                   "int main(void) { pthread_t thread; void* place; pthread_create(&thread, 0, map, (void*)(24ul << 20));\n"
                   " pthread_join(thread, &place); memset(place, 1, 24ul << 20); return 0; }\n")
        subprocess.run(["gcc", "-O2", "jump.c", "-o", "jump", "-lpthread"], cwd=self.folder, check=True)
        report = self.ask(self.folder / "jump")
        self.assertEqual(report["verdict"]["word"], "mapped_by_program", report["categories"])
        self.assertEqual(self.of(report, "mapped_by_program"), 24 * MIB)

    def test_a_small_program_has_nothing_to_change(self):
        report = self.ask(PROGRAM, "little")
        self.assertEqual(report["verdict"]["word"], "nothing_to_change", report["categories"])
        self.assertEqual(report["verdict"]["settings"], [])

    def test_whatever_the_way_out(self):
        for way, code in (("exit", 0), ("_exit", 0), ("abort", 128 + signal.SIGABRT), ("term", 128 + signal.SIGTERM),
                          ("kill", 128 + signal.SIGKILL)):
            with self.subTest(way):
                report = self.ask(PROGRAM, "cache", way, code=code)
                self.assertEqual(self.live_without(report, "keep_row"), report["live"]["requested"] - 25_000_000)
                if way == "exit":
                    self.assertEqual(report["not_tried"], None)
                else:
                    self.assertEqual((report["tried"], report["not_tried"]), ([], "the program did not end by exit()"))

    def test_other_allocators(self):
        requests = {"jemalloc": "arena.4096.purge", "mimalloc": "mi_collect", "tcmalloc": "ReleaseFreeMemory"}
        tried = 0
        for name, request in requests.items():
            path = library(name)
            if path is None:
                print(f"\nskipped: {self.id()}: {name} is not installed", file=sys.stderr, flush=True)
                continue
            with self.subTest(name):
                report = self.ask("env", f"LD_PRELOAD={path}", PROGRAM, "retain")
                self.assertEqual(report["allocator"]["name"], name)
                self.assertEqual(report["tried"][0]["request"], request)
                free = self.of(report, "kept_free")
                self.assertGreaterEqual(free, 20 * MIB, report["categories"])
                expected = "retention" if self.returned(report) * 2 >= free else "kept"
                self.assertEqual(report["verdict"]["word"], expected)
                live = self.ask("env", f"LD_PRELOAD={path}", PROGRAM, "cache")
                self.assertEqual(live["verdict"]["word"], "in_use", live["categories"])
                self.assertGreaterEqual(self.of(live, "live"), 25_000_000)
                tried += 1
        if tried == 0:
            self.leave_out(self.id(), "no other allocator is installed")

    def test_programs_of_others_add_up(self):
        programs = {"perl": ("-e", "my %h; $h{$_} = 'x' x 100 for 1..50000; print scalar(keys %h), qq(\\n)"),
                    "sqlite3": (":memory:", "create table t(a); insert into t values(1); select count(*) from t;"),
                    "bash": ("-c", "x=1; echo $x"),
                    "g++": ("--version",)}
        for name, words in {sys.executable: ("-c", "x = [str(i) for i in range(100000)]; print(len(x))"), **programs}.items():
            if shutil.which(name) is None:
                print(f"\nskipped: {self.id()}: {name} is not installed", file=sys.stderr, flush=True)
                continue
            with self.subTest(name):
                alone = subprocess.run([name, *words], capture_output=True, check=True).stdout
                outcome = self.memsweep("explain", "--", name, *words)
                self.assertEqual((outcome.code, outcome.out), (0, alone))
                report = self.ask(name, *words)
                self.assertLessEqual(self.of(report, "other"), max(report["rss"] // 50, 256 << 10), report["categories"])

    def test_threads_that_end_before_and_a_program_that_becomes_another(self):
        report = self.ask("sh", "-c", f"exec {PROGRAM} cache")
        self.assertGreaterEqual(report["live"]["requested"], 25_000_000)
        code = "import threading\nfor i in range(20):\n t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
        self.ask(sys.executable, "-c", code)
        code = "import threading, os, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()\nos.execvp('true', ['true'])\n"
        self.ask(sys.executable, "-c", code)

    def test_a_thread_that_outlives_the_first_one_has_stacks(self):
        report = self.ask(PROGRAM, "little", "thread")
        self.assertRegex(report["sites"][0]["site"], r"keep_row.*\(recorded_memory\.cpp:\d+\)")
        self.assertGreaterEqual(report["sites"][0]["live"], 25_000_000)

    def test_what_others_did_is_said_to_be_missing(self):
        for script in (f"{PROGRAM} cache; true", f"{PROGRAM} cache & sleep 0.2; exit 0"):
            report = self.ask("sh", "-c", script)
            self.assertIn("It has started other processes", report["warnings"][0])
        code = f"import subprocess; subprocess.run(['{PROGRAM}', 'cache'])"
        held = re.search(r"the largest of which held up to ([\d.]+) MiB", self.ask(sys.executable, "-c", code)["warnings"][0])
        self.assertGreater(float(held[1]), 23)
        report = self.ask(PROGRAM, "little")
        self.assertEqual([one for one in report["warnings"] if "other processes" in one], [])

    def test_a_program_that_a_script_starts_is_explained_by_its_name(self):
        spawned = f"import subprocess, sys; sys.exit(subprocess.run(['{PROGRAM}', 'cache']).returncode + 5)"
        commands = {"one of several": ("sh", "-c", f"sleep 0 & true; {PROGRAM} cache; grep TracerPid /proc/$$/status /proc/self/status >&2; exit 5"),
                    "deeper": ("sh", "-c", f"sh -c '{PROGRAM} cache; true'; exit 5"),
                    "that its parent waits for by vfork": (sys.executable, "-c", spawned),
                    "that outlives the command": ("sh", "-c", f"{PROGRAM} cache & exit 5"),
                    "that the command becomes": ("sh", "-c", f"exec {PROGRAM} cache")}
        for how, command in commands.items():
            with self.subTest(how):
                result = self.folder / "explained.json"
                code = 0 if how == "that the command becomes" else 5
                outcome = self.expect(code, "explain", "-f", "json", "-o", result, "--process", PROGRAM.name, "--", *command)
                report = json.loads(result.read_text())
                self.check(report)
                self.assertEqual(self.live_without(report, "keep_row"), report["live"]["requested"] - 25_000_000)
                self.assertRegex(report["warnings"][0], rf"^The explained program is {PROGRAM.name}, process \d+")
                self.assertEqual(report["tried"][0]["request"], "malloc_trim")
                if how == "one of several":
                    self.assertEqual(re.findall(r"TracerPid:\s+(\d+)", outcome.errors), ["0", "0"], "those that are not explained are let go")

    def test_a_script_of_a_long_name_is_found_by_it_and_a_path_by_its_last_part(self):
        script = self.folder / "a_service_of_a_long_name.sh"
        script.write_text("#!/bin/sh\nx=1\n")
        script.chmod(0o755)
        for name in (script.name, f"./{script.name}"):
            errors = self.expect(0, "explain", "--process", name, "--", "sh", "-c", f"{script}; true").errors
            self.assertIn(f"The explained program is {name}, process", errors)

    def test_a_script_that_prints_much_before_and_goes_on_after_is_no_hindrance(self):
        mark, result = self.folder / "mark", self.folder / "explained.json"
        script = f"head -c 300000 /dev/zero | tr '\\0' 'x'; echo; {PROGRAM.with_name('recorded_work')} waits line {mark} & while :; do sleep 0.1; done"
        outcome = self.memsweep("explain", "-f", "json", "-o", result, "--process", "recorded_work", "--end-when", "line:^work is done$", "--", "sh", "-c", script)
        report = json.loads(result.read_text())
        self.check(report)
        self.assertGreaterEqual(report["live"]["requested"], 21 * MIB)
        self.assertGreater(len(outcome.out), 300_000)

    def test_a_terminal_ends_what_a_shell_has_started_in_the_background(self):
        mark = self.folder / "mark"
        script = f"{PROGRAM.with_name('recorded_work')} waits file {mark} & wait"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(BINARY, [BINARY, "explain", "--process", "recorded_work", "--", "sh", "-c", script])
        try:
            began = time.monotonic()
            while not mark.exists() and time.monotonic() < began + 60:
                time.sleep(0.05)
            os.write(terminal, b"\x03")
            ended = (0, 0)
            while ended[0] == 0 and time.monotonic() < began + 120:
                if select.select([terminal], [], [], 0.1)[0]:
                    os.read(terminal, 1 << 16)
                ended = os.waitpid(pid, os.WNOHANG)
            self.assertEqual(ended[0], pid, "one Ctrl-C ends it")
        except OSError:  # the terminal is gone with its last process
            self.assertEqual(os.waitpid(pid, 0)[0], pid)
        finally:
            os.close(terminal)

    def test_a_program_of_a_pid_namespace_of_its_own_is_said_to_be_out_of_reach(self):
        inside = ("unshare", "--user", "--map-root-user", "--pid", "--fork", os.fspath(PROGRAM), "little")
        if subprocess.run(inside, capture_output=True, check=False).returncode != 0:
            self.leave_out(self.id(), "no pid namespace can be made here")
        self.assertIn("in a pid namespace of its own", self.expect(2, "explain", "--process", PROGRAM.name, "--", *inside).errors)

    def test_a_name_that_nothing_has_is_told_those_that_began(self):
        outcome = self.expect(2, "explain", "--process", "nobody", "--", "sh", "-c", f"{PROGRAM} little; true")
        self.assertIn("no program of the name nobody; those that began: ", outcome.errors)
        self.assertIn(PROGRAM.name, outcome.errors)
        self.assertIn("/no/such/program", self.expect(2, "explain", "--process", "nobody", "--", "/no/such/program").errors)

    def test_what_was_given_back_before_the_end_is_said_to_be_missing(self):
        report = self.ask(PROGRAM, "mapped")
        self.assertNotIn("before its end", " ".join(report["warnings"]))
        code = "import mmap; m = mmap.mmap(-1, 80 << 20); m.write(b'1' * (80 << 20)); m.close()"
        self.assertRegex(" ".join(self.ask(sys.executable, "-c", code)["warnings"]), r"Up to [\d.]+ MiB were resident before its end")

    def test_a_command_that_cannot_be_run(self):
        outcome = self.expect(2, "explain", "--", "/no/such/program")
        self.assertIn("/no/such/program", outcome.errors)
        self.assertEqual([one for one in os.listdir(self.folder) if "memsweep" in one], [])

    def test_where_ptrace_is_refused_nothing_is_started(self):
        outcome = self.memsweep("explain", "--", "sh", "-c", "echo began", prepare=without_ptrace)
        if outcome.code == 99 or platform.machine() not in ("x86_64", "aarch64"):
            self.leave_out(self.id(), "no filter of system calls can be set here")
        self.assertEqual((outcome.code, outcome.out), (2, b""))
        self.assertIn("ptrace is refused (Operation not permitted)", outcome.errors)

    def test_without_a_scan_of_pages_it_says_what_is_missing_and_the_rest_holds(self):
        if platform.machine() not in ("x86_64", "aarch64"):
            self.leave_out(self.id(), "no filter of system calls can be set here")
        result = self.folder / "explained.json"
        for kind, word in (("retain", "retention"), ("pins", "fragmentation"), ("leak", "leak"), ("cache", "in_use")):
            with self.subTest(kind):
                outcome = self.memsweep("explain", "-f", "json", "-o", result, "--", PROGRAM, kind, prepare=without_a_scan_of_pages)
                if outcome.code == 99:
                    self.leave_out(self.id(), "no filter of system calls can be set here")
                self.assertEqual(outcome.code, 0, outcome)
                report = json.loads(result.read_text())
                self.check(report)
                self.assertEqual(report["verdict"]["word"], word, report["categories"])
                self.assertIn("no PAGEMAP_SCAN", " ".join(report["warnings"]))

    def test_without_root(self):
        if os.geteuid() != 0:
            self.leave_out(self.id(), "whoever runs this is not root: every other test says it")
        outcome = self.memsweep("explain", "--", PROGRAM, "retain", prepare=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        if "Permission denied" in outcome.errors:
            self.leave_out(self.id(), "the build is in a folder that only root can read")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.errors, "Retention: .* are whole free pages that glibc keeps")
        self.assertNotIn("may not be read", outcome.errors)

    def test_arguments_of_the_program_are_its_own(self):
        for command in (("explain",), ("record", "-q", "-o", self.folder / "r.mst"), ("watch", "-o", self.folder / "w.json")):
            outcome = self.expect(0, *command, "--", "printf", "[%s]", "", "[a,b]", "")
            self.assertIn("[][[a,b]][]", outcome.text)
        self.assertIn("no program to run", self.expect(2, "explain", "--", "").errors)

    def test_a_callers_ignored_sigchld_stays_the_programs(self):
        code = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN)"
        outcome = self.expect(0, "explain", "--", sys.executable, "-c", code,
                              prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(outcome.text, "True\n")

    def moment(self, report, at):
        self.assertEqual(report["moment"]["at"], at)
        self.assertEqual((report["moment"]["stopped"], report["moment"]["cut"]), (True, "exact"))
        self.assertGreater(report["moment"]["stopped_seconds"], 0)

    def test_the_copy_that_answers_is_gone_afterwards(self):
        report = self.ask(PROGRAM, "cache")
        self.moment(report, "end")
        self.assertIsNotNone(report["live"]["unreachable"])
        self.assertEqual(self.returned(report), 0)
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                self.assertFalse((process / "comm").read_text().startswith(PROGRAM.name[:15]) and
                                 str(self.folder) in os.readlink(process / "cwd"), process)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue

    def test_a_signal_of_the_recorders_kind_still_reaches_the_program(self):
        code = ("import signal, os\nsignal.signal(signal.SIGURG, lambda *_: print('urgent', flush=True))\n"
                "os.kill(os.getpid(), signal.SIGURG)\n")
        outcome = self.expect(0, "explain", "--", sys.executable, "-c", code)
        self.assertEqual(outcome.text, "urgent\n")

    def test_allocators_own_figures_agree_with_the_ledger(self):
        figures = {"glibc": {"uordblks", "hblkhd"}, "jemalloc": {"allocated"}, "tcmalloc": {"current_allocated_bytes"}, "mimalloc": {"heap.used"}}
        for name, expected in figures.items():
            path = "" if name == "glibc" else library(name)
            if path is None:
                print(f"\nskipped: {self.id()}: {name} is not installed", file=sys.stderr, flush=True)
                continue
            for kind in ("cache", "pins"):
                with self.subTest(name=name, kind=kind):
                    report = self.ask("env", *([f"LD_PRELOAD={path}"] if path else []), PROGRAM, kind)
                    says = report["allocator_says"]
                    self.assertEqual({one["name"] for one in says}, expected)
                    for one in says:
                        self.assertTrue(one["meaning"])
                        self.assertLessEqual(abs(one["bytes"] - one["ledger"]), max(report["rss"] * 3 // 100, 64 << 10), one)
                    if kind == "cache":
                        self.assertGreaterEqual(sum(one["bytes"] for one in says), 25_000_000)

    def explain_trace(self, trace, *options, code=0):
        result = self.folder / "explained.json"
        self.expect(code, "explain", "-f", "json", "-o", result, *options, trace)
        report = json.loads(result.read_text())
        self.check(report)
        return report

    def test_a_trace_with_a_snapshot_of_the_end_says_the_same(self):
        trace = self.folder / "t.mst"
        for kind in ("retain", "pins", "cache"):
            with self.subTest(kind):
                self.expect(0, "record", "--stacks", "--snapshot-at-end", "-o", trace, "--", PROGRAM, kind)
                self.assertEqual([one for one in os.listdir(self.folder) if "recording" in one], [])
                self.expect(0, "info", trace)
                live = self.ask(PROGRAM, kind)
                report = self.explain_trace(trace)
                self.moment(report, "end")
                self.assertEqual((report["live"]["requested"], report["live"]["blocks"]), (live["live"]["requested"], live["live"]["blocks"]))
                for name in ("kept_free", "holes", "live", "headers", "stacks"):
                    self.assertLessEqual(abs(self.of(report, name) - self.of(live, name)), 8 * 4096, name)
                self.assertEqual(report["sites"][0]["site"], live["sites"][0]["site"])
                self.assertEqual((report["tried"], report["allocator_says"], report["live"]["unreachable"]), ([], [], None))
                self.assertIn("was not read", " ".join(report["warnings"]))

    def test_snapshots_while_it_runs_add_up(self):
        trace = self.folder / "t.mst"
        self.expect(0, "record", "--stacks", "--snapshot-every", "20ms", "-o", trace, "--", PROGRAM, "peak")
        peak = self.explain_trace(trace, "--at", "peak")
        self.moment(peak, "peak")
        # As much is resident when it has begun to free: each block is live, or free there.
        self.assertGreaterEqual(self.of(peak, "live", "kept_free", "holes"), 40 * MIB)
        self.assertIn("load_index", peak["sites"][0]["site"])
        for at in ("1ms", "100ms", "10s"):
            self.moment(self.explain_trace(trace, "--at", at), "time")
        error = " ".join(self.expect(2, "explain", trace).errors.split())
        self.assertIn("has no snapshot of the end", error)
        self.assertIn("--at peak", error)

    def test_a_trace_without_snapshots_says_how_to_get_one(self):
        trace = self.folder / "t.mst"
        self.expect(0, "record", "-o", trace, "--", PROGRAM, "little")
        self.assertIn("record it again with `memsweep record --stacks --snapshot-at-end", " ".join(self.expect(2, "explain", trace).errors.split()))
        self.assertIn("leave --sample and --min-size out",
                      self.expect(2, "record", "--sample", "10", "--snapshot-at-end", "-o", trace, "--", PROGRAM, "little").errors)
        self.assertIn("not both", self.expect(2, "explain", trace, "--", PROGRAM).errors)

    def test_snapshots_survive_a_kill(self):
        trace = self.folder / "t.mst"
        folder = self.folder / "t.mst.recording"
        with subprocess.Popen([BINARY, "record", "--stacks", "--snapshot-every", "20ms", "-o", trace, "--", "sh", "-c", f"exec {PROGRAM} peak"],
                              stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as running:
            while running.poll() is None and len(list(folder.glob("*.snapshot"))) < 3:
                time.sleep(0.005)
            running.send_signal(signal.SIGKILL)
        kept = len(list(folder.glob("*.snapshot")))
        self.assertGreaterEqual(kept, 3)
        self.expect(0, "record", "--recover", folder, "-o", trace)
        self.assertGreater(self.explain_trace(trace, "--at", "peak")["rss"], 0)
        self.assertEqual([one for one in os.listdir(self.folder) if "recording" in one], [])

    def test_a_snapshot_that_finds_no_room_costs_only_itself(self):
        """A folder stands where its file would be."""
        trace = self.folder / "t.mst"
        code = f"import os, glob\nos.mkdir({str(trace)!r} + '.recording/0.snapshot')\nos.execv({str(PROGRAM)!r}, ['p', 'cache'])\n"
        outcome = self.expect(0, "record", "--stacks", "--snapshot-at-end", "-o", trace, "--", sys.executable, "-c", code)
        self.assertIn("1 snapshot could not be kept", outcome.errors)
        self.assertIn("memsweep record --stacks --snapshot-at-end", " ".join(self.expect(2, "explain", trace).errors.split()))

    def test_the_moment_when_it_held_the_most(self):
        result = self.folder / "explained.json"
        self.expect(0, "explain", "--at", "peak", "-f", "json", "-o", result, "--", PROGRAM, "peak")
        report = json.loads(result.read_text())
        self.check(report)
        self.moment(report, "peak")
        self.assertGreaterEqual(report["live"]["requested"], 40 * MIB * 100 // 106 - MIB)
        self.assertIn("load_index", report["sites"][0]["site"])
        self.assertEqual((report["tried"], report["live"]["unreachable"]), ([], None))
        end = self.ask(PROGRAM, "peak")
        self.assertLess(end["live"]["requested"], 2 * MIB)
        # Where it only grows, its end is that moment.
        self.expect(0, "explain", "--at", "peak", "-f", "json", "-o", result, "--", PROGRAM, "cache")
        self.assertGreaterEqual(json.loads(result.read_text())["live"]["requested"], 25_000_000 * 100 // 106)

    def test_text_says_three_things_first(self):
        outcome = self.expect(0, "explain", "--", PROGRAM, "retain")
        self.assertEqual(outcome.out, b"done\n")
        self.assertRegex(outcome.errors, r"Retention: .* are whole free pages that glibc keeps")
        self.assertIn("malloc_trim, tried in a copy of the program, returns", outcome.errors)
        self.assertIn("Setting to try: GLIBC_TUNABLES=glibc.malloc.mxfast=0.", " ".join(outcome.errors.split()))
        for kind, begin in (("md", "#"), ("html", "<!")):
            path = self.folder / f"out.{kind}"
            self.expect(0, "explain", "-f", kind, "-o", path, "--", PROGRAM, "little")
            self.assertTrue(path.read_text().startswith(begin))
