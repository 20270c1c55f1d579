#include "app/mpi/journal.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.hpp"
#include "app/commands/probing.hpp"
#include "app/commands/results.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/assertions.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/fleet.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_case.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/json/result_json.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::mpi {
namespace {

constexpr std::string_view scenario = "mpi_link";

std::string_view name_of(Pattern pattern)
{
    return std::ranges::find(patterns, pattern, &NamedPattern::pattern)->name;
}

std::string message_text(const MpiOptions& options, Pattern pattern)
{
    const std::size_t bytes = pattern == Pattern::latency ? options.link.latency_bytes : options.link.bytes;
    return base::exact_size(bytes);
}

// What decides which cases there are: runs that differ in it cannot go on with each other's results.
std::string fingerprint(const MpiOptions& options, const Comm& comm)
{
    std::string text = "memsweep-mpi-1";
    for (const std::string& word : options.own.what) {
        text += "\nown " + word;
    }
    for (const Pattern pattern : options.patterns) {
        text += fmt::format("\nlink {}", name_of(pattern));
    }
    for (const model::Plan& plan : options.plans) {
        text += fmt::format("\nplan {} {} {}", plan.name, plan.settings.repetitions, plan.fingerprint);
    }
    for (int rank = 0; rank < comm.size(); ++rank) {
        text += "\nrank " + comm.name(rank);
    }
    return scenarios::sha256(fmt::format("{}\n{}\n{}\n{}", text, options.own.filter, options.link.bytes,
                                         options.own.array_bytes.value_or(0)));
}

void replace(std::vector<model::CaseReport>& cases, model::CaseReport added)
{
    const auto found = std::ranges::find(cases, added.id, &model::CaseReport::id);
    if (found == cases.end()) {
        cases.push_back(std::move(added));
    } else {
        *found = std::move(added);
    }
}

bool is_link(const model::CaseReport& one)
{
    return one.scenario == scenario || measure::value_on(one, measure::from_host_param).has_value();
}

// A rank that this run lacks has no host.
std::string host_of(const Comm& comm, int rank)
{
    return rank < comm.size() ? comm.name(rank) : fmt::format("rank{}", rank);
}

}  // namespace

base::Expected<Journal> Journal::open(const MpiOptions& options, const Comm& comm)
{
    Journal journal{options, comm};
    model::RunReport& report = journal.report_;
    report = app::new_report(app::this_machine(), options.global.argv, options.own.tags);
    report.run.isolation = model::Isolation::none;
    report.run.scenario_name = "mpi";
    report.run.scenario_description = "Many hosts measured in step, and the links between them.";
    report.run.scenario_fingerprint = fingerprint(options, comm);
    report.run.scenario_sha256 = report.run.scenario_fingerprint;
    report.run.placement->launcher = "mpi";
    report.run.placement->nodes = fmt::format("{}", fmt::join(comm.hosts(), ","));
    report.run.placement->rank = static_cast<std::uint32_t>(comm.rank());
    report.run.placement->ranks = static_cast<std::uint32_t>(comm.size());
    report.run.id = fmt::format("{}-mpi-{}-r{}", report.run.started, measure::host_name(report), comm.rank());
    if (auto shared = app::shared_path(options.out, *report.run.placement)) {
        return base::fail(*std::move(shared));
    }
    journal.path_ = MEMSWEEP_TRY(app::expand_path(options.out, {report.machine.host, "mpi", report.run.started}));
    if (options.resume && std::filesystem::exists(journal.path_)) {
        model::RunReport earlier = MEMSWEEP_TRY(app::read_result(journal.path_));
        if (earlier.run.scenario_fingerprint != report.run.scenario_fingerprint) {
            return app::refuse("was measured by other ranks or with other options; --resume needs the same",
                               journal.path_);
        }
        report.run.id = earlier.run.id;
        report.run.started = earlier.run.started;
        report.cases = std::move(earlier.cases);
        std::erase_if(report.cases,
                      [](const model::CaseReport& one) { return is_link(one) && one.status != model::Status::ok; });
        journal.has_own_ = !std::ranges::all_of(report.cases, is_link);
    }
    return journal;
}

model::CaseReport Journal::link_case(const LinkTest& test, const Flow& flow) const
{
    std::vector<model::Param> params = test.params;
    params.push_back({std::string{measure::from_host_param}, host_of(*comm_, flow.from)});
    params.push_back({std::string{measure::to_host_param}, host_of(*comm_, flow.to)});
    const bool is_pattern = test.scenario.empty();
    params.push_back({"message", is_pattern ? message_text(*options_, test.pattern) : base::exact_size(flow.bytes)});
    if (is_pattern) {
        params.push_back({"pattern", std::string{name_of(test.pattern)}});
    } else {
        params.push_back({"transfer", fmt::format("{} -> {}", model::to_text(flow.src), model::to_text(flow.dst))});
    }
    if (!flow.part.empty()) {
        params.push_back({"part", flow.part});
    }
    model::CaseReport one = probe::new_case(is_pattern ? std::string{scenario} : test.scenario, std::move(params));
    one.planned_repetitions = is_pattern ? options_->link.samples : test.samples;
    return one;
}

std::set<std::size_t> Journal::held(const std::vector<LinkTest>& plan) const
{
    std::set<std::string> measured;
    for (const model::CaseReport& one : report_.cases) {
        if (one.status == model::Status::ok) {
            measured.insert(one.id);
        }
    }
    std::set<std::size_t> numbers;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const bool all = std::ranges::all_of(plan[i].flows, [&](const Flow& flow) {
            return flow.from != comm_->rank() || measured.contains(link_case(plan[i], flow).id);
        });
        if (all) {
            numbers.insert(i);
        }
    }
    return numbers;
}

void Journal::add_own(const model::RunReport& measured)
{
    for (const model::CaseReport& one : measured.cases) {
        replace(report_.cases, one);
    }
    has_own_ = true;
}

void Journal::add_links(const LinkTest& test, const std::vector<FlowOutcome>& outcomes)
{
    for (const FlowOutcome& outcome : outcomes) {
        model::CaseReport one = link_case(test, outcome.flow);
        one.facts = outcome.facts;
        if (!outcome.problem.empty()) {
            probe::skip(one, outcome.problem);
        } else {
            if (!test.scenario.empty()) {
                const double bytes = static_cast<double>(outcome.wrong_words * sizeof(std::uint64_t));
                probe::set_values(one, model::metrics::transfer_wrong_bytes, {bytes});
            }
            if (test.messages != 0) {
                const double bytes = static_cast<double>(test.messages * outcome.flow.bytes);
                probe::set_values(one, model::metrics::transferred_bytes,
                                  std::vector<double>(outcome.values.size(), bytes));
            }
            probe::set_values(one,
                              test.pattern == Pattern::latency ? model::metrics::latency : model::metrics::bandwidth,
                              outcome.values);
        }
        if (outcome.misplaced) {
            one.status = model::Status::failed;
            one.reason = "memory is not where it was bound to";
        }
        if (outcome.wrong_words > 0) {
            one.status = model::Status::failed;
            one.reason = fmt::format("wrong data: {} words of 8 bytes are not what was sent", outcome.wrong_words);
        }
        replace(report_.cases, std::move(one));
    }
}

void Journal::add_unmet(const LinkTest& test)
{
    for (const Flow& flow : test.flows) {
        model::CaseReport one = link_case(test, flow);
        probe::skip(one, test.unmet);
        replace(report_.cases, std::move(one));
    }
}

void Journal::judge()
{
    report_.assertions.clear();
    for (const model::Plan& plan : options_->plans) {
        std::vector<model::CaseReport> cases;
        std::ranges::copy_if(report_.cases, std::back_inserter(cases),
                             [&](const model::CaseReport& one) { return one.scenario == plan.name; });
        std::ranges::move(measure::evaluate(plan.assertions, cases), std::back_inserter(report_.assertions));
    }
}

// Its best link, sending and receiving apart. In a ring each has but one peer, whose fault may be all there is to see.
void Journal::add_host_figures()
{
    std::map<std::pair<std::string, std::string>, model::Metric> best;  // by direction and pattern
    const std::string& own = comm_->name(comm_->rank());
    for (const model::CaseReport& one : report_.cases) {
        const std::string from = measure::value_on(one, measure::from_host_param).value_or("");
        if (one.scenario == scenario && one.status == model::Status::ok && !from.empty() && !one.metrics.empty() &&
            one.metrics.front().summary) {
            const model::Metric& metric = one.metrics.front();
            const auto [known, is_first] = best.try_emplace(
                {from == own ? "send" : "receive", measure::value_on(one, "pattern").value_or("")}, metric);
            const double before = known->second.summary->median;
            const double now = metric.summary->median;
            if (!is_first && (metric.better == model::Better::lower ? now < before : now > before)) {
                known->second = metric;
            }
        }
    }
    for (const auto& [key, metric] : best) {
        const auto& [direction, name] = key;
        const Pattern pattern = std::ranges::find(patterns, name, &NamedPattern::name)->pattern;
        if (pattern == Pattern::ring) {
            continue;
        }
        model::CaseReport one = probe::new_case(
            std::string{scenario},
            {{"direction", direction}, {"message", message_text(*options_, pattern)}, {"pattern", name}});
        one.metrics.push_back(metric);
        one.repetitions = one.planned_repetitions = static_cast<std::uint32_t>(metric.values.size());
        replace(report_.cases, std::move(one));
    }
}

std::string Journal::text() const
{
    return reporters::to_json(report_);
}

void Journal::write(bool finished)
{
    add_host_figures();
    judge();
    report_.run.ended = sys::utc_now();
    report_.run.interrupted = !finished;
    static_cast<void>(app::settled(sys::write_file_atomically(path_, text())));
}

}  // namespace memsweep::mpi
