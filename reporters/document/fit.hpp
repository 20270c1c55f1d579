// The capacity that a trace needs under each placement policy: a sentence and a table. A page also shows the address
// space over time under each policy, and the growth from run to run.
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
    std::uint64_t granted_peak{};  // what `live_peak` would be if no request had been refused
    trace::FitOptions options;
    std::string capacity_text;         // the capacity in `options`, as the user wrote it
    std::string memory;                // the memory to fit, as in "device 1"; empty: all memory of the trace
    std::string sizes;                 // meaning of the sizes, if the trace's source states it: "as requested"
    bool is_least{};                   // more may be needed than the report says, because the trace lacks some memory
    std::vector<std::string> caveats;  // why more may be needed, and other doubts about the report
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;  // the refused request that would have raised the live bytes highest
    std::vector<trace::PolicyFit> policies;
    std::vector<PolicyPicture> pictures;  // for a page
};

[[nodiscard]] Document document(const FitReport& report);

}  // namespace memsweep::reporters
