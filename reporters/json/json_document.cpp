#include "reporters/json/json_document.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "reporters/json/result_members.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

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

// The lists whose elements are taken out. Those of numbers may be the longest.
enum class List { none, cases, points, phases, series, metrics, times, samples, values };

struct NamedList {
    List owner;  // the list that the object which has the key is an element of
    std::string_view key;
    bool is_array;
    List list;
};
constexpr std::array<NamedList, 7> lists{{{List::cases, "points", true, List::points},
                                          {List::cases, "phases", true, List::phases},
                                          {List::cases, "series", true, List::series},
                                          {List::cases, "metrics", false, List::metrics},
                                          {List::series, "t", true, List::times},
                                          {List::series, "v", true, List::samples},
                                          {List::metrics, "values", true, List::values}}};

// `report` has the case's metrics, points, phases and series as far as they have been taken out of `node` before.
void read_case(const Node& node, model::CaseReport& report)
{
    const MemberReader io{node};
    io("id", report.id);
    io("scenario", report.scenario);
    io("params", report.params);
    io("status", report.status);
    io("reason", report.reason, member::nullable);
    io("repetitions", report.repetitions);
    io.with_default("planned_repetitions", report.planned_repetitions, [&] { return report.repetitions; });
    node.at("metrics").for_each_member([](const std::string& /*name*/, const Node& metric) {
        static_cast<void>(read_value<model::Metric>(metric));  // what has not been taken out is no metric
    });
    io.taken_out("points", report.points);
    io.taken_out("phases", report.phases);
    io.taken_out("series", report.series);
    io("release", report.release, member::added);
    io("allocator", report.allocator, member::added);
    io("facts", report.facts, member::added);
    io("defects", report.defects, member::added);
    io("call_times", report.call_times, member::added);
    io("operation", report.operation, member::added);
    if (node.has("trims")) {
        node.at("trims").for_each_element(
            [&](const Node& trim) { report.trims.push_back(trim.at("how").named<model::TrimHow>()); });
    }
}

class ResultReader : public JsonEvents {
  public:
    void open(Json empty_container) override
    {
        const List list = list_of(empty_container.is_array());
        const List element_of = levels_.empty() ? List::none : levels_.back().list;
        levels_.push_back({std::move(empty_container), list, element_of, {}, 0});
    }

    void close() override
    {
        Json value = std::move(levels_.back().value);
        levels_.pop_back();
        complete(std::move(value));
    }

    void key(std::string name) override
    {
        Level& object = levels_.back();
        const bool is_taken = object.list == List::metrics &&
                              std::ranges::find(parts_.metrics, name, &model::Metric::name) != parts_.metrics.end();
        const bool is_repeated = is_taken || object.value.contains(name);
        object.key = std::move(name);
        if (is_repeated && !document_.problem) {
            document_.problem = place() + ": given twice";
        }
    }

    void value(Json plain) override { complete(std::move(plain)); }

    ResultDocument finish() { return std::move(document_); }

  private:
    struct Level {
        Json value;
        List list{};        // what it is
        List element_of{};  // what it is in
        std::string key;    // of an object: the member that comes next
        std::size_t index{};
    };

    [[nodiscard]] List list_of(bool is_array) const
    {
        if (levels_.empty() || !levels_.back().value.is_object()) {
            return List::none;
        }
        const Level& owner = levels_.back();
        if (levels_.size() == 1) {
            return is_array && owner.key == "cases" ? List::cases : List::none;
        }
        const auto* found = std::ranges::find_if(lists, [&](const NamedList& one) {
            return one.owner == owner.element_of && one.is_array == is_array && one.key == owner.key;
        });
        return found == lists.end() ? List::none : found->list;
    }

    void complete(Json value)
    {
        if (levels_.empty()) {
            document_.rest = std::move(value);
            return;
        }
        Level& level = levels_.back();
        if (!take(level, value)) {
            if (level.value.is_array()) {
                level.value.push_back(std::move(value));
            } else {
                level.value[level.key] = std::move(value);
            }
        }
        ++level.index;
    }

    // False: the element stays where it is.
    bool take(const Level& level, const Json& value)
    {
        switch (level.list) {
        case List::none:
            return false;
        case List::cases:
            read_case(node(value, place()), document_.cases.emplace_back(std::exchange(parts_, {})));
            return true;
        case List::points:
            parts_.points.push_back(read_value<model::Point>(node(value, place())));
            return true;
        case List::phases:
            parts_.phases.push_back(read_value<model::Phase>(node(value, place())));
            return true;
        case List::series:
            MemberReader::read(node(value, place()), parts_.series.emplace_back(std::exchange(series_, {})), {});
            return true;
        case List::metrics:
            return take_metric(level.key, value);
        case List::times:
            series_.t.push_back(number(value).value_or(std::numeric_limits<double>::quiet_NaN()));
            return true;
        case List::samples:
            series_.v.push_back(number(value).value_or(std::numeric_limits<double>::quiet_NaN()));
            return true;
        case List::values:
            values_.push_back(number(value));
            return true;
        }
        return false;
    }

    bool take_metric(const std::string& name, const Json& value)
    {
        if (!value.is_object()) {
            return false;
        }
        model::Metric& metric = parts_.metrics.emplace_back();
        metric.name = name;
        metric.values = std::exchange(values_, {});
        MemberReader::read(node(value, place()), metric, {});
        return true;
    }

    std::optional<double> number(const Json& value)
    {
        return value.is_number() ? value.number() : node(value, place()).optional_number();
    }

    // Of `place_` there is one at a time: whoever reads a Node has done so before the next one is made.
    Node node(const Json& value, std::string place)
    {
        place_ = std::move(place);
        return {value, document_.problem, place_};
    }

    // "cases[3].points[17]"
    [[nodiscard]] std::string place() const
    {
        std::string text;
        for (const Level& level : levels_) {
            text += level.value.is_array() ? fmt::format("[{}]", level.index)
                                           : fmt::format("{}{}", text.empty() ? "" : ".", level.key);
        }
        return text;
    }

    std::vector<Level> levels_;
    model::CaseReport parts_;                    // the lists of the case that is being read
    model::Series series_;                       // the numbers of its series
    std::vector<std::optional<double>> values_;  // of its metric
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
    ResultReader reader;
    const std::optional<JsonFailure> failure = parse_json(text, reader);
    if (!failure) {
        return reader.finish();
    }
    return failure->message.empty()
               ? base::fail(base::ErrorCode::invalid_input, "not valid JSON", place_of(text, failure->byte, where))
               : base::fail(base::ErrorCode::invalid_input, fmt::format("not valid JSON: {}", failure->message), where);
}

}  // namespace memsweep::reporters
