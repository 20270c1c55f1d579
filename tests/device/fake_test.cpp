// The invented devices do what a runtime must, and tell on whoever relies on more.
#include <array>
#include <cstring>
#include <vector>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

namespace memsweep::device {
namespace {

constexpr std::uint64_t bytes = 4096;

}  // namespace

TEST_CASE("a pattern tells what is missing, and where", "[unit]")
{
    std::vector<std::byte> data(1003);
    write_pattern(data, {.seed = 7});
    CHECK(check_pattern(data, {.seed = 7}).words == 0);
    CHECK(check_pattern(data, {.seed = 8}).words == 126);
    CHECK(check_pattern(data, {.seed = 7, .first_word = 1}).words == 126);
    CHECK(check_pattern(std::span{data}.subspan(512), {.seed = 7, .first_word = 64}).words == 0);
    data[801] ^= std::byte{1};
    data[1002] ^= std::byte{1};
    const Mismatch found = check_pattern(data, {.seed = 7});
    CHECK(found.words == 2);
    CHECK(found.first_byte == 800);
    CHECK(describe(found, data.size()) == "2 of 126 words differ, the first at byte 800");
}

TEST_CASE("without a device every call says why", "[unit]")
{
    const auto none = no_runtime("nobody is here");
    CHECK(none->devices().empty());
    CHECK(none->absence() == "nobody is here");
    CHECK(none->lacks(0, MemoryKind::pinned) == "nobody is here");
    const auto refused = allocate(*none, {.kind = MemoryKind::device, .bytes = bytes});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::not_supported);
    CHECK(none->holdings() == Holdings{});
}

TEST_CASE("what is queued is carried out when it is waited for", "[unit]")
{
    tests::FakeRuntime runtime;
    {
        const auto pinned = allocate(runtime, {.kind = MemoryKind::pinned, .bytes = bytes});
        const auto block = allocate(runtime, {.kind = MemoryKind::device, .bytes = bytes});
        const auto stream = open_stream(runtime, 0);
        REQUIRE((pinned && block && stream));
        CHECK(block->host() == nullptr);
        CHECK(runtime.holdings() == Holdings{.blocks = 2, .bytes = 2 * bytes, .streams = 1});
        write_pattern({pinned->host(), bytes}, {.seed = 1});
        REQUIRE(runtime.copy(stream->id(), block->at(), pinned->at(), bytes));
        // Too early: the copy has not read it yet, so it will read this.
        std::memset(pinned->host(), 0, 8);
        const auto seen = runtime.check_pattern(stream->id(), block->at(), bytes, {.seed = 1});
        REQUIRE(seen);
        CHECK(seen->words == 1);
        CHECK(runtime.copies().size() == 1);
        CHECK_FALSE(runtime.copy(stream->id(), block->at(8), pinned->at(), bytes));
    }
    CHECK(runtime.holdings() == Holdings{});
}

TEST_CASE("injected faults hit the copies they name", "[unit]")
{
    tests::FakeRuntime runtime;
    const auto block = allocate(runtime, {.kind = MemoryKind::device, .bytes = bytes});
    const auto stream = open_stream(runtime, 0);
    std::array<std::byte, bytes> host{};
    write_pattern(host, {.seed = 3});
    const auto copy = [&] { return runtime.copy(stream->id(), block->at(), at(host.data()), bytes); };
    runtime.fail_copies(2);
    CHECK(copy());
    CHECK(copy().error().code == base::ErrorCode::device);
    CHECK(copy());
    CHECK(runtime.wait(stream->id()));
    runtime.fail_copies_late(1);
    CHECK(copy());
    CHECK(runtime.wait(stream->id()).error().code == base::ErrorCode::device);
    CHECK(runtime.wait(stream->id()));
    runtime.corrupt_copies(1);
    CHECK(copy());
    CHECK(runtime.check_pattern(stream->id(), block->at(), bytes, {.seed = 3})->words == 1);
    runtime.fail_allocations(1);
    CHECK(allocate(runtime, {.kind = MemoryKind::pinned, .bytes = 1}).error().code == base::ErrorCode::budget);
    CHECK(allocate(runtime, {.kind = MemoryKind::pinned, .bytes = 1}));
}

TEST_CASE("streams wait for events and latches", "[unit]")
{
    tests::FakeRuntime runtime{{.bytes_per_s = 1e6, .latency_s = 0}};
    const auto first = open_stream(runtime, 0);
    const auto second = open_stream(runtime, 1);
    const auto from = allocate(runtime, {.device = 0, .kind = MemoryKind::device, .bytes = 1000});
    const auto to = allocate(runtime, {.device = 1, .kind = MemoryKind::device, .bytes = 1000});
    auto latch = hold(runtime, *first);
    const auto begin = record(runtime, *first);
    REQUIRE(runtime.copy(first->id(), to->at(), from->at(), 1000));
    const auto end = record(runtime, *first);
    REQUIRE(runtime.after(second->id(), end->id()));
    const auto later = record(runtime, *second);
    CHECK_FALSE(*runtime.happened(end->id()));
    CHECK(runtime.wait(second->id()).error().code == base::ErrorCode::timeout);
    CHECK(latch->close());
    CHECK(runtime.wait(second->id()));
    CHECK(*runtime.happened(end->id()));
    CHECK(*runtime.seconds_between(begin->id(), end->id()) == Approx(1e-3));
    CHECK(*runtime.seconds_between(end->id(), later->id()) == Approx(0).margin(1e-12));
}

TEST_CASE("a full queue behind a latch lets go by itself, and says so", "[unit]")
{
    tests::FakeRuntime runtime{{.queue_limit = 8}};
    const auto stream = open_stream(runtime, 0);
    const auto block = allocate(runtime, {.kind = MemoryKind::device, .bytes = bytes});
    for (const int copies : {7, 8}) {
        auto latch = hold(runtime, *stream);
        for (int i = 0; i < copies; ++i) {
            REQUIRE(runtime.fill(stream->id(), block->at(), std::byte{1}, bytes));
        }
        const auto let_go = latch->close();
        CHECK(let_go.has_value() == (copies == 7));
        CHECK((let_go || let_go.error().code == base::ErrorCode::timeout));
        CHECK(runtime.wait(stream->id()));
    }
    CHECK(runtime.longest_queue() == 8);
}

}  // namespace memsweep::device
