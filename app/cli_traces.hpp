// The commands about traces on the command line: info, import, export, fit.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace memsweep::app {

class TraceCommandLine {
  public:
    explicit TraceCommandLine(CLI::App& app);

    // The command that was given, if it is one of these; throws CLI::ValidationError for a wrong option.
    [[nodiscard]] std::optional<Command> given() const;

  private:
    InfoCommand info_;
    ImportCommand import_;
    ExportCommand export_;
    FitCommand fit_;
    std::string capacity_;
    std::string alignment_;
    CLI::App* info_app_;
    CLI::App* import_app_;
    CLI::App* export_app_;
    CLI::App* fit_app_;
};

}  // namespace memsweep::app
