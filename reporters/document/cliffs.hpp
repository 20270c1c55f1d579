// What `memsweep cliffs` found: the sizes beyond which an allocator's calls cost more, why, and what moves them.
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

// What a setting did to a cliff when it was tried.
struct TriedSetting {
    std::string text;  // VARIABLE=VALUE
    SettingEffect effect{};
    std::uint64_t last_cheap{};               // moved: where the cliff lies with it
    std::optional<measure::SizeCost> beyond;  // with it, at what was the first dear size
    std::string reason;                       // failed
};

struct ExplainedCliff {
    measure::Cliff cliff;
    std::optional<measure::CliffCause> cause;  // empty: not known
    std::vector<TriedSetting> tried;
};

struct AllocatorCliffs {
    std::string name;
    std::string library;
    std::string skipped;  // why it was left out; empty: it was measured
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
