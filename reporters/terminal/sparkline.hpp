// A curve as one line of blocks, for a terminal.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// `columns` characters from time 0 to `end`, each as high as the highest sample in it, of `top`. Between two samples
// the last one holds; before the first and after the last there is nothing, so the line may be shorter.
[[nodiscard]] std::string sparkline(const model::Series& series, double end, double top, int columns);

}  // namespace memsweep::reporters
