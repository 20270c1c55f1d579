#include "reporters/json_reader_parts.hpp"

#include <utility>

namespace memsweep::reporters {
namespace {

std::optional<std::array<double, 2>> read_interval(const Node& node)
{
    if (node.is_null()) {
        return std::nullopt;
    }
    const std::vector<double> ends = read_list(node, [](const Node& end) { return end.number(); });
    if (ends.size() != 2) {
        node.report("an interval has two ends");
        return std::nullopt;
    }
    return std::array{ends[0], ends[1]};
}

std::optional<model::Summary> read_summary(const Node& node)
{
    if (node.is_null()) {
        return std::nullopt;
    }
    model::Summary summary;
    summary.n = node.at("n").integer<std::uint64_t>();
    summary.min = node.at("min").number();
    summary.max = node.at("max").number();
    summary.mean = node.at("mean").number();
    summary.median = node.at("median").number();
    summary.mad = node.at("mad").number();
    summary.mdape = node.at("mdape").optional_number();
    summary.stddev = node.at("stddev").optional_number();
    summary.ci95 = read_interval(node.at("ci95"));
    summary.p05 = node.at("p05").optional_number();
    summary.p95 = node.at("p95").optional_number();
    summary.outliers = node.at("outliers").integer<std::uint64_t>();
    return summary;
}

model::Metric read_metric(const std::string& name, const Node& node)
{
    model::Metric metric;
    metric.name = name;
    metric.unit = node.at("unit").named<model::Unit>();
    metric.better = node.at("better").named<model::Better>();
    metric.metric_class = node.at("class").named<model::MetricClass>();
    metric.provenance = node.at("provenance").named<model::Provenance>();
    metric.values = read_list(node.at("values"), [](const Node& value) { return value.optional_number(); });
    metric.reason = node.has("reason") ? node.at("reason").text_or_empty() : std::string{};
    metric.summary = read_summary(node.at("summary"));
    return metric;
}

std::optional<double> number_if_there(const Node& node, std::string_view key)
{
    return node.has(key) ? node.at(key).optional_number() : std::nullopt;
}

// Of a point only its place is required: what was not measured there may be null or missing.
model::Point read_point(const Node& node)
{
    model::Point point;
    point.repetition = node.at("repetition").integer<std::uint32_t>();
    point.name = node.at("name").text();
    point.t = node.at("t").number();
    point.live_bytes = number_if_there(node, "live_bytes");
    point.floating_bytes = number_if_there(node, "floating_bytes");
    point.working_set = number_if_there(node, "working_set");
    point.working_set_delta = number_if_there(node, "working_set_delta");
    point.minor_faults = number_if_there(node, "minor_faults");
    point.major_faults = number_if_there(node, "major_faults");
    point.queue_depth = number_if_there(node, "queue_depth");
    point.pool_idle_bytes = number_if_there(node, "pool_idle_bytes");
    point.huge_page_bytes = number_if_there(node, "huge_page_bytes");
    return point;
}

model::Phase read_phase(const Node& node)
{
    model::Phase phase;
    phase.repetition = node.at("repetition").integer<std::uint32_t>();
    phase.name = node.at("name").text();
    phase.start = node.at("start").number();
    phase.end = node.at("end").number();
    phase.time = node.has("time") ? node.at("time").number() : phase.end - phase.start;
    phase.entered = node.has("entered") ? node.at("entered").integer<std::uint64_t>() : 1;
    phase.minor_faults = node.at("minor_faults").integer<std::uint64_t>();
    phase.major_faults = node.at("major_faults").integer<std::uint64_t>();
    return phase;
}

model::Series read_series(const Node& node)
{
    const auto number = [](const Node& value) { return value.number(); };
    model::Series series;
    series.name = node.at("name").text();
    series.unit = node.at("unit").named<model::Unit>();
    series.repetition = node.at("repetition").integer<std::uint32_t>();
    series.t = read_list(node.at("t"), number);
    series.v = read_list(node.at("v"), number);
    if (series.t.size() != series.v.size()) {
        node.report(fmt::format("{} times but {} values", series.t.size(), series.v.size()));
    }
    return series;
}

model::ReleaseInfo read_release(const Node& node)
{
    return {node.at("mode").text(), node.at("profile").text_or_empty(), node.at("modelled").flag(),
            node.at("verified").flag()};
}

model::Defect read_defect(const Node& node)
{
    model::Defect defect;
    defect.kind = node.at("kind").named<model::DefectKind>();
    defect.target = node.at("target").text();
    defect.repetition = node.at("repetition").integer<std::uint32_t>();
    defect.count = node.at("count").integer<std::uint64_t>();
    defect.bytes = node.at("bytes").integer<std::uint64_t>();
    defect.oldest_seconds = node.at("oldest").number();
    return defect;
}

}  // namespace

model::CaseReport read_case(const Node& node)
{
    model::CaseReport report;
    report.id = node.at("id").text();
    report.scenario = node.at("scenario").text();
    node.at("params").for_each_member([&](const std::string& name, const Node& value) {
        report.params.push_back({name, value.scalar()});
    });
    report.status = node.at("status").named<model::Status>();
    report.reason = node.at("reason").text_or_empty();
    report.repetitions = node.at("repetitions").integer<std::uint32_t>();
    report.planned_repetitions =
        node.has("planned_repetitions") ? node.at("planned_repetitions").integer<std::uint32_t>() : report.repetitions;
    node.at("metrics").for_each_member(
        [&](const std::string& name, const Node& metric) { report.metrics.push_back(read_metric(name, metric)); });
    report.points = read_list(node.at("points"), read_point);
    report.phases = read_list(node.at("phases"), read_phase);
    report.series = read_list(node.at("series"), read_series);
    if (node.has("release")) {
        report.release = read_release(node.at("release"));
    }
    if (node.has("defects")) {
        report.defects = read_list(node.at("defects"), read_defect);
    }
    return report;
}

}  // namespace memsweep::reporters
