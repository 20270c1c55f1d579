// The tables of everything but steps and release: see option_tables_steps.cpp, option_tables_release.cpp.
#include <array>
#include <limits>

#include "core/model/assertion.hpp"
#include "core/model/plan.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/options.hpp"
#include "scenarios/series_metrics.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;

constexpr std::uint64_t thousand_million = 1'000'000'000;
constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t hour = 3600'000 * ms;
constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();

// Shared by the scenario and the files it includes.
constexpr OptionInfo schema_key{"$schema", text, false, "", 0, 0, nullptr, "for editors; not read"};
constexpr OptionInfo description{"description", text, false, "", 0, 0, nullptr, "one sentence for lists and reports"};
constexpr OptionInfo include{
    "include", texts,
    false,     "",
    0,         0,
    nullptr,   "files with settings, relative to this one; what this file says itself wins, then the later file"};
constexpr OptionInfo repetitions{
    "repetitions", integer, false, "10", 1, 100'000, nullptr, "measured runs of each case"};
constexpr OptionInfo warmup{"warmup", integer, false, "1", 0, 1'000, nullptr, "runs before them that are not kept"};
constexpr OptionInfo timeout{"timeout", duration, false, "60s", ms, 24 * hour, nullptr, "of one repetition"};
constexpr OptionInfo order{"order",
                           choice,
                           false,
                           "interleaved",
                           0,
                           0,
                           model::all_names<model::Order>,
                           "how the repetitions of the cases follow each other"};
constexpr OptionInfo seed{
    "seed", integer, false, "1", 0, std::numeric_limits<std::uint64_t>::max(), nullptr, "of everything random"};
constexpr OptionInfo isolation{"isolation",
                               choice,
                               false,
                               "process",
                               0,
                               0,
                               model::all_names<model::Isolation>,
                               "whether repetitions share a process"};
constexpr OptionInfo series{"series", object, false, "", 0, 0, nullptr, "what is recorded over time"};

constexpr std::array scenario_table{
    schema_key,
    OptionInfo{"format", text, true, "", 0, 0, nullptr, "\"memsweep-scenario\""},
    OptionInfo{"version", integer, true, "", 1, 1, nullptr, "of the format"},
    OptionInfo{"name", name, true, "", 0, 0, nullptr, "of the scenario; begins every case id"},
    description,
    include,
    OptionInfo{"variables", object, false, "", 0, 0, nullptr, "names and values for ${NAME}; --set changes them"},
    OptionInfo{"requires", object, false, "", 0, 0, nullptr, "what the machine must have"},
    OptionInfo{"ranks", integer, false, "", 2, max_ranks, nullptr,
               "MPI ranks that its transfers go between: so many, or \"2+\": as many or more"},
    repetitions,
    warmup,
    timeout,
    order,
    seed,
    isolation,
    OptionInfo{"axes", object, false, "", 0, 0, nullptr,
               "names and values; every combination is a case; -a changes them"},
    OptionInfo{"exclude", list, false, "", 0, 0, nullptr, "combinations to leave out: axis names and values"},
    OptionInfo{"memory", object, false, "", 0, 0, nullptr, "what arrays are made of"},
    OptionInfo{"release", object, false, "", 0, 0, nullptr, "when memory that was dropped is freed"},
    OptionInfo{"safety", object, false, "", 0, 0, nullptr, "what looks for mistakes in the use of memory"},
    OptionInfo{"allocators", object, false, "", 0, 0, nullptr,
               "settings of the allocators that the axis allocator names"},
    OptionInfo{"steps", list, true, "", 0, 0, nullptr, "what one repetition does, in order"},
    series,
    OptionInfo{"assert", list, false, "", 0, 0, nullptr, "what must hold"},
};

constexpr std::array settings_table{schema_key, description, include, repetitions, warmup,
                                    timeout,    order,       seed,    isolation,   series};

constexpr std::array requires_table{
    OptionInfo{"memory", size, false, "0", 0, any_size, nullptr, "memory this machine or its cgroup must have"},
    OptionInfo{"numa_nodes", integer, false, "0", 0, 1024, nullptr, "NUMA nodes it must have"},
    OptionInfo{"device", text, false, "", 0, 0, nullptr, "an accelerator it must have, as in gpu0; null: none"},
};

// `from`, `to` and `step` are integers or sizes, alike; read by axis_range.hpp.
constexpr std::array axis_range_table{
    OptionInfo{"from", size, true, "", 0, any_size, nullptr, "first value: an integer or a size"},
    OptionInfo{"to", size, true, "", 0, any_size, nullptr, "last value, itself included when it is hit"},
    OptionInfo{"factor", integer, false, "", 2, thousand_million, nullptr,
               "each value is this many times the one before"},
    OptionInfo{"step", size, false, "", 1, any_size, nullptr, "each value is this much more than the one before"},
};

constexpr std::array memory_table{
    OptionInfo{"resource", choice, false, "malloc", 0, 0, model::all_names<model::ResourceKind>,
               "where memory comes from"},
    OptionInfo{"pages", choice, false, "system", 0, 0, model::all_names<model::PageKind>,
               "page size; with resources pages and memfd only, 2MiB and 1GiB with pages only"},
    OptionInfo{
        "huge_pages_from", size, false, "0", 0, any_size, nullptr,
        "malloc: ask for transparent huge pages in arrays of this size and more, as NumPy does from 4MiB; 0: in none"},
    OptionInfo{"alignment", size, false, "64", 1, 1U << 21U, nullptr,
               "resource aligned: of every allocation at least, a power of two"},
    OptionInfo{"path", text, false, "", 0, 0, nullptr, "resource file: the folder that its files lie in"},
    OptionInfo{"device", text, false, "gpu0", 0, 0, nullptr,
               "whose memory it is, with resources of a device's driver: pinned, write_combined, mapped, managed, "
               "device, stream_ordered"},
    OptionInfo{"populated", boolean, false, "false", 0, 0, nullptr,
               "every page is there before an allocation returns; with resources that map pages"},
    OptionInfo{"locked", boolean, false, "false", 0, 0, nullptr, "and stays there (mlock)"},
    OptionInfo{"numa", object, false, "", 0, 0, nullptr, "on which nodes memory lies; with resources that map pages"},
    OptionInfo{"pool", object, false, "", 0, 0, nullptr, "what is kept between the arrays and their resource"},
    OptionInfo{"limit", size, false, "0", 0, any_size, nullptr,
               "refuse an allocation that would exceed it; 0: no limit"},
    OptionInfo{"fail_every", integer, false, "0", 0, thousand_million, nullptr, "refuse every Nth allocation; 0: none"},
    OptionInfo{"trim", object, false, "", 0, 0, nullptr, "trim arrays in use while the working set is above a limit"},
};

constexpr std::array memory_trim_table{
    OptionInfo{"above", size, true, "", 0, any_size, nullptr,
               "resident set of the process beyond which arrays in use are trimmed; 0: never"},
    OptionInfo{"how", choice, false, "soft", 0, 0, model::all_names<model::TrimHow>, "by which mechanism"},
};

constexpr std::array numa_table{
    OptionInfo{"policy", choice, false, "none", 0, 0, model::all_names<model::NumaPolicy>, "how nodes are chosen"},
    OptionInfo{"nodes", shape, false, "[0]", 0, 63, nullptr, "their numbers"},
};

constexpr std::array safety_table{
    OptionInfo{"detect", choice, false, "off", 0, 0, model::all_names<model::Detection>,
               "how a use of freed memory is noticed"},
    OptionInfo{"quarantine", size, false, "256MiB", 1, any_size, nullptr,
               "detect quarantine: how much freed memory is held back"},
    OptionInfo{"guard_pages", boolean, false, "false", 0, 0, nullptr,
               "each array ends against an inaccessible page, so that an overrun traps"},
    OptionInfo{"ignore_manual_free", boolean, false, "false", 0, 0, nullptr,
               "manual frees are disregarded: the results must not change"},
};

constexpr std::array profile_table{
    schema_key,
    OptionInfo{"format", text, true, "", 0, 0, nullptr, "\"memsweep-profile\""},
    OptionInfo{"version", integer, true, "", 1, 1, nullptr, "of the format"},
    OptionInfo{"name", text, true, "", 0, 0, nullptr, "as the file is named"},
    OptionInfo{"description", text, true, "", 0, 0, nullptr, "which runtime it stands for, and from where"},
    OptionInfo{"inherits", text, false, "", 0, 0, nullptr, "another profile, whose keys stand where this one has none"},
    OptionInfo{"verified", boolean, false, "false", 0, 0, nullptr,
               "recorded runs of that runtime have confirmed when it collects"},
    OptionInfo{"release", object, true, "", 0, 0, nullptr, "keys of \"release\""},
};

constexpr std::array series_table{
    OptionInfo{"interval", duration, true, "", ms, 60'000 * ms, nullptr, "time between two samples"},
    OptionInfo{"metrics", choices, false, "working_set, live_bytes", 0, 0, series_metrics, "what is sampled"},
};

constexpr std::array assert_table{
    OptionInfo{"where", object, false, "", 0, 0, nullptr, "axis names and values: the cases it is about; default: all"},
    OptionInfo{"expr", text, true, "", 0, 0, nullptr,
               "[POINT.]METRIC.STAT OP NUMBER[UNIT], or ratio(METRIC.STAT, AXIS=V, AXIS=V) OP NUMBER, or slope(the "
               "same), or explained(AXIS=V, AXIS=V)"},
    OptionInfo{"severity", choice, false, "fail", 0, 0, model::all_names<model::Severity>,
               "whether it sets the exit code"},
    OptionInfo{"abort", boolean, false, "false", 0, 0, nullptr, "end the run when it does not hold"},
};

}  // namespace

std::span<const OptionInfo> scenario_options()
{
    return scenario_table;
}

std::span<const OptionInfo> settings_options()
{
    return settings_table;
}

std::span<const OptionInfo> requires_options()
{
    return requires_table;
}

std::span<const OptionInfo> axis_range_options()
{
    return axis_range_table;
}

std::span<const OptionInfo> memory_options()
{
    return memory_table;
}

std::span<const OptionInfo> numa_options()
{
    return numa_table;
}

std::span<const OptionInfo> memory_trim_options()
{
    return memory_trim_table;
}

std::span<const OptionInfo> safety_options()
{
    return safety_table;
}

std::span<const OptionInfo> profile_options()
{
    return profile_table;
}

std::span<const OptionInfo> series_options()
{
    return series_table;
}

std::span<const OptionInfo> assert_options()
{
    return assert_table;
}

}  // namespace memsweep::scenarios
