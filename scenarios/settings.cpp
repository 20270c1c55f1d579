#include "scenarios/settings.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/model/transfer.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"

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

// No machine has so many.
constexpr std::uint32_t most_device_number = 1023;

std::optional<std::uint32_t> read_device(const Fields& fields, std::string_view key)
{
    std::string text;
    if (!fields.read(key, text)) {
        return std::nullopt;
    }
    const auto place = model::parse_place(text);
    if (!place || place->kind != model::Place::Kind::device || !place->number || place->rank ||
        *place->number > most_device_number) {
        fields.complain(fields.place(key),
                        fmt::format("\"{}\" names one device, as in \"gpu0\", not {}", key, in_quotes(text)));
        return std::nullopt;
    }
    return place->number;
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
        const auto number = read_device(fields, "device");
        requirements.devices = number ? *number + 1 : 0;
    }
    return requirements;
}

}  // namespace memsweep::scenarios
