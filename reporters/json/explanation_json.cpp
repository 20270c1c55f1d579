#include <utility>

#include <fmt/format.h>

#include "reporters/json/return_json.hpp"
#include "reporters/json/subject_json.hpp"

#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json site_of_explanation(const ExplainedSite& site, std::size_t number, bool has_reachability)
{
    Json json{{"id", number},
              {"site", site.place},
              {"function", site.function},
              {"stack", site.stack},
              {"live", site.figures.live},
              {"blocks", site.figures.blocks},
              {"unreachable", has_reachability ? Json(site.unreachable) : Json()},
              {"left_behind", site.figures.left_behind},
              {"pins_alone", site.figures.pins_alone},
              {"pins_with_others", site.figures.pins_with_others}};
    json["growth"] = Json{{"answer", measure::name_of(site.growth)}, {"bytes_per_second", site.bytes_per_second}};
    json["without"] = Json();
    if (site.without) {
        json["without"] = Json{{"runs", site.without->runs}, {"how", "replay"}};
        put_return(site.without, json["without"]);
    }
    return json;
}

Json area_of_explanation(const measure::PictureArea& area)
{
    const auto bytes = area.bytes();
    std::uint64_t resident = 0;
    Json categories = Json::object();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes.at(i) != 0) {
            categories[std::string{measure::name_of(static_cast<measure::MemoryCategory>(i))}] = bytes.at(i);
            resident += bytes.at(i);
        }
    }
    return {{"begin", fmt::format("{:#x}", area.begin)},
            {"end", fmt::format("{:#x}", area.end)},
            {"name", repaired_utf8(area.name)},
            {"resident", resident},
            {"categories", std::move(categories)}};
}

}  // namespace

std::string to_json(const Explanation& one)
{
    Json categories = Json::array();
    for (std::size_t i = 0; i < measure::memory_categories; ++i) {
        const auto category = static_cast<measure::MemoryCategory>(i);
        const measure::CategoryFigure& figure = one.ledger.of(category);
        categories.push_back(
            Json{{"name", measure::name_of(category)}, {"bytes", figure.bytes}, {"pages", figure.pages}});
    }
    Json sites = Json::array();
    for (std::size_t i = 0; i < one.sites.size(); ++i) {
        sites.push_back(site_of_explanation(one.sites[i], i + 1, one.has_reachability));
    }
    Json areas = Json::array();
    for (const measure::PictureArea& area : one.ledger.picture.areas) {
        areas.push_back(area_of_explanation(area));
    }
    Json command = Json::array();
    for (const std::string& word : one.command) {
        command.push_back(repaired_utf8(word));
    }
    Json tried = Json::array();
    if (one.tried.was_tried()) {
        tried.push_back(Json{{"request", one.tried.request}, {"where", "fork"}, {"returned", one.tried.returned}});
    }
    Json says = Json::array();
    for (const measure::AllocatorFigure& figure : one.allocator_says) {
        says.push_back(Json{{"name", figure.name},
                            {"bytes", figure.bytes},
                            {"ledger", figure.ledger},
                            {"meaning", meaning_of_figure(figure.name)}});
    }
    const Json document{{"format", "memsweep-explain"},
                        {"format_version", 1},
                        {"command", std::move(command)},
                        {"allocator", Json{{"name", measure::name_of(one.allocator)}, {"file", one.allocator_file}}},
                        {"moment", Json{{"at", one.at},
                                        {"event", one.event},
                                        {"seconds", one.seconds},
                                        {"stopped", true},
                                        {"stopped_seconds", one.stopped_seconds},
                                        {"cut", "exact"},
                                        {"ended_by", one.ended_by.empty() ? Json() : Json(one.ended_by)}}},
                        {"rss", one.ledger.rss_bytes},
                        {"pss", one.pss_bytes},
                        {"anonymous", one.anonymous_bytes},
                        {"swapped", one.ledger.swapped_bytes},
                        {"page_tables", one.page_tables_bytes},
                        {"zero_pages", one.ledger.zero_page_bytes},
                        {"sum", one.ledger.sum()},
                        {"categories", std::move(categories)},
                        {"live", Json{{"requested", one.ledger.live_requested},
                                      {"blocks", one.ledger.live_blocks},
                                      {"resident", one.ledger.bytes(measure::MemoryCategory::live)},
                                      {"unreachable", one.has_reachability ? Json(one.unreachable_bytes) : Json()}}},
                        {"allocator_says", std::move(says)},
                        {"tried", std::move(tried)},
                        {"not_tried", one.tried.was_tried() ? Json() : Json(one.tried.why_not)},
                        {"verdict", Json{{"word", measure::name_of(one.verdict.word)},
                                         {"bytes", one.verdict.bytes},
                                         {"why", headlines_of(one)},
                                         {"settings", one.verdict.settings},
                                         {"site", one.main_site ? Json(*one.main_site + 1) : Json()}}},
                        {"sites", std::move(sites)},
                        {"areas", std::move(areas)},
                        {"replay_check", one.replay_check ? check_of_replay(*one.replay_check) : Json()},
                        {"not_replayed", one.no_returns.empty() ? Json() : Json(one.no_returns)},
                        {"warnings", one.warnings}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
