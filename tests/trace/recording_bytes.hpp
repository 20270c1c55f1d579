// Recordings in memory, for tests: what a recorder's file would be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/trace/format/crc32c.hpp"
#include "core/trace/format/event_words.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline constexpr std::uint32_t own_process = 40;

// Of one process: slots first, full chunks behind. What of a chunk is not given follows from its number in its thread.
class RecordingBytes {
  public:
    explicit RecordingBytes(std::uint32_t slots, std::uint64_t start_ticks = 1'000, std::uint32_t parent = 1,
                            std::uint32_t pid_namespace = 0, std::uint64_t end_ticks = 0)
        : facts_{.process = own_process,
                 .parent = parent,
                 .slots = slots,
                 .start_ticks = start_ticks,
                 .pid_namespace = pid_namespace,
                 .end_ticks = end_ticks}
    {
        bytes_.resize(trace::slots_offset + std::size_t{slots} * trace::slot_bytes);
        facts_.append_at = bytes_.size();
        trace::FileHeader file{.start_ticks = start_ticks, .process = own_process};
        file.header_crc = trace::checksum(file);
        put(0, file);
        trace::ChunkHeader room{.kind = trace::ChunkKind::slots, .process = own_process};
        room.span_bytes = static_cast<std::uint32_t>(bytes_.size() - sizeof file);
        room.header_crc = trace::checksum(room);
        put(sizeof file, room);
        put(trace::facts_offset, facts_);
    }

    void slot(std::uint32_t number, std::uint32_t thread, std::uint64_t sequence, const std::string& payload,
              trace::SlotState state = trace::SlotState::writing, std::uint64_t ticks = 0)
    {
        trace::Slot slot{.state = state, .used = static_cast<std::uint32_t>(payload.size())};
        slot.chunk = header(thread, sequence, ticks);
        slot.chunk.flags = static_cast<std::uint8_t>(slot.chunk.flags | trace::chunk_unsealed);
        const std::size_t at = place_of(number);
        put(at, slot);
        bytes_.replace(at + sizeof slot, payload.size(), payload);
        facts_.slots_used = std::max(facts_.slots_used, number + 1);
        put(trace::facts_offset, facts_);
    }
    [[nodiscard]] trace::SlotState state(std::uint32_t number) const
    {
        trace::SlotState state{};
        std::memcpy(&state, bytes_.data() + place_of(number), sizeof state);
        return state;
    }

    void chunk(std::uint32_t thread, std::uint64_t sequence, const std::string& payload, std::size_t beyond = 0,
               std::uint64_t ticks = 0)
    {
        write_chunk(bytes_.size(), thread, sequence, payload, beyond, ticks);
        facts_.append_at = bytes_.size();
        put(trace::facts_offset, facts_);
    }
    // A chunk has been given its place, and is not written yet: it is, there, by the other call.
    std::size_t chunk_to_come(const std::string& payload)
    {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(trace::ChunkHeader) + payload.size());
        facts_.append_at = bytes_.size();
        put(trace::facts_offset, facts_);
        return at;
    }
    void write_chunk(std::size_t at, std::uint32_t thread, std::uint64_t sequence, const std::string& payload,
                     std::size_t beyond = 0, std::uint64_t ticks = 0)
    {
        trace::ChunkHeader chunk = header(thread, sequence, ticks);
        chunk.stored_bytes = chunk.raw_bytes = static_cast<std::uint32_t>(payload.size());
        chunk.span_bytes = static_cast<std::uint32_t>(sizeof chunk + payload.size() + beyond);
        chunk.payload_crc = trace::crc32c(payload.data(), payload.size());
        chunk.header_crc = trace::checksum(chunk);
        bytes_.resize(std::max(bytes_.size(), at + chunk.span_bytes));
        put(at, chunk);
        bytes_.replace(at + sizeof chunk, payload.size(), payload);
    }

    // From here on chunks are of a process that sees the clock tick.
    void follow_clock() { flags_ = trace::chunk_ticked; }
    void see_end(std::uint64_t ticks)
    {
        facts_.seen_end_ticks = ticks;
        put(trace::facts_offset, facts_);
    }

    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    // As memsweep sees it while its process writes.
    [[nodiscard]] trace::ReadWriteAt file()
    {
        const auto read = [this](std::uint64_t offset, std::span<std::uint8_t> into) {
            return trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()})(
                offset, into);
        };
        const auto write = [this](std::uint64_t offset, std::span<const std::uint8_t> from) -> base::Expected<void> {
            REQUIRE(offset + from.size() <= bytes_.size());
            bytes_.replace(offset, from.size(), reinterpret_cast<const char*>(from.data()), from.size());
            return {};
        };
        return {read, write};
    }

  private:
    [[nodiscard]] static std::size_t place_of(std::uint32_t slot)
    {
        return trace::slots_offset + std::size_t{slot} * trace::slot_bytes;
    }
    [[nodiscard]] trace::ChunkHeader header(std::uint32_t thread, std::uint64_t sequence, std::uint64_t ticks) const
    {
        ticks = ticks != 0 ? ticks : facts_.start_ticks + 100 * sequence;
        return {.kind = trace::ChunkKind::words,
                .flags = flags_,
                .process = own_process,
                .thread = thread,
                .sequence = sequence,
                .first_ticks = ticks,
                .last_ticks = ticks};
    }
    void put(std::size_t at, const auto& structure)
    {
        bytes_.replace(at, sizeof structure, reinterpret_cast<const char*>(&structure), sizeof structure);
    }

    trace::ImageFacts facts_;
    std::uint8_t flags_{};
    std::string bytes_;
};

// Allocations of 16 bytes at different places.
inline std::string mallocs(unsigned count, std::uint64_t from)
{
    std::string payload;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t word = trace::word_of(trace::WordTag::malloc, from + 16U * i, 16);
        payload.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return payload;
}

}  // namespace memsweep::tests
