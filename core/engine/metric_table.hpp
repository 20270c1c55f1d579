// Every metric of the catalogue: which programs have it, and where its value comes from.
#pragma once

#include <string_view>

#include "core/engine/metric_values.hpp"

namespace memsweep::engine {

struct Extractor {
    std::string_view metric;
    bool (*applies)(const Program&);
    values::Value (*value)(const values::Context&);
    std::string_view absent;  // why a value can be missing
};

[[nodiscard]] const Extractor& extractor_of(std::string_view metric);

}  // namespace memsweep::engine
