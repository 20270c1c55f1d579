#!/usr/bin/env python3
"""Lists by name what a CTest run left out, and why.

    scripts/left_out_tests.py RESULTS.xml      as written by ctest --output-junit

A test is left out when it says so with exit code 77 (the reason is the last line it printed), when CMake has it
disabled, or, for a part of a test that otherwise ran, when it printed a line "skipped: WHAT: WHY".
Exit code 1 when no test ran at all.
"""

import sys
import xml.etree.ElementTree


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def left_out(case):
    """(name, reason) for the test or for each part of it that did not run."""
    name, status = case.get("name"), case.get("status")
    output = case.findtext("system-out") or ""
    if status == "disabled":
        return [(name, "disabled in CMake")]
    if status == "notrun":
        return [(name, last_line(output))]
    parts = [line.strip() for line in output.splitlines() if line.strip().startswith("skipped: ")]
    return [(name, part.removeprefix("skipped: ")) for part in parts]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    rows = list(dict.fromkeys(row for case in cases for row in left_out(case)))
    ran = sum(case.get("status") in ("run", "fail") for case in cases)
    print(f"\n{ran} of {len(cases)} tests ran; left out{':' if rows else ': nothing'}")
    for name, reason in rows:
        print(f"  {name}: {reason}")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
