#include <algorithm>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"
#include "core/measure/merge.hpp"
#include "reporters/json_writer.hpp"
#include "scenarios/fingerprint.hpp"

namespace memsweep::app {
namespace {

// Every result, or every error on stderr.
std::vector<model::RunReport> read_all(const MergeCommand& command)
{
    std::vector<model::RunReport> results;
    for (const std::string& path : command.results) {
        auto result = read_result(path);
        if (!result) {
            print_error(result.error());
            continue;
        }
        if (result->run.interrupted) {
            print_note(fmt::format("{}: its run did not finish; what it measured is merged", path));
        }
        results.push_back(*std::move(result));
    }
    return results;
}

// The same parts make the same id: merging twice writes the same bytes twice.
void sign(model::RunReport& merged, const std::vector<model::RunReport>& results, const GlobalOptions& global)
{
    const std::string& parts = merged.run.tags.at(measure::merged_from_tag);
    merged.run.id = fmt::format("{}-{:.8}", merged.run.started, scenarios::sha256(parts));
    merged.run.argv = global.argv;
    ExitCode code = ExitCode::done;
    for (const model::RunReport& result : results) {
        code = worse(code, static_cast<ExitCode>(result.run.exit_code));
    }
    merged.run.exit_code = static_cast<int>(code);
}

}  // namespace

ExitCode execute(const MergeCommand& command, const GlobalOptions& global)
{
    if (std::ranges::count(command.results, "-") > 1) {
        print_error({base::ErrorCode::invalid_input, "the standard input holds one result only", "-"});
        return ExitCode::bad_input;
    }
    const std::vector<model::RunReport> results = read_all(command);
    if (results.size() != command.results.size()) {
        return ExitCode::bad_input;
    }
    std::vector<measure::MergePart> parts;
    for (std::size_t i = 0; i < results.size(); ++i) {
        parts.push_back({command.results[i], &results[i]});
    }
    auto merged = measure::merge(parts, command.force);
    if (!merged) {
        print_error(merged.error());
        return ExitCode::bad_input;
    }
    sign(*merged, results, global);
    return write_text(reporters::to_json(*merged), command.out);
}

}  // namespace memsweep::app
