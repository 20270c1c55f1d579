// Reads a trace without some of its call sites, or up to a moment, as if the rest had never happened.
//
// If a block was born at a site that is left out, its birth, its reallocs and its free are left out, wherever they were
// called. If such a site calls realloc on a block from elsewhere, that block keeps its size.
//
// Units    bytes; a node is one of the reader's StackTable.
// Cost     if no site is left out, only the reading; else some 40 ns more an event.
// Memory   if no site is left out, none; else 32 bytes a live block.
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
    std::vector<bool> left_out;              // by node; empty: none. The reader has read its stacks
    std::optional<std::uint32_t> process{};  // this one alone
    std::uint64_t most_events{std::numeric_limits<std::uint64_t>::max()};  // of the trace, in the reader's order
    bool is_cut{};  // it ends before the program did: threads that have not ended by then still run
};

class SelectedEvents {
  public:
    // Both must outlive it; the reader is at its first event.
    SelectedEvents(TraceReader& reader, const EventSelection& selection) : reader_{reader}, selection_{selection} {}

    [[nodiscard]] bool next(Event& event);
    // Back to the first event.
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
