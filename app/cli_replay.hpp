// `memsweep replay` on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace memsweep::app {

class ReplayCommandLine {
  public:
    explicit ReplayCommandLine(CLI::App& app);

    // The command, if it was given; throws CLI::ValidationError for a wrong option.
    [[nodiscard]] std::optional<Command> given() const;

  private:
    ReplayCommand replay_;
    std::vector<std::string> reports_;
    std::string settle_{"5s"};
    std::string timeout_;
    std::string max_memory_;
    bool no_latency_{};
    CLI::App* app_;
};

}  // namespace memsweep::app
