"""What depends on the processor, for another one: compiled for Arm, and the recorder emulated.

Programs are emulated by qemu-aarch64, which orders memory as this machine does and ignores MADV_WIPEONFORK: what only an Arm processor
can show, and forks, are not judged.
"""

import json
import os
import pathlib
import platform
import shlex
import struct
import subprocess
import unittest

from memsweep_cli import BINARY, SOURCE, environment
from test_record import CALLS, Recording

BUILD = BINARY.parent
COMPILER, EMULATOR, LIBRARIES = "aarch64-linux-gnu-g++", "qemu-aarch64", "/usr/aarch64-linux-gnu"
NEEDED = ((COMPILER, "g++-aarch64-linux-gnu"), (EMULATOR, "qemu-user"))


class OnArm(Recording):
    def setUp(self):
        super().setUp()
        self.need_commands(NEEDED)
        if platform.machine() != "x86_64":
            self.leave_out(self.id(), f"this machine is {platform.machine()}")
        with open(BUILD / "compile_commands.json", encoding="utf-8") as commands:
            self.commands = json.load(commands)

    def compiled(self, target):
        """The objects of one target."""
        commands = [command for command in self.commands if f"/{target}.dir/" in command["command"]]
        self.assertTrue(commands, f"{BUILD}/compile_commands.json says how {target} is compiled")
        return [self.compiled_by(command, command["file"]) for command in commands]

    def compiled_by(self, command, source):
        """The object of a source, by the options of that command of the build."""
        made = self.folder / f"{pathlib.Path(source).stem}.o"
        options = shlex.split(command["command"])[1:]
        options[options.index("-o") + 1] = made
        options[options.index("-c") + 1] = source
        self.call(COMPILER, *options)
        return made

    def call(self, *argv, env=None):
        done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, 0, f"{argv}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")

    def test_the_loops_of_the_probe_are_compiled(self):
        scalar = SOURCE / "core/probe/kernels_scalar.cpp"
        command = next(command for command in self.commands if command["file"] == os.fspath(scalar))
        for source in (scalar, scalar.with_name("kernels_neon.cpp")):
            with self.subTest(source.name):
                self.compiled_by(command, source)

    def test_every_call_is_recorded(self):
        shared = ("-shared", "-Wl,-z,defs")
        self.call(COMPILER, *shared, "-o", "recorder.so", *self.compiled("memsweep_record"), "-nodefaultlibs", "-lc", "-lgcc", "-ldl")
        self.call(COMPILER, *shared, "-o", "counter.so", *self.compiled("memsweep_count_calls"))
        self.call(COMPILER, "-o", "program", *self.compiled("recorded_program"))
        libraries = f"LD_PRELOAD={self.folder}/recorder.so:{self.folder}/counter.so"
        for arguments in (("calls",), ("threads", "3")):
            with self.subTest(arguments):
                recording, counts = self.folder / "t.mst.recording", self.folder / "counts"
                recording.mkdir()
                counts.write_bytes(bytes(4096))
                self.call(EMULATOR, "-L", LIBRARIES, "-E", libraries, self.folder / "program", *arguments,
                          env=environment(MEMSWEEP_RECORD=os.fspath(recording), COUNT_CALLS=os.fspath(counts)))
                self.expect(0, "record", "--recover", recording, "-o", self.trace)
                recorded = self.info()["by_kind"]
                called = dict(zip(CALLS, struct.unpack(f"{len(CALLS)}Q", counts.read_bytes()[:8 * len(CALLS)])))
                self.assertEqual({name: recorded.get(name, 0) for name in CALLS}, called)
                self.assertGreater(sum(called.values()), 20)
                self.trace.unlink()


if __name__ == "__main__":
    unittest.main()
