"""The concatenation sweep as NumPy runs it: inputs, calls and repetitions of every case that core/model/concat_case.cpp has.

Imported by benchmarks/concat_beside_numpy.py, which times the calls, and by scripts/make_concat_answers.py, which writes
down what they answer. NumPy has no char (here uint16) and no decimal (here two uint64, of which the first is the number):
those two cases are marked and give NumPy's bytes, not NumPy's time.
Needs Debian's python3-numpy.
"""

import dataclasses
import typing

import numpy as np

MILLION = 1_000_000
DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 char float16 float32 float64 decimal complex128".split()
DECIMAL = np.dtype([("low", "u8"), ("high", "u8")])


@dataclasses.dataclass(frozen=True)
class Case:
    build: typing.Callable  # makes the inputs and gives the call
    repetitions: int = 100
    in_numpy: bool = True


def joined(arrays, **options):
    options.setdefault("axis", 0)
    return lambda: np.concatenate(arrays, **options)


def ones(name):
    if name == "decimal":
        array = np.zeros(MILLION, dtype=DECIMAL)
        array["low"] = 1
        return array
    return np.ones(MILLION, dtype="uint16" if name == "char" else name)


def square(rows=1000):
    return np.arange(rows * 1000, dtype=np.int32).reshape(rows, 1000)


def equal(name):
    return Case(lambda: joined([ones(name) for _ in range(2)]), in_numpy=name not in ("char", "decimal"))


def laid_out(shape, axis, order="C"):
    def build():
        arrays = [np.arange(MILLION, dtype=np.int32).reshape(shape).copy() for _ in range(2)]
        return joined([np.asarray(array, order=order) for array in arrays], axis=axis)

    return build


def transposed():
    source = square()
    return joined([source.T, source.T])


def counted(count, elements, repetitions):
    return Case(lambda: joined([np.arange(elements, dtype=np.int32) for _ in range(count)]), repetitions)


def mixed(first, second):
    return Case(lambda: joined([np.ones(MILLION, dtype=first), np.ones(MILLION, dtype=second)]))


def asked(first, second, out=None, **options):
    def build():
        arrays = [np.arange(MILLION, dtype=name) for name in (first, second)]
        if out:
            options["out"] = np.zeros(2 * MILLION, dtype=out)
            options["out"][:] = 0
        return joined(arrays, **options)

    return Case(build)


LAYOUTS = {
    "c_contig_1d": laid_out((MILLION,), 0),
    "c_contig_2d_axis0": laid_out((1000, 1000), 0),
    "c_contig_2d_axis1": laid_out((1000, 1000), 1),
    "c_contig_3d_axis0": laid_out((100, 100, 100), 0),
    "c_contig_3d_axis2": laid_out((100, 100, 100), 2),
    "f_contig_2d_axis0": laid_out((1000, 1000), 0, "F"),
    "f_contig_2d_axis1": laid_out((1000, 1000), 1, "F"),
    "strided_2d_axis0": lambda: joined([square(2000)[::2], square()]),
    "transposed_2d_axis0": transposed,
    "sliced_2d_axis0": lambda: joined([square(2000)[500:1500, :], square()]),
    "broadcast_2d_axis0": lambda: joined([np.broadcast_to(square(1), (1000, 1000)), square()]),
}
PROMOTIONS = (
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
)
REPETITIONS_BY_SIZE = {100: 500, 1000: 500, 10_000: 500, 100_000: 200, MILLION: 50, 10 * MILLION: 50}


def cases():
    """label -> Case, in the order of the sweep."""
    table = {f"dtype_{name}_1M": equal(name) for name in DTYPES}
    table |= {f"layout_{label}": Case(build) for label, build in LAYOUTS.items()}
    table |= {f"size_{elements}": counted(2, elements, calls) for elements, calls in REPETITIONS_BY_SIZE.items()}
    table |= {f"count_{count}": counted(count, 100_000, 100 if count <= 64 else 30) for count in (2, 4, 8, 16, 64, 256, 1024)}
    table |= {f"prom_{label}": mixed(first, second) for label, first, second in PROMOTIONS}
    table["out_int32_1M"] = asked("int32", "int32", out="int32")
    table["out_mixed_to_float64"] = asked("float32", "int32", out="float64", casting="unsafe")
    table["dtype_override_int32_to_float64"] = asked("int32", "int32", dtype="float64")
    table["axis_none_2x_1M_2D"] = Case(lambda: joined([square(), square()], axis=None))
    table["casting_unsafe_int64_to_int32"] = asked("int64", "int64", dtype="int32", casting="unsafe")
    return table
