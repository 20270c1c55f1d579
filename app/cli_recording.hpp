// The commands that run a program of the user's on the command line: record, watch.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace memsweep::app {

class RecordingCommandLine {
  public:
    explicit RecordingCommandLine(CLI::App& app);

    // The command that was given, if it is one of these; throws CLI::ValidationError for a wrong option.
    [[nodiscard]] std::optional<Command> given() const;

  private:
    RecordCommand record_;
    std::string min_size_;
    bool no_children_{};
    WatchCommand watch_;
    std::string interval_{"50ms"};
    CLI::App* record_app_;
    CLI::App* watch_app_;
};

}  // namespace memsweep::app
