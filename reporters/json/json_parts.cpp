#include "reporters/json/json_parts.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

template <typename Enum>
Json json_name(Enum value)
{
    return std::string{model::name_of(value)};
}

Json json_numbers(const std::vector<double>& values)
{
    Json json = Json::array();
    for (const double value : values) {
        json.push_back(json_number(value));
    }
    return json;
}

Json json_values(const std::vector<std::optional<double>>& values)
{
    Json json = Json::array();
    for (const auto& value : values) {
        json.push_back(json_number(value));
    }
    return json;
}

Json json_summary(const model::Summary& summary)
{
    return {{"n", summary.n},
            {"min", json_number(summary.min)},
            {"max", json_number(summary.max)},
            {"mean", json_number(summary.mean)},
            {"median", json_number(summary.median)},
            {"mad", json_number(summary.mad)},
            {"mdape", json_number(summary.mdape)},
            {"stddev", json_number(summary.stddev)},
            {"ci95", json_interval(summary.ci95)},
            {"p05", json_number(summary.p05)},
            {"p95", json_number(summary.p95)},
            {"outliers", summary.outliers}};
}

// Why values are absent; a number that cannot be written has no other reason than that.
Json absence_reason(const model::Metric& metric)
{
    const bool not_finite = std::ranges::any_of(metric.values, [](const auto& v) { return v && !std::isfinite(*v); });
    return metric.reason.empty() && not_finite ? Json("not a finite number") : json_text_or_null(metric.reason);
}

Json json_metric(const model::Metric& metric)
{
    return {{"unit", json_name(metric.unit)},
            {"better", json_name(metric.better)},
            {"class", json_name(metric.metric_class)},
            {"provenance", json_name(metric.provenance)},
            {"values", json_values(metric.values)},
            {"reason", absence_reason(metric)},
            {"summary", metric.summary ? json_summary(*metric.summary) : Json(nullptr)}};
}

Json json_point(const model::Point& point)
{
    return {{"repetition", point.repetition},
            {"name", json_text(point.name)},
            {"t", json_number(point.t)},
            {"live_bytes", json_number(point.live_bytes)},
            {"floating_bytes", json_number(point.floating_bytes)},
            {"working_set", json_number(point.working_set)},
            {"working_set_delta", json_number(point.working_set_delta)},
            {"minor_faults", json_number(point.minor_faults)},
            {"major_faults", json_number(point.major_faults)},
            {"queue_depth", json_number(point.queue_depth)},
            {"pool_idle_bytes", json_number(point.pool_idle_bytes)},
            {"huge_page_bytes", json_number(point.huge_page_bytes)}};
}

Json json_phase(const model::Phase& phase)
{
    Json json{{"repetition", phase.repetition},     {"name", json_text(phase.name)},
              {"start", json_number(phase.start)},  {"end", json_number(phase.end)},
              {"time", json_number(phase.time)},    {"entered", phase.entered},
              {"minor_faults", phase.minor_faults}, {"major_faults", phase.major_faults}};
    const auto add_measured = [&](const char* key, const std::optional<double>& value) {
        if (value) {
            json[key] = json_number(value);
        }
    };
    add_measured("fault_time", phase.fault_time);
    add_measured("allocator_time", phase.allocator_time);
    add_measured("collector_wait_time", phase.collector_wait_time);
    return json;
}

Json json_series(const model::Series& series)
{
    return {{"name", json_text(series.name)},
            {"unit", json_name(series.unit)},
            {"repetition", series.repetition},
            {"t", json_numbers(series.t)},
            {"v", json_numbers(series.v)}};
}

void write_metrics(const std::vector<model::Metric>& metrics, JsonStream& out)
{
    out.key("metrics");
    if (metrics.empty()) {
        out.add(Json::object());
        return;
    }
    out.open_object();
    for (const model::Metric& metric : metrics) {
        out.add(metric.name, json_metric(metric));
    }
    out.close();
}

Json json_outcome(model::AssertionOutcome outcome)
{
    return outcome == model::AssertionOutcome::not_evaluated ? Json{}
                                                             : Json(outcome == model::AssertionOutcome::passed);
}

}  // namespace

Json json_interval(const std::optional<std::array<double, 2>>& interval)
{
    return interval ? Json::array({json_number((*interval)[0]), json_number((*interval)[1])}) : Json(nullptr);
}

Json json_scalar(const model::Scalar& value)
{
    return std::visit(
        [](const auto& v) -> Json {
            using Value = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<Value, std::string>) {
                return json_text(v);
            } else if constexpr (std::is_same_v<Value, double>) {
                return std::isfinite(v) ? Json(v) : json_text(model::to_text(v));
            } else {
                return v;
            }
        },
        value);
}

Json json_params(const std::vector<model::Param>& params)
{
    Json json = Json::object();
    for (const model::Param& param : params) {
        json[repaired_utf8(param.name)] = json_scalar(param.value);
    }
    return json;
}

Json json_warning(const model::Warning& warning)
{
    return {{"code", json_text(warning.code)},
            {"message", json_text(warning.message)},
            {"hint", json_text_or_null(warning.hint)}};
}

Json json_assertion(const model::AssertionResult& assertion)
{
    return {{"case", json_text_or_null(assertion.case_id)},
            {"expr", json_text(assertion.expression)},
            {"where", json_params(assertion.where)},
            {"actual", json_number(assertion.actual)},
            {"unit", json_name(assertion.unit)},
            {"passed", json_outcome(assertion.outcome)},
            {"severity", json_name(assertion.severity)},
            {"reason", json_text_or_null(assertion.reason)}};
}

Json json_release(const model::ReleaseInfo& release)
{
    return {{"mode", json_text(release.mode)},
            {"profile", json_text_or_null(release.profile)},
            {"modelled", release.modelled},
            {"verified", release.verified}};
}

Json json_defect(const model::Defect& defect)
{
    return {{"kind", json_name(defect.kind)},  {"target", json_text(defect.target)},
            {"repetition", defect.repetition}, {"count", defect.count},
            {"bytes", defect.bytes},           {"oldest", json_number(defect.oldest_seconds)}};
}

Json json_allocator(const model::AllocatorInfo& allocator)
{
    Json environment = Json::object();
    for (const auto& [name, value] : allocator.environment) {
        environment[repaired_utf8(name)] = json_text(value);
    }
    Json statistics = nullptr;
    if (!allocator.format.empty()) {
        statistics = Json{{"format", json_text(allocator.format)}, {"text", json_text(allocator.statistics)}};
    }
    return {{"name", json_text(allocator.name)},
            {"library", json_text_or_null(allocator.library)},
            {"environment", std::move(environment)},
            {"statistics", std::move(statistics)}};
}

Json json_trim(const model::TrimHow& how)
{
    return {{"how", json_name(how)},
            {"does", std::string{model::meaning_of(how)}},
            {"contents", json_name(model::contents_after(how))}};
}

Json json_call_times(const model::CallTimes& times)
{
    return {{"call", json_text(times.call)},           {"from", times.from_bytes},         {"to", times.to_bytes},
            {"unit", json_name(model::Unit::seconds)}, {"t", json_numbers(times.seconds)}, {"n", times.counts}};
}

void write_case(const model::CaseReport& report, JsonStream& out)
{
    out.open_object();
    out.add("id", json_text(report.id));
    out.add("scenario", json_text(report.scenario));
    out.add("params", json_params(report.params));
    out.add("status", json_name(report.status));
    out.add("reason", json_text_or_null(report.reason));
    out.add("repetitions", report.repetitions);
    out.add("planned_repetitions", report.planned_repetitions);
    write_metrics(report.metrics, out);
    out.add_list("points", report.points, json_point);
    out.add_list("phases", report.phases, json_phase);
    out.add_list("series", report.series, json_series);
    if (!report.release.mode.empty()) {
        out.add("release", json_release(report.release));
    }
    if (!report.allocator.name.empty()) {
        out.add("allocator", json_allocator(report.allocator));
    }
    if (!report.facts.empty()) {
        out.add("facts", json_params(report.facts));
    }
    if (!report.defects.empty()) {
        out.add_list("defects", report.defects, json_defect);
    }
    if (!report.call_times.empty()) {
        out.add_list("call_times", report.call_times, json_call_times);
    }
    if (report.operation != model::OperationKind::array) {
        out.add("operation", json_name(report.operation));
    }
    if (!report.trims.empty()) {
        out.add_list("trims", report.trims, json_trim);
    }
    out.close();
}

}  // namespace memsweep::reporters
