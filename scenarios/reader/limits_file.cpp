#include "scenarios/reader/limits_file.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/files.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/quote.hpp"
#include "scenarios/reader/sources.hpp"
#include "scenarios/reader/values.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::string_view limits_format = "memsweep-limits";

struct LimitsKeys {};

Row<LimitsKeys> limits_key(std::string_view name, OptionKind kind, std::string_view help)
{
    return rows::key<LimitsKeys>(name, kind, help);
}

const OptionTable<LimitsKeys>& limits_table()
{
    using enum OptionKind;
    static const OptionTable<LimitsKeys> table{
        limits_key("$schema", text, "for editors; not read"),
        limits_key("format", text, "\"memsweep-limits\"").required(),
        rows::version_key<LimitsKeys>(),
        limits_key("description", text, "one sentence: which machines this is for"),
        limits_key("limits", list, "what must hold").required(),
    };
    return table;
}

struct LimitKeys {};

Row<LimitKeys> limit_key(std::string_view name, OptionKind kind, std::string_view help)
{
    return rows::key<LimitKeys>(name, kind, help);
}

const OptionTable<LimitKeys>& limit_table()
{
    using enum OptionKind;
    static const OptionTable<LimitKeys> table{
        limit_key("scenario", text, "only cases of this part, as in \"probe_bandwidth\""),
        limit_key("where", object, "only cases with these parameters"),
        limit_key("expr", text, "as in \"bandwidth.median >= 20GB/s\"").required(),
        limit_key("severity", text, "fail or warn"),
        limit_key("optional", boolean, "true: holds too where no such case was measured"),
    };
    return table;
}

class LimitsReader {
  public:
    LoadedLimits run(const std::string& name, std::string_view text)
    {
        const Node* root = sources_.add(name, text);
        if (root != nullptr) {
            read_top(*root);
        }
        if (diagnostics_.count() > 0) {
            return tl::unexpected{diagnostics_.sorted()};
        }
        return std::move(limits_);
    }

  private:
    void read_top(const Node& root)
    {
        const Surroundings nothing;
        const Scope scope{nothing};
        const Reading reading{scope, diagnostics_};
        Fields top{root, "a limits file", reading};
        if (!top.is_object() || !is_limits(top)) {
            return;
        }
        top.check(limits_table().options());
        std::uint64_t version{};
        top.read("version", version);
        std::string description;
        top.read("description", description);
        const Node* const limits = top.raw("limits");
        if (limits == nullptr) {
            return;
        }
        const List* const items = limits->as<List>();
        if (items == nullptr || items->empty() || items->size() > max_asserts) {
            diagnostics_.add(
                limits->place,
                fmt::format("\"limits\" must be a list of 1 to {} objects, not {}", max_asserts,
                            items != nullptr ? fmt::format("one of {}", items->size()) : describe(*limits)));
            return;
        }
        for (std::size_t i = 0; i < items->size() && !diagnostics_.full(); ++i) {
            read_limit((*items)[i], reading);
        }
    }

    // One message that a scenario or a result holds no limits, instead of one for each of its keys.
    bool is_limits(const Fields& top)
    {
        const Node* format = top.raw("format");
        const auto* name = format != nullptr ? format->as<std::string>() : nullptr;
        if (format == nullptr || (name != nullptr && *name == limits_format)) {
            return true;
        }
        diagnostics_.add(format->place,
                         fmt::format("\"format\" must be \"{}\", not {}", limits_format, describe(*format)));
        return false;
    }

    void read_limit(const Node& node, const Reading& reading)
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
        if (const Node* where = fields.raw("where")) {
            read_where(*where, reading, limit.assertion);
        }
        if (std::string severity; fields.read("severity", severity)) {
            const auto value = model::value_of<model::Severity>(severity);
            if (!value) {
                fields.complain(fields.place("severity"),
                                fmt::format("\"severity\" must be \"fail\" or \"warn\", not {}", in_quotes(severity)));
            }
            limit.assertion.severity = value.value_or(model::Severity::fail);
        }
        read_expression(fields, limit.assertion);
        limits_.push_back(std::move(limit));
    }

    void read_where(const Node& node, const Reading& reading, model::Assertion& assertion)
    {
        const Object* const object = node.as<Object>();
        if (object == nullptr) {
            diagnostics_.add(node.place, fmt::format("\"where\" must be an object, not {}", describe(node)));
            return;
        }
        for (std::size_t i = 0; i < object->size() && !diagnostics_.full(); ++i) {
            const Member& member = (*object)[i];
            if (auto value = read_scalar(member.value, in_quotes(member.key), reading)) {
                assertion.where.push_back({member.key, *std::move(value)});
            }
        }
    }

    void read_expression(const Fields& fields, model::Assertion& assertion)
    {
        if (!fields.read("expr", assertion.text)) {
            return;
        }
        const Place& place = fields.place("expr");
        if (assertion.text.size() > max_expression_bytes) {
            fields.complain(place, fmt::format("an expression has at most {} bytes", max_expression_bytes));
            return;
        }
        auto expression = model::parse_expression(assertion.text);
        if (!expression) {
            fields.complain(place, std::move(expression.error().message));
            return;
        }
        if (!expression->point.empty()) {
            fields.complain(place, fmt::format("a probe samples no points such as {}", in_quotes(expression->point)));
            return;
        }
        assertion.expression = *std::move(expression);
    }

    Diagnostics diagnostics_;
    Sources sources_{diagnostics_};
    std::vector<ProbeLimit> limits_;
};

}  // namespace

LoadedLimits load_limits(const std::string& path)
{
    const auto text = read_text_file(path);
    if (!text) {
        return tl::unexpected{std::vector<base::Error>{text.error()}};
    }
    return load_limits_text(path == "-" ? "<stdin>" : path, *text);
}

LoadedLimits load_limits_text(const std::string& name, std::string_view text)
{
    return LimitsReader{}.run(name, text);
}

}  // namespace memsweep::scenarios
