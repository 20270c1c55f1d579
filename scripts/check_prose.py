#!/usr/bin/env python3
"""Finds sentences in core/measure, whose findings are values: reporters/wording makes the words.

    scripts/check_prose.py [--self-test]

A sentence is a string literal, with those that follow it directly, of three words or more. Not looked at are what
MEMSWEEP_ASSERT says, the messages of errors (base::fail), and the meanings in tables of names. Files of TEXT_OF_RESULTS
make text that stands in results as text: a result of any age has a warning's sentence, not its numbers.

Exit code: 1 where one is found, in its place.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "core" / "measure"

# What each of them writes into a result, or refuses to do.
TEXT_OF_RESULTS = {
    "assertions.cpp": "why an assertion was not judged",
    "canary.cpp": "why a round was measured again",
    "findings.cpp": "warnings about cases",
    "fleet.cpp": "problems of hosts, warnings about a fleet",
    "likeness.cpp": "why two results are not compared, and what --force overruled",
    "measured_checks.cpp": "checks of a machine, a warning about it",
    "merge.cpp": "warnings about merged results",
    "site_changes.cpp": "why no call site is named",
    "site_matching.cpp": "frames without a name",
}

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<include>\#include[^\n]*)"""
    r"""|(?P<literal>"(?:[^"\\\n]|\\.)*")|(?P<character>'(?:[^'\\\n]|\\.)')|(?P<other>[A-Za-z_]\w*|\s+|.)""",
    re.S,
)
WORD = re.compile(r"(?<!\S)[\"(]?[A-Za-z][a-z']*[,;:.)\"]?(?!\S)")
MEANING = re.compile(r"\{\s*[A-Za-z_:]+,\s*\"[a-z-]+\",\s*$")  # before it: an enumerator and its name


def sentences(text):
    """Yields line and text of each sentence that belongs to no error, assertion or table of names."""
    stack = []  # of each open parenthesis: the name before it
    name = ""
    literal, began, before = "", 0, ""
    for token in TOKEN.finditer(text):
        kind, value = token.lastgroup, token.group()
        if kind == "literal":
            if not literal:
                began, before = token.start(), text[max(0, token.start() - 200) : token.start()]
            literal += value[1:-1]
            continue
        if kind in ("comment", "include") or value.isspace():
            continue
        if literal:
            excused = {"MEMSWEEP_ASSERT", "fail", "static_assert", "MEMSWEEP_FINDING"} & set(stack)
            if len(WORD.findall(literal)) >= 3 and not excused and not MEANING.search(before):
                yield text.count("\n", 0, began) + 1, literal
            literal = ""
        if value == "(":
            stack.append(name)
        elif value == ")" and stack:
            stack.pop()
        name = value


def find(folder):
    found = []
    for path in sorted(folder.iterdir()):
        if path.suffix in (".cpp", ".hpp", ".inc") and path.name not in TEXT_OF_RESULTS:
            for line, text in sentences(path.read_text(encoding="utf-8")):
                found.append(f"{path.relative_to(ROOT)}:{line}: a sentence, which belongs into reporters/wording: \"{text}\"")
    for name in TEXT_OF_RESULTS:
        if not (folder / name).exists():
            found.append(f"scripts/check_prose.py: {name} is not there any more")
        elif not any(True for _ in sentences((folder / name).read_text(encoding="utf-8"))):
            found.append(f"scripts/check_prose.py: {name} has no sentence any more")
    return found


def self_test():
    planted = [
        ('why = "the machine was busy";', 1),
        ('why = fmt::format("{} of {} " "took far longer", a, b);', 1),
        ('return base::fail(code, fmt::format("no case has {} at all", x));', 0),
        ('MEMSWEEP_ASSERT(a == f(b), "the sample size was judged before");', 0),
        ('{Verdict::same, "same", "no change beyond the threshold"},', 0),
        ('// "what a comment quotes is fine"\nuse("two words");', 0),
        ('f(a, "{}: {} ({})");', 0),
        ('f("glibc.malloc.mmap_threshold=1:glibc.malloc.trim_threshold=2");', 0),
    ]
    for text, wanted in planted:
        found = len(list(sentences(text + "\n;")))
        if found != wanted:
            print(f"check_prose: self-test: {found} instead of {wanted} sentences in: {text}", file=sys.stderr)
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    found = find(FOLDER)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"check_prose: {len(found)} finding(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
