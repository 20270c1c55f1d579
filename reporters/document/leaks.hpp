// The memory that a program holds for each operation that it did, and the call sites that hold it: `run --leaks`.
//
// Units    bytes, blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/measure/leak_growth.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct LeakSite {
    std::string place;               // "parse_row (table.cpp:210)", inert
    std::vector<std::string> stack;  // places, the innermost first, inert
    measure::GrowthPerOperation growth;
    std::vector<measure::HeldAfter> held;  // of every run
};

enum class LeakVerdict : std::uint8_t { none, leak, unsure };

struct LeaksReport {
    std::string command;   // as it was given
    std::string variable;  // the name that stands for the number of operations
    std::vector<std::uint64_t> operations;
    std::uint32_t rounds{};
    bool at_peak{};                      // judges the bytes live at the peak; else those at the end
    LeakSite whole;                      // without a place
    std::vector<LeakSite> sites;         // those that hold more, the most bytes for an operation first
    std::vector<LeakSite> freed_at_end;  // that hold more at the peak, and nothing at the end
    LeakSite mapped;                     // by the program itself, the most at a time, in bytes; without a place
    std::vector<std::string> notes;      // inert
};

[[nodiscard]] LeakVerdict verdict_of(const LeaksReport& report);
[[nodiscard]] std::string_view name_of(LeakVerdict verdict);
// One sentence or two: the answer.
[[nodiscard]] std::string headline_of(const LeaksReport& report);

[[nodiscard]] Document document(const LeaksReport& report);

}  // namespace memsweep::reporters
