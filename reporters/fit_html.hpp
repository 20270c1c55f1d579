// What capacity a trace needs, as a page: the table, the address space over time where a policy has one arena, and the
// growth from run to run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/trace/address_picture.hpp"
#include "reporters/fit_writer.hpp"

namespace memsweep::reporters {

struct PolicyPicture {
    std::string policy;
    trace::AddressPicture picture;
};

// `trace_name` is shown as the title.
[[nodiscard]] std::string to_html(const FitReport& report, const std::string& trace_name,
                                  const std::vector<PolicyPicture>& pictures);

}  // namespace memsweep::reporters
