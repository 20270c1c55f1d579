#include "app/commands.hpp"
#include "app/manual_page.hpp"
#include "core/model/tool_info.hpp"

namespace memsweep::app {

ExitCode execute(const ManCommand& command, const GlobalOptions& /*global*/)
{
    return print_data(manual_page(command.tree, model::this_tool().version, command.date)) ? ExitCode::done
                                                                                           : ExitCode::bad_input;
}

}  // namespace memsweep::app
