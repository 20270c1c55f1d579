#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "core/device/open.hpp"
#include "core/model/machine.hpp"
#include "core/probe/probe.hpp"
#include "reporters/json/listing.hpp"

namespace memsweep::app {
namespace {

// Looked up for the long form alone: a driver takes its time to load.
std::string devices()
{
    const auto runtime = device::open_runtime();
    return runtime->devices().empty() ? "none: " + runtime->absence()
                                      : fmt::format("{}", fmt::join(probe::device_lines(*runtime), "; "));
}

ExitCode print_version(bool as_json)
{
    const model::ToolInfo tool = model::this_tool();
    const auto listing = [&] {
        return reporters::Listing{
            {"name", "version", "git", "build_type", "compiler", "sanitizer", "devices"},
            {{tool.name, tool.version, tool.commit, tool.build_type, tool.compiler, tool.sanitizer, devices()}}};
    };
    const std::string text =
        as_json ? reporters::object_json(listing()) : fmt::format("{} {} ({})\n", tool.name, tool.version, tool.commit);
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace

std::function<std::optional<ExitCode>()> add_version(Command& program)
{
    struct Asked {
        bool version{};
        bool json{};
    };
    const auto asked = std::make_shared<Asked>();
    program.flag("-V,--version", asked->version, "Print the version (--json: with commit, build and compiler)");
    program.hidden_option("--json", value::flag(asked->json));
    return [asked] { return asked->version ? std::optional{print_version(asked->json)} : std::nullopt; };
}

}  // namespace memsweep::app
