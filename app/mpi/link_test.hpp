// Runs one test between ranks: several flows at the same time. The senders measure the time. The receivers verify the
// data.
//
// A sample begins when both ends are ready, and ends when the receiver confirms the last message. A first sample, whose
// time is not reported, determines how many messages fill the requested time, unless the test fixes this number. After
// the clock has stopped, the last message of each sample is compared with the sent data, word by word. The receiver's
// buffer is cleared between samples.
//
// Before the first sample, the two ranks of a flow tell each other where their memory lies. If one of them cannot get
// its memory, both report the reason as FlowOutcome::problem.
//
// Units    bytes/s; for Pattern::latency, half a round trip in seconds.
// Errors   if a peer does not answer in time, the flow's `problem` says so; the other flows go on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/mpi/comm.hpp"
#include "app/mpi/link_plan.hpp"

namespace memsweep::mpi {

struct LinkSettings {
    std::size_t bytes{4U << 20U};  // in each message
    std::size_t latency_bytes{8};
    std::uint32_t samples{7};
    double sample_seconds{0.005};
    std::chrono::nanoseconds patience{std::chrono::seconds{10}};  // the longest wait for a peer in one test
};

struct FlowOutcome {
    Flow flow;
    std::vector<double> values;
    std::uint64_t wrong_words{};      // 8-byte words that differ from what was sent
    std::string problem;              // why `values` is incomplete; empty: it is complete
    bool misplaced{};                 // some memory does not lie on the node that it was bound to
    std::vector<model::Param> facts;  // about the memory of both ends, if the flow asks for a kind of memory
};

// Runs this rank's part of the test: the flows that it sends or receives. `number`: a number of its own for each test,
// so that messages of different tests are not mixed up.
[[nodiscard]] std::vector<FlowOutcome> run_link_test(const Comm& comm, const LinkTest& test, int number,
                                                     const LinkSettings& settings);

}  // namespace memsweep::mpi
