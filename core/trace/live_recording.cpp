#include "core/trace/live_recording.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::trace {
namespace {

base::Expected<void> free_slot(const ReadWriteAt& file, std::uint64_t offset)
{
    constexpr SlotState state = SlotState::free;
    static_assert(offsetof(Slot, state) == 0);
    return file.write(offset, {reinterpret_cast<const std::uint8_t*>(&state), sizeof state});
}

}  // namespace

base::Expected<std::optional<LiveRecording>> LiveRecording::open(ReadWriteAt file, const std::string& name)
{
    const auto image = MEMSWEEP_TRY(find_image([&] { return base::Expected<ReadAt>{file.read}; }, name));
    ChunkHeader room;
    if (!image || !MEMSWEEP_TRY(find_structure(file.read, sizeof(FileHeader), room))) {
        return std::nullopt;
    }
    return LiveRecording{std::move(file), image->facts, sizeof(FileHeader) + room.span_bytes};
}

base::Expected<std::vector<RecordedPiece>> LiveRecording::full_slots(ImageFacts& facts) const
{
    if (!MEMSWEEP_TRY(find_structure(file_.read, facts_offset, facts))) {
        return std::vector<RecordedPiece>{};
    }
    auto slots = MEMSWEEP_TRY(pieces_in_slots(file_.read, facts));
    std::erase_if(slots, [](const RecordedPiece& piece) { return piece.state != SlotState::full; });
    return slots;
}

// A chunk that is appended has been given its place before: what was given by the time that the slots have been looked
// at must be walked over before any of them is taken.
base::Expected<bool> LiveRecording::see()
{
    if (walked_to_ < seen_to_) {
        return true;
    }
    ImageFacts facts;
    const auto slots = MEMSWEEP_TRY(full_slots(facts));
    if (slots.empty() && facts.append_at <= walked_to_) {
        return false;
    }
    for (const RecordedPiece& slot : slots) {
        seen_.insert(slot.place.offset);
    }
    MEMSWEEP_TRY(find_structure(file_.read, facts_offset, facts));
    seen_to_ = facts.append_at;
    return true;
}

void LiveRecording::walk(const std::stop_token& stop)
{
    std::vector<std::uint8_t> payload;
    while (walked_to_ < seen_to_ && !stop.stop_requested()) {
        const auto place = TraceFile::whole_chunk_at(file_.read, walked_to_, payload);
        if (!place || place->header.kind != ChunkKind::words || (place->header.flags & chunk_unsealed) != 0) {
            return;
        }
        appended_.push_back({*place});
        walked_to_ += place->header.span_bytes;
    }
}

base::Expected<bool> LiveRecording::read_words(const RecordedPiece& piece, std::vector<std::uint8_t>& payload) const
{
    if (piece.slot_used != 0) {
        return read_slot(file_.read, piece, payload);
    }
    return TraceFile::whole_chunk_at(file_.read, piece.place.offset, payload).has_value();
}

base::Expected<bool> LiveRecording::look(const TakeBytes& take, TraceProgress& progress, const std::stop_token& stop)
{
    if (!see().value_or(false)) {
        return false;
    }
    const std::uint64_t walked_before = walked_to_;
    walk(stop);
    if (walked_to_ < seen_to_) {
        return walked_to_ != walked_before;
    }
    ImageFacts facts;
    auto now = full_slots(facts);
    if (!now) {
        return false;
    }
    now->insert(now->begin(), appended_.begin(), appended_.end());
    for (const RecordedPiece& piece : appended_) {
        seen_.insert(piece.place.offset);
    }
    return take_all(takeable(std::exchange(seen_, {}), *std::move(now), progress.streams[number_in_trace(facts_)]),
                    take, progress, stop);
}

base::Expected<bool> LiveRecording::take_all(const std::vector<RecordedPiece>& pieces, const TakeBytes& take,
                                             TraceProgress& progress, const std::stop_token& stop)
{
    const StreamEnds& ends = progress.streams[number_in_trace(facts_)];
    for (const RecordedPiece& piece : pieces) {
        if (!stands_in(ends, piece.place.header)) {
            if (stop.stop_requested() || !read_words(piece, payload_).value_or(false)) {
                break;
            }
            MEMSWEEP_TRY(put(progress, take, progress.translator.translated(piece.place.header, payload_, facts_)));
        }
        if (piece.slot_used != 0) {
            static_cast<void>(free_slot(file_, piece.place.offset));  // else it is tried again
        }
    }
    std::erase_if(appended_, [&](const RecordedPiece& piece) { return stands_in(ends, piece.place.header); });
    return !pieces.empty();
}

}  // namespace memsweep::trace
