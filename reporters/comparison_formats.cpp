#include "reporters/comparison_formats.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "core/base/suggest.hpp"
#include "reporters/comparison_html.hpp"
#include "reporters/comparison_json.hpp"
#include "reporters/comparison_junit.hpp"
#include "reporters/comparison_markdown.hpp"
#include "reporters/comparison_terminal.hpp"

namespace memsweep::reporters {
namespace {

// As a file, not a terminal.
std::string to_text(const ComparisonReport& report)
{
    return to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true});
}

}  // namespace

std::span<const ComparisonFormat> comparison_formats()
{
    static constexpr std::array<ComparisonFormat, 5> table{{
        {"text", "what the terminal shows", to_text},
        {"md", "GitHub's Markdown, for a job summary or a merge request", to_markdown},
        {"json", "everything, format memsweep-comparison version 1", to_json},
        {"html", "one self-contained page: what changed, before and after side by side", to_html},
        {"junit", "JUnit XML: a test case per judged metric", to_junit},
    }};
    return table;
}

base::Expected<ComparisonFormat> find_comparison_format(std::string_view name)
{
    const auto found = std::ranges::find(comparison_formats(), name, &ComparisonFormat::name);
    if (found != comparison_formats().end()) {
        return *found;
    }
    std::vector<std::string_view> known;
    std::ranges::transform(comparison_formats(), std::back_inserter(known), &ComparisonFormat::name);
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, known)));
}

}  // namespace memsweep::reporters
