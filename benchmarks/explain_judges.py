#!/usr/bin/env python3
"""How often `memsweep explain` is right about programs whose answer is known, under four allocators.

    benchmarks/explain_judges.py [--runs 1] [--only KIND]... [--memsweep PATH] [--out FILE]

The programs are in explain_judges/. What each holds is known by how it is written: which category is the largest, which function has
the most of what the verdict is about. Whether pages that are free are `retention` or `kept`, or too little to matter, follows from
runs without memsweep: resident and anonymous memory from smaps_rollup before and after the program asks its allocator itself.
A busy machine changes nothing but arenas of threads.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
LIBRARIES = {"glibc": None, "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2"}
NOTICED_KIB, NOTICED_SHARE = 4 << 10, 0.2

# By kind: the verdict (FREE and PINNED follow from what is measured), the largest category, the function, what is live, in KiB.
FREE, PINNED = "free", "pinned"
JUDGES = {
    "freed_rows": (FREE, "kept_free", "load_row", 0),
    "aligned_buffers": (FREE, "kept_free", "load_aligned", 4),
    "thread_arenas": (FREE, "kept_free", "load_row", 3),
    "pinned_rows": (PINNED, "holes", "keep_entry", 234),
    "pinned_by_chance": (PINNED, "holes", "keep_entry", 540),
    "lost_blocks": ("leak", "live", "forget", 6250),
    "growing_cache": ("grows", "live", "keep_entry", 6250),
    "full_cache": ("in_use", "live", "fill_cache", 17578),
    "large_blocks": ("in_use", "live", "fill_cache", 24576),
    "deep_stack": ("stacks", "stacks", None, 0),
    "stacks_of_threads": ("stacks", "stacks", None, 0),
    "mapped_file": ("files", "files_data", None, 0),
    "shared_memory": ("shared", "shared", None, 0),
    "own_pool": ("mapped_by_program", "mapped_by_program", None, 0),
    "paged_blocks": ("rounding", "live", "load_aligned", 11474),
    "sparse_huge": ("huge_pages", "huge_zero", None, 128),
    "static_table": ("in_use", "bss", None, 0),
    "untouched": ("nothing_to_change", None, None, 0),
    "little": ("nothing_to_change", None, None, 1),
}
OTHERS = {
    "containers": ("fragmentation", "holes", "keep_some", None),
    "survivors": ("mapped_by_program", "mapped_by_program", None, None),
    "survivors_in_malloc": ("in_use", "live", None, None),
}


def found(name):
    return next((str(path) for folder in FOLDERS if (path := pathlib.Path(folder, LIBRARIES[name])).exists()), None)


def build(folder):
    subprocess.run(["gcc", "-O1", "-g", HERE / "explain_judges/judges.c", "-o", folder / "judges", "-lpthread", "-ldl"], check=True)
    subprocess.run(["g++", "-O1", "-g", HERE / "explain_judges/containers.cpp", "-o", folder / "containers"], check=True)


def command_of(kind, folder):
    if kind == "containers":
        return [str(folder / "containers")], {}
    if kind.startswith("survivors"):
        return [sys.executable, str(HERE / "explain_judges/survivors.py")], {"PYTHONMALLOC": "malloc"} if "malloc" in kind else {}
    return [str(folder / "judges"), kind], {}


def outside(kind, library, folder):
    """What smaps_rollup says of a run without memsweep, in KiB: resident and anonymous at the end, and what a request returned."""
    words, settings = command_of(kind, folder)
    preload = {"LD_PRELOAD": library} if library else {}
    out = subprocess.run(words, env={**os.environ, **settings, **preload, "JUDGE_ASK": "1"}, cwd=folder, check=True,
                         capture_output=True, text=True).stdout
    figures = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in out.splitlines()}
    return {"rss": figures["end"][0], "anonymous": figures["end"][1], "returned": figures["end"][1] - figures["asked"][1]}


def expected(kind, allocator, library, folder, empty):
    word, largest, function, live = {**JUDGES, **OTHERS}[kind]
    if kind in OTHERS:
        if kind == "containers" and allocator != "glibc":  # these put rows and survivors, of other sizes, on other pages
            return None, "kept_free", "load_rows", None
        return word, largest, function, None
    truth = outside(kind, library, folder)
    if word not in (FREE, PINNED):
        return word, largest, function, truth
    waste = truth["anonymous"] - empty["anonymous"] - live
    if waste < NOTICED_KIB or waste < NOTICED_SHARE * truth["rss"]:
        return "nothing_to_change", None, None, truth
    if truth["returned"] * 2 >= waste:
        return "retention", "kept_free", "load_", truth
    if word == PINNED and allocator == "glibc":  # an entry lies in nearly every page; the others put entries elsewhere
        return "fragmentation", "holes", function, truth
    return "kept", "kept_free", "load_", truth


def judge(kind, allocator, library, args, folder, empty):
    word, largest, function, truth = expected(kind, allocator, library, folder, empty)
    words, settings = command_of(kind, folder)
    preload = ["env", f"LD_PRELOAD={library}"] if library else []
    out = folder / "explained.json"
    load = os.getloadavg()[0]
    subprocess.run([args.memsweep, "explain", "-f", "json", "-o", out, "--", *preload, *words], env={**os.environ, **settings}, cwd=folder,
                   check=True, capture_output=True)
    report = json.loads(out.read_text())
    categories = {one["name"]: one["bytes"] for one in report["categories"]}
    own = {name: size for name, size in categories.items() if name != "recorder"}
    site = report["verdict"]["site"]
    place = report["sites"][site - 1]["site"] if site else ""
    returned = report["tried"][0]["returned"] if report["tried"] else None
    row = {"kind": kind, "allocator": allocator, "load": round(load, 2), "verdict": report["verdict"]["word"], "expected": word,
           "largest": max(own, key=own.get), "expected_largest": largest, "site": place, "expected_site": function,
           "rss": report["rss"], "sum": report["sum"], "other": categories["other"], "recorder": categories["recorder"],
           "returned": returned, "outside": truth}
    row["right"] = {"sum": row["sum"] == row["rss"]}
    if word is not None:
        row["right"]["verdict"] = row["verdict"] == word
    if largest is not None:
        row["right"]["largest"] = row["largest"] == largest
    if function is not None and row["verdict"] != "nothing_to_change":
        row["right"]["site"] = function in place
    if truth and returned is not None and truth["returned"] > NOTICED_KIB and kind != "thread_arenas":  # whose runs differ
        row["right"]["returned"] = abs(returned / 1024 - truth["returned"]) <= max(0.03 * truth["returned"], 128)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--memsweep", default=str(HERE.parent / "build/release/memsweep"))
    parser.add_argument("--out")
    args = parser.parse_args()
    rows = []
    left_out = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        build(folder)
        for allocator, file in LIBRARIES.items():
            library = found(allocator) if file else None
            if file and library is None:
                left_out.append(f"{allocator}: not installed")
                continue
            empty = outside("little", library, folder)
            for kind in [*JUDGES, *OTHERS]:
                if args.only and kind not in args.only:
                    continue
                for _ in range(args.runs):
                    row = judge(kind, allocator, library, args, folder, empty)
                    rows.append(row)
                    wrong = [name for name, is_right in row["right"].items() if not is_right]
                    print(f"{kind:20} {allocator:9} {row['verdict']:18} {row['largest']:17} {row['site'][:40]:40} "
                          f"{'wrong: ' + ', '.join(wrong) if wrong else ''}", flush=True)
    names = ("sum", "verdict", "largest", "site", "returned")
    summary = {name: {"right": sum(row["right"].get(name, False) for row in rows), "of": sum(name in row["right"] for row in rows)}
               for name in names}
    summary["other_share_most"] = max(row["other"] / row["rss"] for row in rows)
    summary["recorder_share"] = {"below_1_percent": sum(row["recorder"] < 0.01 * row["rss"] for row in rows), "of": len(rows),
                                 "most": max(row["recorder"] / row["rss"] for row in rows), "most_bytes": max(row["recorder"] for row in rows),
                                 "least_bytes": min(row["recorder"] for row in rows)}
    print(json.dumps(summary, indent=1))
    if args.out:
        document = {"command": " ".join(["benchmarks/explain_judges.py", *sys.argv[1:]]), "kernel": os.uname().release,
                    "load": [min(row["load"] for row in rows), max(row["load"] for row in rows)], "left_out": left_out, "summary": summary,
                    "rows": rows}
        lines = json.dumps({**document, "rows": None})[:-len('null}')]
        pathlib.Path(args.out).write_text(lines + "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]}\n")
    return 0 if all(one["right"] == one["of"] for one in (summary[name] for name in names)) else 1


if __name__ == "__main__":
    sys.exit(main() if shutil.which("gcc") else "gcc is not installed")
