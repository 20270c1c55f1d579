#include "scenarios/reader/command_plans.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/axes.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

// As a scenario may be called: "g++-12" is g___12. Of a script the first word counts.
std::string plan_name(const std::string& words, bool shell)
{
    const std::string program = shell ? words.substr(0, words.find_first_of(" \t\n")) : words;
    std::string name = program.substr(program.rfind('/') + 1);
    for (char& c : name) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        c = is_plain ? c : '_';
    }
    if (name.empty() || name.front() < 'a' || name.front() > 'z') {
        name.insert(0, "run_");
    }
    return name.substr(0, max_name_bytes);
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = base::utf8_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

// A scenario's text is UTF-8, and axes make one of the words.
base::Expected<void> check_words(const std::vector<std::string>& words)
{
    const auto other = std::ranges::find_if_not(words, is_utf8);
    if (other == words.end()) {
        return {};
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("with axes each word is UTF-8, and word {} ({}) is not; bytes of any kind may stand "
                                  "in a script that the command names",
                                  other - words.begin() + 1, base::printable(*other)),
                      "-a");
}

}  // namespace

Loaded command_plan(const std::vector<std::string>& words, const std::string& description, const Overrides& overrides,
                    const Surroundings& surroundings, bool shell)
{
    if (const auto checked = check_words(words); !overrides.axes.empty() && !checked) {
        return tl::unexpected{std::vector<base::Error>{checked.error()}};
    }
    nlohmann::ordered_json scenario{{"format", "memsweep-scenario"},
                                    {"version", 1},
                                    {"name", plan_name(words.front(), shell)},
                                    {"command", {{"run", {"true"}}}}};
    if (shell) {
        scenario["command"]["shell"] = true;
    }
    for (const auto& [axis, values] : overrides.axes) {
        scenario["axes"][axis] = {axis == allocator_axis ? "glibc" : "declared"};  // the override's values replace it
        scenario["command"]["run"] = words;
    }
    const std::string text = scenario.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    Loaded plan = load_text("<command line>", text, overrides, surroundings);
    if (!plan) {
        return plan;
    }
    for (model::Case& one : plan->cases) {
        one.command()->run = overrides.axes.empty() ? words : one.command()->run;
    }
    plan->path.clear();
    plan->description = description;
    take_fingerprints(*plan);
    return plan;
}

namespace {

void add_build(std::string_view build, const model::Plan& from, model::Plan& into)
{
    for (model::Case one : from.cases) {
        one.params.push_back({std::string{build_axis}, std::string{build}});
        std::ranges::sort(one.params, {}, &model::Param::name);
        one.scenario = into.name;
        one.id = model::case_id(into.name, one.params);
        into.cases.push_back(std::move(one));
    }
}

}  // namespace

Loaded build_comparison_plan(const std::vector<std::string>& base, const std::vector<std::string>& candidate,
                             const std::string& description, const Overrides& overrides,
                             const Surroundings& surroundings, bool shell)
{
    if (std::ranges::find(overrides.axes, build_axis, &std::pair<std::string, std::string>::first) !=
        overrides.axes.end()) {
        return tl::unexpected{std::vector<base::Error>{
            {base::ErrorCode::invalid_input, "the two programs are this axis already", "--axis build"}}};
    }
    Loaded plan = command_plan(candidate, description, overrides, surroundings, shell);
    Loaded other = plan ? command_plan(base, description, overrides, surroundings, shell) : plan;
    if (!other) {
        return other;
    }
    const model::Plan one = *plan;
    plan->cases.clear();
    add_build(base_build, *other, *plan);
    add_build(candidate_build, one, *plan);
    plan->axes.push_back({std::string{build_axis}, {std::string{base_build}, std::string{candidate_build}}});
    plan->settings.order = model::Order::shuffled;
    take_fingerprints(*plan);
    return plan;
}

void give_input(model::Plan& plan, const std::string& path, const std::string& contents)
{
    for (model::Case& one : plan.cases) {
        one.command()->input_contents = contents;
    }
    take_fingerprints(plan);
    for (model::Case& one : plan.cases) {
        one.command()->input = path;
    }
}

std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                              std::uint32_t repetitions)
{
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    std::vector<std::string> words;
    for (const model::TransferSpec& one : transfers) {
        words.push_back(model::to_text(one));
        list.push_back({{"src", model::to_text(one.src)},
                        {"exe", model::to_text(one.exe)},
                        {"dst", model::to_text(one.dst)},
                        {"bytes", base::exact_size(bytes)}});
    }
    const ordered_json step{{"op", "transfer"}, {"transfers", std::move(list)}, {"times", 5}};
    const ordered_json scenario{
        {"format", "memsweep-scenario"},
        {"version", 1},
        {"name", "probe_transfer"},
        {"description", fmt::format("At once: {}.", fmt::join(words, "; "))},
        {"repetitions", repetitions},
        {"steps", ordered_json::array({step})},
        {"assert", ordered_json::array({ordered_json{{"expr", "transfer_wrong_bytes.max == 0B"}}})}};
    return scenario.dump(2) + "\n";
}

}  // namespace memsweep::scenarios
