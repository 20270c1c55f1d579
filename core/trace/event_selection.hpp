// Reads a part of a trace: without some call sites, of one process, or up to a point in time. The events that are left
// out are treated as if they had never happened.
//
// If a block was allocated at a site that is left out, then its allocation, its reallocs, its free, and copies from or
// to it are left out, even if other sites called them. If a site that is left out reallocates the block of another
// site, only this realloc is left out: the block keeps its size.
//
// Units    bytes; nodes of the reader's StackTable.
// Cost     some 40 ns per event if sites are left out; else no more than reading the trace costs.
// Memory   32 bytes per live block if sites are left out; else none.
// Threads  one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/trace/event.hpp"
#include "core/trace/live_blocks.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct EventSelection {
    std::vector<bool> left_out;              // by stack node; empty: none. The reader must have read its stacks
    std::optional<std::uint32_t> process{};  // read only this process; absent: all
    std::uint64_t most_events{std::numeric_limits<std::uint64_t>::max()};  // read only the first events of the trace
    bool is_cut{};  // the selection ends before the program does: threads that have not exited by then count as running
};

class SelectedEvents {
  public:
    // Both arguments must outlive this object. The reader must not have read an event yet.
    SelectedEvents(TraceReader& reader, const EventSelection& selection) : reader_{reader}, selection_{selection} {}

    [[nodiscard]] bool next(Event& event);
    // Starts again at the first event.
    void rewind();

  private:
    bool takes(Event& event);
    bool takes_birth(Event& event);
    bool takes_realloc(Event& event);
    [[nodiscard]] bool is_left_out(const Event& event) const
    {
        return event.stack < selection_.left_out.size() && selection_.left_out[event.stack];
    }

    TraceReader& reader_;
    const EventSelection& selection_;
    std::uint64_t read_{};
    LiveBlocks kept_;
    LiveBlocks gone_;
};

}  // namespace memsweep::trace
