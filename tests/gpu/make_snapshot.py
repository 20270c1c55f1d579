"""Writes a snapshot as PyTorch's allocator leaves them, of a made-up training loop: what a GPU replays where there is no PyTorch.

    python3 make_snapshot.py FILE

Eight layers, twelve steps: activations live from the forward to the backward pass, gradients until the optimiser has read
them, parameters and the optimiser's state to the end. Blocks are multiples of 512 bytes, as PyTorch's are.
"""

import pickle
import random
import sys

LAYERS, STEPS = 8, 12
FIRST_ADDRESS = 0x7F0000000000


class Trace:
    def __init__(self):
        self.events, self.free, self.next, self.sizes = [], {}, FIRST_ADDRESS, {}

    def add(self, action, address, size):
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": 7 * len(self.events)})

    def allocate(self, size):
        size = (size + 511) // 512 * 512
        cached = self.free.get(size)
        address = cached.pop() if cached else self.next
        if address == self.next:
            self.next += size
        self.sizes[address] = size
        self.add("alloc", address, size)
        return address

    def release(self, address):
        size = self.sizes.pop(address)
        self.add("free_requested", address, size)
        self.add("free_completed", address, size)
        self.free.setdefault(size, []).append(address)


def training():
    trace, draw = Trace(), random.Random(7)
    widths = [draw.choice((64, 256, 700, 1024)) << 10 for _ in range(LAYERS)]
    kept = [trace.allocate(width) for width in widths]
    for step in range(STEPS):
        activations, gradients = [], []
        for width in widths:
            workspace = trace.allocate(draw.randrange(1, 64) << 14)
            activations.append(trace.allocate(4 * width))
            trace.release(workspace)
        for width in reversed(widths):
            gradients.append(trace.allocate(width))
            trace.release(activations.pop())
        if step == 0:
            kept += [trace.allocate(width) for width in widths for _ in range(2)]
        for gradient in gradients:
            trace.release(gradient)
    for address in kept:
        trace.release(address)
    return {"segments": [], "device_traces": [trace.events]}


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        pickle.dump(training(), file, protocol=4)
