// Which ranks send to which, one test after the other: every rank computes the same list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

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
    friend bool operator==(const Flow&, const Flow&) = default;
};

// Flows that run at once.
struct LinkTest {
    Pattern pattern{};
    std::vector<Flow> flows;
};

[[nodiscard]] std::vector<LinkTest> link_plan(const std::vector<Pattern>& wanted, int ranks);

}  // namespace memsweep::mpi
