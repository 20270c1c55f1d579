"""What `memsweep probe topology` says of a machine, beside what lstopo says: caches, nodes, distances, the drawing, the XML.

The machines are this one, those described in tests/sys/machines, and synthetic ones.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from memsweep_cli import SOURCE, CliTest, environment, strict_json

MACHINES = sorted((SOURCE / "tests/sys/machines").glob("*.xml"))
SYNTHETIC = ("pack:2 [numa(memory=4GB)] l3:2(size=32MB) l2:4(size=1MB) l1d:1(size=32kB) core:1 pu:2", "numa:4 core:2 pu:1", "pu:3")
CACHE = re.compile(r"L\d(i)?Cache")
LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")


def lstopo(form, variables):
    command = [LSTOPO, "--of", form, "--disallowed", "--no-collapse"]
    done = subprocess.run(command, env=variables, capture_output=True, check=True, text=True)
    return done.stdout


def told_by_lstopo(variables):
    """Caches counted by (level, type, size); memory and distances by node."""
    tree = ElementTree.fromstring(lstopo("xml", variables))
    objects = list(tree.iter("object"))
    names = {"0": "Unified", "1": "Data", "2": "Instruction"}
    caches = collections.Counter((int(one.get("depth")), names[one.get("cache_type")], int(one.get("cache_size")))
                                 for one in objects if CACHE.fullmatch(one.get("type")))
    nodes = {int(one.get("os_index")): int(one.get("local_memory", "0")) for one in objects if one.get("type") == "NUMANode"}
    distances = {}
    for matrix in tree.iter("distances2"):
        if matrix.get("type") != "NUMANode" or matrix.get("indexing") != "os" or not int(matrix.get("kind")) & 4:
            continue
        order = [int(number) for part in matrix.iter("indexes") for number in part.text.split()]
        values = [int(number) for part in matrix.iter("u64values") for number in part.text.split()]
        if not distances and len(order) == len(nodes):
            distances = {(row, column): values[i * len(order) + j] for i, row in enumerate(order) for j, column in enumerate(order)}
    if len(nodes) == 1:
        distances = {(node, node): 10 for node in nodes}  # by definition; hwloc leaves it out
    return caches, nodes, distances


def told_by_memsweep(document):
    caches, nodes, lists = collections.Counter(), {}, {}
    for case in document["cases"]:
        part, facts = case["params"]["part"], case.get("facts", {})
        if cache := re.fullmatch(r"l(\d)[di]?_(\d+)", part):
            caches[int(cache[1]), facts["type"], int(cache[2])] = facts["instances"]
        if node := re.fullmatch(r"node(\d+)", part):
            nodes[int(node[1])] = facts["memory_bytes"]
            if "distances" in facts:
                lists[int(node[1])] = [int(number) for number in str(facts["distances"]).split(",")]
    return caches, nodes, {(row, column): value for row, values in lists.items() for column, value in zip(sorted(nodes), values)}


class Topology(CliTest):
    def probe(self, variables, *more):
        return self.expect(0, "probe", "topology", "-f", "json", *more, env=variables)

    def compare(self, variables, *, same_memory=True):
        ours = told_by_memsweep(strict_json(self.probe(variables).out))
        theirs = told_by_lstopo(variables)
        self.assertEqual(ours[0], theirs[0], "caches")
        if same_memory:
            self.assertEqual(ours[1], theirs[1], "memory of nodes")
        self.assertEqual(sorted(ours[1]), sorted(theirs[1]), "nodes")
        self.assertEqual(ours[2], theirs[2], "distances")
        drawn, theirs = self.expect(0, "probe", "topology", env=variables).text, lstopo("console", variables)
        if not same_memory:
            drawn, theirs = (re.sub(r"\d+[KMGT]B( total)?(; \w+: \d+[KMGT]B)?\)", "SIZE)", text) for text in (drawn, theirs))
        self.assertEqual(drawn[:len(theirs)], theirs)

    def all_variables(self):
        for machine in MACHINES:
            yield machine.stem, environment(HWLOC_XMLFILE=str(machine))
        for description in SYNTHETIC:
            yield description, environment(HWLOC_SYNTHETIC=description)

    def setUp(self):
        super().setUp()
        if LSTOPO is None:
            self.leave_out("what probe topology says, beside lstopo", "no lstopo (package hwloc)")

    def test_this_machine(self):
        self.compare(environment(), same_memory=False)  # a virtual machine's may change in between

    def test_the_memory_of_this_machine_is_the_kernels_or_marked(self):
        kernel = 1024 * int(re.search(r"MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text())[1])
        document = strict_json(self.probe(environment()).out)
        nodes = told_by_memsweep(document)[1]
        marks = [warning for warning in document["warnings"] if warning["code"] == "node-memory"]
        if sum(nodes.values()) < kernel * 0.98 or sum(nodes.values()) > kernel * 1.02:
            self.assertEqual(len(marks), 1, "neither the kernel's figure nor a word that it is not")
        if len(nodes) == 1 and not any("limit" in mark["message"] for mark in marks):
            self.assertLess(abs(sum(nodes.values()) - kernel), kernel * 0.02)

    def test_memory_that_the_kernel_counts_otherwise_is_marked(self):
        """Machines described as this one: their nodes' memory is planted beside this kernel's."""
        kernel = 1024 * int(re.search(r"MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text())[1])
        for name, description, share in (("less", "numa:1(memory={}) pu:2", 3), ("more", "numa:1(memory={}) pu:2", 0.3),
                                         ("of two", "numa:2(memory={}) pu:1", 6), ("agreeing", "numa:1(memory={}) pu:2", 1)):
            with self.subTest(name):
                variables = environment(HWLOC_SYNTHETIC=description.format(int(kernel / share)), HWLOC_THISSYSTEM="1")
                document = strict_json(self.probe(variables).out)
                marks = [warning["message"] for warning in document["warnings"] if warning["code"] == "node-memory"]
                doubts = [case["facts"]["memory_doubt"] for case in document["cases"] if "memory_doubt" in case.get("facts", {})]
                drawn = self.expect(0, "probe", "topology", env=variables).text.splitlines()[0]
                if name == "agreeing":
                    self.assertEqual((marks, doubts), ([], []))
                    self.assertNotIn(";", drawn)
                    continue
                self.assertEqual(len(marks), 1)
                self.assertEqual(len(doubts), 2 if name == "of two" else 1)
                self.assertRegex(drawn, r"total; MemTotal: \d+[KMGT]B\)" if name == "more" else r"total; hwloc: \d+[KMGT]B\)")
                told = sum(told_by_memsweep(document)[1].values())
                if name == "less":
                    self.assertLess(abs(told - kernel), kernel * 0.02)

    def test_described_machines(self):
        self.assertGreaterEqual(len(MACHINES), 6)
        for name, variables in self.all_variables():
            with self.subTest(name):
                self.compare(variables)

    def test_the_xml_that_is_written_is_the_machine(self):
        for name, variables in self.all_variables():
            with self.subTest(name):
                path = pathlib.Path(self.folder) / "machine.xml"
                result = strict_json(self.probe(variables, "--xml", str(path)).out)
                self.assertEqual(result["machine"]["topology"], path.read_text())
                again = environment(HWLOC_XMLFILE=str(path))
                self.assertEqual(told_by_lstopo(again), told_by_lstopo(variables))

    def test_the_svg_has_a_box_for_every_object(self):
        for name, variables in self.all_variables():
            with self.subTest(name):
                path = pathlib.Path(self.folder) / "machine.svg"
                self.probe(variables, "--svg", str(path))
                boxes = ElementTree.parse(path).getroot().findall("{http://www.w3.org/2000/svg}rect")
                objects = ElementTree.fromstring(lstopo("xml", variables)).iter("object")
                self.assertEqual(len(boxes), len(list(objects)))

    def test_nothing_is_measured_on_a_machine_that_is_only_described(self):
        variables = environment(HWLOC_SYNTHETIC=SYNTHETIC[0])
        for what in ("latency", "all"):
            self.assertIn("another machine", self.expect(2, "probe", what, env=variables).errors)

    def test_the_nearest_node_of_each_gpu(self):
        machine = SOURCE / "tests/sys/machines/power8_four_gpus.xml"
        document = strict_json(self.probe(environment(HWLOC_XMLFILE=str(machine))).out)
        nearest = {case["facts"]["names"].split(",")[0]: case["facts"]["nearest_nodes"]
                   for case in document["cases"] if case["params"]["part"].startswith("pci_")}
        self.assertEqual(nearest, {"cuda0": "0", "cuda1": "0", "cuda2": "1", "cuda3": "1"})


if __name__ == "__main__":
    unittest.main()
