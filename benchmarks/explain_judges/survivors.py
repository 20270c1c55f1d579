"""A table of Python's own objects, made at once and there at the end, which comes before the interpreter takes itself down."""

import os


def load_rows():
    return [(str(i) * 8, i * 1.5) for i in range(120_000)]


def work():
    return sum(len([str(i)]) for i in range(1_000_000))


rows = load_rows()
work()
os._exit(0)
