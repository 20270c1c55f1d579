#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/completion.hpp"

namespace memsweep::app {
namespace {

constexpr const char* scenarios_function = R"sh(
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
std::string escaped(const std::string& text)
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

std::string action(const OptionFacts& option)
{
    switch (option.completes) {
    case Completes::scenarios:
        return "_memsweep_scenarios";
    case Completes::files:
        return "_files";
    case Completes::choices:
        return fmt::format("({})", fmt::join(option.choices, " "));
    case Completes::nothing:
        break;
    }
    return " ";
}

std::string specification(const OptionFacts& option)
{
    const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", escaped(option.value), action(option));
    const std::string rest = fmt::format("'[{}]{}'", escaped(option.help), value);
    const std::string once = option.repeatable ? "\\*" : fmt::format("'({})'", fmt::join(option.names, " "));
    if (option.names.size() == 1) {
        return once + option.names.front() + rest;
    }
    return fmt::format("{}{{{}}}{}", once, fmt::join(option.names, ","), rest);
}

std::string arguments(const std::vector<OptionFacts>& options, const std::string& indent)
{
    std::string text;
    for (const OptionFacts& option : options) {
        text += fmt::format(" \\\n{}{}", indent, specification(option));
    }
    return text;
}

std::string positionals(const CommandFacts& command, const std::string& indent)
{
    std::string text;
    for (const OptionFacts& positional : command.positionals) {
        text += fmt::format(" \\\n{}'{}:{}:{}'", indent, positional.repeatable ? "*" : "",
                            escaped(positional.names.front()), action(positional));
    }
    return text;
}

std::string command_case(const CommandFacts& command, const std::vector<OptionFacts>& global)
{
    std::string text = fmt::format("            {})\n                _arguments", command.name);
    text += arguments(command.options, "                    ");
    for (const OptionFacts& option : global) {
        if (option.names.front() != "-h" && option.names.front() != "-V") {
            text += fmt::format(" \\\n                    {}", specification(option));
        }
    }
    return text + positionals(command, "                    ") + "\n                ;;\n";
}

// The commands of a program, and what each takes.
std::string command_cases(const CommandFacts& tree)
{
    std::string text = "    local -a commands=(\n";
    for (const CommandFacts& command : tree.commands) {
        text += fmt::format("        '{}:{}'\n", command.name, escaped(command.help));
    }
    text += "    )\n    _arguments -C" + arguments(tree.options, "        ") +
            " \\\n        '1:command:->command' \\\n        '*::argument:->arguments'\n"
            "    case $state in\n    command) _describe command commands ;;\n    arguments)\n"
            "        case $words[1] in\n";
    for (const CommandFacts& command : tree.commands) {
        text += command_case(command, tree.options);
    }
    return text + "        esac\n        ;;\n    esac\n";
}

}  // namespace

std::string zsh_completion(const CommandFacts& tree)
{
    const std::string function = completion_function(tree);
    std::string text = fmt::format("#compdef {}\n# zsh completion for {}, printed by `{}`.\n", tree.name, tree.name,
                                   completion_source(tree, "zsh"));
    text += scenarios_function;
    text += fmt::format("\n{}()\n{}", function, locals);
    text += tree.commands.empty()
                ? "    _arguments" + arguments(tree.options, "        ") + positionals(tree, "        ") + "\n"
                : command_cases(tree);
    return text + fmt::format("}}\n\nif [[ $funcstack[1] == {} ]]; then\n    {} \"$@\"\nelse\n    compdef {} {}\nfi\n",
                              function, function, function, tree.name);
}

}  // namespace memsweep::app
