#include "core/measure/likeness.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/recorded_comparison.hpp"

namespace memsweep::measure {
namespace {

using model::Machine;
using model::RunReport;
using Parts = std::vector<std::string>;

template <typename Value>
void add_if_unlike(Parts& parts, std::string_view what, const Value& base, const Value& candidate)
{
    if (base != candidate) {
        parts.push_back(fmt::format("{} {} against {}", what, base, candidate));
    }
}

std::uint64_t whole_gib(std::uint64_t bytes)
{
    return (bytes + (1ULL << 29)) >> 30;
}

std::string quoted(const std::string& text)
{
    return text.empty() ? std::string{"nothing"} : fmt::format("\"{}\"", text);
}

void add_overrides(Parts& parts, const ScenarioFacts& base, const ScenarioFacts& candidate)
{
    std::set<std::string> names;
    for (const auto* facts : {&base, &candidate}) {
        for (const auto& [name, value] : facts->overrides) {
            if (!name.starts_with(judged_prefix)) {
                names.insert(name);
            }
        }
    }
    const auto value_in = [](const ScenarioFacts& facts, const std::string& name) {
        const auto found = facts.overrides.find(name);
        return found == facts.overrides.end() ? std::string{"as in the file"} : quoted(found->second);
    };
    for (const std::string& name : names) {
        add_if_unlike(parts, name, value_in(base, name), value_in(candidate, name));
    }
}

// The ids that only one of the two has: the first few of them.
Parts only_in(const ScenarioFacts& some, const ScenarioFacts& others)
{
    constexpr std::size_t max_shown = 3;
    Parts found;
    for (const auto& [id, fingerprint] : some.cases) {
        if (!others.cases.contains(id)) {
            found.push_back(id);
        }
    }
    if (found.size() > max_shown) {
        const std::size_t more = found.size() - max_shown;
        found.resize(max_shown);
        found.push_back(fmt::format("{} more", more));
    }
    return found;
}

void add_cases(Parts& parts, const ScenarioFacts& base, const ScenarioFacts& candidate)
{
    if (const Parts only = only_in(base, candidate); !only.empty()) {
        parts.push_back(fmt::format("only the base has {}", fmt::join(only, ", ")));
    }
    if (const Parts only = only_in(candidate, base); !only.empty()) {
        parts.push_back(fmt::format("only the candidate has {}", fmt::join(only, ", ")));
    }
}

// The first of them. Results of before did not say it: `all` also names a file that one of the two does not know.
void add_inputs(Parts& parts, const ScenarioFacts& base, const ScenarioFacts& candidate, bool all)
{
    for (const auto& [id, fingerprint] : base.cases) {
        const auto read_by = [&id](const ScenarioFacts& facts) {
            const auto found = facts.inputs.find(id);
            return found == facts.inputs.end() ? std::string{} : found->second;
        };
        const std::string before = read_by(base);
        const std::string after = read_by(candidate);
        const bool comparable = all ? candidate.cases.contains(id) : !before.empty() && !after.empty();
        if (comparable && before != after) {
            parts.push_back(fmt::format("{} read {} against {}", id, before.empty() ? "nothing that is known" : before,
                                        after.empty() ? "nothing that is known" : after));
            return;
        }
    }
}

// Whether one has some of the other's cases, or both the same and other assertions, and what both have is known to be
// the same. Across machines each may have cases that the other lacks.
bool measure_the_same(const ScenarioFacts& base, const ScenarioFacts& candidate, bool across_machines)
{
    if (!across_machines && base.cases.size() == candidate.cases.size() && base.assertions == candidate.assertions) {
        return false;  // nothing that is told explains why the fingerprints differ
    }
    std::size_t in_both = 0;
    for (const auto& [id, fingerprint] : base.cases) {
        const auto other = candidate.cases.find(id);
        if (other == candidate.cases.end()) {
            continue;
        }
        if (fingerprint.empty() || fingerprint != other->second) {
            return false;
        }
        ++in_both;
    }
    return in_both != 0 && (across_machines || in_both == std::min(base.cases.size(), candidate.cases.size()));
}

std::string short_print(const std::string& fingerprint)
{
    return fingerprint.empty() ? std::string{"none"} : fingerprint.substr(0, 12);
}

}  // namespace

ScenarioFacts scenario_facts(const RunReport& report)
{
    ScenarioFacts facts{report.run.scenario_name, report.run.scenario_fingerprint, {}, report.run.overrides, {}, {}};
    for (const model::CaseReport& one : report.cases) {
        facts.cases.emplace(one.id, one.fingerprint);
        if (const model::Scalar* const input = model::find_value(one.facts, "input")) {
            facts.inputs.emplace(one.id, model::to_text(*input));
        }
    }
    for (const model::AssertionResult& one : report.assertions) {
        std::string written = fmt::format("{} {}", model::name_of(one.severity), one.expression);
        for (const model::Param& param : one.where) {
            written += ' ' + param_text(param);
        }
        facts.assertions.insert(std::move(written));
    }
    return facts;
}

bool is_probe(const RunReport& report)
{
    return report.run.scenario_name.starts_with("probe_");
}

std::string scenario_difference(const ScenarioFacts& base, const ScenarioFacts& candidate, bool across_machines)
{
    Parts parts;
    add_inputs(parts, base, candidate, false);
    if (parts.empty()) {
        if ((base.fingerprint == candidate.fingerprint && !base.fingerprint.empty()) ||
            measure_the_same(base, candidate, across_machines)) {
            return {};
        }
        add_inputs(parts, base, candidate, true);
    }
    add_if_unlike(parts, "scenario", quoted(base.name), quoted(candidate.name));
    add_overrides(parts, base, candidate);
    if (base.name == candidate.name) {
        add_cases(parts, base, candidate);
    }
    if (parts.empty()) {
        parts.emplace_back("the same cases, but other memory, release or steps");
    }
    return fmt::format("the scenarios differ: {} (fingerprint {} against {})", fmt::join(parts, "; "),
                       short_print(base.fingerprint), short_print(candidate.fingerprint));
}

std::string machine_difference(const Machine& base, const Machine& candidate)
{
    if (base.fingerprint == candidate.fingerprint && !base.fingerprint.empty()) {
        return {};
    }
    Parts parts;
    add_if_unlike(parts, "CPU", quoted(base.cpu), quoted(candidate.cpu));
    add_if_unlike(parts, "cores", base.cores, candidate.cores);
    add_if_unlike(parts, "NUMA nodes", base.numa_nodes, candidate.numa_nodes);
    add_if_unlike(parts, "page size", base::exact_size(base.page_size), base::exact_size(candidate.page_size));
    add_if_unlike(parts, "memory in GiB", whole_gib(base.memory_bytes), whole_gib(candidate.memory_bytes));
    add_if_unlike(parts, "devices", quoted(fmt::format("{}", fmt::join(base.devices, ", "))),
                  quoted(fmt::format("{}", fmt::join(candidate.devices, ", "))));
    if (parts.empty()) {
        parts.push_back(fmt::format("fingerprint {} against {}", short_print(base.fingerprint),
                                    short_print(candidate.fingerprint)));
    }
    return fmt::format("the machines differ: {}", fmt::join(parts, "; "));
}

std::vector<std::string> differences(const RunReport& base, const RunReport& candidate)
{
    std::vector<std::string> found{scenario_difference(scenario_facts(base), scenario_facts(candidate)),
                                   machine_difference(base.machine, candidate.machine)};
    std::erase_if(found, [](const std::string& text) { return text.empty(); });
    return found;
}

std::string compared_machines(const RunReport& base, const RunReport& candidate)
{
    if (!is_probe(base) || !is_probe(candidate) || base.machine.fingerprint.empty() ||
        candidate.machine.fingerprint.empty()) {
        return {};
    }
    const std::string difference = machine_difference(base.machine, candidate.machine);
    const bool alike =
        scenario_difference(scenario_facts(base), scenario_facts(candidate), !difference.empty()).empty();
    return alike ? difference : std::string{};
}

std::vector<std::string> setting_differences(const RunReport& base, const RunReport& candidate)
{
    const Machine& a = base.machine;
    const Machine& b = candidate.machine;
    Parts parts;
    add_if_unlike(parts, "memsweep", base.tool.version, candidate.tool.version);
    add_if_unlike(parts, "commit", base.tool.commit, candidate.tool.commit);
    add_if_unlike(parts, "host", a.host, b.host);
    add_if_unlike(parts, "kernel", a.kernel, b.kernel);
    add_if_unlike(parts, "THP", a.thp, b.thp);
    add_if_unlike(parts, "governor", a.governor, b.governor);
    add_if_unlike(parts, "ASLR", a.aslr, b.aslr);
    add_if_unlike(parts, "DAMON", a.damon, b.damon);
    return parts;
}

}  // namespace memsweep::measure
