#!/usr/bin/env python3
"""When collections come in the recorded loops: each runtime's trigger as a rule with a few numbers, against recordings.

    tests/runtimes/fit_model.py              the recordings of this folder
    tests/runtimes/fit_model.py FOLDER...    others, such as OUT/run1 of record.py

Prints a line per curve: predicted/recorded peak and end of the unreleased buffers, and collections after the first row.
A line ends in what is off by more than 10 % (peak, end) or by more than one and 20 % (collections).

The rules release at once what a collection finds; the real ones hand it to a thread that needs time. How late that
thread is depends on the machine, and is therefore no part of a rule.
"""

import csv
import math
import pathlib
import re
import sys
from dataclasses import dataclass, field

import record

HERE = pathlib.Path(__file__).resolve().parent
KIB, MIB = 1 << 10, 1 << 20


@dataclass
class Prediction:
    """Row by row: unreleased buffers. Beside it, the iterations in which a collection came."""

    unreleased: list = field(default_factory=list)
    collections: list = field(default_factory=list)


class Mono:
    """SGen: a nursery for small objects, and large objects that a major collection alone finds."""

    NURSERY = 4 * MIB
    LARGE = 8000  # an array of more bytes than this is a large object
    ARRAY_HEADER = 32
    ALLOWANCE = 16 * MIB  # the heap may grow by this much before a major collection
    PROGRAM = 6595  # small managed bytes per iteration, most of them for reading statm and formatting the row
    USED_AT_START = 26_000  # of the nursery
    PROMOTED_FIRST = 260_000  # what the first minor collection moves into the heap
    PINNED = 1  # buffers that stale stack slots keep through a collection, beside the one in use

    def __init__(self, garbage):
        self.large = garbage + self.ARRAY_HEADER if garbage > self.LARGE else 0
        self.small = self.PROGRAM + (garbage + self.ARRAY_HEADER if 0 < garbage <= self.LARGE else 0)
        self.nursery, self.heap, self.minors = self.USED_AT_START, 0, 0

    def collects(self, held):
        if self.large and self.heap > self.ALLOWANCE:
            # The array allocated now is counted with what survives: the next cycle does not see it.
            self.heap, self.nursery = 0, self.small
            return True
        self.heap += self.large
        self.nursery += self.small
        if self.nursery <= self.NURSERY:
            return False
        self.nursery = self.small
        self.minors += 1
        if self.minors == 1:
            self.heap += self.PROMOTED_FIRST
        return True

    def kept(self):
        return 1 + self.PINNED


class Serial:
    """HotSpot's Serial collector: a young collection when eden is full, a full one when direct memory is."""

    EDEN = 17_536 * KIB  # of -Xms64m
    LOCAL_BUFFER = 350 * KIB  # what the loop's thread takes of eden at a time
    UNUSED = 50_000  # of eden, at its end
    PROGRAM = {"cleaner": 19_200, "finalize": 19_200, "explicit": 19_200, "direct": 20_500}
    USED_AT_START = {"cleaner": 600_000, "finalize": 600_000, "explicit": 600_000, "direct": 900_000}
    ARRAY_HEADER = 16

    def __init__(self, kind, garbage):
        self.per_iteration = self.PROGRAM[kind] + (garbage + self.ARRAY_HEADER if garbage else 0)
        self.used = self.USED_AT_START[kind]
        # An array too large for a thread's buffer is allocated beside it, and finds eden full while the buffer is not.
        self.eden = self.EDEN - (self.LOCAL_BUFFER if garbage > self.LOCAL_BUFFER else self.UNUSED)

    def collects(self, held):
        self.used += self.per_iteration
        if self.used <= self.eden:
            return False
        self.used = self.per_iteration
        return True

    def full(self):
        self.used = 0

    def kept(self):
        return 1


class G1:
    """HotSpot's G1 in a 64 MiB heap: eden regions by a budget that grows; for huge arrays, regions of the rest."""

    REGION = MIB
    BUDGETS = (6, 13, 37)  # regions of eden: first, second, and from then on
    PROGRAM = {"cleaner": 18_600, "finalize": 18_600, "explicit": 18_600, "direct": 20_000}
    USED_AT_START = 250_000
    # An array does not cross regions: a region holds whole ones, and thread-local buffers take the places of a few.
    PLACES_LOST = {"cleaner": (1, 0, 2), "finalize": (1, 0, 2), "explicit": (1, 0, 2), "direct": (1, 0, 4)}
    # An array above half a region gets regions of its own among the old. 45 % of 64 MiB, less what is old for good, as
    # long as the threshold is fixed; then it follows times that the collector measured, 26 to 60, and no two runs agree.
    HUGE_BUDGETS = (26, 26, 26, 26, 26, 26, 26, 46)
    ARRAY_HEADER = 16

    def __init__(self, kind, garbage):
        self.program = self.PROGRAM[kind]
        self.places_lost = self.PLACES_LOST[kind]
        self.array = garbage + self.ARRAY_HEADER if garbage else 0
        self.count, self.used, self.arrays, self.huge = 0, self.USED_AT_START, 0, 0

    def of_this_time(self, steps):
        return steps[min(self.count, len(steps) - 1)]

    def collects(self, held):
        collected = self.huge_fills() if self.array > self.REGION // 2 else self.eden_fills()
        self.count += collected
        return collected

    def huge_fills(self):
        regions = math.ceil(self.array / self.REGION)
        self.huge += regions
        if self.huge <= self.of_this_time(self.HUGE_BUDGETS):
            return False
        self.huge = 2 * regions  # the array of this iteration, and the one that was in use during the collection
        return True

    def eden_fills(self):
        regions = self.of_this_time(self.BUDGETS)
        self.used += self.program + self.array
        self.arrays += 1
        places = regions * (self.REGION // self.array) - self.of_this_time(self.places_lost) if self.array else math.inf
        if self.used <= regions * self.REGION and self.arrays <= places:
            return False
        self.used, self.arrays = self.program + self.array, 1
        return True

    def full(self):
        self.used, self.arrays, self.huge = 0, 0, 0

    def kept(self):
        return 1


class DirectMemory:
    """java.nio.Bits: no collection below the cap; at the cap a full one, and where that is forbidden the end."""

    def __init__(self, heap, cap, size, explicit):
        self.heap, self.explicit = heap, explicit
        self.most = cap // size

    def collects(self, held):
        if held >= self.most:
            if not self.explicit:
                raise MemoryError
            self.heap.full()
            self.heap.collects(held)
            return True
        return self.heap.collects(held)

    def kept(self):
        return self.heap.kept()


class CPython:
    """The cycle collector: generation 0 when more containers were made than freed since the last time, by 700."""

    THRESHOLD = 700
    OWN = 5  # containers that the loop itself makes for a moment
    LASTING = 15  # and those that were made between gc.collect() and the first row

    def __init__(self, in_cycle, garbage):
        self.per_iteration = 1 if in_cycle else 0
        self.moment = self.OWN + (2 * garbage + 1 if garbage else 0)  # the new list of lists while the old one lives
        self.containers = self.LASTING

    def collects(self, held):
        self.containers += self.per_iteration
        if self.containers + self.moment <= self.THRESHOLD:
            return False
        self.containers = self.per_iteration
        return True

    def kept(self):
        return 1


def number(text):
    value, unit = re.fullmatch(r"(\d+)([mg]?)", text).groups()
    return int(value) << {"": 0, "m": 20, "g": 30}[unit]


def predict(runtime, command):
    """What the rule of the command's runtime says about the loop that the command runs."""
    prediction = Prediction()
    base, releases_at_once = 0, False
    if runtime == "mono":
        mode, count, *rest = command
        rule, releases_at_once = Mono(int(rest[2]) if len(rest) > 2 else 0), mode == "dispose"
    elif runtime == "python":
        kind, count = command[1:3]
        releases_at_once = kind == "refcount"
        rule = CPython(not releases_at_once, int(command[4]) if len(command) > 4 else 0)
    else:
        kind, count, size, *garbage = command[command.index("loop") + 1:]
        heap = Serial if "-XX:+UseSerialGC" in command else G1
        rule, releases_at_once = heap(kind, int(garbage[0]) if garbage else 0), kind == "explicit"
        caps = [option.partition("=")[2] for option in command if "MaxDirectMemorySize" in option]
        if caps:
            base = 1  # the program reads files through a direct buffer of its own
            rule = DirectMemory(rule, number(caps[0]), int(size), "-XX:+DisableExplicitGC" not in command)
    held = 0
    for i in range(int(count)):
        try:
            collected = rule.collects(held)
        except MemoryError:
            break
        if collected:
            prediction.collections.append(i)
        held = min(held + 1, rule.kept()) if collected else held + 1
        if releases_at_once:
            held = 0
        prediction.unreleased.append(base + held if not releases_at_once else 0)
    return prediction


def off(predicted, recorded, share, at_least=0):
    return abs(predicted - recorded) > max(share * recorded, at_least)


def compare(path, prediction):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    unreleased = [int(row["unreleased"]) for row in rows]
    pairs = [("peak", max(prediction.unreleased), max(unreleased), 0.1, 0),
             ("end", prediction.unreleased[-1], unreleased[-1], 0.1, 0),
             ("collections", len(prediction.collections), int(rows[-1]["gc0"]) - int(rows[0]["gc0"]), 0.2, 1)]
    misfits = [name for name, predicted, recorded, share, at_least in pairs if off(predicted, recorded, share, at_least)]
    figures = "".join(f"  {name} {f'{predicted}/{recorded}':>9}" for name, predicted, recorded, _, _ in pairs)
    return f"{path.stem:44}{figures}  {'off: ' + ', '.join(misfits) if misfits else ''}".rstrip()


def main():
    folders = [pathlib.Path(name) for name in sys.argv[1:]] or [HERE / "recordings"]
    for folder in folders:
        for runtime, curves in record.CURVES.items():
            for name, commands in curves():
                path = folder / name
                if path.suffix == ".csv" and path.exists():
                    print(compare(path, predict(runtime, commands[0])))


if __name__ == "__main__":
    main()
