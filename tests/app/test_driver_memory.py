"""Memory of a device's driver under arrays, pools and traces: real under OpenCL on a processor (PoCL), skipped with the reason elsewhere."""

import json
import pickle
import unittest

from memsweep_cli import MIB, CliTest, environment

TWO = environment(POCL_DEVICES="pthread pthread", CUDA_VISIBLE_DEVICES="")
NOWHERE = environment(OCL_ICD_VENDORS="/nowhere", CUDA_VISIBLE_DEVICES="")
NO_DEVICE = "no device gpu[0-9]: .*CUDA: .+; OpenCL: .+"
FAST = ["-n", "2", "--warmup", "0"]

# PyTorch's caching allocator as its snapshots have it: three blocks live at most, 7 MiB, all freed.
TORCH = {"segments": [], "device_traces": [[
    {"action": action, "addr": addr, "size": mib * MIB, "stream": 0, "time_us": at}
    for at, (action, addr, mib) in enumerate([
        ("alloc", 0x10000000, 1), ("alloc", 0x20000000, 2), ("alloc", 0x30000000, 4),
        ("free_requested", 0x20000000, 2), ("free_completed", 0x20000000, 2), ("alloc", 0x20000000, 2),
        ("free_requested", 0x10000000, 1), ("free_completed", 0x10000000, 1),
        ("free_requested", 0x20000000, 2), ("free_completed", 0x20000000, 2),
        ("free_requested", 0x30000000, 4), ("free_completed", 0x30000000, 4)])]]}
TORCH_BYTES = 9 * MIB


class DriverMemory(CliTest):
    def scenario(self, memory, steps, **more):
        document = {"format": "memsweep-scenario", "version": 1, "name": "s", "memory": memory, "steps": steps, **more}
        path = self.folder / "s.json"
        path.write_text(json.dumps(document))
        return str(path)

    def have_devices(self, count=1):
        found = json.loads(self.expect(0, "probe", "topology", "-f", "json", env=TWO).text)["machine"]["devices"]
        if len(found) < count:
            print(f"skipped: {self.id()}: {len(found)} OpenCL devices (pocl-opencl-icd)")
        return len(found) >= count

    @staticmethod
    def exactly(case, metric):
        values = set(case["metrics"][metric]["values"])
        assert len(values) == 1, (metric, values)
        return values.pop()

    def test_arrays_and_pools(self):
        if not self.have_devices(2):
            return
        churn = [{"op": "repeat", "times": 20, "steps": [{"op": "alloc", "as": "a", "bytes": "64KiB", "count": 3, "touch": "none"},
                                                         {"op": "drop", "target": "a"}]},
                 {"op": "sample", "name": "end"}]
        path = self.scenario({"resource": "${axis.resource}", "device": "gpu1", "pool": {"kind": "${axis.pool}", "chunk": "1MiB"}},
                             churn, axes={"resource": ["pinned", "managed", "mapped", "device", "write_combined", "stream_ordered"],
                                          "pool": ["none", "classes", "tlsf"]})
        self.expect(0, "run", path, *FAST, "-q", "-o", "r.json", env=TWO)
        for case in self.result()["cases"]:
            resource, pool = case["params"]["resource"], case["params"]["pool"]
            if resource in ("write_combined", "stream_ordered"):
                self.assertEqual(case["status"], "skipped")
                self.assertRegex(case["reason"], f"gpu1 has no {resource} memory: OpenCL ")
                continue
            if case["status"] == "skipped" and resource == "managed":
                self.assertRegex(case["reason"], "no fine-grained shared virtual memory")
                continue
            self.assertEqual((case["id"], case["status"], case["reason"]), (case["id"], "ok", None))
            self.assertRegex(case["facts"]["device"], "^gpu1: .+")
            self.assertEqual("contents" in case["facts"], resource in ("mapped", "device"))
            self.assertEqual(self.exactly(case, "allocations"), 60)
            self.assertEqual(self.exactly(case, "allocated_bytes"), 60 * 65536)
            self.assertEqual(self.exactly(case, "live_bytes_peak"), 3 * 65536)
            self.assertEqual({point["live_bytes"] for point in case["points"]}, {0})
            if pool == "classes":
                self.assertEqual(self.exactly(case, "pool_misses"), 3)
            self.assertGreater(min(case["metrics"]["allocator_time"]["values"]), 0)

    def test_written_and_read(self):
        """What the processor reaches can be used like any other memory, and holds what was written."""
        if not self.have_devices():
            return
        steps = [{"op": "alloc", "as": "a", "shape": [1000], "dtype": "int64", "fill": "arange", "touch": "full"},
                 {"op": "read", "target": "a"}, {"op": "drop", "target": "a"}]
        path = self.scenario({"resource": "${axis.resource}"}, steps, axes={"resource": ["malloc", "pinned"]})
        self.expect(0, "run", path, *FAST, "-q", "-o", "r.json", env=TWO)
        sums = {json.dumps(case["metrics"]["checksum"]["values"]) for case in self.result()["cases"]}
        self.assertEqual(len(sums), 1, sums)

    def test_refused_on_load(self):
        path = self.scenario({"resource": "device"}, [{"op": "alloc", "as": "a", "bytes": 4096, "touch": "page"}])
        self.assertRegex(self.expect(2, "validate", path).errors, r's\.json:1:\d+: resource "device" is memory that the processor')
        self.scenario({"resource": "device"}, [{"op": "alloc", "as": "a", "bytes": 4096, "touch": "none"}])
        self.expect(0, "validate", path)

    def test_without_a_device_all_is_skipped_with_the_reason(self):
        path = self.scenario({"resource": "${axis.resource}"}, [{"op": "alloc", "as": "a", "bytes": 4096, "touch": "none"}],
                             axes={"resource": ["pinned", "device"]})
        self.expect(4, "run", path, *FAST, "-q", "-o", "r.json", env=NOWHERE)
        self.expect(4, "run", "driver_memory", *FAST, "-q", "-o", "c.json", env=NOWHERE)
        for case in self.result()["cases"] + self.result("c.json")["cases"]:
            self.assertEqual((case["id"], case["status"]), (case["id"], "skipped"))
            self.assertRegex(case["reason"], NO_DEVICE)
        self.expect(0, "run", path, *FAST, "-q", "-a", "resource=[malloc,device]", "-o", "m.json", env=NOWHERE)
        self.assertEqual({case["params"]["resource"]: case["status"] for case in self.result("m.json")["cases"]},
                         {"malloc": "ok", "device": "skipped"})

    def test_too_much_for_the_driver(self):
        if not self.have_devices():
            return
        path = self.scenario({"resource": "device"}, [{"op": "alloc", "as": "a", "bytes": "100TiB", "touch": "none"}])
        self.expect(4, "run", path, *FAST, "-q", "--max-memory", "1000TiB", "-o", "r.json", env=TWO)
        case = self.result()["cases"][0]
        self.assertEqual(case["status"], "skipped")
        self.assertRegex(case["reason"], "^an allocation of 100.0 TiB was refused with 0 B live, after 0 arrays: .*clCreateBuffer: the device has [0-9.]+")

    def test_the_catalog_compares_drivers_with_pools(self):
        if not self.have_devices():
            return
        self.expect(0, "run", "driver_memory", *FAST, "-q", "-o", "r.json", env=TWO)
        result = self.result()
        for case in result["cases"]:
            self.assertEqual((case["id"], case["status"]), (case["id"], "ok"))
            self.assertRegex(case["facts"]["device"], "^gpu0: ")
        for one in result["assertions"]:
            self.assertTrue(one["passed"] or one["severity"] == "warn", one)

    def torch_trace(self):
        (self.folder / "t.pickle").write_bytes(pickle.dumps(TORCH))
        self.expect(0, "import", "t.pickle", "-o", "t.mst")
        return "t.mst"

    def replayed(self, code, *options, env=TWO):
        return json.loads(self.expect(code, "replay", self.torch_trace(), *FAST, "--settle", "0s", "-f", "json", *options, env=env).text)

    def test_a_device_trace_replays_on_the_device(self):
        if not self.have_devices(2):
            return
        result = self.replayed(0, "--on", "device,pinned,device@gpu1,pool@device,tlsf@pinned@gpu1", "--release", "immediate,refcount",
                               "--touch", "all", "--no-latency")
        self.assertEqual(len(result["cases"]), 10)
        for case in result["cases"]:
            on = case["params"]["on"]
            self.assertEqual((on, case["status"], case["reason"]), (on, "ok", None))
            self.assertEqual(self.exactly(case, "events"), 8)
            self.assertEqual(self.exactly(case, "allocations"), 4)
            self.assertEqual(self.exactly(case, "allocated_bytes"), TORCH_BYTES)
            self.assertEqual(self.exactly(case, "live_bytes_peak"), 7 * MIB)
            self.assertEqual({point["live_bytes"] for point in case["points"]}, {0})
            self.assertRegex(case["facts"]["device"], "^gpu1: " if "gpu1" in on else "^gpu0: ")
            self.assertEqual("contents" in case["facts"], "pinned" not in on)

    def test_targets_are_checked_and_skipped_without_a_device(self):
        result = self.replayed(4, "--on", "device,pool@pinned", env=NOWHERE)
        for case in result["cases"]:
            self.assertEqual(case["status"], "skipped")
            self.assertRegex(case["reason"], NO_DEVICE)
        for name, said in (("devise", 'did you mean "device"'), ("arena@device", "is no allocator"), ("pool@glibc", "is no allocator"),
                           ("device@gpux", "names one device")):
            self.assertIn(said, self.expect(2, "replay", self.torch_trace(), "--on", name).errors)


if __name__ == "__main__":
    unittest.main()
