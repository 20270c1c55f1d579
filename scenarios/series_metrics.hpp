// What a series can record: the names of SeriesSpec's switches.
#pragma once

#include <string_view>
#include <vector>

namespace memsweep::scenarios {

[[nodiscard]] inline std::vector<std::string_view> series_metrics()
{
    return {"working_set", "live_bytes"};
}

}  // namespace memsweep::scenarios
