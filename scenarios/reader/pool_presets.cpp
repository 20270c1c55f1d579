#include "scenarios/reader/pool_presets.hpp"

#include <array>
#include <cstdint>

namespace memsweep::scenarios {
namespace {

constexpr std::uint64_t minute_ns = 60'000'000'000;

struct Preset {
    std::string_view name;
    std::uint32_t thread_blocks, depot_blocks;
    std::uint64_t lifetime_ns, trim_interval_ns;
};

constexpr std::array<Preset, 4> presets{{
    {"default", 8, 100, 0, 0},
    {"dotcompute", 8, 100, 30 * minute_ns, 5 * minute_ns},
    {"high-frequency", 16, 500, 15 * minute_ns, 2 * minute_ns},
    {"memory-constrained", 4, 25, 10 * minute_ns, minute_ns},
}};

}  // namespace

std::vector<std::string_view> preset_names()
{
    std::vector<std::string_view> names;
    for (const Preset& preset : presets) {
        names.push_back(preset.name);
    }
    return names;
}

void apply_preset(std::string_view name, model::PoolSpec& pool)
{
    for (const Preset& preset : presets) {
        if (preset.name == name) {
            pool.thread_blocks = preset.thread_blocks;
            pool.depot_blocks = preset.depot_blocks;
            pool.lifetime_ns = preset.lifetime_ns;
            pool.trim_interval_ns = preset.trim_interval_ns;
        }
    }
}

}  // namespace memsweep::scenarios
