// What capacity a trace needs, per placement policy: a sentence, the table, and in a page the address space over time
// under each policy, and the growth from run to run.
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
    std::uint64_t granted_peak{};  // had no request been refused
    trace::FitOptions options;
    std::string capacity_text;         // the capacity in `options`, as it was asked for
    std::string memory;                // that was asked for, as in "device 1"; empty: all that the trace has
    std::string sizes;                 // what they are, where the trace's source says so: "as requested"
    bool is_least{};                   // what the trace does not have may need more
    std::vector<std::string> caveats;  // why, and what else a reader has to know of the figures
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;  // the one that most would have been live with
    std::vector<trace::PolicyFit> policies;
    std::vector<PolicyPicture> pictures;  // for a page
};

[[nodiscard]] Document document(const FitReport& report);

}  // namespace memsweep::reporters
