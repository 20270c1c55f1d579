// What the tests give to every probe: this machine, short samples, and nobody who listens.
#pragma once

#include <algorithm>
#include <string>

#include "core/probe/probe.hpp"

namespace memsweep::tests {

inline constexpr std::uint64_t mib = 1U << 20;
inline const sys::SystemClock clock_here;

[[nodiscard]] inline probe::ProbeContext context_of(const probe::ProbeSettings& settings)
{
    static const sys::Topology here = *sys::load_topology();
    return {.clock = clock_here,
            .settings = settings,
            .nodes = here.nodes,
            .topology = here,
            .progress = [](const std::string&) {},
            .stopped = [] { return false; }};
}

// A fact of a case as text; "absent" where it has none of this name.
[[nodiscard]] inline std::string fact(const model::CaseReport& report, const std::string& name)
{
    const auto found = std::ranges::find(report.facts, name, &model::Param::name);
    return found == report.facts.end() ? "absent" : model::to_text(found->value);
}

}  // namespace memsweep::tests
