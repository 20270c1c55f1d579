// The contract of a runtime, on invented devices and on whatever OpenCL has here; two devices of PoCL make pairs.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "tests/device/contract.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

namespace memsweep::device {

TEST_CASE("invented devices keep the contract", "[unit]")
{
    tests::FakeRuntime runtime;
    tests::check_runtime(runtime);
    tests::FakeRuntime poor{
        {.devices = 1,
         .lacking = {MemoryKind::managed, MemoryKind::registered, MemoryKind::mapped, MemoryKind::stream_ordered}}};
    tests::check_runtime(poor);
}

TEST_CASE("what a link of PCI Express carries", "[unit]")
{
    CHECK(*bytes_per_second(3, 16) == Approx(14.4e9).epsilon(0.01));
    CHECK(*bytes_per_second(4, 16) == Approx(2 * *bytes_per_second(3, 16)));
    CHECK(*bytes_per_second(5, 16) == Approx(57.6e9).epsilon(0.01));
    CHECK(*bytes_per_second(1, 1) == Approx(2.5e9 / 10 * 256 / 280));
    CHECK_FALSE(bytes_per_second(0, 16));
    CHECK_FALSE(bytes_per_second(7, 16));
    CHECK_FALSE(bytes_per_second(5, 0));
}

TEST_CASE("a machine without drivers has a reason, not a device", "[device]")
{
    const auto runtime = open_runtime();
    CHECK(runtime->devices().empty() == !runtime->absence().empty());
    CHECK((runtime->backend() == "none") == runtime->devices().empty());
}

TEST_CASE("OpenCL's devices keep the contract", "[device]")
{
    const auto runtime = open_opencl();
    if (!runtime) {
        std::cout << "no OpenCL device: " << runtime.error().message << '\n';
        return;
    }
    tests::check_runtime(**runtime);
    // Where the environment asks PoCL for two, there must be two: pairs would go untested otherwise.
    const char* const asked = std::getenv("POCL_DEVICES");
    CHECK((asked == nullptr || (*runtime)->devices().size() >= 2));
}

TEST_CASE("threads share a runtime of OpenCL, each with a stream", "[device]")
{
    constexpr std::uint64_t bytes = 1U << 18U;
    const auto runtime = open_opencl();
    if (!runtime) {
        std::cout << "no OpenCL device: " << runtime.error().message << '\n';
        return;
    }
    std::atomic<int> wrong{0};
    const auto work = [&](std::uint64_t seed) {
        for (int round = 0; round < 20; ++round) {
            const auto device = static_cast<std::uint32_t>(seed % (*runtime)->devices().size());
            const auto stream = open_stream(**runtime, device);
            const auto pinned = allocate(**runtime, {.device = device, .kind = MemoryKind::pinned, .bytes = bytes});
            const auto block = allocate(**runtime, {.device = device, .kind = MemoryKind::device, .bytes = bytes});
            if (!stream || !pinned || !block) {
                ++wrong;
                return;
            }
            write_pattern({pinned->host(), bytes}, {.seed = seed});
            const bool copied = (*runtime)->copy(stream->id(), block->at(), pinned->at(), bytes).has_value();
            const auto seen = (*runtime)->check_pattern(stream->id(), block->at(), bytes, {.seed = seed});
            wrong += copied && seen && seen->words == 0 ? 0 : 1;
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back(work, seed);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    CHECK((*runtime)->holdings() == Holdings{});
}

}  // namespace memsweep::device
