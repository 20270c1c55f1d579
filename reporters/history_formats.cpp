#include "reporters/history_formats.hpp"

#include <algorithm>
#include <array>

#include "reporters/history_csv.hpp"
#include "reporters/history_html.hpp"
#include "reporters/history_json.hpp"
#include "reporters/history_markdown.hpp"
#include "reporters/history_terminal.hpp"

namespace memsweep::reporters {
namespace {

template <std::string (*to_text)(const HistoryReport&)>
void write_whole(const HistoryReport& report, TextSink& sink)
{
    sink.add(to_text(report));
}

// As a file, not a terminal.
std::string to_text(const HistoryReport& report)
{
    return to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true});
}

}  // namespace

std::span<const HistoryFormat> history_formats()
{
    static constexpr std::array<HistoryFormat, 5> table{{{"text", write_whole<to_text>},
                                                         {"json", write_whole<to_json>},
                                                         {"html", write_whole<to_html>},
                                                         {"csv", write_csv},
                                                         {"md", write_whole<to_markdown>}}};
    return table;
}

const HistoryFormat* find_history_format(std::string_view name)
{
    const auto found = std::ranges::find(history_formats(), name, &HistoryFormat::name);
    return found == history_formats().end() ? nullptr : &*found;
}

}  // namespace memsweep::reporters
