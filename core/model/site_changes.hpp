// The call sites in which two programs differ, by recorded runs of both after rounds of a comparison. `run --against
// --stacks` adds this to a result.
//
// Units    those of each metric, of one run; blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "core/model/names.hpp"

namespace memsweep::model {

enum class SiteIn : std::uint8_t { both, base, candidate };

template <>
inline constexpr auto name_table<SiteIn> = std::to_array<Named<SiteIn>>({
    {SiteIn::both, "both", "both programs have it"},
    {SiteIn::base, "base", "it is gone"},
    {SiteIn::candidate, "candidate", "it is new"},
});

// The change of one metric at a site, which is larger than the scatter of the runs of either program.
struct SiteChange {
    std::string site;                  // "parse_row (table.cpp:210)" of the candidate, or of the base if it is gone
    std::vector<std::string> through;  // functions that ask for memory on its behalf, such as xmalloc, innermost first
    std::vector<std::string> callers;  // of the stack that changes most, the innermost first
    SiteIn in{};
    double base{}, candidate{};      // medians of the runs
    double change{};                 // candidate - base
    double scatter{};                // the widest range of the runs of one program
    std::optional<double> share;     // of the metric's change; empty: the whole did not change
    std::optional<double> blocks{};  // that are live then, candidate - base
};

struct MetricSites {
    std::string metric;
    Unit unit{};
    double base{}, candidate{}, change{};  // of the whole programs
    std::vector<SiteChange> sites;         // the one with the largest change first
    std::uint64_t more_sites{};            // that differ, too, and are left out
    double more_change{};
};

struct SiteComparison {
    std::string base_case, candidate_case;  // ids
    std::uint32_t runs{};                   // of each program, recorded
    bool varies{};                          // some site differs between runs of one program
    std::string reason;                     // why no site is named; empty: they were compared
    std::vector<std::string> notes;         // further reasons why sites could not be told apart
    std::vector<MetricSites> metrics;       // those in which a site differs
};

}  // namespace memsweep::model
