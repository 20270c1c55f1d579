// What this machine is, as far as it bears on measured memory costs: recorded in every result.
//
// Units    bytes and counts.
// Sources  /proc and /sys below `root`, one per field, named in machine_facts.cpp; the page size alone comes from
//          sysconf. A fact that the system does not show is "unknown", or what model::Machine says.
// Cost     some 50 small files, a few milliseconds: once a run.
// Errors   none: a fact that cannot be read is a fact less.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/report.hpp"

namespace memsweep::sys {

// Devices and fingerprint are left empty: they are known elsewhere.
[[nodiscard]] model::Machine machine_facts(const std::string& root = "/");

// What can be touched before something is swapped, throttled or killed: MemAvailable, or less where a control group
// over this process allows less (its limit, less what is charged to it and cannot be dropped at once). 0 when unknown.
[[nodiscard]] std::uint64_t available_memory(const std::string& root = "/");

// Of a transparent huge page; 0 when this kernel has none.
[[nodiscard]] std::uint64_t huge_page_bytes(const std::string& root = "/");

}  // namespace memsweep::sys
