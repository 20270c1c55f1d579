// The loops of every level that this machine runs, against conversions made one by one.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/array/cast_table.hpp"
#include "core/base/rng.hpp"
#include "tests/array/cast_reference.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using model::DType;
using Bytes = std::vector<std::byte>;

constexpr std::byte untouched{0xA5};
const std::uint64_t seed = std::random_device{}();

constexpr std::array dtypes{DType::boolean, DType::int8,    DType::uint8,   DType::int16,     DType::uint16,
                            DType::int32,   DType::uint32,  DType::int64,   DType::uint64,    DType::char16,
                            DType::float16, DType::float32, DType::float64, DType::complex128};

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double edges[]{0.0,
                         -0.0,
                         1.0,
                         -1.0,
                         0.5,
                         -2.7,
                         127.9,
                         128.0,
                         255.5,
                         256.0,
                         300.0,
                         -300.0,
                         32767.5,
                         65519.9,
                         65520.0,
                         65536.0,
                         70000.0,
                         2147483647.5,
                         0x1p31,
                         -0x1p31,
                         -0x1p31 - 0.5,
                         -0x1p31 - 1,
                         3e9,
                         0x1p32,
                         1e10,
                         -1e10,
                         0x1p53,
                         0x1p62,
                         0x1p63,
                         -0x1p63,
                         0x1.8p63,
                         0x1p64,
                         -0x1p64,
                         1e30,
                         -1e30,
                         1e300,
                         inf,
                         -inf,
                         std::numeric_limits<double>::quiet_NaN(),
                         1e-320,
                         0x1p-24,
                         0x1p-25,
                         0x1.00001p-25,
                         0x1.ffcp-15,
                         1 + 0x1p-11,
                         1 + 0x1p-11 + 0x1p-40,
                         3.4e38,
                         3.5e38,
                         -3.5e38,
                         0x1p-149,
                         0x1p-150};

void write_real(std::byte* out, DType dtype, double value)
{
    if (dtype == DType::boolean) {
        *out = std::byte{value != 0};
    } else {
        tests::write_number(out, {false, 0, value, dtype == DType::complex128 ? 1.0 : 0.0}, dtype);
    }
}

// Edges first, then random bits, which are any value of the type.
Bytes inputs_of(DType dtype, std::size_t elements)
{
    base::Rng rng{seed};
    const std::size_t size = model::size_bytes(dtype);
    Bytes bytes(elements * size);
    for (std::size_t i = 0; i < elements; ++i) {
        if (i < std::size(edges)) {
            write_real(&bytes[i * size], dtype, edges[i]);
            continue;
        }
        for (std::size_t at = 0; at < size; ++at) {
            const auto bits = static_cast<unsigned char>(rng.next());
            bytes[i * size + at] = static_cast<std::byte>(dtype == DType::boolean ? bits & 1U : bits);
        }
    }
    return bytes;
}

bool is_nan(const std::byte* at, DType dtype)
{
    const tests::Number number = tests::number_at(at, dtype);
    return !number.is_integer && std::isnan(number.real);
}

// Bit for bit, but for NaNs, whose payload the reference does not carry.
bool agree(const std::byte* one, const std::byte* other, DType dtype)
{
    return std::memcmp(one, other, model::size_bytes(dtype)) == 0 || (is_nan(one, dtype) && is_nan(other, dtype));
}

CastLoop loop_of(const CastLoops& loops, DType from, DType to)
{
    return loops[static_cast<std::size_t>(element_of(from))][static_cast<std::size_t>(element_of(to))];
}

// `in` and the output start `shift` bytes off an alignment; nothing beyond the output is written.
Bytes cast(CastLoop loop, const Bytes& in, DType from, DType to, std::size_t elements, std::size_t shift)
{
    const std::size_t in_bytes = elements * model::size_bytes(from);
    const std::size_t out_bytes = elements * model::size_bytes(to);
    Bytes shifted_in(in_bytes + 64);
    std::copy_n(in.begin(), in_bytes, shifted_in.begin() + static_cast<std::ptrdiff_t>(shift));
    Bytes out(out_bytes + 192, untouched);
    loop(out.data() + 64 + shift, shifted_in.data() + shift, elements);
    for (std::size_t at = 0; at < 64 + shift; ++at) {
        REQUIRE(out[at] == untouched);
    }
    for (std::size_t at = 64 + shift + out_bytes; at < out.size(); ++at) {
        REQUIRE(out[at] == untouched);
    }
    return {out.begin() + static_cast<std::ptrdiff_t>(64 + shift),
            out.begin() + static_cast<std::ptrdiff_t>(64 + shift + out_bytes)};
}

Bytes expected(const Bytes& in, DType from, DType to)
{
    const std::size_t elements = in.size() / model::size_bytes(from);
    Bytes out(elements * model::size_bytes(to));
    for (std::size_t i = 0; i < elements; ++i) {
        if (element_of(from) == element_of(to)) {
            std::memcpy(&out[i * model::size_bytes(to)], &in[i * model::size_bytes(from)], model::size_bytes(from));
        } else {
            tests::write_number(&out[i * model::size_bytes(to)],
                                tests::number_at(&in[i * model::size_bytes(from)], from), to);
        }
    }
    return out;
}

template <typename Visit>
void for_each_pair(Visit visit)
{
    for (const DType from : dtypes) {
        for (const DType to : dtypes) {
            visit(from, to);
        }
    }
}

}  // namespace

TEST_CASE("cast: every pair of types at every level, any value", "[unit]")
{
    constexpr std::size_t elements = 3000;
    for_each_pair([](DType from, DType to) {
        const Bytes in = inputs_of(from, elements);
        const Bytes right = expected(in, from, to);
        for (const CastTable* table : runnable_cast_tables()) {
            const Bytes out = cast(loop_of(table->casts, from, to), in, from, to, elements, 0);
            for (std::size_t i = 0; i < elements; ++i) {
                const std::size_t at = i * model::size_bytes(to);
                if (!agree(&out[at], &right[at], to)) {
                    FAIL("seed " << seed << ", " << table->level << ": " << model::name_of(from) << " to "
                                 << model::name_of(to) << ", element " << i);
                }
            }
        }
    });
}

TEST_CASE("cast: every length up to 70, unaligned, equal at every level", "[unit]")
{
    constexpr std::size_t longest = 70;
    for_each_pair([](DType from, DType to) {
        const Bytes in = inputs_of(from, longest);
        const CastLoop plainest = loop_of(runnable_cast_tables().front()->casts, from, to);
        const Bytes right = cast(plainest, in, from, to, longest, 0);
        for (const CastTable* table : runnable_cast_tables()) {
            INFO("seed " << seed << ", " << table->level << ": " << model::name_of(from) << " to "
                         << model::name_of(to));
            for (std::size_t elements = 0; elements <= longest; ++elements) {
                const Bytes part{right.begin(),
                                 right.begin() + static_cast<std::ptrdiff_t>(elements * model::size_bytes(to))};
                REQUIRE(cast(loop_of(table->casts, from, to), in, from, to, elements, elements % 9) == part);
                if (table->streams()) {
                    REQUIRE(cast(loop_of(table->streamed_casts, from, to), in, from, to, elements, elements % 9) ==
                            part);
                }
            }
        }
    });
}

TEST_CASE("cast: stored past the caches, long runs are the same", "[unit]")
{
    if (!cast_table().streams()) {
        SUCCEED("skipped: streamed casts: this processor has none");
        return;
    }
    const CastTable& table = cast_table();
    for_each_pair([&](DType from, DType to) {
        INFO("seed " << seed << ", " << model::name_of(from) << " to " << model::name_of(to));
        // Beyond the length from which runs are split in parts, and a bit that no part has.
        const std::size_t elements = 200'000 / model::size_bytes(to) + 77;
        const Bytes in = inputs_of(from, elements);
        for (const std::size_t shift : {std::size_t{0}, std::size_t{3}, model::size_bytes(to)}) {
            const Bytes right = cast(loop_of(table.casts, from, to), in, from, to, elements, shift);
            REQUIRE(cast(loop_of(table.streamed_casts, from, to), in, from, to, elements, shift) == right);
        }
    });
    constexpr std::size_t lengths[]{0, 1, 63, 64, 65, 400, 4096, 65'535, 65'600, 1'000'003};
    for (const std::size_t bytes : lengths) {
        const Bytes in = inputs_of(DType::uint8, bytes);
        REQUIRE(cast(table.streamed_copy, in, DType::uint8, DType::uint8, bytes, bytes % 64) == in);
    }
}

TEST_CASE("cast: all halves to singles and back, NaNs with their payload", "[unit]")
{
    constexpr std::size_t elements = 65'536;
    Bytes halves(elements * 2);
    Bytes singles(elements * 4);
    Bytes quiet(elements * 2);
    for (std::uint32_t i = 0; i < elements; ++i) {
        const bool nan = (i & 0x7C00U) == 0x7C00U && (i & 0x3FFU) != 0;
        const auto half = static_cast<std::uint16_t>(i);
        const auto quieted = static_cast<std::uint16_t>(nan ? i | 0x200U : i);
        const std::uint32_t nan_bits = (i & 0x8000U) << 16 | 0x7FC0'0000U | (i & 0x3FFU) << 13;
        const auto value = static_cast<float>(tests::half_value(half));
        const std::uint32_t bits = nan ? nan_bits : std::bit_cast<std::uint32_t>(value);
        std::memcpy(&halves[i * std::size_t{2}], &half, 2);
        std::memcpy(&quiet[i * std::size_t{2}], &quieted, 2);
        std::memcpy(&singles[i * std::size_t{4}], &bits, 4);
    }
    for (const CastTable* table : runnable_cast_tables()) {
        INFO(table->level);
        for (const CastLoops* loops : {&table->casts, &table->streamed_casts}) {
            if (loops == &table->casts || table->streams()) {
                REQUIRE(cast(loop_of(*loops, DType::float16, DType::float32), halves, DType::float16, DType::float32,
                             elements, 0) == singles);
                REQUIRE(cast(loop_of(*loops, DType::float32, DType::float16), singles, DType::float32, DType::float16,
                             elements, 0) == quiet);
            }
        }
    }
}

}  // namespace memsweep::array
