"""What the fleet tests share: the binaries that are tested, a folder for what they write, and a call whose exit code is judged."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("MEMSWEEP_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BINARY = pathlib.Path(os.environ.get("MEMSWEEP") or SOURCE / "build/release/memsweep").resolve()
MPI = BINARY.with_name("memsweep-mpi")


class FleetCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-fleet-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check_code(self, code, done):
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr[-3000:])
        return done

    def call(self, code, *command):
        return self.check_code(code, subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder))

    def memsweep(self, code, *args):
        return self.call(code, BINARY, *args)
