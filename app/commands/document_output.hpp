// Writes a command's report in the requested format: text, json, md or html.
#pragma once

#include <string>

#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {

// Writes the report to `path`; "-" means stdout.
template <typename Report>
[[nodiscard]] ExitCode write_document(const Report& report, const std::string& format, const std::string& path,
                                      const GlobalOptions& global)
{
    if (format == "json") {
        return write_text(reporters::to_json(report), path);
    }
    if (format == "md") {
        return write_text(reporters::to_markdown(report), path);
    }
    return write_text(
        format == "html" ? reporters::to_html(report) : reporters::to_terminal(report, terminal_style(global)), path);
}

}  // namespace memsweep::app
