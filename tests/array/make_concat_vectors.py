#!/usr/bin/python3
"""Writes concat_vectors.inc: what NumPy answers, for concat_vectors_test.cpp. Run again when a type is added.

    tests/array/make_concat_vectors.py > tests/array/concat_vectors.inc

Needs Debian's python3-numpy. What the cases of the sweep themselves give is in core/model/concat_answers.inc.
"""

import numpy as np

NAMES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex128".split()


def overflows():
    """Floats to integers that do not hold them, one by one: NumPy's loops for many elements disagree on uint32."""
    np.seterr(invalid="ignore")
    bounds = [2.0**power for power in (7, 8, 15, 16, 31, 32, 63, 64)]
    values = [300.7, 1e10, 1.5 * 2.0**63, 1e300, np.inf, np.nan] + bounds + [2.0**31 - 0.5, 2.0**32 + 3]
    for value in values + [-value for value in values]:
        for name in NAMES[1:9]:
            bits = int(np.array([value]).astype(name)[0]) % 2**64
            yield np.array([value]).view("u8")[0], name, bits % 2 ** (8 * np.dtype(name).itemsize)


def main():
    print(f"// From make_concat_vectors.py, NumPy {np.__version__}.")
    print("// clang-format off")
    print("constexpr PairAnswer pair_answers[] = {")
    for first in NAMES:
        for second in NAMES:
            castings = [c for c in "no equiv safe same_kind unsafe".split() if np.can_cast(first, second, c)]
            print(f'    {{"{first}", "{second}", "{np.promote_types(first, second)}", {5 - len(castings)}}},')
    print("};\n\nconstexpr SequenceAnswer sequence_answers[] = {")
    for a in NAMES:
        for b in NAMES:
            for c in NAMES:
                folded = np.promote_types(np.promote_types(a, b), c)
                together = np.result_type(a, b, c)
                if folded != together:
                    print(f'    {{"{a}", "{b}", "{c}", "{together}"}},')
    print("};\n\n// The bits of a float64, an integer type, and the bits that the number becomes there.")
    print("constexpr OverflowAnswer overflow_answers[] = {")
    for value, name, bits in overflows():
        print(f'    {{{value:#x}U, "{name}", {bits:#x}U}},')
    print("};")


if __name__ == "__main__":
    main()
