// Against NumPy's own answers: the cases of the sweep, promotion and casting rules. make_concat_vectors.py wrote them.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/array/concat_call.hpp"
#include "tests/array/rig.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using model::Casting;
using model::DType;
using tests::Rig;

struct PairAnswer {
    std::string_view first, second, promoted;
    int strictest_casting;
};
struct SequenceAnswer {
    std::string_view first, second, third, promoted;
};
struct OverflowAnswer {
    std::uint64_t real_bits;
    std::string_view integer;
    std::uint64_t bits;
};

#include "tests/array/concat_vectors.inc"

DType dtype(std::string_view name)
{
    return model::value_of<DType>(name).value();
}

}  // namespace

TEST_CASE("concat: every case of the sweep gives NumPy's bytes", "[unit]")
{
    for (const model::ConcatCase& what : model::concat_cases()) {
        INFO(what.label);
        Rig rig;
        const auto built = ConcatCall::build(rig.heap, what);
        REQUIRE(built.status == memory::AllocStatus::ok);
        REQUIRE(built.call.inputs().size() == what.count);
        CHECK(rig.counters.live_bytes() == what.held_bytes());
        CHECK(rig.counters.allocated_bytes() == what.held_bytes() + what.scrap_bytes());
        // Twice: the second result may lie in memory that is resident, and be stored past the caches.
        for (int repetition = 0; repetition < 2; ++repetition) {
            const ConcatResult result = built.call.call(rig.heap);
            REQUIRE(result.status == ConcatStatus::ok);
            CHECK(agrees_with_numpy(result.array, what));
        }
    }
}

TEST_CASE("concat: one wrong byte, type or size is not NumPy's answer", "[unit]")
{
    Rig rig;
    const model::ConcatCase& what = *model::find_concat_case("size_1000");
    const Array result = ConcatCall::build(rig.heap, what).call.call(rig.heap).array;
    REQUIRE(agrees_with_numpy(result, what));
    CHECK_FALSE(agrees_with_numpy(result, *model::find_concat_case("size_100")));
    CHECK_FALSE(agrees_with_numpy(result.slice(0, 0, 1999), what));
    CHECK_FALSE(agrees_with_numpy(Array::over(result.buffer(), DType::uint32, std::array{2000UL}).array, what));
    auto* const bytes = static_cast<unsigned char*>(result.data());
    bytes[result.bytes() - 1] ^= 0x80U;
    CHECK_FALSE(agrees_with_numpy(result, what));
    bytes[result.bytes() - 1] ^= 0x80U;
    REQUIRE(agrees_with_numpy(result, what));
    std::swap_ranges(bytes, bytes + 64, bytes + 64);  // the same bytes in another order
    CHECK_FALSE(agrees_with_numpy(result, what));
}

TEST_CASE("promotion and casting rules are NumPy's", "[unit]")
{
    for (const PairAnswer& answer : pair_answers) {
        INFO(answer.first << " and " << answer.second);
        const DType first = dtype(answer.first);
        const DType second = dtype(answer.second);
        CHECK(model::promoted(first, second) == dtype(answer.promoted));
        for (const auto& casting : model::names<Casting>()) {
            INFO(casting.name);
            const bool allowed = static_cast<int>(casting.value) >= answer.strictest_casting;
            CHECK(model::can_cast(first, second, casting.value) == allowed);
        }
    }
}

TEST_CASE("concat: of several types with a fraction among them, integers do not promote one another", "[unit]")
{
    Rig rig;
    for (const SequenceAnswer& answer : sequence_answers) {
        INFO(answer.first << ", " << answer.second << ", " << answer.third);
        const std::array inputs{rig.make(dtype(answer.first), {1}, model::Fill::ones),
                                rig.make(dtype(answer.second), {1}, model::Fill::ones),
                                rig.make(dtype(answer.third), {1}, model::Fill::ones)};
        CHECK(concatenate(rig.heap, inputs).array.dtype() == dtype(answer.promoted));
    }
}

TEST_CASE("concat: floats beyond an integer type become what NumPy makes of them on x86", "[unit]")
{
    Rig rig;
    for (const OverflowAnswer& answer : overflow_answers) {
        const Array real = rig.make(DType::float64, {1}, model::Fill::none);
        std::memcpy(real.data(), &answer.real_bits, sizeof answer.real_bits);
        INFO(tests::element<double>(real, {0}) << " as " << answer.integer);
        const ConcatOptions options{.dtype = dtype(answer.integer), .casting = Casting::unsafe};
        const Array integer = concatenate(rig.heap, {&real, 1}, options).array;
        std::uint64_t bits = 0;
        std::memcpy(&bits, integer.data(), integer.bytes());
        CHECK(bits == answer.bits);
    }
}

TEST_CASE("char counts as uint16, decimal as nothing but itself", "[unit]")
{
    CHECK(model::promoted(DType::char16, DType::char16) == DType::char16);
    CHECK(model::promoted(DType::char16, DType::uint16) == DType::uint16);
    CHECK(model::promoted(DType::char16, DType::int8) == DType::int32);
    CHECK(model::can_cast(DType::char16, DType::uint16, Casting::equiv));
    CHECK_FALSE(model::can_cast(DType::char16, DType::uint16, Casting::no));
    CHECK(model::promoted(DType::decimal128, DType::decimal128) == DType::decimal128);
    CHECK_FALSE(model::promoted(DType::decimal128, DType::int8).has_value());
    CHECK_FALSE(model::can_cast(DType::decimal128, DType::float64, Casting::unsafe));
    CHECK_FALSE(model::can_cast(DType::boolean, DType::decimal128, Casting::unsafe));
}

}  // namespace memsweep::array
