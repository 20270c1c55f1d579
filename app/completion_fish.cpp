#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/completion.hpp"

namespace memsweep::app {
namespace {

constexpr const char* opening = R"(# fish completion for memsweep, printed by `memsweep completion fish`.

function __memsweep_scenarios
    memsweep list scenarios 2>/dev/null | string split --fields 1 ' '
end

complete -c memsweep -f
)";

std::string quoted(const std::string& text)
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

std::string offered(const OptionFacts& option)
{
    switch (option.completes) {
    case Completes::scenarios:
        return " -F -a '(__memsweep_scenarios)'";
    case Completes::files:
        return option.choices.empty() ? " -F" : fmt::format(" -F -a '{}'", fmt::join(option.choices, " "));
    case Completes::choices:
        return fmt::format(" -a '{}'", fmt::join(option.choices, " "));
    case Completes::nothing:
        break;
    }
    return "";
}

std::string option_line(const OptionFacts& option, const std::string& condition)
{
    std::string text = "complete -c memsweep" + condition;
    for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    const bool is_file = option.completes == Completes::files || option.completes == Completes::scenarios;
    text += option.value.empty() ? "" : (is_file ? " -r" : " -x") + offered(option);
    return text + " -d " + quoted(option.help) + "\n";
}

}  // namespace

std::string fish_completion(const CommandFacts& tree)
{
    std::string text = opening;
    for (const OptionFacts& option : tree.options) {
        text += option_line(option, "");
    }
    for (const CommandFacts& command : tree.commands) {
        text += fmt::format("\ncomplete -c memsweep -n __fish_use_subcommand -a {} -d {}\n", command.name,
                            quoted(command.help));
        const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
        for (const OptionFacts& option : command.options) {
            text += option_line(option, condition);
        }
        if (!command.positionals.empty()) {
            const std::string words = offered(command.positionals.front());
            text += words.empty() ? "" : fmt::format("complete -c memsweep{}{}\n", condition, words);
        }
    }
    return text;
}

}  // namespace memsweep::app
