// The contract of a runtime on the CUDA devices of this machine, and what only they have.
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

}  // namespace memsweep::device
