// Which ranks send to which, one test after the other: by pattern, or as the transfers of scenario files and of the
// command line say. Every rank computes the same list.
//
// Each transfer step is one test: its transfers run at once, and a rank that none of them names waits. A repetition
// is a sample, and sends "times" messages.
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
     {Pattern::all_to_one, "all-to-one", "all others send to one at once, each in its turn"},
     {Pattern::one_to_all, "one-to-all", "one sends to all others at once, each in its turn"},
     {Pattern::ring, "ring", "each sends to the next at once"}}};

struct Flow {
    int from{};
    int to{};
    model::TransferEnd src{}, dst{};  // null: ordinary memory of each end
    std::uint64_t bytes{};            // in each message; 0: as the command line says
    std::string part{};               // which of several transfers of a case: "step.number"
    friend bool operator==(const Flow&, const Flow&) = default;
};

// Flows that run at once.
struct LinkTest {
    Pattern pattern{};
    std::vector<Flow> flows;
    // Set for the test of a scenario. If a value is empty or 0, the command line's is used.
    std::string scenario{};
    std::vector<model::Param> params{};
    std::uint32_t samples{};
    std::uint64_t messages{};            // in each sample; 0: as many as take the wanted time
    std::chrono::nanoseconds timeout{};  // for each sample
    std::string unmet{};                 // why it is not run
};

// The tests of the patterns.
[[nodiscard]] std::vector<LinkTest> link_plan(const std::vector<Pattern>& wanted, int ranks);

// Those of the command line, all at once: no "times", so that a sample takes the time that links take.
[[nodiscard]] model::Plan plan_of(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                  std::uint32_t samples);

// If a plan needs another number of ranks, its tests say so and are not run.
void add_tests(const model::Plan& plan, int ranks, std::vector<LinkTest>& tests);

}  // namespace memsweep::mpi
