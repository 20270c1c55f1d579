#include "core/measure/findings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/mode_contrast.hpp"
#include "core/measure/placement_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::AssertionResult;
using model::CaseReport;
using model::Status;

// Several cases that say the same thing make one finding.
struct Group {
    std::string what;   // what is the same of all
    std::string first;  // the case shown
    std::string detail;
    std::size_t count{};
};

void add_to(std::vector<Group>& groups, Group one)
{
    const auto found = std::ranges::find(groups, one.what, &Group::what);
    if (found == groups.end()) {
        groups.push_back(std::move(one));
    } else {
        ++found->count;
    }
}

void report_status(const std::vector<CaseReport>& cases, Status status, std::string_view verb, Importance importance,
                   std::vector<Finding>& findings)
{
    std::vector<Group> groups;
    for (const CaseReport& one : cases) {
        if (one.status == status) {
            add_to(groups, {one.reason, one.id, {}, 1});
        }
    }
    for (const Group& group : groups) {
        const std::string reason = group.what.empty() ? std::string{} : ": " + group.what;
        findings.push_back({importance, group.count == 1 ? fmt::format("{} {}{}", group.first, verb, reason)
                                                         : fmt::format("{} cases {}, first {}{}", group.count, verb,
                                                                       group.first, reason)});
    }
}

std::string outcome(const AssertionResult& result)
{
    return result.actual ? fmt::format("it is {}", format_value(result.unit, *result.actual)) : result.reason;
}

std::string assertion_text(const Group& group)
{
    if (group.count > 1) {
        return fmt::format("{} for {} cases, first {} ({})", group.what, group.count, group.first, group.detail);
    }
    return group.first.empty() ? fmt::format("{}: {}", group.what, group.detail)
                               : fmt::format("{} for {}: {}", group.what, group.first, group.detail);
}

void report_assertions(const std::vector<AssertionResult>& results, model::Severity severity, Importance importance,
                       std::vector<Finding>& findings)
{
    std::vector<Group> groups;
    for (const AssertionResult& result : results) {
        if (result.outcome == model::AssertionOutcome::failed && result.severity == severity) {
            const std::string_view verb = result.actual ? "does not hold" : "cannot be judged";
            add_to(groups, {fmt::format("{} {}", result.expression, verb), result.case_id, outcome(result), 1});
        }
    }
    for (const Group& group : groups) {
        findings.push_back({importance, assertion_text(group)});
    }
}

void report_trims(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    for (const auto& how : model::names<model::TrimHow>()) {
        const bool used = std::ranges::any_of(cases, [&](const CaseReport& one) {
            return one.repetitions != 0 && std::ranges::find(one.trims, how.value) != one.trims.end();
        });
        if (used) {
            findings.push_back({Importance::note, fmt::format("trim {}: {}", how.name, how.meaning)});
        }
    }
}

}  // namespace

std::vector<Finding> findings(const model::RunReport& report)
{
    std::vector<Finding> found;
    report_status(report.cases, Status::error, "broke off", Importance::failure, found);
    report_status(report.cases, Status::timeout, "timed out", Importance::failure, found);
    report_status(report.cases, Status::failed, "failed", Importance::failure, found);
    report_assertions(report.assertions, model::Severity::fail, Importance::failure, found);
    report_assertions(report.assertions, model::Severity::warn, Importance::warning, found);
    for (const auto sentences : {probe_sentences, placement_sentences, contrast_sentences}) {
        for (std::string& sentence : sentences(report.cases)) {
            found.push_back({Importance::note, std::move(sentence)});
        }
    }
    report_trims(report.cases, found);
    report_status(report.cases, Status::skipped, "skipped", Importance::note, found);
    return found;
}

}  // namespace memsweep::measure
