"""Counting without a log: every call and byte of every process, whatever becomes of the program."""

import json
import os
import shutil
import signal
import struct
import subprocess
import unittest

from memsweep_cli import BINARY, CliTest, environment

BUILD = BINARY.parent
PROGRAM = BUILD / "recorded_program"
SHARDS = 64


class Image:
    def __init__(self, path):
        data = path.read_bytes()
        magic, version, self.process, self.foreign = struct.unpack_from("4I", data)
        assert (magic, version) == (0x544E434D, 4), path
        self.live, self.peak = struct.unpack_from("2Q", data, 64)
        self.lost, self.address_limit = struct.unpack_from("2Q", data, 128)
        shards = [struct.unpack_from("2Q", data, 192 + 64 * i) for i in range(SHARDS)]
        self.allocations = sum(shard[0] for shard in shards)
        self.bytes = sum(shard[1] for shard in shards)


class CountedPrograms(CliTest):
    def count(self, *command, code=0, library=""):
        """`library`: an allocator that is preloaded behind the recorder."""
        folder = self.folder / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        recorder = os.fspath(BUILD / "libmemsweep_record.so")
        variables = environment(LD_PRELOAD=f"{recorder}:{os.fspath(library)}" if library else recorder,
                                MEMSWEEP_RECORD=os.fspath(folder), MEMSWEEP_RECORD_OPTIONS="count")
        outcome = subprocess.run([os.fspath(part) for part in command], env=variables, cwd=self.folder, capture_output=True,
                                 timeout=120)
        self.assertEqual(outcome.returncode, code, outcome)
        self.assertEqual([path.name for path in folder.glob("*.refused")], [])
        return [Image(path) for path in sorted(folder.glob("*.count"))]

    def count_one(self, *command, code=0):
        images = self.count(*command, code=code)
        self.assertEqual(len(images), 1)
        self.assertEqual(images[0].lost, 0)
        return images[0]


class Counting(CountedPrograms):
    def test_every_function(self):
        start = self.count_one(PROGRAM, "exits", code=3)
        calls = self.count_one(PROGRAM, "calls")
        live = 16 * 8 + 1000 + 5000 + 300 + 64 + 128 + 256 + 4096 + 4096 + 8000
        self.assertEqual(calls.peak - (start.peak - 1234), live)
        again = self.count_one(PROGRAM, "calls")
        self.assertEqual(vars(again) | {"process": 0}, vars(calls) | {"process": 0}, "it repeats to the last digit")

    def test_it_agrees_with_a_recording(self):
        trace = self.folder / "t.mst"
        self.expect(0, "record", "-o", trace, "--", PROGRAM, "calls")
        info = json.loads(self.expect(0, "info", trace, "--json").out)
        counted = self.count_one(PROGRAM, "calls")
        self.assertEqual(counted.peak, info["peak_live_bytes"])
        self.assertEqual(counted.live, info["end_live_bytes"])
        self.assertEqual(counted.bytes, info["bytes_allocated"])

    def test_threads(self):
        one = self.count_one(PROGRAM, "threads", "6")
        other = self.count_one(PROGRAM, "threads", "6")
        self.assertGreater(one.allocations, 3 * 6 * 20_000)
        self.assertEqual((one.allocations, one.bytes, one.live), (other.allocations, other.bytes, other.live))

    def test_children_answer_for_their_own_blocks(self):
        images = self.count(PROGRAM, "fork")
        self.assertEqual(len(images), 5)
        parent = max(images, key=lambda image: image.allocations)
        children = [image for image in images if image is not parent]
        self.assertEqual({image.live for image in children}, {77})
        self.assertEqual(len({image.allocations for image in children}), 1)

    def test_programs_that_follow_in_one_process(self):
        images = self.count(PROGRAM, "exec")
        self.assertGreater(len(images), len({image.process for image in images}), "a process has an image for each program")

    def test_handlers(self):
        for way in ("signals", "handler_forks"):
            with self.subTest(way):
                self.assertGreater(sum(image.allocations for image in self.count(PROGRAM, way)), 10_000)

    def test_a_killed_program(self):
        for number in (signal.SIGSEGV, signal.SIGKILL):
            with self.subTest(number):
                image = self.count_one(PROGRAM, "loop", "50000", str(int(number)), code=-number)
                self.assertGreaterEqual(image.allocations, 50_000)

    def test_descriptors_and_limits_are_the_programs(self):
        self.count_one(PROGRAM, "closes")
        self.count_one(PROGRAM, "limits")

    def test_a_limit_of_addresses_is_told(self):
        self.assertEqual(self.count_one(PROGRAM, "calls").address_limit, 0)
        limited = f"ulimit -v 2000000; exec {PROGRAM} calls"
        self.assertEqual(self.count("sh", "-c", limited)[-1].address_limit, 2_000_000 << 10)
        self.expect(0, "run", "-q", "--count", "-n", "1", "-o", "r.json", "--", "sh", "-c", limited)
        report = self.expect(0, "report", "r.json")
        self.assertRegex(" ".join(report.text.split()), r"counted while its addresses were limited \(RLIMIT_AS\) to 2000000KiB")
        self.expect(0, "run", "-q", "--count", "-n", "1", "-o", "r.json", "--", PROGRAM, "calls")
        self.assertNotIn("RLIMIT_AS", self.expect(0, "report", "r.json").text)

    def test_what_cannot_be_counted(self):
        self.assertEqual(self.count(BUILD / "recorded_static"), [])
        self.assertEqual(self.count_one(BUILD / "recorded_own_malloc").foreign, 1)


if __name__ == "__main__":
    unittest.main()
