// The "variables" of a scenario and --set.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "scenarios/quote.hpp"
#include "scenarios/settings.hpp"
#include "scenarios/text_check.hpp"
#include "scenarios/values.hpp"

namespace memsweep::scenarios {
namespace {

bool is_reserved(std::string_view name)
{
    const auto& words = reserved_words();
    return std::find(words.begin(), words.end(), name) != words.end();
}

void read_member(const Member& member, const Reading& reading, Variables& variables)
{
    if (!is_name(member.key) || is_reserved(member.key)) {
        reading.diagnostics.add(
            member.key_place,
            fmt::format("{} {}", in_quotes(member.key),
                        is_reserved(member.key)
                            ? "is a reserved word, not a variable to set"
                            : "is no name for a variable: a lower-case letter, then letters, digits and _"));
    }
    variables[member.key] = read_scalar(member.value, "a variable", reading);
}

void override_one(const std::pair<std::string, std::string>& assignment, Sources& sources, const Reading& reading,
                  Variables& variables)
{
    const auto& [name, text] = assignment;
    const Place place = sources.flag(fmt::format("--set {}", printable_assignment(name, text)));
    const auto variable = variables.find(name);
    if (variable == variables.end()) {
        std::vector<std::string_view> known;
        for (const auto& entry : variables) {
            known.push_back(entry.first);
        }
        reading.diagnostics.add(
            place, known.empty() ? "the scenario has no variables"
                                 : fmt::format("unknown variable {}{}", in_quotes(name), did_you_mean(name, known)));
        return;
    }
    if (find_bad_byte(text)) {
        reading.diagnostics.add(place, "the value is not plain UTF-8 text");
        return;
    }
    variable->second = read_scalar(node_of(scalar_of_text(text), place), "a variable", reading);
}

}  // namespace

Variables read_variables(const Node* node, const Assignments& overrides, Sources& sources, const Reading& reading)
{
    Variables variables;
    if (node != nullptr) {
        const Fields fields{*node, "\"variables\"", reading};
        fields.each([&](const Member& member) { read_member(member, reading, variables); });
    }
    for (const auto& assignment : overrides) {
        override_one(assignment, sources, reading, variables);
    }
    return variables;
}

}  // namespace memsweep::scenarios
