// Addresses of memory that the processor does not reach still lead a copy to their bytes.
#include "core/memory/device_resource.hpp"

#include <cstdint>
#include <vector>

#include "core/memory/range_pool.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

namespace memsweep::memory {

TEST_CASE("an address inside a block of a device's memory is a place for copies", "[unit]")
{
    constexpr std::size_t bytes = 100'000;
    tests::FakeRuntime runtime;
    for (const device::MemoryKind kind :
         {device::MemoryKind::device, device::MemoryKind::stream_ordered, device::MemoryKind::pinned}) {
        DeviceResource memory{runtime, 1, kind};
        const Allocation block = memory.allocate_zeroed(bytes, 4096);
        REQUIRE(block.status == AllocStatus::ok);
        CHECK(reinterpret_cast<std::uintptr_t>(block.ptr) % 4096 == 0);
        auto* const first = static_cast<std::byte*>(block.ptr);
        const auto stream = device::open_stream(runtime, 1);
        REQUIRE(stream);
        std::vector<std::byte> sent(800);
        device::write_pattern(sent, {.seed = 9});
        const auto inside = memory.where(first + 8000);
        REQUIRE(inside);
        REQUIRE(runtime.copy(stream->id(), *inside, device::at(sent.data()), sent.size()));
        std::vector<std::byte> back(bytes, std::byte{1});
        REQUIRE(runtime.copy(stream->id(), device::at(back.data()), *memory.where(first), bytes));
        REQUIRE(runtime.wait(stream->id()));
        CHECK(device::check_pattern({back.data() + 8000, 800}, {.seed = 9}).words == 0);
        CHECK(back[7999] == std::byte{0});
        CHECK(back[8800] == std::byte{0});
        CHECK_FALSE(memory.where(first + (1U << 20U)));
        memory.deallocate(block.ptr, bytes, 4096);
        CHECK_FALSE(memory.where(first));
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("what lies well as it comes is not asked for with more", "[unit]")
{
    tests::FakeRuntime runtime;
    for (const model::PoolKind kind : {model::PoolKind::best_fit, model::PoolKind::tlsf}) {
        DeviceResource own{runtime, 0, device::MemoryKind::device};
        const Allocation block = own.allocate(2U << 20U, 4096);
        REQUIRE(block.status == AllocStatus::ok);
        CHECK(runtime.holdings().bytes == 2U << 20U);
        own.deallocate(block.ptr, 2U << 20U, 4096);
        model::PoolSpec spec;
        spec.kind = kind;
        spec.chunk_bytes = 2U << 20U;
        RangePool pool{spec, own};
        REQUIRE(pool.allocate(1000, 16).status == AllocStatus::ok);
        CHECK(runtime.holdings().bytes == 2U << 20U);
    }
    CHECK(runtime.holdings() == device::Holdings{});
    DeviceResource pinned{runtime, 0, device::MemoryKind::pinned};
    for (const std::size_t alignment : {16U, 256U, 4096U, 1U << 16U}) {
        const Allocation block = pinned.allocate(1000, alignment);
        REQUIRE(block.status == AllocStatus::ok);
        CHECK(reinterpret_cast<std::uintptr_t>(block.ptr) % alignment == 0);
        CHECK(runtime.holdings().bytes <= 1000 + alignment);
        pinned.deallocate(block.ptr, 1000, alignment);
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("what a runtime lacks is refused by its own status", "[unit]")
{
    tests::FakeRuntime runtime{{.memory_bytes = 1U << 20U, .lacking = {device::MemoryKind::managed}}};
    DeviceResource managed{runtime, 0, device::MemoryKind::managed};
    CHECK(managed.allocate(16, 16).status == AllocStatus::no_device_memory);
    DeviceResource own{runtime, 0, device::MemoryKind::device};
    CHECK(own.allocate(2U << 20U, 16).status == AllocStatus::out_of_memory);
    const Allocation kept = own.allocate(1000, 16);
    CHECK(kept.status == AllocStatus::ok);
    own.deallocate(kept.ptr, 1000, 16);
    CHECK(own.allocate(1000, 16).status == AllocStatus::ok);  // released with the resource
}

}  // namespace memsweep::memory
