// The text of --help, and manual pages in roff's man macros, both from the declarations of a program: memsweep(1), and
// the pages of programs beside it.
#pragma once

#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// The --help text of `command`, which is `program` itself or one of its commands. No line is wider than `columns`,
// unless one word is.
[[nodiscard]] std::string help_text(const Command& command, const Command& root, int columns);

// The texts of a page beside the program's declarations.
struct ManualTexts {
    std::string summary;      // behind the name, in one line
    std::string called;       // "mpirun ... memsweep-mpi"
    std::string description;  // further paragraphs and sections, in roff, as is
    std::string closing;      // sections behind the options, in roff
};

// `date` of the page's footer: 2026-01-31.
[[nodiscard]] std::string manual_page(const Command& root, const ManualTexts& texts, const std::string& version,
                                      const std::string& date);
// memsweep(1).
[[nodiscard]] std::string manual_page(const Command& root, const std::string& version, const std::string& date);

}  // namespace memsweep::app
