// `probe` on the command line.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace memsweep::app {

inline constexpr std::array<std::string_view, 6> probe_words{"topology", "bandwidth", "latency",
                                                             "faults",   "device",    "all"};

// Scenarios of the catalog, probe_ and one of these: run by `memsweep run`, written by --dump-scenario.
inline constexpr std::array<std::string_view, 13> probe_presets{"host",  "numa",    "h2d",        "d2h",     "bidir",
                                                                "p2p",   "a2a",     "one2all",    "all2one", "latency",
                                                                "pages", "staging", "healthcheck"};

class ProbeCommandLine {
  public:
    explicit ProbeCommandLine(CLI::App& app);

    // The command, if it was given; throws CLI::ValidationError for a wrong option.
    [[nodiscard]] std::optional<ProbeCommand> given() const;

  private:
    ProbeCommand probe_;
    std::string size_;
    std::string min_time_;
    std::string nodes_;
    std::string devices_;
    std::vector<std::string> tags_;
    CLI::App* app_;
};

}  // namespace memsweep::app
