#include "app/cli/completion.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"

namespace memsweep::app {
namespace {

// "_memsweep_mpi": the function that completes a program of this name.
std::string completion_function(const Command& tree)
{
    std::string name = "_" + tree.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

// "memsweep completion bash": what prints its script.
std::string completion_source(const Command& tree, std::string_view shell)
{
    return fmt::format("{} {} {}", tree.name, tree.commands.empty() ? "--completion" : "completion", shell);
}

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
std::string bash_kinds(const Option& option)
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
std::string bash_closing_for(std::string_view program)
{
    constexpr std::string_view placeholder = "PROGRAM";
    std::string text = bash_closing;
    return text.replace(text.find(placeholder), placeholder.size(), program);
}

std::string bash_value_cases(const std::deque<Option>& options, const std::string& indent)
{
    std::string text;
    for (const Option& option : options) {
        if (!option.placeholder.empty()) {
            text += fmt::format("{}{}) what={} words='{}' ;;\n", indent, fmt::join(option.names, " | "),
                                bash_kinds(option), fmt::join(option.offered(), " "));
        }
    }
    return text;
}

std::string bash_option_names(const std::deque<Option>& options)
{
    std::string text;
    for (const Option& option : options) {
        text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::join(option.names, " "));
    }
    return text;
}

std::string bash_command_case(const Command& command)
{
    std::string text =
        fmt::format("    {})\n        options+=' {}'\n", command.name, bash_option_names(command.options));
    if (!command.positionals.empty()) {
        const Option& first = command.positionals.front();
        text += fmt::format("        arguments={} argument_words='{}'\n", bash_kinds(first),
                            fmt::join(first.offered(), " "));
    }
    text += "        case $before in\n" + bash_value_cases(command.options, "        ");
    return text + "        esac\n        ;;\n";
}

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
    text +=
        fmt::format("    local what='' words='' options='{}'\n    local arguments={} argument_words='{}'\n",
                    bash_option_names(tree.options), has_positional ? bash_kinds(tree.positionals.front()) : "words",
                    fmt::join(has_positional ? tree.positionals.front().offered() : commands, " "));
    text += "    case $before in\n" + bash_value_cases(tree.options, "    ") + "    esac\n";
    if (has_commands) {
        text += "    case $command in\n";
        for (const Command& command : tree.commands) {
            text += bash_command_case(command);
        }
        text += "    esac\n";
    }
    text += bash_closing_for(has_commands ? "\"${COMP_WORDS[0]}\"" : "memsweep");
    return text + fmt::format("\ncomplete -F {} {}\n", function, tree.name);
}

constexpr const char* fish_scenarios = R"(
function __memsweep_scenarios
    memsweep list scenarios 2>/dev/null | string split --fields 1 ' '
end
)";

std::string fish_quoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out + "'";
}

std::string fish_offered(const Option& option)
{
    switch (option.completes()) {
    case Completes::scenarios:
        return " -F -a '(__memsweep_scenarios)'";
    case Completes::files:
        return option.offered().empty() ? " -F" : fmt::format(" -F -a '{}'", fmt::join(option.offered(), " "));
    case Completes::choices:
        return fmt::format(" -a '{}'", fmt::join(option.offered(), " "));
    case Completes::nothing:
        break;
    }
    return "";
}

// `subject`: "complete -c PROGRAM", and when it holds.
std::string fish_option_line(const Option& option, const std::string& subject)
{
    std::string text = subject;
    for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    const bool is_file = option.completes() == Completes::files || option.completes() == Completes::scenarios;
    text += option.placeholder.empty() ? "" : (is_file ? " -r" : " -x") + fish_offered(option);
    return text + " -d " + fish_quoted(option.help) + "\n";
}

// What the first argument of a program or command can be.
std::string fish_positional_line(const Command& command, const std::string& subject)
{
    const std::string words = command.positionals.empty() ? std::string{} : fish_offered(command.positionals.front());
    return words.empty() ? std::string{} : subject + words + "\n";
}

std::string fish_completion(const Command& tree)
{
    const std::string subject = "complete -c " + tree.name;
    std::string text =
        fmt::format("# fish completion for {}, printed by `{}`.\n", tree.name, completion_source(tree, "fish"));
    text += fish_scenarios;
    text += fmt::format("\n{} -f\n", subject);
    for (const Option& option : tree.options) {
        text += fish_option_line(option, subject);
    }
    text += fish_positional_line(tree, subject);
    for (const Command& command : tree.commands) {
        text += fmt::format("\n{} -n __fish_use_subcommand -a {} -d {}\n", subject, command.name,
                            fish_quoted(command.help));
        const std::string within = fmt::format("{} -n '__fish_seen_subcommand_from {}'", subject, command.name);
        for (const Option& option : command.options) {
            text += fish_option_line(option, within);
        }
        text += fish_positional_line(command, within);
    }
    return text;
}

constexpr const char* zsh_scenarios = R"sh(
_memsweep_scenarios()
{
    local -a names=(${(f)"$(memsweep list scenarios 2>/dev/null | cut -d ' ' -f 1)"})
    _alternative 'scenarios:scenario:compadd -a names' 'files:file:_files'
}
)sh";

constexpr const char* zsh_locals = R"sh({
    local context state state_descr line
    typeset -A opt_args
)sh";

// Inside single quotes, in the text of a specification.
std::string zsh_escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '[' || c == ']' || c == ':' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string zsh_action(const Option& option)
{
    switch (option.completes()) {
    case Completes::scenarios:
        return "_memsweep_scenarios";
    case Completes::files:
        return "_files";
    case Completes::choices:
        return fmt::format("({})", fmt::join(option.offered(), " "));
    case Completes::nothing:
        break;
    }
    return " ";
}

std::string zsh_specification(const Option& option)
{
    const std::string value =
        option.placeholder.empty() ? "" : fmt::format(":{}:{}", zsh_escaped(option.placeholder), zsh_action(option));
    const std::string rest = fmt::format("'[{}]{}'", zsh_escaped(option.help), value);
    const std::string once = option.is_repeatable() ? "\\*" : fmt::format("'({})'", fmt::join(option.names, " "));
    if (option.names.size() == 1) {
        return once + option.names.front() + rest;
    }
    return fmt::format("{}{{{}}}{}", once, fmt::join(option.names, ","), rest);
}

std::string zsh_arguments(const std::deque<Option>& options, const std::string& indent)
{
    std::string text;
    for (const Option& option : options) {
        text += fmt::format(" \\\n{}{}", indent, zsh_specification(option));
    }
    return text;
}

std::string zsh_positionals(const Command& command, const std::string& indent)
{
    std::string text;
    for (const Option& positional : command.positionals) {
        text += fmt::format(" \\\n{}'{}:{}:{}'", indent, positional.is_repeatable() ? "*" : "",
                            zsh_escaped(positional.names.front()), zsh_action(positional));
    }
    return text;
}

std::string zsh_command_case(const Command& command, const std::deque<Option>& global)
{
    constexpr const char* indent = "                    ";
    std::string text = fmt::format("            {})\n                _arguments", command.name);
    text += zsh_arguments(command.options, indent);
    for (const Option& option : global) {
        if (option.names.front() != "-h" && option.names.front() != "-V") {
            text += fmt::format(" \\\n{}{}", indent, zsh_specification(option));
        }
    }
    return text + zsh_positionals(command, indent) + "\n                ;;\n";
}

// The commands of a program, and what each takes.
std::string zsh_command_cases(const Command& tree)
{
    std::string text = "    local -a commands=(\n";
    for (const Command& command : tree.commands) {
        text += fmt::format("        '{}:{}'\n", command.name, zsh_escaped(command.help));
    }
    text += "    )\n    _arguments -C" + zsh_arguments(tree.options, "        ") +
            " \\\n        '1:command:->command' \\\n        '*::argument:->arguments'\n"
            "    case $state in\n    command) _describe command commands ;;\n    arguments)\n"
            "        case $words[1] in\n";
    for (const Command& command : tree.commands) {
        text += zsh_command_case(command, tree.options);
    }
    return text + "        esac\n        ;;\n    esac\n";
}

std::string zsh_completion(const Command& tree)
{
    const std::string function = completion_function(tree);
    std::string text = fmt::format("#compdef {}\n# zsh completion for {}, printed by `{}`.\n", tree.name, tree.name,
                                   completion_source(tree, "zsh"));
    text += zsh_scenarios;
    text += fmt::format("\n{}()\n{}", function, zsh_locals);
    text += tree.commands.empty()
                ? "    _arguments" + zsh_arguments(tree.options, "        ") + zsh_positionals(tree, "        ") + "\n"
                : zsh_command_cases(tree);
    return text + fmt::format("}}\n\nif [[ $funcstack[1] == {} ]]; then\n    {} \"$@\"\nelse\n    compdef {} {}\nfi\n",
                              function, function, function, tree.name);
}

struct Shell {
    std::string_view name;
    std::string (*script)(const Command& tree);
};
constexpr std::array<Shell, 3> shells{{{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

}  // namespace

OptionValue shell_name(std::string& target)
{
    return value::word(target, value::names_in(shells));
}

std::string completion_script(const Command& program, const std::string& shell)
{
    return std::ranges::find(shells, shell, &Shell::name)->script(program);
}

}  // namespace memsweep::app
