"""run --leaks: what a program holds for each operation, and the sites that make it."""

import json
import os
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from memsweep_cli import BINARY, CliTest

PROGRAM = BINARY.parent / "recorded_leak"
NUMBERS = "n=[200,400,800]"
SCRIPT = """import sys
held = []
for i in range(int(sys.argv[1])):
    block = bytearray(5000)
    if sys.argv[2] == "keep":
        held.append(block)
sys.stdout.flush()
import os
os._exit(0)
"""
LATE = """
#include <stdlib.h>
int main(int argc, char** argv)
{
    for (int i = 200; i < atoi(argv[argc - 1]); i++) {
        malloc(48);
    }
    return 0;
}
"""


class Leaks(CliTest):
    def ask(self, code, *words, options=(), numbers=NUMBERS):
        result = self.folder / "leaks.json"
        self.expect(code, "run", "--leaks", numbers, "-q", "-o", result, *options, "--", *words)
        return json.loads(result.read_text())

    def test_a_block_for_each_operation_is_exact(self):
        report = self.ask(1, PROGRAM, "${n}", "1")
        self.assertEqual((report["format"], report["format_version"], report["verdict"]), ("memsweep-leaks", 1, "leak"))
        [site] = report["sites"]
        self.assertEqual((site["bytes_per_operation"], site["blocks_per_operation"], site["exact"]), (48, 1, True))
        self.assertRegex(site["site"], r"forget.*\(recorded_leak\.cpp:\d+\)")
        self.assertRegex(site["stack"][1], r"^main ")
        self.assertEqual([(one["operations"], one["bytes"]) for one in site["held"]],
                         [(n, 48 * n) for n in (200, 400, 800)] * 2)

    def test_one_block_in_a_hundred_operations_is_found(self):
        report = self.ask(1, PROGRAM, "${n}", "100")
        [site] = report["sites"]
        self.assertEqual((site["blocks_per_operation"], site["bytes_per_operation"]), (0.01, 0.48))
        self.assertIn("forget", site["site"])

    def test_a_number_at_which_nothing_is_allocated_is_one_of_them(self):
        self.write("late.c", LATE)
        subprocess.run(["gcc", "-g", "-fno-builtin", "-o", self.folder / "late", self.folder / "late.c"], check=True)
        report = self.ask(1, self.folder / "late", "${n}")
        [site] = report["sites"]
        self.assertEqual((site["bytes_per_operation"], site["blocks_per_operation"]), (48, 1))
        self.assertEqual([(one["operations"], one["bytes"]) for one in site["held"]], [(200, 0), (400, 9600), (800, 28800)] * 2)

    def test_what_frees_all_does_not_leak(self):
        for kind in ((), ("cache",)):
            with self.subTest(kind):
                report = self.ask(0, PROGRAM, "${n}", "0", *kind)
                self.assertEqual((report["verdict"], report["sites"], report["freed_at_end"]), ("none", [], []))
        self.assertGreater(report["whole"]["held"][0]["bytes"], 0)  # the cache, which does not grow

    def test_what_grows_once_is_said_to_have_grown(self):
        """One block is forgotten, by operation 300."""
        text = " ".join(self.expect(0, "run", "--leaks", "n=[200,400,500]", "--", PROGRAM, "${n}", "300").text.split())
        self.assertRegex(text, r"No leak: what is live at the end grows from .* after 200 operations to .* after 400, and no more up to 500")
        text = " ".join(self.expect(0, "run", "--leaks", "n=[200,400,500]", "--", PROGRAM, "${n}", "0").text.split())
        self.assertIn("No leak: what is live at the end does not grow from 200 to 500 operations.", text)

    def test_what_is_freed_at_the_end_is_said_and_judged_on_request(self):
        report = self.ask(0, PROGRAM, "${n}", "0", "late")
        self.assertEqual(report["sites"], [])
        self.assertIn("work", report["freed_at_end"][0]["site"])
        self.assertEqual(report["freed_at_end"][0]["bytes_per_operation"], 100)
        text = self.expect(0, "run", "--leaks", NUMBERS, "--", PROGRAM, "${n}", "0", "late").text
        self.assertIn("--release-after 800", text)
        report = self.ask(1, PROGRAM, "${n}", "0", "late", options=("--release-after", "400"))
        self.assertEqual((report["judged"], report["operations"]), ("peak", [200, 400]))
        self.assertTrue(any("work" in site["site"] and site["blocks_per_operation"] == 1 for site in report["sites"]), report["sites"])

    def test_only_the_last_step_is_no_verdict(self):
        report = self.ask(5, PROGRAM, "${n}", "500")
        self.assertEqual((report["verdict"], report["sites"][0]["growth"]), ("unsure", "late"))

    def test_an_interpreter(self):
        self.write("p.py", SCRIPT)
        report = self.ask(1, sys.executable, "p.py", "${n}", "keep", numbers="n=[100,200,400]")
        self.assertGreaterEqual(max(site["blocks_per_operation"] for site in report["sites"]), 0.99)
        self.assertEqual(self.ask(0, sys.executable, "p.py", "${n}", "drop", numbers="n=[100,200,400]")["verdict"], "none")

    def test_processes_that_end_take_what_they_hold_with_them(self):
        report = self.ask(0, "sh", "-c", f"i=0; while [ $i -lt ${{n}} ]; do {PROGRAM} 10 10 >/dev/null; i=$((i+1)); done", numbers="n=[3,6,12]")
        self.assertEqual((report["verdict"], report["sites"]), ("none", []))
        report = self.ask(1, "bash", "-c", f"{PROGRAM} ${{n}} 1; true")  # of the program that bash waits for
        self.assertEqual(report["sites"][0]["blocks_per_operation"], 1)

    def test_what_the_program_maps_itself_is_no_verdict(self):
        report = self.ask(5, PROGRAM, "${n}", "0", "map", numbers="n=[10,20,40]")
        self.assertEqual((report["verdict"], report["mapped"]["growth"], report["mapped"]["bytes_per_operation"]), ("unsure", "steady", 65536))
        self.assertIn("what the program maps itself grows", report["headline"])

    def test_blocks_in_pools_of_an_interpreter_are_not_seen_and_said(self):
        small = [sys.executable, "-c", "import os\nheld = None\nfor _ in range(${n}): held = (held,)\nos._exit(0)"]
        outcome = self.memsweep("run", "--leaks", "n=[100,200,400]", "--", *small)
        self.assertIn(outcome.code, (0, 5), outcome)
        text = outcome.text
        self.assertIn("mapped by the program itself", text)
        self.assertIn("PYTHONMALLOC", text)

    def test_a_script(self):
        text = self.expect(1, "run", "--leaks", NUMBERS, "--shell", "--", f"{PROGRAM} ${{n}} 1").text
        self.assertIn("Leak: each operation leaves 48 B in 1 block behind", text)

    def test_reports(self):
        page, notes, junit = (self.folder / name for name in ("l.html", "l.md", "l.xml"))
        self.ask(1, PROGRAM, "${n}", "1", options=("-r", f"html={page}", "-r", f"md={notes}", "-r", f"junit={junit}"))
        for file in (page, notes):
            self.assertIn("Leak: each operation leaves 48 B in 1 block behind", file.read_text())
        suite = ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "2"))
        self.assertIn("main", suite.findall("testcase")[1].find("failure").text)
        self.ask(0, PROGRAM, "${n}", "0", options=("-r", f"junit={junit}"))
        suite = ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))

    def test_what_is_refused(self):
        for words, about in ((("--leaks", "n=[1,2]", "--", PROGRAM, "1", "1"), "no word of the program has ${n}"),
                             (("--leaks", "n=[1]", "--", PROGRAM, "${n}", "1"), "two different numbers"),
                             (("--leaks", "n=[1,1]", "--", PROGRAM, "${n}", "1"), "two different numbers"),
                             (("--leaks", "n=[a,b]", "--", PROGRAM, "${n}", "1"), "whole numbers"),
                             (("--leaks", "n=[-1,2]", "--", PROGRAM, "${n}", "1"), "whole numbers"),
                             (("--leaks", "[1,2]", "--", PROGRAM, "${n}", "1"), "NAME=VALUES"),
                             (("--leaks", "n=[1,2]"), "a program behind --"),
                             (("--release-after", "5", "--", PROGRAM, "1", "1"), "--leaks"),
                             (("--leaks", "n=[1,2,4]", "--release-after", "1", "--", PROGRAM, "${n}", "1"), "--release-after"),
                             (("--leaks", "n=[1,2]", "--count", "--", PROGRAM, "${n}", "1"), "--count"),
                             (("--leaks", "n=[1,2]", "-r", "csv", "--", PROGRAM, "${n}", "1"), "csv"),
                             (("--leaks", "n=[1,2]", "--", "./none", "${n}"), "there is no such program")):
            with self.subTest(words):
                self.assertIn(about, self.expect(2, "run", *words).errors)

    def test_what_cannot_be_recorded_or_fails_is_said(self):
        static = BINARY.parent / "recorded_static"
        if static.exists():
            self.assertIn("statically linked", self.expect(2, "run", "--leaks", "n=[1,2]", "--", static, "${n}").errors)
        self.assertIn("n=1: ", self.expect(2, "run", "--leaks", "n=[1,2]", "--", "sh", "-c", "exit 3; ${n}").errors)
        left = [name for name in os.listdir("/tmp") if name.startswith("memsweep-stacks-")]
        self.assertEqual(left, [])

    def test_mono_with_and_without_dispose(self):
        for tool in ("mono", "mcs"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        self.write("p.cs", """using System; using System.Runtime.InteropServices;
class Block : IDisposable { IntPtr at = Marshal.AllocHGlobal(1000);
  public void Dispose() { Marshal.FreeHGlobal(at); GC.SuppressFinalize(this); } ~Block() { Marshal.FreeHGlobal(at); } }
class Program { static void Main(string[] words) { int n = int.Parse(words[0]);
  for (int i = 0; i < n; i++) { var block = new Block(); if (words[1] == "dispose") block.Dispose(); } } }
""")
        subprocess.run(["mcs", "-out:p.exe", "p.cs"], cwd=self.folder, check=True, capture_output=True)
        numbers, options = "n=[500,1000,2000]", ("--release-after", "2000")
        report = self.ask(1, "mono", "p.exe", "${n}", "forget", numbers=numbers, options=options)
        self.assertTrue(any(abs(site["bytes_per_operation"] - 1000) < 50 for site in report["sites"]), report["sites"])
        report = self.ask(0, "mono", "p.exe", "${n}", "dispose", numbers=numbers, options=options)
        self.assertEqual(report["verdict"], "none")


if __name__ == "__main__":
    unittest.main()
