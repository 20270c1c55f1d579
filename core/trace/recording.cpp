#include "core/trace/recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "core/trace/event.hpp"
#include "core/trace/format/ticks.hpp"

namespace memsweep::trace {
namespace {

// A chunk at the end of the file, or in the slot that it was written in.
struct Piece {
    ChunkPlace place;
    std::uint32_t slot_used{};  // 0: at the end of the file
};

auto order_of(const Piece& piece)
{
    const ChunkHeader& header = piece.place.header;
    return std::tuple{header.thread, header.first_ticks, header.sequence};
}

// Whether it is there whole.
template <typename Structure>
base::Expected<bool> find_structure(const ReadAt& read, std::uint64_t offset, Structure& into)
{
    return MEMSWEEP_TRY(read(offset, {reinterpret_cast<std::uint8_t*>(&into), sizeof into})) == sizeof into;
}

template <typename Structure>
bool read_structure(const ReadAt& read, std::uint64_t offset, Structure& into)
{
    return find_structure(read, offset, into).value_or(false);
}

std::uint64_t ticks_per_second(const ImageFacts& first, const ClockReading& now)
{
    constexpr double slowest = 1e6;
    constexpr double fastest = 1e11;
    if (now.ticks <= first.start_ticks || now.nanoseconds <= first.start_nanoseconds) {
        return 0;  // the machine has been restarted since
    }
    const double per_second = static_cast<double>(now.ticks - first.start_ticks) * 1e9 /
                              static_cast<double>(now.nanoseconds - first.start_nanoseconds);
    return per_second >= slowest && per_second <= fastest ? static_cast<std::uint64_t>(std::llround(per_second)) : 0;
}

// Sealed as far as its events are whole.
RecordedChunk recorded_chunk(ChunkHeader header, std::span<const std::uint8_t> payload, std::uint32_t process)
{
    header.kind = ChunkKind::events;  // a slot's header may say anything
    header.process = process;
    header.flags = 0;
    header.events = 0;
    EventDecoder decoder{header, payload};
    Event event;
    std::size_t used = 0;
    while (decoder.next(event)) {
        ++header.events;
        used = decoder.position();
    }
    header.last_ticks = decoder.ticks();
    return {sealed(header, {reinterpret_cast<const char*>(payload.data()), used}), decoder.damaged()};
}

class ImageWriter {
  public:
    ImageWriter(const RecordedImage& image, ReadAt read, TraceFile file, const TakeBytes& take,
                const SealedAhead& ahead, RecordingSummary& summary)
        : image_{image}, read_{std::move(read)}, file_{std::move(file)}, take_{take}, ahead_{ahead}, summary_{summary}
    {
    }

    base::Expected<void> write(OtherOperation end, bool has_ended);

  private:
    void find_pieces();
    bool read_payload(const Piece& piece);
    base::Expected<void> put(const RecordedChunk& recorded);
    base::Expected<void> put_end(std::uint32_t thread, OtherOperation operation, std::uint64_t ticks);

    const RecordedImage& image_;
    ReadAt read_;
    TraceFile file_;
    const TakeBytes& take_;
    const SealedAhead& ahead_;
    RecordingSummary& summary_;
    std::vector<Piece> pieces_;
    std::vector<std::uint8_t> payload_;
    std::uint64_t last_ticks_{};
    std::uint64_t thread_ticks_{};
    std::uint64_t next_sequence_{};
    std::uint64_t main_sequence_{};
};

void ImageWriter::find_pieces()
{
    for (const ChunkPlace& chunk : file_.event_chunks()) {
        pieces_.push_back({chunk});
    }
    const std::uint32_t slots = std::min({image_.facts.slots_used, image_.facts.slots, max_slots});
    for (std::uint32_t i = 0; i < slots; ++i) {
        Slot slot;
        const std::uint64_t offset = slots_offset + std::uint64_t{i} * slot_bytes;
        if (!read_structure(read_, offset, slot)) {
            break;
        }
        if (slot.used != 0 && slot.used <= slot_payload_bytes && slot.chunk.magic == chunk_magic &&
            slot.chunk.rotation < 64) {
            pieces_.push_back({{slot.chunk, offset}, slot.used});
        }
    }
    std::ranges::stable_sort(pieces_, {}, order_of);
}

// A slot counts only while it still holds that chunk: its process may be running.
bool ImageWriter::read_payload(const Piece& piece)
{
    if (piece.slot_used == 0) {
        return file_.read_payload(piece.place, payload_);
    }
    payload_.resize(piece.slot_used);
    const auto got = read_(piece.place.offset + sizeof(Slot), payload_);
    Slot now;
    return got && *got == payload_.size() && read_structure(read_, piece.place.offset, now) &&
           now.used >= piece.slot_used && now.chunk.sequence == piece.place.header.sequence &&
           now.chunk.thread == piece.place.header.thread;
}

base::Expected<void> ImageWriter::put(const RecordedChunk& recorded)
{
    const ChunkHeader& header = recorded.chunk.header;
    summary_.damaged_chunks += recorded.damaged ? 1U : 0U;
    summary_.events += header.events;
    thread_ticks_ = header.last_ticks;
    last_ticks_ = std::max(last_ticks_, header.last_ticks);
    next_sequence_ = header.sequence + 1;
    return put_chunk(take_, recorded.chunk);
}

base::Expected<void> ImageWriter::put_end(std::uint32_t thread, OtherOperation operation, std::uint64_t ticks)
{
    std::uint8_t bytes[max_event_bytes]{};
    EventEncoder encoder;
    const std::uint8_t* const end = encoder.bare(bytes, operation);
    ++summary_.events;
    return put_chunk(take_,
                     {.events = 1,
                      .process = image_.facts.process,
                      .thread = thread,
                      .sequence = thread == image_.facts.process ? main_sequence_ : next_sequence_,
                      .first_ticks = ticks,
                      .last_ticks = ticks},
                     {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes)});
}

base::Expected<void> ImageWriter::write(OtherOperation end, bool has_ended)
{
    find_pieces();
    const Piece* last = nullptr;
    const auto end_thread = [&]() -> base::Expected<void> {
        const std::uint32_t thread = last->place.header.thread;
        if (thread == image_.facts.process) {
            main_sequence_ = next_sequence_;
        } else if (has_ended) {
            return put_end(thread, OtherOperation::thread_exit, thread_ticks_);
        }
        return {};
    };
    for (const Piece& piece : pieces_) {
        if (last != nullptr && order_of(*last) == order_of(piece)) {
            continue;  // flushed, and still in its slot
        }
        const RecordedChunk* const ready =
            piece.slot_used == 0 ? ahead_.find(image_.name, piece.place.offset) : nullptr;
        if (ready == nullptr && !read_payload(piece)) {
            summary_.damaged_chunks += piece.slot_used == 0 ? 1U : 0U;
            continue;
        }
        if (last != nullptr && last->place.header.thread != piece.place.header.thread) {
            MEMSWEEP_TRY(end_thread());
        }
        last = &piece;
        MEMSWEEP_TRY(
            put(ready != nullptr ? *ready : recorded_chunk(piece.place.header, payload_, image_.facts.process)));
    }
    if (last != nullptr) {
        MEMSWEEP_TRY(end_thread());
    }
    if (!has_ended) {
        return {};
    }
    return put_end(image_.facts.process, end, std::max(last_ticks_, image_.facts.start_ticks));
}

// Of each process the programs that it ran, one after the other. Of the first thousands: all facts go into one chunk.
Facts program_facts(const std::vector<RecordedImage>& images)
{
    constexpr std::size_t most = 10'000;
    Facts facts;
    for (const RecordedImage& image : images) {
        const auto& name = image.facts.program;
        const std::string program{name, ::strnlen(name, sizeof name)};
        if (program.empty() || facts.size() == most) {
            continue;
        }
        std::string& programs = facts[std::string{program_fact} + std::to_string(image.facts.process)];
        programs.append(programs.empty() ? "" : ", ").append(program);
    }
    return facts;
}

}  // namespace

ClockReading read_clocks() noexcept
{
    return {TickClock{}.ticks(), nanoseconds_of(CLOCK_MONOTONIC)};
}

base::Expected<std::optional<RecordedImage>> find_image(OpenRecording open, const std::string& name)
{
    const ReadAt read = MEMSWEEP_TRY(open());
    std::array<std::uint8_t, sizeof(FileHeader)> first{};  // written last
    MEMSWEEP_TRY(read(0, first));
    if (std::ranges::all_of(first, [](std::uint8_t byte) { return byte == 0; })) {
        return std::nullopt;
    }
    RecordedImage image{std::move(open), name, {}};
    ChunkHeader room{.magic = 0};
    const bool has_room = MEMSWEEP_TRY(find_structure(read, sizeof(FileHeader), room));
    const bool has_facts = MEMSWEEP_TRY(find_structure(read, facts_offset, image.facts));
    if (!has_room || !has_facts || room.magic != chunk_magic || room.kind != ChunkKind::slots) {
        return base::fail(base::ErrorCode::invalid_input, "not a recording", name);
    }
    if (image.facts.version != recording_version) {
        return base::fail(base::ErrorCode::invalid_input, "recorded by another version of memsweep", name);
    }
    return image;
}

bool SealedAhead::go_on(const OpenRecording& open, const std::string& name, const std::stop_token& stop)
{
    const auto read = open();
    if (!read) {
        return false;
    }
    Recording& recording = recordings_[name];
    if (recording.next_offset == 0) {
        const auto image = find_image([&] { return base::Expected<ReadAt>{*read}; }, name);
        ChunkHeader room;
        if (!image || !*image || !read_structure(*read, sizeof(FileHeader), room)) {
            return false;
        }
        recording.process = (*image)->facts.process;
        recording.next_offset = sizeof(FileHeader) + room.span_bytes;
    }
    bool has_grown = false;
    std::vector<std::uint8_t> payload;
    while (!stop.stop_requested() && !is_full()) {
        const auto place = TraceFile::whole_chunk_at(*read, recording.next_offset, payload);
        if (!place || place->header.kind != ChunkKind::events || (place->header.flags & chunk_unsealed) != 0) {
            break;
        }
        const RecordedChunk& kept = recording.chunks[place->offset] =
            recorded_chunk(place->header, payload, recording.process);
        bytes_ += sizeof kept + kept.chunk.stored.size();
        recording.next_offset += place->header.span_bytes;
        has_grown = true;
    }
    return has_grown;
}

const RecordedChunk* SealedAhead::find(const std::string& name, std::uint64_t offset) const
{
    const auto recording = recordings_.find(name);
    if (recording == recordings_.end()) {
        return nullptr;
    }
    const auto chunk = recording->second.chunks.find(offset);
    return chunk == recording->second.chunks.end() ? nullptr : &chunk->second;
}

base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                          const std::function<bool(std::uint32_t)>& is_running, const TakeBytes& take,
                                          Facts facts, const SealedAhead& ahead)
{
    if (images.empty()) {
        return base::fail(base::ErrorCode::invalid_input, "nothing was recorded");
    }
    std::ranges::stable_sort(images, {}, [](const RecordedImage& image) { return image.facts.start_ticks; });
    const ImageFacts& first = images.front().facts;
    RecordingSummary summary{.images = images.size()};
    std::set<std::uint32_t> processes;
    MEMSWEEP_TRY(put_header(take, {.ticks_per_second = ticks_per_second(first, now),
                                   .start_ticks = first.start_ticks,
                                   .start_unix_ns = first.start_unix_ns,
                                   .process = first.process}));
    for (std::size_t i = 0; i < images.size(); ++i) {
        const ImageFacts& image = images[i].facts;
        auto read = MEMSWEEP_TRY(images[i].open());
        auto file = MEMSWEEP_TRY(TraceFile::open(read, images[i].name));
        // The next image under that number: another program in the same process, or in a later one.
        const auto next =
            std::find_if(images.begin() + static_cast<std::ptrdiff_t>(i) + 1, images.end(),
                         [&](const RecordedImage& other) { return other.facts.process == image.process; });
        const bool executes = next != images.end() && next->facts.parent == image.parent;
        const bool runs = next == images.end() && is_running(image.process);
        processes.insert(image.process);
        summary.still_running += runs ? 1U : 0U;
        summary.lost_events += image.lost_events;
        summary.foreign_mallocs += image.foreign_malloc != 0 ? 1U : 0U;
        summary.stopped_errno =
            summary.stopped_errno != 0 ? summary.stopped_errno : static_cast<int>(image.stopped_errno);
        ImageWriter writer{images[i], std::move(read), std::move(file), take, ahead, summary};
        MEMSWEEP_TRY(writer.write(executes ? OtherOperation::exec : OtherOperation::process_exit, !runs));
    }
    summary.processes = processes.size();
    facts.merge(program_facts(images));
    facts["processes"] = std::to_string(summary.processes);
    facts["lost_events"] = std::to_string(summary.lost_events);
    MEMSWEEP_TRY(put_facts(take, facts));
    return summary;
}

}  // namespace memsweep::trace
