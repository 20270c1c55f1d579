// The assets of a page: its scripts, its glossary and its style sheet. The scripts and the glossary are files that are
// compiled into the program.
//
// Ownership  the functions return views of constants in the program.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// Returns third_party/vega/vega.bundle.js, which draws Vega-Lite specs without using eval.
[[nodiscard]] std::string_view chart_library();

// Returns report_page.js, which draws the page's charts and sorts its tables. The page can be read without this script.
[[nodiscard]] std::string_view page_script();

// Returns flame_graph.js, which draws the flame graph of call stacks and the graph's table.
[[nodiscard]] std::string_view flame_graph_script();

// Returns docs/glossary.md, a table of words and what they mean.
[[nodiscard]] std::string_view glossary();

// Returns the style sheet. Every text colour has a contrast of at least 4.5:1 on every surface on which it appears, in
// both themes. Colour only repeats what a word says. Printed pages have the light theme.
[[nodiscard]] std::string_view style_sheet();

// Returns the hash by which a Content-Security-Policy allows this script: "sha256-..." of exactly its bytes.
[[nodiscard]] std::string script_hash(std::string_view script);

}  // namespace memsweep::reporters
