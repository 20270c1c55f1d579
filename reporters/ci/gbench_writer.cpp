#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "core/model/metric_id.hpp"
#include "reporters/ci/benchmark_trackers.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

struct Entry {
    const NamedCase* of_case{};
    std::size_t family{};
    std::size_t instance{};
};

std::optional<double> value_in(const model::Metric& metric, std::size_t repetition)
{
    const std::optional<double> value = repetition < metric.values.size() ? metric.values[repetition] : std::nullopt;
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> value_in(const model::CaseReport& report, std::string_view name, std::size_t repetition)
{
    const model::Metric* metric = model::find_metric(report, name);
    return metric == nullptr ? std::nullopt : value_in(*metric, repetition);
}

bool is_timed(const model::CaseReport& report, std::size_t repetition)
{
    return value_in(report, model::metrics::wall_time, repetition) &&
           value_in(report, model::metrics::cpu_time, repetition);
}

bool has_entries(const model::CaseReport& report)
{
    for (std::size_t repetition = 0; repetition < report.repetitions; ++repetition) {
        if (is_timed(report, repetition)) {
            return true;
        }
    }
    return false;
}

double nanoseconds(double seconds)
{
    return std::round(seconds * 1e12) / 1e3;
}

// A counter is a key of the entry itself: it must not pass for one that the format knows.
std::string counter_key(const model::Metric& metric)
{
    static constexpr auto known = std::to_array<std::string_view>({"aggregate_name",
                                                                   "aggregate_unit",
                                                                   "big_o",
                                                                   "cpu_coefficient",
                                                                   "cpu_time",
                                                                   "error_message",
                                                                   "error_occurred",
                                                                   "family_index",
                                                                   "iterations",
                                                                   "label",
                                                                   "name",
                                                                   "per_family_instance_index",
                                                                   "real_coefficient",
                                                                   "real_time",
                                                                   "repetition_index",
                                                                   "repetitions",
                                                                   "rms",
                                                                   "run_name",
                                                                   "run_type",
                                                                   "skip_message",
                                                                   "skipped",
                                                                   "threads",
                                                                   "time_unit"});
    if (metric.name == model::metrics::bandwidth && metric.unit == model::Unit::bytes_per_second) {
        return "bytes_per_second";
    }
    const std::string key = ascii_name(metric.name);
    return std::ranges::find(known, key) == known.end() ? key : "memsweep_" + key;
}

bool is_time_of_entry(const model::Metric& metric)
{
    return metric.name == model::metrics::wall_time || metric.name == model::metrics::cpu_time;
}

Json entry_json(const Entry& entry, std::size_t repetition)
{
    const model::CaseReport& report = *entry.of_case->report;
    Json json = {{"name", entry.of_case->name},
                 {"family_index", entry.family},
                 {"per_family_instance_index", entry.instance},
                 {"run_name", entry.of_case->name},
                 {"run_type", "iteration"},
                 {"repetitions", report.repetitions},
                 {"repetition_index", repetition},
                 {"threads", 1},
                 {"iterations", 1},
                 {"real_time", nanoseconds(*value_in(report, model::metrics::wall_time, repetition))},
                 {"cpu_time", nanoseconds(*value_in(report, model::metrics::cpu_time, repetition))},
                 {"time_unit", "ns"}};
    for (const model::Metric& metric : report.metrics) {
        const std::optional<double> value = value_in(metric, repetition);
        if (value && !is_time_of_entry(metric)) {
            json[counter_key(metric)] = *value;
        }
    }
    return json;
}

Json skipped_json(const model::RunReport& report)
{
    Json skipped = Json::array();
    for (const model::CaseReport& one : report.cases) {
        if (one.status != model::Status::ok || !has_entries(one)) {
            const std::string reason =
                one.status == model::Status::ok ? "it has no wall_time and cpu_time" : one.reason;
            skipped.push_back({{"name", ascii_name(one.id)}, {"status", one.status}, {"reason", reason}});
        }
    }
    return skipped;
}

// mhz_per_cpu 0 is the format's own word for unknown; caches and loads are not part of a result.
Json context_json(const model::RunReport& report)
{
    const model::Machine& machine = report.machine;
    const std::optional<std::string> date = seconds_part(report.run.started);
    const bool is_release = report.tool.build_type == "Release" && report.tool.sanitizer.empty();
    return {{"date", date ? *date + "+00:00" : std::string{}},
            {"host_name", machine.host},
            {"executable", report.run.argv.empty() ? report.tool.name : report.run.argv.front()},
            {"num_cpus", machine.cores},
            {"mhz_per_cpu", 0},
            {"cpu_scaling_enabled", !machine.governor.empty() && machine.governor != "performance"},
            {"caches", Json::array()},
            {"load_avg", Json::array()},
            {"library_version", report.tool.version},
            {"library_build_type", is_release ? "release" : "debug"},
            {"json_schema_version", 1},
            {"memsweep_run_id", report.run.id},
            {"memsweep_git", report.tool.commit},
            {"memsweep_machine_fingerprint", machine.fingerprint},
            {"memsweep_scenario_fingerprint", report.run.scenario_fingerprint},
            {"memsweep_skipped", skipped_json(report)}};
}

// A family is a scenario, and an instance one of its cases.
std::vector<Entry> entries(const std::vector<NamedCase>& cases)
{
    std::map<std::string_view, std::size_t> families;
    std::map<std::string_view, std::size_t> instances;
    std::vector<Entry> all;
    for (const NamedCase& one : cases) {
        const std::string_view scenario = one.report->scenario;
        const std::size_t family = families.try_emplace(scenario, families.size()).first->second;
        all.push_back({&one, family, instances[scenario]++});
    }
    return all;
}

}  // namespace

void write_gbench(const model::RunReport& report, TextSink& sink)
{
    sink.print("{{\n\"context\": {},\n\"benchmarks\": [", pretty(context_json(report)));
    std::string_view before = "\n";
    const std::vector<NamedCase> cases = named_cases(report);
    for (const Entry& entry : entries(cases)) {
        for (std::size_t repetition = 0; repetition < entry.of_case->report->repetitions; ++repetition) {
            if (is_timed(*entry.of_case->report, repetition)) {
                sink.print("{}{}", before, compact(entry_json(entry, repetition)));
                before = ",\n";
            }
        }
    }
    sink.add("\n]\n}\n");
}

}  // namespace memsweep::reporters
