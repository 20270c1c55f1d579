#include "core/trace/recorded_pieces.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace memsweep::trace {
namespace {

auto order_of(const RecordedPiece& piece)
{
    const ChunkHeader& header = piece.place.header;
    return std::tuple{header.thread, header.first_ticks, header.sequence};
}

}  // namespace

bool stands_in(const StreamEnds& ends, const ChunkHeader& header)
{
    const auto end = ends.find(header.thread);
    return end != ends.end() && std::pair{header.first_ticks, header.sequence} <
                                    std::pair{end->second.first_ticks, end->second.next_sequence};
}

base::Expected<std::vector<RecordedPiece>> pieces_in_slots(const ReadAt& read, const ImageFacts& facts)
{
    std::vector<RecordedPiece> pieces;
    const std::uint32_t slots = std::min({facts.slots_used, facts.slots, max_slots});
    for (std::uint32_t i = 0; i < slots; ++i) {
        Slot slot;
        const std::uint64_t offset = slots_offset + std::uint64_t{i} * slot_bytes;
        if (!MEMSWEEP_TRY(find_structure(read, offset, slot))) {
            break;
        }
        if (slot.state != SlotState::free && slot.used != 0 && slot.used <= slot_payload_bytes &&
            slot.chunk.magic == chunk_magic) {
            pieces.push_back({{slot.chunk, offset}, slot.used, slot.state});
        }
    }
    return pieces;
}

// Looked at before, because more may be in it by now, and behind, because its thread may have begun another chunk.
base::Expected<bool> read_slot(const ReadAt& read, const RecordedPiece& piece, std::vector<std::uint8_t>& payload)
{
    const auto still_holds = [&](Slot& slot) -> base::Expected<bool> {
        const ChunkHeader& header = piece.place.header;
        return MEMSWEEP_TRY(find_structure(read, piece.place.offset, slot)) && slot.state != SlotState::free &&
               slot.used >= piece.slot_used && slot.used <= slot_payload_bytes && slot.chunk.thread == header.thread &&
               slot.chunk.first_ticks == header.first_ticks && slot.chunk.sequence == header.sequence;
    };
    Slot slot;
    if (!MEMSWEEP_TRY(still_holds(slot))) {
        return false;
    }
    payload.resize(slot.used);
    return MEMSWEEP_TRY(read(piece.place.offset + sizeof(Slot), payload)) == payload.size() &&
           MEMSWEEP_TRY(still_holds(slot));
}

void sort_pieces(std::vector<RecordedPiece>& pieces)
{
    std::ranges::stable_sort(pieces, {}, order_of);
}

std::vector<RecordedPiece> without_gaps(const std::set<std::uint64_t>& seen, std::vector<RecordedPiece> now)
{
    std::map<std::uint32_t, decltype(order_of({}))> last;  // that was seen, by thread
    for (const RecordedPiece& piece : now) {
        if (seen.contains(piece.place.offset)) {
            auto& order = last.try_emplace(piece.place.header.thread, order_of(piece)).first->second;
            order = std::max(order, order_of(piece));
        }
    }
    std::erase_if(now, [&](const RecordedPiece& piece) {
        const auto end = last.find(piece.place.header.thread);
        return end == last.end() || order_of(piece) > end->second;
    });
    sort_pieces(now);
    return now;
}

std::vector<RecordedPiece> takeable(const std::set<std::uint64_t>& seen, std::vector<RecordedPiece> now,
                                    StreamEnds ends)
{
    std::vector<RecordedPiece> taken;
    std::set<std::uint32_t> held_back;  // threads
    for (const RecordedPiece& piece : without_gaps(seen, std::move(now))) {
        const ChunkHeader& header = piece.place.header;
        if (stands_in(ends, header)) {
            if (seen.contains(piece.place.offset)) {
                taken.push_back(piece);
            }
            continue;
        }
        StreamEnd& end = ends[header.thread];
        if (held_back.contains(header.thread) || (header.sequence != 0 && header.sequence != end.next_sequence)) {
            held_back.insert(header.thread);
            continue;
        }
        end = {.first_ticks = header.first_ticks, .next_sequence = header.sequence + 1};
        taken.push_back(piece);
    }
    return taken;
}

}  // namespace memsweep::trace
