// Every metric of the catalogue: which programs have it, and where its value comes from.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/engine/metric_values.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::engine {

// What a program can show, as far as it can be told before it runs.
namespace scope {

template <typename Step>
[[nodiscard]] bool has(const Program& program)
{
    return std::ranges::any_of(program.instructions, is<Step>);
}

// Whether a thread of its own frees what a collection has found.
[[nodiscard]] bool queues(const Program& program);

// Whether memory lies idle between arrays: in the release mode's own store, or in a pool.
[[nodiscard]] bool keeps_or_pools(const Program& program);

// Whether the program can be made to wait for a collection.
[[nodiscard]] bool waits(const Program& program);

}  // namespace scope

struct Extractor {
    model::MetricId metric{};
    bool (*applies)(const Program&){};
    values::Value (*value)(const values::Context&){};
    std::string_view absent;  // why a value can be missing
};

[[nodiscard]] const Extractor& extractor_of(model::MetricId metric);

}  // namespace memsweep::engine
