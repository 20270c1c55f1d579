#include "scenarios/reader/criteria_files.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/metric.hpp"
#include "scenarios/reader/assertions.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

struct Keys {};  // read one by one: the rows are bound to no member

Row<Keys> text_key(std::string_view name, std::string_view help)
{
    return rows::key<Keys>(name, OptionKind::text, help);
}

OptionTable<Keys> common_keys(std::string_view format, std::string_view description)
{
    return {text_key("$schema", "for editors; not read"), text_key("format", format).required(),
            rows::version_key<Keys>(), text_key("description", description)};
}

// What the files share: a format and a version, and how they are opened. A Reader reads the rest of the top level into
// its `result`.
template <typename Reader>
auto load_criteria_text(const std::string& name, std::string_view text)
    -> tl::expected<decltype(Reader::result), std::vector<base::Error>>
{
    Diagnostics diagnostics;
    Sources sources{diagnostics};
    const Surroundings nothing;
    const Scope scope{nothing};
    Reader reader{{scope, diagnostics}, {}};
    if (const SourceNode* root = sources.add(name, text)) {
        Fields top{*root, Reader::what, reader.reading};
        if (top.is_object() && top.has_format(Reader::format)) {
            top.check(Reader::table().options());
            std::uint64_t version{};
            top.read("version", version);
            std::string description;
            top.read("description", description);
            reader.read(top);
        }
    }
    if (diagnostics.count() > 0) {
        return tl::unexpected{diagnostics.sorted()};
    }
    return std::move(reader.result);
}

template <typename Reader>
auto load_criteria(const std::string& path) -> decltype(load_criteria_text<Reader>(path, {}))
{
    const auto text = read_text_file(path);
    if (!text) {
        return tl::unexpected{std::vector<base::Error>{text.error()}};
    }
    return load_criteria_text<Reader>(path == "-" ? "<stdin>" : path, *text);
}

struct GateReader {
    static constexpr const char* what = "a gate";
    static constexpr std::string_view format = "memsweep-gate";

    static const OptionTable<Keys>& table()
    {
        static const auto table =
            common_keys("\"memsweep-gate\"", "one sentence: for whom this gate is")
                .then({
                    rows::key<Keys>("only", OptionKind::list, "metrics to compare; default: all"),
                    rows::key<Keys>("informational", OptionKind::list, "metrics shown and never judged"),
                    rows::key<Keys>("informational_units", OptionKind::list,
                                    "units whose metrics are shown and never judged: \"s\""),
                    rows::key<Keys>("thresholds", OptionKind::object,
                                    "metric names and what each may change: \"5%,1MiB\""),
                });
        return table;
    }

    void read(const Fields& top)
    {
        read_set(top, "only", "metric names", &GateReader::metric, result.only);
        read_set(top, "informational", "metric names", &GateReader::metric, result.informational);
        read_set(top, "informational_units", "units", &GateReader::unit, result.informational_units);
        if (const SourceNode* thresholds = top.raw("thresholds")) {
            const Fields fields{*thresholds, "\"thresholds\"", reading};
            fields.each([this](const Member& member) { read_threshold(member); });
        }
    }

    // Null, and said so, when no metric has that name.
    [[nodiscard]] const model::MetricInfo* known_metric(const std::string& name, const Place& place) const
    {
        const model::MetricInfo* info = model::find_metric(model::metric_catalog(), name);
        if (info == nullptr) {
            const auto known = names_of(model::metric_catalog(), &model::MetricInfo::name);
            reading.diagnostics.add(place,
                                    fmt::format("unknown metric {}{}", in_quotes(name), base::suggestion(name, known)));
        }
        return info;
    }

    // A list of words, each there once. What `parse` cannot read it reports.
    template <typename Set>
    void read_set(const Fields& top, std::string_view key, std::string_view words_are,
                  std::optional<typename Set::value_type> (GateReader::*parse)(const SourceNode&, std::string_view)
                      const,
                  Set& into) const
    {
        const SourceNode* node = top.raw(key);
        if (node == nullptr) {
            return;
        }
        const List* words = node->as<List>();
        if (words == nullptr || words->empty()) {
            top.complain(node->place, fmt::format("\"{}\" must be a list of {}, not {}", key, words_are,
                                                  words != nullptr ? "an empty one" : describe(*node)));
            return;
        }
        for (std::size_t i = 0; i < words->size() && !reading.diagnostics.full(); ++i) {
            const SourceNode& word = (*words)[i];
            if (const auto value = (this->*parse)(word, key); value && !into.insert(*value).second) {
                reading.diagnostics.add(word.place, fmt::format("{} is there twice", describe(word)));
            }
        }
    }

    [[nodiscard]] std::optional<std::string> metric(const SourceNode& node, std::string_view key) const
    {
        const auto* name = node.as<std::string>();
        if (name == nullptr) {
            reading.diagnostics.add(node.place, fmt::format("\"{}\" holds metric names, not {}", key, describe(node)));
        }
        return name != nullptr && known_metric(*name, node.place) != nullptr ? std::optional{*name} : std::nullopt;
    }

    [[nodiscard]] std::optional<model::Unit> unit(const SourceNode& node, std::string_view key) const
    {
        const auto* name = node.as<std::string>();
        const auto unit = name != nullptr ? model::value_of<model::Unit>(*name) : std::nullopt;
        if (!unit) {
            reading.diagnostics.add(node.place,
                                    fmt::format("\"{}\" holds units ({}), not {}", key, known_units(), describe(node)));
        }
        return unit;
    }

    static std::string known_units()
    {
        std::vector<std::string> units;
        for (const auto& unit : model::names<model::Unit>()) {
            units.push_back(fmt::format("\"{}\"", unit.name));
        }
        return fmt::format("{}", fmt::join(units, ", "));
    }

    void read_threshold(const Member& member)
    {
        const model::MetricInfo* metric = known_metric(member.key, member.key_place);
        if (metric == nullptr) {
            return;
        }
        const auto* text = member.value.as<std::string>();
        if (text == nullptr) {
            reading.diagnostics.add(
                member.value.place,
                fmt::format("a threshold is text such as \"5%\" or \"2%,1MiB\", not {}", describe(member.value)));
            return;
        }
        const auto threshold = measure::parse_threshold(*text, metric->unit);
        if (!threshold) {
            reading.diagnostics.add(member.value.place, threshold.error().message);
            return;
        }
        result.thresholds.emplace(member.key, *threshold);
    }

    Reading reading;
    measure::Criteria result;
};

struct LimitsReader {
    static constexpr const char* what = "a limits file";
    static constexpr std::string_view format = "memsweep-limits";

    static const OptionTable<Keys>& table()
    {
        static const auto table = common_keys("\"memsweep-limits\"", "one sentence: which machines this is for")
                                      .then({rows::key<Keys>("limits", OptionKind::list, "what must hold").required()});
        return table;
    }

    static const OptionTable<Keys>& limit_table()
    {
        static const OptionTable<Keys> table{
            text_key("scenario", "only cases of this part, as in \"probe_bandwidth\""),
            rows::key<Keys>("where", OptionKind::object, "only cases with these parameters"),
            text_key("expr", "as in \"bandwidth.median >= 20GB/s\"").required(),
            text_key("severity", "fail or warn"),
            rows::key<Keys>("optional", OptionKind::boolean, "true: holds too where no such case was measured"),
        };
        return table;
    }

    void read(const Fields& top)
    {
        const SourceNode* const limits = top.raw("limits");
        if (limits == nullptr) {
            return;
        }
        const List* const items = limits->as<List>();
        if (items == nullptr || items->empty() || items->size() > max_asserts) {
            top.complain(limits->place,
                         fmt::format("\"limits\" must be a list of 1 to {} objects, not {}", max_asserts,
                                     items != nullptr ? fmt::format("one of {}", items->size()) : describe(*limits)));
            return;
        }
        for (std::size_t i = 0; i < items->size() && !reading.diagnostics.full(); ++i) {
            read_limit((*items)[i]);
        }
    }

    void read_limit(const SourceNode& node)
    {
        Fields fields{node, "a limit", reading};
        if (!fields.is_object()) {
            return;
        }
        fields.check(limit_table().options());
        ProbeLimit limit;
        fields.read("scenario", limit.scenario);
        fields.read("optional", limit.optional);
        limit.assertion.place = to_text(node.place);
        if (const SourceNode* where = fields.raw("where")) {
            const Fields names{*where, "\"where\"", reading};
            names.each([&](const Member& member) { read_param(member, limit.assertion); });
        }
        if (std::string severity; fields.read("severity", severity)) {
            const auto value = model::value_of<model::Severity>(severity);
            if (!value) {
                fields.complain(fields.place("severity"),
                                fmt::format("\"severity\" must be \"fail\" or \"warn\", not {}", in_quotes(severity)));
            }
            limit.assertion.severity = value.value_or(model::Severity::fail);
        }
        if (read_expression(fields, limit.assertion) && !limit.assertion.expression.point.empty()) {
            fields.complain(fields.place("expr"), fmt::format("a probe samples no points such as {}",
                                                              in_quotes(limit.assertion.expression.point)));
        }
        result.push_back(std::move(limit));
    }

    void read_param(const Member& member, model::Assertion& assertion) const
    {
        if (auto value = read_scalar(member.value, in_quotes(member.key), reading)) {
            assertion.where.push_back({member.key, *std::move(value)});
        }
    }

    Reading reading;
    std::vector<ProbeLimit> result;
};

nlohmann::ordered_json limit_json(const ProbeLimit& limit)
{
    nlohmann::ordered_json json;
    if (!limit.scenario.empty()) {
        json["scenario"] = limit.scenario;
    }
    for (const model::Param& param : limit.assertion.where) {
        std::visit([&](const auto& value) { json["where"][param.name] = value; }, param.value);
    }
    json["expr"] = limit.assertion.text;
    return json;
}

}  // namespace

LoadedGate load_gate(const std::string& path)
{
    return load_criteria<GateReader>(path);
}

LoadedLimits load_limits(const std::string& path)
{
    return load_criteria<LimitsReader>(path);
}

LoadedGate load_gate_text(const std::string& name, std::string_view text)
{
    return load_criteria_text<GateReader>(name, text);
}

LoadedLimits load_limits_text(const std::string& name, std::string_view text)
{
    return load_criteria_text<LimitsReader>(name, text);
}

base::Expected<std::string> limits_text(const std::vector<ProbeLimit>& limits, const std::string& description)
{
    if (limits.size() > max_asserts) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("{} limits are more than the {} that a file holds", limits.size(), max_asserts));
    }
    std::vector<std::string> lines;
    std::ranges::transform(limits, std::back_inserter(lines),
                           [](const ProbeLimit& limit) { return limit_json(limit).dump(); });
    return fmt::format("{{\n  \"format\": \"memsweep-limits\", \"version\": 1,\n  \"description\": {},\n"
                       "  \"limits\": [\n    {}\n  ]\n}}\n",
                       nlohmann::ordered_json(description).dump(), fmt::join(lines, ",\n    "));
}

}  // namespace memsweep::scenarios
