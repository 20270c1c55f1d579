"""NumPy arrays on CPython: who still holds them when, and when does the cycle collector come?

    python3 repro.py phases refcount|cycle COUNT ELEMENTS
    python3 repro.py loop   refcount|cycle COUNT ELEMENTS [GARBAGE]

phases    allocates COUNT arrays of ELEMENTS float64, drops them, collects; a line of text at each point
loop      allocates and forgets one array after another; a row of CSV each
refcount  nobody but a name holds the array: it goes with the name
cycle     the array hangs on an object that refers to itself: only the cycle collector finds it
GARBAGE   empty lists per iteration, containers that the cycle collector counts

What an iteration allocates in containers is part of the experiment: it decides when collections come. Change it, and
every recording must be made again.
"""

import gc
import os
import sys
import time

import numpy as np

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
RESIDENT_CAP = 6 << 30  # a loop that nobody collects must not take the machine down
ELEMENTS_PER_PAGE = 512


class Node:
    live = 0

    def __init__(self):
        Node.live += 1

    def __del__(self):
        Node.live -= 1


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE_BYTES


def make(in_cycle, elements):
    array = np.zeros(elements, dtype=np.float64)
    array[::ELEMENTS_PER_PAGE] = 1.0
    if not in_cycle:
        return array
    node = Node()
    node.itself = node
    node.array = array
    return node


def phases(in_cycle, count, elements, baseline):
    def print_at(point):
        unreleased = Node.live if in_cycle else -1  # a plain array tells nobody that it went
        collections = [generation["collections"] for generation in gc.get_stats()]
        print(f"{point:28s} rss {(resident_bytes() - baseline) >> 20:6d} MiB  unreleased {unreleased:4d}  gc {collections}")

    arrays = [make(in_cycle, elements) for _ in range(count)]
    print_at("after alloc")
    for i in range(count):
        arrays[i] = None
    print_at("after drop")
    gc.collect()
    print_at("after gc.collect")


def loop(in_cycle, count, elements, garbage, baseline):
    print("i,t_ms,rss_mib,unreleased,gc0,gc1,gc2")
    start = time.perf_counter()
    keep = None
    for i in range(count):
        thing = make(in_cycle, elements)
        if garbage:
            keep = [[] for _ in range(garbage)]
        resident = resident_bytes() - baseline
        stats = gc.get_stats()
        print(f"{i},{(time.perf_counter() - start) * 1e3:.2f},{resident / 1048576:.1f},{Node.live if in_cycle else 0},"
              f"{stats[0]['collections']},{stats[1]['collections']},{stats[2]['collections']}")
        if resident > RESIDENT_CAP:
            print("cap", file=sys.stderr)
            break
    del thing, keep


def main():
    mode, kind, count, elements = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    garbage = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    in_cycle = kind == "cycle"
    gc.collect()
    baseline = resident_bytes()
    if mode == "phases":
        phases(in_cycle, count, elements, baseline)
    else:
        loop(in_cycle, count, elements, garbage, baseline)


main()
