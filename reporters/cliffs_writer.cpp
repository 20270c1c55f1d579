#include "reporters/cliffs_writer.hpp"

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/json_text.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::Cliff;
using measure::CliffKind;
using measure::SizeCost;

constexpr double seconds_per_ns = 1e-9;

std::string bytes_text(std::uint64_t bytes)
{
    return base::format_count(static_cast<double>(bytes)) + " B";
}

std::string cost_text(CliffKind kind, const SizeCost& cost)
{
    return kind == CliffKind::faults ? base::format_count(cost.faults_per_op) + " faults"
                                     : base::format_duration(cost.ns_per_op * seconds_per_ns);
}

std::string jump_text(const Cliff& cliff)
{
    const std::string operation = cliff.kind == CliffKind::faults ? "malloc, touch and free" : "malloc and free";
    return fmt::format("{} ({}) is the last cheap size: {} costs {}, a byte more {}", bytes_text(cliff.cheap.bytes),
                       base::format_size(static_cast<double>(cliff.cheap.bytes)), operation,
                       cost_text(cliff.kind, cliff.cheap), cost_text(cliff.kind, cliff.dear));
}

std::string effect_text(const Cliff& cliff, const TriedSetting& tried)
{
    const std::string beyond = tried.beyond ? cost_text(cliff.kind, *tried.beyond) : "?";
    switch (tried.effect) {
    case SettingEffect::removed:
        return fmt::format("the cliff is gone: {} where it was {}", beyond, cost_text(cliff.kind, cliff.dear));
    case SettingEffect::moved:
        return fmt::format("it lies at {} then", bytes_text(tried.last_cheap));
    case SettingEffect::eased:
        return fmt::format("it stays, and costs {} instead of {}", beyond, cost_text(cliff.kind, cliff.dear));
    case SettingEffect::none:
        return fmt::format("no effect here: {} all the same", beyond);
    case SettingEffect::failed:
        return "could not be tried: " + tried.reason;
    }
    return {};
}

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

std::string cliff_text(const ExplainedCliff& explained, const TerminalStyle& style)
{
    const std::string cause = explained.cause.empty() ? "the cause is not known to memsweep" : explained.cause;
    std::string text =
        paragraph(jump_text(explained.cliff), "  * ", style, Tone::caution) + paragraph("why: " + cause, "    ", style);
    if (!explained.without.empty()) {
        text += paragraph(explained.without, "    ", style);
    }
    for (const TriedSetting& tried : explained.tried) {
        text += "    $ " + inert_text(tried.text) + "\n" +
                paragraph("tried: " + effect_text(explained.cliff, tried), "      ", style);
    }
    return text;
}

Json cost_json(const SizeCost& cost)
{
    return {
        {"bytes", cost.bytes}, {"faults_per_op", cost.faults_per_op}, {"time_per_op", cost.ns_per_op * seconds_per_ns}};
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

std::string to_terminal(const CliffsReport& report, const TerminalStyle& style)
{
    std::string text;
    for (const AllocatorCliffs& one : report.allocators) {
        text += (text.empty() ? "" : "\n") + heading(one.name, style) + "\n";
        if (!one.skipped.empty()) {
            text += paragraph("skipped: " + one.skipped, "  ", style);
            continue;
        }
        text += paragraph(one.library, "  ", style);
        for (const ExplainedCliff& cliff : one.cliffs) {
            text += cliff_text(cliff, style);
        }
        if (one.cliffs.empty()) {
            text += paragraph(
                fmt::format("no cliff from {} to {}", bytes_text(report.range.from), bytes_text(report.range.to)), "  ",
                style, Tone::good);
        }
    }
    return text;
}

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
    return json.dump(2) + "\n";
}

}  // namespace memsweep::reporters
