// The contract of a runtime on the CUDA devices of this machine, and what only they have.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "tests/device/contract.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::device {

namespace {

constexpr int skipped = 77;  // to CTest, and to whoever runs this alone: nothing was tested

// Without a device there is nothing to test, which must not look like success.
std::unique_ptr<Runtime> runtime_of_cuda()
{
    auto runtime = open_cuda();
    if (!runtime) {
        std::cout << "skipped: no CUDA device: " << runtime.error().message << std::endl;
        std::exit(skipped);
    }
    return *std::move(runtime);
}

}  // namespace

TEST_CASE("CUDA's devices keep the contract", "[gpu]")
{
    const auto runtime = runtime_of_cuda();
    tests::check_runtime(*runtime);
}

TEST_CASE("peer access is on only once it is asked for, and can be taken back", "[gpu]")
{
    const auto runtime = runtime_of_cuda();
    if (runtime->devices().size() < 2) {
        std::cout << "skipped: peer access: needs two devices\n";
        return;
    }
    CHECK_FALSE(runtime->peer(0, 1).direct);
    const auto on = runtime->set_peer_access(0, 1, true);
    CHECK(runtime->peer(0, 1).direct == on.has_value());
    CHECK(runtime->peer(0, 1).reason.empty() == on.has_value());
    if (on) {
        CHECK(runtime->set_peer_access(0, 1, false));
        CHECK_FALSE(runtime->peer(0, 1).direct);
    }
}

TEST_CASE("a stream of many latches opens them one by one", "[gpu]")
{
    const auto runtime = runtime_of_cuda();
    const auto stream = open_stream(*runtime, 0);
    REQUIRE(stream);
    for (int round = 0; round < 600; ++round) {  // more than there are words to poll
        auto latch = hold(*runtime, *stream);
        REQUIRE(latch);
        const auto behind = record(*runtime, *stream);
        REQUIRE(behind);
        CHECK_FALSE(*runtime->happened(behind->id()));
        REQUIRE(latch->close());
        REQUIRE(runtime->wait(stream->id()));
        CHECK(*runtime->happened(behind->id()));
    }
}

// Alone in its process, because nothing can be done on the device afterwards: gpu_check.sh runs it so.
TEST_CASE("a kernel that reads where no memory is breaks the context, which says so and hangs nowhere", "[.][breaks]")
{
    constexpr std::uint64_t bytes = 1U << 20U;
    constexpr std::uint64_t nowhere = std::uint64_t{1} << 46U;  // far beyond the chain
    const auto runtime = runtime_of_cuda();
    const auto stream = open_stream(*runtime, 0);
    const auto chain = allocate(*runtime, {.device = 0, .kind = MemoryKind::device, .bytes = bytes});
    const auto place = allocate(*runtime, {.device = 0, .kind = MemoryKind::device, .bytes = sizeof nowhere});
    REQUIRE(stream);
    REQUIRE(chain);
    REQUIRE(place);
    REQUIRE(runtime->copy(stream->id(), place->at(), at(&nowhere), sizeof nowhere));
    REQUIRE(runtime->wait(stream->id()));
    CHECK_FALSE(runtime->lost());
    REQUIRE(runtime->follow(stream->id(), chain->at(), bytes, 1, place->at()));
    CHECK_FALSE(runtime->wait(stream->id()));
    const auto lost = runtime->lost();
    REQUIRE(lost);
    CHECK_THAT(*lost, Catch::Contains("gpu0: ") && Catch::Contains("illegal memory access"));
    CHECK_FALSE(allocate(*runtime, {.device = 0, .kind = MemoryKind::device, .bytes = bytes}));
    CHECK_FALSE(open_stream(*runtime, 0));
}

}  // namespace memsweep::device
