// Tells who allocates the memory of a trace. Lists the call sites, functions, files, threads or sizes with the figures
// of each.
//
// A stack's call site is its innermost frame in the program's own code: outside of malloc, operator new and the like,
// and outside of the standard library. If a stack has no such frame, the site is the innermost frame outside of the
// allocator. If a stack has calls of an interpreted language, the site is the innermost of these calls. The frames
// further in belong to the interpreter, which works on behalf of this call.
//
// Units    bytes, counts.
// Cost     that of stacks.hpp, and that of symbolizer.hpp for each address.
// Errors   invalid_input: a trace without the stacks of its allocations is asked for sites, functions or files.
// Ownership  a CallSites owns its texts. Its reader must outlive it.
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
    ResolvedFrame place;   // for sites, functions and files; for blocks without a stack its function is empty
    ThreadName thread;     // for threads; with SiteQuery::by_process, only its process is set
    std::uint64_t size{};  // for sizes
    AllocationFigures figures;
    bool has_estimated_own_peak{};  // of a sample: the site's own peak is an estimate
    std::uint32_t stack{};          // the node of the site's stack with the largest figure; 0: none
};

struct SiteQuery {
    SiteKind by{SiteKind::site};
    SiteOrder order{SiteOrder::peak};
    bool by_process{};  // a place counts as a separate site in each process
    DebugFiles debug_files{DebugFiles::of_this_machine};
};

class CallSites {
  public:
    // Reads the whole trace.
    [[nodiscard]] static base::Expected<CallSites> of(TraceReader& reader, const SiteQuery& query,
                                                      const std::string& name);

    [[nodiscard]] const SiteQuery& query() const noexcept { return query_; }
    // Returns the sites, ordered by the figure that query().order names, the largest first.
    [[nodiscard]] const std::vector<CallSite>& sites() const noexcept { return sites_; }
    [[nodiscard]] const AllocationFigures& total() const noexcept { return total_; }
    [[nodiscard]] const StackSampling& sampling() const noexcept { return sampling_; }
    // For a sample: whether the total and the sums by calling address are exact.
    [[nodiscard]] bool has_exact_callers() const noexcept { return has_exact_callers_; }
    // Returns the same as Totals::impossible_event (summary.hpp).
    [[nodiscard]] std::uint64_t impossible_event() const noexcept { return impossible_event_; }
    // Returns the frames of CallSite::stack, innermost first. Of a stack with more than most_frames_shown frames, only
    // about this number of innermost frames is returned.
    [[nodiscard]] std::vector<ResolvedFrame> stack_of(const CallSite& site) const;
    [[nodiscard]] const std::set<std::string>& notes() const noexcept;
    // Returns all stacks as one tree of functions. If the sites are threads or sizes, the tree has only its root.
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

// The site of each stack of a trace, as a number. Site 0 stands for blocks without a stack.
struct StackSites {
    std::vector<std::uint32_t> of;  // by node
    std::vector<ResolvedFrame> places;
};
[[nodiscard]] StackSites sites_of_stacks(const StackTable& table, Symbolizer& symbolizer);

// Returns, for each node, the time at which it was first used: as the stack of an event, or as a caller in such a
// stack. Empty: the times are not needed, because no two modules of a process were loaded at the same address. Reads
// the trace, then rewinds it.
[[nodiscard]] std::vector<std::uint64_t> first_uses_of(TraceReader& reader, const StackTable& table);
// Makes a symbolizer for all stacks of a trace.
[[nodiscard]] Symbolizer symbolizer_of(TraceReader& reader, const StackTable& table, DebugFiles files);

// Fails (invalid_input) if the trace has no stacks, unless it was recorded with stacks and has no allocations. Reads
// the trace up to its first allocation, then rewinds it.
[[nodiscard]] base::Expected<void> require_stacks(TraceReader& reader, const std::string& name);

}  // namespace memsweep::trace
