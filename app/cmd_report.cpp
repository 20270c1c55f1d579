#include "app/commands.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"

namespace memsweep::app {
ExitCode execute(const ReportCommand& command, const GlobalOptions& global)
{
    if (command.results.size() > 1 && !command.out.empty() && command.out != "-") {
        print_error({base::ErrorCode::invalid_input,
                     "several results cannot be written to one file; convert them one by one", "--out"});
        return ExitCode::bad_input;
    }
    ExitCode code = ExitCode::done;
    for (const std::string& path : command.results) {
        const auto result = read_result(path);
        if (!result) {
            print_error(result.error());
            code = ExitCode::bad_input;
            continue;
        }
        code = worse(code, write_report(*result, {command.format, command.out}, global));
    }
    return code;
}

}  // namespace memsweep::app
