// What capacity a trace needs, per placement policy: a sentence, the table, and in a page the address space over time
// under each policy, and the growth from run to run.
#pragma once

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
    trace::FitOptions options;
    std::vector<trace::PolicyFit> policies;
    std::vector<PolicyPicture> pictures;  // for a page
};

[[nodiscard]] Document document(const FitReport& report, const Audience& audience);

}  // namespace memsweep::reporters
