"""Who allocates: by the trace's own names, by debugging information, and by the viewers that profiles are written for."""

import base64
import collections
import gzip
import hashlib
import html
import http.server
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import threading
import unittest

from memsweep_cli import SOURCE, CliTest, environment, strict_json
from trace_bytes import Trace

LOG = SOURCE / "tests/trace/logs/heaptrack_v3.zst"
FIGURES = ["allocations", "bytes_allocated", "temporary_allocations", "peak_live_bytes", "peak_live_blocks", "end_live_bytes", "end_live_blocks"]
WEIGHTS = {"peak": "peak_live_bytes", "allocated": "bytes_allocated", "end": "end_live_bytes", "count": "allocations", "temporary": "temporary_allocations"}
FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")

PROGRAM = """
#include <cstdlib>
#include <string>
#include <vector>
namespace rows {
struct Row { std::vector<int> cells; };
static inline __attribute__((always_inline)) void* grab(std::size_t bytes)
{
    return std::malloc(bytes);  // GRAB
}
__attribute__((noinline)) void* parse_row(std::size_t bytes)
{
    void* block = grab(bytes);  // PARSE
    asm volatile("" : : "r"(block) : "memory");
    return block;
}
template <typename T> __attribute__((noinline)) T* many(std::size_t count)
{
    T* all = static_cast<T*>(std::malloc(count * sizeof(T)));
    asm volatile("" : : "r"(all) : "memory");
    return all;
}
}
extern "C" __attribute__((noinline)) int in_c(int n) { return n + static_cast<int>(reinterpret_cast<std::size_t>(rows::many<long>(n))); }
int main(int argc, char**)
{
    const auto lambda = [&] { return in_c(argc); };
    return rows::parse_row(argc) != nullptr && lambda() == 3;
}
"""


TURNS = """
#include <stdlib.h>
__attribute__((noinline)) void one(void)
{
    void* volatile block = malloc(100);
    free(block);
}
int main(void)
{
    for (int i = 0; i < 50000; i++) {
        one();
    }
    return 0;
}
"""


def heaptrack_classes(text):
    """The innermost function of each class of blocks, and what heaptrack's log says of it: an independent reading."""
    strings, functions, stacks, classes, last = [], [], [], [], None
    figures = collections.defaultdict(lambda: collections.Counter())
    live, events = 0, []
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "s":
            strings.append(rest.partition(" ")[2])
        elif kind == "i":
            numbers = [int(word, 16) for word in rest.split()]
            name = strings[numbers[2] - 1] if len(numbers) > 2 and numbers[2] else None
            functions.append(name or f"{os.path.basename(strings[numbers[1] - 1])}@0x{numbers[0]:x}")
        elif kind == "t":
            stacks.append(functions[int(rest.split()[0], 16) - 1])
        elif kind == "a":
            size, stack = (int(word, 16) for word in rest.split())
            classes.append((size, stacks[stack - 1]))
        elif kind == "+":
            size, name = classes[int(rest, 16)]
            figures[name]["allocations"] += 1
            figures[name]["bytes_allocated"] += size
            events.append((name, size))
            last = rest
        elif kind == "-":
            size, name = classes[int(rest, 16)]
            figures[name]["temporary_allocations"] += last == rest
            events.append((name, -size))
            last = None
    held, peak = collections.Counter(), 0
    for name, size in events:
        held[name] += size
        live += size
        if live > peak:
            peak, at_peak = live, dict(held)
    for name, values in figures.items():
        values["peak_live_bytes"] = at_peak.get(name, 0)
        values["end_live_bytes"] = held[name]
    return figures


def fields(data):
    """The fields of a message of Protocol Buffers by their numbers: all values of each, numbers or bytes."""
    found, at = collections.defaultdict(list), 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            found[key >> 3].append(number())
        else:
            assert key & 7 == 2, key
            length = number()
            found[key >> 3].append(data[at:at + length])
            at += length
    return found


def located_frames(data):
    """Of each address of a profile its function, file and line, innermost first."""
    profile = fields(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    functions = {function[1][0]: (strings[(function[2] or [0])[0]], strings[(function[4] or [0])[0]]) for function in map(fields, profile[5])}
    return {location[3][0]: [(*functions[line[1][0]], (line[2] or [0])[0]) for line in map(fields, location[4])] for location in map(fields, profile[4])}


def pprof_of(data):
    """A profile by google's own library of Protocol Buffers, its descriptor written from the published profile.proto."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    messages = {
        "ValueType": [(1, "type", "int64", 0), (2, "unit", "int64", 0)],
        "Label": [(1, "key", "int64", 0), (2, "str", "int64", 0), (3, "num", "int64", 0), (4, "num_unit", "int64", 0)],
        "Sample": [(1, "location_id", "uint64", 1), (2, "value", "int64", 1), (3, "label", "Label", 1)],
        "Mapping": [(1, "id", "uint64", 0), (2, "memory_start", "uint64", 0), (3, "memory_limit", "uint64", 0), (4, "file_offset", "uint64", 0),
                    (5, "filename", "int64", 0), (6, "build_id", "int64", 0), (7, "has_functions", "bool", 0), (8, "has_filenames", "bool", 0),
                    (9, "has_line_numbers", "bool", 0), (10, "has_inline_frames", "bool", 0)],
        "Line": [(1, "function_id", "uint64", 0), (2, "line", "int64", 0)],
        "Location": [(1, "id", "uint64", 0), (2, "mapping_id", "uint64", 0), (3, "address", "uint64", 0), (4, "line", "Line", 1), (5, "is_folded", "bool", 0)],
        "Function": [(1, "id", "uint64", 0), (2, "name", "int64", 0), (3, "system_name", "int64", 0), (4, "filename", "int64", 0), (5, "start_line", "int64", 0)],
        "Profile": [(1, "sample_type", "ValueType", 1), (2, "sample", "Sample", 1), (3, "mapping", "Mapping", 1), (4, "location", "Location", 1),
                    (5, "function", "Function", 1), (6, "string_table", "string", 1), (7, "drop_frames", "int64", 0), (8, "keep_frames", "int64", 0),
                    (9, "time_nanos", "int64", 0), (10, "duration_nanos", "int64", 0), (11, "period_type", "ValueType", 0), (12, "period", "int64", 0),
                    (13, "comment", "int64", 1), (14, "default_sample_type", "int64", 0)]}
    kinds = descriptor_pb2.FieldDescriptorProto
    numbers = {"int64": kinds.TYPE_INT64, "uint64": kinds.TYPE_UINT64, "bool": kinds.TYPE_BOOL, "string": kinds.TYPE_STRING}
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for index, field, kind, repeated in fields:
            entry = message.field.add(name=field, number=index, label=kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL,
                                      type=numbers.get(kind, kinds.TYPE_MESSAGE))
            if kind not in numbers:
                entry.type_name = f".perftools.profiles.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    profile = message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perftools.profiles.Profile"))()
    profile.ParseFromString(gzip.decompress(data))
    return profile


class CallSiteTest(CliTest):
    def sites(self, trace, by, *args):
        return strict_json(self.expect(0, "info", trace, "--by", by, "--top", "0", "-f", "json", *args).out)

    def check_sums(self, trace, by):
        """What all sites have together is what the trace has."""
        report, totals = self.sites(trace, by), strict_json(self.expect(0, "info", trace, "-f", "json").out)
        for figure in FIGURES:
            self.assertEqual(sum(site[figure] for site in report["sites"]), report["total"][figure], (by, figure))
        for figure in ("allocations", "bytes_allocated", "peak_live_bytes", "end_live_bytes", "end_live_blocks"):
            self.assertEqual(report["total"][figure], totals[figure], (by, figure))
        return report


class Imports(CallSiteTest):
    def setUp(self):
        super().setUp()
        self.expect(0, "import", LOG, "-o", "log.mst")

    def test_sums_over_each_grouping_are_the_totals(self):
        for by in ("site", "function", "file", "thread", "size"):
            with self.subTest(by=by):
                self.check_sums("log.mst", by)

    def test_functions_have_what_another_reading_of_heaptracks_log_says(self):
        text = subprocess.run(["zstd", "-dcq", LOG], capture_output=True, text=True, check=True).stdout
        expected = heaptrack_classes(text)
        report = self.sites("log.mst", "function")
        self.assertEqual({site["name"] for site in report["sites"]}, set(expected))
        for site in report["sites"]:
            for figure in ("allocations", "bytes_allocated", "temporary_allocations", "peak_live_bytes", "end_live_bytes"):
                self.assertEqual(site[figure], expected[site["name"]][figure], (site["name"], figure))

    def test_each_order_puts_the_most_of_its_figure_first(self):
        for order, figure in WEIGHTS.items():
            values = [site[figure] for site in self.sites("log.mst", "site", "--sort", order)["sites"]]
            self.assertEqual(values, sorted(values, reverse=True), order)

    def test_text_and_markdown_name_so_many_sites_and_say_what_is_left(self):
        for form, mark in (("text", ""), ("md", "|")):
            outcome = self.expect(0, "info", "log.mst", "--by", "function", "--top", "3", "-f", form)
            self.assertIn("sqlite3", outcome.text)
            self.assertRegex(outcome.text, r"\b\d+ more\b")
            self.assertIn(mark, outcome.text)
        self.assertIn("<table", self.expect(0, "info", "log.mst", "--by", "site", "-f", "html").text)

    def test_a_page_carries_the_tree_of_functions_and_allows_its_script(self):
        self.expect(0, "report", "log.mst", "-f", "html", "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        tree = json.loads(re.search(r'<section class="flame".*?<script type="application/json">(.*?)</script>', page, re.S)[1])
        total = self.sites("log.mst", "site")["total"]
        sums = {figure["title"]: sum(figure["own"]) for figure in tree["figures"]}
        self.assertEqual(sums, {"live at the peak": total["peak_live_bytes"], "allocated": total["bytes_allocated"],
                                "live at the end": total["end_live_bytes"], "temporary allocations": total["temporary_allocations"]})
        self.assertTrue(all(parent < node for node, parent in enumerate(tree["parent"]) if node))
        policy = re.search(r'Content-Security-Policy" content="(.*?)"', page)[1]
        for script in re.findall(r"<script>(.*?)</script>", page, re.S):
            self.assertIn(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(), html.unescape(policy))

    def test_a_report_on_a_trace_says_who_allocates_or_what_it_holds(self):
        self.assertEqual(strict_json(self.expect(0, "report", "log.mst", "-f", "json").out)["format"], "memsweep-call-sites")
        trace = Trace()
        trace.malloc(4096, 10)
        self.write("plain.mst", trace.bytes())
        self.assertEqual(strict_json(self.expect(0, "report", "plain.mst", "-f", "json").out)["format"], "memsweep-trace-summary")
        self.assertIn("csv", self.expect(2, "report", "log.mst", "-f", "csv").err.decode())

    def test_stacks_are_of_a_verbose_terminal(self):
        self.assertNotIn("__libc_start_main_impl", self.expect(0, "info", "log.mst", "--by", "site").text)
        self.assertIn("__libc_start_main_impl", self.expect(0, "-v", "info", "log.mst", "--by", "site").text)

    def test_a_pytorch_snapshot_says_which_line_holds_its_memory(self):
        frames = [{"filename": "model.py", "line": 7, "name": "forward"}, {"filename": "train.py", "line": 3, "name": "<module>"}]
        other = [{"filename": "model.py", "line": 9, "name": "backward"}, *frames[1:]]
        entry = {"stream": 0, "time_us": 1}
        snapshot = {"segments": [{"device": 0, "address": 4096, "total_size": 1 << 20, "stream": 0, "segment_type": "large", "blocks": [
                        {"size": 1024, "requested_size": 1024, "state": "active_allocated", "frames": other}, {"size": 512, "requested_size": 512, "state": "active_allocated", "frames": frames}]}],
                    "device_traces": [[{"action": "alloc", "addr": 4096 + 1024, "size": 512, "frames": frames, **entry},
                                       {"action": "alloc", "addr": 4096 + 8192, "size": 2048, "frames": frames, **entry},
                                       {"action": "free_completed", "addr": 4096 + 8192, "size": 2048, "frames": other, **entry}]]}
        self.write("snapshot.pickle", pickle.dumps(snapshot, protocol=4))
        self.expect(0, "import", "snapshot.pickle", "-o", "snapshot.mst")
        sites = {(site["file"], site["line"]): site for site in self.check_sums("snapshot.mst", "site")["sites"]}
        self.assertEqual(set(sites), {("model.py", 7), ("model.py", 9)})
        self.assertEqual(sites["model.py", 7]["bytes_allocated"], 2560)
        self.assertEqual(sites["model.py", 7]["end_live_bytes"], 512)
        self.assertEqual(sites["model.py", 9]["end_live_bytes"], 1024)  # live before the ring began
        self.assertEqual([frame["function"] for frame in sites["model.py", 7]["stack"]], ["forward", "<module>"])

    def test_without_stacks_threads_and_sizes_are_told_and_the_rest_is_said(self):
        trace = Trace()
        trace.malloc(4096, 10)
        trace.facts = {}
        self.write("plain.mst", trace.bytes())
        for by in ("site", "function", "file"):
            self.assertIn("record --stacks", self.expect(2, "info", "plain.mst", "--by", by).err.decode())
        for form in ("pprof", "collapsed"):
            self.assertIn("record --stacks", self.expect(2, "export", "plain.mst", "-f", form, "-o", "out").err.decode())
            self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.sites("plain.mst", "size")["sites"][0]["size"], 10)
        self.check_sums("plain.mst", "thread")

    def test_a_sample_without_a_block_has_callers(self):
        self.expect(0, "record", "-q", "--stacks=1TiB", "-o", "t.mst", "--", "sh", "-c", "true")
        asked = json.loads(self.expect(0, "info", "t.mst", "--json").out)
        sites = self.sites("t.mst", "site")
        self.assertEqual(sites["exact"], "callers")
        self.assertEqual(sites["total"]["bytes_allocated"], asked["bytes_allocated"])
        self.assertEqual(sites["total"]["peak_live_bytes"], asked["peak_live_bytes"])

    def compiled(self, name, source):
        self.write(f"{name}.c", source)
        subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-o", self.folder / name, self.folder / f"{name}.c"], check=True)
        return self.folder / name

    def test_a_program_that_allocates_nothing_has_no_sites(self):
        nothing = self.compiled("nothing", "int main(void) { return 0; }")
        for option in ("--stacks", "--stacks=1TiB"):
            self.expect(0, "record", "-q", option, "-o", "t.mst", "--", nothing)
            self.assertIn("Nothing was allocated.", self.expect(0, "info", "t.mst", "--by", "site").text)
            self.assertEqual(self.sites("t.mst", "site")["sites"], [])
            self.assertEqual(self.expect(0, "export", "t.mst", "-f", "collapsed").out, b"")
            self.expect(0, "export", "t.mst", "-f", "pprof", "-o", "t.pb.gz")
        self.expect(0, "record", "-q", "-o", "t.mst", "--", nothing)
        self.assertIn("was recorded without stacks", self.expect(2, "info", "t.mst", "--by", "site").errors)

    def test_a_sample_without_any_block_is_said(self):
        trace = Trace()
        trace.malloc(4096, 10)
        trace.facts = {"stacks": str(1 << 40)}
        self.write("t.mst", trace.bytes())
        for words in (("info", "t.mst", "--by", "site"), ("export", "t.mst", "-f", "collapsed")):
            self.assertIn("one in 1TiB, and no block is in it", self.expect(2, *words).errors)

    def test_the_most_at_a_time_is_known_in_a_sample(self):
        """Blocks that follow one another: what one of a sample stands for was never live together."""
        program = self.compiled("turns", TURNS)
        for every in ("4KiB", "64KiB"):
            with self.subTest(every=every):
                self.expect(0, "record", "-q", f"--stacks={every}", "-o", "t.mst", "--", program)
                report = self.sites("t.mst", "site")
                sites = {site["function"]: site for site in report["sites"]}
                self.assertEqual(sites["one"]["own_peak_live_bytes"], 100)
                self.assertFalse(sites["one"]["own_peak_is_estimate"])
                for site in report["sites"]:
                    self.assertLessEqual(site["own_peak_live_bytes"], report["total"]["own_peak_live_bytes"], site["name"])

    def test_sort_and_top_belong_to_by(self):
        self.assertIn("--by", self.expect(2, "info", "log.mst", "--top", "3").err.decode())


class Exports(CallSiteTest):
    def setUp(self):
        super().setUp()
        self.expect(0, "import", LOG, "-o", "log.mst")
        self.total = self.sites("log.mst", "function")["total"]

    def test_collapsed_stacks_weigh_what_the_trace_has(self):
        for weight, figure in WEIGHTS.items():
            lines = self.expect(0, "export", "log.mst", "-f", "collapsed", "--weight", weight).text.splitlines()
            self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), self.total[figure], weight)
            stacks = [line.rpartition(" ")[0] for line in lines]
            self.assertEqual(len(stacks), len(set(stacks)))

    def test_flamegraph_draws_collapsed_stacks(self):
        if not FLAMEGRAPH.exists():
            self.leave_out("collapsed, drawn by flamegraph.pl", "it is not installed (package libdevel-nytprof-perl)")
        folded = self.expect(0, "export", "log.mst", "-f", "collapsed", "--weight", "allocated").out
        drawn = subprocess.run(["perl", FLAMEGRAPH, "--countname=bytes"], input=folded, capture_output=True, check=True)
        self.assertEqual(drawn.stderr, b"")
        samples = re.search(r"all \(([\d,]+) bytes, 100%\)", drawn.stdout.decode())
        self.assertEqual(int(samples[1].replace(",", "")), self.total["bytes_allocated"])

    def test_pprof_says_the_same_to_another_decoder(self):
        try:
            import google.protobuf  # noqa: F401
        except ImportError:
            self.leave_out("pprof, read by another decoder", "google.protobuf is not installed (package python3-protobuf)")
        self.expect(0, "export", "log.mst", "-f", "pprof", "-o", "log.pb.gz")
        profile = pprof_of((self.folder / "log.pb.gz").read_bytes())
        strings = list(profile.string_table)
        self.assertEqual(strings[0], "")
        types = [strings[kind.type] for kind in profile.sample_type]
        sums = dict(zip(types, map(sum, zip(*(sample.value for sample in profile.sample)))))
        self.assertEqual(sums, {"alloc_objects": self.total["allocations"], "alloc_space": self.total["bytes_allocated"],
                                "peak_objects": self.total["peak_live_blocks"], "peak_space": self.total["peak_live_bytes"],
                                "inuse_objects": self.total["end_live_blocks"], "inuse_space": self.total["end_live_bytes"],
                                "temporary_objects": self.total["temporary_allocations"]})
        functions = {function.id: function for function in profile.function}
        locations = {location.id: location for location in profile.location}
        by_function = collections.Counter()
        for sample in profile.sample:
            inner = functions[locations[sample.location_id[0]].line[0].function_id]
            by_function[strings[inner.name]] += sample.value[types.index("alloc_space")]
        self.assertEqual(by_function, {site["name"]: site["bytes_allocated"] for site in self.sites("log.mst", "function")["sites"]})

    def test_go_tool_pprof_reads_it(self):
        if shutil.which("go") is None:
            self.leave_out("pprof, read by go tool pprof", "go is not installed (package golang-go)")
        self.expect(0, "export", "log.mst", "-f", "pprof", "-o", "log.pb.gz")
        top = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=alloc_space", "log.pb.gz"], cwd=self.folder, capture_output=True,
                             text=True, check=True).stdout
        first = self.sites("log.mst", "function", "--sort", "allocated")["sites"][0]
        self.assertIn(f"{first['bytes_allocated']}B", top)
        self.assertIn(first["name"], top)


class DebuggingInformation(CallSiteTest):
    BIAS = 0x5555_0000_0000

    def setUp(self):
        super().setUp()
        self.need_commands([("g++", "g++"), ("objdump", "binutils"), ("objcopy", "binutils"), ("readelf", "binutils"), ("addr2line", "binutils")])

    def build(self, *flags, name="program"):
        self.write("program.cpp", PROGRAM)
        subprocess.run(["g++", "-std=c++17", "-Wl,--build-id", "-pie", "-fPIE", *flags, "program.cpp", "-o", name], cwd=self.folder, check=True)
        return str(self.folder / name)

    @staticmethod
    def build_id(path):
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
        return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes)[1])

    @staticmethod
    def addresses(path, *functions):
        """Where each instruction of these functions begins."""
        listing = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
        found, inside = [], False
        for line in listing.splitlines():
            head = re.fullmatch(r"[0-9a-f]+ <(.*)>:", line)
            inside = any(name in head[1] for name in functions) if head else inside
            place = re.match(r"\s+([0-9a-f]+):\t", line)
            if inside and place and not re.search(r":\t(nop|cs nop|data16|xchg +%ax,%ax)", line):  # what fills up to the next function
                found.append(int(place[1], 16))
        return found

    def record(self, path, addresses, build_id=None, bias=BIAS, options=(), env=None):
        trace = Trace()
        for index, address in enumerate(addresses):
            trace.malloc(0x10000 + 64 * index, 1, [bias + address + 1])
        begin = bias + (min(addresses) & ~0xFFFFF)
        trace.module(begin, 1 << 21, bias, path, self.build_id(path) if build_id is None else build_id)
        self.write("trace.mst", trace.bytes())
        outcome = self.expect(0, "export", "trace.mst", "-f", "pprof", "-o", "trace.pb.gz", *options, env=env)
        frames = located_frames((self.folder / "trace.pb.gz").read_bytes())
        return {address - bias - 1: named for address, named in frames.items()}, outcome.err.decode()

    @staticmethod
    def addr2line(path, addresses):
        listing = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", path, *map(hex, addresses)], capture_output=True, text=True, check=True).stdout
        frames, current = {}, None
        lines = iter(listing.splitlines())
        for line in lines:
            if line.startswith("0x"):
                current = frames[int(line, 16)] = []
                continue
            file, _, number = re.sub(r" \(discriminator \d+\)", "", next(lines)).rpartition(":")
            current.append((line, "" if file == "??" else file, 0 if number in ("?", "0") else int(number)))
        return frames

    def test_functions_and_lines_are_those_of_addr2line_inlined_ones_too(self):
        for flags in (["-O2", "-g"], ["-O0", "-g"], ["-O2", "-g", "-gdwarf-4"], ["-O2", "-g", "-no-pie", "-fno-pie"]):
            with self.subTest(flags=flags):
                path = self.build(*flags)
                addresses = self.addresses(path, "parse_row", "in_c", "many<long>", "main")
                frames, notes = self.record(path, addresses, bias=0 if "-no-pie" in flags else self.BIAS)
                expected = self.addr2line(path, addresses)
                self.assertGreater(max(map(len, expected.values())), 1 if "-O2" in flags else 0)
                self.assertEqual(notes, "")
                for address in addresses:
                    self.assertEqual([(os.path.basename(file), line) for _, file, line in frames[address]],
                                     [(os.path.basename(file), line) for _, file, line in expected[address]], hex(address))
                    # Of an inlined function that no other file can name, addr2line says the name of the one around.
                    for (name, *_), (other, *_) in list(zip(frames[address], expected[address]))[-1:]:
                        self.assertEqual(name, other, hex(address))
                names = {name for located in frames.values() for name, _, _ in located}
                self.assertLessEqual({"rows::parse_row(unsigned long)", "rows::grab", "long* rows::many<long>(unsigned long)", "in_c", "main"}, names)
                self.assertTrue(any(name.startswith("main::{") and "::operator()" in name for name in names), names)

    def test_a_separate_debug_file_is_found_by_its_link(self):
        path = self.build("-O2", "-g")
        addresses = self.addresses(path, "parse_row")
        expected, _ = self.record(path, addresses)
        for command in (["objcopy", "--only-keep-debug", "program", "program.debug"], ["objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program"]):
            subprocess.run(command, cwd=self.folder, check=True)
        self.assertEqual(self.record(path, addresses)[0], expected)
        self.assertTrue(any(line for frames in expected.values() for _, _, line in frames))

    def test_debugging_information_is_fetched_where_it_is_asked_for(self):
        if not list(pathlib.Path("/usr/lib").glob("*/libdebuginfod.so.1")):
            self.skipTest("skipped: fetching debugging information: there is no libdebuginfod.so.1")
        path = self.build("-O2", "-g")
        addresses = self.addresses(path, "parse_row")
        expected, _ = self.record(path, addresses)
        for command in (["objcopy", "--only-keep-debug", "program", "kept.elsewhere"], ["strip", "program"]):
            subprocess.run(command, cwd=self.folder, check=True)
        asked = []
        whole = (self.folder / "kept.elsewhere").read_bytes()
        place = f"/buildid/{self.build_id(path).hex()}/debuginfo"

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200 if self.path == place else 404)
                self.end_headers()
                self.wfile.write(whole if self.path == place else b"")

            def log_message(self, *words):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            env = environment(DEBUGINFOD_URLS=f"http://127.0.0.1:{server.server_port}", DEBUGINFOD_CACHE_PATH=str(self.folder / "cache"))
            without, _ = self.record(path, addresses, env=env)
            self.assertEqual((asked, {line for frames in without.values() for _, _, line in frames}), ([], {0}))
            fetched, notes = self.record(path, addresses, options=("--debuginfod",), env=env)
            sites = json.loads(self.expect(0, "info", "trace.mst", "--by", "site", "-f", "json", "--debuginfod", env=env).out)["sites"]
            reported = json.loads(self.expect(0, "report", "trace.mst", "-f", "json", "--debuginfod", env=env).out)["sites"]
            server.shutdown()
        self.assertEqual((fetched, notes), (expected, ""))
        self.assertEqual(set(asked), {place})
        self.assertEqual(reported, sites)
        self.assertTrue(all(site["line"] for site in sites), sites)

    def test_fetching_needs_a_server(self):
        self.write("trace.mst", Trace().bytes())
        outcome = self.expect(2, "info", "trace.mst", "--by", "site", "--debuginfod", env=environment())
        self.assertIn("DEBUGINFOD_URLS", outcome.errors)
        self.assertIn("--by", self.expect(2, "info", "trace.mst", "--debuginfod", env=environment()).errors)
        self.assertIn("call stacks", self.expect(2, "report", "trace.mst", "--debuginfod", env=environment()).errors)

    def test_fetching_is_for_traces_with_stacks(self):
        self.write("result.json", "{}")
        self.expect(0, "record", "-q", "-o", "plain.mst", "--", "true")
        for path in ("plain.mst", "result.json"):
            outcome = self.expect(2, "report", path, "--debuginfod", env=environment(DEBUGINFOD_URLS="http://127.0.0.1:9"))
            self.assertIn("call stacks", outcome.errors)

    def test_without_debugging_information_the_symbol_table_names_functions(self):
        path = self.build("-O2")
        frames, _ = self.record(path, [self.addresses(path, name)[0] for name in ("parse_row", "in_c")])
        self.assertEqual({name for frame in frames.values() for name, _, _ in frame}, {"rows::parse_row(unsigned long)", "in_c"})

    def test_a_stripped_program_is_told_by_module_and_offset(self):
        path = self.build("-O2", "-s", name="stripped")
        frames, _ = self.record(path, [0x1234])
        self.assertEqual(frames, {0x1234: [("stripped+0x1235", "", 0)]})

    def test_a_file_that_was_replaced_is_said_and_not_read(self):
        path = self.build("-O2", "-g")
        addresses = self.addresses(path, "parse_row")
        frames, notes = self.record(path, addresses, build_id=bytes(20))
        self.assertIn("was replaced since", notes)
        self.assertTrue(all(name.startswith("program+0x") for frame in frames.values() for name, _, _ in frame), frames)
        self.assertIn("was replaced since", "".join(self.sites("trace.mst", "site")["notes"]))

    def test_a_file_that_is_gone_or_no_program_is_said(self):
        self.build("-O2", "-g")
        for path in (str(self.folder / "gone"), str(self.folder / "program.cpp"), str(self.folder), "/dev/null"):
            frames, notes = self.record(path, [0x1000], build_id=b"")
            self.assertIn(path, notes)
            self.assertEqual([name for name, _, _ in frames[0x1000]], [f"{os.path.basename(path)}+0x1001"])

    def test_code_made_at_run_time_is_named_by_its_map(self):
        process = 3_999_999  # below the kernel's largest, and hardly anybody's
        path = pathlib.Path(f"/tmp/perf-{process}.map")
        if path.exists():
            self.leave_out("maps of code made at run time", f"{path} is there")
        self.addCleanup(path.unlink)
        path.write_text("7000 100 JIT:first\nnonsense\n7100 80 JIT:second with blanks\n", encoding="utf-8")
        trace = Trace(process)
        for index, address in enumerate((0x7000, 0x7100, 0x7180, 0x6FFF)):
            trace.malloc(4096 + 64 * index, 1, [address + 1])
        self.write("jit.mst", trace.bytes())
        names = {site["name"] for site in self.sites("jit.mst", "function")["sites"]}
        self.assertEqual(names, {"JIT:first", "JIT:second with blanks", "0x7181", "0x7000"})

    def test_of_two_modules_in_one_place_the_one_that_was_there_counts(self):
        path = self.build("-O2")
        address = self.addresses(path, "parse_row")[0]
        trace = Trace()
        trace.malloc(4096, 1, [self.BIAS + address + 1])
        trace.module(self.BIAS, 1 << 20, self.BIAS, path, first=0, gone=5)
        trace.module(self.BIAS, 1 << 20, self.BIAS, "/nowhere/later.so", first=6)
        self.write("two.mst", trace.bytes())
        self.assertEqual([site["name"] for site in self.sites("two.mst", "function")["sites"]], ["rows::parse_row(unsigned long)"])


if __name__ == "__main__":
    unittest.main()
