#include "core/trace/trace_progress.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/trace/format/crc32c.hpp"
#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/stack_layout.hpp"

namespace memsweep::trace {
namespace {

// How a chunk ends a thread or an image that has nothing else in it.
std::optional<OtherOperation> end_in(const SealedChunk& chunk)
{
    if (chunk.header.events != 1) {
        return std::nullopt;
    }
    constexpr std::array ends{OtherOperation::thread_exit, OtherOperation::exec, OtherOperation::process_exit};
    const auto stands_there = [&](OtherOperation end) {
        std::uint8_t bytes[max_event_bytes]{};
        EventEncoder encoder;
        const std::uint8_t* const behind = encoder.bare(bytes, end);
        return std::ranges::equal(chunk.stored, std::span{bytes, static_cast<std::size_t>(behind - bytes)}, {},
                                  [](char stored) { return static_cast<std::uint8_t>(stored); });
    };
    const auto* const end = std::ranges::find_if(ends, stands_there);
    return end != ends.end() ? std::optional{*end} : std::nullopt;
}

// What says something of the events of a chunk, by runs.
base::Expected<void> put_runs(TraceProgress& progress, const TakeBytes& take, const RecordedChunk& chunk,
                              ChunkKind kind, const std::vector<std::uint8_t>& runs)
{
    if (runs.empty()) {
        return {};
    }
    ChunkHeader header = chunk.chunk.header;
    header.kind = kind;
    header.events = 0;
    std::vector<std::uint8_t> payload(StacksEncoder::max_head_bytes);
    const auto image = static_cast<std::uint32_t>(progress.ended_images[header.process]);
    const std::uint8_t* const end = StacksEncoder{}.head(payload.data(), image, header.sequence);
    payload.resize(static_cast<std::size_t>(end - payload.data()));
    payload.insert(payload.end(), runs.begin(), runs.end());
    return put_chunk(take, progress.translator.sealer().sealed(
                               header, {reinterpret_cast<const char*>(payload.data()), payload.size()}));
}

// What its events say of their thread, or process, alone.
base::Expected<void> put_numbers(TraceProgress& progress, const TakeBytes& take, const RecordedChunk& chunk,
                                 ChunkKind kind, const std::vector<std::uint64_t>& numbers)
{
    if (numbers.empty()) {
        return {};
    }
    ChunkHeader header = chunk.chunk.header;
    header.kind = kind;
    header.events = 0;
    std::vector<std::uint8_t> payload((numbers.size() + 1) * max_varint_bytes);
    std::uint8_t* at = put_varint(payload.data(), progress.ended_images[header.process]);
    for (const std::uint64_t number : numbers) {
        at = put_varint(at, number);
    }
    const std::string_view bytes{reinterpret_cast<const char*>(payload.data()),
                                 static_cast<std::size_t>(at - payload.data())};
    return put_chunk(take, progress.translator.sealer().sealed(header, bytes));
}

}  // namespace

// What is said of it comes first: an event that is in the trace has its stack.
base::Expected<void> put(TraceProgress& progress, const TakeBytes& take, const RecordedChunk& chunk)
{
    const ChunkHeader& header = chunk.chunk.header;
    MEMSWEEP_TRY(put_runs(progress, take, chunk, ChunkKind::stacks, chunk.stack_runs));
    MEMSWEEP_TRY(put_runs(progress, take, chunk, ChunkKind::mappers, chunk.mapper_runs));
    MEMSWEEP_TRY(put_runs(progress, take, chunk, ChunkKind::callers, chunk.caller_runs));
    MEMSWEEP_TRY(put_numbers(progress, take, chunk, ChunkKind::thread_stacks, chunk.thread_stacks));
    MEMSWEEP_TRY(put_numbers(progress, take, chunk, ChunkKind::usable_sizes, chunk.usable_sizes));
    MEMSWEEP_TRY(put_chunk(take, chunk.chunk));
    StreamEnds& ends = progress.streams[header.process];
    const auto end = end_in(chunk.chunk);
    if (end && *end != OtherOperation::thread_exit) {
        ends.clear();
        ++progress.ended_images[header.process];
    } else {
        ends[header.thread] = {header.first_ticks, header.sequence + 1, header.last_ticks,
                               end.has_value() || chunk.ends_thread};
    }
    progress.events += header.events;
    progress.damaged_chunks += chunk.damaged ? 1U : 0U;
    return {};
}

base::Expected<std::optional<UnfinishedTrace>> UnfinishedTrace::open(const ReadAt& read, const std::string& name)
{
    FileHeader header;
    if (!MEMSWEEP_TRY(find_structure(read, 0, header))) {
        return std::nullopt;
    }
    return UnfinishedTrace{read, MEMSWEEP_TRY(TraceFile::open(read, name))};
}

base::Expected<TraceProgress> UnfinishedTrace::copy_chunks(const TakeBytes& take) const
{
    TraceProgress progress{.damaged_chunks = file_.damage().corrupted_chunks};
    std::vector<std::uint8_t> bytes;
    for (const ChunkPlace& place : file_.side_chunks()) {
        if (!is_finished() && file_.facts_at() && place.offset > *file_.facts_at()) {
            break;
        }
        const std::size_t got =
            MEMSWEEP_TRY(read_as_it_comes(read_, place.offset + sizeof(ChunkHeader), place.header.stored_bytes, bytes));
        if (got == place.header.stored_bytes && crc32c(bytes.data(), bytes.size()) == place.header.payload_crc) {
            MEMSWEEP_TRY(put_chunk(take, {place.header, std::string{bytes.begin(), bytes.end()}}));
        }
    }
    for (const ChunkPlace& place : file_.event_chunks()) {
        if (!is_finished() && file_.facts_at() && place.offset > *file_.facts_at()) {
            break;
        }
        const std::size_t got =
            MEMSWEEP_TRY(read_as_it_comes(read_, place.offset + sizeof(ChunkHeader), place.header.stored_bytes, bytes));
        const bool is_last = &place == &file_.event_chunks().back();
        if (got == place.header.stored_bytes && crc32c(bytes.data(), bytes.size()) == place.header.payload_crc) {
            MEMSWEEP_TRY(put(progress, take, {.chunk = {place.header, std::string{bytes.begin(), bytes.end()}}}));
        } else if (!is_last) {  // the last one was being written, and is still in its slot
            ++progress.damaged_chunks;
        }
    }
    return progress;
}

}  // namespace memsweep::trace
