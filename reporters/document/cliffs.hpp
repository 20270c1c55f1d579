// The findings of `memsweep cliffs`: the sizes beyond which an allocator's calls cost more (cliffs), their causes, and
// the settings that move them to other sizes.
//
// Units    bytes, page faults and seconds per operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measure/cliffs.hpp"
#include "core/model/allocator.hpp"
#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

enum class SettingEffect { removed, moved, eased, none, failed };

// The effect of a tried setting on a cliff.
struct TriedSetting {
    std::string text;  // VARIABLE=VALUE
    SettingEffect effect{};
    std::uint64_t last_cheap{};               // if the effect is `moved`: the last cheap size with the setting
    std::optional<measure::SizeCost> beyond;  // cost with the setting, at the first size that is expensive without it
    std::string reason;                       // if the effect is `failed`: why
};

struct ExplainedCliff {
    measure::Cliff cliff;
    std::optional<measure::CliffCause> cause;  // empty: the cause is not known
    std::vector<TriedSetting> tried;
};

struct AllocatorCliffs {
    std::string name;
    std::string library;
    std::string skipped;  // why this allocator was not measured; empty: it was measured
    std::vector<measure::SizeCost> sizes;
    std::vector<ExplainedCliff> cliffs;
};

struct CliffsReport {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;  // UTC
    measure::SizeRange range;
    std::vector<AllocatorCliffs> allocators;
};

[[nodiscard]] Document document(const CliffsReport& report);

}  // namespace memsweep::reporters
