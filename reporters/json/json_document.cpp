#include "reporters/json/json_document.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/quantity.hpp"
#include "reporters/json/result_members.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr int deepest_nesting = 32;  // a result needs eight
// The most parameters of a case: a scenario has 16 axes, and replays, probes and programs bring a few. Each becomes a
// column of tables.
constexpr std::size_t most_params = 256;

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

// `report` has the case's metrics, points, phases and series as far as they have been taken out of `node` before.
void read_case(const JsonNode& node, model::CaseReport& report)
{
    const MemberReader io{node};
    io("id", report.id);
    io("scenario", report.scenario);
    io("params", report.params);
    if (report.params.size() > most_params) {
        node.at("params").report(fmt::format("more than {}: no case has as many", most_params));
    }
    io("status", report.status);
    io("reason", report.reason, member::nullable);
    io("repetitions", report.repetitions);
    io.with_default("planned_repetitions", report.planned_repetitions, [&] { return report.repetitions; });
    io("fingerprint", report.fingerprint, member::added);
    io("command", report.command, member::added);
    node.at("metrics").for_each_member([](const std::string& /*name*/, const JsonNode& metric) {
        static_cast<void>(read_value<model::Metric>(metric));  // what has not been taken out is no metric
    });
    io.taken_out("points", report.points);
    io.taken_out("phases", report.phases);
    io.taken_out("series", report.series);
    io("release", report.release, member::added);
    io("allocator", report.allocator, member::added);
    io("facts", report.facts, member::added);
    io("names", report.names, member::added);
    io("defects", report.defects, member::added);
    io("call_times", report.call_times, member::added);
    io("operation", report.operation, member::added);
    if (node.has("trims")) {
        node.at("trims").for_each_element(
            [&](const JsonNode& trim) { report.trims.push_back(trim.at("how").named<model::TrimHow>()); });
    }
}

// Takes out cases, and of a case its points, phases, curves and metrics; of these the numbers, whose lists may be the
// longest.
class ResultReader : public JsonBuilder {
  public:
    using JsonBuilder::JsonBuilder;

    ResultDocument finish()
    {
        document_.rest = whole();
        return std::move(document_);
    }

  private:
    void meet_key() override
    {
        if (levels().back().is_repeated && !document_.problem) {
            document_.problem = place() + ": given twice";
        }
    }

    bool take(const Json& value) override
    {
        if (!is_in_cases()) {
            return levels().size() == 1 && is_derived(levels()[0].key);
        }
        if (document_.problem) {
            return true;  // the document is refused: nothing more of it is kept
        }
        switch (levels().size()) {
        case 2:
            read_case(node(value), document_.cases.emplace_back(std::exchange(parts_, {})));
            return true;
        case 4:
            return levels()[3].container.is_array() ? take_element(levels()[2].key, value)
                                                    : levels()[2].key == "metrics" && take_metric(value);
        case 6:
            return levels()[5].container.is_array() && take_number(levels()[2].key, levels()[4].key, value);
        default:
            return false;
        }
    }

    // What a result or a fleet says again of its cases, for other programs: it is not read.
    static bool is_derived(std::string_view key)
    {
        return key == "contrasts" || key == "findings" || key == "finding_values" || key == "judgement";
    }

    [[nodiscard]] bool is_in_cases() const
    {
        return levels().size() > 1 && levels()[0].key == "cases" && levels()[1].container.is_array();
    }

    bool take_element(std::string_view list, const Json& value)
    {
        if (list == "points") {
            parts_.points.push_back(read_value<model::Point>(node(value)));
        } else if (list == "phases") {
            parts_.phases.push_back(read_value<model::Phase>(node(value)));
        } else if (list == "series") {
            MemberReader::read(node(value), parts_.series.emplace_back(std::exchange(series_, {})), {});
        } else {
            return false;
        }
        return true;
    }

    bool take_metric(const Json& value)
    {
        if (!value.is_object()) {
            return false;
        }
        model::Metric& metric = parts_.metrics.emplace_back();
        metric.name = levels().back().key;
        metric.values = std::exchange(values_, {});
        MemberReader::read(node(value), metric, {});
        return true;
    }

    bool take_number(std::string_view list, std::string_view key, const Json& value)
    {
        if (list == "metrics" && key == "values") {
            values_.push_back(number(value));
        } else if (list == "series" && (key == "t" || key == "v")) {
            std::vector<double>& numbers = key == "t" ? series_.t : series_.v;
            numbers.push_back(number(value).value_or(std::numeric_limits<double>::quiet_NaN()));
        } else {
            return false;
        }
        return true;
    }

    std::optional<double> number(const Json& value)
    {
        return value.is_number() ? value.number() : node(value).optional_number();
    }

    // There is only one `place_`: whoever reads a JsonNode has done so before the next one is made.
    JsonNode node(const Json& value)
    {
        place_ = place();
        return {value, document_.problem, place_};
    }

    // "cases[3].points[17]"
    [[nodiscard]] std::string place() const
    {
        std::string text;
        for (const Level& level : levels()) {
            text += level.container.is_array() ? fmt::format("[{}]", level.index)
                                               : fmt::format("{}{}", text.empty() ? "" : ".", level.key);
        }
        return text;
    }

    model::CaseReport parts_;                    // the lists of the case that is being read
    model::Series series_;                       // the numbers of its series
    std::vector<std::optional<double>> values_;  // the values of the metric that is being read
    std::string place_;
    ResultDocument document_;
};

}  // namespace

base::Expected<ResultDocument> parse_result(std::string_view text, const std::string& where)
{
    if (nesting_depth(text) > deepest_nesting) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("nested deeper than {} levels; this is no memsweep result", deepest_nesting),
                          where);
    }
    ResultReader reader{most_held(text.size())};
    const std::optional<JsonFailure> failure = parse_json(text, reader);
    if (!failure) {
        return reader.finish();
    }
    if (failure->is_too_large) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("more than {} values, of which a member counts as three: no memsweep result of "
                                      "{} has as many",
                                      most_held(text.size()), base::format_size(text.size())),
                          where);
    }
    return failure->message.empty()
               ? base::fail(base::ErrorCode::invalid_input, "not valid JSON", place_of(text, failure->byte, where))
               : base::fail(base::ErrorCode::invalid_input, fmt::format("not valid JSON: {}", failure->message), where);
}

}  // namespace memsweep::reporters
