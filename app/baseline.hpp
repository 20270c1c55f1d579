// `run --baseline`: the earlier result that a run is compared with, found unfit before anything is measured.
#pragma once

#include <string>

#include "app/exit_code.hpp"
#include "app/options.hpp"
#include "core/base/expected.hpp"
#include "core/measure/comparison.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

class Baseline {
  public:
    // `run` is the report of `plan` before it has cases.
    // Errors   io, invalid_input: unreadable, or of another scenario or machine, with what differs.
    [[nodiscard]] static base::Expected<Baseline> open(const std::string& path, const model::RunReport& run,
                                                       const model::Plan& plan, measure::Criteria criteria);

    [[nodiscard]] base::Expected<measure::Comparison> compare(const model::RunReport& report) const;

  private:
    std::string path_;
    model::RunReport result_;
    measure::Criteria criteria_;
};

// The comparison as text for the terminal.
[[nodiscard]] std::string baseline_text(const measure::Comparison& comparison, bool gate, const GlobalOptions& global);

// The same in one sentence, for where stdout is taken.
[[nodiscard]] std::string baseline_line(const measure::Comparison& comparison);

}  // namespace memsweep::app
