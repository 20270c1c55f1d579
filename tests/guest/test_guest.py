"""The real binary in guests with several NUMA nodes, with swap and with cgroup limits: what this machine need not have.

    python3 tests/guest/test_guest.py      MEMSWEEP: the binary; MEMSWEEP_GUEST_CACHE: where the guest's kernel is kept

Exit code 77, with the reason as the last line, where no guest can be had. Counts and placement are judged, never times: the
processors are emulated. Where pages lie is asked of the kernel (numa_maps of the worker), not of memsweep.
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
CACHE = pathlib.Path(os.environ.get("MEMSWEEP_GUEST_CACHE") or SOURCE / "build/guest")
PATIENCE_S = 400  # for a boot and its script, on a host with 20 times too much to do

# What every script may use. `step NAME COMMAND...` keeps what a command printed and its exit status. `hold NAME GROUP SCENARIO`
# starts a scenario in a cgroup ("" for none); `maps NAME PATTERN INTO` waits for a line of its worker's numa_maps that matches and
# keeps them all; `release NAME` waits for its end.
SHELL = r"""
step() { name=$1; shift; "$@" > /out/$name.out 2> /out/$name.err; echo $? > /out/$name.code; }
hold() {
    ( [ -z "$2" ] || echo 0 > /cgroup/$2/cgroup.procs
      step $1 memsweep run $3 -q -n 1 --warmup 0 --events /tmp/$1.events -o /out/$1.json ) &
}
maps() {
    while [ ! -e /out/$1.code ]; do
        pid=$(sed -n 's/.*"case_start".*"pid":\([0-9]*\).*/\1/p' /tmp/$1.events 2>/dev/null | tail -n 1)
        if [ -n "$pid" ] && cat /proc/$pid/numa_maps > /tmp/$1.maps 2>/dev/null && grep -qE "$2" /tmp/$1.maps; then
            cp /tmp/$1.maps /out/$3.maps
            return
        fi
        sleep 0.1
    done
}
release() { while [ ! -e /out/$1.code ]; do sleep 0.1; done; }
look() { hold $1 "" $3; maps $1 "$2" $1; release $1; }
"""


def scenario(name, memory, steps, **more):
    document = {"format": "memsweep-scenario", "version": 1, "name": name, "repetitions": 1, "warmup": 0, "timeout": "300s",
                "memory": memory, "steps": steps}
    return json.dumps(document | more).encode()


def array(bytes_, touch="page"):
    return {"op": "alloc", "as": "a", "dtype": "uint8", "shape": [bytes_], "touch": touch}


HOLD = {"op": "idle", "duration": "3s"}
SAMPLE = {"op": "sample", "name": "held"}
PLAIN = {"resource": "pages", "pages": "4k"}


def pages_by_node(maps, policy):
    """Pages on each node, over the mappings with this policy."""
    found = {}
    for line in maps.decode().splitlines():
        if f" {policy}" in line:
            for node, pages in re.findall(r" N(\d+)=(\d+)", line):
                found[int(node)] = found.get(int(node), 0) + int(pages)
    return found


class Guest(unittest.TestCase):
    maxDiff = None

    def boot(self, topology, script, files=None):
        outcome = machine.boot(topology, {"/bin/memsweep": BINARY}, SHELL + script, files, PATIENCE_S)
        self.console = outcome.console
        self.files = outcome.files
        return outcome

    def code(self, step):
        return int(self.files[f"{step}.code"])

    def expect(self, code, step):
        self.assertEqual(self.code(step), code, self.files[f"{step}.err"].decode() + self.files[f"{step}.out"].decode())

    def result(self, step):
        return json.loads(self.files[f"{step}.json"])

    def only_case(self, step):
        cases = self.result(step)["cases"]
        self.assertEqual(len(cases), 1)
        return cases[0]


class Nodes(Guest):
    def test_facts_of_every_topology(self):
        for name, topology in TOPOLOGIES.items():
            with self.subTest(name):
                self.boot(name, "cat /proc/sys/kernel/numa_balancing > /out/balancing\nstep doctor memsweep doctor --json\nstep facts memsweep run /t.json -q -o /out/facts.json\n",
                          {"/t.json": scenario("facts", PLAIN, [array(4 * MIB), SAMPLE], requires={"numa_nodes": len(topology.nodes)})})
                self.expect(0, "facts")
                result = self.result("facts")
                processors = sum(len(node.cpus) for node in topology.nodes)
                self.assertEqual((result["machine"]["numa_nodes"], result["machine"]["cores"]), (len(topology.nodes), processors))
                self.assertEqual(result["cases"][0]["status"], "ok")
                self.assertIn(self.code("doctor"), (0, 1))
                checks = {check["name"]: check for check in json.loads(self.files["doctor.out"])["checks"]}
                balancing = self.files["balancing"].decode().strip()
                self.assertEqual(checks["numa-balancing"]["status"] == "ok", balancing == "0", checks["numa-balancing"])

    def test_exact_faults_and_counts_on_another_kernel(self):
        steps = [array(16 * MIB), SAMPLE, {"op": "drop", "target": "a"}, {"op": "sample", "name": "dropped"}]
        self.boot("two_nodes", "step run memsweep run /t.json -q -o /out/run.json\n", {"/t.json": scenario("t", PLAIN, steps)})
        self.expect(0, "run")
        held, dropped = self.only_case("run")["points"]
        self.assertEqual((held["live_bytes"], dropped["live_bytes"]), (16 * MIB, 0))
        self.assertEqual(held["minor_faults"], 4096)
        self.assertEqual(held["working_set_delta"], 16 * MIB)
        self.assertLess(dropped["working_set_delta"], MIB)

    def test_requirements_that_a_guest_does_not_meet(self):
        self.boot("two_nodes", "step run memsweep run /t.json -q -o /out/run.json\n",
                  {"/t.json": scenario("t", PLAIN, [array(MIB)], requires={"numa_nodes": 4})})
        self.expect(4, "run")
        self.assertEqual(self.only_case("run")["status"], "skipped")
        self.assertIn("4 NUMA nodes", self.only_case("run")["reason"])


class Placement(Guest):
    """Where pages lie, by the numa_maps of the worker while it holds its array."""

    PAGES = 4096
    HELD = [array(PAGES * 4096), SAMPLE, HOLD, {"op": "sample", "name": "later"}]

    def group(self, name, **settings):
        """A cgroup with these cpuset settings."""
        writes = "".join(f"echo {value} > /cgroup/{name}/cpuset.{key}\n" for key, value in settings.items())
        return f"echo +cpuset > /cgroup/cgroup.subtree_control; mkdir /cgroup/{name}\n{writes}"

    def test_first_touch_lands_on_the_node_of_the_processor(self):
        script = "".join(self.group(f"cpu{n}", cpus=n, mems="0-1") +
                         f"hold cpu{n} cpu{n} /t.json; maps cpu{n} 'anon=4096 ' cpu{n}; release cpu{n}\n" for n in (0, 1))
        self.boot("two_nodes", script, {"/t.json": scenario("t", PLAIN, self.HELD)})
        for node in (0, 1):
            self.expect(0, f"cpu{node}")
            self.assertRegex(self.files[f"cpu{node}.maps"].decode(), rf"anon=4096 .*N{node}=4096\b")

    def test_migration_moves_every_page_and_costs_the_program_no_fault(self):
        # Under cgroup version 2 the kernel migrates what a group holds when its nodes change.
        script = self.group("move", cpus=0, mems=0) + ("hold move move /t.json; maps move 'anon=4096 .*N0=4096' before\n"
                 "echo 1 > /cgroup/move/cpuset.mems; maps move 'anon=4096 .*N1=4096' after; release move\n")
        steps = [array(self.PAGES * 4096), SAMPLE, {"op": "idle", "duration": "15s"}, {"op": "read", "target": "a"},
                 {"op": "sample", "name": "later"}]
        self.boot("two_nodes", script, {"/t.json": scenario("t", PLAIN, steps)})
        self.expect(0, "move")
        self.assertIn("before.maps", self.files)
        self.assertIn("after.maps", self.files, "not every page has moved")
        held, later = self.only_case("move")["points"]
        self.assertEqual(held["live_bytes"], later["live_bytes"])
        self.assertLess(later["minor_faults"] - held["minor_faults"], 64)

    def test_arrays_lie_where_their_policy_says(self):
        policies = {"bind1": ("bind", [1]), "bind0": ("bind", [0]), "preferred": ("preferred", [1]), "both": ("interleave", [0, 1])}
        files = {f"/{name}.json": scenario(name, PLAIN | {"numa": {"policy": policy, "nodes": nodes}}, self.HELD)
                 for name, (policy, nodes) in policies.items()}
        files["/absent.json"] = scenario("absent", PLAIN | {"numa": {"policy": "bind", "nodes": [7]}}, self.HELD)
        script = "".join(f"look {name} ' (bind|prefer|interleave).*anon=4096 ' /{name}.json\n" for name in policies)
        self.boot("two_nodes", script + "step absent memsweep run /absent.json -q -o /out/absent.json\n", files)
        for name, node in (("bind1", 1), ("bind0", 0), ("preferred", 1)):
            self.expect(0, name)
            self.assertEqual(pages_by_node(self.files[f"{name}.maps"], policies[name][0][:6]), {node: self.PAGES})
        self.assert_even("both", 2)
        self.expect(3, "absent")
        self.assertRegex(self.only_case("absent")["reason"], "node")

    def assert_even(self, step, nodes):
        self.expect(0, step)
        found = pages_by_node(self.files[f"{step}.maps"], "interleave")
        self.assertEqual(sum(found.values()), self.PAGES)
        for node in range(nodes):
            self.assertAlmostEqual(found[node], self.PAGES / nodes, delta=0.02 * self.PAGES / nodes)

    def test_interleaving_is_even_over_four_nodes_and_over_one_without_processors(self):
        for topology, nodes in (("four_nodes", 4), ("expander", 3)):
            with self.subTest(topology):
                memory = PLAIN | {"numa": {"policy": "interleave", "nodes": list(range(nodes))}}
                self.boot(topology, "look t ' interleave.*anon=4096 ' /t.json\n", {"/t.json": scenario("t", memory, self.HELD)})
                self.assert_even("t", nodes)

    def test_reserved_huge_pages_on_the_asked_node(self):
        memory = {"resource": "pages", "pages": "2MiB", "numa": {"policy": "bind", "nodes": [1]}}
        reserve = "".join(f"echo {count} > /sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages\n"
                          for node, count in ((0, 4), (1, 8)))
        files = {"/t.json": scenario("t", memory, [array(8 * MIB), SAMPLE, HOLD]),
                 "/more.json": scenario("more", memory, [array(32 * MIB), SAMPLE])}
        self.boot("two_nodes", reserve + "look t ' bind.*huge.* N1=4' /t.json\nstep more memsweep run /more.json -q -o /out/more.json\n", files)
        self.expect(0, "t")
        self.assertEqual(pages_by_node(self.files["t.maps"], "bind"), {1: 4})
        self.assertEqual(self.only_case("t")["points"][0]["working_set_delta"], 8 * MIB, "hugetlb counts in the working set")
        self.expect(3, "more")
        self.assertIn("nr_hugepages", self.only_case("more")["reason"], "names what raises the limit")


class SwapAndLimits(Guest):
    HOG = [array(64 * MIB), SAMPLE, {"op": "write", "target": "a", "touch": "page"}, {"op": "sample", "name": "again"}]
    ZRAM = "echo 256M > /sys/block/zram0/disksize; mkswap /dev/zram0 >/dev/null; swapon /dev/zram0 || exit 9\n"

    def limited(self, group, setup, *options):
        """A script that runs the scenario in a cgroup of its own."""
        return (f"echo +memory > /cgroup/cgroup.subtree_control; mkdir /cgroup/{group}; {setup}\n"
                f"step {group} sh -c 'echo $$ > /cgroup/{group}/cgroup.procs; exec memsweep run /t.json -q -o /out/{group}.json {' '.join(options)}'\n"
                f"cat /cgroup/{group}/memory.events > /out/{group}.events\n")

    def events(self, group):
        return {key: int(value) for key, value in (line.split() for line in self.files[f"{group}.events"].decode().splitlines())}

    def test_beyond_memory_high_pages_go_to_swap_and_come_back_as_major_faults(self):
        self.boot("two_nodes", self.ZRAM + self.limited("high", "echo 48M > /cgroup/high/memory.high", "--max-memory", "1GiB"),
                  {"/t.json": scenario("t", PLAIN, self.HOG)})
        self.expect(0, "high")
        held, again = self.only_case("high")["points"]
        self.assertLess(held["working_set_delta"], 64 * MIB, "not all of it can have stayed")
        self.assertGreater(again["major_faults"] - held["major_faults"], 1000)
        self.assertEqual(again["live_bytes"], 64 * MIB)
        self.assertGreater(self.events("high")["high"], 0)
        self.assertEqual(self.events("high")["oom_kill"], 0)

    def test_beyond_memory_high_without_swap_a_case_is_stalled_and_ends_at_its_timeout(self):
        self.boot("two_nodes", self.limited("stall", "echo 32M > /cgroup/stall/memory.high", "--max-memory", "1GiB", "--timeout", "5s"),
                  {"/t.json": scenario("t", PLAIN, [array(128 * MIB), SAMPLE])})
        self.expect(3, "stall")
        self.assertEqual(self.only_case("stall")["status"], "timeout")
        self.assertGreater(self.events("stall")["high"], 0)

    def test_a_case_above_the_cgroups_limit_is_refused_and_one_that_insists_is_killed_alone(self):
        files = {"/t.json": scenario("t", PLAIN, self.HOG)}
        setup = "echo 40M > /cgroup/{0}/memory.max; echo 0 > /cgroup/{0}/memory.swap.max"
        script = self.limited("refused", setup.format("refused")) + self.limited("killed", setup.format("killed"), "--max-memory", "1GiB")
        self.boot("two_nodes", script, files)
        self.expect(4, "refused")
        self.assertIn("above the budget", self.only_case("refused")["reason"])
        self.assertEqual(self.result("refused")["machine"]["cgroup_memory_max"], 40 * MIB)
        self.assertEqual(self.events("refused")["oom_kill"], 0)
        self.expect(3, "killed")
        self.assertEqual(self.only_case("killed")["status"], "error")
        self.assertIn("SIGKILL", self.only_case("killed")["reason"])
        self.assertEqual(self.events("killed")["oom_kill"], 1)


if __name__ == "__main__":
    try:
        machine = GuestMachine(CACHE)
    except Unavailable as why:
        print(why)
        sys.exit(77)
    unittest.main(verbosity=2)
