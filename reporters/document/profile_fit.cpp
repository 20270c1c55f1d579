#include "reporters/document/profile_fit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

struct Origin {
    std::string_view key;
    std::string_view text;
};

constexpr std::array origins{
    Origin{"heap_initial", "-Xms; without it -Xmx, or a 64th of the machine's memory where that is less"},
    Origin{"heap_min", "-Xms; 0 where it was not given"},
    Origin{"heap_max", "-Xmx"},
    Origin{"region", "-XX:G1HeapRegionSize, or what G1 takes for this -Xmx"},
    Origin{"cap", "-XX:MaxDirectMemorySize"},
    Origin{"explicit_gc", "-XX:+DisableExplicitGC"},
    Origin{"mode", "the recorded arrays hang in reference cycles"},
    Origin{"threshold0", "gc.get_threshold()"},
    Origin{"managed_bytes", "small objects that the program makes with each array"},
    Origin{"nursery_used", "what was allocated before the first array"},
    Origin{"promoted", "what survives the first collection of the nursery"},
    Origin{"temporary_containers", "containers that live for a moment with each array"},
    Origin{"containers_at_start", "containers made before the first array"},
};

std::string_view origin_of(std::string_view key)
{
    const auto* const known = std::ranges::find(origins, key, &Origin::key);
    return known == origins.end() ? std::string_view{"as given by --set"} : known->text;
}

std::string grouped(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

Cell pair_cell(const lifetime::Figure& figure)
{
    return {.text = fmt::format("{}/{}", figure.model, figure.recorded)};
}

// The name of a file, as a table has room for it.
std::string short_name(std::string_view path)
{
    path.remove_prefix(path.rfind('/') + 1);
    path.remove_suffix(path.ends_with(".csv") ? 4 : 0);
    return inert_text(path);
}

Table agreements_table(const ProfileReport& report, bool of_checks)
{
    Table table{.title = of_checks ? "Recordings that it was not fitted to" : "Recordings that it was fitted to",
                .note = "model/recorded; it holds where peak and end agree within 10 % or five buffers, and "
                        "collections within 20 % or one",
                .columns = {Column::key("recording")}};
    table.add_numbers({"peak", "end", "collections", "first"});
    table.columns.push_back(Column::word("holds"));
    for (const JudgedRecording& one : report.recordings) {
        if (one.is_check != of_checks) {
            continue;
        }
        const lifetime::Agreement& found = one.agreement;
        table.rows.push_back({{short_name(found.recording)},
                              pair_cell(found.peak),
                              pair_cell(found.end),
                              pair_cell(found.collections),
                              found.first ? pair_cell(*found.first) : Cell{},
                              {.text = found.holds ? "yes" : "NO", .tone = found.holds ? Tone::good : Tone::bad}});
    }
    return table;
}

Headline headline_of(const ProfileReport& report)
{
    const auto held = static_cast<std::uint64_t>(
        std::ranges::count_if(report.recordings, [](const JudgedRecording& one) { return one.agreement.holds; }));
    const bool all = held == report.recordings.size();
    return {fmt::format("As {}, {}. It agrees with {} of {}; collections come {} off on average.", report.profile,
                        report.why, held, plural(report.recordings.size(), "recording"),
                        fmt::format("{:.1f} iterations", report.fit.iterations_off)),
            all ? Tone::good : Tone::bad};
}

}  // namespace

std::uint64_t ProfileReport::recorded_collections() const
{
    std::uint64_t sum = 0;
    for (const JudgedRecording& one : recordings) {
        sum += one.is_check ? 0 : one.agreement.collections.recorded;
    }
    return sum;
}

std::string key_sentence(const ProfileReport& report, const lifetime::FittedKey& key)
{
    const std::uint64_t collections = report.recorded_collections();
    const std::string start = fmt::format("{} is {}: {}, ", key.key, key.value, origin_of(key.key));
    const std::string range = fmt::format("{} to {}", grouped(key.least), grouped(key.most));
    if (key.is_sure()) {
        return fmt::format("{}sure: from {} the {} as near.", start, range,
                           collections == 1 ? "recorded collection comes"
                                            : fmt::format("{} recorded collections come", grouped(collections)));
    }
    if (key.key == "nursery_used" || key.key == "containers_at_start") {
        return fmt::format("{}not sure: from {} the recorded collections come as near. It moves the first one most.",
                           start, range);
    }
    if (collections == 1) {
        return fmt::format("{}not sure: from {} it comes as near. A single collection cannot tell what each array adds "
                           "from what was there at the start: record more iterations.",
                           start, range);
    }
    return fmt::format(
        "{}not sure: from {} they come as near. More iterations, or less garbage beside each array, tell "
        "more: record them too, and name all recordings.",
        start, range);
}

Document document(const ProfileReport& report)
{
    Document document{.kicker = "memsweep profile fit", .title = inert_text(report.name)};
    document.add(Opening{.headline = headline_of(report)});
    Items sentences{.items = {}, .has_bullets = true};
    for (const auto& [key, value] : report.given) {
        sentences.items.push_back({fmt::format("{} is {}: {}.", inert_text(key), inert_text(value), origin_of(key))});
    }
    for (const lifetime::FittedKey& key : report.fit.keys) {
        sentences.items.push_back({key_sentence(report, key), key.is_sure() ? Tone::plain : Tone::caution});
    }
    sentences.items.push_back({fmt::format("All other keys are those of {}.", report.profile)});
    document.add(std::move(sentences));
    document.add(TableBlock{.table = agreements_table(report, false)});
    document.add_table({.table = agreements_table(report, true)});
    return document;
}

}  // namespace memsweep::reporters
