"""Programs that are started in every way that loses what is preloaded: each is recorded and counted, or named."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, CliTest, environment, execute

BUILD = BINARY.parent
AMOUNT = 20_000  # calls that no program here makes by itself
SOURCE = """
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv)
{
    if (argc > 2) { execv(argv[2], argv + 2); return 9; }
    for (int i = 0; i < atoi(argv[1]); ++i) { void* volatile block = malloc(100); free(block); }
    return 0;
}
"""
JEMALLOC = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/libjemalloc.so.2"))), None)
MIMALLOC = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/libmimalloc.so.2"))), None)
CC = shutil.which("cc")
JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
MUSL = shutil.which("musl-gcc")
NOBODY = 65534


@unittest.skipUnless(CC, "there is no C compiler")
class Launchers(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "p.c").write_text(SOURCE)
        self.plain = self.build("plain")
        self.static = self.build("static", "-static")

    def build(self, name, *options, compiler=CC):
        path = self.folder / name
        subprocess.run([compiler, "-O1", "-fno-builtin", *options, "-o", path, self.folder / "p.c"], check=True)
        return os.fspath(path)

    def shell(self, text):
        return ["sh", "-c", text + "; true"]  # the shell stays

    def kept(self):
        """Ways that lose what is preloaded, and in which it is given again."""
        plain = self.plain
        ways = {
            "shell": self.shell(f"{plain} {AMOUNT}"),
            "env -i": ["env", "-i", plain, str(AMOUNT)],
            "clean shell": self.shell(f"unset LD_PRELOAD MEMSWEEP_RECORD MEMSWEEP_RECORD_OPTIONS; {plain} {AMOUNT}"),
            "exec": ["sh", "-c", f"LD_PRELOAD= exec {plain} {AMOUNT}"],
            "system": [sys.executable, "-c", f"import os; os.environ.clear(); os.system('{plain} {AMOUNT}')"],
            "spawn": [sys.executable, "-c", "import os; os.waitpid(os.posix_spawn(" f"{plain!r}, [{plain!r}, '{AMOUNT}'], {{}}), 0)"],
            "subprocess": [sys.executable, "-c", f"import subprocess; subprocess.run([{plain!r}, '{AMOUNT}'], env={{}})"],
            "ctypes": [sys.executable, "-c", "import ctypes\nc = ctypes.CDLL(None)\nc.malloc.restype = ctypes.c_void_p\n"
                       f"c.free.argtypes = [ctypes.c_void_p]\nfor i in range({AMOUNT}): c.free(c.malloc(1000))"],
            "python -m": [sys.executable, "-m", "timeit", "-n", str(AMOUNT), "-r", "1", "bytes(1000)"],
        }
        if JEMALLOC:
            ways["jemalloc wrapper"] = ["sh", "-c", f"LD_PRELOAD={JEMALLOC} exec {plain} {AMOUNT}"]
        if shutil.which("perl"):
            ways["perl"] = ["perl", "-e", f"%ENV = (); system('{plain}', '{AMOUNT}')"]
        if shutil.which("node"):
            ways["node"] = ["node", "-e", f"require('child_process').spawnSync('{plain}', ['{AMOUNT}'], {{env: {{}}}})"]
        if JAVA and JAVAC:
            source = self.folder / "Starts.java"
            source.write_text("class Starts { public static void main(String[] a) throws Exception { var b = new ProcessBuilder(a);"
                              " b.environment().clear(); System.exit(b.start().waitFor()); } }\n")
            subprocess.run([JAVAC, source], check=True)
            ways["java"] = [JAVA, "-Xmx64m", "-cp", os.fspath(self.folder), "Starts", plain, str(AMOUNT)]
        return ways

    def lost(self):
        """Ways in which nothing can be preloaded: the program's file."""
        ways = {"static": (self.shell(f"{self.static} {AMOUNT}"), self.static)}
        own = os.fspath(BUILD / "recorded_own_malloc")
        ways["own malloc"] = (self.shell(own), own)
        if MUSL:
            musl = self.build("musl", compiler=MUSL)
            ways["musl"] = (self.shell(f"{musl} {AMOUNT}"), musl)
        if os.getuid() == 0 and shutil.which("setpriv"):
            program = self.build("of_root")
            self.folder.chmod(0o755)
            ways["other user"] = (self.shell(f"setpriv --reuid {NOBODY} --clear-groups {program} {AMOUNT}"), program)
            of_another = self.build("of_another")
            os.chown(of_another, NOBODY, NOBODY)
            os.chmod(of_another, 0o4755)
            if not os.statvfs(of_another).f_flag & os.ST_NOSUID:
                ways["set-id"] = (self.shell(f"{of_another} {AMOUNT}"), of_another)
        return ways

    def record(self, command):
        out = self.folder / "t.mst"
        done = execute("record", "-o", out, "--", *command, cwd=self.folder)
        info = json.loads(self.expect(0, "info", out, "--json").out)
        text = self.expect(0, "info", out).text
        out.unlink()
        return done, info, text

    def run_counted(self, command, *options, code=0):
        out = self.folder / "r.json"
        done = execute("run", "-n", "1", "--warmup", "0", *options, "-o", out, "--", *command, cwd=self.folder)
        self.assertEqual(done.code, code, f"\n{done}")
        cases = json.loads(out.read_text())["cases"]
        out.unlink()
        return done, cases

    def test_recorded_where_it_can_be(self):
        for name, command in self.kept().items():
            with self.subTest(name):
                done, info, _ = self.record(command)
                self.assertEqual((done.code, info["unrecorded"]), (0, []), done)
                self.assertGreaterEqual(info["allocations"], AMOUNT)

    def test_named_where_it_cannot(self):
        for name, (command, program) in self.lost().items():
            with self.subTest(name):
                done, info, text = self.record(command)
                self.assertEqual(done.code, 2, done)
                self.assertIn("ran without the recorder", done.errors)
                self.assertIn("ran without the recorder", text)
                named = [one["program"] for one in info["unrecorded"]]
                self.assertEqual(len(named), 1, info["unrecorded"])
                self.assertTrue(program.endswith(named[0]) or named[0].endswith(program), named)

    def test_a_program_that_nobody_may_end_is_named_and_not_waited_for(self):
        if os.getuid() != 0 or not shutil.which("setpriv"):
            self.leave_out("a program that becomes root", "needs root and setpriv")
        becomes_root = self.folder / "becomes_root"
        shutil.copy(shutil.which("setpriv"), becomes_root)
        becomes_root.chmod(0o4755)
        self.folder.chmod(0o755)
        if not all(folder.stat().st_mode & 0o1 for folder in (BUILD, *BUILD.parents)):
            self.leave_out("a program that becomes root", f"others may not enter {BUILD}")
        if os.statvfs(becomes_root).f_flag & os.ST_NOSUID:
            self.leave_out("a program that becomes root", "this folder's file system knows no set-id programs")
        own = self.folder / "own"
        own.mkdir()
        os.chown(own, NOBODY, NOBODY)
        begun = time.monotonic()
        done = subprocess.run(["setpriv", "--reuid", str(NOBODY), "--clear-groups", BINARY, "run", "-q", "-n", "1", "--warmup", "0", "--timeout", "1s",
                               "-o", "r.json", "--", becomes_root, "--reuid", "0", "sleep", "200"], cwd=own, env=environment(),
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begun
        (case,) = json.loads((own / "r.json").read_text())["cases"]
        found = re.search(r"process (\d+) \(sleep\) runs on: it has become another user's", case["reason"])
        self.assertTrue(found, done)
        os.kill(int(found.group(1)), signal.SIGKILL)
        self.assertEqual((done.returncode, case["status"]), (3, "timeout"), done)
        self.assertLess(seconds, 150)

    def test_without_a_proc_of_its_own_it_says_so(self):
        if os.getuid() != 0 or not shutil.which("unshare"):
            self.leave_out("another /proc", "needs root and unshare")
        ways = {"is not mounted": ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"],
                "of another pid namespace": ["unshare", "-f", "-p"]}
        for said, prefix in ways.items():
            for argv in (["run", "-q", "-n", "1", "-o", "r.json"], ["watch"], ["record", "-o", "t.mst"]):
                with self.subTest(said, argv=argv[0]):
                    done = subprocess.run([*prefix, BINARY, *argv, "--", "true"], cwd=self.folder, env=environment(), capture_output=True,
                                          text=True, check=False)
                    self.assertIn(done.returncode, (2, 3), done)
                    self.assertIn("/proc", done.stderr)
                    self.assertIn(said, " ".join(done.stderr.split()))

    def test_children_of_one_without_it_are_recorded(self):
        done, info, _ = self.record(self.shell(f"{self.static} 0 {self.plain} {AMOUNT}"))
        self.assertEqual(done.code, 2, done)
        self.assertGreaterEqual(info["allocations"], AMOUNT)
        self.assertEqual(len(info["unrecorded"]), 1)

    def test_counted_or_absent_with_the_reason(self):
        for name, command in self.kept().items():
            with self.subTest(name):
                _, (case,) = self.run_counted(command, "--count")
                self.assertGreaterEqual(case["metrics"]["allocations"]["values"][0], AMOUNT)
        for name, (command, program) in self.lost().items():
            with self.subTest(name):
                done, (case,) = self.run_counted(command, "--count")
                self.assertEqual(case["metrics"]["allocations"]["values"], [None])
                self.assertIn(pathlib.Path(program).name, case["facts"]["uncounted"])
                self.assertIn("uncounted: ", done.text)

    def test_absent_counts_are_no_improvement(self):
        done = execute("run", "-n", "6", "--warmup", "0", "--count", "--against", f"{self.plain} {AMOUNT}", "--", self.static, "10",
                       cwd=self.folder)
        for line in done.text.splitlines():
            if "allocations" in line or "allocated_bytes" in line:
                self.assertNotIn("improved", line)

    @unittest.skipUnless(JEMALLOC and MIMALLOC, "there is no jemalloc or no mimalloc")
    def test_another_malloc_than_the_one_asked_for(self):
        own = BUILD / "recorded_own_malloc"
        cases = {"wrapper": (["sh", "-c", f"LD_PRELOAD={MIMALLOC} exec {self.plain} 10"], "mimalloc"),
                 "cleared": (["env", "-i", self.plain, "10"], "libc"),
                 "own": ([own], "its own"),
                 "static child": (self.shell(f"{self.static} 10"), "statically linked"),
                 "static": ([self.static, "10"], "statically linked")}
        if MUSL:
            cases["musl"] = (self.shell(f"{self.build('musl', compiler=MUSL)} 10"), "another C library")
        for name, (command, reason) in cases.items():
            with self.subTest(name):
                done, (case,) = self.run_counted(command, "-a", "allocator=jemalloc", code=4 if name == "static" else 3)
                self.assertIn(case["status"], ("error", "skipped"))
                self.assertIn(reason, case["reason"])
        for name, command in {"plain": [self.plain, "10"], "shell": self.shell(f"{self.plain} 10"),
                              "python": [sys.executable, "-c", "pass"]}.items():
            with self.subTest(name):
                _, served = self.run_counted(command, "-a", "allocator=[glibc,jemalloc,mimalloc]")
                self.assertEqual([one["status"] for one in served], ["ok"] * 3)


if __name__ == "__main__":
    unittest.main()
