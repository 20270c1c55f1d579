#include "app/cli/command_line.hpp"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "core/base/text.hpp"

namespace memsweep::app {
namespace {

Option declared(std::string_view declaration, OptionValue value, std::string help)
{
    const std::size_t blank = std::min(declaration.find(' '), declaration.size());
    Option option{.help = std::move(help), .value = std::move(value)};
    for (std::string_view names = declaration.substr(0, blank); !names.empty();) {
        option.names.emplace_back(base::take_until(names, ','));
    }
    option.placeholder = declaration.substr(std::min(blank + 1, declaration.size()));
    return option;
}

using Bound = std::vector<std::pair<const Option*, CLI::Option*>>;

CLI::Option* bind(CLI::App& app, const Option& option)
{
    const std::string names = fmt::format("{}", fmt::join(option.names, ","));
    if (option.value.arity == Arity::flag) {
        return app.add_flag(names);
    }
    CLI::Option* const bound = app.add_option(names, CLI::callback_t{});
    if (option.is_repeatable()) {
        bound->expected(CLI::detail::expected_max_vector_size);
    }
    if (option.value.arity == Arity::two) {
        bound->expected(2);
    }
    if (option.value.arity == Arity::each_time) {
        bound->allow_extra_args(false);
    }
    if (option.value.arity == Arity::pair_each_time || option.value.arity == Arity::triple_each_time) {
        bound->type_size(option.value.arity == Arity::pair_each_time ? 2 : 3);
        bound->allow_extra_args(false);
    }
    if (option.value.commas) {
        bound->delimiter(',');
    }
    bound->type_name(option.placeholder)->required(option.required)->envname(option.variable);
    return bound;
}

Bound bind(CLI::App& app, const Command& command)
{
    Bound bound;
    for (const auto* options : {&command.positionals, &command.options, &command.hidden_options}) {
        for (const Option& option : *options) {
            if (option.names.back() != "--help") {  // CLI11's own
                bound.emplace_back(&option, bind(app, option));
            }
        }
    }
    return bound;
}

// --flag, or --flag=yes and --flag=no in CLI11's words for them, without its digits beyond 1. The last one counts.
base::Expected<bool> is_set(const CLI::Option& flag)
{
    static constexpr std::array<std::string_view, 5> yes{"true", "on", "yes", "enable", "1"};
    static constexpr std::array<std::string_view, 5> no{"false", "off", "no", "disable", "0"};
    for (const std::string& text : flag.results()) {
        if (std::ranges::find(yes, text) == yes.end() && std::ranges::find(no, text) == no.end()) {
            return refuse(fmt::format("\"{}\" is neither true nor false", text), flag.get_name());
        }
    }
    return std::ranges::find(yes, flag.results().back()) != yes.end();
}

// CLI11 takes "[a,b]" for a list. A program gets its arguments as they are, and `[ -f x ]` is a command: behind the
// dashes, and if it has a blank, such a word has a byte more until it is taken.
constexpr char guard = '\x01';

std::string guarded(std::string word)
{
    if (word.size() > 1 && word.front() == '[' && (word.back() == ']' || word.back() == guard)) {
        word += guard;
    }
    return word;
}

std::vector<std::string> unguarded(std::vector<std::string> words)
{
    for (std::string& word : words) {
        if (word.starts_with('[') && word.ends_with(guard)) {
            word.pop_back();
        }
    }
    return words;
}

base::Expected<void> take(const Bound& bound)
{
    for (const auto& [option, given] : bound) {
        if (given->count() == 0) {
            continue;
        }
        if (option->value.arity == Arity::flag && !MEMSWEEP_TRY(is_set(*given))) {
            continue;
        }
        const std::vector<std::string> results = unguarded(given->results());
        for (const std::string& text : results) {
            // An unset variable of a pipeline: taken as "not given" it would open the gate that the option asks for.
            const bool may_be_empty = option->value.may_end_empty && &text != &results.front();
            if (text.empty() && !may_be_empty) {
                return refuse("the value is empty; leave the option out, or give it one", given->get_name());
            }
            const std::vector<std::string>& choices = option->value.choices;
            if (!choices.empty() && std::ranges::find(choices, text) == choices.end()) {
                const std::vector<std::string_view> known{choices.begin(), choices.end()};
                return refuse(fmt::format("\"{}\" is not accepted{}", text, base::suggestion(text, known)),
                              given->get_name());
            }
        }
        if (auto taken = option->value.take(results); !taken) {
            return refuse(taken.error().message, given->get_name());
        }
    }
    return {};
}

// What CLI11 says of a wrong command line, in one line; a word that is no command at all is what is wrong.
auto usage_error(const Command& root, std::string message, int argc, const char* const* argv)
{
    std::vector<std::string_view> known;
    for (const Command& command : root.commands) {
        known.emplace_back(command.name);
    }
    const bool command_given = !known.empty() && argc > 1 && argv[1][0] != '-';
    const bool is_hidden = command_given && std::ranges::any_of(root.hidden_commands, [&](const Command& command) {
                               return command.name == argv[1];
                           });
    if (command_given && !is_hidden && std::ranges::find(known, std::string_view{argv[1]}) == known.end()) {
        return refuse(fmt::format("unknown command \"{}\"{}", argv[1], base::suggestion(argv[1], known)));
    }
    std::ranges::replace(message, '\n', ' ');
    return refuse(
        fmt::format("{}; see {} {}--help", message, root.name, command_given ? fmt::format("{} ", argv[1]) : ""));
}

// "; did you mean \"--repetitions\"?" of the first of the words that is like an option of these commands.
std::string option_hint(const std::vector<std::string>& unexpected, const Command& root, const Command& given)
{
    std::vector<std::string_view> known;
    for (const Command* command : {&given, &root}) {
        for (const Option& option : command->options) {
            for (const std::string_view name : option.names) {
                if (name.starts_with("--")) {  // which every option begins with, so that it is no likeness
                    known.push_back(name.substr(2));
                }
            }
        }
    }
    for (const std::string& word : unexpected) {
        const std::string_view name = std::string_view{word}.substr(0, word.find('='));
        if (!name.starts_with("--")) {
            continue;
        }
        if (const std::string_view nearest = base::nearest(name.substr(2), known); !nearest.empty()) {
            return fmt::format("; did you mean \"--{}\"?", nearest);
        }
    }
    return {};
}

bool has_option(const Command& command, std::string_view name)
{
    return std::ranges::any_of(command.options, [&](const Option& option) {
        return std::ranges::find(option.names, name) != option.names.end();
    });
}

// Commands that measure write reports with -r, as many as they are asked for; those that read write one with -f.
std::string report_hint(std::string_view unexpected, const Command& given)
{
    if ((unexpected == "-f" || unexpected.starts_with("--format")) && has_option(given, "-r")) {
        return "; a report is -r FMT[=FILE], as in -r html=page.html";
    }
    if ((unexpected == "-r" || unexpected.starts_with("--report")) && has_option(given, "-f")) {
        return has_option(given, "-o") ? "; a report is -f FMT -o FILE" : "; a report is -f FMT";
    }
    return {};
}

// What was not expected, and what to type instead: only the first option, since words behind it may be its values.
std::string unexpected_message(const std::vector<std::string>& words, const Command& root, const Command& given)
{
    const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
    if (option == words.end()) {
        return fmt::format("not expected here: {}", fmt::join(words, " "));
    }
    const std::string name = option->substr(0, option->find('='));
    const std::string hint = report_hint(name, given);
    return fmt::format("{} is no option here{}", name, hint.empty() ? option_hint(words, root, given) : hint);
}

// The words behind the first "--", where the command that stands before it takes them by themselves.
std::vector<std::string> take_behind_dashes(const Command& root, int& argc, const char* const* argv)
{
    const auto words = std::span{argv, static_cast<std::size_t>(argc)};
    const auto dashes = std::ranges::find(words, std::string_view{"--"});
    const auto takes_them = [&](const Command& command) {
        return command.behind_dashes && std::find(words.begin(), dashes, std::string_view{command.name}) != dashes;
    };
    if (dashes == words.end() || std::ranges::none_of(root.commands, takes_them)) {
        return {};
    }
    argc = static_cast<int>(dashes - words.begin());
    return {std::next(dashes), words.end()};
}

// An option of this command that may stand alone and has this name.
const Option* option_alone(const Command& command, std::string_view name)
{
    const auto found = std::ranges::find_if(command.options, [&](const Option& one) {
        return one.value.arity == Arity::at_most_one && std::ranges::find(one.names, name) != one.names.end();
    });
    return found == command.options.end() ? nullptr : &*found;
}

bool is_flag(const Command& command, std::string_view name)
{
    return std::ranges::any_of(command.options, [&](const Option& one) {
        return one.value.arity == Arity::flag && std::ranges::find(one.names, name) != one.names.end();
    });
}

// "-Ni" as "-N" and "-i": CLI11 would take the next word for the text of -i. "-i=1" as "-i" and "1".
std::vector<std::string> parts_of(const std::string& word, const Command& command, const Command& root)
{
    if (word.size() < 3 || word[0] != '-' || word[1] == '-') {
        return {word};
    }
    if (word[2] == '=' && option_alone(command, word.substr(0, 2)) != nullptr) {
        return {word.substr(0, 2), word.substr(3)};
    }
    const std::string before = word.substr(1, word.size() - 2);
    const bool are_flags = std::ranges::all_of(before, [&](char letter) {
        const std::string name{'-', letter};
        return is_flag(command, name) || is_flag(root, name);
    });
    const std::string last{'-', word.back()};
    return are_flags && option_alone(command, last) != nullptr ? std::vector{"-" + before, last} : std::vector{word};
}

// The words, with a text for each option that may stand alone: its own if there is none, so that the next word is taken
// for its text only if the option says so. `more`: other words follow.
std::vector<std::string> with_meant_texts(const Command& root, std::span<const char* const> words, bool more)
{
    std::vector<std::string> all{words.begin(), words.end()};
    const auto dashes = std::ranges::find(all, "--");
    std::transform(dashes, all.end(), dashes, guarded);
    std::transform(all.begin(), dashes, all.begin(),
                   [](const std::string& word) { return word.find(' ') == std::string::npos ? word : guarded(word); });
    const Command* command = nullptr;
    for (auto word = all.begin(); word != dashes && command == nullptr; ++word) {
        const auto found = std::ranges::find(root.commands, *word, &Command::name);
        command = found == root.commands.end() ? nullptr : &*found;
    }
    if (command == nullptr) {
        return all;
    }
    std::vector<std::string> meant;
    for (auto word = all.begin(); word != dashes; ++word) {
        const std::vector<std::string> parts = parts_of(*word, *command, root);
        meant.insert(meant.end(), parts.begin(), parts.end());
        const Option* const option = option_alone(*command, meant.back());
        if (option == nullptr) {
            continue;
        }
        const bool has_next = dashes - word > 1 && (more || dashes - word > 2);
        const bool takes_next = option->value.takes_next && has_next && option->value.takes_next(word[1]);
        const std::string& text = takes_next ? word[1] : option->value.alone;
        if (meant.back().starts_with("--")) {
            meant.back() += "=" + text;
        } else {
            meant.push_back(text);
        }
        word += takes_next ? 1 : 0;
    }
    meant.insert(meant.end(), dashes, all.end());
    return meant;
}

// One command as CLI11 knows it.
struct BoundCommand {
    const Command* command;
    CLI::App* app;
    Bound options;
};

}  // namespace

Command::Command(std::string command_name, std::string command_help)
    : name{std::move(command_name)}, help{std::move(command_help)}
{
    options.push_back(declared("-h,--help", {.take = {}, .arity = Arity::flag}, "Print this help and exit"));
}

Option& Command::option(std::string_view declaration, OptionValue value, std::string option_help)
{
    Option& added = options.emplace_back(declared(declaration, std::move(value), std::move(option_help)));
    added.group = group;
    return added;
}

Option& Command::required_option(std::string_view declaration, OptionValue value, std::string option_help)
{
    Option& added = option(declaration, std::move(value), std::move(option_help));
    added.required = true;
    return added;
}

Option& Command::positional(std::string_view declaration, OptionValue value, std::string option_help)
{
    Option& added = optional_positional(declaration, std::move(value), std::move(option_help));
    added.required = true;
    return added;
}

Option& Command::optional_positional(std::string_view declaration, OptionValue value, std::string option_help)
{
    return positionals.emplace_back(declared(declaration, std::move(value), std::move(option_help)));
}

void Command::words_behind_dashes(std::string_view declaration, OptionValue value, std::string option_help)
{
    behind_dashes = declared(declaration, std::move(value), std::move(option_help));
}

Option& Command::flag(std::string_view declaration, bool& target, std::string option_help)
{
    return option(declaration, value::flag(target), std::move(option_help));
}

Option& Command::format_option(std::string& format, OptionValue value, std::string option_help)
{
    Option& added = option("-f,--format FMT", std::move(value), std::move(option_help));
    const auto take_json = [&format, usual = format](const std::vector<std::string>&) -> base::Expected<void> {
        if (format != usual && format != "json") {
            return refuse(fmt::format("means -f json, and -f {} was given too", format));
        }
        format = "json";
        return {};
    };
    option("--json", {.take = take_json, .arity = Arity::flag}, "The same as -f json");
    return added;
}

void Command::text_or_json(bool& as_json, std::string json_help)
{
    OptionValue value = value::any([&as_json](const std::string& given) { as_json = given == "json"; });
    value.choices = {"text", "json"};
    value.fallback = "text";
    option("-f,--format FMT", std::move(value), "text or json");
    flag("--json", as_json, std::move(json_help));
}

Option& Command::hidden_option(std::string_view declaration, OptionValue value)
{
    return hidden_options.emplace_back(declared(declaration, std::move(value), ""));
}

Command& Command::command(std::string command_name, std::string command_help)
{
    return commands.emplace_back(std::move(command_name), std::move(command_help));
}

Command& Command::hidden_command(std::string command_name)
{
    return hidden_commands.emplace_back(std::move(command_name), "");
}

base::Expected<Request> parse(const Command& root, int argc, const char* const* argv)
{
    const std::vector<std::string> behind = take_behind_dashes(root, argc, argv);
    CLI::App app{"", root.name};
    app.fallthrough();
    app.require_subcommand(0, 1);
    std::vector<BoundCommand> bound{{&root, &app, bind(app, root)}};
    const std::span words{argv, static_cast<std::size_t>(argc)};
    for (const auto* commands : {&root.commands, &root.hidden_commands}) {
        for (const Command& command : *commands) {
            if (std::ranges::find(words, std::string_view{command.name}) != words.end()) {  // another cannot be meant
                CLI::App& sub = *app.add_subcommand(command.name);
                bound.push_back({&command, &sub, bind(sub, command)});
            }
        }
    }
    const auto given = [&]() -> const BoundCommand& {
        const auto found = std::find_if(std::next(bound.begin()), bound.end(),
                                        [](const BoundCommand& one) { return one.app->parsed(); });
        return found == bound.end() ? bound.front() : *found;
    };
    try {
        std::vector<std::string> meant =
            with_meant_texts(root, words.subspan(std::min<std::size_t>(words.size(), 1)), !behind.empty());
        std::ranges::reverse(meant);  // as CLI11 takes them
        app.parse(std::move(meant));
    } catch (const CLI::CallForHelp&) {
        return Request{given().command, true};
    } catch (const CLI::ExtrasError&) {
        return usage_error(root, unexpected_message(app.remaining(true), root, *given().command), argc, argv);
    } catch (const CLI::ParseError& error) {
        return usage_error(root, error.what(), argc, argv);
    }
    const BoundCommand& asked = given();
    auto taken = take(bound.front().options);
    if (taken && asked.command != &root) {
        taken = take(asked.options);
    }
    if (taken && !behind.empty() && asked.command->behind_dashes) {
        taken = asked.command->behind_dashes->value.take(behind);
    }
    if (taken && asked.command->check) {
        taken = asked.command->check();
    }
    if (!taken) {
        return usage_error(root, base::describe(taken.error()), argc, argv);
    }
    return Request{asked.command, false};
}

}  // namespace memsweep::app
