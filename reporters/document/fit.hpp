// The capacity that a trace needs, per placement policy: a sentence and the table. A page also has the address space
// over time under each policy, and the growth from run to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/fit.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct PolicyPicture {
    std::string policy;
    trace::AddressPicture picture;
};

struct FitReport {
    std::string trace_name;
    std::uint64_t live_peak{};
    std::uint64_t granted_peak{};  // if no request had been refused
    trace::FitOptions options;
    std::string capacity_text;         // the capacity in `options`, as it was asked for
    std::string memory;                // the memory asked for, as in "device 1"; empty: all of the trace
    std::string sizes;                 // their meaning, if the trace's source says so: "as requested"
    bool is_least{};                   // memory that the trace lacks may need more
    std::vector<std::string> caveats;  // why, and further caveats about the figures
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;  // the one that would have made the live bytes highest
    std::vector<trace::PolicyFit> policies;
    std::vector<PolicyPicture> pictures;  // for a page
};

[[nodiscard]] Document document(const FitReport& report);

}  // namespace memsweep::reporters
