#include "app/commands/foreign_files.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace memsweep::app {
namespace {

struct Foreign {
    std::string_view begins;
    std::string_view what;
    std::string_view why;
    std::string_view shown_by;
};

constexpr std::string_view sums = "which has sums and no allocations in their order";
constexpr std::string_view own = "in a format that memsweep does not read";

constexpr auto known = std::to_array<Foreign>({
    {"{\"dhatFileVersion\"", "a profile of Valgrind's DHAT", sums, "dh_view.html shows it"},
    {"desc: ", "a profile of Valgrind's massif", sums, "ms_print shows it"},
    {"memray", "a capture of memray", own, "memray flamegraph shows it"},
    {"heap profile:", "a heap profile of gperftools", sums, "pprof shows it"},
    {"heap_v2/", "a heap profile of jemalloc", sums, "jeprof shows it"},
    {"# callgrind format", "a profile of Valgrind's callgrind", sums, "callgrind_annotate shows it"},
    {"PERFILE2", "a recording of perf", own, "perf report shows it"},
});

}  // namespace

std::string foreign_file(std::string_view head)
{
    const std::string_view begin = base::trimmed(head);
    const auto* const found =
        std::ranges::find_if(known, [&](const Foreign& one) { return begin.starts_with(one.begins); });
    return found == known.end() ? ""
                                : fmt::format("{}, {}: {}; memsweep record --stacks -- CMD records what "
                                              "memsweep reads",
                                              found->what, found->why, found->shown_by);
}

}  // namespace memsweep::app
