#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/completion.hpp"

namespace memsweep::app {
namespace {

constexpr const char* bash_opening = R"(    # --option=value arrives as three words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = && $COMP_CWORD -gt 1 ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
)";

constexpr const char* bash_closing = R"(
    if [[ -z $what && $word == -* ]]; then
        what=words words=$options
    fi
    if [[ -z $what ]]; then
        what=$arguments words=$argument_words
    fi
    COMPREPLY=()
    if [[ $what == *scenarios* ]]; then
        words=$(PROGRAM list scenarios 2>/dev/null | cut -d ' ' -f 1)
    fi
    if [[ $what == *words* || $what == *scenarios* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
    if [[ $what == *files* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}
)";

// What shall be offered: any of words, scenarios and files.
std::string kinds(const Option& option)
{
    switch (option.completes()) {
    case Completes::scenarios:
        return "scenarios,files";
    case Completes::files:
        return option.offered().empty() ? "files" : "words,files";
    case Completes::choices:
        return "words";
    case Completes::nothing:
        break;
    }
    return "nothing";
}

// `program`: the word that asks for the catalog's scenarios.
std::string closing_for(std::string_view program)
{
    constexpr std::string_view placeholder = "PROGRAM";
    std::string text = bash_closing;
    return text.replace(text.find(placeholder), placeholder.size(), program);
}

std::string value_cases(const std::deque<Option>& options, const std::string& indent)
{
    std::string text;
    for (const Option& option : options) {
        if (!option.placeholder.empty()) {
            text += fmt::format("{}{}) what={} words='{}' ;;\n", indent, fmt::join(option.names, " | "), kinds(option),
                                fmt::join(option.offered(), " "));
        }
    }
    return text;
}

std::string option_names(const std::deque<Option>& options)
{
    std::string text;
    for (const Option& option : options) {
        text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::join(option.names, " "));
    }
    return text;
}

std::string bash_command_case(const Command& command)
{
    std::string text = fmt::format("    {})\n        options+=' {}'\n", command.name, option_names(command.options));
    if (!command.positionals.empty()) {
        const Option& first = command.positionals.front();
        text +=
            fmt::format("        arguments={} argument_words='{}'\n", kinds(first), fmt::join(first.offered(), " "));
    }
    text += "        case $before in\n" + value_cases(command.options, "        ");
    return text + "        esac\n        ;;\n";
}

}  // namespace

std::string bash_completion(const Command& tree)
{
    const std::string function = completion_function(tree);
    std::vector<std::string> commands;
    for (const Command& command : tree.commands) {
        commands.push_back(command.name);
    }
    const bool has_commands = !commands.empty();
    std::string text = fmt::format("# bash completion for {}, printed by `{}`.\n\n{}()\n{{\n", tree.name,
                                   completion_source(tree, "bash"), function);
    text += "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}";
    text += has_commands ? " command='' i\n" : "\n";
    text += bash_opening;
    if (has_commands) {
        text += fmt::format("    for ((i = 1; i < COMP_CWORD; ++i)); do\n        case ${{COMP_WORDS[i]}} in\n"
                            "        {})\n            command=${{COMP_WORDS[i]}}\n            break\n"
                            "            ;;\n        esac\n    done\n",
                            fmt::join(commands, " | "));
    }
    const bool has_positional = !has_commands && !tree.positionals.empty();
    text += fmt::format("    local what='' words='' options='{}'\n    local arguments={} argument_words='{}'\n",
                        option_names(tree.options), has_positional ? kinds(tree.positionals.front()) : "words",
                        fmt::join(has_positional ? tree.positionals.front().offered() : commands, " "));
    text += "    case $before in\n" + value_cases(tree.options, "    ") + "    esac\n";
    if (has_commands) {
        text += "    case $command in\n";
        for (const Command& command : tree.commands) {
            text += bash_command_case(command);
        }
        text += "    esac\n";
    }
    text += closing_for(has_commands ? "\"${COMP_WORDS[0]}\"" : "memsweep");
    return text + fmt::format("\ncomplete -F {} {}\n", function, tree.name);
}

}  // namespace memsweep::app
