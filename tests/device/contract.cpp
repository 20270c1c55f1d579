#include "tests/device/contract.hpp"

#include <cstring>
#include <numeric>

#include "core/device/runtime.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {
namespace {

using namespace device;
using base::ErrorCode;

constexpr std::uint64_t block_bytes = (1U << 20U) + 4096;
constexpr std::byte poison{0xA5};

std::uint32_t count(const Runtime& runtime)
{
    return static_cast<std::uint32_t>(runtime.devices().size());
}

std::vector<std::byte> patterned(std::uint64_t bytes, std::uint64_t seed)
{
    std::vector<std::byte> data(bytes);
    write_pattern(data, {.seed = seed});
    return data;
}

template <typename T>
T obtained(base::Expected<T> value)
{
    INFO((value ? std::string{} : describe(value.error())));
    REQUIRE(value);
    return *std::move(value);
}

void succeeded(const base::Expected<void>& outcome)
{
    INFO((outcome ? std::string{} : describe(outcome.error())));
    REQUIRE(outcome);
}

Memory block(Runtime& runtime, std::uint32_t device, MemoryKind kind, std::uint64_t bytes = block_bytes)
{
    return obtained(allocate(runtime, {.device = device, .kind = kind, .bytes = bytes}));
}

void facts(Runtime& runtime)
{
    CHECK(runtime.absence().empty());
    REQUIRE(count(runtime) > 0);
    for (const DeviceFacts& one : runtime.devices()) {
        CHECK_FALSE(one.name.empty());
        CHECK_FALSE(one.driver.empty());
        CHECK(one.memory_bytes > 0);
        CHECK(one.largest_block_bytes > 0);
        CHECK(one.largest_block_bytes <= one.memory_bytes);
        CHECK(one.compute_units > 0);
    }
    CHECK(runtime.lacks(count(runtime), MemoryKind::device));
    CHECK(runtime.peer(0, 0).direct);
    CHECK_FALSE(runtime.peer(0, count(runtime)).copies);
}

// Every kind that there is holds what is written to it, through the host and through a device.
void kinds(Runtime& runtime)
{
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        for (const MemoryKind kind : memory_kinds()) {
            INFO("device " << device << ", " << name_of(kind));
            const auto made =
                allocate(runtime, {.device = device, .kind = kind, .bytes = block_bytes, .stream = stream.id()});
            if (const auto why = runtime.lacks(device, kind)) {
                CHECK_FALSE(why->empty());
                REQUIRE_FALSE(made);
                CHECK(made.error().code == ErrorCode::not_supported);
                continue;
            }
            if (kind == MemoryKind::registered) {
                CHECK(made.error().code == ErrorCode::invalid_input);
                continue;
            }
            REQUIRE(made);
            const bool on_device = kind == MemoryKind::device || kind == MemoryKind::stream_ordered;
            CHECK((made->host() == nullptr || !on_device));
            const std::vector<std::byte> sent = patterned(block_bytes, 11);
            std::vector<std::byte> back(block_bytes, poison);
            succeeded(runtime.copy(stream.id(), made->at(), device::at(sent.data()), block_bytes));
            succeeded(runtime.copy(stream.id(), device::at(back.data()), made->at(), block_bytes));
            succeeded(runtime.wait(stream.id()));
            CHECK(check_pattern(back, {.seed = 11}).words == 0);
            succeeded(runtime.fill(stream.id(), made->at(8), poison, 16));
            succeeded(runtime.copy(stream.id(), device::at(back.data()), made->at(), block_bytes));
            succeeded(runtime.wait(stream.id()));
            const Mismatch seen = check_pattern(back, {.seed = 11});
            CHECK(seen.words == 2);
            CHECK(seen.first_byte == 8);
        }
    }
}

void host_pointers(Runtime& runtime)
{
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        const Memory target = block(runtime, device, MemoryKind::device);
        for (const MemoryKind kind :
             {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::write_combined, MemoryKind::managed}) {
            if (runtime.lacks(device, kind)) {
                continue;
            }
            INFO("device " << device << ", " << name_of(kind));
            const Memory host = block(runtime, device, kind);
            REQUIRE(host.host() != nullptr);
            write_pattern({host.host(), block_bytes}, {.seed = 5});
            succeeded(runtime.fill(stream.id(), target.at(), poison, block_bytes));
            succeeded(runtime.copy(stream.id(), target.at(), host.at(), block_bytes));
            std::vector<std::byte> back(block_bytes, poison);
            succeeded(runtime.copy(stream.id(), device::at(back.data()), target.at(), block_bytes));
            succeeded(runtime.wait(stream.id()));
            CHECK(check_pattern(back, {.seed = 5}).words == 0);
            std::memset(host.host(), 0, block_bytes);
            succeeded(runtime.copy(stream.id(), host.at(), target.at(), block_bytes));
            succeeded(runtime.wait(stream.id()));
            CHECK(check_pattern({host.host(), block_bytes}, {.seed = 5}).words == 0);
        }
    }
}

void registered(Runtime& runtime)
{
    if (runtime.lacks(0, MemoryKind::registered)) {
        return;
    }
    std::vector<std::byte> ordinary = patterned(block_bytes, 21);
    const Stream stream = obtained(open_stream(runtime, 0));
    const Memory target = block(runtime, 0, MemoryKind::device);
    {
        const Memory adopted = obtained(adopt(runtime, 0, ordinary.data(), ordinary.size()));
        CHECK(adopted.host() == ordinary.data());
        succeeded(runtime.copy(stream.id(), target.at(), adopted.at(), block_bytes));
        succeeded(runtime.wait(stream.id()));
        std::memset(ordinary.data(), 0, ordinary.size());
        succeeded(runtime.copy(stream.id(), adopted.at(), target.at(), block_bytes));
        succeeded(runtime.wait(stream.id()));
    }
    CHECK(check_pattern(ordinary, {.seed = 21}).words == 0);
    CHECK(adopt(runtime, 0, nullptr, 16).error().code == ErrorCode::invalid_input);
}

void mapped(Runtime& runtime)
{
    if (runtime.lacks(0, MemoryKind::mapped)) {
        return;
    }
    const Stream stream = obtained(open_stream(runtime, 0));
    const Memory zero_copy = block(runtime, 0, MemoryKind::mapped);
    std::byte* const host = obtained(runtime.map(zero_copy.id(), Access::write));
    write_pattern({host, block_bytes}, {.seed = 31});
    CHECK_FALSE(runtime.map(zero_copy.id(), Access::read));
    CHECK(runtime.copy(stream.id(), zero_copy.at(), zero_copy.at(4096), 8).error().code == ErrorCode::invalid_input);
    succeeded(runtime.unmap(zero_copy.id()));
    CHECK_FALSE(runtime.unmap(zero_copy.id()));
    CHECK(obtained(runtime.check_pattern(stream.id(), zero_copy.at(), block_bytes, {.seed = 31})).words == 0);
    succeeded(runtime.write_pattern(stream.id(), zero_copy.at(), block_bytes, {.seed = 32}));
    succeeded(runtime.wait(stream.id()));
    std::byte* const again = obtained(runtime.map(zero_copy.id(), Access::read));
    CHECK(check_pattern({again, block_bytes}, {.seed = 32}).words == 0);
    succeeded(runtime.unmap(zero_copy.id()));
}

// Every pair, both ways, each device with itself too; and pieces at odd places.
void between_devices(Runtime& runtime)
{
    for (std::uint32_t from = 0; from < count(runtime); ++from) {
        for (std::uint32_t to = 0; to < count(runtime); ++to) {
            INFO(from << " to " << to);
            if (!runtime.peer(from, to).copies) {
                CHECK_FALSE(runtime.peer(from, to).reason.empty());
                continue;
            }
            CHECK((runtime.peer(from, to).direct || !runtime.peer(from, to).reason.empty()));
            const Stream there = obtained(open_stream(runtime, from));
            const Stream here = obtained(open_stream(runtime, to));
            const Memory source = block(runtime, from, MemoryKind::device);
            const Memory target = block(runtime, to, MemoryKind::device);
            succeeded(runtime.write_pattern(there.id(), source.at(), block_bytes, {.seed = 41}));
            const Event written = obtained(record(runtime, there));
            succeeded(runtime.after(here.id(), written.id()));
            succeeded(runtime.fill(here.id(), target.at(), poison, block_bytes));
            succeeded(runtime.copy(here.id(), target.at(), source.at(), block_bytes));
            CHECK(obtained(runtime.check_pattern(here.id(), target.at(), block_bytes, {.seed = 41})).words == 0);
            succeeded(runtime.fill(here.id(), target.at(), poison, block_bytes));
            succeeded(runtime.copy(here.id(), target.at(4096), source.at(264), 8000));
            CHECK(obtained(runtime.check_pattern(here.id(), target.at(4096), 8000, {.seed = 41, .first_word = 33}))
                      .words == 0);
        }
    }
}

void kernels(Runtime& runtime)
{
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        const Memory source = block(runtime, device, MemoryKind::device);
        const Memory target = block(runtime, device, MemoryKind::device);
        succeeded(runtime.write_pattern(stream.id(), source.at(), block_bytes, {.seed = 51}));
        succeeded(runtime.fill(stream.id(), target.at(), poison, block_bytes));
        CHECK(obtained(runtime.check_pattern(stream.id(), target.at(), block_bytes, {.seed = 51})).words ==
              block_bytes / 8);
        succeeded(runtime.copy_by_kernel(stream.id(), target.at(16), source.at(16), block_bytes - 16));
        const Mismatch rest = obtained(runtime.check_pattern(stream.id(), target.at(), block_bytes, {.seed = 51}));
        CHECK(rest.words == 2);
        CHECK(rest.first_byte == 0);
        const std::uint64_t wrong = 0;
        succeeded(runtime.copy(stream.id(), target.at(block_bytes - 8), device::at(&wrong), 8));
        const Mismatch last = obtained(
            runtime.check_pattern(stream.id(), target.at(16), block_bytes - 16, {.seed = 51, .first_word = 2}));
        CHECK(last.words == 1);
        CHECK(last.first_byte == block_bytes - 24);
        CHECK(runtime.copy_by_kernel(stream.id(), target.at(), source.at(), 17).error().code ==
              ErrorCode::invalid_input);
    }
}

// Loads go on where the last ones ended, through every kind of memory that kernels reach.
void chains(Runtime& runtime)
{
    constexpr std::uint64_t words = 512;
    std::vector<std::uint64_t> links(words);
    for (std::uint64_t word = 0; word < words; ++word) {
        links[word] = (word + 7) % words * 8;
    }
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        const Memory place = block(runtime, device, MemoryKind::device, 64);
        for (const MemoryKind kind : {MemoryKind::device, MemoryKind::mapped, MemoryKind::managed}) {
            if (runtime.lacks(device, kind)) {
                continue;
            }
            INFO("device " << device << ", " << name_of(kind));
            const Memory chain = block(runtime, device, kind, words * 8);
            succeeded(runtime.copy(stream.id(), chain.at(), device::at(links.data()), words * 8));
            succeeded(runtime.fill(stream.id(), place.at(), std::byte{0}, 64));
            for (const std::uint64_t loads : {1U, 600U}) {
                succeeded(runtime.follow(stream.id(), chain.at(), words * 8, loads, place.at(8)));
            }
            std::uint64_t reached = 1;
            succeeded(runtime.copy(stream.id(), device::at(&reached), place.at(8), 8));
            succeeded(runtime.wait(stream.id()));
            CHECK(reached == 601 * 7 % words * 8);
        }
        CHECK_FALSE(runtime.follow(stream.id(), place.at(), 65, 1, place.at()));
        CHECK_FALSE(runtime.follow(stream.id(), place.at(), 64, 1, place.at(60)));
    }
}

void prefetches(Runtime& runtime)
{
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        const Memory own = block(runtime, device, MemoryKind::device, 64);
        CHECK(runtime.prefetch(stream.id(), own.at(), 64, Side::host).error().code == ErrorCode::not_supported);
        if (runtime.lacks(device, MemoryKind::managed)) {
            continue;
        }
        const Memory managed = block(runtime, device, MemoryKind::managed);
        write_pattern({managed.host(), block_bytes}, {.seed = 61});
        succeeded(runtime.prefetch(stream.id(), managed.at(), block_bytes, Side::device));
        CHECK(obtained(runtime.check_pattern(stream.id(), managed.at(), block_bytes, {.seed = 61})).words == 0);
        succeeded(runtime.write_pattern(stream.id(), managed.at(), block_bytes, {.seed = 62}));
        succeeded(runtime.prefetch(stream.id(), managed.at(), block_bytes, Side::host));
        succeeded(runtime.wait(stream.id()));
        CHECK(check_pattern({managed.host(), block_bytes}, {.seed = 62}).words == 0);
    }
}

void events(Runtime& runtime)
{
    for (std::uint32_t device = 0; device < count(runtime); ++device) {
        const Stream stream = obtained(open_stream(runtime, device));
        const Memory source = block(runtime, device, MemoryKind::device);
        const Memory target = block(runtime, device, MemoryKind::device);
        succeeded(runtime.fill(stream.id(), source.at(), poison, block_bytes));
        Latch latch = obtained(hold(runtime, stream));
        const Event begin = obtained(record(runtime, stream));
        succeeded(runtime.copy(stream.id(), target.at(), source.at(), block_bytes));
        const Event end = obtained(record(runtime, stream));
        CHECK_FALSE(obtained(runtime.happened(end.id())));
        CHECK(runtime.holdings() ==
              Holdings{.blocks = 2, .bytes = 2 * block_bytes, .streams = 1, .events = 2, .latches = 1});
        succeeded(latch.close());
        succeeded(runtime.wait(end.id()));
        CHECK(obtained(runtime.happened(begin.id())));
        CHECK(obtained(runtime.happened(end.id())));
        CHECK(obtained(runtime.seconds_between(begin.id(), end.id())) >= 0);
        succeeded(runtime.wait(stream.id()));
    }
}

// A stream that is closed while it is held goes on and ends: nothing hangs on a path that gave up.
void left_behind(Runtime& runtime)
{
    const Memory target = block(runtime, 0, MemoryKind::device);
    const Memory host = block(runtime, 0, MemoryKind::pinned);
    write_pattern({host.host(), block_bytes}, {.seed = 3});
    const StreamId stream = obtained(runtime.open_stream(0));
    const LatchId latch = obtained(runtime.hold(stream));
    succeeded(runtime.copy(stream, target.at(), host.at(), block_bytes));
    static_cast<void>(runtime.close(latch));
    succeeded(runtime.close(stream));
    CHECK_FALSE(runtime.close(latch));
    CHECK_FALSE(runtime.close(stream));
}

void refusals(Runtime& runtime)
{
    const std::uint32_t none = count(runtime);
    const Stream stream = obtained(open_stream(runtime, 0));
    const Memory small = block(runtime, 0, MemoryKind::device, 64);
    std::vector<std::byte> host(128);
    CHECK_FALSE(open_stream(runtime, none));
    CHECK_FALSE(allocate(runtime, {.device = none, .kind = MemoryKind::device, .bytes = 64}));
    CHECK(allocate(runtime, {.kind = MemoryKind::device, .bytes = 0}).error().code == ErrorCode::invalid_input);
    const auto huge = allocate(runtime, {.kind = MemoryKind::device, .bytes = 1ULL << 50U});
    REQUIRE_FALSE(huge);
    CHECK(huge.error().code == ErrorCode::budget);
    CHECK_FALSE(huge.error().message.empty());
    CHECK(runtime.copy(stream.id(), small.at(), device::at(host.data()), 65).error().code == ErrorCode::invalid_input);
    CHECK(runtime.copy(stream.id(), small.at(65), device::at(host.data()), 0).error().code == ErrorCode::invalid_input);
    CHECK_FALSE(runtime.copy(stream.id(), small.at(), Address{}, 8));
    CHECK_FALSE(runtime.copy(StreamId{~0ULL}, small.at(), device::at(host.data()), 8));
    CHECK_FALSE(runtime.close(MemoryId{~0ULL}));
    CHECK_FALSE(runtime.close(EventId{~0ULL}));
    CHECK_FALSE(runtime.wait(EventId{~0ULL}));
    CHECK_FALSE(runtime.map(small.id(), Access::read));
    succeeded(runtime.copy(stream.id(), small.at(), device::at(host.data()), 0));
    succeeded(runtime.wait(stream.id()));
}

}  // namespace

const std::vector<RuntimeCheck>& runtime_checks()
{
    static const std::vector<RuntimeCheck> all{{"facts", facts},
                                               {"every kind of memory", kinds},
                                               {"memory that the host reads", host_pointers},
                                               {"registered memory", registered},
                                               {"map and unmap", mapped},
                                               {"between devices", between_devices},
                                               {"kernels", kernels},
                                               {"chains of loads", chains},
                                               {"prefetches", prefetches},
                                               {"events and latches", events},
                                               {"left behind", left_behind},
                                               {"refusals", refusals}};
    return all;
}

void check_runtime(Runtime& runtime)
{
    for (const RuntimeCheck& check : runtime_checks()) {
        INFO(runtime.backend() << ": " << check.name);
        check.run(runtime);
        CHECK(runtime.holdings() == Holdings{});
    }
}

}  // namespace memsweep::tests
