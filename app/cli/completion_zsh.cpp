#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/completion.hpp"

namespace memsweep::app {
namespace {

constexpr const char* zsh_scenarios = R"sh(
_memsweep_scenarios()
{
    local -a names=(${(f)"$(memsweep list scenarios 2>/dev/null | cut -d ' ' -f 1)"})
    _alternative 'scenarios:scenario:compadd -a names' 'files:file:_files'
}
)sh";

constexpr const char* locals = R"sh({
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

std::string action(const Option& option)
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

std::string specification(const Option& option)
{
    const std::string value =
        option.placeholder.empty() ? "" : fmt::format(":{}:{}", zsh_escaped(option.placeholder), action(option));
    const std::string rest = fmt::format("'[{}]{}'", zsh_escaped(option.help), value);
    const std::string once = option.is_repeatable() ? "\\*" : fmt::format("'({})'", fmt::join(option.names, " "));
    if (option.names.size() == 1) {
        return once + option.names.front() + rest;
    }
    return fmt::format("{}{{{}}}{}", once, fmt::join(option.names, ","), rest);
}

std::string arguments(const std::deque<Option>& options, const std::string& indent)
{
    std::string text;
    for (const Option& option : options) {
        text += fmt::format(" \\\n{}{}", indent, specification(option));
    }
    return text;
}

std::string positionals(const Command& command, const std::string& indent)
{
    std::string text;
    for (const Option& positional : command.positionals) {
        text += fmt::format(" \\\n{}'{}:{}:{}'", indent, positional.is_repeatable() ? "*" : "",
                            zsh_escaped(positional.names.front()), action(positional));
    }
    return text;
}

std::string zsh_command_case(const Command& command, const std::deque<Option>& global)
{
    std::string text = fmt::format("            {})\n                _arguments", command.name);
    text += arguments(command.options, "                    ");
    for (const Option& option : global) {
        if (option.names.front() != "-h" && option.names.front() != "-V") {
            text += fmt::format(" \\\n                    {}", specification(option));
        }
    }
    return text + positionals(command, "                    ") + "\n                ;;\n";
}

// The commands of a program, and what each takes.
std::string command_cases(const Command& tree)
{
    std::string text = "    local -a commands=(\n";
    for (const Command& command : tree.commands) {
        text += fmt::format("        '{}:{}'\n", command.name, zsh_escaped(command.help));
    }
    text += "    )\n    _arguments -C" + arguments(tree.options, "        ") +
            " \\\n        '1:command:->command' \\\n        '*::argument:->arguments'\n"
            "    case $state in\n    command) _describe command commands ;;\n    arguments)\n"
            "        case $words[1] in\n";
    for (const Command& command : tree.commands) {
        text += zsh_command_case(command, tree.options);
    }
    return text + "        esac\n        ;;\n    esac\n";
}

}  // namespace

std::string zsh_completion(const Command& tree)
{
    const std::string function = completion_function(tree);
    std::string text = fmt::format("#compdef {}\n# zsh completion for {}, printed by `{}`.\n", tree.name, tree.name,
                                   completion_source(tree, "zsh"));
    text += zsh_scenarios;
    text += fmt::format("\n{}()\n{}", function, locals);
    text += tree.commands.empty()
                ? "    _arguments" + arguments(tree.options, "        ") + positionals(tree, "        ") + "\n"
                : command_cases(tree);
    return text + fmt::format("}}\n\nif [[ $funcstack[1] == {} ]]; then\n    {} \"$@\"\nelse\n    compdef {} {}\nfi\n",
                              function, function, function, tree.name);
}

}  // namespace memsweep::app
