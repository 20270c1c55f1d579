// Makes the text of --help, and manual pages in roff's man macros, from the declarations of a program. Used by memsweep
// and memsweep-mpi.
#pragma once

#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// Returns the --help text of `command`, which is `root` itself or one of the commands of `root`. No line is wider than
// `columns`, except for a single word that is wider.
[[nodiscard]] std::string help_text(const Command& command, const Command& root, int columns);

// The texts of a manual page that are not in the program's declarations.
struct ManualTexts {
    std::string summary;      // one line, shown after the name
    std::string called;       // how to start the program: "mpirun ... memsweep-mpi"
    std::string description;  // more paragraphs and sections; roff, copied unchanged
    std::string closing;      // sections after the options; roff
};

// Returns the manual page of the program `root`. `date`: shown in the page's footer, for example 2026-01-31.
[[nodiscard]] std::string manual_page(const Command& root, const ManualTexts& texts, const std::string& version,
                                      const std::string& date);
// Returns the manual page memsweep(1).
[[nodiscard]] std::string manual_page(const Command& root, const std::string& version, const std::string& date);

}  // namespace memsweep::app
