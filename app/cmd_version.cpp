#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "core/device/open.hpp"
#include "core/model/tool_info.hpp"
#include "core/transfer/device_topology.hpp"
#include "reporters/listing.hpp"

namespace memsweep::app {
namespace {

// Looked up for the long form alone: a driver takes its time to load.
std::string devices()
{
    const auto runtime = device::open_runtime();
    return runtime->devices().empty() ? "none: " + runtime->absence()
                                      : fmt::format("{}", fmt::join(transfer::device_lines(*runtime), "; "));
}

}  // namespace

ExitCode execute(const VersionCommand& command, const GlobalOptions& /*global*/)
{
    const model::ToolInfo tool = model::this_tool();
    const auto listing = [&] {
        return reporters::Listing{
            {"name", "version", "git", "build_type", "compiler", "sanitizer", "devices"},
            {{tool.name, tool.version, tool.commit, tool.build_type, tool.compiler, tool.sanitizer, devices()}}};
    };
    const std::string text = command.json ? reporters::object_json(listing())
                                          : fmt::format("{} {} ({})\n", tool.name, tool.version, tool.commit);
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
