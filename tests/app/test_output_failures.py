"""Full disks, read-only folders, closed pipes, one file named twice: found before measuring where that is possible, and never paid
for with a result."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from memsweep_cli import BINARY, MIB, CliTest, alloc, default_signals, drop, environment, event_lines, idle, scenario


class OutputTest(CliTest):
    def setUp(self):
        super().setUp()
        self.refuge = self.folder / "refuge"
        self.refuge.mkdir()
        self.env = environment(TMPDIR=str(self.refuge))

    def expect_nothing_run(self, *args, **options):
        outcome = self.expect(2, "run", *args, "--events", os.fspath(self.folder / "events"), env=self.env, **options)
        self.assertEqual(outcome.out, b"")
        self.assertRegex(outcome.errors, r"^memsweep: error: ")
        self.assertFalse((self.folder / "events").exists(), f"something was run\n{outcome}")
        return outcome

    def saved_in_refuge(self, outcome):
        saved = list(self.refuge.iterdir())
        self.assertEqual(len(saved), 1, f"the result was saved nowhere\n{outcome}")
        self.assertIn(str(saved[0]), outcome.errors, "stderr says where the result is")
        return self.result(saved[0])


class FullDisk(OutputTest):
    def fill(self, disk):
        with open(disk / "filler", "ab", buffering=0) as filler:
            for size in (MIB, 4096, 1):
                try:
                    while True:
                        filler.write(bytes(size))
                except OSError:
                    continue
        free = os.statvfs(disk)
        self.assertEqual(free.f_bavail, 0, "the disk is full")

    def test_found_before_measuring(self):
        disk = self.new_tmpfs("2m")
        self.small()
        self.fill(disk)
        outcome = self.expect_nothing_run("small.json", "-o", "disk/r.json")
        self.assertIn("disk/r.json", outcome.errors)
        self.assertIn("No space left", outcome.errors)
        outcome = self.expect_nothing_run("small.json", "-o", "r.json", "-r", "html=disk/r.html")
        self.assertIn("disk/r.html", outcome.errors)
        self.assertEqual(os.listdir(disk), ["filler"])

    def test_found_before_measuring_keeps_the_earlier_result(self):
        disk = self.new_tmpfs("2m")
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "disk/r.json")
        before = (disk / "r.json").read_bytes()
        self.fill(disk)
        self.expect_nothing_run("small.json", "-o", "disk/r.json")
        self.assertEqual((disk / "r.json").read_bytes(), before)

    def fill_while_running(self, with_earlier):
        disk = self.new_tmpfs("3m")
        self.small(axes={"n": [1, 2, 3]}, steps=[alloc(count="${axis.n}"), idle("300ms"), drop()])
        if with_earlier:
            self.expect(0, "run", "small.json", "-q", "-o", "disk/r.json")
        before = (disk / "r.json").read_bytes() if with_earlier else None
        driver = self.start("small.json", "-q", "-o", "disk/r.json", env=self.env)
        driver.wait_for("case_start")
        self.fill(disk)
        outcome = driver.finish()
        self.assertEqual(outcome.code, 2, f"\n{outcome}")
        self.assertIn("No space left", outcome.errors)
        said = [line for line in outcome.errors.splitlines() if "No space left" in line]
        self.assertLessEqual(len(said), 2, f"once while running and once at the end\n{outcome}")
        result = self.saved_in_refuge(outcome)
        self.assertEqual([(case["status"], case["repetitions"]) for case in result["cases"]], [("ok", 1)] * 3)
        if with_earlier:
            self.assertEqual((disk / "r.json").read_bytes(), before, "the earlier result is damaged")
        else:
            self.assertFalse((disk / "r.json").exists(), "half a file")
        self.assertEqual([path.name for path in disk.glob(".memsweep*")], [], "temporary files stay on the full disk")
        self.assertNotIn("result: disk/r.json", outcome.errors, "claims a result that is not there")

    def test_that_fills_during_the_run(self):
        self.fill_while_running(with_earlier=False)

    def test_that_fills_during_the_run_with_an_earlier_result(self):
        self.fill_while_running(with_earlier=True)

    def test_that_has_room_again_before_the_end(self):
        disk = self.new_tmpfs("3m")
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), idle("500ms"), drop()])
        driver = self.start("small.json", "-q", "-o", "disk/r.json", env=self.env)
        driver.wait_for("case_start")
        self.fill(disk)
        driver.wait_for("case_start", case="small/n=2")
        (disk / "filler").unlink()
        outcome = driver.finish()
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        self.assertEqual(self.result("disk/r.json")["summary"]["ok"], 2)

    def test_events_on_a_full_disk_do_not_stop_the_run(self):
        self.small()
        outcome = self.memsweep("run", "small.json", "-q", "-o", "r.json", "--events", "/dev/full")
        self.assertEqual(outcome.code, 2, f"\n{outcome}")
        self.assertIn("cannot write events", outcome.errors)
        self.assertEqual(self.result()["summary"]["ok"], 1)

    def test_dev_full(self):
        self.small()
        outcome = self.expect(2, "run", "small.json", "-q", "-o", "/dev/full", env=self.env)
        self.assertIn("/dev/full: cannot write: No space left", outcome.errors)
        self.assertEqual(self.saved_in_refuge(outcome)["summary"]["ok"], 1)
        self.assertNotIn("result: /dev/full", outcome.errors, "claims a result that is not there")

    def test_reports_on_dev_full(self):
        self.small()
        outcome = self.expect(2, "run", "small.json", "-q", "-o", "r.json", "-r", "csv=/dev/full")
        self.assertIn("/dev/full", outcome.errors)
        self.assertNotIn("csv report: /dev/full", outcome.errors, "claims a report that is not there")
        self.assertEqual(self.result()["summary"]["ok"], 1)
        self.assertIn("/dev/full", self.expect(2, "report", "r.json", "-f", "html", "-o", "/dev/full").errors)

    def test_a_file_size_limit(self):
        import resource

        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        outcome = self.memsweep("run", "small.json", "-q", "-o", "r.json", limits=[(resource.RLIMIT_FSIZE, 4096)], env=self.env)
        self.assertEqual(outcome.code, 2, f"no signal, an error\n{outcome}")
        self.assertIn("r.json", outcome.errors)

    def test_messages_that_a_file_has_no_room_for(self):
        import resource

        self.small()
        for limit in (0, 1, 50):
            with (self.folder / "errors").open("wb") as errors:
                done = subprocess.run([BINARY, "run", "small.json", "-q", "-o", "r.json"], cwd=self.folder, stderr=errors, env=self.env, check=False,
                                      preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 2)


class ReadOnly(OutputTest):
    def read_only_folder(self):
        """Root may write in any folder but that of a file system mounted read-only."""
        if os.geteuid() != 0:
            folder = self.folder / "disk"
            folder.mkdir()
            self.make_files(folder)
            folder.chmod(0o555)
            self.addCleanup(folder.chmod, 0o755)
            return folder
        folder = self.new_tmpfs("4m")
        self.make_files(folder)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        return folder

    def make_files(self, folder):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", os.fspath(folder / "earlier.json"))

    def test_folder(self):
        folder = self.read_only_folder()
        before = (folder / "earlier.json").read_bytes()
        for name in ("r.json", "earlier.json", "new/r.json"):
            with self.subTest(name):
                outcome = self.expect_nothing_run("small.json", "-o", f"disk/{name}")
                self.assertRegex(outcome.errors, f"disk/{name}: .*(Read-only|denied)")
        self.expect_nothing_run("small.json", "-o", "r.json", "-r", "csv=disk/r.csv")
        self.assertEqual(os.listdir(folder), ["earlier.json"])
        self.assertEqual((folder / "earlier.json").read_bytes(), before)

    def test_working_directory_with_the_default_name(self):
        folder = self.read_only_folder()
        outcome = self.expect_nothing_run(os.fspath(self.folder / "small.json"), cwd=folder)
        self.assertRegex(outcome.errors, "results.*(Read-only|denied)")
        self.expect(0, "run", os.fspath(self.folder / "small.json"), "-o", os.fspath(self.folder / "r.json"), cwd=folder)

    def test_file_that_is_a_link(self):
        self.small()
        real = self.folder / "real"
        real.mkdir()
        (self.folder / "link.json").symlink_to(real / "r.json")
        self.expect(0, "run", "small.json", "-q", "-o", "link.json")
        self.assertTrue((self.folder / "link.json").is_symlink(), "a link is followed, not replaced")
        self.assertEqual(self.result("real/r.json")["summary"]["ok"], 1)


class ClosedOutput(OutputTest):
    """A reader that has gone, or descriptors that were never open, must neither crash nor hang it, nor cost the result."""

    def setUp(self):
        super().setUp()
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])

    def shell(self, command):
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}", "bash", os.fspath(BINARY)], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, preexec_fn=default_signals)
        self.assertNotIn(b"internal error", done.stderr, command)
        return done

    def test_reader_that_leaves(self):
        for command in ('"$1" run small.json -o r.json | head -1', '"$1" run small.json -o r.json -r html | head -c 1',
                        '"$1" run small.json -o r.json -r json | true'):
            with self.subTest(command):
                done = self.shell(command)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertEqual(self.result()["summary"]["ok"], 2)
        for command in ("--help", "list ops --json", "schema result", "report r.json -f html", "run small.json --dry-run"):
            with self.subTest(command):
                done = self.shell(f'"$1" {command} | true')
                self.assertIn(done.returncode, (0, 2))
                self.assertEqual(done.stderr, b"", "a reader that has what it wanted is no error to tell")

    def test_result_on_stdout_that_nobody_reads(self):
        done = self.shell('"$1" run small.json -o - | true')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"cannot write to standard output", done.stderr)

    def test_result_on_stdout_finds_a_refuge(self):
        for name, redirection in (("closed", ">&-"), ("full", "> /dev/full"), ("nobody reads", "| true")):
            with self.subTest(name):
                done = self.shell(f'"$1" run small.json -q -o - {redirection}')
                self.assertEqual(done.returncode, 2, done.stderr)
                saved = list(self.refuge.iterdir())
                self.assertEqual(len(saved), 1, f"the result was saved nowhere: {done.stderr.decode()}")
                self.assertIn(str(saved[0]), done.stderr.decode())
                self.assertEqual(self.result(saved[0])["summary"]["ok"], 2)
                saved[0].unlink()

    def test_data_on_a_closed_stdout(self):
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        for command in ("report r.json -f html", "report r.json -f json", "merge r.json -o -", "compare r.json r.json", "list ops",
                        "--version", "--help", "run --help", "validate small.json", "schema result"):
            for redirection in (">&-", "> /dev/full"):
                with self.subTest(command, redirection=redirection):
                    done = self.shell(f'"$1" {command} {redirection}')
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(b"cannot write to standard output", done.stderr)

    def test_descriptors_that_are_not_open(self):
        for redirection in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(redirection):
                done = self.shell(f'"$1" run small.json -o r.json -r csv=r.csv --events e {redirection}')
                self.assertIn(done.returncode, (0, 2), f"{redirection}: {done.stderr.decode()}")
                self.assertEqual(self.result()["summary"]["ok"], 2)
                self.assertTrue((self.folder / "r.csv").read_text().startswith("run_id,"), "another text got into the report")
                foreign = [line for line in (self.folder / "e").read_text().splitlines() if not line.startswith("{")]
                self.assertEqual(foreign, [], "other output got into the events")
                self.assertEqual(event_lines(self.folder / "e")[-1]["type"], "run_end")

    def test_full_stdout(self):
        for command in ("--version --json", "list metrics", "schema scenario", "validate small.json", "run small.json --dry-run",
                        "run small.json -o r.json", "--version"):
            with self.subTest(command):
                done = self.shell(f'"$1" {command} > /dev/full')
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(b"cannot write to standard output", done.stderr)

    def test_stderr_that_nobody_reads(self):
        done = self.shell('"$1" run small.json -o r.json 2> >(true) > /dev/null')
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.result()["summary"]["ok"], 2)


class BlockedOutput(OutputTest):
    """Output that nobody takes in waits for a reader, and a signal ends the waiting; what was measured finds a refuge."""

    def setUp(self):
        super().setUp()
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        os.mkfifo(self.folder / "pipe")

    def stop(self, argv, number, code, stdout=subprocess.DEVNULL):
        process = subprocess.Popen([BINARY, *argv], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=subprocess.PIPE, preexec_fn=default_signals)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if self.has_measured():
                break
            time.sleep(0.05)
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "did not wait for a reader")
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.fail(f"{argv} ignores signal {number}")
        self.assertEqual(process.returncode, code, said.decode())
        return said.decode()

    def has_measured(self):
        """Whether all that is left is writing."""
        return any(event["type"] == "case_end" and event["case"] == "small/n=2" for event in event_lines(self.folder / "events"))

    def test_result_to_a_pipe_without_a_reader(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 130)):
            with self.subTest(number):
                said = self.stop(["run", "small.json", "-q", "-o", "pipe", "--events", "events"], number, code)
                saved = list(self.refuge.iterdir())
                self.assertEqual(len(saved), 1, said)
                self.assertIn(str(saved[0]), said)
                self.assertEqual(self.result(saved[0])["summary"]["ok"], 2)
                saved[0].unlink()
                (self.folder / "events").unlink()

    def test_result_on_a_stdout_that_nobody_empties(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        os.set_blocking(write_end, False)
        try:
            while True:
                os.write(write_end, bytes(4096))
        except BlockingIOError:
            os.set_blocking(write_end, True)
        try:
            said = self.stop(["run", "small.json", "-q", "-o", "-", "--events", "events"], signal.SIGTERM, 143, stdout=write_end)
        finally:
            os.close(write_end)
        self.assertEqual(len(list(self.refuge.iterdir())), 1, said)

    def test_other_commands_end_too(self):
        for argv, kept, files, code in ((["watch", "-o", "pipe", "--", "true"], self.refuge, 1, 143),
                                        (["probe", "topology", "-q", "-o", "pipe"], self.refuge, 1, 143),
                                        (["record", "-o", "pipe", "--", "true"], self.folder / "pipe.recording", 4, 2)):
            with self.subTest(argv[0]):
                process = subprocess.Popen([BINARY, *argv], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, preexec_fn=default_signals)
                self.addCleanup(process.kill)
                self.wait_for_held_signals(process)
                process.send_signal(signal.SIGTERM)
                _, said = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, said)
                self.assertEqual(len(list(kept.iterdir())), files, said)
                self.assertIn(str(kept), said.decode())
                for file in kept.iterdir():
                    file.unlink()

    def wait_for_held_signals(self, process):
        """Until it takes SIGTERM itself and no program of its own runs any more."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "did not wait for a reader")
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8", errors="replace")
            held = int(re.search(r"^SigBlk:\s*(\w+)$", status, re.MULTILINE).group(1), 16)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
            if held >> (signal.SIGTERM - 1) & 1 and not children:
                break
            time.sleep(0.05)
        time.sleep(0.5)

    def test_a_signal_that_came_before_there_was_anything_to_write(self):
        """It ends the measuring, and then the waiting for a reader too."""
        self.small("long", steps=[alloc(), idle("20s"), drop()], axes={"n": [1, 2]})
        driver = self.start("long.json", "-q", "-o", "pipe", env=self.env)
        driver.wait_for("case_start")
        driver.send(signal.SIGTERM)
        outcome = driver.finish(60)
        self.assertEqual(outcome.code, 143, outcome)
        self.assertTrue(self.saved_in_refuge(outcome)["run"]["interrupted"])

    def test_a_reader_that_comes_late(self):
        driver = self.start("small.json", "-q", "-o", "pipe", env=self.env)
        driver.wait_for("case_end", case="small/n=2")
        time.sleep(0.3)
        self.result((self.folder / "pipe").read_bytes())
        self.assertEqual(driver.finish().code, 0)


class OneFileTwice(OutputTest):
    """Two outputs of one file, or an output on an input: refused before anything is measured, whatever the names look like."""

    def setUp(self):
        super().setUp()
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        self.expect(0, "run", "small.json", "-q", "-o", "s.json")
        os.link(self.folder / "r.json", self.folder / "same.json")
        (self.folder / "link.json").symlink_to("r.json")
        (self.folder / "dangling.json").symlink_to("new.json")

    def refused(self, *args):
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        outcome = self.expect(2, *args, env=self.env)
        self.assertRegex(outcome.errors, "same file", f"\n{outcome}")
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(after, before)

    def test_outputs_of_a_run(self):
        for outputs in (("-o", "a.json", "-r", "html=./a.json"), ("-o", "a.json", "--events", "a.json"), ("-o", "a.json", "--events", "./a.json"),
                        ("-o", "a.json", "-r", "csv=b", "-r", "md=b"), ("-o", "r.json", "-r", "html=same.json"),
                        ("-o", "r.json", "-r", "html=link.json"), ("-o", "new.json", "-r", "html=dangling.json"),
                        ("-o", os.fspath(self.folder / "a.json"), "-r", "html=a.json"), ("-o", "small.json"),
                        ("-o", "a.json", "-r", "csv=small.json"), ("-o", "a.json", "--events", "small.json")):
            with self.subTest(outputs):
                self.refused("run", "small.json", "-q", *outputs)

    def test_outputs_on_inputs(self):
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:00.000001,allocate,0x10,64,0\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst")
        (self.folder / "log2.csv").symlink_to("log.csv")
        os.link(self.folder / "t.mst", self.folder / "t2.mst")
        for args in (("report", "r.json", "-f", "html", "-o", "r.json"), ("report", "r.json", "-f", "html", "-o", "same.json"),
                     ("compare", "r.json", "s.json", "-o", "s.json"), ("import", "log.csv", "-o", "log.csv"), ("import", "log.csv", "-o", "log2.csv"),
                     ("export", "t.mst", "-f", "rmm", "-o", "t.mst"), ("fit", "t.mst", "-f", "html", "-o", "t2.mst"),
                     ("replay", "t.mst", "--on", "glibc", "-n", "1", "-o", "t2.mst")):
            with self.subTest(args):
                self.refused(*args)

    def test_devices_are_no_files(self):
        self.expect(0, "run", "small.json", "-q", "-o", "/dev/null", "-r", "html=/dev/null", "-r", "csv=/dev/null")


class ForeignJournal(OutputTest):
    """What memsweep did not write under the name of its journal is neither added to, read nor removed."""

    def setUp(self):
        super().setUp()
        self.small(steps=[alloc(), idle("1ms"), drop()])

    def check_run(self):
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "-n", "20", env=self.env)
        self.assertEqual([case["repetitions"] for case in self.result()["cases"]], [20])

    def test_notes(self):
        notes = self.folder / "r.json.journal"
        for text in (b"notes of somebody\n", b"7 notes\n", b"\0" * 200):
            notes.write_bytes(text)
            self.check_run()
            self.assertEqual(notes.read_bytes(), text)

    def test_a_pipe_and_a_folder(self):
        for make in (os.mkfifo, os.mkdir):
            make(self.folder / "r.json.journal")
            self.check_run()
            self.assertTrue((self.folder / "r.json.journal").exists())
            (os.rmdir if make is os.mkdir else os.unlink)(self.folder / "r.json.journal")


class Planted(OutputTest):
    """In a sticky folder where everybody writes, nothing is written through what somebody else has put there."""

    NOBODY = 65534

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.leave_out(self.id(), "only root can make another user's files")
        self.folder.chmod(0o755)
        self.small()
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:00.000001,allocate,0x10,64,0\n")
        self.expect(0, "run", "small.json", "-q", "-o", "good.json")
        self.expect(0, "run", "small.json", "-q", "-o", "other.json")
        self.expect(0, "import", "log.csv", "-o", "good.mst")
        self.victim = self.folder / "victim"
        self.victim.write_bytes(b"")
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)

    def plant(self, kind, name="out.json"):
        path = self.shared / name
        if kind == "link":
            path.symlink_to(self.victim)
        elif kind == "dangling":
            path.symlink_to(self.folder / "made")
        elif kind == "file":
            path.write_bytes(b"theirs")
        else:
            os.mkfifo(path)
        os.lchown(path, self.NOBODY, self.NOBODY)
        return path

    def commands(self, out):
        return {"run": ("run", "small.json", "-q", "-o", out), "a report of a run": ("run", "small.json", "-q", "-o", "r.json", "-r", f"html={out}"),
                "events": ("run", "small.json", "-q", "-o", "r.json", "--events", out), "report": ("report", "good.json", "-f", "html", "-o", out),
                "merge": ("merge", "good.json", "other.json", "-o", out), "import": ("import", "log.csv", "-o", out),
                "export": ("export", "good.mst", "-f", "rmm", "-o", out), "info": ("info", "good.mst", "-f", "html", "-o", out),
                "record": ("record", "-q", "-o", out, "--", "true"), "new": ("new", "concat", "-o", out),
                "probe": ("probe", "topology", "-o", out)}

    def test_every_command(self):
        for kind in ("link", "dangling", "file", "pipe"):
            for name, argv in self.commands("shared/out.json").items():
                with self.subTest(name, kind=kind):
                    planted = self.plant(kind)
                    try:
                        self.check_refused(argv, name != "new" or kind == "dangling")  # it writes over nothing anyway
                        if kind == "file":
                            self.assertEqual(planted.read_bytes(), b"theirs")
                    finally:
                        planted.unlink()
                        self.victim.write_bytes(b"")

    def check_refused(self, argv, names_owner):
        outcome = self.memsweep(*argv, env=self.env, timeout=60)
        self.assertEqual(outcome.code, 2, f"\n{outcome}")
        if names_owner:
            self.assertIn(f"of user {self.NOBODY}", outcome.errors, f"\n{outcome}")
        self.assertEqual(self.victim.read_bytes(), b"")
        self.assertFalse((self.folder / "made").exists())
        self.assertEqual([path.name for path in self.shared.iterdir()], ["out.json"])

    def test_journal(self):
        path = self.plant("link", "r.json.journal")
        slow = ("run", "small.json", "-q", "-o", "shared/r.json", "-n", "20")
        self.expect(0, *slow, env=self.env)
        self.assertEqual(self.victim.read_bytes(), b"")
        self.assertTrue(path.is_symlink())

    def test_output_of_a_program(self):
        self.plant("link", "said")
        self.write("said.json", scenario("said", command={"argv": ["echo", "hello"], "stdout": os.fspath(self.shared / "said")}, steps=[]))
        self.memsweep("run", "said.json", "-q", "-o", "r.json", env=self.env)
        self.assertEqual(self.victim.read_bytes(), b"")

    def test_own_links_go_on_working(self):
        (self.shared / "out.json").symlink_to(self.victim)
        self.expect(0, "run", "small.json", "-q", "-o", "shared/out.json", env=self.env)
        self.assertTrue((self.shared / "out.json").is_symlink())
        self.assertEqual(self.result("victim")["summary"]["ok"], 1)


if __name__ == "__main__":
    unittest.main()
