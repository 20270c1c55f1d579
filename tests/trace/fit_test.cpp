#include "core/trace/fit.hpp"
#include "core/trace/replay/replay_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/rng.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::FitOptions;
using trace::PlacementOps;

namespace {

// Allocations and frees at random, sizes over several powers of two; some blocks stay.
PlacementOps random_ops(std::uint64_t seed, std::size_t count, std::uint64_t largest)
{
    base::Rng random{seed};
    std::vector<trace::Event> events;
    std::vector<std::uint64_t> live;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (live.size() < 4 || random.below(100) < 52) {
            live.push_back((i + 1) * 16);
            const std::uint64_t size = 1 + random.below(largest >> random.below(8));
            events.push_back({.kind = trace::EventKind::malloc, .address = live.back(), .size = size});
        } else {
            const std::size_t at = random.below(live.size());
            events.push_back({.kind = trace::EventKind::free, .address = live[at]});
            live[at] = live.back();
            live.pop_back();
        }
    }
    const std::string file = tests::trace_of(events);
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    return trace::placement_ops(*reader);
}

const trace::PlacementPolicy& policy_called(std::string_view name)
{
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        if (policy.name == name) {
            return policy;
        }
    }
    FAIL("no policy " << name);
    return trace::placement_policies().front();
}

// An arena of a fixed size that looks at every gap between its blocks: slow, plain, and with nothing in common with
// what it checks. The gap above the highest block comes last. The event that does not fit, or 0.
std::uint64_t failing_event(const PlacementOps& ops, std::uint64_t capacity, bool best, std::uint64_t alignment)
{
    std::map<std::uint64_t, std::uint64_t> blocks;  // begin to end
    std::map<std::uint32_t, std::uint64_t> begins;
    for (std::size_t i = 0; i < ops.ops.size(); ++i) {
        const PlacementOps::Op& op = ops.ops[i];
        if (op.is_free) {
            blocks.erase(begins.at(op.block));
            continue;
        }
        const std::uint64_t bytes = (op.size + alignment - 1) / alignment * alignment;
        std::uint64_t at = ~0ULL;
        std::uint64_t gap = ~0ULL;
        std::uint64_t free_from = 0;
        for (const auto& [begin, end] : blocks) {
            const std::uint64_t size = begin - free_from;
            if (size >= bytes && size < gap && (best || at == ~0ULL)) {
                at = free_from;
                gap = size;
            }
            free_from = end;
        }
        if (at == ~0ULL) {
            at = free_from;
            if (at + bytes > capacity) {
                return ops.events[i];
            }
        }
        blocks[at] = at + bytes;
        begins[op.block] = at;
    }
    return 0;
}

}  // namespace

TEST_CASE("every policy's capacity suffices, and one byte less fails at the event it names", "[unit]")
{
    const auto seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3, 4, 5, 6);
    const std::uint64_t largest = GENERATE(500U, 3'000'000U);
    const PlacementOps ops = random_ops(seed, 2'000, largest);
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        INFO(policy.name << ", seed " << seed);
        const FitOptions options{};
        const trace::PolicyFit result = trace::fit(ops, policy, options);
        CHECK(result.capacity >= ops.live_peak);
        CHECK_FALSE(trace::first_failure(ops, policy, result.capacity, options));
        const auto failure = trace::first_failure(ops, policy, result.capacity - 1, options);
        REQUIRE(failure);
        REQUIRE(result.first_failure);
        CHECK(failure->event == result.first_failure->event);
        CHECK(failure->size == result.first_failure->size);
        CHECK(failure->live_bytes == result.first_failure->live_bytes);
        CHECK(failure->largest_hole == result.first_failure->largest_hole);
        CHECK(failure->live_bytes + failure->size <= ops.live_peak + result.capacity);
        CHECK(failure->largest_hole < result.capacity);
    }
}

TEST_CASE("first fit and best fit agree with a plain simulation of an arena of that size", "[unit]")
{
    const auto seed = GENERATE(as<std::uint64_t>{}, 11, 12, 13);
    const std::uint64_t alignment = GENERATE(1U, 16U, 256U);
    const PlacementOps ops = random_ops(seed, 3'000, 5'000);
    for (const bool best : {false, true}) {
        const FitOptions options{.capacity = std::nullopt, .alignment = alignment, .runs = 1};
        const trace::PolicyFit result = trace::fit(ops, policy_called(best ? "best_fit" : "first_fit"), options);
        CHECK(failing_event(ops, result.capacity, best, alignment) == 0);
        REQUIRE(result.first_failure);
        CHECK(failing_event(ops, result.capacity - 1, best, alignment) == result.first_failure->event);
        const std::uint64_t less = result.capacity * 9 / 10;
        const auto early = trace::first_failure(ops, policy_called(best ? "best_fit" : "first_fit"), less, options);
        CHECK(failing_event(ops, less, best, alignment) == (early ? early->event : 0));
    }
}

TEST_CASE("known answers", "[unit]")
{
    // Three blocks of 100, the middle one freed, then 150: only a list of classes or the end of the arena takes it.
    PlacementOps ops;
    ops.ops = {{100, 0, false}, {100, 1, false}, {100, 2, false}, {100, 1, true}, {150, 1, false}};
    ops.events = {1, 2, 3, 4, 5};
    ops.live_peak = 350;
    const FitOptions options{.capacity = std::nullopt, .alignment = 1, .runs = 1};
    const auto capacity = [&](std::string_view name) { return trace::fit(ops, policy_called(name), options).capacity; };
    CHECK(capacity("first_fit") == 450);
    CHECK(capacity("best_fit") == 450);
    CHECK(capacity("tlsf") == 450);
    CHECK(capacity("buddy") == 768);  // 3 x 128, then 256 at 512
    CHECK(capacity("pow2") == 640);
    CHECK(capacity("quad") == 3 * 112 + 160);
    CHECK(capacity("pytorch") == 2 << 20);
    CHECK(capacity("rmm_pool") == 3 * 256);  // the freed 256 are taken again
    const trace::PolicyFit best =
        trace::fit(ops, policy_called("best_fit"), {.capacity = 449, .alignment = 1, .runs = 1});
    REQUIRE(best.first_failure);
    CHECK(best.first_failure->event == 5);
    CHECK(best.first_failure->size == 150);
    CHECK(best.first_failure->live_bytes == 200);
    CHECK(best.first_failure->largest_hole == 149);
    CHECK_FALSE(trace::fit(ops, policy_called("best_fit"), {.capacity = 450, .alignment = 1, .runs = 1}).first_failure);
}

TEST_CASE("repeated runs need no less than one", "[unit]")
{
    const PlacementOps ops = random_ops(21, 2'000, 100'000);
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        INFO(policy.name);
        const trace::PolicyFit result =
            trace::fit(ops, policy, {.capacity = std::nullopt, .alignment = 256, .runs = 3});
        REQUIRE(result.needed_after_run.size() == 3);
        CHECK(result.capacity == result.needed_after_run.back());
        const bool is_search = policy.depends_on_capacity;  // what it finds need not grow with the runs
        CHECK((is_search || result.needed_after_run[0] <= result.needed_after_run[1]));
        CHECK((is_search || result.needed_after_run[1] <= result.needed_after_run[2]));
    }
}

TEST_CASE("a trace without allocations needs nothing", "[unit]")
{
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        CHECK(trace::fit({}, policy, {}).capacity == 0);
    }
}

TEST_CASE("a picture of the address space holds the area of every block", "[unit]")
{
    const PlacementOps ops = random_ops(5, 2'000, 5'000);
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        INFO(policy.name);
        const std::uint64_t capacity = trace::fit(ops, policy, {}).capacity;
        const FitOptions options{.capacity = capacity};
        const auto picture = trace::picture_addresses(ops, policy, options, 40, 30);
        REQUIRE(picture);
        CHECK(picture->bytes == capacity);
        // Live bytes, rounded up as the policy does, summed over the operations.
        const auto placement = policy.make(capacity, options.alignment);
        double area = 0;
        double live = 0;
        for (const PlacementOps::Op& op : ops.ops) {
            if (!op.is_free) {
                REQUIRE(placement->place(op.block, op.size));
            }
            const auto bytes = static_cast<double>(placement->place_of(op.block).size);
            if (op.is_free) {
                placement->release(op.block);
            }
            live += op.is_free ? -bytes : bytes;
            area += live;
        }
        double taken = 0;
        for (const float cell : picture->taken) {
            CHECK(cell < 1.001F);
            taken += static_cast<double>(cell);
        }
        const double cell_area = static_cast<double>(picture->bytes) / 30 * static_cast<double>(ops.ops.size()) / 40;
        CHECK(std::abs(taken * cell_area - area) < area * 0.001);
        CHECK(*std::max_element(picture->live.begin(), picture->live.end()) == ops.live_peak);
        CHECK(picture->high.back() == picture->bytes);
    }
}

TEST_CASE("what no capacity has place for is named, and ends", "[unit]")
{
    // One block that no arena has place for: what later runs would release was never placed.
    PlacementOps ops;
    ops.ops = {{64, 0, false}, {1ULL << 55U, 1, false}, {0, 0, true}};
    ops.events = {1, 2, 3};
    ops.live_peak = (1ULL << 55U) + 64;
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        INFO(policy.name);
        const trace::PolicyFit result =
            trace::fit(ops, policy, {.capacity = std::nullopt, .alignment = 1ULL << 63U, .runs = 2});
        const bool rounds_to_alignment = policy.name != "rmm_pool" && policy.name != "pytorch";
        CHECK((result.impossible_event == 2) == rounds_to_alignment);
        CHECK((result.capacity == 0) == rounds_to_alignment);
    }
}

TEST_CASE("sizes whose sum exceeds 64 bits name the first event that cannot be", "[unit]")
{
    const auto block = [](std::uint64_t address, std::uint64_t size) {
        return trace::Event{.kind = trace::EventKind::malloc, .process = 1, .address = address, .size = size};
    };
    const std::string file = tests::trace_of({block(16, 1ULL << 32U), block(32, ~0ULL - 15), block(48, 16)});
    CHECK(tests::summary_of(file).totals.impossible_event == 2);
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    CHECK(trace::placement_ops(*reader).impossible_event == 2);
    reader->rewind();
    CHECK_FALSE(trace::compile_replay(*reader, {}));
    CHECK_FALSE(trace::possible_total(2, "x"));
    CHECK(trace::possible_total(0, "x"));
}

TEST_CASE("an event's time is that of the last stamp before it", "[unit]")
{
    PlacementOps ops;
    ops.stamps = {{1, 1000}, {5, 1500}, {9, 3000}};
    CHECK_FALSE(trace::seconds_until(ops, 5));  // no clock
    ops.ticks_per_second = 1000;
    CHECK(trace::seconds_until(ops, 1) == 0.0);
    CHECK(trace::seconds_until(ops, 4) == 0.0);
    CHECK(trace::seconds_until(ops, 5) == 0.5);
    CHECK(trace::seconds_until(ops, 100) == 2.0);
    ops.stamps.resize(1);
    CHECK_FALSE(trace::seconds_until(ops, 5));  // it stands still
}

TEST_CASE("what was refused is needed as if it had been granted and freed at once", "[unit]")
{
    using trace::EventKind;
    const auto event = [](EventKind kind, std::uint64_t address, std::uint64_t size) {
        return trace::Event{.kind = kind, .process = 1, .address = address, .size = size};
    };
    const std::string file = tests::trace_of(
        {event(EventKind::malloc, 16, 4096), event(EventKind::failed_alloc, 0, 8192), event(EventKind::free, 16, 0),
         event(EventKind::failed_alloc, 0, 10'000), event(EventKind::failed_alloc, 0, ~0ULL),
         event(EventKind::free, 512, 0), event(EventKind::malloc, 32, 64)});
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const PlacementOps ops = trace::placement_ops(*reader);
    CHECK(ops.live_peak == 4096);
    CHECK(ops.granted_peak == 4096 + 8192);
    CHECK(ops.refusals == 3);
    CHECK(ops.senseless_refusals == 1);
    CHECK(ops.unknown_frees == 1);
    REQUIRE(ops.refused);
    CHECK(ops.refused->event == 2);
    CHECK(ops.refused->size == 8192);
    CHECK(ops.refused->live_bytes == 4096);
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        INFO(policy.name);
        const trace::PolicyFit result = trace::fit(ops, policy, {.capacity = std::nullopt});
        CHECK(result.capacity >= 4096 + 8192);
        const std::uint64_t first = policy.name == "pytorch" ? 1 : 2;  // whose smallest segment is of 2 MiB
        CHECK(trace::first_failure(ops, policy, 4096, {.capacity = std::nullopt})->event == first);
    }
}

TEST_CASE("each device is an arena of its own, and so is the host", "[unit]")
{
    using trace::EventKind;
    using trace::SpaceKind;
    std::vector<trace::Event> events;
    for (const auto& [space, kind, device] :
         {std::tuple{0U, SpaceKind::device, 3U}, std::tuple{1U, SpaceKind::device, 5U},
          std::tuple{2U, SpaceKind::host, 0U}}) {
        events.push_back(
            {.kind = EventKind::define_space, .space_kind = kind, .space = space, .other = device, .text = "m"});
        events.push_back({.kind = EventKind::malloc, .space = space, .address = 16, .size = 100U << space});
    }
    const std::string file = tests::trace_of(events);
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    CHECK(trace::placement_ops(*reader).memories == std::set<trace::Memory>{{}, {3}, {5}});
    for (const auto& [memory, live] :
         {std::pair{trace::Memory{}, 400U}, std::pair{trace::Memory{3}, 100U}, std::pair{trace::Memory{5}, 200U}}) {
        reader->rewind();
        CHECK(trace::placement_ops(*reader, memory).live_peak == live);
    }
}
