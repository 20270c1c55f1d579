#!/usr/bin/env python3
"""How near `record --stacks=SIZE` comes to what each site has, with the callers of the blocks outside the sample and without them.

    benchmarks/sampled_sites.py [--seeds 50] [--every 64KiB] [--program NAME]... [--memsweep PATH] [--out FILE]

A program that does the same each time is recorded once with all its stacks, which is the answer, and then in a sample, so many
times. The error of a figure is the sum over all sites of how far each is from its answer, as a share of the whole. Without callers:
the same trace less its chunks of them. `sums`: how many of the totals lay within 3 sqrt(SIZE x bytes) of the answer.
A busy machine changes nothing.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

import stacks

CALLERS = 12  # the kind of chunk
FIGURES = {"bytes_allocated": "bytes", "peak_live_bytes": "peak", "allocations": "allocations"}
# 30 functions that call malloc themselves, ten of them for others that call them, and 20 that ask by way of one of their own;
# their sizes are one for each, or any, or that of four others too.
KNOWN = r"""#include <stdint.h>
#include <stdlib.h>
static uint64_t state = 88172645463325252ULL;
static uint64_t draw(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static void *kept[4096];
static void keep(void *block) { unsigned place = draw() % 4096; free(kept[place]); kept[place] = block; }
__attribute__((noinline)) void *ask(unsigned size) { void *block = malloc(size); __asm__ volatile("" : "+r"(block)); return block; }
#define DIRECT(n) __attribute__((noinline)) void direct_##n(unsigned size) { keep(malloc(size)); __asm__ volatile(""); }
#define ABOVE(n) __attribute__((noinline)) void above_##n(unsigned size) { direct_##n(size); __asm__ volatile(""); }
#define BEHIND(n) __attribute__((noinline)) void behind_##n(unsigned size) { keep(ask(size)); __asm__ volatile(""); }
#define TEN(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7) X(a##8) X(a##9)
TEN(DIRECT, 1) TEN(DIRECT, 2) TEN(DIRECT, 3) TEN(ABOVE, 1) TEN(BEHIND, 1) TEN(BEHIND, 2)
#define D(n) direct_##n,
#define A(n) above_##n,
#define B(n) behind_##n,
static void (*const all[])(unsigned) = { TEN(D, 1) TEN(D, 2) TEN(D, 3) TEN(A, 1) TEN(B, 1) TEN(B, 2) };
int main(void) {
    for (int i = 0; i < 400000; i++) {
        unsigned of = draw() % 1000 < 700 ? draw() % 12 * 5 : draw() % 60;
        unsigned size = of < 10 ? 24 : of < 20 ? 16 + draw() % 600 : of < 30 ? 1000 : of < 40 ? 100 : of < 50 ? 64u << of % 5 : 128;
        all[of](size);
    }
    return 0;
}
"""


def programs(folder):
    (folder / "known.c").write_text(KNOWN)
    subprocess.run(["gcc", "-O2", "-g", "-fno-builtin", folder / "known.c", "-o", folder / "known"], check=True)
    found = {"known": [folder / "known"]}
    of_others = stacks.programs(folder)
    return found | {name: of_others[name] for name in ("sqlite3", "g++", "perl", "python3") if name in of_others}


def without_callers(trace, to):
    data = trace.read_bytes()
    kept, at = [data[:64]], 64
    while at < len(data):
        span = struct.unpack_from("<I", data, at + 8)[0]
        if data[at + 4] != CALLERS:
            kept.append(data[at:at + span])
        at += span
    to.write_bytes(b"".join(kept))


def record(memsweep, words, stacks_of, trace):
    subprocess.run([memsweep, "record", "-q", "-o", trace, f"--stacks={stacks_of}", "--", *words], stdout=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, check=True)


def places(memsweep, trace):
    """({place: {figure: value}}, totals)."""
    report = json.loads(subprocess.run([memsweep, "info", trace, "--by", "site", "--top", "0", "--json"], capture_output=True, check=True).stdout)
    found = {}
    for site in report["sites"]:
        figures = found.setdefault((site["function"], site["file"], site["line"]), dict.fromkeys(FIGURES, 0))
        for figure in FIGURES:
            figures[figure] += site[figure]
    return found, report["total"]


def errors(found, answer, total):
    return {name: sum(abs(found.get(place, {}).get(figure, 0) - answer.get(place, {}).get(figure, 0)) for place in found.keys() | answer.keys())
            / total[figure] for figure, name in FIGURES.items()}


def measured(name, words, arguments, folder):
    every = int(arguments.every[:-3]) << {"KiB": 10, "MiB": 20}[arguments.every[-3:]]
    record(arguments.memsweep, words, "full", folder / "full.mst")
    answer, total = places(arguments.memsweep, folder / "full.mst")
    found = {way: [] for way in ("without", "with")}
    sums = dict.fromkeys(found, 0)
    bound = 3 * (every * total["bytes_allocated"]) ** 0.5
    for _ in range(arguments.seeds):
        record(arguments.memsweep, words, arguments.every, folder / "with.mst")
        without_callers(folder / "with.mst", folder / "without.mst")
        for way, all_errors in found.items():
            sites, sampled = places(arguments.memsweep, folder / f"{way}.mst")
            all_errors.append(errors(sites, answer, total))
            sums[way] += abs(sampled["bytes_allocated"] - total["bytes_allocated"]) <= bound
    result = {"sites": len(answer), "bytes_allocated": total["bytes_allocated"], "allocations": total["allocations"], "sums": sums}
    for way, all_errors in found.items():
        result[way] = {figure: round(statistics.mean(one[figure] for one in all_errors), 4) for figure in FIGURES.values()}
    print(f"{name:8} {len(answer):4} sites, {arguments.seeds} samples of {arguments.every}: mean error without callers {result['without']}, "
          f"with {result['with']}; sums within the bound {sums}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--every", default="64KiB")
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--memsweep", type=pathlib.Path, default=stacks.ROOT / "build/release/memsweep")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("gcc"):
        sys.exit("sampled_sites.py: needs gcc")
    os.environ.update(PYTHONMALLOC="malloc", PYTHONHASHSEED="0", PERL_HASH_SEED="0")
    with tempfile.TemporaryDirectory(prefix="memsweep-sampled-") as room:
        folder = pathlib.Path(room)
        results = {name: measured(name, words, arguments, folder) for name, words in programs(folder).items()
                   if not arguments.program or name in arguments.program}
    if arguments.out:
        arguments.out.write_text(json.dumps({"seeds": arguments.seeds, "every": arguments.every, "programs": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
