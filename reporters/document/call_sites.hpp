// Shows which call sites, functions, files, threads or sizes allocate in a trace, each with its share of the memory.
//
// Ownership  a report points to its sites.
#pragma once

#include <cstddef>
#include <string>

#include "core/trace/symbols/call_sites.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct CallSitesReport {
    const trace::CallSites* sites{};
    std::string source;  // the recorded command, or the trace's file
    std::size_t top{};   // how many sites the report names; 0: all
    trace::Damage damage;
    std::vector<std::string> gaps{};  // what the trace lacks, from gaps_of()
    std::string up_to{};              // sign that the work ended; later events are not counted; empty: all are
};

// Names a site: "parse_row (table.cpp:210)", "thread 7 of process 5", "64 B". The name may hold control characters, so
// the caller must pass it through inert_text() (text/escaping.hpp) before showing it.
[[nodiscard]] std::string site_label(const trace::CallSite& site, trace::SiteKind kind);
[[nodiscard]] std::string place_label(const trace::ResolvedFrame& frame);
[[nodiscard]] std::size_t named_sites(const CallSitesReport& report);

[[nodiscard]] Document document(const CallSitesReport& report);

}  // namespace memsweep::reporters
