"""The real binary in guests with several NUMA nodes, with swap and with cgroup limits: what this machine need not have.

    python3 tests/guest/test_guest.py      MEMSWEEP: the binary; MEMSWEEP_GUEST_CACHE: where the guest's kernel is kept

Exit code 77, with the reason as the last line, where no guest can be had. Counts and placement are judged, never times: the
processors are emulated. Where pages lie is asked of the kernel (numa_maps of the worker), not of memsweep.

Each machine is booted once and runs the scripts of all its tests, one after the other; every command in them has a time limit of
its own, so that one that hangs costs its own test alone.
"""

import json
import os
import pathlib
import re
import sys
import unittest

from guest_machine import MIB, TOPOLOGIES, GuestMachine, Unavailable

SOURCE = pathlib.Path(os.environ.get("MEMSWEEP_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BINARY = pathlib.Path(os.environ.get("MEMSWEEP") or SOURCE / "build/release/memsweep")
PATIENCE_S = 600  # for a boot and its scripts

# What every script may use. `step NAME COMMAND...` keeps what a command printed and its exit status, and kills it after LIMIT seconds.
# `hold NAME SCENARIO` starts a scenario in the background; `worker NAME` is its worker's pid; `maps NAME PATTERN INTO` waits for a
# line of the worker's numa_maps that matches and keeps them all; `release NAME` waits for the end.
SHELL = r"""
LIMIT=120
step() { name=$1; shift; timeout -s KILL $LIMIT "$@" > /out/$name.out 2> /out/$name.err; echo $? > /out/$name.code; }
run() { step $1 memsweep run $2 -q -n 1 --warmup 0 -o /out/$1.json $3 $4 $5 $6; }
hold() { run $1 $2 --events /tmp/$1.events $3 $4 & }
worker() { sed -n 's/.*"case_start".*"pid":\([0-9]*\).*/\1/p' /tmp/$1.events 2>/dev/null | tail -n 1; }
maps() {
    while [ ! -e /out/$1.code ]; do
        pid=$(worker $1)
        if [ -n "$pid" ] && cat /proc/$pid/numa_maps > /tmp/$1.maps 2>/dev/null && grep -qE "$2" /tmp/$1.maps; then
            cp /tmp/$1.maps /out/$3.maps
            return
        fi
        sleep 0.1
    done
}
release() { while [ ! -e /out/$1.code ]; do sleep 0.1; done; }
look() { hold $1 $3 $4 $5; maps $1 "$2" $1; release $1; }
echo "+cpuset +memory" > /cgroup/cgroup.subtree_control
"""


def scenario(name, memory, steps, **more):
    document = {"format": "memsweep-scenario", "version": 1, "name": name, "repetitions": 1, "warmup": 0, "timeout": "100s",
                "memory": memory, "steps": steps}
    return json.dumps(document | more).encode()


def array(bytes_, touch="page"):
    return {"op": "alloc", "as": "a", "dtype": "uint8", "shape": [bytes_], "touch": touch}


def sample(name):
    return {"op": "sample", "name": name}


PAGES = 4096
PLAIN = {"resource": "pages", "pages": "4k"}
HELD = [array(PAGES * 4096), sample("held"), {"op": "idle", "duration": "1500ms"}, sample("later")]


def pages_by_node(maps, policy):
    """Pages on each node, over the mappings with this policy."""
    found = {}
    for line in maps.decode().splitlines():
        if f" {policy}" in line:
            for node, pages in re.findall(r" N(\d+)=(\d+)", line):
                found[int(node)] = found.get(int(node), 0) + int(pages)
    return found


class Guest(unittest.TestCase):
    """Tests of one machine: `parts` names, for every test, its script and the files that it needs."""

    maxDiff = None
    topology = None
    programs = {}
    parts = ()

    @classmethod
    def setUpClass(cls):
        script, files = SHELL, {}
        for part, more in cls.parts:
            script += f"\n{part}\n"
            files |= {f"/{name}.json": data for name, data in more.items()}
        cls.outcome = machine.boot(cls.topology, {"/bin/memsweep": BINARY, **cls.programs}, script, files, PATIENCE_S)

    @property
    def files(self):
        return self.outcome.files

    def text(self, name):
        self.assertIn(name, self.files, f"the script did not get so far:\n{self.outcome.console[-3000:]}")
        return self.files[name].decode()

    def expect(self, code, step):
        self.assertEqual(int(self.text(f"{step}.code")), code, self.text(f"{step}.err") + self.text(f"{step}.out"))

    def result(self, step):
        return json.loads(self.text(f"{step}.json"))

    def only_case(self, step):
        cases = self.result(step)["cases"]
        self.assertEqual(len(cases), 1)
        return cases[0]

    def values(self, case, metric):
        return case["metrics"][metric]["values"]

    def check_resident(self, point, bytes_):
        """The kernel may map or take a few of the worker's own pages meanwhile."""
        self.assertAlmostEqual(point["working_set_delta"], bytes_, delta=8 * 4096)

    def check_facts(self):
        topology = TOPOLOGIES[self.topology]
        self.expect(0, "facts")
        result = self.result("facts")
        processors = sum(len(node.cpus) for node in topology.nodes)
        self.assertEqual((result["machine"]["numa_nodes"], result["machine"]["cores"]), (len(topology.nodes), processors))
        self.assertEqual(result["cases"][0]["status"], "ok")

    def check_probe(self):
        topology = TOPOLOGIES[self.topology]
        self.expect(0, "probe")
        result = self.result("probe")
        rows = [f"node{number}" for number, node in enumerate(topology.nodes) if node.cpus]
        cols = [f"node{number}" for number in range(len(topology.nodes))]
        matrices = {matrix["name"]: matrix for matrix in result["matrices"]}
        self.assertEqual(set(matrices), {"numa_read", "numa_write", "numa_copy", "numa_latency"})
        for matrix in matrices.values():
            self.assertEqual((matrix["rows"], matrix["cols"], matrix["reasons"]), (rows, cols, {}))
            self.assertTrue(all(value > 0 for row in matrix["values"] for value in row))
        for case in result["cases"]:
            self.assertEqual(case["status"], "ok", case["reason"])
            self.assertRegex(case["facts"]["placement"], rf"^[0-9]+ pages on node {case['params']['mem_node']} \(move_pages\)$")

    def check_even(self, step, nodes):
        self.expect(0, step)
        found = pages_by_node(self.files[f"{step}.maps"], "interleave")
        self.assertEqual(sum(found.values()), PAGES)
        for node in range(nodes):
            self.assertAlmostEqual(found[node], PAGES / nodes, delta=0.02 * PAGES / nodes)


def facts(nodes):
    steps = [array(4 * MIB), sample("held")]
    return "run facts /facts.json", {"facts": scenario("facts", PLAIN, steps, requires={"numa_nodes": nodes})}


def probe():
    return "step probe memsweep probe bandwidth -k probe_numa --size 2MiB --min-time 2ms -n 1 -q -o /out/probe.json", {}


def interleaved(nodes):
    memory = PLAIN | {"numa": {"policy": "interleave", "nodes": list(range(nodes))}}
    return "look even ' interleave.*anon=4096 ' /even.json", {"even": scenario("even", memory, HELD)}


POLICIES = {"bind1": ("bind", [1]), "bind0": ("bind", [0]), "preferred": ("preferred", [1])}


def finalizer():
    """Samples while another thread unmaps one array after the other: a kernel may then leave mappings out of what it adds up."""
    many = {"op": "alloc", "as": "many", "count": 1000, "dtype": "uint8", "shape": [8 * 4096], "touch": "page"}
    steps = [array(16 * MIB), many, {"op": "drop", "target": "many"}, {"op": "collect"},
             {"op": "repeat", "times": 20, "steps": [sample("meanwhile")]}, {"op": "drain"}, sample("after")]
    return "run finalizer /finalizer.json", {"finalizer": scenario("finalizer", PLAIN, steps, release={"mode": "finalizer"})}


def policies():
    files = {name: scenario(name, PLAIN | {"numa": {"policy": policy, "nodes": nodes}}, HELD)
             for name, (policy, nodes) in POLICIES.items()}
    files["absent"] = scenario("absent", PLAIN | {"numa": {"policy": "bind", "nodes": [7]}}, HELD)
    files["weighted"] = scenario("weighted", PLAIN | {"numa": {"policy": "weighted", "nodes": [0, 1]}}, HELD)
    script = "".join(f"look {name} ' (bind|prefer).*anon=4096 ' /{name}.json\n" for name in POLICIES)
    return script + "run absent /absent.json\nrun weighted /weighted.json", files


def first_touch():
    script = ""
    for cpu in (0, 1):
        group = f"/cgroup/cpu{cpu}"
        script += (f"mkdir {group}; echo {cpu} > {group}/cpuset.cpus; echo 0-1 > {group}/cpuset.mems\n"
                   f"( echo 0 > {group}/cgroup.procs; look touch{cpu} 'anon=4096 ' /touch.json )\n")
    return script, {"touch": scenario("touch", PLAIN, HELD)}


def migration():
    steps = [array(PAGES * 4096, "full"), {"op": "read", "target": "a"}, sample("before"), {"op": "migrate", "target": "a", "node": 1},
             sample("after"), {"op": "idle", "duration": "1500ms"}, {"op": "read", "target": "a"}, sample("read")]
    memory = PLAIN | {"numa": {"policy": "preferred", "nodes": [0]}}
    nowhere = [array(MIB), {"op": "migrate", "target": "a", "node": 5}]
    return ("look moved ' prefer.*anon=4096 .*N1=4096' /moved.json\nrun nowhere /nowhere.json",
            {"moved": scenario("moved", memory, steps), "nowhere": scenario("nowhere", PLAIN, nowhere)})


def group_migration():
    # Under cgroup version 2 the kernel migrates what a group holds when its nodes change.
    steps = [array(PAGES * 4096), sample("held"), {"op": "idle", "duration": "6s"}, {"op": "read", "target": "a"}, sample("later")]
    script = ("mkdir /cgroup/move; echo 0 > /cgroup/move/cpuset.cpus; echo 0 > /cgroup/move/cpuset.mems\n"
              "( echo 0 > /cgroup/move/cgroup.procs; hold group /group.json; maps group 'anon=4096 .*N0=4096' group_before\n"
              "echo 1 > /cgroup/move/cpuset.mems; maps group 'anon=4096 .*N1=4096' group_after; release group )")
    return script, {"group": scenario("group", PLAIN, steps)}


def node_pools():
    # Each thread writes what the other has allocated: where it lies is the pool's doing, not the first touch's.
    steps = [{"op": "parallel", "threads": 2, "steps": [array(PAGES * 4096, "none"), {"op": "pass", "target": "a"},
              {"op": "write", "target": "a", "touch": "page"}, {"op": "idle", "duration": "8s"}]}, sample("end")]
    memory = PLAIN | {"pool": {"kind": "classes", "per_node": True}}
    script = "hold pools /pools.json\n" + "".join(f"maps pools ' prefer:{n} .*anon=4096 ' pools{n}\n" for n in (0, 1)) + "release pools"
    return script, {"pools": scenario("pools", memory, steps)}


def hugetlb():
    memory = {"resource": "pages", "pages": "2MiB", "numa": {"policy": "bind", "nodes": [1]}}
    reserve = "".join(f"echo {count} > /sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages\n"
                      for node, count in ((0, 4), (1, 8)))
    free = "".join(f"echo 0 > /sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages\n" for node in (0, 1))
    held = [array(7 * MIB), sample("held"), {"op": "idle", "duration": "1500ms"}]  # the last page is not filled
    return (reserve + "look huge ' bind.*huge.* N1=4' /huge.json\nrun more /more.json\n" + free,
            {"huge": scenario("huge", memory, held), "more": scenario("more", memory, [array(32 * MIB), sample("held")])})


def gigantic(node):
    memory = {"resource": "pages", "pages": "1GiB", "numa": {"policy": "bind", "nodes": [node]}}
    return (f"look gigantic ' bind.*huge.* N{node}=1' /gigantic.json --max-memory 2GiB\n"
            f"run two /two.json --max-memory 4GiB\n",
            {"gigantic": scenario("gigantic", memory, HELD), "two": scenario("two", memory, [array(1024 * MIB + 1), sample("held")])})


def limits():
    """Beyond memory.high with swap and without, and beyond memory.max. Only the worker lies under memory.high: memsweep itself, which
    must end it, would be throttled as much."""
    hog = [array(MIB), {"op": "idle", "duration": "2s"}, {"op": "alloc", "as": "b", "dtype": "uint8", "shape": [64 * MIB], "touch": "page"},
           sample("held"), {"op": "write", "target": "b", "touch": "page"}, sample("again")]
    script = ""
    swap = "echo 256M > /sys/block/zram0/disksize; mkswap /dev/zram0 >/dev/null; swapon /dev/zram0\n"
    for name, before in (("high", swap), ("stall", "swapoff /dev/zram0\n")):
        script += (f"{before}mkdir /cgroup/{name}; echo 48M > /cgroup/{name}/memory.high\n"
                   f"hold {name} /{name}.json --max-memory 1GiB\n"
                   f"while [ -z \"$(worker {name})\" ] && [ ! -e /out/{name}.code ]; do sleep 0.05; done\n"
                   f"echo $(worker {name}) > /cgroup/{name}/cgroup.procs; release {name}\n"
                   f"cat /cgroup/{name}/memory.events > /out/{name}.events; cat /cgroup/{name}/memory.pressure > /out/{name}.pressure\n")
    for name, options in (("refused", ""), ("killed", "--max-memory 1GiB")):
        script += (f"mkdir /cgroup/{name}; echo 40M > /cgroup/{name}/memory.max; echo 0 > /cgroup/{name}/memory.swap.max\n"
                   f"( echo 0 > /cgroup/{name}/cgroup.procs; run {name} /max.json {options} )\n"
                   f"cat /cgroup/{name}/memory.events > /out/{name}.events\n")
    most = [array(64 * MIB), sample("held")]
    return script, {"high": scenario("high", PLAIN, hog), "stall": scenario("stall", PLAIN, hog, timeout="8s"),
                    "max": scenario("max", PLAIN, most)}


def trims():
    """What is trimmed goes to swap and comes back as it was; the group's own reclaim chooses among all pages of the group."""
    steps = [{"op": "alloc", "as": "a", "dtype": "float64", "shape": [PAGES * 512], "fill": "arange", "touch": "full"}, sample("held"),
             {"op": "trim", "target": "a", "how": "${axis.trim}"}, sample("trimmed"), {"op": "read", "target": "a"}, sample("again")]
    script = ("echo 1 > /sys/block/zram0/reset; echo 256M > /sys/block/zram0/disksize; mkswap /dev/zram0 >/dev/null; swapon /dev/zram0\n"
              "mkdir /cgroup/trim; ( echo 0 > /cgroup/trim/cgroup.procs; run trims /trims.json )\nswapoff /dev/zram0\n")
    return script, {"trims": scenario("trims", PLAIN, steps, axes={"trim": ["none", "pageout", "cgroup"]})}


def explained():
    """Of programs whose memory is known: half of it free in the heap, and held by what lives in between."""
    script = "uname -r > /out/kernel\nexport LD_LIBRARY_PATH=/bin\n"
    for kind in ("retain", "pins", "leak", "huge"):
        script += f"step explain_{kind} memsweep explain -f json -o /out/explain_{kind}.json -- recorded_memory {kind}\n"
    return script, {}


class TwoNodes(Guest):
    topology = "two_nodes"
    programs = {"/bin/libmemsweep_record.so": BINARY.parent / "libmemsweep_record.so", "/bin/recorded_memory": BINARY.parent / "recorded_memory"}
    parts = (facts(2), probe(), interleaved(2), policies(), first_touch(), migration(), group_migration(), node_pools(), hugetlb(), finalizer(),
             ("run unmet /unmet.json", {"unmet": scenario("unmet", PLAIN, [array(MIB)], requires={"numa_nodes": 4})}),
             ("run placement /placement.json", {"placement": (SOURCE / "scenarios/catalog/numa_placement.json").read_bytes()}),
             limits(), trims(), explained())

    def test_facts(self):
        self.check_facts()
        point = self.result("facts")["cases"][0]["points"][0]
        self.assertEqual((point["live_bytes"], point["minor_faults"]), (4 * MIB, 1024))
        self.check_resident(point, 4 * MIB)

    def test_the_probe_s_matrix_is_complete_and_every_buffer_lies_where_it_was_bound(self):
        self.check_probe()

    def test_requirements_that_a_guest_does_not_meet(self):
        self.expect(4, "unmet")
        self.assertEqual(self.only_case("unmet")["status"], "skipped")
        self.assertIn("4 NUMA nodes", self.only_case("unmet")["reason"])

    def test_a_program_explained_on_a_kernel_before_its_scan_of_pages(self):
        release = tuple(int(number) for number in re.findall(r"\d+", self.text("kernel"))[:2])
        for kind, word in (("retain", "retention"), ("pins", "fragmentation"), ("leak", "leak"), ("huge", None)):
            with self.subTest(kind):
                self.expect(0, f"explain_{kind}")
                report = self.result(f"explain_{kind}")
                self.assertEqual(report["sum"], report["rss"])
                if word is not None:
                    self.assertEqual(report["verdict"]["word"], word, report["categories"])
                said = any("no PAGEMAP_SCAN" in one for one in report["warnings"])
                self.assertEqual(said, release < (6, 7), report["warnings"])

    def test_interleaving_is_even(self):
        self.check_even("even", 2)

    def test_what_another_thread_unmaps_hides_nothing_that_is_resident(self):
        self.expect(0, "finalizer")
        points = self.only_case("finalizer")["points"]
        self.assertEqual(len(points), 21)
        self.check_resident(points[-1], 16 * MIB)
        for point, later in zip(points, points[1:]):
            self.assertGreater(point["working_set_delta"], later["live_bytes"] - 16 * 4096, "it only shrinks")

    def test_arrays_lie_where_their_policy_says(self):
        for name, (policy, (node,)) in POLICIES.items():
            self.expect(0, name)
            self.assertEqual(pages_by_node(self.files[f"{name}.maps"], policy[:6]), {node: PAGES})

    def test_nodes_and_policies_that_cannot_be_had_are_named(self):
        self.expect(3, "absent")
        self.assertIn("no such NUMA node", self.only_case("absent")["reason"])
        self.expect(3, "nowhere")
        self.assertIn("no such NUMA node", self.only_case("nowhere")["reason"])
        self.expect(4, "weighted")  # the guest's kernel is older than 6.9
        self.assertIn("6.9", self.only_case("weighted")["reason"])

    def test_first_touch_lands_on_the_node_of_the_processor(self):
        for node in (0, 1):
            self.expect(0, f"touch{node}")
            self.assertRegex(self.text(f"touch{node}.maps"), rf"anon=4096 .*N{node}=4096\b")

    def test_migrating_moves_every_page_and_keeps_what_is_in_it(self):
        self.expect(0, "moved")
        self.assertEqual(pages_by_node(self.files["moved.maps"], "prefer"), {1: PAGES})
        case = self.only_case("moved")
        self.assertEqual((self.values(case, "migrated_bytes"), self.values(case, "unmoved_bytes")), ([PAGES * 4096], [0]))
        after, read = case["points"][1:]
        self.assertLess(read["minor_faults"] - after["minor_faults"], 64, "what was moved is there")

    def test_a_group_whose_nodes_change_takes_every_page_along(self):
        self.expect(0, "group")
        self.assertRegex(self.text("group_before.maps"), r"anon=4096 .*N0=4096\b")
        self.assertRegex(self.text("group_after.maps"), r"anon=4096 .*N1=4096\b")
        held, later = self.only_case("group")["points"]
        self.assertLess(later["minor_faults"] - held["minor_faults"], 64)

    def test_pools_per_node_hold_memory_of_their_node_whoever_touches_it(self):
        self.expect(0, "pools")
        for node in (0, 1):
            self.assertEqual(pages_by_node(self.files[f"pools{node}.maps"], f"prefer:{node} "), {node: PAGES})
        self.assertEqual(self.values(self.only_case("pools"), "passed_arrays"), [2])

    def test_reserved_huge_pages_on_the_asked_node(self):
        self.expect(0, "huge")
        self.assertEqual(pages_by_node(self.files["huge.maps"], "bind"), {1: 4})
        self.check_resident(self.only_case("huge")["points"][0], 8 * MIB)  # hugetlb counts in the working set
        self.expect(3, "more")
        self.assertIn("nr_hugepages", self.only_case("more")["reason"], "names what raises the limit")

    def test_the_catalog_s_placements(self):
        self.expect(0, "placement")
        result = self.result("placement")
        statuses = {case["params"]["policy"]: case["status"] for case in result["cases"]}
        self.assertEqual(statuses, {"none": "ok", "bind": "ok", "preferred": "ok", "interleave": "ok", "weighted": "skipped"})
        self.assertEqual([one for one in result["assertions"] if one["passed"] is False], [])

    def test_what_is_paged_out_or_reclaimed_comes_back_from_swap_as_it_was(self):
        self.expect(0, "trims")
        cases = {case["params"]["trim"]: case for case in self.result("trims")["cases"]}
        self.assertEqual({case["status"] for case in cases.values()}, {"ok"})
        sums = {how: self.values(case, "checksum") for how, case in cases.items()}
        self.assertEqual((sums["pageout"], sums["cgroup"]), (sums["none"], sums["none"]))
        for how, case in cases.items():
            held, trimmed, again = case["points"]
            came_back = again["major_faults"] - trimmed["major_faults"]
            if how == "none":
                self.assertLess(came_back, PAGES // 16)
                self.assertAlmostEqual(trimmed["working_set_delta"], held["working_set_delta"], delta=8 * 4096)
            else:
                self.assertEqual(self.values(case, "trimmed_bytes"), [PAGES * 4096])
                self.assertLess(trimmed["working_set_delta"], held["working_set_delta"] - PAGES * 4096 // 4,
                                "pages that are still being written to swap stay for the moment")
                self.assertGreater(came_back, PAGES // 16, "swap is read ahead, eight pages at a time")

    def events(self, group):
        return {key: int(value) for key, value in (line.split() for line in self.text(f"{group}.events").splitlines())}

    def test_beyond_memory_high_pages_go_to_swap_and_come_back_as_major_faults(self):
        self.expect(0, "high")
        held, again = self.only_case("high")["points"]
        self.assertLess(held["working_set_delta"], 64 * MIB, "not all of it can have stayed")
        self.assertGreater(again["major_faults"] - held["major_faults"], 1000)
        self.assertEqual(again["live_bytes"], 65 * MIB)
        self.assertGreater(self.events("high")["high"], 0)
        self.assertEqual(self.events("high")["oom_kill"], 0)

    def test_beyond_memory_high_without_swap_a_case_is_stalled_and_ends_at_its_timeout(self):
        self.expect(3, "stall")
        self.assertEqual(self.only_case("stall")["status"], "timeout")
        self.assertGreater(self.events("stall")["high"], 0)
        stalled_us = int(re.search(r"^full .*total=(\d+)", self.text("stall.pressure"), re.MULTILINE).group(1))
        self.assertGreater(stalled_us, 1_000_000)

    def test_a_case_above_the_group_s_limit_is_refused_and_one_that_insists_is_killed_alone(self):
        self.expect(4, "refused")
        self.assertIn("above the budget", self.only_case("refused")["reason"])
        self.assertEqual(self.result("refused")["machine"]["cgroup_memory_max"], 40 * MIB)
        self.assertEqual(self.events("refused")["oom_kill"], 0)
        self.expect(3, "killed")
        self.assertEqual(self.only_case("killed")["status"], "error")
        self.assertRegex(self.only_case("killed")["reason"], r"^repetition 1: out of memory: .*\(SIGKILL\) at its control group's limit of 40(\.0)? MiB")
        self.assertEqual(self.events("killed")["oom_kill"], 1)


class FourNodes(Guest):
    topology = "four_nodes"
    parts = (facts(4), probe(), interleaved(4))

    def test_facts(self):
        self.check_facts()

    def test_the_probe_s_matrix_is_complete_and_every_buffer_lies_where_it_was_bound(self):
        self.check_probe()

    def test_interleaving_is_even(self):
        self.check_even("even", 4)


class Expander(Guest):
    """Two nodes with a processor each, and one of memory alone."""

    topology = "expander"
    parts = (facts(3), probe(), interleaved(3), gigantic(2),
             ("look far ' bind.*anon=4096 ' /far.json",
              {"far": scenario("far", PLAIN | {"numa": {"policy": "bind", "nodes": [2]}}, HELD)}))

    def test_facts(self):
        self.check_facts()

    def test_the_probe_s_matrix_is_complete_and_every_buffer_lies_where_it_was_bound(self):
        self.check_probe()

    def test_interleaving_is_even_over_a_node_without_processors(self):
        self.check_even("even", 3)

    def test_a_page_of_a_gib_on_the_asked_node(self):
        self.assertIsNone(self.only_case("gigantic")["reason"])
        self.expect(0, "gigantic")
        self.assertEqual(pages_by_node(self.files["gigantic.maps"], "bind"), {2: 1})
        self.check_resident(self.only_case("gigantic")["points"][0], 1024 * MIB)
        self.expect(3, "two")
        self.assertRegex(self.only_case("two")["reason"], "hugepages-1048576kB|nr_hugepages", "names what raises the limit")

    def test_pages_lie_on_the_node_without_processors(self):
        self.expect(0, "far")
        self.assertEqual(pages_by_node(self.files["far.maps"], "bind"), {2: PAGES})


if __name__ == "__main__":
    try:
        machine = GuestMachine()
    except Unavailable as why:
        print(f"\nskipped: NUMA guests: {why}", flush=True)
        print(why)
        sys.exit(77)
    unittest.main(verbosity=2)
