// The CUDA backend on a runtime library that is invented (fake_cudart.hpp): that it keeps the contract as far as that
// can be told without a device, that it uses the addresses CUDA wants, and that it gives back what it took.
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "tests/cuda/fake_cudart.hpp"
#include "tests/device/contract.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::device {
namespace {

namespace cudart = tests::fake_cudart;

constexpr std::uint64_t bytes = 4096;

struct Fresh {
    explicit Fresh(const cudart::Devices& devices = {})
    {
        cudart::reset(devices);
        runtime = *cudart::open_backend();
    }
    std::unique_ptr<Runtime> runtime;
};

}  // namespace

TEST_CASE("the backend of CUDA keeps the contract on an invented library, and holds nothing afterwards", "[unit]")
{
    {
        const Fresh fresh;
        tests::check_runtime(*fresh.runtime);
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

#ifndef MEMSWEEP_HIP  // whose versions nobody has sorted out
TEST_CASE("a driver that is too old is named, and so is what takes it", "[unit]")
{
    const auto refusal = [](int driver) {
        cudart::reset({.driver_version = driver});
        const auto opened = cudart::open_backend();
        cudart::reset();
        return opened ? std::string{} : opened.error().message;
    };
    CHECK(refusal(cudart::library_version).empty());
    CHECK(refusal(cudart::library_version / 1000 * 1000).empty());  // of the same major version
    CHECK(refusal(cudart::library_version + 1000).empty());
    for (const int driver : {11040, 12020, 12080}) {  // of drivers 470, 535 and 570
        if (driver / 1000 >= cudart::library_version / 1000) {
            continue;
        }
        INFO(driver);
        const bool is_13 = cudart::library_version >= 13000;
        CHECK_THAT(refusal(driver),
                   Catch::Contains(driver == 11040   ? "CUDA 11.4, too old"
                                   : driver == 12020 ? "CUDA 12.2, too old"
                                                     : "CUDA 12.8, too old") &&
                       Catch::Contains(is_13 ? "a driver of 580 or newer" : "a driver of 525 or newer"));
        CHECK((refusal(driver).find("a toolkit of CUDA 12 takes this driver") != std::string::npos) == driver >= 12000);
    }
}
#endif

#ifndef MEMSWEEP_HIP  // it has no such library
TEST_CASE("an instance of a card has its own name, and no rate that is the whole card's", "[unit]")
{
    {
        const Fresh fresh{{.partitioned = true}};
        const DeviceFacts& facts = fresh.runtime->devices()[1];
        CHECK(facts.is_partitioned == true);
        CHECK(facts.uuid == "MIG-6d656d73-7765-6570-0100-000000000001");
        CHECK(facts.part_of == "GPU-6d656d73-7765-6570-0000-000000000001");
        CHECK_FALSE(facts.memory_bytes_per_s);
    }
    const Fresh whole;
    CHECK(whole.runtime->devices()[1].uuid == "GPU-6d656d73-7765-6570-0000-000000000001");
    CHECK(whole.runtime->devices()[1].part_of.empty());
}
#endif

TEST_CASE("kernels reach ordinary memory where every device says so, and are refused it elsewhere", "[unit]")
{
    for (const bool reaches : {false, true}) {
        INFO("reaches: " << reaches);
        const Fresh fresh{{.reaches_ordinary = reaches}};
        Runtime& runtime = *fresh.runtime;
        CHECK(runtime.devices()[0].reaches_ordinary == reaches);
        const auto stream = open_stream(runtime, 0);
        const auto target = allocate(runtime, {.kind = MemoryKind::device, .bytes = bytes});
        const auto pageable = allocate(runtime, {.kind = MemoryKind::pageable, .bytes = bytes});
        alignas(16) std::array<std::byte, bytes> own{};
        CHECK(runtime.write_pattern(stream->id(), at(own.data()), bytes, {.seed = 5}).has_value() == reaches);
        CHECK(runtime.copy_by_kernel(stream->id(), target->at(), at(own.data()), bytes).has_value() == reaches);
        CHECK(runtime.copy_by_kernel(stream->id(), pageable->at(), target->at(), bytes).has_value() == reaches);
        REQUIRE(runtime.wait(stream->id()));
        if (reaches) {
            CHECK(check_pattern({pageable->host(), bytes}, {.seed = 5}).words == 0);
        }
        REQUIRE(runtime.fill(stream->id(), pageable->at(), std::byte{1}, bytes));  // by the processor, and at once
        CHECK(std::to_integer<int>(pageable->host()[bytes - 1]) == 1);
    }
    tests::check_runtime(*Fresh{{.reaches_ordinary = true}}.runtime);
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("threads share a runtime of CUDA, each with a stream and a device", "[unit]")
{
    {
        const Fresh fresh{{.count = 3}};
        Runtime& runtime = *fresh.runtime;
        std::atomic<int> wrong{0};
        const auto work = [&](std::uint64_t seed) {
            for (int round = 0; round < 20; ++round) {
                const auto device = static_cast<std::uint32_t>(seed % runtime.devices().size());
                const auto stream = open_stream(runtime, device);
                const auto pinned = allocate(runtime, {.device = device, .kind = MemoryKind::pinned, .bytes = bytes});
                const auto block = allocate(runtime, {.device = device, .kind = MemoryKind::device, .bytes = bytes});
                if (!stream || !pinned || !block) {
                    ++wrong;
                    return;
                }
                write_pattern({pinned->host(), bytes}, {.seed = seed});
                auto latch = hold(runtime, *stream);
                const bool copied = runtime.copy(stream->id(), block->at(), pinned->at(), bytes).has_value();
                const bool let_go = latch && latch->close();
                const auto seen = runtime.check_pattern(stream->id(), block->at(), bytes, {.seed = seed});
                wrong += copied && let_go && seen && seen->words == 0 ? 0 : 1;
            }
        };
        std::vector<std::thread> threads;
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            threads.emplace_back(work, seed);
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        CHECK(wrong == 0);
        CHECK(runtime.holdings() == Holdings{});
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("an urgent stream is asked of a device that has priorities", "[unit]")
{
    const Fresh fresh;
    REQUIRE(fresh.runtime->has_priorities(0));
    const auto usual = open_stream(*fresh.runtime, 0);
    CHECK(cudart::calls_of("urgent stream") == 0);
    const auto urgent = open_urgent_stream(*fresh.runtime, 0);
    REQUIRE(urgent);
    CHECK(cudart::calls_of("urgent stream") == 1);
    CHECK_FALSE(fresh.runtime->has_priorities(9));
    CHECK(open_urgent_stream(*fresh.runtime, 9).error().code == base::ErrorCode::not_supported);
}

TEST_CASE("a driver is advised of whole blocks of managed memory, and of no other", "[unit]")
{
    const Fresh fresh{{.memory_bytes = 64 * bytes}};
    Runtime& runtime = *fresh.runtime;
    CHECK(*runtime.free_bytes(0) == 64 * bytes);
    const auto own = allocate(runtime, {.kind = MemoryKind::device, .bytes = 16 * bytes});
    CHECK(*runtime.free_bytes(0) == 48 * bytes);
    CHECK(*runtime.free_bytes(1) == 64 * bytes);
    CHECK(allocate(runtime, {.kind = MemoryKind::device, .bytes = 49 * bytes}).error().code == base::ErrorCode::budget);
    const auto managed = allocate(runtime, {.kind = MemoryKind::managed, .bytes = 100 * bytes});
    REQUIRE(managed);  // more than the device has
    CHECK(runtime.advise(0, managed->id(), Advice::stay_on_device));
    CHECK(cudart::calls_of("advised access") == 0);
    CHECK(runtime.advise(0, managed->id(), Advice::stay_on_host));
    CHECK(cudart::calls_of("advised access") == 1);
    CHECK(runtime.advise(0, own->id(), Advice::stay_on_host).error().code == base::ErrorCode::not_supported);
    CHECK_FALSE(runtime.advise(0, MemoryId{~0ULL}, Advice::stay_on_host));
}

TEST_CASE("kernels use the device's address of host memory", "[unit]")
{
    const Fresh fresh;
    Runtime& runtime = *fresh.runtime;
    const auto stream = open_stream(runtime, 0);
    const auto target = allocate(runtime, {.kind = MemoryKind::device, .bytes = bytes});
    for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::write_combined, MemoryKind::mapped}) {
        INFO(name_of(kind));
        const auto host = allocate(runtime, {.kind = kind, .bytes = bytes});
        REQUIRE(host);
        REQUIRE(runtime.write_pattern(stream->id(), host->at(), bytes, {.seed = 3}));
        REQUIRE(runtime.copy_by_kernel(stream->id(), target->at(), host->at(), bytes));
        REQUIRE(runtime.wait(stream->id()));
        CHECK(runtime.check_pattern(stream->id(), target->at(), bytes, {.seed = 3})->words == 0);
        REQUIRE(runtime.copy(stream->id(), host->at(), target->at(), bytes));
        CHECK(runtime.check_pattern(stream->id(), host->at(), bytes, {.seed = 3})->words == 0);
    }
}

TEST_CASE("a kernel is given no address that is not aligned, wherever the offset begins", "[unit]")
{
    const Fresh fresh;
    Runtime& runtime = *fresh.runtime;
    const auto stream = open_stream(runtime, 0);
    const auto target = allocate(runtime, {.kind = MemoryKind::device, .bytes = 2 * bytes});
    alignas(16) std::array<std::byte, bytes + 16> ordinary{};
    const auto shifted = adopt(runtime, 0, ordinary.data() + 4, bytes);
    REQUIRE(shifted);
    CHECK(runtime.copy_by_kernel(stream->id(), target->at(), shifted->at(), bytes).error().code ==
          base::ErrorCode::invalid_input);
    CHECK(runtime.write_pattern(stream->id(), shifted->at(), bytes, {}).error().code == base::ErrorCode::invalid_input);
    CHECK(runtime.copy_by_kernel(stream->id(), target->at(), shifted->at(12), 1024));
    CHECK(runtime.wait(stream->id()));
    CHECK(cudart::remembered() == cudaSuccess);
}

TEST_CASE("a broken context is told from a call that failed", "[unit]")
{
    const Fresh fresh;
    Runtime& runtime = *fresh.runtime;
    const auto stream = open_stream(runtime, 1);
    cudart::fail_next("cudaMalloc", cudaErrorMemoryAllocation);
    CHECK_FALSE(allocate(runtime, {.device = 1, .kind = MemoryKind::device, .bytes = bytes}));
    CHECK_FALSE(runtime.lost());
    cudart::break_with(cudaErrorIllegalAddress);
    REQUIRE(runtime.lost());
    CHECK_THAT(*runtime.lost(), Catch::Contains("gpu1: ") && Catch::Contains("illegal memory access"));
    cudart::reset();
}

TEST_CASE("events are recorded anew once they are closed, and none is lost where recording fails", "[unit]")
{
    {
        const Fresh fresh;
        Runtime& runtime = *fresh.runtime;
        const auto stream = open_stream(runtime, 0);
        for (int round = 0; round < 100; ++round) {
            const auto event = record(runtime, *stream);
            REQUIRE(event);
            CHECK(runtime.wait(event->id()));
        }
        CHECK(cudart::calls_of("cudaEventCreateWithFlags") == 1);
        CHECK(cudart::calls_of("cudaEventDestroy") == 0);
        // One that is closed before it happened is not taken for the one that it becomes.
        auto latch = hold(runtime, *stream);
        REQUIRE(record(runtime, *stream)->close());
        const auto again = record(runtime, *stream);
        CHECK_FALSE(*runtime.happened(again->id()));
        CHECK(latch->close());
        CHECK(runtime.wait(stream->id()));
        CHECK(*runtime.happened(again->id()));
        cudart::fail_next("cudaEventRecord", cudaErrorInvalidValue);
        CHECK_FALSE(record(runtime, *stream));
        CHECK(runtime.holdings().events == 1);
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("stream-ordered memory comes from one pool of a device, which keeps what it is given back", "[unit]")
{
    {
        const Fresh fresh;
        const auto stream = open_stream(*fresh.runtime, 0);
        for (int round = 0; round < 3; ++round) {
            REQUIRE(
                allocate(*fresh.runtime, {.kind = MemoryKind::stream_ordered, .bytes = bytes, .stream = stream->id()}));
        }
        CHECK(cudart::calls_of("cudaMemPoolCreate") == 1);
        CHECK(cudart::calls_of("pool that keeps all") == 3);
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a call whose failure is nobody's business is not left for the next launch", "[unit]")
{
    const Fresh fresh;  // which asks for attributes that the invented devices do not know
    CHECK(cudart::remembered() == cudaSuccess);
    cudart::fail_next("cudaDeviceCanAccessPeer", cudaErrorInvalidValue);
    CHECK_FALSE(fresh.runtime->peer(0, 1).direct);
    CHECK(cudart::remembered() == cudaSuccess);
}

#ifndef MEMSWEEP_HIP  // it has no such library
TEST_CASE("what the management library knows of a device is told", "[unit]")
{
    const Fresh fresh{{.count = 3}};
    const DeviceFacts& facts = fresh.runtime->devices()[0];
    CHECK(facts.driver_version == "580.105.08");
    CHECK(facts.runtime_version == cudart::library_version);
    CHECK((facts.numa_node == 65U || std::filesystem::exists("/sys/bus/pci/devices/0000:1b:00.0")));
    const auto clocks = fresh.runtime->clocks(0);
    REQUIRE(clocks);
    CHECK(clocks->processors_hz == 1'755'000'000);
    CHECK(clocks->memory_hz == 2'619'000'000);
    CHECK(clocks->max_processors_hz == 1'980'000'000);
    CHECK(clocks->held_back_by == "power_cap, hot_software");
    CHECK(fresh.runtime->clocks(1));
    CHECK_FALSE(fresh.runtime->clocks(2));  // which that library does not know
    CHECK_FALSE(fresh.runtime->clocks(3));
}
#endif

TEST_CASE("memory that was locked is given back where the device has no address of it", "[unit]")
{
    const Fresh fresh;
    std::vector<std::byte> ordinary(bytes);
    cudart::fail_next("cudaHostGetDevicePointer", cudaErrorInvalidValue);
    CHECK_FALSE(adopt(*fresh.runtime, 0, ordinary.data(), bytes));
    cudart::fail_next("cudaHostGetDevicePointer", cudaErrorInvalidValue);
    CHECK_FALSE(allocate(*fresh.runtime, {.kind = MemoryKind::pinned, .bytes = bytes}));
    CHECK(cudart::holdings() == cudart::Holdings{});
    CHECK(cudart::remembered() == cudaSuccess);
}

}  // namespace memsweep::device
