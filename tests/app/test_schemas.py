"""What an editor makes of the schemas: which key of a step is wrong, and nothing that has to be fetched."""

import json
import unittest
import unittest.mock
import urllib.parse

from memsweep_cli import SOURCE, CliTest, alloc, drop, printed_schema, scenario, validator

FILES = sorted((SOURCE / "scenarios/schema").glob("*.schema.json"))


class Schemas(CliTest):
    def problems(self, *steps):
        """Of a scenario with these steps: where each is, and what is said of it."""
        judge = validator("scenario")
        if judge is None:
            self.leave_out("scenarios against memsweep schema scenario", "python3-jsonschema is not installed")
        return [(list(error.absolute_path), error.message) for error in judge.iter_errors(scenario(steps=list(steps)))]

    def test_a_wrong_key_is_named(self):
        nested = {"op": "repeat", "times": 2, "steps": [alloc(), {**drop(), "targets": "b"}]}
        self.assertEqual(self.problems(alloc(), drop()), [])
        for steps, place, key in (((alloc(sizee=1), drop()), ["steps", 0], "'sizee'"),
                                  ((nested,), ["steps", 0, "steps", 1], "'targets'")):
            found = self.problems(*steps)
            self.assertEqual([where for where, _ in found], [place], found)
            self.assertIn(key, found[0][1])

    def test_a_wrong_value_is_found_at_its_key(self):
        found = self.problems(alloc(count=-1), {"op": "drop"}, {"op": "idle", "duration": "1 s"})
        self.assertEqual([where for where, _ in found], [["steps", 0, "count"], ["steps", 1], ["steps", 2, "duration"]])
        self.assertIn("'target' is a required property", found[1][1])

    def test_an_operation_that_is_none(self):
        found = self.problems({"op": "drp", "target": "a"}, {"target": "a"})
        self.assertEqual([where for where, _ in found], [["steps", 0, "op"], ["steps", 1]])
        self.assertIn("'drop'", found[0][1], "the operations are listed")
        self.assertIn("'op' is a required property", found[1][1])

    def test_each_operation_names_a_key_that_it_lacks(self):
        for op in printed_schema("scenario")["definitions"]["step"]["properties"]["op"]["enum"]:
            with self.subTest(op):
                at_step = [message for where, message in self.problems({"op": op, "planted": 1}) if where == ["steps", 0]]
                self.assertTrue(any("'planted'" in message for message in at_step), at_step)

    def test_an_id_leads_to_its_own_file(self):
        self.assertEqual(len(FILES), 10)
        for path in FILES:
            with self.subTest(path.name):
                self.assertEqual(urllib.parse.urljoin(path.as_uri(), json.loads(path.read_text())["$id"]), path.as_uri())

    def test_nothing_is_fetched(self):
        if validator("scenario") is None:
            self.leave_out("schemas without a network", "python3-jsonschema is not installed")
        with unittest.mock.patch("socket.socket.connect", side_effect=AssertionError("fetches")):
            self.assertEqual(self.problems(alloc(), drop()), [])


if __name__ == "__main__":
    unittest.main()
