#!/usr/bin/env python3
"""Whether `record --stacks` and heaptrack see the same: totals, peak, the ten largest sites, and whole stacks.

    benchmarks/sites_beside_heaptrack.py [--program NAME]... [--memsweep PATH] [--out FILE]

The programs of stacks.py that do the same in each run, each recorded once by either; figures are exact, so that a busy machine
changes none. heaptrack_print's own reader and names are the judge. A frame without a symbol is known by the last 12 bits of its
address, which no loader moves. Both recorders are given away by variables; the program sees neither. heaptrack loads libstdc++ into the program: its block of 72,704 bytes is left out, and said.
A compiler's tables and an interpreter's dictionaries depend on addresses: a few of their blocks differ from run to run. A thread's
dtv is 32 bytes longer where heaptrack's libraries are loaded, which have storage of each thread's.
Exit codes: 0 totals and peaks are within 2 %; 1 not; 2 wrong usage, or heaptrack is missing.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import stacks

ALLOCATIONS, PEAK = "allocations", "peak"
OURS = {ALLOCATIONS: "count", PEAK: "peak"}
ENVIRONMENT = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *given[] = {"HOME=/", "LC_ALL=C", "PATH=/usr/bin:/bin", "PYTHONMALLOC=malloc", "PYTHONHASHSEED=0", "PERL_HASH_SEED=0", 0};
int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void *init, void *fini, void *at_end, void *stack)
{
    int (*next)(void *, int, char **, void *, void *, void *, void *) = dlsym(RTLD_NEXT, "__libc_start_main");
    if (getenv("SITES_PROGRAM") && !strcmp(getenv("SITES_PROGRAM"), words[0])) {  // not heaptrack, which is a script
        environ = given;
    }
    return next(main, count, words, init, fini, at_end, stack);
}
"""
POOL = 72704  # libstdc++'s emergency pool for exceptions
TOP = 10
MOST_OFF = 0.02
INNERMOST = 40  # frames of a stack: heaptrack cuts it where it has 64
SAME_EACH_TIME = {"jq": ["jq", "-n", "[range(30000) | {a: ., b: (. | tostring)}] | sort_by(.b) | map(.a) | add"],
                  "git": ["git", "-C", stacks.ROOT, "log", "--oneline", "-n", "300", "--stat", "--no-color", "4b825dc642cb6eb9a060e54bf8d69288fbee4904..HEAD"]}


def frame(text):
    """heaptrack names the call, memsweep where it returns to."""
    if unknown := re.fullmatch(r"0x([0-9a-f]+)", text):
        return f"+{(int(unknown.group(1), 16) + 1) & 0xfff:03x}"
    if unknown := re.fullmatch(r".*\+0x([0-9a-f]+)", text):
        return f"+{int(unknown.group(1), 16) & 0xfff:03x}"
    return re.sub(r"[(<@].*", "", text.replace("operator<", "operator less")) or text  # heaptrack_print shortens what templates are given


def collapsed(text, is_peer):
    """{frames, outermost first: figure}"""
    figures = collections.Counter()
    for line in text.splitlines():
        stack, _, figure = line.rpartition(" ")
        names = [name for name in stack.rstrip(";").split(";") if name]
        if is_peer:
            names = [re.sub(r" \([\w.+-]+\.\w+\)$", "", name) for name in names]
        names = list(map(frame, names))
        if names[:1] == ["_start"] and "main" in names:
            names = names[names.index("main"):]  # where heaptrack begins
        while names[-1].startswith("operator new"):
            del names[-1]  # which heaptrack hides
        if int(figure):
            figures[tuple(names)] += int(figure)
    return figures


def in_any_order(figures):
    """heaptrack writes functions that were inlined into one another in the other direction."""
    found = collections.Counter()
    for stack, figure in figures.items():
        found[tuple(sorted(stack[-INNERMOST:]))] += figure
    return found


def output(*words, **options):
    return subprocess.run([os.fspath(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="surrogateescape", check=True, **options).stdout


def by_heaptrack(words, folder):
    output("heaptrack", "-o", folder / "heaptrack", *words)
    log = next(folder.glob("heaptrack*.*"))
    found = {}
    for figure in OURS:
        output("heaptrack_print", log, "-F", folder / "collapsed", "--flamegraph-cost-type", figure)
        found[figure] = collapsed((folder / "collapsed").read_text(), True)
    own = [stack for stack, bytes_ in found[PEAK].items() if bytes_ == POOL and any("_dl_init" in name for name in stack)]
    for stack in own:
        del found[PEAK][stack]
        found[ALLOCATIONS][stack] -= 1
    log.unlink()
    return {figure: +values for figure, values in found.items()}, len(own)


def by_memsweep(memsweep, words, folder):
    output(memsweep, "record", "-q", "--stacks", "-o", folder / "t.mst", "--", *words)
    found = {figure: collapsed(output(memsweep, "export", folder / "t.mst", "-f", "collapsed", "--weight", weight), False)
             for figure, weight in OURS.items()}
    (folder / "t.mst").unlink()
    return found


def sites(figures):
    """Of the innermost frames, the most first."""
    found = collections.Counter()
    for stack, figure in figures.items():
        found[stack[-1]] += figure
    return found


def compared(words, memsweep, folder):
    os.environ["SITES_PROGRAM"] = os.fspath(words[0])
    peer, own_blocks = by_heaptrack(words, folder)
    ours = by_memsweep(memsweep, words, folder)
    result = {"heaptrack_own_blocks": own_blocks}
    for figure in OURS:
        top = sites(peer[figure]).most_common(TOP)
        here = sites(ours[figure])
        result[figure] = {"heaptrack": sum(peer[figure].values()), "memsweep": sum(ours[figure].values()),
                          "top": len(top), "top_equal": sum(here[name] == value for name, value in top),
                          "top_values_equal": [value for _, value in top] == [value for _, value in here.most_common(TOP)],
                          "differ": {name: [value, here[name]] for name, value in top if here[name] != value},
                          "in_equal_stacks": sum((in_any_order(peer[figure]) & in_any_order(ours[figure])).values())}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--memsweep", type=pathlib.Path, default=stacks.ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("heaptrack"):
        sys.exit("sites_beside_heaptrack.py: heaptrack is not installed (package heaptrack)")
    results = {}
    with tempfile.TemporaryDirectory(prefix="memsweep-sites-") as room:
        folder = pathlib.Path(room)
        (folder / "environment.c").write_text(ENVIRONMENT)
        output("cc", "-O2", "-shared", "-fPIC", "-o", folder / "environment.so", folder / "environment.c")
        os.environ["LD_PRELOAD"] = os.fspath(folder / "environment.so")
        chosen = stacks.programs(folder) | {name: words for name, words in SAME_EACH_TIME.items() if shutil.which(words[0])}
        for name, words in chosen.items():
            if name == "node" or arguments.program and name not in arguments.program:
                continue  # node's threads race: no two of its runs are the same
            one = results[name] = compared(words, arguments.memsweep, folder)
            for figure in OURS:
                f = one[figure]
                print(f"{name:10} {figure:11} heaptrack {f['heaptrack']:>12,}  memsweep {f['memsweep']:>12,}  "
                      f"sites {f['top_equal']} of {f['top']} equal  in equal stacks {f['in_equal_stacks'] / max(1, f['heaptrack']):.4f}"
                      f"{'  ' + str(f['differ']) if f['differ'] else ''}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps({"programs": results}, indent=1) + "\n")
    return int(any(abs(one[figure]["heaptrack"] - one[figure]["memsweep"]) > MOST_OFF * one[figure]["heaptrack"] for one in results.values()
                   for figure in OURS))


if __name__ == "__main__":
    sys.exit(main())
