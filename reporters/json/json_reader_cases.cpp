#include "reporters/json/json_reader_parts.hpp"

#include <utility>

namespace memsweep::reporters {
namespace {

// A list whose elements have been read before: there is nothing left of it but itself.
void check_list(const Node& node)
{
    node.for_each_element([](const Node& /*element*/) {});
}

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

}  // namespace

model::Metric read_metric(const std::string& name, const Node& node, std::vector<std::optional<double>> values)
{
    model::Metric metric;
    metric.name = name;
    metric.unit = node.at("unit").named<model::Unit>();
    metric.better = node.at("better").named<model::Better>();
    metric.metric_class = node.at("class").named<model::MetricClass>();
    metric.provenance = node.at("provenance").named<model::Provenance>();
    check_list(node.at("values"));
    metric.values = std::move(values);
    metric.reason = node.has("reason") ? node.at("reason").text_or_empty() : std::string{};
    metric.summary = read_summary(node.at("summary"));
    return metric;
}

namespace {

std::optional<double> number_if_there(const Node& node, std::string_view key)
{
    return node.has(key) ? node.at(key).optional_number() : std::nullopt;
}

}  // namespace

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
    phase.fault_time = number_if_there(node, "fault_time");
    phase.allocator_time = number_if_there(node, "allocator_time");
    phase.collector_wait_time = number_if_there(node, "collector_wait_time");
    return phase;
}

model::Series read_series(const Node& node, model::Series numbers)
{
    model::Series series = std::move(numbers);
    series.name = node.at("name").text();
    series.unit = node.at("unit").named<model::Unit>();
    series.repetition = node.at("repetition").integer<std::uint32_t>();
    check_list(node.at("t"));
    check_list(node.at("v"));
    if (series.t.size() != series.v.size()) {
        node.report(fmt::format("{} times but {} values", series.t.size(), series.v.size()));
    }
    return series;
}

namespace {

model::ReleaseInfo read_release(const Node& node)
{
    return {node.at("mode").text(), node.at("profile").text_or_empty(), node.at("modelled").flag(),
            node.at("verified").flag()};
}

model::AllocatorInfo read_allocator(const Node& node)
{
    model::AllocatorInfo allocator;
    allocator.name = node.at("name").text();
    allocator.library = node.at("library").text_or_empty();
    node.at("environment").for_each_member([&](const std::string& name, const Node& value) {
        allocator.environment.emplace_back(name, value.text());
    });
    if (const Node statistics = node.at("statistics"); !statistics.is_null()) {
        allocator.format = statistics.at("format").text();
        allocator.statistics = statistics.at("text").text();
    }
    return allocator;
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

model::CallTimes read_call_times(const Node& node)
{
    model::CallTimes times;
    times.call = node.at("call").text();
    times.from_bytes = node.at("from").integer<std::uint64_t>();
    times.to_bytes = node.at("to").integer<std::uint64_t>();
    times.seconds = read_list(node.at("t"), [](const Node& edge) { return edge.number(); });
    times.counts = read_list(node.at("n"), [](const Node& count) { return count.integer<std::uint64_t>(); });
    if (times.seconds.size() != times.counts.size()) {
        node.report(fmt::format("{} times but {} counts", times.seconds.size(), times.counts.size()));
    }
    return times;
}

}  // namespace

std::vector<model::Param> read_params(const Node& node)
{
    std::vector<model::Param> params;
    node.for_each_member([&](const std::string& name, const Node& value) { params.push_back({name, value.scalar()}); });
    return params;
}

model::CaseReport read_case(const Node& node, model::CaseReport parts)
{
    model::CaseReport report = std::move(parts);
    report.id = node.at("id").text();
    report.scenario = node.at("scenario").text();
    report.params = read_params(node.at("params"));
    report.status = node.at("status").named<model::Status>();
    report.reason = node.at("reason").text_or_empty();
    report.repetitions = node.at("repetitions").integer<std::uint32_t>();
    report.planned_repetitions =
        node.has("planned_repetitions") ? node.at("planned_repetitions").integer<std::uint32_t>() : report.repetitions;
    node.at("metrics").for_each_member([&](const std::string& name, const Node& metric) {
        static_cast<void>(read_metric(name, metric, {}));  // what has not been taken out is no metric
    });
    for (const std::string_view list : {"points", "phases", "series"}) {
        check_list(node.at(list));
    }
    if (node.has("release")) {
        report.release = read_release(node.at("release"));
    }
    if (node.has("allocator")) {
        report.allocator = read_allocator(node.at("allocator"));
    }
    if (node.has("facts")) {
        report.facts = read_params(node.at("facts"));
    }
    if (node.has("defects")) {
        report.defects = read_list(node.at("defects"), read_defect);
    }
    if (node.has("call_times")) {
        report.call_times = read_list(node.at("call_times"), read_call_times);
    }
    if (node.has("operation")) {
        report.operation = node.at("operation").named<model::OperationKind>();
    }
    if (node.has("trims")) {
        report.trims =
            read_list(node.at("trims"), [](const Node& trim) { return trim.at("how").named<model::TrimHow>(); });
    }
    return report;
}

}  // namespace memsweep::reporters
