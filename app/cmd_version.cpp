#include <fmt/format.h>

#include "app/commands.hpp"
#include "core/model/tool_info.hpp"
#include "reporters/listing.hpp"

namespace memsweep::app {

ExitCode execute(const VersionCommand& command, const GlobalOptions& /*global*/)
{
    const model::ToolInfo tool = model::this_tool();
    const reporters::Listing listing{
        {"name", "version", "git", "build_type", "compiler", "sanitizer"},
        {{tool.name, tool.version, tool.commit, tool.build_type, tool.compiler, tool.sanitizer}}};
    const std::string text = command.json ? reporters::object_json(listing)
                                          : fmt::format("{} {} ({})\n", tool.name, tool.version, tool.commit);
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
