#include "core/array/streaming.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/array/concat.hpp"
#include "core/sys/topology.hpp"
#include "tests/array/rig.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

constexpr std::uint64_t mib = 1U << 20U;

struct Machine {
    const char* name;
    std::vector<StreamingTrial> trials;
    std::uint64_t presumed;
    std::uint64_t expected;
};

// Plain stores take one second.
std::vector<StreamingTrial> trials(std::initializer_list<std::pair<std::uint64_t, double>> streamed)
{
    std::vector<StreamingTrial> found;
    for (const auto& [mebibytes, seconds] : streamed) {
        found.push_back({Writing::in_pieces, mebibytes * mib, 1.0, seconds});
    }
    return found;
}

}  // namespace

TEST_CASE("streaming begins where every trial from there on gains", "[unit]")
{
    const std::vector<Machine> machines{
        {"2 MiB of L2, a large L3", trials({{2, 1.0}, {4, 0.8}, {8, 0.8}, {16, 0.75}, {32, 0.7}}), 107 * mib, 4 * mib},
        {"1 MiB of L2, 36 MiB of L3", trials({{2, 1.9}, {4, 2.1}, {8, 1.8}, {16, 1.2}, {32, 1.05}}), 37 * mib,
         37 * mib},
        {"16 MiB of L3, in pieces", trials({{2, 1.4}, {4, 1.3}, {8, 1.3}, {16, 0.85}, {16, 1.7}, {32, 0.6}, {32, 0.7}}),
         17 * mib, 32 * mib},
        {"gains everywhere", trials({{2, 0.8}, {4, 0.8}, {8, 0.8}, {16, 0.8}, {32, 0.8}}), 37 * mib, 2 * mib},
        {"one size disturbed", trials({{2, 0.8}, {4, 0.8}, {8, 3.0}, {16, 0.8}, {32, 0.8}}), 37 * mib, 16 * mib},
        {"gains nowhere, small caches", trials({{2, 1.2}, {32, 1.0}}), 3 * mib, 32 * mib + 1},
        {"no more than noise", trials({{2, 0.99}, {32, 0.97}}), 40 * mib, 40 * mib},
        {"not tried", {}, 40 * mib, 40 * mib},
        {"nothing known", {}, never_streamed, never_streamed},
    };
    for (const Machine& machine : machines) {
        INFO(machine.name);
        const StreamingSizes sizes = streaming_sizes(machine.trials, machine.presumed);
        CHECK(sizes.in_pieces == machine.expected);
        CHECK(sizes.front_to_back == machine.presumed);
        std::vector<StreamingTrial> shuffled = machine.trials;
        std::ranges::reverse(shuffled);
        CHECK(streaming_sizes(shuffled, machine.presumed) == sizes);
    }
}

TEST_CASE("where nothing was tried, what some cache could hold is not streamed", "[unit]")
{
    for (const char* const name : {"amd_sixteen_l3", "arm_clusters", "gpu_memory_nodes", "intel_disallowed_processors",
                                   "intel_four_packages", "intel_hybrid", "intel_memory_attributes",
                                   "intel_memory_expander", "intel_two_packages_gpus", "power8_four_gpus"}) {
        INFO(name);
        const auto topology =
            sys::topology_from_xml(std::string{MEMSWEEP_SOURCE_DIR} + "/tests/sys/machines/" + name + ".xml");
        REQUIRE(topology);
        std::uint64_t l2 = 0;
        std::uint64_t l3 = 0;
        for (const sys::Cache& cache : topology->caches) {
            l2 = cache.level == 2 ? std::max(l2, cache.bytes) : l2;
            l3 = cache.level == 3 ? std::max(l3, cache.bytes) : l3;
        }
        const std::uint64_t presumed = presumed_streaming_bytes(l2, l3);
        CHECK(presumed >= sys::last_level_cache_bytes(*topology));
        CHECK((presumed == never_streamed) == (l3 == 0));
    }
}

TEST_CASE("both kinds of store are tried at every size, in both ways", "[unit]")
{
    const sys::SystemClock clock;
    const std::vector<StreamingTrial> found = try_streaming(cast_table(), clock);
    CHECK(found.empty() != cast_table().streams());
    for (const StreamingTrial& trial : found) {
        CHECK(trial.plain_seconds > 0);
        CHECK(trial.plain_seconds < 10);
        CHECK(trial.streamed_seconds > 0);
        CHECK(trial.streamed_seconds < 10);
    }
    CHECK(std::ranges::is_sorted(found, {}, &StreamingTrial::bytes_moved));
    CHECK(try_streaming(cast_table_baseline, clock).empty());
}

namespace {

struct Streamed {
    std::uint64_t bytes{};
    std::uint64_t zeroes{};
};
Streamed streamed;  // by the table below, which has no place for more

}  // namespace

TEST_CASE("streaming is tried with data: zeroes are written at another rate by some processors", "[unit]")
{
    CastTable watched = cast_table_baseline;
    watched.streamed_copy = [](std::byte* out, const std::byte* in, std::size_t bytes) noexcept {
        streamed.bytes += bytes;
        streamed.zeroes += static_cast<std::uint64_t>(std::count(in, in + bytes, std::byte{0}));
        std::memcpy(out, in, bytes);
    };
    watched.finish_streams = []() noexcept {};
    streamed = {};
    const std::vector<StreamingTrial> trials = try_streaming(watched, sys::SystemClock{});
    REQUIRE_FALSE(trials.empty());
    CHECK(trials.back().bytes_moved == 64 * mib);  // the catalog's largest of two inputs moves 64 MB
    CHECK(streamed.bytes > 64 * mib);
    CHECK(streamed.zeroes < streamed.bytes / 128);  // a byte in 256 of any data
}

TEST_CASE("memory that is not resident gets plain stores, however large it is", "[unit]")
{
    const tests::StreamingAsBefore set_back;
    stream_from({0, 0});
    std::vector<std::byte> touched(64 << 10, std::byte{1});
    CHECK(pays_to_stream(cast_table(), touched.data(), touched.size(), 1, Writing::in_pieces) ==
          cast_table().streams());
    stream_from({100, 200});
    CHECK_FALSE(pays_to_stream(cast_table(), touched.data(), touched.size(), 99, Writing::front_to_back));
    CHECK_FALSE(pays_to_stream(cast_table(), touched.data(), touched.size(), 199, Writing::in_pieces));
    stream_from({never_streamed, never_streamed});
    CHECK_FALSE(pays_to_stream(cast_table(), touched.data(), touched.size(), UINT64_MAX - 1, Writing::in_pieces));
}

TEST_CASE("a result is the same, written past the caches", "[unit]")
{
    const tests::StreamingAsBefore set_back;
    tests::Rig rig;
    const Array left = rig.arange({40, 30});
    const Array right = rig.arange({40, 35});
    const Array floats = rig.make(model::DType::float32, {40, 7}, model::Fill::ones);
    const std::vector<Array> inputs{left, right, floats};
    const std::vector<Array> columns{left, left, left};
    const auto joined = [&] {
        static_cast<void>(
            concatenate(rig.heap, inputs, {.axis = 1}));  // its pages are resident when they are used again
        const ConcatResult beside = concatenate(rig.heap, inputs, {.axis = 1});
        REQUIRE(beside.status == ConcatStatus::ok);
        const ConcatResult below = concatenate(rig.heap, columns, {.axis = 0});
        REQUIRE(below.status == ConcatStatus::ok);
        return std::pair{tests::elements<double>(beside.array), tests::elements<std::int64_t>(below.array)};
    };
    stream_from({never_streamed, never_streamed});
    const auto plain = joined();
    stream_from({0, 0});
    CHECK(joined() == plain);
}

}  // namespace memsweep::array
