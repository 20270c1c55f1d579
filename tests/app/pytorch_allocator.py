"""PyTorch's caching allocator in a few lines: what it reserves for a list of requests under given settings.

Written from the rules of c10/cuda/CUDACachingAllocator.cpp, in lists and loops and without a thought for speed, so that
what `memsweep fit --pytorch` says can be held against something that shares no code with it."""

MIB = 1 << 20
UNLIMITED = 1 << 62


class Block:
    def __init__(self, stream, small, address, size, mapped=True, growing=False):
        self.stream, self.small, self.address, self.size = stream, small, address, size
        self.mapped, self.growing, self.used = mapped, growing, False
        self.prev = self.next = None
        self.born = 0  # the count of searches of its pool when it was cached

    def key(self):
        return (self.stream, self.size, self.address)


class OutOfMemory(Exception):
    pass


def added(ranges, begin, end):
    """The ranges with this one, of which such as touch are one."""
    near = [one for one in ranges if one[0] <= end and begin <= one[1]]
    whole = (min(begin, *(one[0] for one in near), begin), max(end, *(one[1] for one in near), end))
    return sorted([one for one in ranges if one not in near] + ([whole] if whole[0] < whole[1] else []))


def removed(ranges, begin, end):
    parts = [part for first, last in ranges for part in ((first, min(last, begin)), (max(first, end), last))]
    return sorted({(first, last) for first, last in parts if first < last})


class Addresses:
    """Where the driver puts segments: where the trace has them, as long as it is followed; then in the lowest hole that
    fits; then below all others, in multiples of 32 MiB. A recorded segment that was no such multiple filled a hole."""

    STEP = 32 * MIB

    def __init__(self, recorded):
        self.recorded, self.holes, self.taken = list(recorded), [], []
        rest, top, lowest = [], 0, None
        for address, size in recorded:
            if any(first <= address and address + size <= last for first, last in rest):
                rest = removed(rest, address, address + size)
            elif address % self.STEP == 0 and (lowest is None or address < lowest):
                end = address + -(-size // self.STEP) * self.STEP
                rest, top = added(rest, address + size, end), max(top, end)
            else:
                self.holes = added(self.holes, address, address + size)
            lowest = address if lowest is None else min(lowest, address)
        self.low = top or (1 << 46 if lowest is None else lowest // self.STEP * self.STEP)

    def take(self, size):
        whole, address = -(-size // self.STEP) * self.STEP, None
        if self.recorded and self.recorded[0][1] == size:
            begin = self.recorded[0][0]
            if not any(first < begin + size and begin < last for first, last in self.taken):
                address = begin
        if address is not None:
            self.recorded.pop(0)
            if not any(first <= address and address + size <= last for first, last in self.holes):
                self.low = min(self.low, address // self.STEP * self.STEP)
                if address % self.STEP == 0:
                    self.holes = added(self.holes, address, address + whole)
        else:
            self.recorded = []
            address = min((first for first, last in self.holes if last - first >= size), default=None)
            if address is None:
                self.low -= whole
                address = self.low
                self.holes = added(self.holes, address, address + whole)
        self.holes = removed(self.holes, address, address + size)
        self.taken = added(self.taken, address, address + size)
        return address

    def give_back(self, address, size):
        self.recorded = []
        self.taken = removed(self.taken, address, address + size)
        self.holes = added(self.holes, address, address + size)


class Allocator:
    def __init__(self, max_split_mb=None, divisions=0, expandable=False, gc=0.0, limit=None, recorded=()):
        self.max_split = UNLIMITED if max_split_mb is None else max_split_mb * MIB
        self.divisions, self.expandable, self.gc, self.limit = divisions, expandable, gc, limit
        self.cached = {True: [], False: []}  # by "is small"
        self.unmapped = {True: [], False: []}
        self.searches = {True: 0, False: 0}
        self.addresses, self.top = Addresses(recorded), 0  # the latter of expandable segments
        self.waiting = {}  # freed by the program, and not yet by its streams
        self.reserved = self.allocated = self.max_reserved = self.max_allocated = self.retries = 0

    def round(self, size):
        if size < 512:
            return 512
        if self.divisions > 1 and size > 512 * self.divisions:
            floor = 1 << (size.bit_length() - 1)
            step = floor >> (self.divisions.bit_length() - 1)
            return size if size == floor else -(-size // step) * step if step else 2 * floor
        return -(-size // 512) * 512

    def malloc(self, asked, stream):
        size = self.round(asked)
        small = size <= MIB
        block = self.search(size, stream, small)
        if block is None:
            segment = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
            if self.limit is not None and self.gc > 0:
                self.collect()
            block = self.grow(size, segment, stream, small)
            if block is None and self.max_split != UNLIMITED and self.release_oversize(size, stream, small):
                block = self.grow(size, segment, stream, small)
            if block is None:
                self.release_all()
                self.retries += 1
                block = self.grow(size, segment, stream, small)
            if block is None:
                raise OutOfMemory
        rest = block.size - size
        whole_rest = small or self.expandable
        if rest >= 512 if whole_rest else size < self.max_split and rest > MIB:
            self.cut(block, size)
            self.cache(block.next)
        block.used = True
        self.allocated += block.size
        self.max_allocated = max(self.max_allocated, self.allocated)
        return block

    def free(self, block):
        block.used = False
        self.merge(block, self.cached)
        self.cache(block)

    def search(self, size, stream, small):
        self.searches[small] += 1
        fitting = sorted((b for b in self.cached[small] if b.stream == stream and b.size >= size), key=Block.key)
        if not fitting:
            return None
        reach = lambda b: b.size + (b.next.size if b.next and not b.next.mapped else 0)
        at = 0
        while self.expandable and at + 1 < len(fitting) and reach(fitting[at + 1]) < reach(fitting[at]):
            at += 1
        block = fitting[at]
        if block.size >= self.max_split if size < self.max_split else block.size >= size + 20 * MIB:
            return None
        self.cached[small].remove(block)
        return block

    def grow(self, size, segment, stream, small):
        if self.limit is not None and self.reserved + segment > self.limit:
            return None
        if self.expandable:
            return self.expand(size, stream, small)
        block = Block(stream, small, self.addresses.take(segment), segment)
        self.reserve(segment)
        return block

    def expand(self, size, stream, small):
        for at in sorted((b for b in self.unmapped[small] if b.stream == stream), key=lambda b: b.address):
            block = at.prev if at.prev and not at.prev.used else at
            room, end = 0, block
            while end and room < size and not end.used:
                room, end = room + end.size, end.next
            if room >= size:
                break
        else:
            block = Block(stream, small, self.top, 1 << 46, mapped=False, growing=True)
            self.top += 1 << 46
            self.unmapped[small].append(block)
        if not block.mapped:
            self.map(block, min(size, block.size))
        while block.size < size:
            more = block.next
            self.map(more, min(size - block.size, more.size))
            block = more
        self.cached[small].remove(block)
        return block

    def map(self, block, size):
        page = 2 * MIB if block.small else 20 * MIB
        size = -(-size // page) * page
        self.unmapped[block.small].remove(block)
        block.mapped = True
        if size < block.size:
            self.cut(block, size)
            block.next.mapped = False
            self.unmapped[block.small].append(block.next)
        self.merge(block, self.cached)
        self.cache(block)
        self.reserve(size)

    def cut(self, block, size):
        """Leaves `size` in the block; the rest is its next."""
        rest = Block(block.stream, block.small, block.address + size, block.size - size, growing=block.growing)
        rest.prev, rest.next = block, block.next
        if block.next:
            block.next.prev = rest
        block.next, block.size = rest, size

    def merge(self, block, idle):
        for other in (block.prev, block.next):
            if other and not other.used and other.mapped == block.mapped:
                idle[block.small].remove(other)
                block.address, block.size = min(block.address, other.address), block.size + other.size
                if other is block.prev:
                    block.prev = other.prev
                    if block.prev:
                        block.prev.next = block
                else:
                    block.next = other.next
                    if block.next:
                        block.next.prev = block

    def cache(self, block):
        block.born = self.searches[block.small]
        self.cached[block.small].append(block)

    def reserve(self, size):
        self.reserved += size
        self.max_reserved = max(self.max_reserved, self.reserved)

    def release(self, block):
        self.cached[block.small].remove(block)
        self.addresses.give_back(block.address, block.size)
        self.reserved -= block.size

    def release_all(self):
        while self.waiting:
            self.free(self.waiting.popitem()[1])
        for small in (False, True):
            for block in sorted(self.cached[small], key=Block.key):
                if block.growing:
                    self.unmap(block)
                elif not block.prev and not block.next:
                    self.release(block)

    def unmap(self, block):
        page = 2 * MIB if block.small else 20 * MIB
        first = block
        while first.prev:
            first = first.prev
        begin = -(-(block.address - first.address) // page) * page + first.address
        end = (block.address + block.size - first.address) // page * page + first.address
        if begin >= end:
            return
        self.cached[block.small].remove(block)
        if block.address < begin:
            self.cut(block, begin - block.address)
            self.cache(block)
            block = block.next
        if block.size > end - begin:
            self.cut(block, end - begin)
            self.cache(block.next)
        block.mapped = False
        self.merge(block, self.unmapped)
        self.unmapped[block.small].append(block)
        self.reserved -= end - begin

    def release_oversize(self, size, stream, small):
        need = max(size, self.max_split)
        own = sorted((b for b in self.cached[small] if b.stream == stream and not b.growing), key=Block.key)
        enough = [b for b in own if b.size >= need]
        if enough:
            self.release(enough[0])
            return True
        released = 0
        for block in reversed([b for b in own if b.size >= self.max_split]):
            if released >= need:
                break
            released += block.size
            self.release(block)
        return released >= need

    def collect(self):
        over = self.reserved - int(self.gc * self.limit)
        old = lambda b: self.searches[False] - b.born
        whole = [b for b in sorted(self.cached[False], key=Block.key) if not b.prev and not b.next and not b.growing]
        age, freed = sum(map(old, whole)), 0
        while over > 0 and freed < over and whole:
            mean = age / len(whole)
            for block in [b for b in whole if old(b) >= mean]:
                freed, age = freed + block.size, age - old(block)
                whole.remove(block)
                self.release(block)


def replay(events, **settings):
    """The events of one device's trace, as trace_events has them. Returns the allocator, and the number of the event that
    it had no memory for, or None."""
    recorded = [(address, size) for kind, _, _, address, size in events if kind == "map"]
    allocator, live = Allocator(recorded=recorded, **settings), {}
    for number, (kind, _, stream, address, size) in enumerate(events, 1):
        if kind in ("free", "free_requested") and address in live:
            allocator.allocated -= live[address].size
            allocator.waiting[address] = live.pop(address)
        try:
            if kind == "malloc":
                live[address] = allocator.malloc(size, stream)
            elif kind == "free" and address in allocator.waiting:
                allocator.free(allocator.waiting.pop(address))
        except OutOfMemory:
            return allocator, number
    return allocator, None
