// Limits that a probe is held against, so that it becomes a health check: `memsweep probe --limits FILE`.
// `format: memsweep-limits`, version 1; docs/probe.md describes it.
//
// Errors   as the loader's: all of them at once, `where` = "file:line:col"; an unreadable file is one error with code
//          io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.hpp"
#include "core/model/assertion.hpp"

namespace memsweep::scenarios {

struct ProbeLimit {
    std::string scenario;  // "probe_bandwidth": only its cases; empty: all
    model::Assertion assertion;
    bool optional{};  // holds too where no case that it speaks of was measured
};

using LoadedLimits = tl::expected<std::vector<ProbeLimit>, std::vector<base::Error>>;

[[nodiscard]] LoadedLimits load_limits(const std::string& path);

// The same for text already read; `name` stands for the path.
[[nodiscard]] LoadedLimits load_limits_text(const std::string& name, std::string_view text);

}  // namespace memsweep::scenarios
