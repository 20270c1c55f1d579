#include "reporters/text/number_text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace memsweep::reporters {

std::string number_text(double value)
{
    if (!std::isfinite(value)) {
        return {};
    }
    return value == 0 ? "0" : fmt::format("{}", value);
}

}  // namespace memsweep::reporters
