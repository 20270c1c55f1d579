"""How much a run needs where the log has a request that was refused, begins late, or has several devices."""

import json
import pickle
import random
import unittest

from memsweep_cli import SOURCE, CliTest

MIB = 1 << 20
RMM_HEAD = "Thread,Time,Action,Pointer,Size,Stream\n"


def rmm(*rows, head=RMM_HEAD):
    """Rows of (action, address, bytes)."""
    return head + "".join(f"1,00:00:{i // 10:02d}.{i % 10},{action},{address:#x},{size},0\n" for i, (action, address, size) in enumerate(rows))


class Allocator:
    """A program on PyTorch's allocator, and the snapshot that it takes, of a ring of some entries."""

    def __init__(self, ring, requested=True, asks=lambda size: size):
        self.ring, self.requested, self.asks = ring, requested, asks
        self.entries, self.live, self.next, self.time, self.peaks = [], {}, 1 << 40, 0, []

    def entry(self, action, address, size):
        self.time += 1
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time})

    def alloc(self, size):
        address, self.next = self.next, self.next + self.taken(size)
        self.entry("alloc", address, self.asks(size))
        self.live[address] = size
        self.peaks.append(sum(self.live.values()))
        return address

    def free(self, address):
        for action in ("free_requested", "free_completed"):
            self.entry(action, address, self.asks(self.live[address]))
        del self.live[address]
        self.peaks += [None, sum(self.live.values())]

    def oom(self, size):
        self.time += 1
        self.entries.append({"action": "oom", "device_free": 5, "size": size, "stream": 0, "time_us": self.time})

    @staticmethod
    def taken(size):
        return max(512, -(-size // 512) * 512)

    def snapshot(self, device=0, segments=True):
        blocks = [{"address": address, "size": self.taken(size), "state": "active_allocated", **({"requested_size": size} if self.requested else {})}
                  for address, size in self.live.items()]
        whole = {"device": device, "address": 1 << 40, "total_size": self.next - (1 << 40), "stream": 0, "blocks": blocks}
        return {"segments": [whole] if segments else [], "device_traces": [[]] * device + [self.entries[-self.ring:]]}


class Sizing(CliTest):
    def trace(self, name, log, *options):
        path = self.folder / name
        path.write_bytes(log.encode() if isinstance(log, str) else log if isinstance(log, bytes) else pickle.dumps(log, 4))
        trace = str(self.folder / (name + ".mst"))
        self.summary = json.loads(self.expect(0, "import", str(path), "-o", trace, "--json", *options).text)
        return trace

    def fit(self, trace, *options, code=0):
        return json.loads(self.expect(code, "fit", trace, "-f", "json", *options).text)

    def said(self, trace, *options, code=0):
        return " ".join(self.expect(code, "fit", trace, *options).text.split())

    def refused_logs(self):
        """One program in the words of every tool that logs refusals: 3,900 MiB live, 200 MiB refused, and the end."""
        held, asked = 3900 * MIB, 200 * MIB
        run = Allocator(100)
        run.alloc(held)
        run.oom(asked)
        return {
            "rmm.csv": rmm(("allocate", 16, held), ("allocate failure", 0, asked)),
            "null.csv": rmm(("allocate", 16, held), ("allocate", 0, asked)),
            "snapshot.pickle": run.snapshot(),
            "mtrace.txt": f"= Start\n@ a:[0x1] + 0x10 {held:#x}\n@ a:[0x1] + (nil) {asked:#x}\n",
            "realloc.txt": f"= Start\n@ a:[0x1] + 0x10 {held:#x}\n@ a:[0x1] ! 0x10 {asked:#x}\n",
            "calloc.txt": f"--1-- malloc({held}) = 0x10\n--1-- calloc(2,{asked // 2}) = 0x0\n",
            "valgrind.txt": f"--1-- malloc({held}) = 0x10\n--1-- _ZnwmSt11align_val_tRKSt9nothrow_t(size {asked}, al 64) = 0x0\n",
        }

    def test_a_refused_request_is_part_of_the_need(self):
        for name, log in self.refused_logs().items():
            with self.subTest(log=name):
                trace = self.trace(name, log)
                self.assertEqual(self.summary["failures"], 1)
                report = self.fit(trace)
                self.assertEqual((report["at_least"], report["refusals"], report["live_peak"], report["granted_peak"]), (True, 1, 3900 * MIB, 4100 * MIB))
                self.assertEqual((report["refused"]["size"], report["refused"]["live_bytes"]), (200 * MIB, 3900 * MIB))
                for policy in report["policies"]:
                    self.assertGreaterEqual(policy["capacity"], 4100 * MIB, policy)
                self.assertIn("needs at least 4.00 GiB", self.said(trace, "--policy", "best_fit"))
                short = self.said(trace, "--policy", "best_fit", "--capacity", "4000MiB", code=1)
                self.assertIn("at 4000 MiB the 200.0 MiB block", short)
                self.assertNotIn("fits into", short)
                more = self.said(trace, "--policy", "best_fit", "--capacity", "80GiB", code=5)  # what would have followed is unknown
                self.assertIn("whether all of it fits into 80 GiB is not known", more)
                self.assertNotIn("and fits into", self.said(trace, "--capacity", "80GiB", code=5))

    def test_only_a_request_was_refused(self):
        trace = self.trace("one.csv", rmm(("allocate failure", 0, 64 * MIB)))
        self.assertGreaterEqual(self.fit(trace, "--policy", "tlsf")["policies"][0]["capacity"], 64 * MIB)
        self.assertIn("at least", self.said(trace))

    def test_what_no_machine_has_is_left_out(self):
        trace = self.trace("calloc.txt", "--1-- malloc(64) = 0x10\n--1-- calloc(1099511627776,1099511627776) = 0x0\n--1-- malloc(9223372036854775806) = 0x0\n")
        report = self.fit(trace, "--policy", "first_fit", "--capacity", "64")
        self.assertEqual((report["policies"][0]["capacity"], report["refusals"], report["at_least"]), (64, 2, False))
        self.assertIn("2 for more than 64 PiB, left out", self.said(trace))

    def test_the_capacity_is_echoed_as_it_was_asked(self):
        trace = self.trace("log.csv", rmm(("allocate", 16, 2000 * MIB), ("free", 16, 2000 * MIB)))
        for asked, said in (("4000MiB", "4000 MiB"), ("80GiB", "80 GiB"), ("3.5GiB", "3.5 GiB"), ("6GB", "6 GB"), ("4194304000", "4194304000 B")):
            self.assertIn(f"fits into {said}", self.said(trace, "--capacity", asked))
            self.assertIn(f"fits into {said}", self.said(trace, "--policy", "tlsf", "--capacity", asked))
        self.assertIn("fits into 100 MiB under none of", self.said(trace, "--capacity", "100MiB", code=1))

    def test_the_chart_of_capacities_has_the_one_that_was_asked_for(self):
        trace = self.trace("log.csv", rmm(("allocate", 16, 2000 * MIB), ("free", 16, 2000 * MIB)))
        for asked, code in (("100MiB", 1), ("80GiB", 0)):
            page = self.expect(code, "fit", trace, "--capacity", asked, "-f", "html").text
            self.assertIn(f'"capacity: {asked[:-3]} {asked[-3:]}"', page)
            self.assertEqual(" MiB, does not fit" in page or " GiB, does not fit" in page, code == 1)
        self.assertNotIn('"capacity: ', self.expect(0, "fit", trace, "-f", "html").text)

    def run_of(self, seed, allocator, steps=400):
        random.seed(seed)
        for _ in range(steps):
            if allocator.live and random.random() < 0.48:
                allocator.free(random.choice(list(allocator.live)))
            else:
                allocator.alloc(random.randrange(1, 40 * MIB))
        return allocator

    def test_a_full_ring_is_walked_back_from_the_segments(self):
        """The peak within the ring is exact, whatever the ring has forgotten; what came before it is said not to be known."""
        for seed in range(12):
            whole = self.run_of(seed, Allocator(10**9))
            for ring in (10, 57, 200, 399):
                with self.subTest(seed=seed, ring=ring):
                    run = self.run_of(seed, Allocator(ring))
                    shown = run.peaks[-ring:]
                    before = [peak for peak in run.peaks[:-ring] if peak is not None]
                    wanted = max([peak for peak in shown if peak is not None] + before[-1:])
                    trace = self.trace("ring.pickle", run.snapshot())
                    self.assertEqual(self.summary["peak_live_bytes"], wanted)
                    self.assertEqual((self.summary["end_live_bytes"], self.summary["unknown_frees"], self.summary["bad_lines"]),
                                     (sum(run.live.values()), 0, 0))
                    self.assertTrue(all(one["stated"] == one["imported"] for one in self.summary["stated_totals"]))
                    self.assertTrue(self.fit(trace, "--policy", "best_fit")["at_least"])
                    self.assertIn("needs at least", self.said(trace, "--policy", "best_fit"))
                    self.assertIn("before the log begins", self.said(trace))
                    self.said(trace, "--policy", "best_fit", "--capacity", "900GiB", code=5)
            trace = self.trace("whole.pickle", {**whole.snapshot(segments=False)})
            self.assertEqual(self.summary["peak_live_bytes"], max(peak for peak in whole.peaks if peak is not None))
            self.assertFalse(self.fit(trace, "--policy", "best_fit")["at_least"])

    def test_a_beginning_that_is_missing_is_said_of_every_log(self):
        """Frees of blocks whose allocation the log does not have, as a log has that was cut at its start."""
        logs = {"rmm.csv": rmm(("free", 32, 50), ("allocate", 16, 4096)),
                "mtrace.txt": "= Start\n@ a:[0x1] - 0x20\n@ a:[0x1] + 0x10 0x1000\n",
                "valgrind.txt": "--1-- free(0x20)\n--1-- malloc(4096) = 0x10\n",
                "heap.txt": "v 10000 0\n- 20\n+ 1000 1 10\n",
                "attached.txt": "v 10400 3\nA\na 1000 1\n+ 0\n"}
        for name, log in logs.items():
            with self.subTest(log=name):
                trace = self.trace(name, log)
                self.assertTrue(self.fit(trace)["at_least"])
                self.assertIn("needs at least 4.00 KiB under best_fit", self.said(trace, "--policy", "best_fit"))
                self.said(trace, "--policy", "best_fit", "--capacity", "1GiB", code=5)

    def test_one_unit_for_what_is_in_the_ring_and_what_was_before(self):
        """(blocks tell what was asked for, entries have what was taken): the sum of what is live, and its unit."""
        sizes = [1000, 700, 1500, 513, 5000]
        for requested, rounded in ((True, False), (True, True), (False, False), (False, True)):
            for ring in (1, 2, 3, 100):
                with self.subTest(requested=requested, rounded=rounded, ring=ring):
                    run = Allocator(ring, requested, Allocator.taken if rounded else lambda size: size)
                    for size in sizes:
                        run.alloc(size)
                    trace = self.trace("unit.pickle", run.snapshot())
                    as_asked = not rounded and (requested or ring >= len(sizes))
                    self.assertEqual(self.summary["end_live_bytes"], sum(sizes) if as_asked else sum(map(Allocator.taken, sizes)))
                    self.assertIn("The trace's sizes are " + ("as requested" if as_asked else "rounded up to 512 B"), self.said(trace))

    def test_devices_are_never_added_up(self):
        first, second = Allocator(9), Allocator(9)
        first.alloc(3000 * MIB)
        second.alloc(1000 * MIB)
        one, other = first.snapshot(), second.snapshot(device=1)
        both = {"segments": one["segments"] + other["segments"], "device_traces": one["device_traces"] + other["device_traces"][1:]}
        trace = self.trace("two.pickle", both)
        refused = self.expect(2, "fit", trace).errors
        self.assertIn("--device", refused)
        self.assertIn("device 0, device 1", refused)
        for device, wanted in (("0", 3000 * MIB), ("1", 1000 * MIB)):
            report = self.fit(trace, "--device", device, "--policy", "first_fit")
            self.assertEqual((report["live_peak"], report["memory"]), (wanted, f"device {device}"))
        self.assertIn("Only device 1", self.said(trace, "--device", "1"))
        self.expect(2, "fit", trace, "--device", "9")
        self.assertEqual(self.fit(self.trace("one.pickle", one))["live_peak"], 3000 * MIB)
        self.expect(2, "fit", trace, "--device", "gpu")

    def test_host_and_device_are_never_added_up(self):
        def line(name, allocator, numbers=None, **texts):
            return json.dumps({"category": "operation", "name": name, "numeric_args": numbers or {}, "string_args": {"allocator_ref": allocator, **texts},
                               "tags": {"replay": "true", **({"allocator_name": texts["called"]} if "called" in texts else {})},
                               "timestamp": 1656026907658189775}, separators=(",", ":")) + "\n"

        log = (line("make_memory_resource", "0x1", called="HOST") + line("make_memory_resource", "0x2", called="DEVICE") +
               line("allocate", "0x1", {"size": 100 * MIB}, pointer="0x1000") + line("allocate", "0x2", {"size": 7 * MIB}, pointer="0x1000"))
        trace = self.trace("umpire.json", log)
        self.assertIn("device 0", self.expect(2, "fit", trace).errors)
        self.assertEqual(self.fit(trace, "--device", "0")["live_peak"], 7 * MIB)
        self.assertEqual(self.fit(trace, "--device", "host")["live_peak"], 100 * MIB)


if __name__ == "__main__":
    unittest.main()
