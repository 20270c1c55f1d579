#include "scenarios/settings.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "scenarios/limits.hpp"

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

model::RankNeed read_ranks(const Fields& top)
{
    model::RankNeed need;
    const Node* node = top.raw("ranks");
    const auto* text = node == nullptr ? nullptr : node->as<std::string>();
    if (text != nullptr && text->ends_with('+')) {
        const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), need.count);
        if (problem != std::errc{} || end + 1 != text->data() + text->size() || need.count < 2 ||
            need.count > max_ranks) {
            top.complain(node->place,
                         fmt::format("\"ranks\" must be an integer from 2 to {}, or such a number and +, as "
                                     "in \"2+\"; not \"{}\"",
                                     max_ranks, *text));
            return {};
        }
        need.or_more = true;
        return need;
    }
    top.read("ranks", need.count);
    return need;
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
