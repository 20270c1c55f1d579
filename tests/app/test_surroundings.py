"""Hostile surroundings: locales, names, environments and limits that memsweep did not choose."""

import ctypes
import csv
import io
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import unittest

from memsweep_cli import MIB, CliTest, alloc, drop, environment, event_lines, idle, sample, sanitized, strict_json
from test_result_values import Page

HOSTILE = "a\"b'c</script><img src=x onerror=alert(1)>&lt;\n\r\t,;=1+1 \u202e\u0000 ☃ 𝄞 %s {0}"


class Locale(CliTest):
    def test_numbers_are_the_same_everywhere(self):
        german, plain = self.german(), environment(LC_ALL="C")
        probe = subprocess.run(["printf", "%.1f", "0"], env=german, capture_output=True, check=False)
        self.small(repetitions=6, axes={"size": ["1.5MiB"]}, timeout="30.5s", series={"interval": "2.5ms"},
                   steps=[alloc(size="${axis.size}"), sample("held"), drop(), idle("12.5ms")], assert_=[{"expr": "wall_time.max > 0.5ms"}])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "-r", "csv=r.csv", "--timeout", "20.5s", "--max-memory", "1.5GiB", env=german)
        result = self.result()
        self.assertEqual(result["cases"][0]["metrics"]["live_bytes_peak"]["values"], [3 * MIB // 2] * 6)
        for row in strict_json(self.expect(0, "list", "formats", "--json").out)["rows"]:
            form = row["format"]
            with self.subTest(form, decimal_point=probe.stdout):
                written = [self.expect(0, "report", "r.json", "-f", form, env=env).out for env in (german, plain)]
                self.assertEqual(written[0], written[1])
        for command in (["list", "ops", "--json"], ["run", "small.json", "--dry-run"], ["list", "metrics"]):
            self.assertEqual(self.expect(0, *command, env=german).out, self.expect(0, *command, env=plain).out)
        rows = list(csv.DictReader(io.StringIO((self.folder / "r.csv").read_text(), newline="")))
        times = [float(row["value"]) for row in rows if row["metric"] == "wall_time"]
        self.assertEqual(times, result["cases"][0]["metrics"]["wall_time"]["values"])


class Names(CliTest):
    def check_reports(self, path="r.json"):
        """Valid in every format, and no name becomes markup or a column of its own."""
        result = self.result(path)
        widths = {len(row) for row in csv.reader(io.StringIO(self.expect(0, "report", path, "-f", "csv").out.decode(), newline=""), strict=True)}
        self.assertEqual(widths, {12 + len({axis for case in result["cases"] for axis in case["params"]})})
        page = Page(self.expect(0, "report", path, "-f", "html").out.decode())
        self.assertEqual(page.left_open, [])
        self.assertEqual(page.outside, [])
        self.assertEqual([tag for tag in page.tags if tag[0] == "img" or "onerror" in tag[1]], [], "a name became markup")
        text = self.expect(0, "report", path, "--color", "never").out
        self.assertNotIn(b"\x1b", text, "a name controls the terminal")
        return result, page

    def scripts(self, page):
        return sum(tag == "script" for tag, _ in page.tags)

    def test_texts_of_the_scenario_and_the_command_line(self):
        self.small(repetitions=2, series={"interval": "2ms"}, steps=[alloc(), idle("10ms")], axes={"v": ["a", "b", "c"]})
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        plain = self.scripts(self.check_reports()[1])
        # Axis values become case ids.
        self.small(description=HOSTILE.replace("\0", "") + "\x1b[31m", repetitions=2, series={"interval": "2ms"}, steps=[alloc(), idle("10ms")],
                   axes={"v": ["</script><b>", "a\"b,c", "=cmd|' /C calc'!A0"]}, assert_=[{"expr": "wall_time.max < 1ns", "severity": "warn"}])
        outcome = self.memsweep("run", "small.json", "-q", "-o", "r.json", "--tag", "k</script>\x1b[2J=" + HOSTILE.replace("\0", ""))
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        result, page = self.check_reports()
        self.assertEqual(self.scripts(page), plain)
        self.assertIn(HOSTILE.replace("\0", ""), result["run"]["tags"].values())

    def test_bytes_that_are_no_utf_8(self):
        self.small()
        name = b"sc\xff\xfe.json"
        os.rename(self.folder / "small.json", os.fsencode(self.folder) + b"/" + name)
        self.expect(0, "run", name, "-q", "-o", "r.json", "--tag", b"k\xc3=v\x80\xf8", "--events", b"e\xff")
        result, _ = self.check_reports()
        self.assertEqual(len(result["run"]["tags"]), 1)
        self.expect(0, "run", name, "-q", "-o", b"out\xff.json")
        self.assertIn(b"out\xff.json", os.listdir(os.fsencode(self.folder)), "a file name is bytes")
        outcome = self.expect(2, "validate", b"no\xff.json")
        self.assertIn(b"no", outcome.err)

    def test_host_name(self):
        if os.geteuid() != 0:
            self.leave_out(self.id(), "a host name of our own needs root")
        new_uts_namespace = 0x04000000
        library = ctypes.CDLL(None, use_errno=True)

        def rename_host():
            if library.unshare(new_uts_namespace) != 0:
                os._exit(77)
            name = b"a/\"b,</script>\xff\n=1"
            library.sethostname(name, len(name))

        self.small()
        outcome = self.memsweep("run", "small.json", "-q", "-o", "at-%h.out", prepare=rename_host)
        if outcome.code == 77:
            self.leave_out(self.id(), "no UTS namespace")
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        written = os.listdir(os.fsencode(self.folder))
        self.assertEqual(len([name for name in written if name.startswith(b"at-a") and name.endswith(b".out")]), 1, written)
        os.rename([os.fsencode(self.folder) + b"/" + name for name in written if name.startswith(b"at-")][0], self.folder / "r.json")
        result, _ = self.check_reports()
        self.assertNotEqual(result["machine"]["host"], platform.node())

    def test_host_name_of_a_result_from_elsewhere(self):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        document = self.result()
        document["machine"]["host"] = HOSTILE
        document["machine"]["cpu"] = HOSTILE
        document["run"]["scenario"]["description"] = HOSTILE + "\x1b]0;title\x07"
        document["warnings"] = [{"code": "x", "message": HOSTILE, "hint": HOSTILE}]
        self.write("hostile.json", document)
        self.check_reports("hostile.json")


class Environment(CliTest):
    def test_empty(self):
        self.small(repetitions=2)
        self.expect(0, "run", "small.json", "-o", "r.json", "--events", "e", env={})
        self.assertEqual(self.result()["summary"]["ok"], 1)
        self.assertEqual(event_lines(self.folder / "e")[-1]["exit_code"], 0)
        for command in (["--version"], ["list", "ops"], ["validate", "small.json"], ["run", "small.json"]):
            self.expect(0, *command, env={})

    def test_senseless_values(self):
        self.small()
        for name, value in (("TERM", "nonsense"), ("COLUMNS", "-1"), ("TZ", ":/nonsense"), ("LANG", "xx_XX.nonsense"), ("TMPDIR", "/nonsense"),
                            ("LC_ALL", "\u00ff"), ("PMI_RANK", "../../x")):
            with self.subTest(name):
                self.expect(0, "run", "small.json", "-q", "-o", "r%r.out".replace("/", "_"), env=environment(**{name: value}))
        self.assertEqual(self.memsweep("--version", env=environment(MEMSWEEP_COLOR="sometimes")).code, 2)

    def test_many_variables(self):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", env=environment(**{f"V{i}": "x" * 100 for i in range(5000)}))

    def test_called_by_other_names(self):
        from memsweep_cli import BINARY

        self.small()
        (self.folder / "my tool").symlink_to(BINARY)
        done = subprocess.run(["./my tool", "run", "small.json", "-q", "-o", "r.json"], cwd=self.folder, env=environment(), capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(["nothing"], executable=BINARY, cwd=self.folder, env=environment(), capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"memsweep", done.stdout + done.stderr)

    def test_working_directory_that_is_gone(self):
        self.small()
        gone = self.folder / "gone"
        gone.mkdir()
        script = 'cd "$1" && rmdir "$1" && exec "$0" run "$2" -q -o "$3"'
        from memsweep_cli import BINARY

        done = subprocess.run(["bash", "-c", script, BINARY, gone, self.folder / "small.json", self.folder / "r.json"], env=environment(),
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class WorkingFolder(CliTest):
    """Whoever filled the folder that memsweep is started in does not decide what a shipped name means."""

    def test_a_shipped_name_means_what_ships(self):
        planted = {"format": "memsweep-scenario", "version": 1, "name": "churn", "command": {"run": ["touch", "planted"]}}
        for path in ("scenarios/catalog/churn.json", "churn"):
            self.write(path, planted)
        self.write("configs/gates/memory.json", b"not a gate")
        self.expect(0, "validate", "churn")
        self.assertIn("mode=finalizer", self.expect(0, "list", "cases", "churn").text)
        self.expect(0, "run", "churn", "--quick", "-k", "mode=refcount", "-q", "-o", "r.json")
        self.assertFalse((self.folder / "planted").exists())
        self.assertEqual({case["params"]["mode"] for case in self.result()["cases"]}, {"refcount"})
        self.assertNotEqual(self.memsweep("compare", "r.json", "r.json", "--gate", "memory").code, 2)

    def test_a_file_of_a_shipped_name_is_meant_by_its_path(self):
        self.small()
        (self.folder / "small.json").rename(self.folder / "churn")
        self.expect(0, "run", "./churn", "-q", "-o", "r.json")
        self.assertEqual(self.result()["run"]["scenario"]["name"], "small")


class Limits(CliTest):
    def check_ending(self, outcome):
        """A result or a clear error; never a signal, an abort or a trace."""
        self.assertIn(outcome.code, (0, 2, 3, 70, 127), f"\n{outcome}")  # 127: the loader could not even start it
        for word in ("terminate called", "Assertion", "Aborted", "core dumped", "what():", "Sanitizer"):
            self.assertNotIn(word, outcome.errors)
        if outcome.code != 0:
            self.assertTrue(outcome.errors.strip(), "silent failure")
        return outcome.code

    def test_address_space(self):
        if sanitized():
            self.leave_out(self.id(), "sanitizers reserve terabytes of address space")
        self.small()
        least = next(mib for mib in range(2, 64) if self.memsweep("--version", limits=[(resource.RLIMIT_AS, mib * MIB)]).code == 0)
        # At the least itself not even an exception can be thrown.
        codes = {mib: self.check_ending(self.memsweep("run", "small.json", "-q", "-o", f"r{mib}.out", limits=[(resource.RLIMIT_AS, mib * MIB)]))
                 for mib in (least + 1, least + 2, least + 4, least + 6, least + 8, least + 12, least + 24, 256)}
        self.assertEqual(codes[256], 0, codes)
        for mib, code in codes.items():
            if code in (0, 3):
                self.result(f"r{mib}.out")

    def test_address_space_that_ends_in_a_case(self):
        if sanitized():
            self.leave_out(self.id(), "sanitizers reserve terabytes of address space")
        self.small(axes={"size": ["64KiB", "2GiB"]}, steps=[{"op": "alloc", "as": "a", "bytes": "${axis.size}", "touch": "none"}])
        self.expect(3, "run", "small.json", "-q", "-o", "r.json", limits=[(resource.RLIMIT_AS, 1 << 30)])
        small, large = self.result()["cases"]
        self.assertEqual((small["status"], large["status"]), ("ok", "error"))
        self.assertIn("refused", large["reason"])

    def test_large_file_with_little_memory(self):
        if sanitized():
            self.leave_out(self.id(), "sanitizers reserve terabytes of address space")
        self.write("large.json", '{"x-a": [' + ",".join(["[1,2,3]"] * 50_000) + "]}")
        for mib in (16, 20, 24, 32):
            self.check_ending(self.memsweep("validate", "large.json", limits=[(resource.RLIMIT_AS, mib * MIB)]))

    def test_open_files(self):
        self.small(axes={"n": [1, 2]}, repetitions=2, series={"interval": "2ms"}, steps=[alloc(count="${axis.n}"), idle("10ms"), drop()])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--events", "e", limits=[(resource.RLIMIT_NOFILE, 16)])
        self.assertEqual(self.result()["summary"]["ok"], 2)
        for number in range(3, 12):
            code = self.check_ending(self.memsweep("run", "small.json", "-q", "-o", f"r{number}.out", limits=[(resource.RLIMIT_NOFILE, number)]))
            if code == 3:
                for case in self.result(f"r{number}.out")["cases"]:
                    self.assertEqual(case["status"], "error")

    def test_processes(self):
        if os.geteuid() == 0:
            self.leave_out(self.id(), "the number of root's processes is not limited")
        self.small()
        self.check_ending(self.memsweep("run", "small.json", "-q", "-o", "r.json", limits=[(resource.RLIMIT_NPROC, 1)]))

    def test_stack_and_core(self):
        self.small(repetitions=2)
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", limits=[(resource.RLIMIT_STACK, 1 << 20), (resource.RLIMIT_CORE, 0)])
        self.assertEqual(list(self.folder.glob("core*")), [])

    def test_children_that_are_reaped_unseen(self):
        import signal

        self.small(repetitions=2)
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    def test_no_proc(self):
        from memsweep_cli import own_mounts

        why = own_mounts()
        if why:
            self.leave_out(self.id(), why)
        if not pathlib.Path("/proc/self/exe").exists() or shutil.which("unshare") is None:
            self.leave_out(self.id(), "unshare is not installed")
        from memsweep_cli import BINARY

        self.small()

        def said(*words):
            return subprocess.run(["unshare", "-m", "bash", "-c", 'mount -t tmpfs none /proc && exec "$@"', "bash", BINARY, *words], cwd=self.folder,
                                  env=environment(), capture_output=True, text=True, timeout=60, check=False)

        done = said("run", "small.json", "-q", "-o", "r.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("/proc/self/exe", self.result()["cases"][0]["reason"])
        self.assertIn("/proc: is not mounted", said("run", "-o", "p.json", "--", "true").stdout)
        self.assertIn("cannot be read (/proc/meminfo)", said("run", "churn", "-o", "c.json").stdout)
        for words in (["validate", "churn"], ["list", "scenarios"], ["report", "r.json"]):
            self.assertEqual(said(*words).returncode, 0, words)


if __name__ == "__main__":
    unittest.main()
