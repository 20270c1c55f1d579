#include "app/command_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <CLI/CLI.hpp>

#include "app/cli_probe.hpp"
#include "app/shipped.hpp"
#include "core/model/allocator.hpp"
#include "core/model/metric.hpp"
#include "reporters/comparison_formats.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {
namespace {

// CLI11 shows "MODE:{process,none}", "HOW:value in {auto->0,bar->1} OR {0,1}" and "N:UINT in [0 - 9]".
std::vector<std::string> checked_choices(const std::string& type_name)
{
    std::vector<std::string> choices;
    const std::size_t open = type_name.find('{');
    const std::size_t close = type_name.find('}', open);
    if (close == std::string::npos) {
        return choices;
    }
    std::string_view rest = std::string_view{type_name}.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(','));
        choices.emplace_back(one.substr(0, one.find("->")));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    }
    return choices;
}

template <typename Table>
std::vector<std::string> names_in(const Table& table)
{
    std::vector<std::string> names;
    for (const auto& entry : table) {
        names.emplace_back(entry.name);
    }
    return names;
}

std::vector<std::string> shipped_gates()
{
    std::vector<std::string> names;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator{shipped("configs/gates"), problem}) {
        names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

// Words that no check of the command line holds, because what reads them says more about a wrong one.
std::vector<std::string> known_words(const CLI::App& app, const CLI::Option& option)
{
    const auto is = [&](const char* name) { return option.check_lname(name); };
    if (is("format") && app.get_name() == "compare") {
        return names_in(reporters::comparison_formats());
    }
    if (app.get_name() == "probe" && option.get_positional()) {
        return {probe_words.begin(), probe_words.end()};
    }
    if ((is("export") && app.get_name() == "probe") ||
        (is("format") && (app.get_name() == "report" || app.get_name() == "watch" || app.get_name() == "probe")) ||
        (is("report") && app.get_name() == "run")) {
        return names_in(reporters::formats());
    }
    if (is("on")) {
        return names_in(model::allocators());
    }
    if (is("metric")) {
        return names_in(model::metric_catalog());
    }
    return is("gate") ? shipped_gates() : std::vector<std::string>{};
}

OptionFacts describe(const CLI::App& app, const CLI::Option& option)
{
    OptionFacts facts;
    for (const std::string& name : option.get_snames()) {
        facts.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        facts.names.push_back("--" + name);
    }
    const bool is_positional = facts.names.empty();
    if (is_positional) {
        facts.names.push_back(option.get_name());
    }
    const std::string type_name = option.get_items_expected_max() == 0 ? std::string{} : option.get_type_name();
    facts.value = type_name.substr(0, type_name.find(':'));
    facts.help = option.get_description();
    facts.fallback = option.get_default_str();
    facts.variable = option.get_envname();
    facts.required = option.get_required();
    facts.repeatable = option.get_items_expected_max() > 1;
    facts.choices = checked_choices(type_name);
    if (facts.choices.empty()) {
        facts.choices = known_words(app, option);
    }
    const bool is_file = facts.value == "FILE" || facts.value == "RESULT";
    const bool is_scenario =
        is_file && is_positional &&
        (app.get_name() == "run" || app.get_name() == "validate" || app.get_name() == "memsweep-mpi");
    facts.completes = is_scenario             ? Completes::scenarios
                      : is_file               ? Completes::files
                      : facts.choices.empty() ? Completes::nothing
                                              : Completes::choices;
    return facts;
}

}  // namespace

CommandFacts describe(const CLI::App& app)
{
    CommandFacts facts{.name = app.get_name(), .help = app.get_description(), .footer = app.get_footer()};
    for (const CLI::Option* option : app.get_options()) {
        if (!option->get_group().empty()) {
            (option->get_positional() ? facts.positionals : facts.options).push_back(describe(app, *option));
        }
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
        facts.commands.push_back(describe(*command));
    }
    return facts;
}

}  // namespace memsweep::app
