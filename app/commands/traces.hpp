// Parts that the commands on traces share.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::app {

// The names of the figures by which call sites can be sorted (`info --sort`). The same names choose the figure that an
// exported stack has as its weight (`export --weight`).
inline constexpr std::array<std::pair<std::string_view, trace::SiteOrder>, 5> site_orders{
    {{"peak", trace::SiteOrder::peak},
     {"allocated", trace::SiteOrder::allocated},
     {"end", trace::SiteOrder::end},
     {"count", trace::SiteOrder::count},
     {"temporary", trace::SiteOrder::temporary}}};

// Prints what is damaged in a trace. Returns ExitCode::finding if anything is damaged, else ExitCode::done.
[[nodiscard]] ExitCode note_damage(const std::string& path, const trace::Damage& damage);

// Returns a warning for each gap (missing events) in the traces that a plan replays.
[[nodiscard]] std::vector<model::Warning> warnings_of_traces(const model::Plan& plan);

// Prints a note for each process that held much more memory than their recordings show.
void note_unseen_blocks(const std::string& path, const trace::TraceSummary& summary);

// Writes a trace file piece by piece. The file gets its final name when it is complete.
//
// Errors   io, naming the path. If commit() is not called, no file remains.
class TraceOutput {
  public:
    // Opens the output. `path`: "-" means standard output.
    [[nodiscard]] static base::Expected<TraceOutput> open(const std::string& path);

    [[nodiscard]] trace::TakeBytes taker();
    [[nodiscard]] base::Expected<void> commit();

  private:
    TraceOutput(std::string path, sys::OutputTarget target) : path_{std::move(path)}, target_{std::move(target)} {}

    std::string path_;
    sys::OutputTarget target_;
    std::optional<sys::TempFile> file_;
    sys::UniqueFd stream_;
};

}  // namespace memsweep::app
