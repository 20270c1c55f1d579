// Binary functions: every dtype, every layout, and what is refused.
#include <array>
#include <complex>
#include <random>

#include "core/array/array.hpp"
#include "core/array/half.hpp"
#include "core/base/rng.hpp"
#include "core/memory/adaptors.hpp"
#include "tests/array/rig.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::BinaryFunction;
using model::DType;
using model::Fill;
using tests::elements;
using tests::Rig;

constexpr auto add = BinaryFunction::add;
constexpr auto multiply = BinaryFunction::multiply;

Array random_bytes(Rig& rig, base::Rng& rng, DType dtype, const std::vector<std::uint64_t>& shape)
{
    Array array = rig.make(dtype, shape, Fill::none);
    auto* const bytes = static_cast<unsigned char*>(array.data());
    for (std::uint64_t i = 0; i < array.bytes(); ++i) {
        bytes[i] = static_cast<unsigned char>(rng.next());
    }
    return array;
}

// Against arithmetic modulo 2^64, cut to the type: what wrapping means, computed another way.
template <typename T>
void check_integers(Rig& rig, base::Rng& rng, DType dtype)
{
    INFO(model::name_of(dtype));
    const Array left = random_bytes(rig, rng, dtype, {1001});
    const Array right = random_bytes(rig, rng, dtype, {1001});
    const auto sums = elements<T>(binary(rig.heap, add, left, right).array);
    const auto products = elements<T>(binary(rig.heap, multiply, left, right).array);
    const auto l = elements<T>(left);
    const auto r = elements<T>(right);
    for (std::size_t i = 0; i < l.size(); ++i) {
        REQUIRE(sums[i] == static_cast<T>(static_cast<std::uint64_t>(l[i]) + static_cast<std::uint64_t>(r[i])));
        REQUIRE(products[i] == static_cast<T>(static_cast<std::uint64_t>(l[i]) * static_cast<std::uint64_t>(r[i])));
    }
}

template <typename T>
void check_floats(Rig& rig, DType dtype)
{
    const Array left = rig.make(dtype, {1001}, Fill::arange);
    const Array right = rig.make(dtype, {1001}, Fill::arange);
    const auto sums = elements<T>(binary(rig.heap, add, left, right).array);
    const auto products = elements<T>(binary(rig.heap, multiply, left, right).array);
    for (std::size_t i = 0; i < 1001; ++i) {
        const auto value = static_cast<double>(i);
        REQUIRE(sums[i] == T(value + value));
        REQUIRE(products[i] == T(value * value));
    }
}

}  // namespace

TEST_CASE_METHOD(Rig, "integers wrap", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    base::Rng rng{seed};
    check_integers<std::int8_t>(*this, rng, DType::int8);
    check_integers<std::uint8_t>(*this, rng, DType::uint8);
    check_integers<std::int16_t>(*this, rng, DType::int16);
    check_integers<std::uint16_t>(*this, rng, DType::uint16);
    check_integers<char16_t>(*this, rng, DType::char16);
    check_integers<std::int32_t>(*this, rng, DType::int32);
    check_integers<std::uint32_t>(*this, rng, DType::uint32);
    check_integers<std::int64_t>(*this, rng, DType::int64);
    check_integers<std::uint64_t>(*this, rng, DType::uint64);
}

TEST_CASE_METHOD(Rig, "floats add and multiply", "[unit]")
{
    check_floats<float>(*this, DType::float32);
    check_floats<double>(*this, DType::float64);
}

TEST_CASE_METHOD(Rig, "complex numbers multiply as complex numbers", "[unit]")
{
    const Array real = make(DType::complex128, {50}, Fill::arange);
    Array turned = make(DType::complex128, {50}, Fill::arange);
    auto* const values = static_cast<std::complex<double>*>(turned.data());
    for (int i = 0; i < 50; ++i) {
        values[i] = {2.0, static_cast<double>(i)};
    }
    const auto sums = elements<std::complex<double>>(binary(heap, add, real, turned).array);
    const auto products = elements<std::complex<double>>(binary(heap, multiply, turned, turned).array);
    for (int i = 0; i < 50; ++i) {
        const auto number = static_cast<double>(i);
        REQUIRE(sums[static_cast<std::size_t>(i)] == std::complex<double>(2.0 + number, number));
        REQUIRE(products[static_cast<std::size_t>(i)] == std::complex<double>(4.0 - number * number, 4.0 * number));
    }
}

TEST_CASE_METHOD(Rig, "halves are computed in single precision and rounded", "[unit]")
{
    const Array left = make(DType::float16, {3000}, Fill::arange);
    const auto sums = elements<std::uint16_t>(binary(heap, add, left, left).array);
    const auto products = elements<std::uint16_t>(binary(heap, multiply, left, left).array);
    const auto values = elements<std::uint16_t>(left);
    for (std::size_t i = 0; i < 3000; ++i) {
        const float value = float_from_half(values[i]);
        REQUIRE(sums[i] == half_from_float(value + value));
        REQUIRE(products[i] == half_from_float(value * value));
    }
}

TEST_CASE_METHOD(Rig, "bool adds with or and multiplies with and", "[unit]")
{
    Array left = make(DType::boolean, {4}, Fill::zeros);
    Array right = make(DType::boolean, {4}, Fill::zeros);
    std::memcpy(left.data(), "\0\0\1\1", 4);
    std::memcpy(right.data(), "\0\1\0\1", 4);
    CHECK(elements<std::uint8_t>(binary(heap, add, left, right).array) == std::vector<std::uint8_t>{0, 1, 1, 1});
    CHECK(elements<std::uint8_t>(binary(heap, multiply, left, right).array) == std::vector<std::uint8_t>{0, 0, 0, 1});
}

TEST_CASE_METHOD(Rig, "operands of any layout give what their copies give, in a fresh contiguous array", "[unit]")
{
    const Array base_array = arange({4, 6, 5});
    const std::array<Array, 4> views{base_array.slice(0, {}, {}, -1), base_array.slice(2, {}, {}, 1),
                                     base_array.transpose().transpose(),
                                     base_array.slice(0, 0, 1).broadcast_to(std::vector<std::uint64_t>{4, 6, 5}).array};
    for (const Array& left : views) {
        for (const Array& right : views) {
            for (const BinaryFunction function : {add, multiply}) {
                const Array::Result direct = binary(heap, function, left, right);
                REQUIRE(direct.status == AllocStatus::ok);
                const Array::Result copies = binary(heap, function, left.copy(heap).array, right.copy(heap).array);
                CHECK(direct.array.is_contiguous());
                CHECK(direct.array.buffer().unique());
                CHECK(elements<std::int64_t>(direct.array) == elements<std::int64_t>(copies.array));
            }
        }
    }
}

TEST_CASE_METHOD(Rig, "scalars and empty arrays combine", "[unit]")
{
    CHECK(elements<std::int64_t>(
              binary(heap, add, make(DType::int64, {}, Fill::ones), make(DType::int64, {}, Fill::ones)).array) ==
          std::vector<std::int64_t>{2});
    CHECK(binary(heap, add, arange({0, 3}), arange({0, 3})).status == AllocStatus::ok);
}

TEST_CASE_METHOD(Rig, "what does not match is refused before anything is allocated", "[unit]")
{
    const Array numbers = arange({4});
    const Array others = make(DType::uint64, {4}, Fill::ones);
    const Array longer = arange({5});
    const Array column = arange({4, 1});
    const Array decimals = make(DType::decimal128, {4}, Fill::ones);
    const std::uint64_t before = counters.allocations();
    CHECK(binary(heap, add, numbers, others).status == AllocStatus::bad_request);
    CHECK(binary(heap, add, numbers, longer).status == AllocStatus::bad_request);
    CHECK(binary(heap, add, numbers, column).status == AllocStatus::bad_request);
    CHECK(binary(heap, multiply, decimals, decimals).status == AllocStatus::bad_request);
    CHECK(counters.allocations() == before);
}

TEST_CASE("the result's refusal is passed on", "[unit]")
{
    memory::MallocResource malloc;
    memory::FailingAdaptor failing{malloc, 2};
    lifetime::Heap heap{failing, {}};
    const std::array<std::uint64_t, 1> shape{4};
    const Array left = Array::create(heap, DType::int64, shape, Fill::ones, model::Touch::none).array;
    const Array::Result refused = binary(heap, add, left, left);
    CHECK(refused.status == AllocStatus::injected);
    CHECK_FALSE(refused.array);
}

}  // namespace memsweep::array
