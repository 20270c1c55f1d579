#include "scenarios/limits_file.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "scenarios/fields.hpp"
#include "scenarios/files.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/sources.hpp"
#include "scenarios/values.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;

constexpr std::string_view limits_format = "memsweep-limits";

constexpr std::array limits_table{
    OptionInfo{"$schema", text, false, "", 0, 0, nullptr, "for editors; not read"},
    OptionInfo{"format", text, true, "", 0, 0, nullptr, "\"memsweep-limits\""},
    OptionInfo{"version", integer, true, "", 1, 1, nullptr, "of the format"},
    OptionInfo{"description", text, false, "", 0, 0, nullptr, "one sentence: which machines this is for"},
    OptionInfo{"limits", list, true, "", 0, 0, nullptr, "what must hold"},
};

constexpr std::array limit_table{
    OptionInfo{"scenario", text, false, "", 0, 0, nullptr, "only cases of this part, as in \"probe_bandwidth\""},
    OptionInfo{"where", object, false, "", 0, 0, nullptr, "only cases with these parameters"},
    OptionInfo{"expr", text, true, "", 0, 0, nullptr, "as in \"bandwidth.median >= 20GB/s\""},
    OptionInfo{"severity", text, false, "", 0, 0, nullptr, "fail or warn"},
    OptionInfo{"optional", boolean, false, "", 0, 0, nullptr, "true: holds too where no such case was measured"},
};

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
        top.check(limits_table);
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
        fields.check(limit_table);
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
