// Finds the call sites at which two builds of a program allocate differently, from recorded runs of both.
//
// Sites are matched by the functions and files of their call stacks. So inserted lines, rebuilt libraries and changed
// addresses do not matter. If a function allocates on several lines, the lines of the two builds are paired in order,
// such that paired lines differ as little as possible in what they allocate.
//
// A site is the innermost function of the program's own code. Some functions only allocate on behalf of their callers,
// and the callers are the sites. A function counts as such a helper in two cases:
//   - Its name is like malloc's, and either it has a single caller, or not all of its callers differ (see below).
//   - It has at least four callers, and at least one but at most a quarter of them differ.
//
// A site differs if the figures of the two programs do not overlap, and the gap between them is wider than the range of
// the runs of each program. Two runs of each program are enough if no figure varies between runs of the same program;
// otherwise up to five runs are needed. False sites were counted in a simulation that compared a program with itself,
// with five runs. Of the sites whose figures vary continuously, 1 in 10,000 was named. Of the sites whose figures
// alternate between two values, 2 in 1,000 were named. If figures vary, changes below 0.02 % of the program's total are
// not reported.
//
// Units    bytes and counts of one run.
// Cost     about 1 us for each stack of each run. For a function that allocates on n lines: n^2 steps of 5 ns.
// Errors   none: SiteComparison::reason says why nothing was compared.
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

// A place in a call stack.
struct SiteFrame {
    std::string function;  // "app+0x1234" if it has no name
    std::string file;      // the source file, without its folders; empty: not known
    std::uint32_t line{};  // 0: not known
    std::string place;     // the text that reports show
    std::string module;    // the program or library, without its folders
    std::string code;      // identifies the module's contents, for matching places without names; empty: not known
    FrameRole role{};
    bool is_named{};  // the function has a name
};

// Numbers the frames. Equal frames have the same number in all runs of both programs.
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
    std::uint64_t peak_bytes{}, peak_blocks{};  // only of blocks that are live at the peak of the run
    std::uint64_t end_bytes{}, end_blocks{};    // only of blocks that are live at the end of the run
};

struct RecordedStack {
    std::vector<std::uint32_t> frames;  // innermost first; empty: allocations without a stack
    SiteFigures figures;
};
using RecordedRun = std::vector<RecordedStack>;  // the stacks of one run

inline constexpr std::uint32_t first_site_runs = 2;    // runs of each program
inline constexpr std::uint32_t varying_site_runs = 5;  // runs of each program if figures vary from run to run

struct ComparedSites {
    model::SiteComparison changes;  // without the ids of the cases
    bool is_settled{};              // no more runs are needed
};

// Both programs must have the same number of runs, at least one. `names_apart`: see core/measure/names.hpp.
[[nodiscard]] ComparedSites compare_sites(const SiteFrames& frames, std::span<const RecordedRun> base,
                                          std::span<const RecordedRun> candidate, std::uint64_t names_apart = 0);

// Whether the change of this metric can be split by call sites.
[[nodiscard]] bool is_metric_of_sites(std::string_view metric);

// The memory that a line of a function allocates.
struct LineUse {
    std::uint32_t line{};
    double allocations{}, bytes{};
};
inline constexpr std::size_t no_line = ~std::size_t{0};

// Pairs the lines of two builds; both inputs are sorted by line. Returns pairs of an index into `base` and an index
// into `candidate`. Each index appears once, in rising order. An index without a partner is paired with `no_line`.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> pair_lines(std::span<const LineUse> base,
                                                                          std::span<const LineUse> candidate);

}  // namespace memsweep::measure
