// The commands that print what memsweep says of itself: --version, schema, completion, and man, which the build calls.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/completion.hpp"
#include "app/cli/help.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "core/base/text.hpp"
#include "core/device/open.hpp"
#include "core/model/machine.hpp"
#include "core/probe/probe.hpp"
#include "reporters/json/listing.hpp"
#include "scenarios/reader/schema.hpp"

namespace memsweep::app {
namespace {

// Looked up for the long form alone: a driver takes its time to load.
std::string devices()
{
    const auto runtime = device::open_runtime();
    return runtime->devices().empty() ? "none: " + runtime->absence()
                                      : fmt::format("{}", fmt::join(probe::device_lines(*runtime), "; "));
}

std::string version_text(bool as_json)
{
    const model::ToolInfo tool = model::this_tool();
    if (!as_json) {
        return fmt::format("{} {} ({})\n", tool.name, tool.version, tool.commit);
    }
    return reporters::object_json(
        {{"name", "version", "git", "build_type", "compiler", "sanitizer", "devices"},
         {{tool.name, tool.version, tool.commit, tool.build_type, tool.compiler, tool.sanitizer, devices()}}},
        "memsweep-version");
}

// Accepts "gates" too: the format "memsweep-gate" was once known by the name of its folder.
base::Expected<std::string> schema_named(const std::string& given)
{
    const std::string name = given == "gates" ? "gate" : given;
    std::vector<std::string_view> known;
    std::ranges::transform(scenarios::schemas, std::back_inserter(known), &scenarios::NamedSchema::name);
    if (std::ranges::find(known, name) == known.end()) {
        return refuse(fmt::format("\"{}\" is not accepted{}", given, base::suggestion(given, known)));
    }
    return name;
}

}  // namespace

std::function<std::optional<ExitCode>()> add_version(Command& root)
{
    struct Asked {
        bool version{};
        bool json{};
    };
    const auto asked = std::make_shared<Asked>();
    root.flag("-V,--version", asked->version, "Print the version (--json: with commit, build and compiler)");
    root.hidden_option("--json", value::flag(asked->json));
    return [asked]() -> std::optional<ExitCode> {
        if (asked->version) {
            return print_text(version_text(asked->json));
        }
        if (asked->json) {
            return settled(
                base::Expected<void>{refuse("goes with --version, and with commands that have it", "--json")});
        }
        return std::nullopt;
    };
}

void add_schema(Command& root, const GlobalOptions& /*global*/)
{
    const auto which = std::make_shared<std::string>();
    Command& command = root.command("schema", "Print a JSON Schema, for editors and for readers");
    const std::vector<std::string> names = value::names_in(scenarios::schemas);
    command.positional("which WHICH",
                       value::offering(value::each([which](const std::string& given) {
                                           return schema_named(given).map(
                                               [&](std::string name) { *which = std::move(name); });
                                       }),
                                       names),
                       fmt::format("{}", fmt::join(names, ", ")));
    command.run = [which] {
        return print_text(std::ranges::find(scenarios::schemas, *which, &scenarios::NamedSchema::name)->text());
    };
}

// Declared behind the commands that it explains.
void add_help(Command& root, const GlobalOptions& /*global*/)
{
    const auto which = std::make_shared<std::string>();
    std::vector<std::string> names = value::names_in(root.commands);
    Command& command = root.command("help", "Print the help of a command");
    command.optional_positional("command COMMAND", value::word(*which, std::move(names)),
                                "The command; without one: all of them in short");
    command.run = [which, &root] {
        const auto found = std::ranges::find(root.commands, *which, &Command::name);
        const Command& explained = found == root.commands.end() ? root : *found;
        return print_text(help_text(explained, root, terminal_width(STDOUT_FILENO)));
    };
}

void add_completion(Command& root, const GlobalOptions& /*global*/)
{
    const auto shell = std::make_shared<std::string>();
    Command& command = root.command("completion", "Print the completion script of a shell");
    command.positional("shell SHELL", shell_name(*shell), "bash, zsh or fish");
    command.footer = "In bash: source <(memsweep completion bash). Installed packages bring the scripts along.";
    command.run = [shell, &root] { return print_text(completion_script(root, *shell)); };
}

void add_man(Command& root, const GlobalOptions& /*global*/)
{
    const auto date = std::make_shared<std::string>();
    Command& command = root.hidden_command("man");
    command.required_option("--date DATE", value::text(*date), "Of the page's footer, as in 2026-01-31");
    command.run = [date, &root] { return print_text(manual_page(root, model::this_tool().version, *date)); };
}

}  // namespace memsweep::app
