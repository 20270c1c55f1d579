#include "reporters/terminal/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace memsweep::reporters {
namespace {

constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string_view block_of(double value, double top)
{
    const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
    return blocks[static_cast<std::size_t>(std::lround(share * (blocks.size() - 1)))];
}

using CurveColumns = std::vector<std::optional<double>>;

// The highest sample of each column that has one.
CurveColumns highest(const model::Series& series, double end, int columns)
{
    CurveColumns values(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
        const double place = series.t[i] / end * columns;
        if (std::isfinite(series.v[i]) && place >= 0) {
            auto& value = values[std::min(static_cast<std::size_t>(place), values.size() - 1)];
            value = std::max(value.value_or(series.v[i]), series.v[i]);
        }
    }
    return values;
}

}  // namespace

std::string sparkline(const model::Series& series, double end, double top, int columns)
{
    if (!(end > 0) || columns < 1) {
        return {};
    }
    CurveColumns values = highest(series, end, columns);
    while (!values.empty() && !values.back()) {
        values.pop_back();
    }
    std::string line;
    std::optional<double> last;
    for (const auto& value : values) {
        last = value ? value : last;
        line += last ? block_of(*last, top) : " ";
    }
    return line;
}

}  // namespace memsweep::reporters
