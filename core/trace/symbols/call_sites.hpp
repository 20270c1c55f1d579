// Says who asks for the memory of a trace: its call sites, functions, files, threads or sizes, with their figures.
//
// A site is the innermost place of a stack that is the program's own: outside of malloc, operator new and the like, and
// outside of the standard library. If all of a stack is in those, the site is the innermost place outside of the
// allocator. If a stack has calls of an interpreter, the site is the innermost of these calls, because everything
// inside works on its behalf.
//
// Units    bytes, counts.
// Cost     that of stacks.hpp, and symbolizer.hpp for each address.
// Errors   invalid_input: a trace without the stacks of its allocations is asked for sites, functions or files.
// Ownership  a CallSites has its texts; its reader must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/stacks.hpp"
#include "core/trace/symbols/call_tree.hpp"
#include "core/trace/symbols/symbolizer.hpp"

namespace memsweep::trace {

enum class SiteKind : std::uint8_t { site, function, file, thread, size };
enum class SiteOrder : std::uint8_t { peak, allocated, end, count, temporary };
[[nodiscard]] std::uint64_t figure_of(const AllocationFigures& figures, SiteOrder order);

struct CallSite {
    ResolvedFrame place;   // for sites, functions and files; the function is empty for blocks without a stack
    ThreadName thread;     // for threads; for places by process, the process
    std::uint64_t size{};  // of sizes
    AllocationFigures figures;
    bool has_estimated_own_peak{};  // its other figures are as CallSites says
    std::uint32_t stack{};          // the node with the largest part of the site's figure; 0: none
};

struct SiteQuery {
    SiteKind by{SiteKind::site};
    SiteOrder order{SiteOrder::peak};
    bool by_process{};  // the same place in another process is another site
    DebugFiles debug_files{DebugFiles::of_this_machine};
};

class CallSites {
  public:
    // Reads the whole trace.
    [[nodiscard]] static base::Expected<CallSites> of(TraceReader& reader, const SiteQuery& query,
                                                      const std::string& name);

    [[nodiscard]] const SiteQuery& query() const noexcept { return query_; }
    // The sites, the largest first by the figure that orders them.
    [[nodiscard]] const std::vector<CallSite>& sites() const noexcept { return sites_; }
    [[nodiscard]] const AllocationFigures& total() const noexcept { return total_; }
    [[nodiscard]] const StackSampling& sampling() const noexcept { return sampling_; }
    // For a sample: whether the total and the sums by calling address are exact.
    [[nodiscard]] bool has_exact_callers() const noexcept { return has_exact_callers_; }
    // As Totals::impossible_event (summary.hpp).
    [[nodiscard]] std::uint64_t impossible_event() const noexcept { return impossible_event_; }
    // The site's stack, innermost first. A stack that is deeper than any real program's is cut to its innermost part.
    [[nodiscard]] std::vector<ResolvedFrame> stack_of(const CallSite& site) const;
    [[nodiscard]] const std::set<std::string>& notes() const noexcept;
    // The functions of all stacks. Threads and sizes have none, so their tree is the root alone.
    [[nodiscard]] CallTree tree() const;

  private:
    SiteQuery query_;
    std::vector<CallSite> sites_;
    std::vector<AllocationFigures> of_stacks_;
    AllocationFigures total_;
    StackSampling sampling_;
    bool has_exact_callers_{};
    std::uint64_t impossible_event_{};
    const StackTable* table_{};
    std::unique_ptr<Symbolizer> symbolizer_;
};

// The site of each stack of a trace, as numbers: site 0 has no stack.
struct StackSites {
    std::vector<std::uint32_t> of;  // by node
    std::vector<ResolvedFrame> places;
};
[[nodiscard]] StackSites sites_of_stacks(const StackTable& table, Symbolizer& symbolizer);

// The time at which each node was first used, by itself or under another node. Empty: no two modules of one process
// were loaded at the same place, so the times are not needed. Reads the trace, and goes back to its beginning.
[[nodiscard]] std::vector<std::uint64_t> first_uses_of(TraceReader& reader, const StackTable& table);
// A symbolizer for all stacks of a trace.
[[nodiscard]] Symbolizer symbolizer_of(TraceReader& reader, const StackTable& table, DebugFiles files);

// invalid_input: the trace has no stacks, and was recorded without them or has allocations. It is read up to its first
// allocation, and goes back to its beginning.
[[nodiscard]] base::Expected<void> require_stacks(TraceReader& reader, const std::string& name);

}  // namespace memsweep::trace
