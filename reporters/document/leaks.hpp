// The report of `run --leaks`: how much memory a program keeps for each operation, and which call sites keep it.
// Comments below call a text inert if inert_text() (text/escaping.hpp) has made it safe to show in a terminal or a
// page.
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
    std::vector<measure::HeldAfter> held;  // one for each run
};

enum class LeakVerdict : std::uint8_t { none, leak, unsure };

struct LeaksReport {
    std::string command;   // as the user gave it
    std::string variable;  // name in the command that is replaced by the number of operations
    std::vector<std::uint64_t> operations;
    std::uint32_t rounds{};
    bool at_peak{};               // true: judges the bytes live at the peak of each run; false: those live at its end
    LeakSite whole;               // the whole program; its `place` is empty
    std::vector<LeakSite> sites;  // sites that hold more in runs of more operations, most bytes per operation first
    // Sites whose peak grows by the same amount with each operation, but which do not hold more at the end. Empty if
    // `at_peak` is set.
    std::vector<LeakSite> freed_at_end;
    LeakSite mapped;                 // memory that the program maps itself, judged by its peak; its `place` is empty
    std::vector<std::string> notes;  // inert
};

[[nodiscard]] LeakVerdict verdict_of(const LeaksReport& report);
[[nodiscard]] std::string_view name_of(LeakVerdict verdict);
// Returns the answer in one or two sentences.
[[nodiscard]] std::string headline_of(const LeaksReport& report);

[[nodiscard]] Document document(const LeaksReport& report);

}  // namespace memsweep::reporters
