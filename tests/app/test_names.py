"""The same program under another name, at another path, in another folder: no change of the program, and called none."""

import json
import os
import shutil
import sys
import unittest

from memsweep_cli import BINARY, NO_TIMES, CliTest, environment

PROGRAM = BINARY.parent / "recorded_amount"
COUNTED = ("allocations", "allocated_bytes", "live_bytes_peak", "live_bytes_end")
# Python's and Perl's blocks depend on where the kernel puts their memory, in about one run of a hundred: six rounds may then decide nothing.
EXACT = {"sh"}
SHORT, LONG = "base", "candidate-of-the-pull-request-with-the-longest-name-of-all"
SHELL = """here=$(cd "$(dirname "$0")" && pwd)
list=
for file in "$here"/*; do list="$list $file"; done
echo "${#0} $0 $here" >>"$NOTES"
cat "$here/beside.txt" "$(dirname "$0")/../shared.txt" >/dev/null
"""
PYTHON = """import beside, os, sys
with open(os.environ["NOTES"], "a") as notes:
    print(len(sys.argv[0]), sys.argv[0], os.path.dirname(os.path.abspath(__file__)), beside.__file__, file=notes)
"""
PERL = 'use FindBin; open(my $n, ">>", $ENV{NOTES}); print $n length($0), " $0 $FindBin::Bin\\n"; -e "$FindBin::Bin/beside.txt" or die;'


class Names(CliTest):
    def setUp(self):
        super().setUp()
        self.result = self.folder / "r.json"
        self.notes = self.folder / "notes"
        self.write("shared.txt", "")
        for folder in (SHORT, LONG):
            self.write(f"{folder}/beside.txt", "")
            self.write(f"{folder}/beside.py", "")
            self.write(f"{folder}/p.sh", SHELL)
            self.write(f"{folder}/p.py", PYTHON)
            self.write(f"{folder}/p.pl", PERL)

    def programs(self):
        yield "sh", lambda folder: ["sh", f"{folder}/p.sh"]
        yield "python", lambda folder: [sys.executable, f"{folder}/p.py"]
        for name, interpreter, script in (("perl", "perl", "p.pl"),):
            if shutil.which(interpreter):
                yield name, lambda folder, interpreter=interpreter, script=script: [interpreter, f"{folder}/{script}"]
            else:
                print(f"\nskipped: {self.id()}: {name}: is not installed", file=sys.stderr, flush=True)

    def against(self, code, base, candidate, *options):
        return self.expect(code, "run", "-o", self.result, *NO_TIMES, *options, "--against", " ".join(base), "--", *candidate,
                           env=environment(NOTES=os.fspath(self.notes)))

    def cases(self):
        return json.loads(self.result.read_text())["cases"]

    def test_the_same_program_at_another_path(self):
        for name, words in self.programs():
            for base, candidate in ((SHORT, LONG), (LONG, SHORT)):
                with self.subTest(name, base=base):
                    outcome = self.against((0,) if name in EXACT else (0, 5), words(base), words(candidate), "-n", "6")
                    self.assertNotIn("regressed", outcome.text)
                    self.assertNotIn("improved", outcome.text)
                    self.assertEqual([case["status"] for case in self.cases()], ["ok", "ok"])

    def test_both_are_called_by_names_of_one_length(self):
        for name, words in self.programs():
            with self.subTest(name):
                self.notes.write_text("")
                self.against(5, words(SHORT), words(LONG), "-n", "1")
                notes = [line.split() for line in self.notes.read_text().splitlines()]
                self.assertEqual(len({length for length, *_ in notes}), 1, notes)
                self.assertEqual({os.path.realpath(self.folder / called) for _, called, *_ in notes},
                                 {os.path.realpath(self.folder / words(folder)[1]) for folder in (SHORT, LONG)})
                folders = {os.path.realpath(folder) for _, _, folder, *_ in notes}
                self.assertEqual(folders, {os.path.realpath(self.folder / folder) for folder in (SHORT, LONG)}, "each finds its own folder")

    def test_a_binary_by_another_name(self):
        for name in ("app-main", "app-of-the-pull-request"):
            shutil.copy(PROGRAM, self.folder / name)
        self.against(0, ["./app-main", "100", "64", "0", "x"], ["./app-of-the-pull-request", "100", "64", "0", "x"])
        names = [case["names"] for case in self.cases()]
        self.assertEqual(names[0]["words"], names[1]["words"])
        self.assertEqual(names[1]["paths"] - names[0]["paths"], len("app-of-the-pull-request") - len("app-main"))

    def test_a_plant_is_found_at_another_path(self):
        for folder in (SHORT, LONG):
            shutil.copy(PROGRAM, self.folder / folder / "app")
        self.against(1, [f"{SHORT}/app", "2000", "64", "0", "x"], [f"{LONG}/app", "2025", "64", "0", "x"])
        self.assertIn("allocations", self.against(1, [f"{LONG}/app", "2000", "64", "0", "x"], [f"{SHORT}/app", "2025", "64", "0", "x"]).text)

    def test_a_baseline_of_another_workspace(self):
        workspaces = ("w", "the-workspace/of-another/runner/whose-name-is-longer")
        for workspace in workspaces:
            shutil.copytree(self.folder / SHORT, self.folder / workspace / SHORT)
            self.write(f"{workspace}/shared.txt", "")
        for name, words in self.programs():
            for first, second in (workspaces, workspaces[::-1]):
                with self.subTest(name, first=first):
                    def measure(workspace, code, *options):
                        cwd = self.folder / workspace
                        return self.expect(code, "run", "-n", "6", "--count", *options, "--", *words(SHORT), cwd=cwd,
                                           env=environment(NOTES=os.fspath(self.notes), PWD=os.fspath(cwd)))
                    measure(first, 0, "-o", self.folder / "baseline.json", "-q")
                    measure(second, 0, "-o", self.result, "-q")
                    outcome = self.memsweep("compare", self.folder / "baseline.json", self.result, "-f", "json")
                    judged = json.loads(outcome.text)["comparisons"][0]["judgements"]
                    counts = [one for one in judged if one["metric"] in COUNTED]
                    self.assertEqual({one["metric"] for one in counts}, set(COUNTED), judged)
                    for one in counts:
                        self.assertEqual(one["verdict"], "same", (one["metric"], one["why"]))
                    if name in EXACT:
                        self.assertEqual({one["class"] for one in counts}, {"exact"}, judged)

    def test_a_few_bytes_are_said_as_such_and_found_on_request(self):
        base, candidate = ([os.fspath(PROGRAM), "8", size, "0", "x"] for size in ("400000", "400001"))
        self.against(0, base, candidate)
        for strict in (("--strict-counters",), ("--threshold", "live_bytes_peak=0%")):
            with self.subTest(strict):
                text = self.against(1, base, candidate, *strict).text
                self.assertIn("+8 B", text)
                self.assertNotIn("3.12 MiB instead of 3.12 MiB", text)
                for metric in ("live_bytes_peak", "allocated_bytes"):
                    self.assertNotRegex(text, rf"{metric} [^,;]*\b1\.00x")
        self.expect(0, "run", "-q", "-n", "1", "--count", "-o", "one.json", "--", *base)
        self.expect(2, "run", "--strict-counters", "--", *base)

    def test_results_without_names_stay_readable(self):
        self.expect(0, "run", "-q", "-n", "1", "--count", "-o", "new.json", "--", PROGRAM, "8", "64", "0", "x")
        result = json.loads((self.folder / "new.json").read_text())
        self.assertGreater(result["cases"][0].pop("names")["environment"], 0)
        self.write("old.json", result)
        self.assertIn(self.memsweep("compare", "old.json", "new.json").code, (0, 5))


if __name__ == "__main__":
    unittest.main()
