// Manual pages in roff's man macros, from the same tables as --help: memsweep(1), and those of programs beside it.
#pragma once

#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// `date` of the page's footer: 2026-01-31.
[[nodiscard]] std::string manual_page(const Command& tree, const std::string& version, const std::string& date);

// What the page of a program without commands says besides its options.
struct ManualTexts {
    std::string summary;      // behind the name, in one line
    std::string called;       // "mpirun ... memsweep-mpi"
    std::string description;  // further paragraphs and sections, in roff, as is
    std::string closing;      // sections behind the options, in roff
};
[[nodiscard]] std::string manual_page(const Command& program, const ManualTexts& texts, const std::string& version,
                                      const std::string& date);

}  // namespace memsweep::app
