// The contract of a runtime on the CUDA devices of this machine, and what only they have.
#include <iostream>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "tests/device/contract.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::device {

TEST_CASE("CUDA's devices keep the contract", "[gpu]")
{
    const auto runtime = open_cuda();
    if (!runtime) {
        std::cout << "no CUDA device: " << runtime.error().message << '\n';
        return;
    }
    tests::check_runtime(**runtime);
}

TEST_CASE("peer access is on only once it is asked for, and can be taken back", "[gpu]")
{
    const auto runtime = open_cuda();
    if (!runtime || (*runtime)->devices().size() < 2) {
        std::cout << (runtime ? "skipped: peer access: needs two devices\n" : "no CUDA device\n");
        return;
    }
    CHECK_FALSE((*runtime)->peer(0, 1).direct);
    const auto on = (*runtime)->set_peer_access(0, 1, true);
    CHECK((*runtime)->peer(0, 1).direct == on.has_value());
    CHECK((*runtime)->peer(0, 1).reason.empty() == on.has_value());
    if (on) {
        CHECK((*runtime)->set_peer_access(0, 1, false));
        CHECK_FALSE((*runtime)->peer(0, 1).direct);
    }
}

TEST_CASE("a stream of many latches opens them one by one", "[gpu]")
{
    const auto runtime = open_cuda();
    if (!runtime) {
        std::cout << "no CUDA device: " << runtime.error().message << '\n';
        return;
    }
    const auto stream = open_stream(**runtime, 0);
    REQUIRE(stream);
    for (int round = 0; round < 600; ++round) {  // more than there are words to poll
        auto latch = hold(**runtime, *stream);
        REQUIRE(latch);
        const auto behind = record(**runtime, *stream);
        REQUIRE(behind);
        CHECK_FALSE(*(*runtime)->happened(behind->id()));
        REQUIRE(latch->close());
        REQUIRE((*runtime)->wait(stream->id()));
        CHECK(*(*runtime)->happened(behind->id()));
    }
}

}  // namespace memsweep::device
