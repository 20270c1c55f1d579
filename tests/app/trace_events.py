"""The events of a trace (.mst) as docs/trace-format.md describes its bytes, for tests: slow, and of what imports write alone."""

import ctypes
import ctypes.util
import pathlib
import struct

END, STAMP, BASE, THREAD, PROCESS, SPACE, STREAM, DEFINE_SPACE = range(8)
MAP, UNMAP, FAILED_ALLOC, FREE_REQUESTED = 10, 11, 20, 21


def decompressed(payload, size):
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(size)
    found = library.ZSTD_decompress(room, ctypes.c_size_t(size), payload, ctypes.c_size_t(len(payload)))
    assert found == size, f"{found} bytes instead of {size}"
    return room.raw


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def payload_events(data, rotation):
    numbers = Numbers(data)
    space = stream = place = 0

    def moved(difference):
        nonlocal place
        place = (place + (difference >> 1 ^ -(difference & 1))) % (1 << 64)
        return (place << rotation | place >> (64 - rotation)) % (1 << 64)

    while numbers.at < len(data):
        word = numbers.take()
        kind, rest = word & 3, word >> 2
        if kind == 1:
            yield "free", space, stream, moved(rest), 0
        elif kind == 2:
            address = moved(rest)
            yield "malloc", space, stream, address, numbers.take()
        elif kind == 0 and rest == END:
            return
        elif kind == 0 and rest in (STAMP, THREAD, PROCESS):
            numbers.take()
        elif kind == 0 and rest == BASE:
            place = numbers.take()
        elif kind == 0 and rest == SPACE:
            space = numbers.take()
        elif kind == 0 and rest == STREAM:
            stream = numbers.take()
        elif kind == 0 and rest == DEFINE_SPACE:
            _, _, _, length = (numbers.take() for _ in range(4))
            numbers.at += length
        elif kind == 0 and rest in (MAP, UNMAP):
            address = moved(numbers.take())
            yield "map" if rest == MAP else "unmap", space, stream, address, numbers.take()
        elif kind == 0 and rest == FAILED_ALLOC:
            yield "failed_alloc", space, stream, 0, numbers.take()
        elif kind == 0 and rest == FREE_REQUESTED:
            yield "free_requested", space, stream, moved(numbers.take()), 0
        else:
            raise ValueError(f"operation {kind}, {rest}")


def events_of(path):
    """Tuples of (kind, space, stream, address, size)."""
    data = pathlib.Path(path).read_bytes()
    at, = struct.unpack_from("<H", data, 10)
    while at < len(data):
        magic, kind, codec, rotation, _, span, stored, raw = struct.unpack_from("<I4B3I", data, at)
        assert magic == 0x4B4E434D, hex(magic)
        payload = data[at + 64:at + 64 + stored]
        if kind == 1:
            yield from payload_events(decompressed(payload, raw) if codec == 1 else payload, rotation)
        at += span
