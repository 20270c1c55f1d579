// A command's memory over time, sampled from outside, as a result with one case.
//
// Units    seconds since the command's start; bytes; faults and waiting time per interval.
// Cost     of a sample: as process_tree.hpp, and one small file.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "core/sys/exit_status.hpp"
#include "core/sys/process_tree.hpp"

namespace memsweep::app {

class Watching {
  public:
    explicit Watching(std::vector<std::string> command);

    void begin();
    void sample();
    // Totals are the kernel's own, of the command and of what it has waited for.
    [[nodiscard]] model::RunReport finish(const sys::ExitStatus& status, model::Machine machine,
                                          std::vector<std::string> argv);

  private:
    void add_metric(const char* name, std::optional<double> value, const char* reason = "");

    std::vector<std::string> command_;
    std::string started_;
    std::chrono::steady_clock::time_point begun_;
    sys::TreeSample last_;
    std::optional<std::uint64_t> first_stall_us_;
    std::optional<std::uint64_t> last_stall_us_;
    double peak_bytes_{};
    model::CaseReport watched_;
};

}  // namespace memsweep::app
