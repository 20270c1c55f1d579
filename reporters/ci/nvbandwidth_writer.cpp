#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/table.hpp"
#include "reporters/json/json_members.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using Values = std::vector<std::vector<std::optional<double>>>;

bool is_of_devices(const model::CaseReport& report)
{
    return report.scenario == "probe_device";
}

// The word of nvbandwidth, or "probe_bandwidth/kernel=copy/..." as a word.
std::string test_name(const model::CaseReport& report)
{
    const std::optional<std::string> transfer = measure::value_on(report, "transfer");
    if (is_of_devices(report) && transfer) {
        return *transfer;
    }
    constexpr std::string_view prefix = "probe_";
    std::string name = report.scenario.starts_with(prefix) ? report.scenario.substr(prefix.size()) : report.scenario;
    for (const model::Param& param : report.params) {
        name += fmt::format("_{}_{}", param.name, model::to_text(param.value));
    }
    std::ranges::replace_if(
        name,
        [](char c) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            return !letter && (c < '0' || c > '9');
        },
        '_');
    return name;
}

double in_their_units(double value, model::Unit unit)
{
    constexpr double bytes_per_gigabyte = 1e9;
    constexpr double nanoseconds_per_second = 1e9;
    return unit == model::Unit::seconds            ? value * nanoseconds_per_second
           : unit == model::Unit::bytes_per_second ? value / bytes_per_gigabyte
                                                   : value;
}

std::string_view unit_words(model::Unit unit)
{
    return unit == model::Unit::seconds ? "latency (ns)" : "bandwidth (GB/s)";
}

void set_matrix(Json& test, const std::string& description, const Values& values)
{
    Json matrix = Json::array();
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    std::size_t count = 0;
    for (const auto& row : values) {
        Json line = Json::array();
        for (const std::optional<double>& value : row) {
            line.push_back(value ? fmt::format("{:.6g}", *value) : "N/A");
            if (value) {
                sum += *value;
                least = std::min(least, *value);
                most = std::max(most, *value);
                ++count;
            }
        }
        matrix.push_back(std::move(line));
    }
    test["status"] = "Passed";
    test["bandwidth_description"] = description;
    test["bandwidth_matrix"] = std::move(matrix);
    test["sum"] = sum;
    if (count > 0) {
        test["min"] = least;
        test["max"] = most;
        test["average"] = sum / static_cast<double>(count);
    }
}

const model::Metric* main_metric(const model::CaseReport& report)
{
    constexpr std::array<std::string_view, 3> by_rank{"bandwidth", "latency", "time_per_fault"};
    const bool is_latency =
        report.scenario.find("latency") != std::string::npos || report.scenario == "probe_parallel_loads";
    for (const std::string_view name : by_rank) {
        const model::Metric* const metric = model::find_metric(report, name);
        if (metric != nullptr && metric->summary && !(is_latency && name == "bandwidth")) {
            return metric;
        }
    }
    return nullptr;
}

Json testcase_json(const model::CaseReport& report)
{
    Json test{{"name", test_name(report)}};
    const model::Metric* const metric = main_metric(report);
    if (report.status == model::Status::ok && metric != nullptr) {
        const double value = in_their_units(metric->summary->median, metric->unit);
        set_matrix(test, fmt::format("{} {}", test_name(report), unit_words(metric->unit)), {{value}});
    } else {
        test["status"] = report.status == model::Status::skipped ? "Waived" : "Error";
        test["error"] = report.reason.empty() ? "nothing was measured" : report.reason;
    }
    return test;
}

// Their matrices name the direction of the data in the caption; ours, whose processors and whose memory.
Json matrix_json(const measure::PlaceMatrix& matrix)
{
    Json test{{"name", matrix.name}};
    Values values;
    for (const auto& row : matrix.cells) {
        auto& line = values.emplace_back();
        for (const measure::PlaceMatrix::Cell& cell : row) {
            line.push_back(cell.value ? std::optional{in_their_units(*cell.value, matrix.unit)} : std::nullopt);
        }
    }
    set_matrix(test, fmt::format("{} processors(row), memory(column) {}", matrix.name, unit_words(matrix.unit)),
               values);
    return test;
}

// One test of theirs from our cases of a way: a row for the host or for each device, a column for each device.
Json device_json(const std::vector<const model::CaseReport*>& cases)
{
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    Values values;
    const model::Metric* last = nullptr;
    for (const model::CaseReport* const one : cases) {
        const std::string to = measure::value_on(*one, "to").value_or("");
        const std::string device = measure::value_on(*one, "device").value_or("");
        const std::size_t row = measure::index_of(rows, to.empty() ? std::string{} : device);
        const std::size_t column = measure::index_of(columns, to.empty() ? device : to);
        values.resize(std::max(values.size(), row + 1));
        for (auto& line : values) {
            line.resize(columns.size());
        }
        const model::Metric* const metric = main_metric(*one);
        if (one->status == model::Status::ok && metric != nullptr) {
            values[row][column] = in_their_units(metric->summary->median, metric->unit);
            last = metric;
        }
    }
    if (last == nullptr) {
        const auto worst = std::ranges::find_if(
            cases, [](const auto* one) { return one->status != model::Status::skipped && !one->reason.empty(); });
        return testcase_json(worst == cases.end() ? *cases.front() : **worst);
    }
    Json test{{"name", test_name(*cases.front())}};
    set_matrix(test,
               fmt::format("{} {}(row), {}(column) {}", test_name(*cases.front()),
                           rows.front().empty() ? "all" : listed(rows), listed(columns), unit_words(last->unit)),
               values);
    return test;
}

bool is_of_a_matrix(const model::CaseReport& report)
{
    return measure::value_on(report, measure::cpu_node_param) && measure::value_on(report, measure::mem_node_param);
}

// What the cases of devices say of themselves; nullptr where none does, as without a device or with another runtime.
const model::Scalar* fact_of_devices(const std::vector<model::CaseReport>& cases, std::string_view name)
{
    for (const model::CaseReport& one : cases) {
        const auto found = std::ranges::find(one.facts, name, &model::Param::name);
        if (is_of_devices(one) && found != one.facts.end()) {
            return &found->value;
        }
    }
    return nullptr;
}

}  // namespace

void write_nvbandwidth(const model::RunReport& report, TextSink& sink)
{
    Json tests = Json::array();
    for (const measure::PlaceMatrix& matrix : measure::place_matrices(report.cases)) {
        tests.push_back(matrix_json(matrix));
    }
    for (const model::CaseReport& one : report.cases) {
        if (!is_of_a_matrix(one) && !is_of_devices(one) &&
            (main_metric(one) != nullptr || one.status != model::Status::ok)) {
            tests.push_back(testcase_json(one));
        }
    }
    std::vector<std::string> ways;
    std::vector<std::vector<const model::CaseReport*>> by_way;
    for (const model::CaseReport& one : report.cases) {
        if (is_of_devices(one)) {
            const std::size_t way = measure::index_of(ways, test_name(one));
            by_way.resize(ways.size());
            by_way[way].push_back(&one);
        }
    }
    for (const auto& cases : by_way) {
        tests.push_back(device_json(cases));
    }
    const model::Scalar* const runtime = fact_of_devices(report.cases, "runtime_version");
    const auto* const version = runtime == nullptr ? nullptr : std::get_if<std::int64_t>(runtime);
    const model::Scalar* const driver = fact_of_devices(report.cases, "driver_version");
    Json content{{"version", fmt::format("{} {}", report.tool.name, report.tool.version)},
                 {"git_version", report.tool.commit},
                 {"CUDA Runtime Version", version == nullptr ? 0 : *version},
                 {"Driver Version", driver == nullptr ? "none" : model::to_text(*driver)},
                 {"GPU Device list", report.machine.devices},
                 {"testcases", std::move(tests)}};
    if (!report.warnings.empty()) {
        content["warning"] = report.warnings.front().message;
    }
    sink.add(pretty(Json{{"nvbandwidth", std::move(content)}}) + "\n");
}

}  // namespace memsweep::reporters
