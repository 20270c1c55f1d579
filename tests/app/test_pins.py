"""What scripts and stored results rest on stays as it is: lists, schemas, and the fingerprint of every scenario of the catalog.

The expected values are in tests/golden/pins.json. A change that is meant is recorded by the same program:

    MEMSWEEP=build/release/memsweep python3 tests/app/test_pins.py --update

What is pinned is written out, so that a failure names what differs. Sentences (meanings, help, descriptions) are not
pinned: a text may be said better at any time. Of the cases of a scenario, which are thousands, a digest is kept.
"""

import hashlib
import json
import sys
import unittest

from memsweep_cli import CATALOG, SOURCE, CliTest, execute, strict_json

PINS = SOURCE / "tests/golden/pins.json"
# What `list` says of scenarios, cases and allocators depends on the machine; cases are pinned below, one file at a time.
LISTS = ("metrics", "ops", "resources", "disciplines", "formats")
SCHEMAS = ("scenario", "result", "gate", "comparison", "history", "limits", "fleet", "fleet-trend", "explain", "advice")


def answer(code, *args):
    done = execute(*args, cwd=SOURCE)
    if done.code != code:
        raise AssertionError(f"expected exit code {code}\n{done}")
    return strict_json(done.out)


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def rows(what, left_out):
    """A line for each row of a list: its columns but for those that are left out, and for sentences."""
    return [
        " ".join(str(value) for key, value in row.items() if key not in left_out and not is_sentence(value))
        for row in answer(0, "list", what, "--json")["rows"]
    ]


def is_sentence(value):
    return value is None or " " in str(value).removeprefix("step: ").removeprefix("axes: ").removeprefix("allocators: ")


def lists():
    return {what: rows(what, ("meaning", "help", "description")) for what in LISTS}


def allocators():
    return rows("allocators", ("installed", "library"))


def members(schema, path=""):
    """What a schema allows, a line each: the place of a member, and its type or its values."""
    for name, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if isinstance(part, (dict, list)) and name not in ("enum", "type", "required"):
            yield from members(part, f"{path}{name}.")
        elif name not in ("description", "title", "$id", "$schema"):
            yield f"{path}{name} {json.dumps(part)}"


def schemas():
    return {which: sorted(members(answer(0, "schema", which))) for which in SCHEMAS}


def scenarios():
    """Of every scenario: its fingerprint, the number of its cases, and a digest of their ids and estimated peaks.

    A filter that no case matches gives a result that measured nothing, which is exit code 4."""
    found = {}
    for path in sorted(CATALOG.glob("*.json")):
        name = path.relative_to(SOURCE).as_posix()
        cases = answer(0, "list", "cases", name, "--json")["rows"]
        run = answer(4, "run", name, "--filter", "^$", "-o", "-", "-q")["run"]
        found[path.stem] = {"fingerprint": run["scenario"]["fingerprint"], "cases": len(cases), "case_digest": digest(cases)}
    return found


PINNED = {"lists": lists, "allocators": allocators, "schemas": schemas, "scenarios": scenarios}


class Pins(CliTest):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.pins = json.loads(PINS.read_text())

    def test_every_pin_is_tested(self):
        self.assertEqual(set(self.pins), set(PINNED))

    def test_lists(self):
        for what, found in lists().items():
            with self.subTest(what):
                self.assertEqual(found, self.pins["lists"][what])

    def test_allocators(self):
        self.assertEqual(allocators(), self.pins["allocators"])

    def test_schemas(self):
        for which, found in schemas().items():
            with self.subTest(which):
                self.assertEqual(found, self.pins["schemas"][which])

    def test_scenarios(self):
        found = scenarios()
        self.assertEqual(set(found), set(self.pins["scenarios"]))
        for name, pin in self.pins["scenarios"].items():
            with self.subTest(name):
                self.assertEqual(found[name], pin)


def main():
    if sys.argv[1:] == ["--update"]:
        PINS.write_text(json.dumps({name: make() for name, make in PINNED.items()}, indent=2) + "\n")
        print(f"written: {PINS}")
        return
    unittest.main()


if __name__ == "__main__":
    main()
