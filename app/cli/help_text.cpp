#include "app/cli/help_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace memsweep::app {
namespace {

constexpr std::size_t help_column = 30;

// Words on lines of at most `columns`, each line behind `indent` blanks; `column` is where the first one begins.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t column, std::size_t columns)
{
    std::string out;
    bool first = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find_first_of(" \n"));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (word.empty()) {
            continue;
        }
        if (!first && column + 1 + word.size() > columns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
            first = true;
        }
        out += (first ? "" : " ") + std::string{word};
        column += word.size() + (first ? 0 : 1);
        first = false;
    }
    return out + "\n";
}

std::string entry(const std::string& term, const std::string& help, std::size_t columns)
{
    std::string text = "  " + term;
    if (text.size() + 2 > help_column) {
        text += "\n" + std::string(help_column, ' ');
    } else {
        text.resize(help_column, ' ');
    }
    return text + wrapped(help, help_column, help_column, columns);
}

// The help, and what it does not say yet: the words that can follow, the default, the variable.
std::string explained(const Option& option)
{
    std::string help = option.help;
    const std::vector<std::string>& choices = option.value.choices;
    if (!std::ranges::all_of(choices, [&](const std::string& word) { return help.find(word) != help.npos; })) {
        help += fmt::format(" ({})", fmt::join(choices, ", "));
    }
    if (!option.value.fallback.empty()) {
        help += fmt::format(" [{}]", option.value.fallback);
    }
    if (!option.variable.empty()) {
        help += fmt::format(" (environment: {})", option.variable);
    }
    if (option.required) {
        help += " (required)";
    }
    return help;
}

std::string entries(const std::deque<Option>& options, const std::string& group, std::size_t columns)
{
    std::string text;
    for (const Option& option : options) {
        if (option.group == group) {
            const std::string term = fmt::format("{}{}{}", fmt::join(option.names, ","),
                                                 option.placeholder.empty() ? "" : " ", option.placeholder);
            text += entry(term, explained(option), columns);
        }
    }
    return text.empty() ? text : fmt::format("\n{}:\n{}", group.empty() ? "Options" : group, text);
}

std::vector<std::string> groups_of(const std::deque<Option>& options)
{
    std::vector<std::string> groups;
    for (const Option& option : options) {
        if (std::ranges::find(groups, option.group) == groups.end()) {
            groups.push_back(option.group);
        }
    }
    // What every command has comes last.
    std::ranges::stable_partition(groups, [](const std::string& group) { return !group.empty(); });
    return groups;
}

std::string usage(const Command& command, const std::string& called)
{
    std::string text = fmt::format("Usage: {} [OPTIONS]", called);
    for (const Option& positional : command.positionals) {
        const std::string term = fmt::format("{}{}", positional.names.front(), positional.is_repeatable() ? "..." : "");
        text += positional.required ? " " + term : fmt::format(" [{}]", term);
    }
    return text + (command.commands.empty() ? "" : " [SUBCOMMAND]");
}

// Flowing text; a line that begins with a blank is an example, which stays as it is.
std::string footer_text(std::string_view footer, std::size_t columns)
{
    std::string text;
    std::string paragraph;
    const auto end_paragraph = [&] {
        text += paragraph.empty() ? "" : wrapped(std::exchange(paragraph, ""), 0, 0, columns);
    };
    while (!footer.empty()) {
        const std::string_view line = footer.substr(0, footer.find('\n'));
        footer.remove_prefix(std::min(line.size() + 1, footer.size()));
        if (line.starts_with(' ')) {
            end_paragraph();
            text += std::string{line} + "\n";
        } else {
            paragraph += std::string{line} + " ";
        }
    }
    end_paragraph();
    return text;
}

}  // namespace

std::string help_text(const Command& command, const Command& program, int columns)
{
    const std::string called = &command == &program ? program.name : fmt::format("{} {}", program.name, command.name);
    const auto width = static_cast<std::size_t>(std::max(columns, 1));
    std::string text = wrapped(command.help, 0, 0, width) + wrapped(usage(command, called), 2, 0, width);
    std::string positionals;
    for (const Option& positional : command.positionals) {
        positionals +=
            entry(fmt::format("{} {}", positional.names.front(), positional.placeholder), explained(positional), width);
    }
    text += positionals.empty() ? "" : "\nPositionals:\n" + positionals;
    for (const std::string& group : groups_of(command.options)) {
        text += entries(command.options, group, width);
    }
    if (!command.commands.empty()) {
        text += "\nSubcommands:\n";
    }
    for (const Command& one : command.commands) {
        text += entry(one.name, one.help, width);
    }
    return command.footer.empty() ? text : text + "\n" + footer_text(command.footer, width);
}

}  // namespace memsweep::app
