#!/usr/bin/python3
"""Writes concat_vectors.inc: what NumPy answers, for concat_vectors_test.cpp. Run again when a case is added.

    tests/array/make_concat_vectors.py > tests/array/concat_vectors.inc

Needs Debian's python3-numpy. A checksum is the sum of the result's bytes in memory order, as little-endian 64-bit words
with zeros behind the last, and of their number, modulo 2^53. NumPy has no char (here uint16) and no decimal (here two
uint64 of which the first is the number).
"""

import numpy as np

NAMES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex128".split()
MILLION = 1_000_000


def checksum(array):
    data = array.ravel(order="K").tobytes()
    words = np.frombuffer(data + bytes(-len(data) % 8), dtype="<u8")
    return (int(words.sum(dtype=np.uint64)) + len(data)) % 2**53


def arange(*shape, dtype="int32"):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def decimals():
    array = np.zeros(MILLION, dtype=[("low", "u8"), ("high", "u8")])
    array["low"] = 1
    return array


def results():
    join = np.concatenate
    for name in NAMES[:9] + ["char"] + NAMES[9:12] + ["decimal"] + NAMES[12:]:
        one = decimals() if name == "decimal" else np.ones(MILLION, dtype="uint16" if name == "char" else name)
        yield f"dtype_{name}_1M", join([one, one])
    flat, square, cube, big = arange(MILLION), arange(1000, 1000), arange(100, 100, 100), arange(2000, 1000)
    column_major = np.asfortranarray(square)
    yield "layout_c_contig_1d", join([flat, flat])
    yield "layout_c_contig_2d_axis0", join([square, square])
    yield "layout_c_contig_2d_axis1", join([square, square], axis=1)
    yield "layout_c_contig_3d_axis0", join([cube, cube])
    yield "layout_c_contig_3d_axis2", join([cube, cube], axis=2)
    yield "layout_f_contig_2d_axis0", join([column_major, column_major])
    yield "layout_f_contig_2d_axis1", join([column_major, column_major], axis=1)
    yield "layout_strided_2d_axis0", join([big[::2], square])
    yield "layout_transposed_2d_axis0", join([square.T, square.T])
    yield "layout_sliced_2d_axis0", join([big[500:1500, :], square])
    yield "layout_broadcast_2d_axis0", join([np.broadcast_to(arange(1, 1000), (1000, 1000)), square])
    for elements in (100, 1000, 10_000, 100_000, MILLION, 10 * MILLION):
        yield f"size_{elements}", join([arange(elements)] * 2)
    for count in (2, 4, 8, 16, 64, 256, 1024):
        yield f"count_{count}", join([arange(100_000)] * count)
    for label, first, second in (
        ("int8_int16", "int8", "int16"),
        ("int8_uint8", "int8", "uint8"),
        ("int32_int64", "int32", "int64"),
        ("int32_uint32", "int32", "uint32"),
        ("int32_float32", "int32", "float32"),
        ("int32_float64", "int32", "float64"),
        ("int64_float64", "int64", "float64"),
        ("half_single", "float16", "float32"),
        ("float32_float64", "float32", "float64"),
        ("float64_complex", "float64", "complex128"),
        ("int32_complex", "int32", "complex128"),
    ):
        yield f"prom_{label}", join([np.ones(MILLION, dtype=first), np.ones(MILLION, dtype=second)])
    yield "out_int32_1M", join([flat, flat], out=np.empty(2 * MILLION, dtype="int32"))
    singles, out = arange(MILLION, dtype="float32"), np.empty(2 * MILLION, dtype="float64")
    yield "out_mixed_to_float64", join([singles, flat], out=out, casting="unsafe")
    yield "dtype_override_int32_to_float64", join([flat, flat], dtype="float64")
    yield "axis_none_2x_1M_2D", join([square, square], axis=None)
    wide = arange(MILLION, dtype="int64")
    yield "casting_unsafe_int64_to_int32", join([wide, wide], dtype="int32", casting="unsafe")


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
    print("constexpr CaseAnswer case_answers[] = {")
    for label, result in results():
        print(f'    {{"{label}", "{"decimal" if result.dtype.names else result.dtype}", {checksum(result)}U}},')
    print("};\n\n// First type, second type, what they promote to, and which castings let the first become the second.")
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
