"""Traces (.mst) as docs/trace-format.md describes their bytes, written by hand: what no recorder writes, or none that is here."""

import struct

MALLOC, FREE = 2, 1
EVENTS, FACTS, FRAMES, STACKS, MODULES, SYMBOLS, CALLERS = 1, 2, 5, 6, 7, 8, 12


def crc32c_table():
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        yield crc


TABLE = list(crc32c_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def number(value):
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data) + bytes([value])


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return number(len(data)) + data


def zigzag(difference):
    return (difference << 1 ^ (-1 if difference < 0 else 0)) % (1 << 64)


def chunk(kind, payload, process=1, thread=0, sequence=0, events=0, first_ticks=0):
    header = struct.pack("<IBBBBIIIIIIQQQI", 0x4B4E434D, kind, 0, 0, 0, 64 + len(payload), len(payload), len(payload), events,
                         process, thread, sequence, first_ticks, first_ticks, crc32c(payload))
    return header + struct.pack("<I", crc32c(header)) + payload


class Trace:
    """One process and one thread. Stacks are tuples of addresses, the outermost first."""

    def __init__(self, process=1):
        self.process, self.nodes, self.events, self.runs, self.place = process, {(): 0}, b"", [], 0
        self.count, self.facts, self.modules, self.symbols, self.callers = 0, {"stacks": "full"}, b"", b"", []

    def node(self, stack):
        if stack not in self.nodes:
            self.node(stack[:-1])
            self.nodes[stack] = len(self.nodes)
        return self.nodes[stack]

    def moved(self, address):
        difference, self.place = zigzag(address - self.place), address
        return difference

    def malloc(self, address, size, stack=(), caller=0):
        self.events += number(self.moved(address) << 2 | MALLOC) + number(size)
        self.runs.append(self.node(tuple(stack)))
        self.callers.append(caller)
        self.count += 1

    def free(self, address):
        self.events += number(self.moved(address) << 2 | FREE)
        self.count += 1

    def module(self, begin, size, bias, path, build_id=b"", first=0, gone=0):
        self.modules += number(begin) + number(size) + number(begin - bias) + number(0) + text(build_id) + text(path)
        self.modules += number(first) + number(gone)

    def bytes(self):
        header = b"\x89MST\r\n\x1a\n" + struct.pack("<HHIQQQIIIII", 1, 64, 0, 0, 0, 0, self.process, 4096, 0, 0, 0)
        whole = header + struct.pack("<I", crc32c(header))
        frames, last = number(0) + number(1), 0
        for stack in sorted(self.nodes, key=self.nodes.get)[1:]:
            frames += number(self.nodes[stack[:-1]]) + number(zigzag(stack[-1] - last))
            last = stack[-1]
        stacks = number(0) + number(0) + b"".join(number(1) + number(node) for node in self.runs)
        facts = "".join(f"{name}={value}\n" for name, value in self.facts.items()).encode()
        whole += chunk(EVENTS, self.events, self.process, events=self.count)
        if len(self.nodes) > 1:
            whole += chunk(FRAMES, frames, self.process) + chunk(STACKS, stacks, self.process)
        if any(self.callers):
            addresses = sorted({*self.callers} - {0})
            table = number(len(addresses)) + b"".join(number(zigzag(address - before)) for before, address in zip([0, *addresses], addresses))
            numbers = {0: 0, **{address: place for place, address in enumerate(addresses, 1)}}
            runs = b"".join(number(1) + number(numbers[caller]) for caller in self.callers)
            whole += chunk(CALLERS, number(0) + number(0) + table + runs, self.process)
        if self.modules:
            whole += chunk(MODULES, number(0) + self.modules, self.process)
        return whole + chunk(FACTS, facts, 0)
