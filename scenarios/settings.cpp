#include "scenarios/settings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace memsweep::scenarios {

void read_settings(const Fields& fields, const Reading& reading, RunSettings& run)
{
    fields.read("repetitions", run.settings.repetitions);
    fields.read("warmup", run.settings.warmup);
    fields.read("timeout", run.settings.timeout);
    fields.read_choice("order", run.settings.order);
    fields.read("seed", run.settings.seed);
    fields.read_choice("isolation", run.settings.isolation);
    if (const Node* series = fields.raw("series")) {
        run.series = read_series(*series, reading);
    }
}

model::SeriesSpec read_series(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"series\"", reading};
    fields.check(series_options());
    model::SeriesSpec series;
    fields.read("interval", series.interval);
    std::vector<std::string> metrics{"working_set", "live_bytes"};
    fields.read("metrics", metrics);
    const auto has = [&](std::string_view name) {
        return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
    };
    series.working_set = has("working_set");
    series.live_bytes = has("live_bytes");
    return series;
}

model::Requirements read_requirements(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"requires\"", reading};
    fields.check(requires_options());
    model::Requirements requirements;
    fields.read("memory", requirements.memory_bytes);
    fields.read("numa_nodes", requirements.numa_nodes);
    const Node* device = fields.raw("device");
    if (device != nullptr && device->as<std::monostate>() == nullptr) {
        fields.complain(device->place, "\"device\" must be null: accelerators are not supported by this version");
    }
    return requirements;
}

}  // namespace memsweep::scenarios
