#!/usr/bin/python3
"""Writes core/model/concat_answers.inc: what NumPy answers to each case of the concatenation sweep.

    scripts/make_concat_answers.py > core/model/concat_answers.inc

Run again when a case is added. Needs Debian's python3-numpy. The checksum is that of core/array/kernels.hpp: in memory
order, for each stretch of 64 bytes the sum of its little-endian 64-bit words and of its length, the total so far times a
factor before each is added, all modulo 2^64.
"""

import numpy as np

import concat_sweep

OURS = {"bool": "boolean"}
STRETCH, FACTOR = 64, np.uint64(0x9E3779B97F4A7C15)


def checksum(array):
    data = np.frombuffer(array.ravel(order="K").tobytes() + bytes(STRETCH), dtype="u1")
    size = len(data) - STRETCH
    stretches = -(-size // STRETCH)
    words = data[: stretches * STRETCH].view("<u8").reshape(stretches, -1)
    lengths = np.full(stretches, STRETCH, dtype="u8")
    lengths[-1] = size - (stretches - 1) * STRETCH
    factors = np.full(stretches, FACTOR)
    factors[0] = 1
    factors = np.cumprod(factors, dtype="u8")[::-1]
    return int(((words.sum(axis=1, dtype="u8") + lengths) * factors).sum(dtype="u8"))


def dtype(label, result):
    if label == "dtype_char_1M":
        return "char16"
    return "decimal128" if result.dtype.names else OURS.get(str(result.dtype), str(result.dtype))


def main():
    print(f"// From scripts/make_concat_answers.py, NumPy {np.__version__}.")
    print("// clang-format off")
    for label, case in concat_sweep.cases().items():
        result = case.build()()
        print(f'Answer{{"{label}", DType::{dtype(label, result)}, {checksum(result)}U}},')
    print("// clang-format on")


if __name__ == "__main__":
    main()
