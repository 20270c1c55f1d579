"""`new` writes scenarios that can be run as they are, and never over a file that is there."""

import json
import pathlib
import unittest

from memsweep_cli import CATALOG, CliTest, printed_schema, strict_json, validator

FEW = ("--count", "2", "--size", "64KiB", "-n", "1")


def without_comments(text):
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


class New(CliTest):
    def scenario(self, path):
        document = strict_json(without_comments((self.folder / path).read_text()))
        judge = validator("scenario")
        if judge is not None:
            self.assertEqual([error.message for error in judge.iter_errors(document)], [])
        return document

    def test_what_it_writes_runs(self):
        said = self.expect(0, "new", "mine", *FEW).errors
        self.assertIn("mine.json", said)
        document = self.scenario("mine.json")
        self.assertEqual(document["name"], "mine")
        self.assertEqual(document["variables"], {"times": 2, "size": "64KiB"})
        self.assertEqual(json.loads(pathlib.Path(document["$schema"]).read_text())["$id"], printed_schema("scenario")["$id"])
        self.expect(0, "validate", "mine.json")
        self.expect(0, "run", "mine.json", "-q", "-o", "r.json")
        result = self.result()
        self.assertEqual([case["id"] for case in result["cases"]], ["mine/mode=refcount", "mine/mode=finalizer"])
        self.assertEqual([one["passed"] for one in result["assertions"]], [True])
        for case in result["cases"]:
            self.assertEqual((case["status"], case["repetitions"]), ("ok", 1))

    def test_threads_and_mixed_sizes(self):
        self.expect(0, "new", "mixed", "--threads", "1,3", "--mix", "64B,16KiB", "--allocator", "glibc", "--count", "10", "-n", "1")
        self.scenario("mixed.json")
        self.expect(0, "run", "mixed.json", "-q", "-o", "r.json")
        cases = {case["params"]["threads"]: case for case in self.result()["cases"]}
        self.assertEqual({threads: case["metrics"]["operations"]["values"] for threads, case in cases.items()}, {1: [20], 3: [60]})
        self.expect(2, "new", "other", "--threads", "2", "--release", "leak")
        self.expect(2, "new", "other", "--threads", "0")

    def test_comments_say_what_each_part_is(self):
        lines = self.expect(0, "new", "-q").text.splitlines()
        self.assertTrue(lines[0].startswith("// "))
        for key in ("variables", "axes", "release", "steps", "assert"):
            at = next(i for i, line in enumerate(lines) if line.startswith(f'  "{key}"'))
            self.assertRegex(lines[at - 1], f"^  // {key}: ")
        for op in ("repeat", "alloc", "drop", "collect"):
            at = next(i for i, line in enumerate(lines) if f'"op": "{op}"' in line)
            self.assertRegex(lines[at - 1].lstrip(), f"^// {op}: ")
        self.assertIn("// finalizer: ", "\n".join(lines))

    def test_a_file_that_is_there_stays(self):
        self.write("mine.json", "mine")
        for arguments in (("mine",), ("other", "-o", "mine.json"), ("--from", "churn", "-o", "mine.json")):
            self.assertIn("mine.json", self.expect(2, "new", *arguments).errors)
            self.assertEqual((self.folder / "mine.json").read_text(), "mine")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["mine.json"])

    def test_every_release_mode_and_allocator_can_be_asked_for(self):
        keys = strict_json(self.expect(0, "list", "disciplines", "--json").out)["rows"]
        modes = next(row["choices"] for row in keys if row["key"] == "mode").split("|")
        self.expect(0, "new", "modes", "--release", ",".join(modes), *FEW)
        self.assertEqual(self.scenario("modes.json")["axes"]["mode"], modes)
        self.expect(0, "run", "modes.json", "-q", "-o", "r.json")
        self.assertEqual({case["params"]["mode"]: case["status"] for case in self.result()["cases"]}, dict.fromkeys(modes, "ok"))
        allocators = [row["allocator"] for row in strict_json(self.expect(0, "list", "allocators", "--json").out)["rows"]]
        self.expect(0, "new", "allocators", "--release", "leak", "--allocator", ",".join(allocators))
        document = self.scenario("allocators.json")
        self.assertEqual(document["axes"]["allocator"], allocators)
        self.assertNotIn("assert", document, "nothing is known to hold")

    def test_a_copy_of_each_that_ships_is_the_same_scenario_elsewhere(self):
        (self.folder / "copies").mkdir()
        for path in sorted(CATALOG.glob("*.json")):
            with self.subTest(path.stem):
                self.expect(0, "new", "--from", path.stem, "-o", f"copies/{path.name}", "-q")
                original, copy = strict_json(path.read_bytes()), self.scenario(f"copies/{path.name}")
                for document in (original, copy):
                    for key in ("$schema", "include"):
                        document.pop(key, None)
                if path.stem != "replay_sqlite":
                    self.assertEqual(copy, original)
                cases = [strict_json(self.expect(0, "list", "cases", name, "--json").out)["rows"] for name in (str(path), f"copies/{path.name}")]
                self.assertEqual(cases[0], cases[1])

    def test_a_copy_takes_the_name_it_is_given(self):
        self.expect(0, "new", "mine", "--from", "leak_1000")
        self.assertEqual(self.scenario("mine.json")["name"], "mine")
        for path in self.scenario("mine.json")["include"]:
            self.assertTrue((self.folder / path).exists(), path)
        text = (self.folder / "mine.json").read_text()
        self.assertRegex(text, r'(?m)^  // steps: .*\n  "steps"')

    def test_a_copy_keeps_comments_and_letters_beyond_ascii(self):
        self.write("own.jsonc", '{ "format": "memsweep-scenario", "version": 1,\n  "description": "größer – 測", "name": "own", // its name\n'
                                '  // mine\n  "steps": [ { "op": "idle", "duration": "1ms" } ] }\n')
        copied = self.expect(0, "new", "other", "--from", "own.jsonc", "-o", "-").text
        self.assertIn('"description": "größer – 測", "name": "other", // its name', copied)
        self.assertIn('  // mine\n  "steps"', copied, "no second comment above it")

    def test_what_is_refused(self):
        for arguments, said in ((("No",), "is no name"), (("--from", "churn", "--size", "1MiB"), "--from"), (("--from", "nosuch"), "nosuch"),
                                (("--from", "chrun"), 'did you mean "churn"?'),
                                (("--release", "nosuch"), "--release"), (("--allocator", "nosuch"), "--allocator"), (("--count", "0"), "--count")):
            with self.subTest(arguments):
                self.assertIn(said, self.expect(2, "new", *arguments).errors)
        self.write("broken.json", "{")
        self.assertRegex(self.expect(2, "new", "--from", "broken.json").errors, r"broken\.json:1:2")


if __name__ == "__main__":
    unittest.main()
