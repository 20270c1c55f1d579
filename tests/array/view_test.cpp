// Views share the buffer, count as handles, and read the elements that NumPy's would.
#include <array>
#include <optional>
#include <random>

#include "core/base/rng.hpp"
#include "core/memory/adaptors.hpp"
#include "tests/array/rig.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::DType;
using model::Fill;
using tests::elements;
using tests::Rig;

using Values = std::vector<std::int64_t>;
using Shape = std::vector<std::uint64_t>;

Values values(const Array& array)
{
    return elements<std::int64_t>(array);
}

Shape shape(const Array& array)
{
    return {array.shape().begin(), array.shape().end()};
}

// Python's slice, spelled out element by element.
Values python_slice(std::int64_t length, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                    std::int64_t step)
{
    const auto bound = [&](std::int64_t given) {
        const std::int64_t from_front = given < 0 ? given + length : given;
        return step > 0 ? std::min(std::max(from_front, std::int64_t{0}), length)
                        : std::min(std::max(from_front, std::int64_t{-1}), length - 1);
    };
    Values picked;
    const std::int64_t first = start ? bound(*start) : (step > 0 ? 0 : length - 1);
    const std::int64_t end = stop ? bound(*stop) : (step > 0 ? length : -1);
    for (std::int64_t i = first; step > 0 ? i < end : i > end; i += step) {
        picked.push_back(i);
    }
    return picked;
}

}  // namespace

TEST_CASE_METHOD(Rig, "a slice reads what Python's would, for every start, stop and step", "[unit]")
{
    const Array array = arange({7});
    std::vector<std::optional<std::int64_t>> bounds{std::nullopt};
    for (std::int64_t bound = -9; bound <= 9; ++bound) {
        bounds.emplace_back(bound);
    }
    for (const auto& start : bounds) {
        for (const auto& stop : bounds) {
            for (const std::int64_t step : {-8, -3, -2, -1, 1, 2, 3, 8}) {
                INFO(start.value_or(99) << ':' << stop.value_or(99) << ':' << step);
                REQUIRE(values(array.slice(0, start, stop, step)) == python_slice(7, start, stop, step));
            }
        }
    }
}

TEST_CASE_METHOD(Rig, "slices of each axis, and of slices", "[unit]")
{
    const Array array = arange({4, 6});
    CHECK(values(array.slice(0, 1, 3)) == Values{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
    CHECK(values(array.slice(1, 4, {}).slice(0, {}, {}, 2)) == Values{4, 5, 16, 17});
    CHECK(values(array.slice(0, {}, {}, -1).slice(1, {}, {}, -3)) == Values{23, 20, 17, 14, 11, 8, 5, 2});
    CHECK(values(array.slice(1, {}, {}, -1).slice(1, 1, 3).slice(1, {}, {}, -1)) ==
          Values{3, 4, 9, 10, 15, 16, 21, 22});
    CHECK(array.slice(0, 1, 3).is_contiguous());
    CHECK_FALSE(array.slice(1, 1, 3).is_contiguous());
    CHECK_FALSE(array.slice(0, {}, {}, -1).is_contiguous());
    CHECK(array.slice(0, 2, 2).elements() == 0);
}

TEST_CASE_METHOD(Rig, "a chain of three views counts four handles and frees with the last", "[unit]")
{
    Array array = arange({10, 10});
    Array first = array.slice(0, 2, 8);
    Array second = first.transpose();
    Array third = second.slice(0, {}, {}, -1);
    CHECK(array.buffer().use_count() == 4);
    CHECK(third.buffer().data() == array.buffer().data());
    CHECK(counters.allocations() == 1);
    array = {};
    second = {};
    first = {};
    CHECK(third.buffer().unique());
    CHECK(counters.live_bytes() == 800);  // a late view keeps the whole parent
    CHECK(values(third).front() == 29);
    third = {};
    CHECK(counters.live_bytes() == 0);
}

TEST_CASE_METHOD(Rig, "parent and view go in either order", "[unit]")
{
    for (const bool parent_first : {true, false}) {
        Array parent = arange({8});
        Array view = parent.slice(0, 2, 4);
        (parent_first ? parent : view) = {};
        CHECK(counters.live_bytes() == 64);
        CHECK(values(parent_first ? view : parent)[parent_first ? 0 : 2] == 2);
        (parent_first ? view : parent) = {};
        CHECK(counters.live_bytes() == 0);
    }
}

TEST_CASE_METHOD(Rig, "a transpose shares, reads columns first, and twice is itself", "[unit]")
{
    const Array array = arange({2, 3});
    const Array transposed = array.transpose();
    CHECK(shape(transposed) == Shape{3, 2});
    CHECK(values(transposed) == Values{0, 3, 1, 4, 2, 5});
    CHECK(transposed.data() == array.data());
    CHECK_FALSE(transposed.is_contiguous());
    CHECK(transposed.transpose().is_contiguous());
    CHECK(values(transposed.transpose()) == values(array));
    CHECK(arange({5}).transpose().is_contiguous());
    CHECK(arange({1, 5, 1}).transpose().is_contiguous());  // axes of length 1 lie anywhere
}

TEST_CASE_METHOD(Rig, "broadcasting repeats with stride 0 and follows NumPy's rule", "[unit]")
{
    const Array row = arange({3});
    const Array wide = row.broadcast_to(Shape{2, 3}).array;
    CHECK(values(wide) == Values{0, 1, 2, 0, 1, 2});
    CHECK(wide.strides_bytes()[0] == 0);
    CHECK(wide.buffer().data() == row.buffer().data());
    CHECK_FALSE(wide.is_contiguous());
    const Array column = arange({3, 1});
    CHECK(values(column.broadcast_to(Shape{3, 2}).array) == Values{0, 0, 1, 1, 2, 2});
    CHECK(values(arange({}).broadcast_to(Shape{2, 2}).array) == Values{0, 0, 0, 0});
    CHECK(row.broadcast_to(Shape{3, 2}).status == AllocStatus::bad_request);
    CHECK(column.broadcast_to(Shape{3}).status == AllocStatus::bad_request);
    CHECK(row.broadcast_to(Shape{std::uint64_t{1} << 40, std::uint64_t{1} << 40, 3}).status ==
          AllocStatus::bad_request);
}

TEST_CASE_METHOD(Rig, "a copy is contiguous and independent", "[unit]")
{
    const Array array = arange({3, 4});
    for (const Array& source : {array, array.transpose(), array.slice(1, {}, {}, -2), array.slice(0, {}, {}, -1)}) {
        const Array::Result copied = source.copy(heap);
        REQUIRE(copied.status == AllocStatus::ok);
        CHECK(copied.array.is_contiguous());
        CHECK(copied.array.buffer().unique());
        CHECK(shape(copied.array) == shape(source));
        CHECK(values(copied.array) == values(source));
        *static_cast<std::int64_t*>(copied.array.data()) = -1;
        CHECK(values(array)[0] == 0);
    }
}

TEST_CASE_METHOD(Rig, "copies of strided views keep elements of every size", "[unit]")
{
    for (const auto& dtype : model::names<DType>()) {
        INFO(dtype.name);
        const Array array = make(dtype.value, {5, 7}, Fill::arange);
        const Array view = array.transpose().slice(0, {}, {}, -2);
        const Array copied = view.copy(heap).array;
        for (std::uint64_t i = 0; i < view.shape()[0]; ++i) {
            for (std::uint64_t j = 0; j < view.shape()[1]; ++j) {
                const std::array<std::uint64_t, 2> index{i, j};
                REQUIRE(std::memcmp(copied.at(index), view.at(index), model::size_bytes(dtype.value)) == 0);
            }
        }
    }
}

TEST_CASE_METHOD(Rig, "random chains of views read what the same chain of copies reads", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    base::Rng rng{seed};
    for (int chain = 0; chain < 300; ++chain) {
        Array view = arange({1 + rng.below(6), 1 + rng.below(6), 1 + rng.below(6)});
        Array copied = view.copy(heap).array;
        for (int link = 0; link < 5; ++link) {
            if (rng.below(3) == 0) {
                view = view.transpose();
                copied = copied.transpose().copy(heap).array;
            } else {
                const std::size_t axis = rng.below(3);
                const auto start = static_cast<std::int64_t>(rng.below(14)) - 7;
                const auto stop = static_cast<std::int64_t>(rng.below(14)) - 7;
                const std::int64_t step = (rng.below(2) == 0 ? 1 : -1) * static_cast<std::int64_t>(1 + rng.below(3));
                view = view.slice(axis, start, stop, step);
                copied = copied.slice(axis, start, stop, step).copy(heap).array;
            }
            REQUIRE(shape(view) == shape(copied));
            REQUIRE(values(view) == values(copied));
            REQUIRE(values(view.copy(heap).array) == values(copied));
        }
    }
}

TEST_CASE("a copy that is refused passes the status on and leaves the source", "[unit]")
{
    memory::MallocResource malloc;
    memory::FailingAdaptor failing{malloc, 2};
    lifetime::Heap heap{failing, {}};
    const Array array = Array::create(heap, DType::int64, Shape{4, 4}, Fill::arange, model::Touch::none).array;
    const Array::Result refused = array.transpose().copy(heap);
    CHECK(refused.status == AllocStatus::injected);
    CHECK_FALSE(refused.array);
    CHECK(array.buffer().unique());
}

}  // namespace memsweep::array
