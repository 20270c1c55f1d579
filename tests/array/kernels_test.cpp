// Touch, fill and half precision.
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/array/half.hpp"
#include "core/array/kernels.hpp"
#include "core/base/rng.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using model::DType;
using model::Fill;
using model::Touch;

template <typename T>
std::vector<T> filled(DType dtype, Fill kind, std::uint64_t count)
{
    std::vector<T> values(count + 1);
    std::memset(static_cast<void*>(values.data()), 0xA5, values.size() * sizeof(T));
    fill(values.data(), count, dtype, kind);
    // One element more than was to be filled must be as it was.
    std::vector<unsigned char> beyond(sizeof(T), 0xA5);
    REQUIRE(std::memcmp(&values.back(), beyond.data(), sizeof(T)) == 0);
    values.pop_back();
    return values;
}

template <typename T>
void check_integers(DType dtype)
{
    const auto ones = filled<T>(dtype, Fill::ones, 1000);
    const auto counted = filled<T>(dtype, Fill::arange, 70'000);
    const auto zeros = filled<T>(dtype, Fill::zeros, 1000);
    for (std::size_t i = 0; i < counted.size(); ++i) {
        REQUIRE(counted[i] == static_cast<T>(i));
    }
    CHECK(ones == std::vector<T>(1000, T{1}));
    CHECK(zeros == std::vector<T>(1000, T{0}));
}

}  // namespace

TEST_CASE("fill: integers, wrapping", "[unit]")
{
    check_integers<std::int8_t>(DType::int8);
    check_integers<std::uint8_t>(DType::uint8);
    check_integers<std::int16_t>(DType::int16);
    check_integers<std::uint16_t>(DType::uint16);
    check_integers<char16_t>(DType::char16);
    check_integers<std::int32_t>(DType::int32);
    check_integers<std::uint32_t>(DType::uint32);
    check_integers<std::int64_t>(DType::int64);
    check_integers<std::uint64_t>(DType::uint64);
}

TEST_CASE("fill: floats, complex, bool and decimal", "[unit]")
{
    const auto singles = filled<float>(DType::float32, Fill::arange, 1000);
    const auto doubles = filled<double>(DType::float64, Fill::arange, 1000);
    const auto complexes = filled<std::complex<double>>(DType::complex128, Fill::arange, 1000);
    const auto bools = filled<std::uint8_t>(DType::boolean, Fill::arange, 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        REQUIRE(singles[i] == static_cast<float>(i));
        REQUIRE(doubles[i] == static_cast<double>(i));
        REQUIRE(complexes[i] == std::complex<double>(static_cast<double>(i), 0));
        REQUIRE(bools[i] == (i == 0 ? 0 : 1));
    }
    CHECK(filled<std::uint8_t>(DType::boolean, Fill::ones, 9) == std::vector<std::uint8_t>(9, 1));
    CHECK(filled<std::complex<double>>(DType::complex128, Fill::ones, 9) == std::vector<std::complex<double>>(9, 1.0));
    const auto decimals = filled<std::array<std::uint64_t, 2>>(DType::decimal128, Fill::arange, 9);
    CHECK(decimals[8] == std::array<std::uint64_t, 2>{8, 0});
    CHECK(filled<std::array<std::uint64_t, 2>>(DType::decimal128, Fill::ones, 9)[3] ==
          std::array<std::uint64_t, 2>{1, 0});
    const auto halves = filled<std::uint16_t>(DType::float16, Fill::arange, 70'000);
    CHECK(filled<std::uint16_t>(DType::float16, Fill::ones, 3) == std::vector<std::uint16_t>(3, 0x3C00));
    CHECK(float_from_half(halves[2048]) == 2048);
    CHECK(float_from_half(halves[2049]) == 2048);  // ties to even
    CHECK(float_from_half(halves[2051]) == 2052);
    CHECK(float_from_half(halves[65'519]) == 65'504);
    CHECK(std::isinf(float_from_half(halves[65'520])));
    CHECK(std::isinf(float_from_half(halves[69'999])));
}

TEST_CASE("fill: none writes nothing", "[unit]")
{
    const auto untouched = filled<std::uint8_t>(DType::uint8, Fill::none, 100);
    CHECK(untouched == std::vector<std::uint8_t>(100, 0xA5));
}

TEST_CASE("half: every value goes to single precision and back", "[unit]")
{
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float value = float_from_half(half);
        const int exponent = (half >> 10) & 0x1F;
        const int fraction = half & 0x3FF;
        const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                              : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
        if (exponent < 31) {
            REQUIRE(value == ((half & 0x8000) != 0 ? -magnitude : magnitude));
        } else {
            REQUIRE((fraction == 0 ? std::isinf(value) : std::isnan(value)));
        }
        REQUIRE(std::signbit(value) == ((half & 0x8000) != 0));
        if (!std::isnan(value)) {
            REQUIRE(half_from_float(value) == half);
        } else {
            REQUIRE(std::isnan(float_from_half(half_from_float(value))));
        }
    }
}

TEST_CASE("half: rounding is to the nearest, ties to even", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    base::Rng rng{seed};
    for (int i = 0; i < 200'000; ++i) {
        // Every pattern of sign, exponent and fraction, and every second time one right between two halves.
        auto bits = static_cast<std::uint32_t>(rng.next());
        bits = i % 2 == 0 ? bits : (bits & 0xFFFF'E000U) | 0x1000U;
        const float value = std::bit_cast<float>(bits);
        if (std::isnan(value)) {
            continue;
        }
        const std::uint16_t half = half_from_float(value);
        const double exact = std::abs(static_cast<double>(value));
        if (exact >= 65'520) {
            REQUIRE(std::isinf(float_from_half(half)));
            continue;
        }
        // No neighbour may be nearer, and none as near may be even when this one is odd.
        const auto magnitude = static_cast<std::uint16_t>(half & 0x7FFF);
        const auto distance = [&](std::uint16_t other) {
            const double other_value = other == 0x7C00 ? 65'536.0 : static_cast<double>(float_from_half(other));
            return std::abs(other_value - exact);
        };
        for (const int step : {-1, 1}) {
            if (magnitude == 0 && step == -1) {
                continue;
            }
            const auto neighbour = static_cast<std::uint16_t>(magnitude + step);
            REQUIRE(distance(magnitude) <= distance(neighbour));
            REQUIRE((distance(magnitude) < distance(neighbour) || magnitude % 2 == 0));
        }
        REQUIRE(std::signbit(float_from_half(half)) == std::signbit(value));
    }
}

TEST_CASE("pages spanned counts pages that a range lies on, even in part", "[unit]")
{
    const auto at = [](std::uint64_t address) { return reinterpret_cast<const void*>(address); };
    CHECK(pages_spanned(at(0x10000), 0, 4096) == 0);
    CHECK(pages_spanned(at(0x10000), 1, 4096) == 1);
    CHECK(pages_spanned(at(0x10000), 4096, 4096) == 1);
    CHECK(pages_spanned(at(0x10000), 4097, 4096) == 2);
    CHECK(pages_spanned(at(0x10FFF), 1, 4096) == 1);
    CHECK(pages_spanned(at(0x10FFF), 2, 4096) == 2);
    CHECK(pages_spanned(at(0x10010), 8'000'000, 4096) == 1954);
    CHECK(pages_spanned(at(0x10000), 1 << 20, 65'536) == 16);
}

TEST_CASE("touch writes one byte in each page, or all, or none, and says how many pages", "[unit]")
{
    const std::uint64_t page = tests::page_bytes();
    std::vector<unsigned char> memory(20 * page);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, page - 1, page + 100}) {
        for (const std::uint64_t bytes :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, page, page + 1, 10 * page + 5}) {
            for (const Touch kind : {Touch::none, Touch::page, Touch::full}) {
                std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xA5));
                unsigned char* const begin = memory.data() + offset;
                const std::uint64_t pages = kind == Touch::none ? 0 : pages_spanned(begin, bytes, page);
                CHECK(touch(begin, bytes, kind) == pages);
                const auto written = static_cast<std::uint64_t>(std::count(memory.begin(), memory.end(), 0));
                const auto inside = static_cast<std::uint64_t>(std::count(begin, begin + bytes, 0));
                CHECK(written == (kind == Touch::full ? bytes : pages));
                CHECK(inside == written);
            }
        }
    }
}

TEST_CASE("touch: as many pages become resident as it says", "[machine]")
{
    const std::size_t bytes = 300 * tests::page_bytes();
    auto* const memory =
        static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
    CHECK(touch(memory + 10, 100 * tests::page_bytes(), Touch::page) == 101);
    CHECK(tests::resident_pages(memory, bytes) == 101);
    CHECK(touch(memory + 200 * tests::page_bytes(), 50 * tests::page_bytes(), Touch::full) == 50);
    CHECK(tests::resident_pages(memory, bytes) == 151);
    ::munmap(memory, bytes);
}

}  // namespace memsweep::array
