#include "scenarios/reader/assertions.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/model/step.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

void check_point(const model::Expression& expression, const Place& place, const std::set<std::string>& points,
                 const Reading& reading)
{
    if (expression.point.empty() || points.contains(expression.point)) {
        return;
    }
    const std::vector<std::string_view> known(points.begin(), points.end());
    reading.diagnostics.add(place, fmt::format("no step samples a point {}{}", in_quotes(expression.point),
                                               base::suggestion(expression.point, known)));
}

void check_ratio(const model::Expression& expression, const Place& place, const Axes& axes, const Reading& reading)
{
    if (!expression.ratio) {
        return;
    }
    for (const model::RatioOf* side : {&expression.ratio->first, &expression.ratio->second}) {
        AxisMismatch mismatch = find_mismatch(axes, side->axis, side->value);
        if (!mismatch.message.empty()) {
            reading.diagnostics.add(place, std::move(mismatch.message));
        }
    }
}

model::Assertion read_assertion(const SourceNode& node, const Axes& axes, const std::set<std::string>& points,
                                const Reading& reading)
{
    Fields fields{node, "an assertion", reading};
    fields.check(assert_table().options());
    model::Assertion assertion;
    assertion.place = to_text(node.place);
    if (const SourceNode* where = fields.raw("where")) {
        assertion.where = read_pattern(*where, "\"where\"", axes, reading);
    }
    fields.read(assert_table(), assertion);
    if (read_expression(fields, assertion)) {
        check_point(assertion.expression, fields.place("expr"), points, reading);
        check_ratio(assertion.expression, fields.place("expr"), axes, reading);
    }
    return assertion;
}

}  // namespace

bool read_expression(const Fields& fields, model::Assertion& assertion)
{
    if (!fields.read("expr", assertion.text)) {
        return false;
    }
    if (assertion.text.size() > max_expression_bytes) {
        fields.complain(fields.place("expr"), fmt::format("an expression has at most {} bytes", max_expression_bytes));
        return false;
    }
    auto expression = model::parse_expression(assertion.text);
    if (!expression) {
        fields.complain(fields.place("expr"), std::move(expression.error().message));
        return false;
    }
    assertion.expression = *std::move(expression);
    return true;
}

void collect_points(const std::vector<model::Step>& steps, std::set<std::string>& points)
{
    for (const model::Step& step : steps) {
        if (const auto* sample = std::get_if<model::SampleStep>(&step.operation)) {
            points.insert(sample->name);
        } else if (const model::Nested inner = model::nested(step.operation); inner.steps != nullptr) {
            collect_points(*inner.steps, points);
        }
    }
}

void collect_points(const SourceNode& steps, std::set<std::string>& points)
{
    const List* list = steps.as<List>();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const Object* step = (*list)[i].as<Object>();
        const SourceNode* name = step == nullptr ? nullptr : find(*step, "name");
        const SourceNode* nested = step == nullptr ? nullptr : find(*step, "steps");
        if (name != nullptr && name->as<std::string>() != nullptr) {
            points.insert(*name->as<std::string>());
        }
        if (nested != nullptr) {
            collect_points(*nested, points);
        }
    }
}

std::vector<model::Assertion> read_assertions(const SourceNode& node, const Axes& axes,
                                              const std::set<std::string>& points, const Reading& reading)
{
    std::vector<model::Assertion> assertions;
    const List* list = node.as<List>();
    if (list == nullptr || list->size() > max_asserts) {
        reading.diagnostics.add(
            node.place, list == nullptr ? fmt::format("\"assert\" must be a list of objects, not {}", describe(node))
                                        : fmt::format("more than {} assertions", max_asserts));
        return assertions;
    }
    assertions.reserve(list->size());
    for (const SourceNode& item : *list) {
        assertions.push_back(read_assertion(item, axes, points, reading));
    }
    return assertions;
}

}  // namespace memsweep::scenarios
