"""Logs of other tools become traces with the totals that those tools print; traces go out again, and say what they need."""

import gzip
import json
import pickle
import struct
import subprocess
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, rng

LOGS = SOURCE / "tests/trace/logs"
LINES = ("rmm", "umpire", "heaptrack", "mtrace", "valgrind", "fleetbench")  # read line by line
FORMATS = (*LINES, "pytorch", "dj-mtrace", "malloc-bench")
KEYS = ["format", "format_version", "events", "allocations", "frees", "reallocations", "threads", "peak_live_bytes", "end_live_bytes", "peak_live_blocks",
        "bytes_allocated", "max_size", "unknown_frees", "duplicate_allocations", "failures", "bad_lines", "stated_totals"]
POLICIES = ["first_fit", "best_fit", "tlsf", "rmm_pool", "pytorch", "buddy", "pow2", "quad"]

# What the programs that wrote these logs did, by the tools' own counts.
MTRACE = {"allocations": 78, "frees": 74, "bytes_allocated": 172833, "max_size": 5048, "peak_live_blocks": 52,
          "peak_live_bytes": 150180, "end_live_bytes": 13678, "unknown_frees": 0, "bad_lines": 0, "failures": 0}
HEAPTRACK = {"allocations": 608180, "frees": 608165, "peak_live_bytes": 12237891, "end_live_bytes": 8937, "unknown_frees": 0}

RMM = """Thread,Time,Action,Pointer,Size,Stream
7,23:59:59.999990,allocate,0x7f0000000000,1024,0
8,23:59:59.999999,allocate,0x7f0000000400,512,0x7f8a10
7,00:00:00.000010,free,0x7f0000000000,1024,0
7,00:00:00.000020,allocate failure,(nil),99999,0x2
8,00:00:01.5,free,0x7f0000000400,512,0x7f8a10
8,00:00:02.5,free,0x7f0000000400,512,2
"""
RMM_TOTALS = {"events": 6, "allocations": 2, "frees": 2, "threads": 2, "peak_live_bytes": 1536, "end_live_bytes": 0,
              "unknown_frees": 1, "failures": 1, "bad_lines": 0, "bytes_allocated": 1536, "max_size": 1024}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def event_chunks(trace, thread):
    """The chunks of events of a trace (docs/trace-format.md) as those of another thread, so that another trace can have them too."""
    at, chunks = 64, b""
    while at < len(trace):
        header = bytearray(trace[at:at + 64])
        span, = struct.unpack_from("<I", header, 8)
        if header[4] == 1:
            struct.pack_into("<I", header, 28, thread)
            struct.pack_into("<I", header, 60, crc32c(header[:60]))
            chunks += bytes(header) + trace[at + 64:at + span]
        at += span
    return chunks


def umpire(name, texts, timestamp=1656026907658189775, **numbers):
    return json.dumps({"category": "operation", "name": name, "numeric_args": numbers, "string_args": texts,
                       "tags": {"replay": "true"}, "timestamp": timestamp}, separators=(",", ":"))


def block(pointer, key="pointer", allocator="0x10"):
    return {"allocator_ref": allocator, key: pointer}


UMPIRE = "\n".join([
    "# a comment",
    umpire("make_memory_resource", {"allocator_ref": "0x10"}),
    umpire("allocate", block("0x1000"), size=100),
    umpire("allocate", block("0x1000", allocator="0x20"), size=7),  # the same place in another memory
    umpire("reallocate", block("0x1000", "current_ptr"), size=300),
    umpire("allocate", block("0x2000"), size=300),                  # what a reallocate does inside
    umpire("deallocate", block("0x1000")),
    umpire("reallocate", block("0x2000", "new_ptr")),
    umpire("copy", {"dst": "0x2000", "dst_allocator_ref": "0x10", "src": "0x1000", "src_allocator_ref": "0x20"}, size=7,
           src_offset=0, dst_offset=0),
    umpire("deallocate", block("0x2000")),
    ""])
UMPIRE_TOTALS = {"allocations": 3, "frees": 2, "reallocations": 1, "peak_live_bytes": 307, "end_live_bytes": 7, "bad_lines": 0,
                 "unknown_frees": 0, "duplicate_allocations": 0, "events": 5, "bytes_allocated": 407}

OLD_UMPIRE = """{ "kind":"replay", "uid":1, "timestamp":5, "event": "version", "payload": { "major":0 } }
{ "kind":"replay", "uid":1, "timestamp":6, "event": "allocate", "payload": { "allocator_ref": "0x1", "size": 10 } }
{ "kind":"replay", "uid":1, "timestamp":7, "event": "allocate", "payload": { "allocator_ref": "0x1", "size": 10 }, "result": { "memory_ptr": "0xa0" } }
{ "kind":"replay", "uid":2, "timestamp":8, "event": "allocate", "payload": { "allocator_ref": "0x1", "size": 20 }, "result": { "memory_ptr": "0xa0" } }
{ "kind":"replay", "uid":1, "timestamp":9, "event": "deallocate", "payload": { "allocator_ref": "0x1", "memory_ptr": "0xa0" } }
"""


def snapshot():
    """Blocks from before the ring buffer began, one freed in it and one that stays; a pending free; an OOM."""
    trace = [{"action": "segment_alloc", "addr": 1 << 40, "size": 20 << 20, "stream": 0, "time_us": 100},
             {"action": "alloc", "addr": 1 << 40, "size": 512, "stream": 0, "time_us": 101,
              "frames": [{"filename": "a.py", "line": 1, "name": "f"}]},
             {"action": "free_requested", "addr": 77 << 20, "size": 2048, "stream": 0, "time_us": 102},
             {"action": "free_completed", "addr": 77 << 20, "size": 2048, "stream": 0, "time_us": 103},
             {"action": "free_requested", "addr": 1 << 40, "size": 512, "stream": 0, "time_us": 104},
             {"action": "oom", "device_free": 5, "size": 1 << 35, "stream": 0, "time_us": 105},
             {"action": "free_completed", "addr": 1 << 40, "size": 512, "stream": 0, "time_us": 106}]
    blocks = [{"address": 99 << 20, "size": 4096, "requested_size": 4000, "state": "active_allocated"},
              {"address": (99 << 20) + 4096, "size": 1 << 20, "requested_size": 0, "state": "inactive"}]
    return {"segments": [{"device": 0, "address": 99 << 20, "total_size": 2 << 20, "stream": 0, "blocks": blocks}],
            "device_traces": [trace], "allocator_settings": {"x": None, "big": 2**63 - 1, "real": 0.5, "on": True}}


SNAPSHOT_TOTALS = {"allocations": 3, "frees": 2, "peak_live_bytes": 512 + 2048 + 4096, "end_live_bytes": 4096, "failures": 1,
                   "unknown_frees": 0, "duplicate_allocations": 0, "bad_lines": 0}


def spaced(text):
    """Without the breaks of lines, which depend on how long figures are."""
    return " ".join(text.split())


class Evil:
    def __reduce__(self):
        return (print, ("executed",))


class Traces(CliTest):
    def put(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def imported(self, log, *options, code=0):
        """The totals that import prints; info must read the same from the trace."""
        trace = self.folder / "t.mst"
        outcome = self.expect(code, "import", str(log), "-o", str(trace), "--json", *options)
        totals = json.loads(outcome.text)
        self.assertEqual(list(totals), KEYS)
        read = json.loads(self.expect(0, "info", str(trace), "--json").text)
        self.assertEqual({key: read[key] for key in KEYS}, totals)  # info says more
        return totals

    def check(self, log, wanted, *options):
        totals = self.imported(log, *options)
        self.assertEqual({key: totals[key] for key in wanted}, wanted, log)

    def test_logs_of_tracers(self):
        self.check(LOGS / "mtrace.txt", MTRACE)
        self.check(LOGS / "dj.mtrace", {key: MTRACE[key] for key in ("allocations", "peak_live_bytes", "max_size")})
        self.check(LOGS / "valgrind.txt", {"allocations": 78, "frees": 74, "bad_lines": 0, "max_size": 5048})

    def test_fleetbench(self):
        rows = "16, 1000.5, 2000.25\n4096, 10.0, 500.0\n"
        totals = self.imported(self.put("sizes.csv", rows))
        self.assertEqual(totals["bad_lines"], 0)
        self.assertEqual(totals["unknown_frees"], 0)
        self.assertEqual(totals["max_size"], 4096)
        live = 2000 * 16 + 500 * 4096
        self.assertGreater(totals["peak_live_bytes"], live)
        self.assertLess(totals["end_live_bytes"], live * 1.5)
        self.assertEqual(totals, self.imported(self.put("again.csv", rows)))

    def test_heaptrack(self):
        self.check(LOGS / "heaptrack_v3.zst", HEAPTRACK)
        for order in ("fifo", "random"):
            self.check(LOGS / "heaptrack_v3.zst", HEAPTRACK, "--heaptrack-order", order)
        old = "v 10000 0\nX app\n+ 64 1 7f00\n+ 10 1 8f00\n- 7f00\n- 1\n"
        totals = {"allocations": 2, "frees": 1, "peak_live_bytes": 0x74, "end_live_bytes": 0x10, "unknown_frees": 1}
        self.check(self.put("old.txt", old), totals)
        self.check(self.put("old.gz", gzip.compress(old.encode())), totals)

    def test_rmm(self):
        self.check(self.put("log.dev2.csv", RMM), RMM_TOTALS)
        self.check(self.put("crlf.csv", RMM.replace("\n", "\r\n")), RMM_TOTALS)
        text = self.expect(0, "info", str(self.folder / "t.mst")).text
        self.assertIn("time", text)
        swapped = "Stream,Size,Pointer,Action,Time,Thread\n0,64,0x10,allocate,1634567890.123456,1\n0,64,0x10,deallocate,1634567890.2,1\n"
        self.check(self.put("swapped.csv", swapped), {"allocations": 1, "frees": 1, "max_size": 64, "bad_lines": 0})

    def test_umpire(self):
        self.check(self.put("log.json", UMPIRE), UMPIRE_TOTALS)
        old = self.put("old.json", OLD_UMPIRE)
        self.check(old, {"allocations": 2, "frees": 1, "end_live_bytes": 20, "bad_lines": 0})
        self.check(old, {"allocations": 1, "frees": 1, "end_live_bytes": 0}, "--uid", "1")

    def test_pytorch(self):
        for protocol in range(2, 6):
            with self.subTest(protocol=protocol):
                self.check(self.put("snapshot.pickle", pickle.dumps(snapshot(), protocol)), SNAPSHOT_TOTALS)

    def test_pickles_execute_nothing(self):
        for protocol in range(2, 6):
            path = self.put("evil.pickle", pickle.dumps({"segments": [Evil()], "device_traces": []}, protocol))
            outcome = self.expect(2, "import", str(path), "-o", str(self.folder / "x.mst"))
            self.assertIn("not a plain snapshot", outcome.errors)
            self.assertNotIn("executed", outcome.text)
            self.assertFalse((self.folder / "x.mst").exists())

    def test_malloc_bench(self):
        def field(number, payload):
            return bytes([number << 3 | 2, len(payload)]) + payload

        lines = [field(1, b"\x08\x00\x10\x64"), field(4, b"\x08\x01\x10\x02\x18\x05"), field(3, b"\x08\x02\x10\x00\x18\x7f"),
                 field(2, b"\x08\x01")]
        log = b"".join(field(1, line) for line in lines) + b"\x10\x02"
        self.check(self.put("bench.pb", log), {"allocations": 3, "frees": 2, "reallocations": 1, "peak_live_bytes": 137,
                                                 "end_live_bytes": 127, "bad_lines": 0})

    def test_older_records_of_glibc(self):
        def record(kind, old, new, size):
            return struct.pack("<iIQQQ", 1, kind, old, new, size)

        log = record(255, 0x1234, 0, 8) + record(1, 0, 0x100, 40) + record(4, 0x100, 0x200, 90) + record(3, 0x200, 0, 0)
        self.check(self.put("old.mtrace", log), {"allocations": 2, "frees": 2, "peak_live_bytes": 90, "bad_lines": 0})

    def test_sqlite_is_refused(self):
        path = self.put("log.sqlite.replay", b"SQLite format 3\0" + bytes(100))
        outcome = self.expect(2, "import", str(path), "-o", str(self.folder / "x.mst"))
        self.assertIn("SQLite event store; export to JSON first", outcome.errors)

    def test_bad_lines_are_counted_and_named(self):
        bad = RMM + "".join(f"7,00:00:03.0,{word},0x1,5,0\n" for word in ("a", "b", "c", "d", "e", "f", "g"))
        path = self.put("bad.csv", bad)
        outcome = self.expect(0, "import", str(path), "-o", str(self.folder / "t.mst"), "--json")
        totals = json.loads(outcome.text)
        self.assertEqual((totals["bad_lines"], totals["allocations"]), (7, 2))
        for number in range(8, 13):
            self.assertIn(f"line {number}: unknown action", outcome.errors)
        self.assertNotIn("line 13", outcome.errors)
        (self.folder / "t.mst").unlink()
        self.assertIn("--strict", self.expect(2, "import", str(path), "-o", str(self.folder / "t.mst"), "--strict").errors)
        self.assertFalse((self.folder / "t.mst").exists())

    def test_unknown_logs_are_refused(self):
        for content in (b"", b"hello\n", bytes(5000)):
            self.expect(2, "import", str(self.put("unknown", content)), "-o", str(self.folder / "x.mst"))
        self.expect(2, "import", str(self.folder / "missing"), "-o", str(self.folder / "x.mst"))
        self.expect(2, "import", str(LOGS / "mtrace.txt"), "-o", str(self.folder / "x.mst"), "--format", "nonsense")
        self.expect(2, "info", str(LOGS / "mtrace.txt"))

    def test_round_trips(self):
        for log in ("mtrace.txt", "valgrind.txt"):
            self.imported(LOGS / log)
            trace = self.folder / "t.mst"
            before = json.loads(self.expect(0, "info", str(trace), "--json").text)
            for form in ("rmm", "umpire"):
                out = self.folder / f"out.{form}"
                self.expect(0, "export", str(trace), "-f", form, "-o", str(out))
                self.expect(0, "import", str(out), "-o", str(self.folder / "again.mst"), "-q")
                after = json.loads(self.expect(0, "info", str(self.folder / "again.mst"), "--json").text)
                same = ("allocations", "frees", "peak_live_bytes", "end_live_bytes", "bytes_allocated", "max_size", "peak_live_blocks")
                self.assertEqual({key: before[key] for key in same}, {key: after[key] for key in same}, (log, form))

    def test_exports_of_any_sizes_are_read_strictly(self):
        random = rng("exports of any sizes")
        live, total, lines = {}, 0, ["Thread,Time,Action,Pointer,Size,Stream"]
        for _ in range(2000):
            address = random.randrange(1, 30) << random.choice((4, 40, 60)) & 2 ** 64 - 1 or 16
            size = random.choice((0, 1, 24, 2 ** 32, 2 ** 62, 2 ** 63 - 1, 2 ** 64 - 1 - total, random.randrange(2 ** 64)))
            action = random.choice(("allocate", "allocate", "free", "allocate failure"))
            if action == "allocate":
                if total + size >= 2 ** 64:  # before what lies there is given up
                    continue
                total += size - live.get(address, 0)
                live[address] = size
            elif action == "free":
                total -= live.pop(address, 0)
            lines.append(f"{random.randrange(2 ** 32)},00:00:00.0,{action},0x{address:x},{size},0x{random.randrange(2 ** 64):x}")
        self.imported(self.put("any.csv", "\n".join(lines) + "\n"), "--strict")
        before = json.loads(self.expect(0, "info", "t.mst", "--json").text)
        for form in ("rmm", "umpire"):
            self.expect(0, "export", "t.mst", "-f", form, "-o", f"any.{form}")
            self.expect(0, "import", f"any.{form}", "-o", "again.mst", "-q", "--strict")
            after = json.loads(self.expect(0, "info", "again.mst", "--json").text)
            for key in ("allocations", "frees", "unknown_frees", "duplicate_allocations", "peak_live_bytes", "end_live_bytes", "max_size"):
                self.assertEqual(after[key], before[key], (form, key))

    def test_sizes_that_no_log_holds_are_not_exported(self):
        for name, address in (("a", 16), ("b", 32)):
            self.expect(0, "import", self.put(f"{name}.csv", f"{RMM.splitlines()[0]}\n1,00:00:00.0,allocate,{address},{2 ** 63},0\n"),
                        "-o", f"{name}.mst", "-q")
        trace = (self.folder / "a.mst").read_bytes()
        self.put("both.mst", trace + event_chunks((self.folder / "b.mst").read_bytes(), 2))
        said = self.expect(2, "info", "both.mst").errors
        self.assertIn("event 2 cannot be: with it the sizes add up to more than 64 bits hold", said)
        for form in ("rmm", "umpire"):
            with self.subTest(form):
                self.put("out", "earlier")
                self.assertEqual(self.expect(2, "export", "both.mst", "-f", form, "-o", "out").errors, said)
                self.assertEqual((self.folder / "out").read_text(), "earlier", "nothing is written")
                self.assertEqual(self.expect(2, "export", "both.mst", "-f", form).errors, said)
                # Of another thread alone it is a trace like any other.
                self.put("one.mst", trace[:64] + event_chunks(trace, 2))
                self.expect(0, "export", "one.mst", "-f", form, "-o", "out")
                self.expect(0, "import", "out", "-o", "again.mst", "-q", "--strict")

    def test_pipes(self):
        piped = self.expect(0, "import", "-", "-o", "-", stdin=RMM.encode()).out
        totals = json.loads(self.expect(0, "info", "-", "--json", stdin=piped).text)
        self.assertEqual({key: totals[key] for key in RMM_TOTALS}, RMM_TOTALS)

    def test_a_damaged_trace_gives_what_it_has(self):
        self.imported(LOGS / "heaptrack_v3.zst")
        trace = (self.folder / "t.mst").read_bytes()
        cut = self.put("cut.mst", trace[: len(trace) * 2 // 3])
        outcome = self.expect(1, "info", str(cut), "--json")
        self.assertIn("ends within a chunk", outcome.errors)
        self.assertGreater(json.loads(outcome.text)["allocations"], 1000)
        broken = bytearray(trace)
        broken[len(trace) // 2] ^= 1
        outcome = self.expect(1, "info", str(self.put("broken.mst", bytes(broken))), "--json")
        self.assertIn("1 chunk damaged", outcome.errors)

    def test_fit(self):
        self.imported(LOGS / "mtrace.txt")
        trace = str(self.folder / "t.mst")
        report = json.loads(self.expect(0, "fit", trace, "-f", "json").text)
        self.assertEqual(report["live_peak"], MTRACE["peak_live_bytes"])
        self.assertEqual(report["peak_live_bytes"], report["live_peak"], "one name for it, as in info --json")
        self.assertEqual([policy["policy"] for policy in report["policies"]], POLICIES)
        for policy in report["policies"]:
            capacity = policy["capacity"]
            self.assertAlmostEqual(policy["ratio"], capacity / report["live_peak"], places=9)
            one = ("--policy", policy["policy"], "-f", "json", "--capacity")
            enough = json.loads(self.expect(0, "fit", trace, *one, str(capacity)).text)["policies"][0]
            self.assertIsNone(enough["first_failure"])
            short = json.loads(self.expect(1, "fit", trace, *one, str(capacity - 1)).text)["policies"][0]
            self.assertEqual(short["first_failure"], policy["first_failure"])
        html = self.expect(0, "fit", trace, "-f", "html", "--runs", "2").text
        for policy in POLICIES:
            self.assertIn(f"Address space over time, {policy}<", html)
        self.assertIn("Growth from run to run", html)
        text = self.expect(0, "fit", trace).text
        for policy in POLICIES:
            self.assertIn(policy, text)
        self.expect(2, "fit", trace, "--capacity", "80GB!")
        self.expect(2, "fit", trace, "--policy", "worst_fit")

    def test_fit_begins_with_a_sentence(self):
        granted = [line for line in RMM.splitlines(True)[:-1] if "failure" not in line]  # nothing refused, and no free of an unknown block
        self.imported(self.put("log.csv", "".join(granted)))
        trace = str(self.folder / "t.mst")

        def first(code, *options):
            return spaced(self.expect(code, "fit", trace, *options).text).partition(" Live at the peak")[0]

        need = {one["policy"]: one["capacity"] for one in json.loads(self.expect(0, "fit", trace, "-f", "json").text)["policies"]}
        self.assertRegex(first(0), r"^This trace needs .+ \(\w+\) to .+ \(\w+\); .+ are live at the peak\.$")
        self.assertRegex(first(0, "--policy", "tlsf"), r"^This trace needs .+ under tlsf, \d+\.\d\d times the .+ that are live at the peak\.$")
        short = ("--policy", "tlsf", "--capacity", f"{need['tlsf'] - 1}")
        self.assertRegex(first(1, *short), r"^This trace needs .+ under tlsf; at .+ the .+ block of event \d+ fails, t = [\d.]+ [um]?s\.$")
        self.assertIn("and fits into", first(0, "--policy", "tlsf", "--capacity", str(need["tlsf"])))
        self.assertIn(f"under each of {len(POLICIES)} policies", first(0, "--capacity", "1GiB"))
        self.assertIn(f"under none of {len(POLICIES)} policies", first(1, "--capacity", "64"))
        self.assertRegex(first(1, "--capacity", "1MiB"), rf"under \d of {len(POLICIES)} policies: .* \* pytorch needs 2.00 MiB: the .* fails")

    def test_info_has_everything_in_every_form(self):
        self.imported(LOGS / "heaptrack_v3.zst")
        trace = str(self.folder / "t.mst")
        text = self.expect(0, "info", trace, "-v").text
        document = json.loads(self.expect(0, "info", trace, "--json").text)
        self.assertEqual(document, json.loads(self.expect(0, "info", trace, "-f", "json").text))
        rows = {"events": "events", "processes": "processes", "threads": "threads", "allocations": "allocations", "frees": "frees",
                "reallocations": "reallocations", "peak_live_blocks": "peak live blocks", "end_live_blocks": "blocks live at the end"}
        for key, name in rows.items():
            self.assertRegex(text, rf"(?m)^{name} +{document[key]:,}$")
        for key in ("bytes_allocated", "max_size", "peak_live_bytes", "end_live_bytes", "peak_mapped_bytes", "transfers", "failures", "seconds"):
            self.assertIn(key, document)
        for table, key in (("Sizes", "sizes"), ("Lifetimes", "lifetimes")):
            printed = [line.split() for line in text.partition(f"\n{table} ")[2].partition("\n\n")[0].splitlines()[2:]]
            self.assertEqual([row[-2] for row in printed], [f"{one['blocks']:,}" for one in document[key]])
        self.assertEqual(sum(one["blocks"] for one in document["sizes"]), document["allocations"])
        self.assertEqual(max(one["bytes"] for one in document["live_bytes"]), document["peak_live_bytes"])
        self.assertEqual(document["facts"]["source"], "heaptrack")
        self.assertEqual(document["damage"]["truncated"], False)
        html = self.expect(0, "info", trace, "-f", "html", "-o", str(self.folder / "info.html"))
        self.assertEqual(html.text, "")
        html = (self.folder / "info.html").read_text()
        for title in ("Live bytes over time", "Sizes", "Lifetimes"):
            self.assertIn(f"<h3>{title}</h3>", html)

    def test_processes_are_told_apart(self):
        script = "for i in 1 2 3; do /bin/cat /dev/null; done; exec /bin/true"
        trace = str(self.folder / "t.mst")
        self.expect(0, "record", "-q", "-o", trace, "--", "/bin/sh", "-c", script)
        document = json.loads(self.expect(0, "info", trace, "--json").text)
        processes = document["by_process"]
        self.assertEqual(len(processes), document["processes"])
        self.assertGreaterEqual(len(processes), 4)
        programs = [process["program"] for process in processes]
        self.assertEqual(sum("cat" in program for program in programs), 3, programs)
        self.assertRegex(programs[0], r"\w+, true$")
        for key in ("allocations", "frees", "events", "end_live_bytes", "bytes_allocated", "threads"):
            self.assertEqual(sum(process[key] for process in processes), document[key], key)
        text = self.expect(0, "info", trace).text
        self.assertRegex(text, r"(?m)^\d+ cat ")
        self.assertNotIn("program.", text)
        html = self.expect(0, "info", trace, "-f", "html").text
        self.assertIn("<h3>Live bytes of each process</h3>", html)

    def refused(self, log, *options):
        """What a refusal of the log says; it leaves no trace behind."""
        outcome = self.expect(2, "import", str(log), "-o", str(self.folder / "x.mst"), *options)
        self.assertFalse((self.folder / "x.mst").exists())
        return outcome.errors

    def test_a_cut_last_line_is_bad(self):
        """What a cut leaves of a number is a number: without its newline a line is left out."""
        rmm = "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n1,00:00:02,allocate,0x90,50331648,0"
        for cut in (rmm, rmm[:-3], rmm[:-1], rmm[:-9]):
            totals = self.imported(self.put("cut.csv", cut))
            self.assertEqual((totals["allocations"], totals["bytes_allocated"], totals["bad_lines"]), (1, 64, 1), cut)
            self.assertIn("newline", self.refused(self.put("cut.csv", cut), "--strict"))
        self.check(self.put("short.csv", rmm[:-2] + "\n"), {"allocations": 1, "bad_lines": 1})
        self.check(self.put("whole.csv", (rmm + "\n").replace("\n", "\r\n")[:-1]), {"allocations": 2, "bad_lines": 0})
        whole = self.imported(LOGS / "valgrind.txt")
        cut = self.imported(self.put("valgrind.txt", (LOGS / "valgrind.txt").read_bytes()[:-1]))
        self.assertEqual(cut["bad_lines"], whole["bad_lines"] + 1)
        self.check(self.put("mtrace.txt", (LOGS / "mtrace.txt").read_bytes()[:-1]), MTRACE)  # ends in "= End"
        self.check(self.put("umpire.json", UMPIRE.rstrip("\n")), UMPIRE_TOTALS)                # a closing brace ends a line
        self.check(self.put("old.txt", "v 10000 0\n+ 64 1 7f00\n- 7f00"), {"allocations": 1, "frees": 0, "bad_lines": 1})

    def test_declared_counts_are_checked(self):
        heap = "v 10400 3\ns 1 a\ni 1 1\na 64 1\n+ 0\n# strings: {}\n# ips: {}\n"
        self.check(self.put("heap.txt", heap.format(1, 1)), {"allocations": 1, "bad_lines": 0})
        for declared in ((2, 1), (1, 0), (0, 2)):
            path = self.put("heap.txt", heap.format(*declared))
            self.check(path, {"allocations": 1, "bad_lines": 1})
            self.assertIn("strings or instruction pointers", self.refused(path, "--strict"))
        line = b"\x0a\x06\x0a\x04\x08\x00\x10\x64"
        self.check(self.put("bench.pb", line), {"allocations": 1, "bad_lines": 1})
        self.check(self.put("bench.pb", line + b"\x10\x01"), {"allocations": 1, "bad_lines": 0})
        self.check(self.put("bench.pb", line + b"\x10\x00"), {"allocations": 1, "bad_lines": 1})
        fewer = self.put("bench.pb", line + b"\x10\x02")
        self.check(fewer, {"allocations": 1, "bad_lines": 1})
        self.assertIn("fewer blocks are live at once than the log declares", self.refused(fewer, "--strict"))
        self.check(self.put("bench.pb", line + b"\x0a"), {"allocations": 1, "bad_lines": 1})

    def test_bad_lines_of_every_format_are_counted(self):
        self.check(self.put("h.txt", "v 10000 0\n+ 64 1 7f00\n+64 1 8f00\nhello\n"), {"allocations": 1, "bad_lines": 2})
        begun = "= Start\n@ a:[0x1] + 0x10 0x20\n@ a:[0x1] < 0x10\n"
        self.check(self.put("m.txt", begun + "@ a:[0x1] + 0x90 0x20\n= End\n"), {"allocations": 2, "frees": 0, "bad_lines": 1})
        self.check(self.put("m.txt", begun), {"allocations": 1, "bad_lines": 1})
        self.check(self.put("m.txt", begun + "@ a:[0x1] > 0x90 0x30\n= End\n"), {"allocations": 2, "frees": 1, "bad_lines": 0})
        records = (LOGS / "dj.mtrace").read_bytes()
        whole = self.imported(LOGS / "dj.mtrace")
        noisy = self.imported(self.put("dj", records + b"\x01garbage" * 8))
        self.assertEqual((noisy["allocations"], noisy["bad_lines"]), (whole["allocations"], 1))

    def test_no_such_format_is_an_error(self):
        """No event and no line of the format: an error that names what it could be."""
        rmm = self.put("log.csv", RMM)
        for format in FORMATS[1:]:
            text = self.refused(rmm, "--format", format)
            if format in LINES:  # binary ones say what they begin with
                self.assertIn("rmm", text, format)
        self.assertIn("mtrace", self.refused(LOGS / "mtrace.txt", "--format", "rmm"))
        self.refused(self.put("prose.txt", "v is a letter\nand this is a text\n"))
        self.refused(self.put("memcheck.txt", "==1== Memcheck, a memory error detector\n==1== in use at exit: 0 bytes\n"))
        for format in ("rmm", "umpire", "mtrace", "fleetbench"):
            self.refused(self.put("empty", ""), "--format", format)
        self.check(self.put("head.csv", RMM.split("\n", maxsplit=1)[0] + "\n"), {"events": 0, "bad_lines": 0})
        self.check(self.put("none.txt", "= Start\n= End\n"), {"events": 0, "bad_lines": 0})

    def without_end(self, head, *options):
        """What is said of a log behind whose head zeroes follow without end; it must be said soon."""
        zeroes = subprocess.Popen(["cat", self.put("head", head), "/dev/zero"], stdout=subprocess.PIPE)
        self.addCleanup(zeroes.wait)
        self.addCleanup(zeroes.kill)
        self.addCleanup(zeroes.stdout.close)
        done = subprocess.run([BINARY, "import", "-", "-o", self.folder / "x.mst", *options], stdin=zeroes.stdout, capture_output=True,
                              env=environment(), timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "x.mst").exists())
        return done.stderr.decode()

    def test_zeroes_without_end_are_no_log(self):
        for format in FORMATS:
            with self.subTest(format):
                said = "longer than 16MiB" if format in LINES else "opcode 0x00|type 255|not a Tracefile"
                self.assertRegex(self.without_end("", "--format", format), said)
        self.assertIn("line 8 is longer than 16MiB", self.without_end(RMM))
        self.assertIn("line 2 is longer than 16MiB", self.without_end("= Start\n"))
        self.assertIn("zeroes behind the gzip data", self.without_end(gzip.compress(RMM.encode())))
        self.assertIn("line 8 is longer than 16MiB", self.refused(self.put("bomb.gz", gzip.compress(RMM.encode() + bytes(64 << 20)))))
        self.assertIn("unused records", self.without_end((LOGS / "dj.mtrace").read_bytes()))

    def test_a_line_may_be_long(self):
        program = "==1== " + "x" * (8 << 20) + "\n--1-- malloc(16) = 0x4A46040\n"
        self.check(self.put("long.txt", program), {"allocations": 1, "bad_lines": 0}, "--format", "valgrind")

    def test_one_log_in_many_wrappings(self):
        log = RMM.encode()
        for content in (b"\xef\xbb\xbf" + log, log.replace(b"\n", b"\r\n"), gzip.compress(gzip.compress(log)),
                        gzip.compress(log) + bytes(100_000), gzip.compress(log[:99]) + bytes(512) + gzip.compress(log[99:]),
                        gzip.compress(b"\xef\xbb\xbf" + log)):
            path = self.put("log.bin", content)
            self.check(path, RMM_TOTALS)
            self.check(path, RMM_TOTALS, "--format", "rmm")
        layers = log
        for _ in range(6):
            layers = gzip.compress(layers)
        self.assertIn("compressed", self.refused(self.put("layers.gz", layers)))

    def test_allocations_that_returned_nothing_failed(self):
        failed = {"allocations": 1, "failures": 1, "end_live_bytes": 64, "duplicate_allocations": 0, "bad_lines": 0}
        rmm = "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n1,00:00:02,allocate,0x0,99,0\n"
        self.check(self.put("log.csv", rmm), failed)
        log = "\n".join([umpire("allocate", block("0x1000"), size=64), umpire("allocate", block("0x0"), size=99), ""])
        self.check(self.put("log.json", log), failed)
        bench = b"\x0a\x06\x0a\x04\x08\x00\x10\x40" + b"\x0a\x04\x0a\x02\x10\x63" + b"\x10\x01"
        self.check(self.put("bench.pb", bench), failed)

    def test_sizes_that_cannot_be_summed(self):
        """The event is named, and nothing runs on."""
        head = "Thread,Time,Action,Pointer,Size,Stream\n"
        row = "1,00:00:01,allocate,{:#x},{},0\n"
        wraps = head + row.format(16, 1 << 32) + row.format(64, (1 << 64) - 16)
        self.assertIn("event 2", self.refused(self.put("wraps.csv", wraps)))
        huge = self.put("huge.csv", head + row.format(16, 64) + row.format(64, (1 << 64) - 4096))
        trace = str(self.folder / "huge.mst")
        self.expect(0, "import", str(huge), "-o", trace, "-q")
        for options in ((), ("--runs", "2"), ("--policy", "rmm_pool")):
            self.assertIn("event 2", self.expect(2, "fit", trace, *options).errors)
        self.assertEqual(json.loads(self.expect(0, "info", trace, "--json").text)["peak_live_bytes"], (1 << 64) - 4096 + 64)
        self.assertIn("16,777,216.0 TiB, writes 0 B per repetition; above the budget", self.expect(0, "replay", trace, "--on", "glibc", "--dry-run").text)
        small = str(self.folder / "small.mst")
        self.expect(0, "import", str(self.put("small.csv", head + row.format(16, 64) + row.format(64, 1 << 40))), "-o", small, "-q")
        self.assertIn("event 2", self.expect(2, "fit", small, "--runs", "2", "--alignment", str(1 << 63)).errors)

    def test_fleetbench_draws_no_block_that_is_not_expected(self):
        """100,000 live blocks are asked for; the sum of the shares before the last size, 6e-8 blocks, is one less by a rounding error."""
        rows = "".join(f"{16 + size}, 1.5, 100.2\n" for size in range(999)) + "1099511627776, 0.0, 0.00000006\n"
        self.assertEqual(self.imported(self.put("sizes.csv", rows))["max_size"], 16 + 998)

    def test_segments_from_before_the_ring_are_mapped(self):
        taken = {"segments": [{"device": 0, "address": 1 << 40, "total_size": 64 << 20, "stream": 0,
                               "blocks": [{"address": 1 << 40, "size": 64 << 20, "state": "active_allocated"}]}],
                 "device_traces": [[{"action": "free_completed", "addr": 2 << 40, "size": 32 << 20, "stream": 0, "time_us": 1},
                                    {"action": "segment_free", "addr": 2 << 40, "size": 32 << 20, "stream": 0, "time_us": 2},
                                    {"action": "segment_alloc", "addr": 3 << 40, "size": 20 << 20, "stream": 0, "time_us": 3},
                                    {"action": "segment_free", "addr": 3 << 40, "size": 20 << 20, "stream": 0, "time_us": 4}]]}
        self.check(self.put("s.pickle", pickle.dumps(taken, 4)), {"peak_live_bytes": 96 << 20, "bad_lines": 0})
        self.assertIn("96.0 MiB", [line for line in self.expect(0, "info", str(self.folder / "t.mst")).text.splitlines()
                                 if "mapped" in line][0])

    def test_a_pickle_takes_no_more_than_its_size_allows(self):
        entries = [{"action": "alloc", "addr": 16, "size": 16, "time_us": 1}] * 20_000
        path = self.put("shared.pickle", pickle.dumps({"segments": [], "device_traces": [entries] * 20_000}, 4))
        self.assertLess(path.stat().st_size, 200_000)
        self.assertIn("more often", self.refused(path))

    def test_what_is_no_trace_is_not_read_to_its_end(self):
        self.assertIn("not a memsweep trace", self.expect(2, "info", "/dev/zero").errors)


if __name__ == "__main__":
    unittest.main()
