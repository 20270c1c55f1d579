// Finds the call sites that make the change between two builds of a program, from recorded runs of both.
//
// Sites are matched by the functions and files of their call stacks. So inserted lines, rebuilt libraries and addresses
// make no difference. If a function asks for memory on several lines, the lines of the two builds are paired in their
// order, so that as little as possible differs.
//
// The site is the innermost function that is the program's own. Some functions only ask on behalf of others: their name
// is like malloc's, or most of their many callers do not differ. Then the site is the caller that differs.
//
// A site differs if the runs of the two programs lie further apart than the runs of either scatter. If nothing varies,
// two runs of each program show it. Else there are five. If a program is then compared with itself, false sites are
// named: of sites whose figures scatter continuously 1 in 10,000, of sites whose figures are one of two values 2 in
// 1,000 (simulated). For programs that vary, changes of less than 0.02 % of the whole are not reported.
//
// Units    bytes, counts, of one run.
// Cost     some 1 us a stack and run; and for a function that asks on n lines, n^2 steps of 5 ns.
// Errors   none: SiteComparison::reason says why nothing is compared.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/site_changes.hpp"

namespace memsweep::measure {

enum class FrameRole : std::uint8_t {
    program,
    library,  // of the language or the system: std::vector, strdup
    allocator,
};

// A place in a stack.
struct SiteFrame {
    std::string function;  // "app+0x1234" if it has no name
    std::string file;      // without its folders; empty: not known
    std::uint32_t line{};  // 0: not known
    std::string place;     // as reports call it
    std::string module;    // the file that it lies in, without its folders
    std::string code;      // identifies the file's contents: then the same offset is the same place; empty: not known
    FrameRole role{};
    bool is_named{};
};

// Numbers for frames. The same place has the same number in every run of both programs.
class SiteFrames {
  public:
    std::uint32_t number_of(const SiteFrame& frame);
    [[nodiscard]] const SiteFrame& at(std::uint32_t number) const { return frames_[number]; }
    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(frames_.size()); }

  private:
    using Key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
    std::vector<SiteFrame> frames_;
    std::map<Key, std::uint32_t> numbers_;
};

struct SiteFigures {
    std::uint64_t allocations{}, allocated_bytes{};
    std::uint64_t peak_bytes{}, peak_blocks{};  // live at the peak of the run
    std::uint64_t end_bytes{}, end_blocks{};    // live at its end
};

struct RecordedStack {
    std::vector<std::uint32_t> frames;  // innermost first; empty: allocations without a stack
    SiteFigures figures;
};
using RecordedRun = std::vector<RecordedStack>;  // the stacks of one run

inline constexpr std::uint32_t first_site_runs = 2;    // of each program
inline constexpr std::uint32_t varying_site_runs = 5;  // where something varies from run to run

struct ComparedSites {
    model::SiteComparison changes;  // without the names of the cases
    bool is_settled{};              // more runs would tell no more
};

// Both programs have the same number of runs, at least one. `names_apart`: as in names.hpp.
[[nodiscard]] ComparedSites compare_sites(const SiteFrames& frames, std::span<const RecordedRun> base,
                                          std::span<const RecordedRun> candidate, std::uint64_t names_apart = 0);

// Whether sites have figures of this metric.
[[nodiscard]] bool is_metric_of_sites(std::string_view metric);

// The memory that a line of a function asks for.
struct LineUse {
    std::uint32_t line{};
    double allocations{}, bytes{};
};
inline constexpr std::size_t no_line = ~std::size_t{0};

// Pairs of indices, in order, each index once; `no_line` for what the other side lacks. Both are sorted by line.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> pair_lines(std::span<const LineUse> base,
                                                                          std::span<const LineUse> candidate);

}  // namespace memsweep::measure
