"""Hostile inputs: small files that ask for much, files without an end, files that nobody writes. No command takes memory or time without
bound for them: it ends with exit code 2 and one line, or does what it is asked within the bounds."""

import concurrent.futures
import contextlib
import ctypes
import fcntl
import functools
import gzip
import json
import os
import struct
import subprocess
import sys
import threading
import time
import unittest

from memsweep_cli import BINARY, MIB, SOURCE, CliTest, environment, sanitized

MOST_BYTES = 256 * MIB
MOST_SECONDS = 10  # of the processor: others may have it as well
WATCH = """
import os, resource, subprocess, sys, threading
limit = 8 << 30  # of addresses: a bound that is missing must not take the machine with it
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
timer = threading.Timer(60, child.kill)
timer.start()
_, status, usage = os.wait4(child.pid, 0)
timer.cancel()
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime)
"""


class Cost:
    """What a command printed and took. The watcher is a small process: a child begins with its parent's pages."""

    def __init__(self, *args, cwd, stdin=subprocess.DEVNULL):
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-c", WATCH, os.fspath(BINARY), *map(os.fspath, args)], cwd=cwd, stdin=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), check=True)
        self.wall = time.monotonic() - begin
        self.errors = done.stderr.decode("utf-8", "replace")
        code, peak, seconds = done.stdout.split()
        self.code, self.peak, self.seconds = int(code), int(peak), float(seconds)

    def __str__(self):
        return f"exit {self.code}, {self.peak / MIB:.0f} MiB, {self.seconds:.1f} s of the processor, {self.wall:.1f} s: {self.errors[:300]}"


# ---- what bombs are made of

def members(piece, count, head=b""):
    """gzip of `head` and `count` times `piece`, without compressing all of it: members follow one another."""
    return (gzip.compress(head) if head else b"") + gzip.compress(piece) * count


def lines(line, mib, head=b""):
    piece = line * (MIB // len(line))
    return members(piece, mib, head)


def zstd(*parts, window_log=17):
    """A frame of raw bytes and of runs (byte, count), which take four bytes for 128 KiB."""
    blocks = []
    for part in parts:
        byte, count = part if isinstance(part, tuple) else (None, len(part))
        for at in range(0, count, 128 << 10):
            size = min(count - at, 128 << 10)
            blocks.append((1, size, byte) if byte is not None else (0, size, part[at:at + size]))
    frame = b"\x28\xb5\x2f\xfd\0" + bytes([window_log - 10 << 3])
    for kind, size, content in blocks:
        frame += (kind << 1 | size << 3).to_bytes(3, "little") + content
    return frame + b"\1\0\0"


@functools.cache
def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


def crc32c(data):
    value, table = 0xFFFFFFFF, crc_table()
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


EVENTS, FACTS, WORDS = 1, 2, 4
MST = b"\x89MST\r\n\x1a\n" + struct.pack("<HHIQQQII12x", 1, 64, 0, 10**9, 0, 0, 1, 4096)
MST += struct.pack("<I", crc32c(MST))


@functools.cache
def sealed(payload):
    return crc32c(payload)


def chunk(payload, raw=None, kind=EVENTS, process=1, thread=1, sequence=0, unsealed_span=None, stored=None):
    """Raw, or compressed where `raw` says to how many bytes it unpacks."""
    span = 64 + len(payload) if unsealed_span is None else unsealed_span
    stored_bytes = len(payload) if stored is None else stored
    header = struct.pack("<4sBBBBIIIIIIQQQI", b"MCNK", kind, raw is not None, 4, unsealed_span is not None, span, stored_bytes,
                         len(payload) if raw is None else raw, 0, process, thread, sequence, 0, 0, sealed(payload))
    return header + struct.pack("<I", crc32c(header)) + payload


FULL = 16 * MIB  # the largest payload
MALLOCS = zstd((b"\x06", FULL))  # of 6 bytes, each at another address


def spread(payload, raw, count, **keys):
    return b"".join(chunk(payload, raw, sequence=i, **keys) for i in range(count))


REFERENCE = json.loads((SOURCE / "results/reference/finalizer_repro.json").read_text())


def result(**changes):
    document = dict(REFERENCE, **changes)
    return json.dumps(document).encode()


def case(**changes):
    return result(cases=[dict(REFERENCE["cases"][0], **changes)])


def keys(count):
    return {f"key{i}": 1 for i in range(count)}


def umpire(name, texts):
    return json.dumps({"category": "operation", "name": name, "string_args": texts, "numeric_args": {"size": 1}, "timestamp": 1}).encode() + b"\n"


def deep(count):
    return b'{"format":"memsweep-result","format_version":1,"x":' + b"[" * count + b"]" * count + b"}"


HEAPTRACK = b"v 10300 3\nX a\na 10 1\n"
PICKLE = b"\x80\x04"
UMPIRE = umpire("allocate", {"pointer": "0x10", "allocator_ref": "0x10"})


def three_layers():
    inner = lines(b"c 1\n+ 0\n- 0\n", 4096, HEAPTRACK)  # 4 GiB
    return gzip.compress(gzip.compress(inner))


def pytorch_requests(count):
    """Of 6 bytes each, none of which is freed."""
    device = chunk(b"\x1c\0\2\0\0")  # the space of number 0
    return MST + chunk(b"source=pytorch\n", kind=FACTS) + device + chunk(zstd((b"\x06", 2 * count)), 2 * count, sequence=1)


# What each is made of, and the commands that read it; an exit code other than 2 is written behind.
BOMBS = {
    # pickles
    "pickle of dicts.gz": (lambda: lines(b"}", 64, PICKLE), ["import"]),
    "pickle of remembered lists.gz": (lambda: lines(b"]\x94", 64, PICKLE), ["import"]),
    "pickle of one value many times.gz": (lambda: lines(b"2", 200, PICKLE + b"}"), ["import"]),
    "pickle of marks.gz": (lambda: lines(b"(", 200, PICKLE), ["import"]),
    "pickle of short texts.gz": (lambda: lines(b"U\x04abcd", 64, PICKLE), ["import"]),
    "pickle of long texts.gz": (lambda: members(b"B" + struct.pack("<I", 8 * MIB) + bytes(8 * MIB), 25, PICKLE), ["import"]),
    "pickle nested.gz": (lambda: lines(b"](", 64, PICKLE), ["import"]),
    "pickle of far numbers.gz": (lambda: gzip.compress(PICKLE + b"]" + b"".join(b"r" + struct.pack("<I", i * 8 + 9) for i in range(200_000)), 1),
                                 ["import"]),
    "pickle of lists in a dict": (lambda: PICKLE + b"}(" + b"]]" * (2 * MIB), ["import"]),
    # compression
    "three layers.gz": (three_layers, ["import"]),
    "five layers.gz": (lambda: functools.reduce(lambda inner, _: gzip.compress(inner), range(5), HEAPTRACK), ["import"]),
    "newlines.zst": (lambda: zstd(HEAPTRACK, (b"\n", 3 << 30)), ["import"]),
    "zeroes.zst": (lambda: zstd(HEAPTRACK, (b"\0", 3 << 30)), ["import"]),
    "windows.zst": (lambda: zstd(zstd(HEAPTRACK + b"+ 0\n", (b"\n", 240 * MIB), window_log=27), window_log=27), ["import"]),
    "a window of 2 GiB.zst": (lambda: zstd(HEAPTRACK, (b"\n", 240 * MIB), window_log=31), ["import"]),
    "padding.gz": (lambda: gzip.compress(HEAPTRACK) + bytes(80 * MIB), ["import"]),
    # logs: what is held between their lines
    "heaptrack of live blocks.gz": (lambda: lines(b"+ 0\n", 64, HEAPTRACK), ["import"]),
    "heaptrack of classes.gz": (lambda: lines(b"a 10 1\n", 64, HEAPTRACK), ["import"]),
    "heaptrack of one line.gz": (lambda: lines(b"a", 64, HEAPTRACK), ["import"]),
    "valgrind of processes.gz": (lambda: gzip.compress(b"".join(b"--%d-- malloc(16) = 0x10\n" % i for i in range(250_000)), 1), ["import"]),
    "valgrind of totals.gz": (
        lambda: gzip.compress(b"--1-- malloc(16) = 0x10\n" +
                              b"".join(b"==%d== total heap usage: 1 allocs, 0 frees, 1 bytes allocated\n" % i for i in range(400_000)), 1),
        ["import"]),
    "umpire of a wide line.gz": (lambda: gzip.compress(UMPIRE + b'{"name":[' + b"[]," * (5 * MIB) + b"0]}\n", 1), ["import=0"]),
    "umpire of a deep line.gz": (lambda: gzip.compress(UMPIRE + b'{"name":' + b"[" * (15 * MIB) + b"\n", 1), ["import=0"]),
    "umpire of moves.gz": (
        lambda: gzip.compress(b"".join(umpire("allocate", {"pointer": hex(16 * i), "allocator_ref": hex(16 * i)}) for i in range(1, 10_000)) +
                              umpire("move", {"ptr": "0x7", "allocator_ref": "0x10"}) * 30_000), ["import=0"]),
    "rmm of threads.gz": (
        lambda: gzip.compress(b"Thread,Time,Action,Pointer,Size,Stream\n" +
                              b"".join(b"%d,1,allocate,0x10,1,0\n" % i for i in range(400_000)), 1), ["import"]),
    "mtrace of live blocks.gz": (
        lambda: gzip.compress(b"= Start\n" + b"".join(b"@ x + 0x%x 0x8\n" % (16 * i) for i in range(1, 1_520_000)), 1), ["import"]),
    "malloc-bench of one block.gz": (lambda: lines(b"\x0a\x06\x0a\x04\x08\x00\x10\x40", 24), ["import=0"]),
    "fleetbench of sizes.gz": (lambda: lines(b"1,1.5,1.5\n", 64), ["import"]),
    # traces
    "live blocks.mst": (lambda: MST + spread(MALLOCS, FULL, 8), ["info", "export", "fit", "replay"]),
    "much.mst": (lambda: MST + spread(MALLOCS, FULL, 100), ["info", "export", "fit", "replay"]),
    "threads.mst": (lambda: MST + b"".join(chunk(MALLOCS, FULL, thread=i) for i in range(11)), ["info", "export"]),
    "ends of processes.mst": (
        lambda: MST + chunk(zstd((b"\x06", 2 * MIB)), 2 * MIB) + chunk(b"\x06\x06\x40" * 100_000, process=2), ["info=0"]),
    "events.mst": (lambda: MST + spread(zstd((b"\x06", 65536)), 65536, 4) + spread(zstd((b"\x4c", FULL)), FULL, 2), ["fit", "replay"]),
    "requests.mst": (lambda: pytorch_requests(1_400_000), ["pytorch"]),
    "some requests.mst": (lambda: pytorch_requests(490_000), ["pytorch=0"]),
    "facts.mst": (lambda: MST + b"".join(chunk(b"".join(b"%d=\n" % i for i in range(k * 100_000, k * 100_000 + 100_000)), kind=FACTS)
                                         for k in range(6)), ["info=0"]),
    "facts that unpack.mst": (lambda: MST + spread(zstd((b"=", MIB)), MIB, 2000, kind=FACTS), ["info=0"]),
    "recorder's chunks.mst": (lambda: MST + spread(MALLOCS, FULL, 40, kind=WORDS), ["info=1"]),
    # results
    "keys.json": (lambda: case(params=keys(200_000)), ["report", "compare", "merge"]),
    "machine.json": (lambda: result(machine=dict(REFERENCE["machine"], **keys(200_000))), ["report=0", "compare=0"]),
    "metrics.json": (lambda: case(metrics=dict.fromkeys(keys(60_000), dict(REFERENCE["cases"][0]["metrics"]["wall_time"], values=[1], summary=None))), ["report=0"]),
    "facts.json": (lambda: case(facts=keys(100_000)), ["report=0"]),
    "keys that nobody knows.json": (lambda: result(**keys(200_000)), ["report=0", "merge"]),
    "one key.json": (lambda: b'{"format":"memsweep-result","format_version":1' + b',"a":1' * 500_000 + b"}", ["report"]),
    "two lots of keys.json": (
        lambda: b'{"format":"memsweep-result","format_version":1' + b"".join(b',"k%d":1' % i for i in range(100_000)) * 2 + b"}", ["report"]),
    "zeroes in lists.json": (lambda: b'{"format":"memsweep-result","format_version":1,"x":[' + b"0," * 5_000_000 + b"0]}", ["report", "compare"]),
    "lists.json": (lambda: b'{"format":"memsweep-result","format_version":1,"x":[' + b"[]," * 3_000_000 + b"0]}", ["report"]),
    "objects.json": (lambda: b'{"format":"memsweep-result","format_version":1,"x":[' + b'{"a":0},' * 1_500_000 + b"0]}", ["report"]),
    "deep.json": (lambda: deep(1_000_000), ["report", "compare", "merge"]),
    "empty cases.json": (lambda: b'{"format":"memsweep-result","format_version":1,"cases":[' + b"{}," * 1_000_000 + b"{}]}", ["report"]),
    "warnings.json": (lambda: result(warnings=["x"] * 1_000_000), ["report"]),
    "fleet of nothing.json": (lambda: b'{"format":"memsweep-fleet","format_version":1,"hosts":[' + b"{}," * 1_000_000 + b"{}]}", ["report"]),
    # scenarios and what stands beside them
    "values.jsonc": (lambda: b'{"steps":[' + b"0," * 3_000_000 + b"0]}", ["validate", "gate", "limits"]),
    "comments.jsonc": (lambda: b"/**/" * (2 * MIB - 1), ["validate"]),
    "deep.jsonc": (lambda: b"[" * (7 * MIB), ["validate", "gate", "limits"]),
    "keys.jsonc": (lambda: json.dumps(keys(190_000)).encode(), ["validate", "gate", "limits"]),
    "columns.csv": (lambda: b"host" + b",a" * (20 * MIB), ["tags"]),
    "tags.csv": (lambda: b"host,a,b,c\n" + b"".join(b"n%d,1,2,3\n" % i for i in range(400_000)), ["tags"]),
    "words.csv": (lambda: b"# command:" + b" a" * (20 * MIB) + b"\ni,unreleased,gc0\n0,1,0\n", ["profile"]),
    "columns of a recording.csv": (lambda: b"," * (10 * MIB) + b"i,unreleased,gc0\n" + b"0,1,0\n" * 500_000, ["profile"]),
}


def commands(name, out="out"):
    return {"import": ["import", name, "-o", out],
            "info": ["info", name],
            "export": ["export", name, "-f", "rmm"],
            "fit": ["fit", name],
            "pytorch": ["fit", name, "--pytorch"],
            "replay": ["replay", name, "--on", "null", "--dry-run"],
            "report": ["report", name],
            "compare": ["compare", name, name],
            "merge": ["merge", name, name, "-o", out],
            "validate": ["validate", name],
            "run": ["run", name, "--dry-run"],
            "list": ["list", "cases", name],
            "new": ["new", "copy", "--from", name, "-o", out],
            "gate": ["compare", "ok.json", "ok.json", "--gate", name],
            "limits": ["report", "ok.json", "--limits", name],
            "baseline": ["run", "small.json", "--baseline", name, "-q", "-o", out],
            "tags": ["merge", "ok.json", "-o", out, "--tags", name],
            "profile": ["profile", "fit", name, "-o", out]}


class Bombs(CliTest):
    def setUp(self):
        super().setUp()
        self.write("ok.json", json.dumps(REFERENCE))
        self.small()

    def check(self, cost, codes=(2,)):
        self.assertIn(cost.code, codes, str(cost))
        if not sanitized():  # which multiply both
            self.assertLess(cost.peak, MOST_BYTES, str(cost))
            self.assertLess(cost.seconds, MOST_SECONDS, str(cost))
        if cost.code == 2:
            said = cost.errors.splitlines()
            self.assertTrue(said, str(cost))
            self.assertLess(max(map(len, said)), 600, str(cost))
            self.assertLess(len(said), 60, str(cost))  # a scenario tells its first 50
        return cost

    def test_every_bomb(self):
        def run(name):
            make, readers = BOMBS[name]
            (self.folder / name).write_bytes(make())
            size = (self.folder / name).stat().st_size
            costs = [(reader, Cost(*commands(name, f"{name}.out")[reader.partition("=")[0]], cwd=self.folder)) for reader in readers]
            (self.folder / name).unlink()
            return name, size, costs

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, size, costs in pool.map(run, BOMBS):
                for reader, cost in costs:
                    command, _, code = reader.partition("=")
                    if os.environ.get("MEMSWEEP_TEST_COSTS"):
                        print(f"{name} ({size:,} B), {command}: {cost}".strip(), file=sys.stderr, flush=True)
                    with self.subTest(name, command=command):
                        self.check(cost, (int(code or 2),))

    def test_files_of_holes(self):
        """They take no room on the disk, and would take all of the memory."""
        for name, head, size, command in (("result.json", b'{"format":"memsweep-result","x":"', MIB << 10, "report"),
                                          ("trace.mst", MST, MIB << 20, "info"),
                                          ("log.txt", b"+ 0x10 0x10\n- 0x10\n", MIB << 20, "import"),
                                          ("table.csv", b"host,rack\n", 64 * MIB, "tags")):
            with self.subTest(name):
                with (self.folder / name).open("wb") as file:
                    file.write(head)
                    file.truncate(size)
                self.check(Cost(*commands(name)[command], cwd=self.folder), (1,) if name == "trace.mst" else (2,))

    def test_an_unsealed_chunk_promises_what_the_file_does_not_hold(self):
        folder = self.folder / "left.recording"
        for stored, span in ((0xFFFFFFFF, 64), (0xFFFFFFFF, 16 * MIB), (0, 16 * MIB)):
            with self.subTest(stored=stored, span=span):
                folder.mkdir(exist_ok=True)
                (folder / "unfinished.trace").write_bytes(MST + chunk(b"", unsealed_span=span, stored=stored))
                cost = self.check(Cost("record", "--recover", folder, "-o", "out.mst", cwd=self.folder), (0, 1, 2))
                if not sanitized():
                    self.assertLess(cost.peak, 32 * MIB, str(cost))

    def test_what_has_no_end_or_is_no_file(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "fifo")
        jobs = [(name, command) for name in ("/dev/zero", "folder", "fifo", "/dev/full", "/dev/null") for command in commands(name)]

        def run(job):
            name, command = job
            out = f"{name.strip('/').replace('/', '-')}.{command}.out"
            return name, command, Cost(*commands(name, out)[command], cwd=self.folder)

        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:  # most of them wait for a writer
            for name, command, cost in pool.map(run, jobs):
                with self.subTest(name, command=command):
                    self.check(cost)
                    self.assertIn(name, cost.errors)

    def test_pipes_without_an_end(self):
        endless = {"zeroes": b"\0", "lines": b"y\n", "blanks": b" ", "text": b'{"format":"memsweep-result","format_version":1,"x":"' + b"x" * 4096,
                   "lists": b"[0,", "scenario": b"// x\n"}
        readers = ("import", "info", "export", "fit", "report", "compare", "merge", "validate", "limits")
        for what, text in endless.items():
            for command in readers:
                words = ["ok.json" if command == "compare" and i == 2 else word for i, word in enumerate(commands("-")[command])]
                words = words[:2] + words[3:] if command == "merge" else words
                with self.subTest(what, command=command), self.endless(text) as pipe:
                    self.check(Cost(*words, cwd=self.folder, stdin=pipe))

    def test_a_log_without_an_event_is_given_up(self):
        for chosen in ("rmm", "mtrace", "umpire"):
            with self.subTest(chosen), self.endless(b"y\n") as pipe:
                self.check(Cost("import", "-", "--format", chosen, "-o", "out.mst", cwd=self.folder, stdin=pipe))

    def test_a_trace_without_an_end(self):
        with self.endless(MST, b"\0" * 65536) as pipe:
            cost = self.check(Cost("info", "-", cwd=self.folder, stdin=pipe))
        self.assertIn("save it to a file first", cost.errors)

    @contextlib.contextmanager
    def endless(self, head, rest=None):
        read, write = os.pipe()
        rest = rest or head * (65536 // len(head) + 1)

        def fill():
            with contextlib.suppress(BrokenPipeError), os.fdopen(write, "wb", 0) as pipe:
                pipe.write(head)
                while True:
                    pipe.write(rest)

        writer = threading.Thread(target=fill)
        writer.start()
        try:
            yield read
        finally:
            os.close(read)
            writer.join()

    def test_pipes_that_bring_a_document_are_read(self):
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst")
        os.mkfifo(self.folder / "fifo")
        for name, command in (("ok.json", "report"), ("log.csv", "import"), ("t.mst", "info"), ("small.json", "validate"), ("t.mst", "fit")):
            for wait in (0, 0.5):
                with self.subTest(name, command=command, wait=wait):
                    content = (self.folder / name).read_bytes()

                    def write():
                        time.sleep(wait)
                        with (self.folder / "fifo").open("wb", 0) as pipe:
                            time.sleep(wait)
                            pipe.write(content)

                    writer = threading.Thread(target=write)
                    writer.start()
                    self.expect(0, *commands("fifo")[command])
                    writer.join()
                    self.expect(0, *commands("-")[command], stdin=content)

    def test_a_fifo_is_opened_once(self):
        """A look at it that closes it again takes its writer's reader away, now and then."""
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst")
        os.mkfifo(self.folder / "fifo")
        libc, opened = ctypes.CDLL(None), 0x20
        for name, command in (("ok.json", "report"), ("log.csv", "import"), ("t.mst", "info"), ("t.mst", "fit"),
                              ("t.mst", "export"), ("small.json", "validate"), ("small.json", "run")):
            with self.subTest(command):
                writer = os.open(self.folder / "fifo", os.O_RDWR)
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, MIB)
                os.write(writer, (self.folder / name).read_bytes())
                watch = os.fdopen(libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK), "rb", 0)
                libc.inotify_add_watch(watch.fileno(), os.fsencode(self.folder / "fifo"), opened)
                closing = threading.Timer(1, os.close, (writer,))
                closing.start()
                self.expect(0, *commands("fifo")[command])
                closing.join()
                events = watch.read() or b""
                watch.close()
                self.assertEqual(len(events) // 16, 1, events)

    def test_large_inputs_that_are_meant(self):
        """What a bomb's neighbour would be: as many blocks, as long, as regular, but not more than its bytes allow."""
        log = HEAPTRACK + b"+ 0\n" * 1_600_000 + b"- 0\n" * 1_600_000
        (self.folder / "log").write_bytes(log)
        self.assertIn(b"peak_live_blocks", self.expect(0, "import", "log", "-o", "t.mst", "--json").out)
        (self.folder / "log.gz").write_bytes(gzip.compress(HEAPTRACK + b"+ 0\n" * 300_000 + b"- 0\n" * 300_000))
        self.expect(0, "import", "log.gz", "-o", "t.mst")
        self.expect(0, "info", "t.mst")
        self.expect(0, "fit", "t.mst")


if __name__ == "__main__":
    unittest.main()
