// Writes events into a trace file, in the order given. All events form one stream, whatever threads they belong to.
//
// Cost     10 ns an event, compression included.
// Memory   two chunks, of 256 KiB or of the given size, and a ChunkSealer.
// Errors   errors of the function that takes the bytes. After an error, further events are dropped, and finish()
//          returns the error again.
// Threads  one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/event.hpp"
#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/trace_file.hpp"

struct ZSTD_CCtx_s;

namespace memsweep::trace {

// Takes bytes to append to the file.
using TakeBytes = std::function<base::Expected<void>(std::string_view)>;

class StackWriter;

// A chunk as it is stored in a file.
struct SealedChunk {
    ChunkHeader header;
    std::string stored;  // the payload, compressed
};

// Compresses chunks. Keeps its working memory from one chunk to the next.
//
// Memory   some 500 KiB from the first chunk on.
class ChunkSealer {
  public:
    // Completes the header and compresses the payload. A payload that compression would not shorten is stored as it is.
    [[nodiscard]] SealedChunk sealed(ChunkHeader header, std::string_view payload);

  private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::string room_;
};

// Passes the whole chunk to one call of `take`, so that the function knows where chunks end.
[[nodiscard]] base::Expected<void> put_chunk(const TakeBytes& take, const SealedChunk& chunk);
[[nodiscard]] base::Expected<void> put_chunk(const TakeBytes& take, ChunkHeader header, std::string_view payload);
[[nodiscard]] base::Expected<void> put_header(const TakeBytes& take, FileHeader header);
[[nodiscard]] base::Expected<void> put_facts(const TakeBytes& take, const Facts& facts);

class TraceWriter {
  public:
    static constexpr std::size_t usual_chunk_bytes = 256 << 10;

    // A chunk ends with the event that fills it. finish() writes the facts after all events.
    TraceWriter(TakeBytes take, const FileHeader& header, std::size_t chunk_bytes = usual_chunk_bytes);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    // Adds an event. A text of more than 4096 bytes is cut. The event's stack is a node of stacks().
    void add(const Event& event);
    // Returns the tree that holds the events' stacks. The tree belongs to process 0.
    [[nodiscard]] StackWriter& stacks();
    [[nodiscard]] base::Expected<void> finish(const Facts& facts);

  private:
    void begin_chunk(std::uint64_t ticks);
    void end_chunk();
    void note_stack(const Event& event);
    void put_stacks();
    void set_context(const Event& event);
    // Encodes the event. Returns the new end of the payload.
    std::uint8_t* encoded(const Event& event);

    TakeBytes take_;
    ChunkSealer sealer_;
    base::Expected<void> outcome_;
    std::size_t chunk_bytes_;
    std::vector<std::uint8_t> payload_;
    std::uint8_t* at_{};
    EventEncoder encoder_;
    ChunkHeader chunk_;
    StacksEncoder stacks_;
    std::vector<std::uint8_t> runs_;  // buffer for the chunk's stacks; the first runs_bytes_ bytes are used
    std::size_t runs_bytes_{};
    std::uint64_t skipped_{};            // number of events in the chunk before the first event with a stack
    std::unique_ptr<StackWriter> tree_;  // made when it is asked for
    Event context_;  // process, thread, space and stream of the last event; the next event states only what has changed
};

}  // namespace memsweep::trace
