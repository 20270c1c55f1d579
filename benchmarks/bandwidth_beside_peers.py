#!/usr/bin/env python3
"""Holds `memsweep probe` beside the programs that people measure memory with, in interleaved rounds on this machine.

    benchmarks/bandwidth_beside_peers.py [--rounds 20] [--threads 1|all] [--kernels read,write,copy,triad] [--size 256MiB]
        [--stream-source STREAM/stream.c] [--babelstream DIR] [--tinymembench DIR] [--binary build/release/memsweep] [--save rounds.json]
    benchmarks/bandwidth_beside_peers.py --latency --multichase DIR [--sizes 64KiB,1MiB,64MiB] ...

Peers   STREAM by McCalpin (gcc -O3 -march=native -fopenmp, and -O2, whose Copy is the C library's memcpy), BabelStream (its OpenMP
        model) and tinymembench where their checkouts are named, likwid-bench, mbw and sysbench where they are installed (apt-get
        install likwid mbw sysbench), multichase by Google where a built checkout is named. What is missing is named and left
        out. Nothing is downloaded. tinymembench is built with --size in place of its 32 MiB, which fit into a cache, and with
        three repetitions of 0.1 s for its ten of 0.5 s.
Limits  bandwidth_limits.c, loops written by hand for this processor's widest vectors, held apart from the peers. Both sides
        have as many samples of about as long, each after an unmeasured run of its loop, while all loops take turns: five loops by
        hand of a kernel (read: two, triad: four) and at most four kinds of store of ours (read: one, triad: two).
Method  Each round runs memsweep and every peer once, the order turned from round to round. Where a peer reports its best
        sample, ours is the best too; where it reports a mean, ours is the median. Of a peer's tests the best of its round counts. Of
        our stores, of the peers and of the loops by hand the one that is best over all rounds counts, in each of them: the best of
        each round would be the luckiest, and who has more loops is luckier. Printed: medians, and the median of the rounds' ratios
        (ours over theirs; latency theirs over ours) with its exact 95 % interval. --save keeps the rounds and adds to those of the
        file, so that many rounds can be measured in short slices.
        Latency: multichase's chase goes over one line of each four, in random order within 64 pages; ours does that four times
        over, for each of the lines. So ours of a set is held beside multichase's default stride on four times the memory: as many
        lines, as many of them at a time in 64 pages. (With a stride of 64 multichase's next line is often the neighbour, which
        many processors fetch unasked.)
Verdict "holds" when the whole interval is at 0.98 or above (latency: within 5 %), "fails" when all of it is
        below, else "open".
Exit codes: 0 measured and nothing fails, 1 something fails, 2 wrong usage or a program failed.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from paired_rounds import interval_of_median  # noqa: E402: found by the line above

MIB = 1 << 20
OURS = {"read": ("read",), "write": ("write", "memset"), "copy": ("copy", "memcpy"), "triad": ("triad",)}
SAMPLES = 6  # of a case in a round
LEAST_ROUNDS = 6  # of which the median has a 95 % interval
GOAL = {"bandwidth": 0.98, "limits": 0.98, "latency": 0.95}


def run(*command, **variables):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                          env={**os.environ, **{name: str(value) for name, value in variables.items()}})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB)?", text).groups()
    return int(number) * {"B": 1, None: 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}[unit]


class Memsweep:
    """Both statistics of every kernel by its stores."""

    def __init__(self, options, threads):
        self.command = [options.binary, "probe", "bandwidth", "-f", "json", "-q", "--size", options.size, "--min-time", "40ms", "-n", str(SAMPLES),
                        "-k", f"^probe_bandwidth/kernel=({'|'.join(name for kernel in options.kernels for name in OURS[kernel])})/.*threads={threads}$"]
        self.kernels = options.kernels

    def round(self):
        found = {}
        for case in json.loads(run(*self.command))["cases"]:
            for kernel in self.kernels:
                if case["params"]["kernel"] in OURS[kernel] and case["status"] == "ok":
                    summary = case["metrics"]["bandwidth"]["summary"]
                    found.setdefault(kernel, {})[case["id"]] = {"mean": summary["median"], "best": summary["max"]}
        return found


class Stream:
    statistic, kernels = "best", {"copy", "triad"}

    def __init__(self, options, threads, folder):
        self.threads = threads
        self.programs = []
        for flags in (("-O3", "-march=native"), ("-O2",)):
            self.programs.append(folder / f"stream{flags[0]}")
            run("gcc", *flags, "-fopenmp", "-mcmodel=medium", f"-DSTREAM_ARRAY_SIZE={bytes_of(options.size) // 8}", "-DNTIMES=10",
                options.stream_source, "-o", self.programs[-1])

    def round(self):
        found = {}
        for program in self.programs:
            out = run(program, OMP_NUM_THREADS=self.threads, OMP_PROC_BIND="true")
            for name, rate in re.findall(r"^(Copy|Triad): +([\d.]+)", out, re.M):
                found[name.lower()] = max(found.get(name.lower(), 0), float(rate) * 1e6)
        return found


class BabelStream:
    statistic, kernels = "best", {"read", "copy", "triad"}

    def __init__(self, options, threads, folder):
        self.threads = threads
        source = pathlib.Path(options.babelstream) / "src"
        run("g++", "-O3", "-march=native", "-fopenmp", "-std=c++17", "-DOMP", "-I", source, "-I", source / "omp", source / "main.cpp",
            source / "omp/OMPStream.cpp", "-o", folder / "babelstream")
        self.command = [folder / "babelstream", "--csv", "-n", 10, "-s", bytes_of(options.size) // 8]

    def round(self):
        out = run(*self.command, OMP_NUM_THREADS=self.threads, OMP_PROC_BIND="true")
        names = {"Dot": "read", "Copy": "copy", "Triad": "triad"}
        return {names[name]: float(rate) * 1e6 for name, rate in re.findall(r"^(Dot|Copy|Triad),\d+,\d+,\d+,([\d.]+)", out, re.M)}


class Tinymembench:
    """Counts a copied byte once, as mbw does."""

    statistic, kernels = "best", {"copy"}

    def __init__(self, options, threads, folder):
        self.threads = threads
        built = folder / "tinymembench"
        shutil.copytree(options.tinymembench, built, ignore=shutil.ignore_patterns(".git"))
        main = (built / "main.c").read_text()
        for old, new in (("(32 * 1024 * 1024)", f"({bytes_of(options.size)})"), ("t2 - t1 < 0.5", "t2 - t1 < 0.1")):
            if old not in main:
                sys.exit(f"{options.tinymembench}/main.c: has no {old}")
            main = main.replace(old, new)
        # Its latency tests come after, and are not asked for.
        (built / "main.c").write_text(main.replace("    free(poolbuf);", "    exit(0);"))
        run("make", "-C", built, "CFLAGS=-O2 -DMAXREPEATS=3")
        self.program = built / "tinymembench"

    def round(self):
        if self.threads != 1:
            return {}
        return {"copy": 2e6 * max(float(rate) for rate in re.findall(r"^ .*(?:copy|memcpy)\b.*: +([\d.]+) MB/s", run(self.program), re.M))}


class Limits:
    """The loops written by hand, each by its name; no peer."""

    def __init__(self, options, threads, folder):
        self.threads = threads
        self.command = [folder / "limits", bytes_of(options.size) // MIB, SAMPLES]
        run("gcc", "-O2", "-march=native", "-fopenmp", ROOT / "benchmarks/bandwidth_limits.c", "-o", folder / "limits")

    def round(self):
        found = {}
        for kernel, loop, rate in re.findall(r"^(\w+) (\S+) ([\d.]+)", run(*self.command, OMP_NUM_THREADS=self.threads, OMP_PROC_BIND="true"), re.M):
            found.setdefault(kernel, {})[loop] = float(rate) * 1e9
        return found


class Likwid:
    """Its best tests: plain loads, non-temporal stores, the processor's widest vectors; from the second round on the one
    that was fastest in the first, since each takes six seconds."""

    statistic, kernels = "mean", {"read", "copy", "triad"}

    def __init__(self, options, threads, _folder):
        known = run("likwid-bench", "-a")
        self.tests = {}
        for kernel, stems in (("read", ("load",)), ("copy", ("copy_mem",)), ("triad", ("stream_mem",))):
            if kernel not in options.kernels:
                continue
            widest = [f"{stem}_{level}" for stem in stems for level in ("sse", "avx", "avx512")
                      if re.search(rf"^{stem}_{level} ", known, re.M) and (level == "sse" or level in options.flags)]
            self.tests[kernel] = widest
        self.arrays = {"read": 1, "copy": 2, "triad": 3}
        self.bytes, self.threads = bytes_of(options.size), threads

    def round(self):
        found = {kernel: {} for kernel in self.tests}
        for kernel, tests in self.tests.items():
            for test in tests:
                size = self.bytes * self.arrays[kernel] // 1000
                out = run("likwid-bench", "-t", test, "-w", f"S0:{size}kB:{self.threads}", "-s", "1")
                rate = float(re.search(r"^MByte/s:\s+([\d.]+)", out, re.M).group(1)) * 1e6
                found[kernel][test] = rate
        self.tests = {kernel: [max(rates, key=rates.get)] for kernel, rates in found.items()}
        return {kernel: max(rates.values()) for kernel, rates in found.items()}


class Mbw:
    """Counts a copied byte once; STREAM and we count it twice."""

    statistic, kernels = "mean", {"copy"}

    def __init__(self, options, threads, _folder):
        self.mib = bytes_of(options.size) // MIB
        self.threads = threads

    def round(self):
        if self.threads != 1:
            return {}
        out = run("mbw", "-q", "-n", "5", self.mib)
        return {"copy": max(2 * MIB * float(rate) for rate in re.findall(r"^AVG.*Copy: ([\d.]+)", out, re.M))}


class Sysbench:
    statistic, kernels = "mean", {"read"}

    def __init__(self, options, threads, _folder):
        self.command = ["sysbench", "memory", f"--memory-block-size={bytes_of(options.size)}", "--memory-total-size=1T", "--time=1",
                        "--memory-oper=read", "--memory-scope=local", f"--threads={threads}", "run"]

    def round(self):
        return {"read": MIB * float(re.search(r"\(([\d.]+) MiB/sec\)", run(*self.command)).group(1))}


def peers_here(options, threads, folder):
    found = {}
    wanted = set(options.kernels)
    for name, kind, flag in (("STREAM", Stream, "stream_source"), ("BabelStream", BabelStream, "babelstream"), ("tinymembench", Tinymembench, "tinymembench")):
        if not kind.kernels & wanted:
            continue
        if getattr(options, flag):
            found[name] = kind(options, threads, folder)
        else:
            print(f"left out: {name} is not named by --{flag.replace('_', '-')}", file=sys.stderr)
    for name, kind in (("likwid-bench", Likwid), ("mbw", Mbw), ("sysbench", Sysbench)):
        if not kind.kernels & wanted:
            continue
        if shutil.which(name):
            found[name] = kind(options, threads, folder)
        else:
            print(f"left out: {name} is not installed", file=sys.stderr)
    return found


def bandwidth_rounds(options, folder):
    threads = len(os.sched_getaffinity(0)) if options.threads == "all" else int(options.threads)
    peers = peers_here(options, threads, folder)
    everyone = {"memsweep": Memsweep(options, threads), **peers}
    if "avx2" in options.flags:
        everyone["limits"] = Limits(options, threads, folder)
    else:
        print("left out: the loops written by hand are for processors with AVX2", file=sys.stderr)
    for number in range(options.rounds):
        order = list(everyone)
        order = order[number % len(order):] + order[:number % len(order)]
        measured = {name: everyone[name].round() for name in order}
        for kernel in options.kernels:
            what = f"{kernel}, {threads} thread{'s' * (threads > 1)}"
            if kernel not in measured["memsweep"]:
                print(f"{what}: memsweep measured no such case in round {number + 1}", file=sys.stderr)
                continue
            ours = measured["memsweep"][kernel]
            theirs = {name: measured[name][kernel] for name in peers if kernel in measured[name]}
            if theirs:
                yield {"what": what, "goal": "bandwidth", "ours": ours, "theirs": theirs, "by": {name: peers[name].statistic for name in theirs}}
            if kernel in measured.get("limits", {}):
                yield {"what": f"{what}, limit", "goal": "limits", "ours": ours, "theirs": measured["limits"][kernel], "by": {}}


def latency_rounds(options, _folder):
    for number in range(options.rounds):
        for text in options.sizes.split(","):
            size, pages = bytes_of(text), "thp" if options.huge else "4k"
            chase = [pathlib.Path(options.multichase) / "multichase", "-a", "-m", 4 * size, "-s", 256, "-n", 1, *(["-H"] if options.huge else [])]
            probe = [options.binary, "probe", "latency", "-f", "json", "-q", "--min-time", "300ms", "-n", "5", "-k", f"^probe_latency/pages={pages}/size={size}$"]
            results = {}
            for who in (("ours", "theirs") if number % 2 else ("theirs", "ours")):
                results[who] = (float(run(*chase)) * 1e-9 if who == "theirs"
                                else json.loads(run(*probe))["cases"][0]["metrics"]["latency"]["summary"]["median"])
            yield {"what": f"latency {text} {pages}", "goal": "latency", "ours": {"chase": {"mean": results["ours"]}},
                   "theirs": {"multichase": results["theirs"]}, "by": {}}


def judge(rounds):
    failed = False
    print(f"{'':26} {'ours':>10} {'best peer':>26} {'ratio':>7} {'95 % interval':>16}  verdict")
    for what in dict.fromkeys(one["what"] for one in rounds):
        mine = [one for one in rounds if one["what"] == what]
        goal, both_sides = GOAL[mine[0]["goal"]], mine[0]["goal"] == "latency"
        own = max(mine[0]["ours"], key=lambda case: statistics.median(one["ours"][case]["mean"] for one in mine if case in one["ours"]))
        mine = [one for one in mine if own in one["ours"]]

        def ratios_to(name):
            both = ((one["ours"][own][one["by"].get(name, "mean")], one["theirs"][name]) for one in mine if name in one["theirs"])
            return [theirs / ours if both_sides else ours / theirs for ours, theirs in both]

        name = min({name for one in mine for name in one["theirs"]}, key=lambda name: statistics.median(ratios_to(name)))
        ratios = ratios_to(name)
        low, high = interval_of_median(ratios)
        enough = len(ratios) >= LEAST_ROUNDS
        inside = enough and low >= goal and (not both_sides or high <= 2 - goal)
        outside = enough and (high < goal or (both_sides and low > 2 - goal))
        failed |= outside
        scale, unit = (1e9, "ns") if both_sides else (1e-9, "GB/s")
        ours, theirs = (statistics.median(values) * scale for values in ([one["ours"][own]["mean"] for one in mine], [one["theirs"][name] for one in mine if name in one["theirs"]]))
        print(f"{what:26} {ours:6.1f} {unit:>4} {theirs:6.1f} {name:>19} {statistics.median(ratios):7.3f} {low:7.3f} to {high:.3f} "
              f" {'holds' if inside else 'fails' if outside else 'open'} at {goal} ({len(ratios)} rounds)")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=ROOT / "build/release/memsweep", type=pathlib.Path)
    parser.add_argument("--rounds", default=20, type=int)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--kernels", default="read,write,copy,triad", type=lambda text: text.split(","))
    parser.add_argument("--size", default="256MiB")
    parser.add_argument("--stream-source")
    parser.add_argument("--babelstream")
    parser.add_argument("--tinymembench")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--multichase")
    parser.add_argument("--huge", action="store_true", help="latency on transparent huge pages")
    parser.add_argument("--sizes", default="64KiB,1MiB,16MiB,64MiB,256MiB")
    parser.add_argument("--save", type=pathlib.Path)
    options = parser.parse_args()
    if options.latency and not options.multichase:
        parser.error("--latency needs --multichase DIR")
    options.flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text() + "\nflags :", re.M).group(1).replace("avx512f", "avx512").split())
    rounds = json.loads(options.save.read_text()) if options.save and options.save.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        for one in (latency_rounds if options.latency else bandwidth_rounds)(options, pathlib.Path(folder)):
            rounds.append(one)
            if options.save:
                options.save.write_text(json.dumps(rounds))
    sys.exit(1 if judge(rounds) else 0)


if __name__ == "__main__":
    main()
