"""The call stacks of a trace (.mst) as docs/trace-format.md describes their bytes, for tests; and the names of functions in a binary."""

import bisect
import collections
import pathlib
import struct
import subprocess

from trace_events import Numbers, decompressed

EVENTS, FACTS, FRAMES, STACKS, MODULES, THREAD_STACKS, USABLE_SIZES, CALLERS = 1, 2, 5, 6, 7, 10, 11, 12
CUT = 1  # the address that a stack begins with which was not followed to its beginning


class Module(collections.namedtuple("Module", "begin size bias path gone")):
    def holds(self, address):
        return self.begin <= address < self.begin + self.size


class Stacks:
    """stacks.chains(): {(process, image, addresses, innermost first): events}."""

    def __init__(self, path):
        self.nodes, self.modules, self.runs, self.event_chunks = {}, collections.defaultdict(list), {}, {}
        self.usable_sizes = collections.defaultdict(set)  # by size and alignment
        self.callers = collections.Counter()  # events by (process, image, address), of those that have no stack
        self.thread_stacks = {}  # first address and bytes by process and thread
        data = pathlib.Path(path).read_bytes()
        at = 64
        while at < len(data):
            header = struct.unpack_from("<4s4B7IQ2Q2I", data, at)
            kind, codec = header[1], header[2]
            span, stored, raw, events, process, thread = header[5:11]
            sequence, first_ticks = struct.unpack_from("<2Q", data, at + 32)
            payload = data[at + 64:at + 64 + stored]
            payload = decompressed(payload, raw) if codec == 1 else payload
            if kind == EVENTS:
                self.event_chunks[process, thread, sequence, first_ticks] = events
            elif kind == THREAD_STACKS:
                numbers = Numbers(payload)
                numbers.take()
                self.thread_stacks[process, thread] = (numbers.take(), numbers.take())
                assert numbers.at == len(payload), "a thread has one stack"
            elif kind == USABLE_SIZES:
                numbers = Numbers(payload)
                numbers.take()
                while numbers.at < len(payload):
                    self.usable_sizes[numbers.take(), numbers.take()].add(numbers.take())
            elif kind in (FRAMES, STACKS, MODULES, CALLERS):
                take = {FRAMES: self._frames, STACKS: self._stacks, MODULES: self._modules, CALLERS: self._callers}[kind]
                take(Numbers(payload), len(payload), (process, thread, sequence, first_ticks))
            at += span

    def _frames(self, numbers, end, key):
        image, number, address = numbers.take(), numbers.take(), 0
        while numbers.at < end:
            parent, step = numbers.take(), numbers.take()
            address = (address + (step >> 1 ^ -(step & 1))) % (1 << 64)
            assert parent < number, "a caller comes first"
            self.nodes[key[0], image, number] = (parent, address)
            number += 1

    def _stacks(self, numbers, end, key):
        image, sequence = numbers.take(), numbers.take()
        assert sequence == key[2]
        runs = []
        while numbers.at < end:
            runs.append((numbers.take(), numbers.take()))
        self.runs[key] = (image, runs)

    def _callers(self, numbers, end, key):
        image, sequence = numbers.take(), numbers.take()
        assert sequence == key[2]
        addresses = [0]
        for _ in range(numbers.take()):
            step = numbers.take()
            addresses.append((addresses[-1] + (step >> 1 ^ -(step & 1))) % (1 << 64))
        while numbers.at < end:
            count, number = numbers.take(), numbers.take()
            if number:
                self.callers[key[0], image, addresses[number]] += count

    def _modules(self, numbers, end, key):
        image = numbers.take()
        while numbers.at < end:
            begin, size, own, _ = (numbers.take() for _ in range(4))
            texts = []
            for _ in range(2):
                length = numbers.take()
                texts.append(numbers.data[numbers.at:numbers.at + length])
                numbers.at += length
            _, gone = numbers.take(), numbers.take()
            self.modules[key[0], image].append(Module(begin, size, begin - own, texts[1].decode(), gone))

    def addresses(self, process, image, node):
        chain = []
        while node:
            node, address = self.nodes[process, image, node]
            chain.append(address)
        return tuple(chain)

    def counts(self):
        """Events by (process, image, node)."""
        counts = collections.Counter()
        for (process, _, _, _), (image, runs) in self.runs.items():
            for count, node in runs:
                counts[process, image, node] += count
        return counts

    def chains(self):
        chains = collections.Counter()
        for (process, image, node), count in self.counts().items():
            chains[process, image, self.addresses(process, image, node)] += count
        return chains

    def module(self, process, image, address):
        return next((module for module in self.modules[process, image] if module.holds(address - 1)), None)


class Functions:
    """Those of a binary, by address; a stripped copy has the same."""

    def __init__(self, binary):
        listed = subprocess.run(["nm", "-nSC", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
        self.found = []
        for line in listed.splitlines():
            words = line.split(maxsplit=3)
            if len(words) == 4 and words[2] in "tTwW":
                name = words[3].replace("(anonymous namespace)::", "").split("(")[0].split(" [clone")[0]
                self.found.append((int(words[0], 16), int(words[1], 16), name or words[3]))

    def name(self, address):
        index = bisect.bisect_right(self.found, (address, float("inf"), "")) - 1
        if index >= 0 and address < self.found[index][0] + self.found[index][1]:
            return self.found[index][2]
        return None
