// The assets of a page: its scripts, its glossary and its style sheet. The scripts and the glossary are files that are
// compiled into the program.
//
// Ownership  the functions return views of constants in the program.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// third_party/vega/vega.bundle.js: draws Vega-Lite specs, without eval.
[[nodiscard]] std::string_view chart_library();

// report_page.js: draws the page's charts and sorts its tables. The page can be read without this script.
[[nodiscard]] std::string_view page_script();

// flame_graph.js: draws the flame graph of call stacks, and its table.
[[nodiscard]] std::string_view flame_graph_script();

// docs/glossary.md: a table of words and what they mean.
[[nodiscard]] std::string_view glossary();

// Every text colour has a contrast of at least 4.5:1 on every surface on which it appears, in both themes. Colour only
// repeats what a word says. Printed pages have the light theme.
[[nodiscard]] std::string_view style_sheet();

// The hash by which a Content-Security-Policy allows one script: "sha256-..." of exactly these bytes.
[[nodiscard]] std::string script_hash(std::string_view script);

}  // namespace memsweep::reporters
