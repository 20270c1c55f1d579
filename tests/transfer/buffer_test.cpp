// A buffer's states: what each request copies, what is illegal, and that nothing stays behind.
#include <vector>

#include "core/transfer/unified_buffer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

using namespace memsweep;
using transfer::BufferCopy;
using transfer::BufferMove;
using transfer::BufferRequest;
using transfer::BufferState;
using transfer::next_move;
using transfer::UnifiedBuffer;

namespace {

constexpr std::uint64_t bytes = 4096;

std::vector<std::byte> pattern(std::uint64_t seed)
{
    std::vector<std::byte> data(bytes);
    device::write_pattern(data, {.seed = seed});
    return data;
}

}  // namespace

TEST_CASE("no request loses what a side has written, and none copies more than once", "[unit]")
{
    for (const auto& state : model::names<BufferState>()) {
        for (const auto& request : model::names<BufferRequest>()) {
            INFO(request.name << " of " << state.name);
            const auto move = next_move(state.value, request.value);
            if (state.value == BufferState::released) {
                CHECK_FALSE(move);
                continue;
            }
            if (!move) {
                CHECK_THAT(move.error().message, Catch::Contains(std::string{state.name}));
                continue;
            }
            const bool current_on_host =
                state.value != BufferState::device_only && state.value != BufferState::device_dirty;
            const bool current_on_device =
                state.value != BufferState::host_only && state.value != BufferState::host_dirty;
            CHECK((move->copy != BufferCopy::host_to_device || current_on_host));
            CHECK((move->copy != BufferCopy::device_to_host || current_on_device));
            // A side that is current only elsewhere afterwards has been copied there.
            const bool host_was_alone = state.value == BufferState::host_only || state.value == BufferState::host_dirty;
            const bool then_device = move->next == BufferState::device_only || move->next == BufferState::device_dirty;
            CHECK((!host_was_alone || !then_device || move->copy == BufferCopy::host_to_device));
            const bool device_was_alone = !current_on_host;
            const bool then_host = move->next == BufferState::host_only || move->next == BufferState::host_dirty;
            CHECK((!device_was_alone || !then_host || move->copy == BufferCopy::device_to_host));
        }
    }
    CHECK(*next_move(BufferState::device_dirty, BufferRequest::write_host) ==
          BufferMove{BufferState::host_dirty, BufferCopy::device_to_host});
    CHECK_FALSE(next_move(BufferState::host_dirty, BufferRequest::write_device));
    CHECK_FALSE(next_move(BufferState::device_dirty, BufferRequest::mark_host_dirty));
    CHECK_FALSE(next_move(BufferState::device_only, BufferRequest::mark_host_dirty));
    CHECK_FALSE(next_move(BufferState::uninitialized, BufferRequest::mark_device_dirty));
}

TEST_CASE("copies are counted as they are made, and what needs none makes none", "[unit]")
{
    tests::FakeRuntime runtime;
    {
        auto buffer = UnifiedBuffer::make(runtime, 0, bytes);
        REQUIRE(buffer);
        CHECK(runtime.holdings().blocks == 0);
        REQUIRE(buffer->assign(pattern(1)));
        CHECK(buffer->state() == BufferState::host_only);
        CHECK(runtime.copies().empty());
        REQUIRE(buffer->ask(BufferRequest::ensure_device));
        REQUIRE(buffer->ask(BufferRequest::ensure_device));
        REQUIRE(buffer->ask(BufferRequest::ensure_host));
        REQUIRE(buffer->ask(BufferRequest::synchronize));
        CHECK(buffer->state() == BufferState::synchronized);
        CHECK(runtime.copies().size() == 1);
        REQUIRE(buffer->ask(BufferRequest::write_device));
        REQUIRE(runtime.write_pattern(buffer->stream(), buffer->on_device(), bytes, {.seed = 2}));
        std::vector<std::byte> got(bytes);
        REQUIRE(buffer->copy_out(got));
        CHECK(got == pattern(2));
        CHECK(buffer->state() == BufferState::synchronized);
        CHECK(buffer->counts() ==
              transfer::BufferCounts{
                  .to_device = 1, .to_host = 1, .bytes_to_device = bytes, .bytes_to_host = bytes, .spared = 5});
        CHECK(runtime.copies().size() == 2);
        REQUIRE(buffer->ask(BufferRequest::release));
        CHECK(runtime.holdings().blocks == 0);
        CHECK_FALSE(buffer->ask(BufferRequest::ensure_host));
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("a release while a transfer is in flight names it, and sizes that differ are both named", "[unit]")
{
    tests::FakeRuntime runtime;
    {
        auto buffer = UnifiedBuffer::make(runtime, 1, bytes);
        REQUIRE(buffer);
        REQUIRE(buffer->assign(pattern(1)));
        REQUIRE(buffer->begin(BufferRequest::ensure_device));
        const auto released = buffer->ask(BufferRequest::release);
        REQUIRE_FALSE(released);
        CHECK_THAT(released.error().message, Catch::Contains("transfer 1 (host -> gpu1, 4KiB) is in flight"));
        REQUIRE(buffer->finish());
        const std::vector<std::byte> short_one(100);
        const auto assigned = buffer->assign(short_one);
        REQUIRE_FALSE(assigned);
        CHECK_THAT(assigned.error().message, Catch::Contains("100 to or from a buffer of 4KiB"));
        REQUIRE(buffer->ask(BufferRequest::release));
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("memory that a processor does not reach is no side of a buffer", "[unit]")
{
    tests::FakeRuntime runtime;
    {
        auto buffer = UnifiedBuffer::make(runtime, 0, bytes, model::HostKind::mapped);
        REQUIRE(buffer);
        const auto refused = buffer->ask(BufferRequest::write_host);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::ErrorCode::not_supported);
        CHECK_THAT(refused.error().message, Catch::Contains("mapped"));
        CHECK(buffer->state() == BufferState::uninitialized);
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("a copy that fails leaves the state and the counts as they were", "[unit]")
{
    tests::FakeRuntime runtime;
    auto buffer = UnifiedBuffer::make(runtime, 0, bytes);
    REQUIRE(buffer);
    REQUIRE(buffer->assign(pattern(1)));
    for (const bool late : {false, true}) {
        if (late) {
            runtime.fail_copies_late(1);
        } else {
            runtime.fail_copies(1);
        }
        CHECK_FALSE(buffer->ask(BufferRequest::ensure_device));
        CHECK(buffer->state() == BufferState::host_only);
        CHECK(buffer->counts().to_device == 0);
    }
    REQUIRE(buffer->ask(BufferRequest::ensure_device));
    CHECK(buffer->counts().to_device == 1);
    CHECK(buffer->state() == BufferState::synchronized);
}
