// One test between ranks: several flows at once, timed by their senders, every byte of each sample verified.
//
// A sample begins when both ends are ready. It ends when the receiver has said that the last message is there. A first
// sample, which does not count, finds out how many messages take the wanted time. After the clock has stopped, the
// whole last message of each sample is compared with what was sent. Buffers are cleared between samples.
//
// First of all, the ends tell each other what memory they have. So both know where the data lie. If one end has no
// memory, both give its reason as the problem of the flow.
//
// Units    bytes/s. For Pattern::latency: seconds, half a round trip.
// Errors   a flow whose peer does not answer in time says so in `problem`; the others go on.
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
    std::chrono::nanoseconds patience{std::chrono::seconds{10}};  // with a peer, in one test
};

struct FlowOutcome {
    Flow flow;
    std::vector<double> values;
    std::uint64_t wrong_words{};      // 8-byte words that differ from what was sent
    std::string problem;              // why values are lacking
    bool misplaced{};                 // memory does not lie on the node that it was bound to
    std::vector<model::Param> facts;  // about both ends' memory, if the flow names it
};

// Runs the part of this rank: the flows that it sends or receives. `number` keeps the messages of this test apart from
// those of other tests.
[[nodiscard]] std::vector<FlowOutcome> run_link_test(const Comm& comm, const LinkTest& test, int number,
                                                     const LinkSettings& settings);

}  // namespace memsweep::mpi
