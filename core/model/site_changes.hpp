// The call sites at which two programs allocate differently, found in recorded runs of both programs. `memsweep run
// --against --stacks` records these runs after the rounds of the comparison and adds the sites to the result.
//
// Units    the unit of each metric, for one run; numbers of blocks.
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

// The change of one metric at a site. Changes within the scatter between the runs of either program are not listed.
struct SiteChange {
    std::string site;  // "parse_row (table.cpp:210)"; with the candidate's line number if the candidate has the site
    std::vector<std::string> through;  // functions that allocate for the site, such as xmalloc; innermost first
    std::vector<std::string> callers;  // the site's callers in the call stack that changed most; innermost first
    SiteIn in{};
    double base{}, candidate{};  // medians of the runs
    double change{};             // candidate - base
    double scatter{};  // largest minus smallest value of the runs of one program, for the program where this is larger
    std::optional<double> share;  // `change` divided by the whole program's change; empty: that change is 0
    // Change in the number of live blocks at the moment that the metric is about; empty: the metric is about the whole
    // run.
    std::optional<double> blocks{};
};

struct MetricSites {
    std::string metric;
    Unit unit{};
    double base{}, candidate{}, change{};  // of the whole programs
    std::vector<SiteChange> sites;         // by `share`, largest first; without shares: by the size of the change
    std::uint64_t more_sites{};            // number of further sites that differ, which are not listed
    double more_change{};                  // their changes added up
};

struct SiteComparison {
    std::string base_case, candidate_case;  // ids
    std::uint32_t runs{};                   // recorded runs of each program
    bool varies{};                          // at some call stack, values differ between runs of the same program
    std::string reason;                     // why the sites were not compared; empty: they were
    std::vector<std::string> notes;         // reasons why some sites could not be distinguished
    std::vector<MetricSites> metrics;       // metrics in which at least one site differs
};

}  // namespace memsweep::model
