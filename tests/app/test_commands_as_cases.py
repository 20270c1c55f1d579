"""Foreign programs as cases: measured to the kernel's own figures, and harmless whatever they do."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, SLEEP_SECONDS, CliTest, environment, execute, left_sleepers

PYTHON = sys.executable


class Commands(CliTest):
    def tearDown(self):
        self.assertEqual(left_sleepers(), [], "nothing is left behind")
        super().tearDown()

    def run_command(self, *command, code=0, options=("-n", "2", "--warmup", "0"), env=None):
        out = self.folder / "r.json"
        done = execute("run", "-q", "-o", out, *options, "--", *command, cwd=self.folder, env=env)
        self.assertEqual(done.code, code, f"\n{done}")
        return json.loads(out.read_text()) if out.exists() else None

    def one(self, *command, **how):
        cases = self.run_command(*command, **how)["cases"]
        self.assertEqual(len(cases), 1)
        return cases[0]

    def run_scenario(self, command, code=0, options=(), **more):
        scenario = {"format": "memsweep-scenario", "version": 1, "name": "c", "repetitions": 2, "warmup": 0,
                    "command": command, **more}
        path = self.folder / "c.json"
        path.write_text(json.dumps(scenario))
        out = self.folder / "r.json"
        done = execute("run", "-q", path, "-o", out, *options, cwd=self.folder)
        self.assertEqual(done.code, code, f"\n{done}")
        return {one["id"]: one for one in json.loads(out.read_text())["cases"]} if out.exists() else done

    @staticmethod
    def values(case, metric):
        return case["metrics"][metric]["values"]


class Exactness(Commands):
    def test_peak_is_that_of_the_kernel(self):
        """The program asks the kernel about itself just before it ends; /usr/bin/time would be told the same."""
        said = self.folder / "said"
        text = ("import resource\nx = bytearray(40 << 20)\ndel x\n"
                f"open({os.fspath(said)!r}, 'a').write('%d\\n' % resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
                "import os; os._exit(0)")
        case = self.one(PYTHON, "-c", text)
        told = [int(line) * 1024 for line in said.read_text().split()]
        self.assertEqual(self.values(case, "working_set_peak"), told)

    def test_small_programs_are_small(self):
        peak = self.values(self.one("true"), "working_set_peak")[0]
        usage = subprocess.run([PYTHON, "-c", "import os, sys; p = os.posix_spawn('/bin/true', ['true'], {})\n"
                                "print(os.wait4(p, 0)[2].ru_maxrss)"], capture_output=True, text=True, check=True)
        self.assertLessEqual(peak, int(usage.stdout) * 1024, "nothing of memsweep's own size is handed down")

    def test_times_are_those_of_the_kernel(self):
        said = self.folder / "said"
        text = ("import os, resource\nfor i in range(3000000): pass\nu = resource.getrusage(resource.RUSAGE_SELF)\n"
                f"open({os.fspath(said)!r}, 'a').write('%r %r\\n' % (u.ru_utime, u.ru_stime))\nos._exit(0)")
        case = self.one(PYTHON, "-c", text)
        for line, user in zip(said.read_text().splitlines(), self.values(case, "user_time")):
            self.assertGreaterEqual(user, float(line.split()[0]))
            self.assertLess(user - float(line.split()[0]), 0.05 + 0.02 * user)
        for user, system, cpu in zip(*(self.values(case, name) for name in ("user_time", "system_time", "cpu_time"))):
            self.assertAlmostEqual(user + system, cpu, places=6)

    def test_user_time_is_that_of_the_kernel(self):
        """A wrapper asks the kernel about a program that it has waited for, and about itself."""
        said = self.folder / "said"
        text = ("import os, resource, sys\n"
                "burn = 'import time\\nwhile time.process_time() < 0.3:\\n  for i in range(50000): pass'\n"
                "os.waitpid(os.posix_spawn(sys.executable, [sys.executable, '-c', burn], os.environ), 0)\n"
                "user = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))\n"
                f"open({os.fspath(said)!r}, 'a').write(f'{{user}}\\n')\n"
                "os._exit(0)")
        measured = self.values(self.one(PYTHON, "-c", text, options=("-n", "5", "--warmup", "0")), "user_time")
        for line, user in zip(said.read_text().splitlines(), measured, strict=True):
            self.assertGreater(user, 0.2)
            self.assertLessEqual(abs(user - float(line)), 0.02 * float(line), f"{user} against {line}")

    def test_a_program_whose_counts_repeat_is_counted_six_times(self):
        case = self.one("sort", "/dev/null", options=("-n", "10", "--warmup", "0", "--count"))
        counts = self.values(case, "allocations")
        self.assertEqual([count is None for count in counts], [False] * 6 + [True] * 4, counts)
        self.assertEqual(len(set(counts[:6])), 1, counts)
        self.assertGreater(counts[0], 0)

    def test_tree(self):
        """Two that hold memory at once: the sum; the kernel alone knows of one."""
        hold = "import time; x = bytearray(60 << 20); time.sleep(1.5)"
        case = self.one("sh", "-c", f'"{PYTHON}" -c "$0" & "{PYTHON}" -c "$0"; wait', hold, options=("-n", "1", "--warmup", "0"))
        self.assertGreater(self.values(case, "working_set_peak")[0], 120 << 20)

    def test_every_metric_has_a_value_or_a_reason(self):
        case = self.one("true")
        for name in ("wall_time", "user_time", "system_time", "working_set_peak", "minor_faults", "major_faults",
                     "context_switches", "read_bytes", "written_bytes", "pressure", "instructions", "cycles"):
            metric = case["metrics"][name]
            self.assertEqual(len(metric["values"]), 2, name)
            self.assertTrue(metric["reason"] if None in metric["values"] else True, name)


class Group:
    """A fresh control group with memory of its own, which a shell enters before it becomes the program."""

    @staticmethod
    def place():
        """Where such groups are made, the name of their peak, and that of the kernel's own share (v1). Or why there is none."""
        if os.geteuid() != 0:
            return None, "control groups are root's to make"
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            point, (kind, _, options) = line.split()[4], line.split(" - ")[1].split()[:3]
            if kind == "cgroup" and "memory" in options.split(","):
                return (pathlib.Path(point), "memory.max_usage_in_bytes", "memory.kmem.max_usage_in_bytes"), ""
            root = pathlib.Path(point)
            if kind == "cgroup2" and "memory" in (root / "cgroup.subtree_control").read_text().split():
                return (root, "memory.peak", None), ""
        return None, "no control groups with the memory controller are mounted"

    def __init__(self, place):
        root, self.peak_name, self.kernel_name = place
        self.folder = root / f"memsweep-test-{os.getpid()}"
        self.folder.mkdir()

    def inside(self, *command):
        return ("sh", "-c", 'echo $$ > "$0" && exec "$@"', os.fspath(self.folder / "cgroup.procs"), *command)

    def peak_bytes(self):
        """Of anonymous and shared memory: no file pages that are left, nor, where it is told, memory of the kernel's own."""
        counts = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        files = int(counts["file"] if "file" in counts else counts["cache"]) - int(counts["shmem"])
        kernel = int((self.folder / self.kernel_name).read_text()) if self.kernel_name else 0
        return int((self.folder / self.peak_name).read_text()) - files - kernel

    def remove(self):
        for _ in range(100):  # the kernel may still be at those that have ended
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.05)


class Trees(Commands):
    """working_set_peak of several processes, against what a control group was charged for them."""

    HOLD = "import sys, time; time.sleep(float(sys.argv[2])); x = bytearray(int(sys.argv[1]) << 20); time.sleep(float(sys.argv[3]))"
    # 80 MiB that all of four have, written to again by each: none of it, or 10 MiB of copies.
    FORKS = ("import mmap, os, sys, time\n"
             "kind = mmap.MAP_ANONYMOUS | (mmap.MAP_SHARED if sys.argv[1] == 'shared' else mmap.MAP_PRIVATE)\n"
             "x = mmap.mmap(-1, 80 << 20, flags=kind)\n"
             "def fill(begin, end, byte):\n"  # a MiB at a time, so that what is written is not in memory twice
             "    for at in range(begin, end): x[at << 20:at + 1 << 20] = bytes([byte]) * (1 << 20)\n"
             "fill(0, 80, 1)\n"
             "for k in range(4):\n"
             "    if os.fork() == 0:\n"
             "        fill(k * 10, k * 10 + 10, 2)\n"
             "        time.sleep(3)\n"
             "        os._exit(0)\n"
             "for k in range(4): os.wait()\n")

    def check(self, *command):
        place, why = Group.place()
        if place is None:
            self.leave_out(self.id(), why)
        subprocess.run(command, check=True)  # the files that it reads are in the page cache, and nobody's
        group = Group(place)
        try:
            case = self.one(*group.inside(*command), options=("-n", "1", "--warmup", "0"))
            charged = group.peak_bytes()
        finally:
            group.remove()
        peak = self.values(case, "working_set_peak")[0]
        self.assertLessEqual(abs(peak - charged), 0.05 * charged, f"{peak:,} against {charged:,} of the control group")

    def test_programs_at_overlapping_times(self):
        self.check("sh", "-c", '"$0" -c "$1" 20 0 2 & "$0" -c "$1" 100 0.2 2.5 & "$0" -c "$1" 60 0.4 1.5 & "$0" -c "$1" 80 1 2 & wait',
                   PYTHON, self.HOLD)

    def test_small_programs(self):
        """Of which the files that they map are a greater part than their memory."""
        self.check("sh", "-c", '"$0" -c "$1" 4 0 2 & "$0" -c "$1" 4 0.2 2 & "$0" -c "$1" 4 0.4 2 & wait', PYTHON, self.HOLD)

    def test_copies_of_pages_that_forks_share(self):
        self.check(PYTHON, "-c", self.FORKS, "private")

    def test_shared_memory(self):
        self.check(PYTHON, "-c", self.FORKS, "shared")


class Misbehaviour(Commands):
    def test_wrong_exit_code(self):
        case = self.one("sh", "-c", "echo first >&2; printf 'the \\033[31m reason\\n' >&2; exit 9", code=3)
        self.assertEqual(case["status"], "error")
        self.assertIn("exit code 9", case["reason"])
        self.assertIn("the \\x1b[31m reason", case["reason"])
        self.assertNotIn("\x1b", case["reason"])

    def test_signal(self):
        self.assertIn("SIGSEGV", self.one("sh", "-c", "kill -SEGV $$", code=3)["reason"])

    def test_hangs_and_ignores_sigterm(self):
        script = f"trap '' TERM; sleep {SLEEP_SECONDS} & setsid sleep {SLEEP_SECONDS} & while :; do sleep 1; done"
        case = self.one("sh", "-c", script, code=3, options=("-n", "1", "--warmup", "0", "--timeout", "500ms"))
        self.assertEqual(case["status"], "timeout")

    def test_daemons(self):
        case = self.one("sh", "-c", f"setsid sh -c 'sleep {SLEEP_SECONDS} & sleep {SLEEP_SECONDS}' & sleep 0.2", options=("-n", "1", "--warmup", "0"))
        self.assertEqual(case["status"], "ok")
        self.assertIn("killed", case["facts"]["left behind"])

    def test_floods(self):
        flood = "import os\nb = bytes(1 << 20)\nfor _ in range(1024): os.write(1, b)\nfor _ in range(64): os.write(2, b)"
        for where in ("null", "checksum"):
            done = self.run_scenario({"run": [PYTHON, "-c", flood], "stdout": where}, repetitions=1)["c"]
            self.assertEqual(done["status"], "ok")

    def test_no_terminal_and_nothing_to_read(self):
        case = self.one("sh", "-c", "cat; ! (exec 3<>/dev/tty) 2>/dev/null")
        self.assertEqual(case["status"], "ok", case["reason"])

    def test_closes_and_keeps_pipes(self):
        done = self.run_scenario({"run": f"exec 2>&-; printf x; exec >&-; sleep 0.1; setsid sleep {SLEEP_SECONDS} & exit 0",
                                  "shell": True, "stdout": "checksum"})["c"]
        self.assertEqual(done["status"], "ok")

    def test_missing_and_not_executable(self):
        for name in ("no-such-program-anywhere", "./missing", "/etc/passwd", "/"):
            done = execute("run", "-o", self.folder / "r.json", "--", name, cwd=self.folder)
            self.assertEqual(done.code, 2, f"\n{done}")
            self.assertIn(name, done.errors)
            self.assertFalse((self.folder / "r.json").exists())
        case = self.one("sh", "-c", "exec ./missing", code=3)
        self.assertIn("exit code 127", case["reason"])

    def test_scripts_without_an_interpreter_are_the_shells(self):
        script = self.folder / "bin" / "plain-script"
        script.parent.mkdir()
        script.write_text('test "$1-$2" = "one-two words" && echo "$0" >>"$SAID"\n')
        script.chmod(0o755)
        said = self.folder / "said"
        env = environment(SAID=said, PATH=f"/nowhere:{script.parent}:{os.environ['PATH']}")
        for name in ("plain-script", "bin/plain-script", script):
            case = self.one(name, "one", "two words", env=env, options=("-n", "1", "--warmup", "0"))
            self.assertEqual(case["status"], "ok", case["reason"])
        self.assertEqual(said.read_text().split(), [os.fspath(script), "bin/plain-script", os.fspath(script)])

    def test_others_stand(self):
        found = self.run_scenario({"run": ["sh", "-c", "exit ${axis.code}"]}, axes={"code": [0, 1]}, code=3)
        self.assertEqual([found[f"c/code={code}"]["status"] for code in (0, 1)], ["ok", "error"])
        self.assertEqual(found["c/code=0"]["repetitions"], 2)


class Scenarios(Commands):
    def test_checksums_between_cases(self):
        same = self.run_scenario({"run": "printf same; : ${axis.n}", "shell": True, "stdout": "checksum"}, axes={"n": [1, 2]})
        self.assertEqual({one["status"] for one in same.values()}, {"ok"})
        self.assertEqual(len({one["facts"]["output"] for one in same.values()}), 1)
        differs = self.run_scenario({"run": ["echo", "${axis.n}"], "stdout": "checksum"}, axes={"n": [1, 2]}, code=1)
        self.assertEqual([one["status"] for one in differs.values()], ["ok", "failed"])
        self.assertIn("c/n=1", differs["c/n=2"]["reason"])

    def test_checksum_between_repetitions(self):
        case = self.run_scenario({"run": "cat /proc/sys/kernel/random/uuid", "shell": True, "stdout": "checksum"}, code=1)["c"]
        self.assertEqual(case["status"], "failed")

    def test_env_cwd_stdin_stdout_prepare_cleanup(self):
        self.run_scenario({"run": 'read line; test "$N" = 5 && test -e prepared && echo "$line" && echo "$N"', "shell": True,
                           "prepare": "touch prepared; echo given > in", "cleanup": "rm prepared", "stdin": "in", "stdout": "out",
                           "cwd": os.fspath(self.folder), "env": {"N": "${axis.n}"}}, axes={"n": [5]})
        self.assertEqual((self.folder / "out").read_text(), "given\n5\n")
        self.assertFalse((self.folder / "prepared").exists())

    def test_failing_prepare(self):
        case = self.run_scenario({"run": "true", "shell": True, "prepare": "echo why >&2; exit 3"}, code=3)["c"]
        self.assertIn("prepare: exit code 3; its last words: why", case["reason"])

    def test_words_that_are_no_text(self):
        write = (b"sh", b"-c", b'printf "%s" "$1" >> raw', b"sh", b"\xff\xfe")
        self.expect(0, "run", "-q", "-o", "r.json", "-n", "1", "--warmup", "0", "--", *write)
        self.assertEqual((self.folder / "raw").read_bytes(), b"\xff\xfe")
        done = self.expect(2, "run", "-q", "-o", "r2.json", "-a", "n=[1,2]", "--", *write)
        self.assertIn(r"with axes each word is UTF-8, and word 5 (\xff\xfe) is not", done.errors)

    def test_allocators(self):
        text = ("import os, sys; maps = open('/proc/self/maps').read()\n"
                "sys.exit(('jemalloc' in maps) != ('jemalloc' in os.environ.get('LD_PRELOAD', '')))")
        cases = self.run_command(PYTHON, "-c", text, options=("-n", "1", "--warmup", "0", "-a", "allocator=[glibc,jemalloc]"))["cases"]
        self.assertEqual(len(cases), 2)
        for case in cases:
            self.assertIn(case["status"], ("ok", "skipped"), case["reason"])  # skipped: jemalloc is not installed

    def test_series_and_formats(self):
        case = self.run_scenario({"run": ["sleep", "0.2"]}, series={"interval": "5ms"})["c"]
        self.assertEqual({one["name"] for one in case["series"]}, {"working_set"})
        for form in ("csv", "md", "html", "junit", "prom", "trace", "gbench"):
            self.expect(0, "report", self.folder / "r.json", "-f", form, "-o", self.folder / f"out.{form}")

    def test_baseline(self):
        base = self.folder / "base.json"
        self.expect(0, "run", "-q", "-o", base, "-n", "2", "--", "true")
        done = execute("run", "-q", "-o", self.folder / "r.json", "-n", "2", "--baseline", base, "--", "true", cwd=self.folder)
        self.assertIn(done.code, (0, 5), f"\n{done}")

    def test_resume(self):
        out = self.folder / "r.json"
        self.expect(0, "run", "-q", "-o", out, "-n", "2", "--", "sh", "-c", "echo x >> log", cwd=self.folder)
        log = self.folder / "log"
        before = len(log.read_text().split()) if log.exists() else 0
        done = execute("run", "-q", "-o", out, "-n", "5", "--resume", "--warmup", "0", "--", "sh", "-c", "echo x >> log",
                       cwd=self.folder)
        self.assertEqual(done.code, 0, f"\n{done}")
        self.assertEqual(json.loads(out.read_text())["cases"][0]["repetitions"], 5)
        self.assertEqual(len(log.read_text().split()) - before, 3)

    def test_plans_without_running(self):
        self.run_scenario({"run": ["true"]})
        path = self.folder / "c.json"
        self.expect(0, "validate", path)
        listed = json.loads(self.expect(0, "list", "cases", path, "--json").out)
        self.assertEqual(listed["rows"][0]["peak_bytes"], "unknown")
        self.assertIn("not known", self.expect(0, "run", "--dry-run", path).text)

    def test_both_and_neither(self):
        self.expect(2, "run")
        self.expect(2, "run", "c.json", "--", "true")
        self.expect(2, "run", "--")


class Signals(Commands):
    def test_interrupted(self):
        out = self.folder / "r.json"
        begun = self.folder / "begun"
        script = f"test -e {begun}2 && sleep {SLEEP_SECONDS}; test -e {begun} && touch {begun}2; touch {begun}"
        with subprocess.Popen([os.fspath(BINARY), "run", "-q", "-n", "9", "--warmup", "0", "-o", os.fspath(out), "--", "sh", "-c", script],
                              env=environment(), cwd=self.folder, stderr=subprocess.PIPE) as running:
            while not left_sleepers():
                self.assertIsNone(running.poll())
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)
        self.assertEqual(running.returncode, 130)
        result = json.loads(out.read_text())
        self.assertTrue(result["run"]["interrupted"])
        self.assertEqual(result["cases"][0]["repetitions"], 2)

    def test_killed(self):
        """Even then the program ends."""
        with subprocess.Popen([os.fspath(BINARY), "run", "-q", "-o", os.fspath(self.folder / "r.json"), "--", "sleep", SLEEP_SECONDS],
                              env=environment(), cwd=self.folder, stderr=subprocess.DEVNULL) as running:
            while not left_sleepers():
                self.assertIsNone(running.poll())
                time.sleep(0.01)
            running.kill()
        for _ in range(1000):
            if not left_sleepers():
                break
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
