#include "app/comparing.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "app/shipped.hpp"
#include "core/measure/likeness.hpp"
#include "scenarios/gate_file.hpp"

namespace memsweep::app {
std::optional<measure::Criteria> gate_criteria(const std::string& gate)
{
    if (gate.empty()) {
        return measure::Criteria{};
    }
    auto loaded = scenarios::load_gate(gate == "-" ? gate : gate_path(gate));
    if (loaded) {
        return *std::move(loaded);
    }
    for (const base::Error& error : loaded.error()) {
        std::fprintf(stderr, "%s\n", base::describe(error).c_str());
    }
    return std::nullopt;
}

base::Expected<measure::Comparison> compare_named(const NamedResult& base, const NamedResult& candidate,
                                                  const measure::Criteria& criteria, bool force)
{
    std::vector<std::string> unlike = measure::differences(*base.report, *candidate.report);
    if (!unlike.empty() && !force) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("not comparable with {}: {}; --force compares them all the same", base.name,
                                      fmt::join(unlike, "; ")),
                          candidate.name);
    }
    auto comparison = measure::compare_reports(*base.report, *candidate.report, criteria);
    if (!comparison) {
        return base::fail(comparison.error().code, comparison.error().message, candidate.name);
    }
    comparison->base.name = base.name;
    comparison->candidate.name = candidate.name;
    comparison->overruled = std::move(unlike);
    return comparison;
}

ExitCode exit_code_of(const measure::Comparison& comparison, bool gate)
{
    switch (measure::outcome(comparison)) {
    case measure::Outcome::regressed:
        return gate ? ExitCode::finding : ExitCode::done;
    case measure::Outcome::no_verdict:
        return ExitCode::no_verdict;
    case measure::Outcome::passed:
        break;
    }
    return ExitCode::done;
}

}  // namespace memsweep::app
