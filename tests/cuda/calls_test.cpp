// The CUDA backend on a runtime library that is invented (fake_cudart.hpp): that it keeps the contract as far as that
// can be told without a device, that it uses the addresses CUDA wants, and that it gives back what it took.
#include <array>
#include <filesystem>
#include <memory>
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
        runtime = *open_cuda();
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

TEST_CASE("what the management library knows of a device is told", "[unit]")
{
    const Fresh fresh{{.count = 3}};
    const DeviceFacts& facts = fresh.runtime->devices()[0];
    CHECK(facts.driver_version == "580.105.08");
    CHECK(facts.runtime_version == CUDART_VERSION);
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
