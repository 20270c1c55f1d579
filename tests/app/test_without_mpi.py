"""A build that finds no MPI is the same memsweep, without memsweep-mpi; and memsweep itself never links MPI."""

import json
import re
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, sanitized

MPI = BINARY.with_name("memsweep-mpi")


class WithoutMpi(CliTest):
    def setUp(self):
        super().setUp()
        if sanitized():
            self.leave_out(self.id(), "what is configured does not depend on sanitizers")

    def targets(self, name, *options):
        """What CMake would build: every target's sources, compile flags and link line, without the paths of the build."""
        folder = self.folder / name
        query = folder / ".cmake/api/v1/query"
        query.mkdir(parents=True)
        (query / "codemodel-v2").touch()
        done = subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options], capture_output=True, text=True,
                              check=False, env=environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        reply = folder / ".cmake/api/v1/reply"
        (model,) = (json.loads(path.read_text()) for path in reply.glob("codemodel-v2-*.json"))
        found = {}
        for entry in model["configurations"][0]["targets"]:
            target = json.loads((reply / entry["jsonFile"]).read_text())
            if target["type"] != "UTILITY":
                parts = {part: target.get(part) for part in ("compileGroups", "link", "archive")}
                found[target["name"]] = re.sub(r"\b[0-9a-f]{7,}\b", "", json.dumps(parts).replace(str(folder), "BUILD"))
        return found

    def test_the_same_targets_but_one(self):
        if shutil.which("cmake") is None:
            self.leave_out(self.id(), "cmake is not installed")
        without = self.targets("without", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
        self.assertIn("memsweep", without)
        self.assertNotIn("memsweep-mpi", without)
        self.assertEqual([name for name, parts in without.items() if re.search(r"libmpi|openmpi|mpich", parts)], [])
        found = self.targets("found")
        if "memsweep-mpi" not in found:
            self.leave_out(f"{self.id()}: the targets with MPI", "MPI was not found")
        self.assertEqual(set(found) - set(without), {"memsweep-mpi"})
        for name, parts in without.items():
            self.assertEqual(parts, found[name], name)

    def test_memsweep_links_no_mpi(self):
        if shutil.which("ldd") is None:
            self.leave_out(self.id(), "ldd is not installed")
        linked = {}
        for path in (BINARY, BINARY.with_name("libmemsweep_record.so"), MPI):
            if path.exists():
                linked[path.name] = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for name in ("memsweep", "libmemsweep_record.so"):
            self.assertIn("libc.so", linked[name])
            self.assertNotRegex(linked[name], r"libmpi|libopen-|libmpich|libpmi")
        if "memsweep-mpi" in linked:
            self.assertRegex(linked["memsweep-mpi"], r"libmpi")


if __name__ == "__main__":
    unittest.main()
