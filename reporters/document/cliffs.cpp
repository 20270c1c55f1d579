#include "reporters/document/cliffs.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/wording/cliff_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Cliff;
using measure::CliffKind;
using measure::SizeCost;

std::string bytes_text(std::uint64_t bytes)
{
    return base::format_count(static_cast<double>(bytes)) + " B";
}

std::string cost_text(CliffKind kind, const SizeCost& cost)
{
    return kind == CliffKind::faults ? base::format_count(cost.faults_per_op) + " faults"
                                     : base::format_duration(cost.ns_per_op * 1e-9);
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

Item item_of(const ExplainedCliff& explained)
{
    const std::string cause =
        explained.cause ? limit_text(explained.cause->limit) : "the cause is not known to memsweep";
    Item item{.text = jump_text(explained.cliff), .tone = Tone::caution};
    item.below.push_back({"why: " + cause});
    if (explained.cause && explained.cause->moves != measure::LimitMoves::lifted) {
        item.below.push_back({without_text(explained.cause->moves)});
    }
    for (const TriedSetting& tried : explained.tried) {
        Item setting{.text = tried.text, .below = {}, .is_command = true};
        setting.below.push_back({"tried: " + effect_text(explained.cliff, tried)});
        item.below.push_back(std::move(setting));
    }
    return item;
}

}  // namespace

Document document(const CliffsReport& report)
{
    Document document{.kicker = "memsweep cliffs", .title = report.machine.host};
    for (const AllocatorCliffs& one : report.allocators) {
        document.add(Heading{one.name});
        if (!one.skipped.empty()) {
            document.add(Paragraph{.text = "skipped: " + one.skipped, .mark = "  "});
            continue;
        }
        document.add(Paragraph{.text = one.library, .mark = "  "});
        Items cliffs{.items = {}, .has_bullets = true};
        for (const ExplainedCliff& cliff : one.cliffs) {
            cliffs.items.push_back(item_of(cliff));
        }
        document.add(std::move(cliffs));
        if (one.cliffs.empty()) {
            document.add(Paragraph{.text = fmt::format("no cliff from {} to {}", bytes_text(report.range.from),
                                                       bytes_text(report.range.to)),
                                   .tone = Tone::good,
                                   .mark = "  "});
        }
    }
    return document;
}

}  // namespace memsweep::reporters
