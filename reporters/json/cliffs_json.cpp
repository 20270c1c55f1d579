#include "reporters/json/cliffs_json.hpp"

#include <utility>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using measure::Cliff;
using measure::CliffKind;
using measure::SizeCost;

constexpr double seconds_in_ns = 1e-9;

std::string_view effect_name(SettingEffect effect)
{
    switch (effect) {
    case SettingEffect::removed:
        return "removed";
    case SettingEffect::moved:
        return "moved";
    case SettingEffect::eased:
        return "eased";
    case SettingEffect::none:
        return "none";
    case SettingEffect::failed:
        return "failed";
    }
    return "?";
}

Json cost_json(const SizeCost& cost)
{
    return {
        {"bytes", cost.bytes}, {"faults_per_op", cost.faults_per_op}, {"time_per_op", cost.ns_per_op * seconds_in_ns}};
}

Json tried_json(const TriedSetting& tried)
{
    Json json{{"setting", json_text(tried.text)},
              {"effect", effect_name(tried.effect)},
              {"last_cheap", tried.effect == SettingEffect::moved ? Json(tried.last_cheap) : Json(nullptr)},
              {"reason", json_text_or_null(tried.reason)}};
    json["first_dear_before"] = tried.beyond ? cost_json(*tried.beyond) : Json(nullptr);
    return json;
}

Json cliff_json(const ExplainedCliff& explained)
{
    const Cliff& cliff = explained.cliff;
    Json tried = Json::array();
    for (const TriedSetting& one : explained.tried) {
        tried.push_back(tried_json(one));
    }
    return {{"metric", cliff.kind == CliffKind::faults ? "faults_per_op" : "time_per_op"},
            {"last_cheap", cliff.cheap.bytes},
            {"cheap", cost_json(cliff.cheap)},
            {"dear", cost_json(cliff.dear)},
            {"cause", json_text_or_null(explained.cause)},
            {"without_setting", json_text_or_null(explained.without)},
            {"tried", std::move(tried)}};
}

Json allocator_json(const AllocatorCliffs& one)
{
    Json json{{"name", json_text(one.name)},
              {"library", json_text_or_null(one.library)},
              {"status", one.skipped.empty() ? "ok" : "skipped"},
              {"reason", json_text_or_null(one.skipped)},
              {"sizes", Json::array()},
              {"cliffs", Json::array()}};
    for (const SizeCost& size : one.sizes) {
        json["sizes"].push_back(cost_json(size));
    }
    for (const ExplainedCliff& cliff : one.cliffs) {
        json["cliffs"].push_back(cliff_json(cliff));
    }
    return json;
}

}  // namespace

std::string to_json(const CliffsReport& report)
{
    Json json{{"format", "memsweep-cliffs"},
              {"format_version", 1},
              {"tool", {{"version", json_text(report.tool.version)}, {"git", json_text(report.tool.commit)}}},
              {"machine",
               {{"host", json_text(report.machine.host)},
                {"cpu", json_text(report.machine.cpu)},
                {"kernel", json_text(report.machine.kernel)}}},
              {"taken", report.taken},
              {"from", report.range.from},
              {"to", report.range.to},
              {"allocators", Json::array()}};
    for (const AllocatorCliffs& one : report.allocators) {
        json["allocators"].push_back(allocator_json(one));
    }
    return indented(json) + "\n";
}

}  // namespace memsweep::reporters
