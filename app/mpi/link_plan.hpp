// The list of tests: each says which ranks send to which; the tests run one after the other. Tests come from patterns
// (fixed rules for who sends to whom, such as a ring), or from transfers in scenario files and on the command line.
// Every rank computes the same list.
//
// Each transfer step of a scenario is one test: its transfers run at the same time, and ranks without a transfer wait.
// Each repetition is one sample; the step's "times" says how many messages are sent per sample.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/plan.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::mpi {

enum class Pattern : std::uint8_t { latency, uni, bidirectional, all_to_one, one_to_all, ring };

struct NamedPattern {
    Pattern pattern;
    std::string_view name;
    std::string_view meaning;
};
inline constexpr std::array<NamedPattern, 6> patterns{
    {{Pattern::latency, "latency", "half of a small message's round trip, each pair by itself"},
     {Pattern::uni, "uni", "one direction at a time, each pair by itself"},
     {Pattern::bidirectional, "bidirectional", "both directions at once, each pair by itself"},
     {Pattern::all_to_one, "all-to-one", "all others send to one rank at the same time; each rank receives once"},
     {Pattern::one_to_all, "one-to-all", "one rank sends to all others at the same time; each rank sends once"},
     {Pattern::ring, "ring", "each rank sends to the next, all at the same time"}}};

struct Flow {
    int from{};
    int to{};
    model::TransferEnd src{}, dst{};  // null: ordinary memory
    std::uint64_t bytes{};            // in each message; 0: the command line's value
    std::string part{};               // names the transfer, as "step.number", if the case has several; else empty
    friend bool operator==(const Flow&, const Flow&) = default;
};

// Flows that run at the same time.
struct LinkTest {
    Pattern pattern{};
    std::vector<Flow> flows;
    // What a scenario sets. If `samples`, `messages` or `timeout` is 0, the command line's value is used.
    std::string scenario{};
    std::vector<model::Param> params{};
    std::uint32_t samples{};
    std::uint64_t messages{};            // in each sample; 0: as many as fill the requested time
    std::chrono::nanoseconds timeout{};  // for each sample
    std::string unmet{};                 // why the test is not run; empty: it is run
};

// Returns the tests of the wanted patterns for this number of ranks.
[[nodiscard]] std::vector<LinkTest> link_plan(const std::vector<Pattern>& wanted, int ranks);

// Returns a plan with the transfers of the command line, which all run at the same time. "times" is 0: as many messages
// per sample as fill the time of a sample, just as in the tests of patterns.
[[nodiscard]] model::Plan plan_of(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                  std::uint32_t samples);

// Appends the tests of a plan. If the plan needs a different number of ranks, LinkTest::unmet says so, and the tests
// are not run.
void add_tests(const model::Plan& plan, int ranks, std::vector<LinkTest>& tests);

}  // namespace memsweep::mpi
