"""What is made for as long as a process runs goes with it: at a stop signal at once, after SIGKILL at the next start."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from memsweep_cli import BINARY, PATIENCE_S, CliTest, default_signals, environment, event_lines, idle, process_state, scenario

ROWS = "Thread,Time,Action,Pointer,Size,Stream\n" + "".join(f"1,00:00:00.{i:06},allocate,{16 * i + 16},64,0\n" for i in range(500))
RESEMBLING = (".memsweep-.partial", ".memsweep-0123456789abcdef.partial", ".memsweep-0123456789abcdef-0123456789abcdeX.partial",
              ".memsweep-0123456789abcdef-0123456789abcdef.partial.txt", "memsweep-counts-0123456", "memsweep-counts-01234g")


class LeftBehind(CliTest):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.env = environment(TMPDIR=os.fspath(self.temporary))
        self.write("rows.csv", ROWS)

    def launch(self, *argv):
        process = subprocess.Popen([os.fspath(BINARY), *argv], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals, start_new_session=True)
        self.addCleanup(self.end, process, signal.SIGKILL)
        return process

    def end(self, process, number):
        if process.poll() is None:
            os.killpg(process.pid, number)
        return process.wait(PATIENCE_S)

    def wait_until(self, is_so):
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def partial(self, shape=".memsweep-*.partial"):
        return sorted(path.name for path in self.folder.glob(shape))

    def importing(self, name):
        """An import that waits within its log, its trace begun."""
        before = set(self.partial())
        os.mkfifo(self.folder / f"{name}.csv")
        process = self.launch("import", f"{name}.csv", "-o", f"{name}.mst")
        writer = os.open(self.folder / f"{name}.csv", os.O_WRONLY)
        self.addCleanup(os.close, writer)
        os.write(writer, ROWS.encode())
        self.wait_until(lambda: set(self.partial()) - before)
        return process

    def test_stop_signals_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.importing(f"log{number.value}")
                self.assertEqual(self.end(process, number), -number)
                self.assertEqual(self.partial(), [])
                self.assertFalse((self.folder / f"log{number.value}.mst").exists())

    def test_the_next_start_removes_what_a_killed_one_left(self):
        living = self.importing("living")
        held = self.partial()
        killed = self.importing("killed")
        self.assertEqual(self.end(killed, signal.SIGKILL), -signal.SIGKILL)
        self.assertEqual(len(self.partial()), 2)
        self.expect(0, "import", "rows.csv", "-o", "next.mst", "-q", env=self.env)
        self.assertEqual(self.partial(), held, "of the two that of the living process stays")
        self.assertIsNone(living.poll())
        self.end(living, signal.SIGKILL)
        self.expect(0, "export", "next.mst", "-f", "rmm", "-o", "next.csv", env=self.env)
        self.assertEqual(self.partial(), [])

    def test_every_writer_looks(self):
        self.small()
        for result in ("r.json", "s.json"):
            self.expect(0, "run", "small.json", "-q", "-o", result, env=self.env)
        self.expect(0, "import", "rows.csv", "-o", "t.mst", "-q", env=self.env)
        for argv in (("run", "small.json", "-q", "-o", "u.json"), ("report", "r.json", "-f", "html", "-o", "r.html"), ("merge", "r.json", "s.json", "-o", "m.json"),
                     ("fit", "t.mst", "-o", "fit.txt"), ("info", "t.mst", "-o", "info.txt"), ("record", "-q", "-o", "recorded.mst", "--", "true"),
                     ("new", "concat", "-o", "made.json")):
            with self.subTest(argv[0]):
                self.end(self.importing(argv[0]), signal.SIGKILL)
                self.assertEqual(len(self.partial()), 1)
                self.assertIn(self.memsweep(*argv, env=self.env).code, (0, 1))
                self.assertEqual(self.partial(), [])

    def test_what_only_looks_like_it_stays(self):
        for name in RESEMBLING:
            (self.folder / name).write_text("kept")
            (self.temporary / name).write_text("kept")
        (self.folder / "elsewhere").mkdir()
        (self.folder / "elsewhere/kept").write_text("kept")
        shaped = ".memsweep-0123456789abcdef-0123456789abcde{}.partial"
        (self.folder / shaped.format(0)).symlink_to("elsewhere/kept")
        (self.folder / shaped.format(1)).symlink_to("elsewhere")
        os.mkfifo(self.folder / shaped.format(2))
        if os.geteuid() == 0:
            (self.folder / shaped.format(3)).write_text("theirs")
            os.chown(self.folder / shaped.format(3), 65534, 65534)
        before = sorted(os.listdir(self.folder))
        self.expect(0, "import", "rows.csv", "-o", "rows.csv.mst", "-q", env=self.env)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "rows.csv.mst"]))
        self.expect(0, "run", "-q", "--count", "-n", "1", "-o", "r.json", "--", "true", env=self.env)
        self.assertEqual(sorted(os.listdir(self.temporary)), sorted(RESEMBLING))
        self.assertEqual((self.folder / "elsewhere/kept").read_text(), "kept")

    def counts(self):
        return sorted(path.name for path in self.temporary.glob("memsweep-counts-*"))

    def test_folders_of_counts(self):
        # Only the run that is counted sleeps.
        self.write("sleeper.sh", 'if [ -n "$LD_PRELOAD" ]; then exec sleep 1000; fi\n')

        def count(name):
            before = len(self.counts())
            process = self.launch("run", "-q", "--count", "-n", "1", "--warmup", "0", "-o", f"{name}.json", "--", "sh", "sleeper.sh")
            self.wait_until(lambda: len(self.counts()) == before + 1)
            return process

        living = count("living")
        held = self.counts()
        killed = count("killed")
        self.end(killed, signal.SIGKILL)
        self.assertEqual(len(self.counts()), 2)
        self.expect(0, "run", "-q", "--count", "-n", "1", "-o", "r.json", "--", "true", env=self.env)
        self.assertEqual(self.counts(), held, "of the two that of the living process stays")
        self.end(living, signal.SIGTERM)
        self.wait_until(lambda: self.counts() == [])

    def shared(self, process):
        return sorted(path.name for path in pathlib.Path("/dev/shm").glob(f"memsweep-{process}-*"))

    def sharing(self, name):
        document = scenario(name, memory={"resource": "shm"}, steps=[{"op": "alloc", "as": "a", "bytes": "64KiB", "touch": "full"}, idle("1000s")])
        self.write(f"{name}.json", document)
        events = self.folder / f"{name}.events"
        process = self.launch("run", f"{name}.json", "-q", "-o", f"{name}.out", "--timeout", "2000s", "--events", events.name)
        self.wait_until(lambda: any("pid" in event and self.shared(event["pid"]) for event in event_lines(events)))
        return process, next(event["pid"] for event in event_lines(events) if "pid" in event)

    def test_shared_memory(self):
        living, held = self.sharing("living")
        killed, left = self.sharing("killed")
        self.end(killed, signal.SIGKILL)
        self.wait_until(lambda: process_state(left) is None or process_state(left)[0] in "ZX")
        self.assertNotEqual(self.shared(left), [])
        self.write("next.json", scenario("next", memory={"resource": "shm"}))

        def next_start():
            self.expect(0, "run", "next.json", "-q", "-o", "next.out", env=self.env)
            return self.shared(left) == []

        self.wait_until(next_start)  # where nobody takes in the dead its process counts as there for two seconds
        self.assertNotEqual(self.shared(held), [], "that of the living process stays")
        self.end(living, signal.SIGTERM)
        self.wait_until(lambda: self.shared(held) == [])


if __name__ == "__main__":
    unittest.main()
