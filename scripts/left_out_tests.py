#!/usr/bin/env python3
"""Lists by name what a CTest run left out, and why.

    scripts/left_out_tests.py RESULTS.xml      as written by ctest --output-junit

A test is left out when it says so with exit code 77 (the reason is the last line it printed), when CMake has it
disabled, or, for a part of a test that otherwise ran, when it printed a line "skipped: WHAT: WHY". Summaries of the test
frameworks are no reasons.
Exit code 1 when no test ran at all.
"""

import re
import sys
import xml.etree.ElementTree


# What Catch2 and unittest end with, whatever was tested.
SUMMARY = re.compile(r"All tests passed|No tests ran|test cases:|assertions:|={3,}|-{3,}|Ran \d+ tests?|OK\b")


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip() and not SUMMARY.match(line.strip())]
    return lines[-1] if lines else "it gave no reason"


def left_out(case):
    """(name, reason) for the test or for each part of it that did not run."""
    name, status = case.get("name"), case.get("status")
    output = case.findtext("system-out") or ""
    if status == "disabled":
        return [(name, "disabled in CMake")]
    parts = [line.strip() for line in output.splitlines() if line.strip().startswith("skipped: ")]
    if status == "notrun" and not parts:
        return [(name, last_line(output))]
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
