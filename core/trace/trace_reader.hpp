// Reads the events of a trace, and brings the events of all threads into one order.
//
// Events of one stream (one thread's chunks, or a whole imported log) keep their recorded order. Events of different
// streams are ordered by their stamps. As there is only one stamp per 64 events, stamps may leave the order open. In
// this case, the blocks decide the order: a block's allocation comes before its free, and the free of an address before
// its next allocation.
//
// Cost     5 to 10 ns an event of one stream; some 50 ns more, for the order, if there are several streams.
// Memory   one payload and 64 events for each stream that is being read; with several streams, also the addresses of
//          live blocks.
// Errors   as TraceFile; outcome() has the errors of reading events. Damaged chunks are left out, and damage() counts
//          them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/event.hpp"
#include "core/trace/live_blocks.hpp"
#include "core/trace/program_notes.hpp"
#include "core/trace/stack_table.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

struct EndMark;
struct ExactCut;

// The chunks of one process and thread, read one after the other.
class EventStream {
  public:
    void add(const ChunkPlace& chunk) { chunks_.push_back(chunk); }
    // Reads the next event in the order of the chunks. False: there are no more events. The event's text is valid until
    // the next call.
    [[nodiscard]] bool next(TraceFile& file, Event& event);
    // Returns the time at which the next chunk begins. Call it only after the open chunk has been read to its end.
    [[nodiscard]] std::uint64_t next_chunk_ticks() const noexcept;
    // Returns a time by which all events read so far had happened.
    [[nodiscard]] std::uint64_t latest_ticks() const noexcept { return latest_ticks_; }
    // Whether the last event was in a ticked chunk (format/trace_layout.hpp).
    [[nodiscard]] bool is_ticked() const noexcept { return is_ticked_; }
    [[nodiscard]] bool between_chunks() const noexcept { return payload_.empty(); }
    [[nodiscard]] bool at_end() const noexcept { return between_chunks() && next_chunk_ == end_chunk(); }
    [[nodiscard]] std::size_t end_chunk() const noexcept { return std::min(end_chunk_, chunks_.size()); }
    void rewind();
    // From now on, next() returns no event after the cut.
    void end_at(const ExactCut& cut);
    void end_at_last();
    // From the next chunk on, next() also gives events their stacks.
    void take_stacks(const StackTable& table) { table_ = &table; }
    // From the next chunk on, events that map or unmap memory name the module that made the call.
    void take_notes(const ProgramNotes& notes) { notes_ = &notes; }

  private:
    bool open_next(TraceFile& file);
    [[nodiscard]] bool is_cut_off() const noexcept;
    void note_damage(TraceFile& file) const;

    std::vector<ChunkPlace> chunks_;
    std::size_t next_chunk_{};
    std::size_t end_chunk_{SIZE_MAX};        // index after the last chunk to read
    std::uint64_t most_events_{UINT64_MAX};  // how many events of the last chunk to read
    std::uint64_t most_ticks_{UINT64_MAX};   // latest time of an event to read
    std::uint64_t events_{};                 // number of events read from the open chunk so far
    bool has_no_process_exit_{};             // leaves out the process's exit, which is later than the cut
    std::vector<std::uint8_t> payload_;
    EventDecoder decoder_;
    const StackTable* table_{};
    ChunkStacks stacks_;
    const ProgramNotes* notes_{};
    ChunkMappers mappers_;
    std::uint64_t latest_ticks_{};
    bool is_ticked_{};
};

class TraceReader {
  public:
    [[nodiscard]] static base::Expected<TraceReader> open(const std::string& path);
    [[nodiscard]] static base::Expected<TraceReader> open(ReadAt read, const std::string& name);

    // Reads the next event of the trace. False: there are no more events. The event's text is valid until the next
    // call.
    [[nodiscard]] bool next(Event& event);
    // Goes back to the first event.
    void rewind();
    // Goes back to the first event. From now on, next() returns no event after the cut. A process that is not in the
    // cut ends at the time of the cut. Holds until read_to_end().
    void read_until(const ExactCut& cut);
    // Goes back to the first event, and cancels read_until().
    void read_to_end();
    // Returns when the program's work was done; nullopt: the trace does not say.
    [[nodiscard]] std::optional<EndMark> end_mark();
    // Reads all stacks, and goes back to the first event. From now on, events have their stacks.
    const StackTable& read_stacks();
    // Null before read_stacks().
    [[nodiscard]] const StackTable* stacks() const noexcept { return table_.get(); }
    // Reads all notes, and goes back to the first event. From now on, events that map or unmap memory name the module
    // that made the call.
    const ProgramNotes& read_notes();
    // Adds damaged side chunks to damage(), including those that have not been read.
    void check_side_chunks()
    {
        file_.check_side_chunks();
        damage_ = file_.damage();
    }
    // Whether any event of the trace has a stack.
    [[nodiscard]] bool has_stacks() const noexcept
    {
        return std::ranges::any_of(file_.side_chunks(), [](const ChunkPlace& chunk) {
            const ChunkKind kind = chunk.header.kind;
            return (kind <= ChunkKind::symbols && kind != ChunkKind::modules) || kind == ChunkKind::callers;
        });
    }

    [[nodiscard]] const FileHeader& header() const noexcept { return file_.header(); }
    [[nodiscard]] const Facts& facts() const noexcept { return file_.facts(); }
    // Whether the caller may hold this many things (counted as in bounds.hpp) or events in memory. A smaller trace has
    // a lower limit. If the result is false, next() returns no more events, and outcome() says why.
    bool may_hold(std::uint64_t things);
    bool may_hold_events(std::uint64_t events);
    // invalid_input: the reader would have to hold too much in memory. In this case, next() has not returned all
    // events.
    [[nodiscard]] const base::Expected<void>& outcome() const noexcept { return outcome_; }
    // Complete after next() has returned false for the first time.
    [[nodiscard]] const Damage& damage() const noexcept { return damage_; }

  private:
    // Up to 64 events of a stream that share one stamp, and a time before which all of them happened.
    struct Queue {
        EventStream stream;
        std::vector<Event> batch;
        std::size_t at{};
        std::optional<Event> following;
        bool is_following_ticked{};
        std::uint64_t until{};  // all events of `batch` happened before this time
        [[nodiscard]] bool is_empty() const noexcept { return at == batch.size(); }
        [[nodiscard]] const Event& front() const noexcept { return batch[at]; }
        [[nodiscard]] std::uint64_t due() const noexcept;
    };

    TraceReader(TraceFile file, std::string name);
    bool refuse(std::uint64_t number, std::string_view what);
    // A comparison that puts the stream with the earliest event at the top of a heap.
    [[nodiscard]] auto later() const
    {
        return [this](std::size_t a, std::size_t b) {
            return std::pair{streams_[a].due(), a} > std::pair{streams_[b].due(), b};
        };
    }
    void fill(Queue& queue);
    bool push(std::size_t index);
    std::size_t pop();
    [[nodiscard]] bool must_wait(const Event& event) const;
    void hand_out(std::size_t index, Event& event);
    void note(const Event& event);
    bool take_overdue(Event& event);
    bool take_realloc_of(const Event& wanted, Event& event);
    void wake();
    bool end();

    TraceFile file_;
    std::string name_;
    base::Expected<void> outcome_;
    Damage damage_;
    std::vector<Queue> streams_;
    std::vector<std::size_t> ready_;    // a heap, the earliest event on top
    std::vector<std::size_t> waiting_;  // streams whose next event must follow an event of another stream
    std::optional<std::size_t> last_;   // the stream of the last event returned
    LiveBlocks live_;
    std::unique_ptr<StackTable> table_;
    std::unique_ptr<ProgramNotes> notes_;
    bool was_read_{};
};

}  // namespace memsweep::trace
