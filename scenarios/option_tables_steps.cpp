// The tables of steps: what all carry, and one per operation.
#include <array>
#include <limits>

#include "core/model/concat_case.hpp"
#include "core/model/step.hpp"
#include "scenarios/options.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;

constexpr std::uint64_t thousand_million = 1'000'000'000;
constexpr std::uint64_t largest_array =
    std::numeric_limits<std::int64_t>::max();  // PTRDIFF_MAX: no allocator gives more

std::vector<std::string_view> operation_names()
{
    std::vector<std::string_view> known;
    for (const model::OperationInfo& operation : model::operations()) {
        known.push_back(operation.name);
    }
    return known;
}

constexpr std::array step_table{
    OptionInfo{"op", choice, true, "", 0, 0, operation_names, "what the step does"},
    OptionInfo{"phase", name, false, "", 0, 0, nullptr, "what reports group it by; default: the operation"},
    OptionInfo{"timed", boolean, false, "false", 0, 0, nullptr,
               "wall_time covers the steps marked so; when none is, all but samples"},
};

constexpr std::array alloc_table{
    OptionInfo{"as", name, true, "", 0, 0, nullptr,
               "name of the new arrays; a name in use is rebound, new arrays first"},
    OptionInfo{"count", integer, false, "1", 1, thousand_million, nullptr, "how many arrays"},
    OptionInfo{"dtype", choice, false, "float64", 0, 0, model::all_names<model::DType>, "element type"},
    OptionInfo{"shape", shape, false, "", 1, largest_array, nullptr, "extents, slowest-varying first"},
    OptionInfo{"bytes", size, false, "", 1, largest_array, nullptr,
               "instead of dtype and shape: a uint8 array of this size"},
    OptionInfo{"fill", choice, false, "none", 0, 0, model::all_names<model::Fill>, "what the elements hold"},
    OptionInfo{"touch", choice, false, "none", 0, 0, model::all_names<model::Touch>, "what is written at once"},
};

constexpr std::array write_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name of the arrays"},
    OptionInfo{"touch", choice, false, "full", 0, 0, model::all_names<model::Touch>, "what is written"},
    OptionInfo{"overrun", size, false, "0", 0, 4096, nullptr,
               "written past the end as well: a planted mistake, for guard pages to catch"},
};

constexpr std::array target_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name of the arrays"},
};

constexpr std::array binary_table{
    OptionInfo{"function", choice, true, "", 0, 0, model::all_names<model::BinaryFunction>,
               "what is computed per element"},
    OptionInfo{"as", name, true, "", 0, 0, nullptr, "name of the new arrays"},
    OptionInfo{"left", name, true, "", 0, 0, nullptr, "name of the first operands"},
    OptionInfo{"right", name, true, "", 0, 0, nullptr,
               "name of the second operands, of the same count, dtype and shape"},
};

constexpr std::array concat_table{
    OptionInfo{"case", choice, true, "", 0, 0, model::concat_labels, "label of the case"},
    OptionInfo{"warmup", integer, false, "", 0, 100'000, nullptr,
               "calls before those that are timed; default: 20 as the original, 1 in mode leak"},
    OptionInfo{"calls", integer, false, "", 1, 100'000, nullptr,
               "timed calls; default: as the original, 30 to 500 by case, 3 in mode leak"},
    OptionInfo{"out", name, false, "", 0, 0, nullptr,
               "name for the array that results are written to, of a case that has one"},
};

constexpr std::array view_table{
    OptionInfo{"as", name, true, "", 0, 0, nullptr, "name of the views or copies"},
    OptionInfo{"of", name, true, "", 0, 0, nullptr, "name of the arrays that they are of"},
    OptionInfo{"start", integer, false, "0", 0, largest_array, nullptr, "first row, along the first dimension"},
    OptionInfo{"stop", integer, true, "", 1, largest_array, nullptr, "row after the last"},
    OptionInfo{"copy", boolean, false, "false", 0, 0, nullptr, "memory of its own instead of a view"},
};

constexpr std::array drop_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name whose arrays lose their reference"},
};

constexpr std::array trim_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name whose arrays lose their resident pages"},
    OptionInfo{"how", choice, false, "soft", 0, 0, model::all_names<model::TrimHow>, "by which mechanism"},
};

constexpr std::array prefetch_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name whose pages are brought in"},
    OptionInfo{"how", choice, false, "populate_write", 0, 0, model::all_names<model::PrefetchHow>, "by which advice"},
};

constexpr std::array migrate_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name whose resident pages are moved"},
    OptionInfo{"node", integer, false, "0", 0, 63, nullptr, "the NUMA node they are moved to"},
};

constexpr std::array stream_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name of the arrays"},
    OptionInfo{"chunk", size, false, "8MiB", 4096, largest_array, nullptr, "gone through at a time; whole pages"},
    OptionInfo{"ahead", integer, false, "1", 0, 1024, nullptr,
               "chunks that are asked for before they are needed (MADV_WILLNEED)"},
    OptionInfo{"drop_behind", boolean, false, "false", 0, 0, nullptr,
               "what has been gone through leaves memory (MADV_PAGEOUT; written to its file before); resource file"},
    OptionInfo{"write", boolean, false, "false", 0, 0, nullptr, "write instead of reading into the checksum"},
};

constexpr std::array share_table{
    OptionInfo{"bytes", size, false, "16MiB", 4096, largest_array, nullptr, "of the shared memory"},
    OptionInfo{"rounds", integer, false, "16", 1, 1'000'000, nullptr, "how often all of it is written and read"},
};

constexpr std::array transfer_item_table{
    OptionInfo{"src", text, true, "", 0, 0, nullptr, "from where, in the words of transfers"},
    OptionInfo{"exe", text, true, "", 0, 0, nullptr, "by whom"},
    OptionInfo{"dst", text, true, "", 0, 0, nullptr, "to where"},
    OptionInfo{"bytes", size, false, "64MiB", 1, largest_array, nullptr, "that are moved"},
    OptionInfo{"priority", integer, false, "5", 0, 10, nullptr, "transfers of a higher one begin first"},
};

constexpr std::array transfer_table{
    OptionInfo{"transfers", list, true, "", 0, 0, nullptr, "which, at once; at most 64"},
    OptionInfo{"strategy", choice, false, "auto", 0, 0, model::all_names<model::Strategy>, "which way they take"},
    OptionInfo{"times", integer, false, "1", 1, 1'000'000, nullptr, "turns in which all of them are carried out"},
    OptionInfo{"pieces", integer, false, "1", 1, 1'000'000, nullptr, "copies that each is cut into"},
    OptionInfo{"batch", boolean, false, "false", 0, 0, nullptr,
               "pieces are gathered in pinned memory, and moved by one copy; from host memory to a device"},
    OptionInfo{"sync_each", boolean, false, "false", 0, 0, nullptr,
               "the program waits for each piece before it asks for the next"},
    OptionInfo{"chunk", size, false, "4MiB", 4096, 1ULL << 32U, nullptr, "staged: of each slot of the ring"},
    OptionInfo{"slots", integer, false, "2", 1, 64, nullptr, "staged: slots of the ring"},
    OptionInfo{"pipeline", boolean, false, "true", 0, 0, nullptr,
               "staged: a slot is filled while others are on their way; false: one slot alone"},
    OptionInfo{"adaptive", boolean, false, "false", 0, 0, nullptr,
               "staged: chunks grow and shrink with the rate that is seen, from 64KiB to \"chunk\""},
    OptionInfo{"concurrency", integer, false, "0", 0, 64, nullptr, "transfers under way at a time; 0: all"},
    OptionInfo{"offset", size, false, "0", 0, 1ULL << 20U, nullptr, "both ends begin so far into their memory"},
    OptionInfo{"retries", integer, false, "3", 0, 30, nullptr, "of a transfer, after a fault of the driver"},
    OptionInfo{"retry_delay", duration, false, "1ms", 0, 60'000'000'000, nullptr,
               "before the first of them; doubles from one to the next"},
    OptionInfo{"pinned_budget", size, false, "0", 0, largest_array, nullptr,
               "memory that may be pinned, more is refused; 0: a quarter of what is available"},
    OptionInfo{"fresh", boolean, false, "false", 0, 0, nullptr,
               "the memory of both ends is made and given back in every turn"},
    OptionInfo{"chain", integer, false, "0", 0, 10'000, nullptr,
               "kernels that the device runs, one after the other, on what arrived; the result comes back"},
    OptionInfo{"keep", boolean, false, "true", 0, 0, nullptr,
               "chain: what the kernels share stays on the device; false: it goes there and back for each"},
    OptionInfo{"work", size, false, "0", 0, largest_array, nullptr, "that the program reads itself in every turn"},
    OptionInfo{"blocking", boolean, false, "false", 0, 0, nullptr,
               "the program works once the transfers are done; false: where it would wait for them"},
};

constexpr std::array sample_table{
    OptionInfo{"name", name, true, "", 0, 0, nullptr, "of the point"},
    OptionInfo{"counters_only", boolean, false, "false", 0, 0, nullptr,
               "only the exact counters, no resident set: cheap enough for every turn of a loop"},
};

constexpr std::array idle_table{
    OptionInfo{"duration", duration, true, "", 0, 3600'000'000'000, nullptr, "how long nothing is done"},
};

constexpr std::array repeat_table{
    OptionInfo{"times", integer, true, "", 1, thousand_million, nullptr, "how often"},
    OptionInfo{"steps", list, true, "", 0, 0, nullptr, "what is repeated; at most 8 levels deep"},
};

constexpr std::array scope_table{
    OptionInfo{"steps", list, true, "", 0, 0, nullptr, "what the block does"},
};

constexpr std::array parallel_table{
    OptionInfo{"threads", integer, false, "2", 1, 64, nullptr, "how many; pinned to the processors in turn"},
    OptionInfo{"steps", list, true, "", 0, 0, nullptr,
               "what each thread does: alloc, write, read, drop, pass, idle, repeat, prefetch"},
};

constexpr std::array pass_table{
    OptionInfo{"target", name, true, "", 0, 0, nullptr, "name whose arrays go to the next thread of the ring"},
};

constexpr std::array throw_table{
    OptionInfo{"every", integer, false, "1", 1, thousand_million, nullptr, "every Nth time it is reached"},
};

constexpr std::array replay_table{
    OptionInfo{"trace", text, true, "", 0, 0, nullptr, "the .mst file; relative to the scenario's folder"},
    OptionInfo{"threads", integer, false, "0", 0, 1024, nullptr,
               "the recorded threads are dealt out to so many; 0: to one each"},
    OptionInfo{"touch", choice, false, "recorded", 0, 0, model::all_names<model::ReplayTouch>,
               "what is written into each block"},
    OptionInfo{"speed", choice, false, "maximum", 0, 0, model::all_names<model::ReplaySpeed>, "how fast events follow"},
    OptionInfo{"latency", boolean, false, "false", 0, 0, nullptr,
               "every call is timed by itself, for the times by size; no part of time_per_event"},
};

struct OperationTable {
    std::string_view op;
    std::span<const OptionInfo> options;
};

constexpr std::array<OperationTable, std::variant_size_v<model::Operation>> operation_tables{{
    {"alloc", alloc_table},
    {"write", write_table},
    {"read", target_table},
    {"binary", binary_table},
    {"concat", concat_table},
    {"view", view_table},
    {"free", target_table},
    {"release", target_table},
    {"drop", drop_table},
    {"collect", {}},
    {"drain", {}},
    {"trim", trim_table},
    {"prefetch", prefetch_table},
    {"migrate", migrate_table},
    {"stream", stream_table},
    {"share", share_table},
    {"transfer", transfer_table},
    {"sample", sample_table},
    {"idle", idle_table},
    {"repeat", repeat_table},
    {"scope", scope_table},
    {"parallel", parallel_table},
    {"pass", pass_table},
    {"throw", throw_table},
    {"replay", replay_table},
    {"purge", {}},
}};

}  // namespace

std::span<const OptionInfo> step_options()
{
    return step_table;
}

std::span<const OptionInfo> transfer_options()
{
    return transfer_item_table;
}

std::span<const OptionInfo> operation_options(std::string_view op)
{
    for (const OperationTable& table : operation_tables) {
        if (table.op == op) {
            return table.options;
        }
    }
    return {};
}

}  // namespace memsweep::scenarios
