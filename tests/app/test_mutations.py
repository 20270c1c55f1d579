"""Broken and hostile scenario files: an answer or a list of errors, never a signal, a hang or a gigabyte."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from memsweep_cli import BINARY, CATALOG, MIB, SOURCE, CliTest, environment, sanitized, scenario, seed

MUTATIONS = 200
MOST_SECONDS = 10  # of processor time
PATIENCE_S = 300  # with a hang; a machine with ten times too much to do needs a minute for what takes two seconds
MOST_BYTES = 1 << 30

TOKENS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"/*", b"//", b"\0", b"\xff", b"\xc3", b"\xf0\x9f", b"\xef\xbb\xbf",
          b"null", b"true", b"NaN", b"-1", b"-0", b"1e999", b"0.1", b"9" * 400, b"18446744073709551616", b'"8M"', b'"1TiB"', b'"${"', b'"${axis.mode}"',
          b'"${env:PATH}"', b'"$schema"', b'"steps":', b'"axes": {"z": {"from": 1, "to": 1000000000, "step": 1}},', b'"x-" : [[[[]]]],',
          b'{"op":"repeat","times":1000000000,"steps":[{"op":"sample","name":"s"}]},', b"A" * 70_000]


def mutated(rng, data):
    """`data` with one to four things done to it."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        end = min(end, at + rng.choice((1, 3, 20, 400)))
        kind = rng.randrange(7)
        if kind == 0 and data:  # flip bits
            at = rng.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:end] + data[at:end] * rng.choice((1, 2, 50)) + data[end:]
        elif kind == 3:
            data = data[:at] + rng.choice(TOKENS) + data[at:]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:  # another number
            numbers = list(re.finditer(rb"\d+", data))
            if numbers:
                where = rng.choice(numbers)
                data = data[:where.start()] + rng.choice((b"0", b"1", b"4294967296", b"9223372036854775808", b"1e9", b"100000")) + data[where.end():]
        else:  # two words change places
            words = list(re.finditer(rb'"[^"]*"', data))
            if len(words) > 1:
                first, second = sorted(rng.sample(words, 2), key=lambda word: word.start())
                data = data[:first.start()] + second.group() + data[first.end():second.start()] + first.group() + data[second.end():]
    return data


class Validation(CliTest):
    def validate(self, name, stdin=None, **variables):
        """Exit status, stderr, seconds and bytes of one `validate`, and what must be true of them all."""
        with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
            begin = time.monotonic()
            process = subprocess.Popen([BINARY, "validate", name], cwd=self.folder, env=environment(**variables), stdout=out, stderr=err,
                                       stdin=subprocess.DEVNULL if stdin is None else stdin)
            watchdog = signal.signal(signal.SIGALRM, lambda *_: process.kill())
            signal.alarm(PATIENCE_S)
            try:
                _, status, usage = os.wait4(process.pid, 0)
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, watchdog)
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            out.seek(0)
            said = err.read()
        self.assertIn(process.returncode, (0, 2), f"after {time.monotonic() - begin:.1f} s: {said[:2000]}")
        self.assertLess(usage.ru_utime + usage.ru_stime, MOST_SECONDS)
        if not sanitized():
            self.assertLess(usage.ru_maxrss << 10, MOST_BYTES)
        self.assertLess(len(said), MIB, "a flood of errors")
        if process.returncode == 2:
            self.assertRegex(said, rb"(?m)^[^:\n]*(:\d+:\d+)?: .")
            self.assertNotIn(b"internal error", said)
        else:
            self.assertEqual(said, b"")
        return process.returncode, said

    def keep(self, name):
        """What failed, for whoever looks into it."""
        kept = pathlib.Path(tempfile.gettempdir()) / f"memsweep-mutation-{os.getpid()}-{name}"
        shutil.copy(self.folder / name, kept)
        return kept

    def test_200_mutations_of_the_catalog(self):
        rng = random.Random(seed("mutations"))
        shutil.copytree(SOURCE / "configs", self.folder / "configs")
        catalog = self.folder / "scenarios/catalog"
        catalog.mkdir(parents=True)
        files = sorted(CATALOG.glob("*.json"))
        refused = 0
        for number in range(MUTATIONS):
            original = rng.choice(files)
            name = f"scenarios/catalog/{number}.json"
            self.write(name, mutated(rng, original.read_bytes()))
            try:
                code, said = self.validate(name)
                refused += code == 2
                if code == 2:
                    self.assertIn(os.fsencode(f"{number}.json"), said)
            except AssertionError as failure:
                raise AssertionError(f"mutation {number} of {original.name}, kept as {self.keep(name)}: {failure}") from failure
            (self.folder / name).unlink()
        self.assertGreater(refused, MUTATIONS // 2, "most mutations break a file")

    def hostile(self, name, data, code=2, **variables):
        with self.subTest(name):
            self.write(f"{name}.json", data)
            self.assertEqual(self.validate(f"{name}.json", **variables)[0], code)

    def document(self, **keys):
        return json.dumps(scenario("h", **keys)).encode()

    def test_deep_nesting(self):
        plain = self.document()
        repeat = b'{"op":"repeat","times":1,"steps":[' * 2000
        self.hostile("lists", b"[" * 2000 + b"]" * 2000)
        self.hostile("objects", b'{"a":' * 2000 + b"1" + b"}" * 2000)
        self.hostile("open", b"[" * 2_000_000)
        self.hostile("free-key", plain[:-1] + b',"x-a":' + b"[" * 2000 + b"]" * 2000 + b"}")
        self.hostile("repeats", b'{"format":"memsweep-scenario","version":1,"name":"h","steps":[' + repeat + b"]}" * 2000 + b"]}")
        self.hostile("comments", b"/*" * 100_000 + plain)

    def test_large_files(self):
        plain = self.document()
        size = 50_000_000
        self.hostile("blanks", b" " * size + plain)
        self.hostile("one-text", plain[:-1] + b',"x-a":"' + b"y" * size + b'"}')
        self.hostile("digits", plain[:-1] + b',"x-a":' + b"9" * size + b"}")
        self.hostile("brackets", b"[" * size)
        self.hostile("comment", b"/*" + b"*" * size)
        below = 8 * MIB - 200  # just small enough to be read
        self.hostile("many-values", b"[" + b"1," * (below // 2) + b"1]")
        self.hostile("many-keys", b"{" + b",".join(b'"%d":0' % i for i in range(600_000)) + b"}")
        self.hostile("many-errors", plain[:-1] + b',"axes":{' + b",".join(b'"A%d":[]' % i for i in range(400_000)) + b"}}")
        self.hostile("many-lines", b"\n" * below)
        self.hostile("one-name", plain.replace(b'"h"', b'"' + b"h" * below + b'"'))

    def test_bytes_that_are_no_text(self):
        plain = self.document(description="é")
        self.hostile("empty", b"")
        self.hostile("nul", b"\0" * 1000)
        self.hostile("nul-inside", plain.replace(b'"h"', b'"h\0"'))
        self.hostile("nul-escape", plain.replace(b'"h"', b'"h\\u0000"'))
        self.hostile("truncated-utf8", plain.replace(b"\\u00e9", b"\xc3"))
        self.hostile("overlong-utf8", plain.replace(b"\\u00e9", b"\xc0\xaf"))
        self.hostile("lone-surrogate", plain.replace(b"\\u00e9", b"\\ud800"))
        self.hostile("utf16", b"\xff\xfe" + plain.decode().encode("utf-16-le"))
        self.hostile("random", random.Random(1).randbytes(100_000))
        self.hostile("binary", BINARY.read_bytes()[:1_000_000])
        self.hostile("crlf", plain.replace(b", ", b",\r\n"), 0)
        for cut in range(1, len(plain) - 1, 7):
            self.hostile("cut", plain[:cut])

    def test_explosions(self):
        values = list(range(10))
        self.hostile("cases", self.document(axes={f"a{i}": values for i in range(16)}))
        self.hostile("range", self.document(axes={"a": {"from": 0, "to": 10**18, "step": 1}}))
        self.hostile("axis", self.document(axes={"a": list(range(50_000))}))
        self.hostile("steps", self.document(steps=[{"op": "collect"}] * 50_000))
        self.hostile("samples", self.document(steps=[{"op": "repeat", "times": 10**9, "steps": [{"op": "sample", "name": "s"}]}]))
        deep = [{"op": "collect"}]
        for _ in range(7):
            deep = [{"op": "repeat", "times": 10**9, "steps": deep}]
        self.hostile("passes", self.document(steps=deep))
        self.hostile("bytes", self.document(steps=[{"op": "alloc", "as": "a", "shape": [2**62, 2**62], "dtype": "float64"}]))
        self.hostile("arrays", self.document(steps=[{"op": "alloc", "as": "a", "count": 10**9, "bytes": "1000TiB"}]))
        self.hostile("cross", self.document(axes={f"a{i}": values for i in range(4)}, exclude=[{"a0": i % 10} for i in range(99)],
                                            steps=[{"op": "collect"}] * 60))
        self.hostile("asserts", self.document(axes={f"a{i}": values for i in range(4)}, assert_=[{"expr": "wall_time.max > 0s"}] * 900), 0)
        self.hostile("expression", self.document(assert_=[{"expr": "(" * 900}, {"expr": "ratio(" * 150}, {"expr": "wall_time.p(" + "9" * 500 + ") < 1s"}]))
        self.hostile("substitution", self.document(variables={"v": "x" * 60_000}, steps=[
            {"op": "alloc", "as": "a", "bytes": "${v}" * 10_000}] * 10))
        self.hostile("environment", self.document(steps=[{"op": "alloc", "as": "a", "bytes": "${env:BIG}"}]), BIG="9" * 100_000)

    def test_includes(self):
        def including(name, *paths):
            self.write(f"{name}.json", scenario("h", include=list(paths)))
            return self.validate(f"{name}.json")

        self.write("a.json", '{"include": ["b.json"]}')
        self.write("b.json", '{"include": ["a.json"]}')
        (self.folder / "folder").mkdir()
        for name, paths in {"cycle": ["a.json"], "itself": ["itself.json"], "missing": ["none.json"], "folder-one": ["folder"], "endless": ["/dev/zero"],
                            "nothing": ["/dev/null"], "many": ["/dev/null"] * 1000, "climbing": ["../" * 5000 + "etc/passwd"],
                            "long": ["x" * 100_000]}.items():
            with self.subTest(name):
                self.assertEqual(including(name, *paths)[0], 2)
        for number in range(12):  # every file includes the next twice: 4,096 paths
            self.write(f"d{number}.json", {"include": [f"d{number + 1}.json"] * 2})
        self.write("d12.json", "{}")
        self.assertEqual(including("diamond", "d0.json")[0], 2)

    def test_devices_and_streams(self):
        with open("/dev/zero", "rb") as zeros:
            self.assertEqual(self.validate("-", stdin=zeros)[0], 2)
        self.assertEqual(self.validate("/dev/zero")[0], 2)
        self.assertEqual(self.validate("/dev/null")[0], 2)
        self.assertEqual(self.validate("/proc/self/mem")[0], 2)


if __name__ == "__main__":
    unittest.main()
