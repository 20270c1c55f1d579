#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/completion.hpp"

namespace memsweep::app {
namespace {

constexpr const char* fish_scenarios = R"(
function __memsweep_scenarios
    memsweep list scenarios 2>/dev/null | string split --fields 1 ' '
end
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

std::string offered(const Option& option)
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
std::string option_line(const Option& option, const std::string& subject)
{
    std::string text = subject;
    for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    const bool is_file = option.completes() == Completes::files || option.completes() == Completes::scenarios;
    text += option.placeholder.empty() ? "" : (is_file ? " -r" : " -x") + offered(option);
    return text + " -d " + quoted(option.help) + "\n";
}

// What the first argument of a program or command can be.
std::string positional_line(const Command& command, const std::string& subject)
{
    const std::string words = command.positionals.empty() ? std::string{} : offered(command.positionals.front());
    return words.empty() ? std::string{} : subject + words + "\n";
}

}  // namespace

std::string fish_completion(const Command& tree)
{
    const std::string subject = "complete -c " + tree.name;
    std::string text =
        fmt::format("# fish completion for {}, printed by `{}`.\n", tree.name, completion_source(tree, "fish"));
    text += fish_scenarios;
    text += fmt::format("\n{} -f\n", subject);
    for (const Option& option : tree.options) {
        text += option_line(option, subject);
    }
    text += positional_line(tree, subject);
    for (const Command& command : tree.commands) {
        text += fmt::format("\n{} -n __fish_use_subcommand -a {} -d {}\n", subject, command.name, quoted(command.help));
        const std::string within = fmt::format("{} -n '__fish_seen_subcommand_from {}'", subject, command.name);
        for (const Option& option : command.options) {
            text += option_line(option, within);
        }
        text += positional_line(command, within);
    }
    return text;
}

}  // namespace memsweep::app
