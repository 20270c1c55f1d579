#include "reporters/json/json_reader.hpp"

#include <utility>

#include "reporters/json/json_document.hpp"
#include "reporters/json/json_reader_parts.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::uint64_t newest_version = 1;

model::AssertionOutcome read_outcome(const Node& node)
{
    using enum model::AssertionOutcome;
    return node.is_null() ? not_evaluated : node.flag() ? passed : failed;
}

model::AssertionResult read_assertion(const Node& node)
{
    model::AssertionResult result;
    result.case_id = node.at("case").text_or_empty();
    result.expression = node.at("expr").text();
    result.actual = node.at("actual").optional_number();
    result.unit = node.at("unit").named<model::Unit>();
    result.outcome = read_outcome(node.at("passed"));
    result.severity = node.at("severity").named<model::Severity>();
    if (node.has("where")) {
        result.where = read_params(node.at("where"));
    }
    result.reason = node.has("reason") ? node.at("reason").text_or_empty() : std::string{};
    return result;
}

// Only a document that says it is a result of a known version is looked into further.
bool is_readable(const Node& root)
{
    if (!root.has("format") || !root.has("format_version")) {
        root.report("no memsweep result: \"format\" and \"format_version\" are missing");
        return false;
    }
    if (const std::string format = root.at("format").text(); format != "memsweep-result") {
        root.report(fmt::format("the format is \"{}\"; expected \"memsweep-result\"", format));
        return false;
    }
    if (const auto version = root.at("format_version").integer<std::uint64_t>();
        version < 1 || version > newest_version) {
        root.report(
            fmt::format("the result has format_version {}; this memsweep reads version {}", version, newest_version));
        return false;
    }
    return true;
}

model::RunReport read_report(const Node& root)
{
    model::RunReport report;
    report.tool = read_tool(root.at("tool"));
    report.run = read_run(root.at("run"));
    report.machine = read_machine(root.at("machine"));
    report.calibration = read_calibration(root);
    report.warnings = read_list(root.at("warnings"), read_warning);
    root.at("cases").for_each_element([](const Node& /*taken out before*/) {});
    report.assertions = read_list(root.at("assertions"), read_assertion);
    return report;
}

}  // namespace

base::Expected<model::RunReport> read_json(std::string_view text, const std::string& where)
{
    auto document = parse_result(text, where);
    if (!document) {
        return base::fail(document.error());
    }
    Problem problem;
    const Node root{document->rest, problem};
    model::RunReport report = is_readable(root) ? read_report(root) : model::RunReport{};
    problem = problem ? problem : document->problem;
    if (problem) {
        return base::fail(base::ErrorCode::invalid_input, *problem, where);
    }
    report.cases = std::move(document->cases);
    return report;
}

}  // namespace memsweep::reporters
