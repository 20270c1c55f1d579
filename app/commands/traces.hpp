// Parts that the commands on traces share.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/command_line.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::app {

// The figures by which call sites are sorted and stacks weighed.
inline constexpr std::array<std::pair<std::string_view, trace::SiteOrder>, 5> site_orders{
    {{"peak", trace::SiteOrder::peak},
     {"allocated", trace::SiteOrder::allocated},
     {"end", trace::SiteOrder::end},
     {"count", trace::SiteOrder::count},
     {"temporary", trace::SiteOrder::temporary}}};

// Prints the damage of a trace. Returns ExitCode::finding if there is any, else ExitCode::done.
[[nodiscard]] ExitCode note_damage(const std::string& path, const trace::Damage& damage);

// Names the processes that held much more memory than their recording shows.
void note_unseen_blocks(const std::string& path, const trace::TraceSummary& summary);

// A trace file that is written piece by piece, and takes its name when it is whole.
//
// Errors   io, naming the path. A file that is not committed leaves nothing behind.
class TraceOutput {
  public:
    // "-" is standard output.
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
