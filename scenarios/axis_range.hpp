// The values of an axis given as a range: {"from","to","factor"}, {"from","to","step"}, [4KiB:1GiB:*4], [1:10:+1].
//
// Units    integers, or sizes when `from`, `to` or `step` carries a unit; sizes come out as their shortest exact text.
// Errors   invalid_input: an end or step that is neither, a range that is empty, endless or longer than
// max_axis_values.
#pragma once

#include <vector>

#include "core/base/expected.hpp"
#include "core/model/scalar.hpp"

namespace memsweep::scenarios {

struct AxisRange {
    model::Scalar from;
    model::Scalar to;
    model::Scalar by;
    bool multiply{};  // by is a factor; else a step
};

[[nodiscard]] base::Expected<std::vector<model::Scalar>> range_values(const AxisRange& range);

}  // namespace memsweep::scenarios
