// What every probe of this machine is given, and how it reports: as cases of a result, one for each thing measured.
//
// Units    bytes, seconds; cases carry one value per sample.
// Errors   none leave a probe: what cannot be measured is a case with its status and reason. skipped: the machine lacks
//          what is needed, or memory for it; failed: wrong data; error: the kernel refused.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/report.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/numa_nodes.hpp"
#include "core/sys/topology.hpp"

namespace memsweep::transfer {

struct ProbeSettings {
    std::optional<std::uint64_t> array_bytes;  // of each array that kernels run over; absent: from the caches measured
    double sample_seconds{0.02};               // at least, of bandwidth; latencies take a third of it
    std::uint32_t samples{7};                  // the least that give the median a 95 % interval and leave one to spare
    std::uint64_t memory_budget_bytes{};       // that may be resident at a time
    std::uint64_t seed{1};
};

struct ProbeContext {
    const sys::Clock& clock;
    ProbeSettings settings;
    std::vector<sys::NumaNode> nodes;      // those to measure, at least one
    std::vector<std::uint32_t> devices{};  // those to measure; empty: all
    std::optional<std::uint32_t> pairs{};  // so many of the pairs of these; absent: all
    bool binds_memory{};                   // the machine has several nodes: memory is bound to one
    sys::CpuTopology topology;
    std::function<void(const std::string&)> tell;  // what is being measured now
    std::function<bool()> stopped;                 // asked between samples
    std::function<bool(const std::string&)> wants{[](const std::string&) { return true; }};  // a case, by its id
};

// The first of these that has processors, and memory; nullptr where none has.
[[nodiscard]] const sys::NumaNode* first_with_cpus(const std::vector<sys::NumaNode>& nodes);
[[nodiscard]] const sys::NumaNode* first_with_memory(const std::vector<sys::NumaNode>& nodes);

[[nodiscard]] model::CaseReport new_case(std::string scenario, std::vector<model::Param> params);

// A metric of the catalog, one value per sample, with its summary.
void set_values(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
void set_fact(model::CaseReport& report, std::string name, model::Scalar value);

void skip(model::CaseReport& report, std::string reason);
void blame(model::CaseReport& report, const base::Error& error);  // skipped or error, by the error's code

// What the kernel says of where memory lies: "every page on node 0 (move_pages)". Wrong: on another node than asked.
struct PlacementProof {
    std::string text;
    bool wrong{};
};
[[nodiscard]] PlacementProof placement_proof(const base::Expected<sys::PagesByNode>& pages,
                                             std::optional<std::uint32_t> asked);

}  // namespace memsweep::transfer
