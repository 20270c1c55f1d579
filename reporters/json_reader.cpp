#include "reporters/json_reader.hpp"

#include <algorithm>
#include <utility>

#include "reporters/json_reader_parts.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::uint64_t newest_version = 1;
constexpr int deepest_nesting = 32;  // a result needs eight

// Brackets open at once, at most; checked before parsing, since a hostile file may nest a million deep.
int nesting_depth(std::string_view text)
{
    int depth = 0;
    int deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return deepest;
}

// "file:line:column" of the last byte that was read.
std::string place_of(std::string_view text, std::size_t byte, const std::string& where)
{
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return fmt::format("{}:{}:{}", where, line, before.size() - line_start + 1);
}

base::Expected<Json> parse(std::string_view text, const std::string& where)
{
    if (nesting_depth(text) > deepest_nesting) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("nested deeper than {} levels; this is no memsweep result", deepest_nesting),
                          where);
    }
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        return base::fail(base::ErrorCode::invalid_input, "not valid JSON", place_of(text, error.byte, where));
    } catch (const Json::exception& error) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("not valid JSON: {}", error.what()), where);
    }
}

model::Warning read_warning(const Node& node)
{
    return {node.at("code").text(), node.at("message").text(), node.at("hint").text_or_empty()};
}

model::AssertionResult read_assertion(const Node& node)
{
    model::AssertionResult result;
    result.case_id = node.at("case").text_or_empty();
    result.expression = node.at("expr").text();
    result.actual = node.at("actual").optional_number();
    result.unit = node.at("unit").named<model::Unit>();
    result.passed = node.at("passed").flag();
    result.severity = node.at("severity").named<model::Severity>();
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
    report.cases = read_list(root.at("cases"), read_case);
    report.assertions = read_list(root.at("assertions"), read_assertion);
    return report;
}

}  // namespace

base::Expected<model::RunReport> read_json(std::string_view text, const std::string& where)
{
    const auto document = parse(text, where);
    if (!document) {
        return base::fail(document.error());
    }
    Problem problem;
    const Node root{*document, problem};
    model::RunReport report = is_readable(root) ? read_report(root) : model::RunReport{};
    if (problem) {
        return base::fail(base::ErrorCode::invalid_input, *problem, where);
    }
    return report;
}

}  // namespace memsweep::reporters
