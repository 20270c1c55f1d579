#include "core/trace/recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>

#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/ticks.hpp"
#include "core/trace/recorded_chunk.hpp"
#include "core/trace/recorded_pieces.hpp"
#include "core/trace/recorded_stacks.hpp"
#include "core/trace/unseen_blocks.hpp"

namespace memsweep::trace {
namespace {

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

// What an image holds, in order. Slots are looked at first: a chunk that leaves its slot meanwhile is found at the end
// of the file.
base::Expected<std::vector<RecordedPiece>> find_pieces(const RecordedImage& image, const ReadAt& read)
{
    ImageFacts facts = image.facts;
    MEMSWEEP_TRY(find_structure(read, facts_offset, facts));
    auto pieces = MEMSWEEP_TRY(pieces_in_slots(read, facts));
    const auto file = MEMSWEEP_TRY(TraceFile::open(read, image.name));
    std::vector<RecordedPiece> appended;
    for (const ChunkPlace& chunk : file.recorded_chunks()) {
        appended.push_back({chunk});
    }
    pieces.insert(pieces.begin(), appended.begin(), appended.end());
    sort_pieces(pieces);
    return pieces;
}

base::Expected<std::vector<RecordedPiece>> find_pieces_so_far(const RecordedImage& image, const ReadAt& read)
{
    std::set<std::uint64_t> seen;
    for (const RecordedPiece& piece : MEMSWEEP_TRY(find_pieces(image, read))) {
        seen.insert(piece.place.offset);
    }
    return without_gaps(seen, MEMSWEEP_TRY(find_pieces(image, read)));
}

class ImageWriter {
  public:
    ImageWriter(const RecordedImage& image, ReadAt read, const TakeBytes& take, TraceProgress& progress)
        : image_{image}, read_{std::move(read)}, take_{take}, progress_{progress},
          ends_{progress.streams[number_in_trace(image.facts)]}
    {
    }

    // False: asked to stop before the last.
    base::Expected<bool> put_pieces(const std::vector<RecordedPiece>& pieces, const std::stop_token& stop = {});
    // Writes the ends of the threads, and of the process.
    // The last time that is known of the process is `end_ticks`, or that of its last event.
    base::Expected<void> put_ends(OtherOperation end, std::uint64_t end_ticks);
    // Writes what the stacks of its events are.
    base::Expected<void> put_stacks();

  private:
    base::Expected<void> put_end(std::uint32_t thread, OtherOperation operation, std::uint64_t ticks);

    const RecordedImage& image_;
    ReadAt read_;
    const TakeBytes& take_;
    TraceProgress& progress_;
    StreamEnds& ends_;
};

base::Expected<bool> ImageWriter::put_pieces(const std::vector<RecordedPiece>& pieces, const std::stop_token& stop)
{
    std::vector<std::uint8_t> payload;
    for (const RecordedPiece& piece : pieces) {
        if (stands_in(ends_, piece.place.header)) {
            continue;  // or it lies in two places
        }
        if (stop.stop_requested()) {
            return false;
        }
        const bool is_appended = piece.slot_used == 0;
        if (is_appended ? !TraceFile::whole_chunk_at(read_, piece.place.offset, payload)
                        : !MEMSWEEP_TRY(read_slot(read_, piece, payload))) {
            progress_.damaged_chunks += is_appended ? 1U : 0U;
            continue;
        }
        MEMSWEEP_TRY(put(progress_, take_, progress_.translator.translated(piece.place.header, payload, image_.facts)));
    }
    return true;
}

base::Expected<void> ImageWriter::put_end(std::uint32_t thread, OtherOperation operation, std::uint64_t ticks)
{
    if (ends_[thread].has_ended) {
        return {};
    }
    std::uint8_t bytes[max_event_bytes]{};
    EventEncoder encoder;
    const std::uint8_t* const end = encoder.bare(bytes, operation);
    const ChunkHeader header{.events = 1,
                             .process = number_in_trace(image_.facts),
                             .thread = thread,
                             .sequence = ends_[thread].next_sequence,
                             .first_ticks = ticks,
                             .last_ticks = ticks};
    const std::string_view payload{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes)};
    return put(progress_, take_, {progress_.translator.sealer().sealed(header, payload)});
}

base::Expected<void> ImageWriter::put_stacks()
{
    if (!image_.open_stacks) {
        return {};
    }
    const std::uint32_t process = number_in_trace(image_.facts);
    const StackImage image{process, static_cast<std::uint32_t>(progress_.ended_images[process])};
    const ReadAt read = MEMSWEEP_TRY(image_.open_stacks());
    const KeptStacks kept = MEMSWEEP_TRY(put_call_stacks(read, image, take_, progress_.translator.sealer()));
    progress_.stacks_taken = kept.taken.empty() ? progress_.stacks_taken : kept.taken;
    progress_.lost_stacks += kept.lost_events;
    if (!kept.python.empty()) {
        progress_.pythons.insert(kept.python);
    }
    progress_.stacks_errno = progress_.stacks_errno != 0 ? progress_.stacks_errno : kept.problem;
    return {};
}

base::Expected<void> ImageWriter::put_ends(OtherOperation end, std::uint64_t end_ticks)
{
    std::uint64_t last_ticks = std::max(image_.facts.start_ticks, end_ticks);
    for (const auto& [thread, last] : ends_) {
        last_ticks = std::max(last_ticks, last.last_ticks);
    }
    // Behind all that they did: what is live at a program's last event is live while all of these are there.
    for (const auto& [thread, last] : ends_) {
        if (thread != image_.facts.process && last.next_sequence != 0) {
            MEMSWEEP_TRY(put_end(thread, OtherOperation::thread_exit, last_ticks + 1));
        }
    }
    return put_end(image_.facts.process, end, last_ticks + 2);
}

// The next image of the same number may be of another process: where the first has ended by exit, or in a namespace of
// its own, whose inode may be another's by then.
bool executes_next(const ImageFacts& image, const ImageFacts& next)
{
    return image.end_ticks == 0 && next.parent == image.parent && next.pid_namespace == image.pid_namespace;
}

// As the program said it, or else as memsweep saw it, which may be a little late. `next` has the same number.
std::uint64_t known_end(const ImageFacts& image, const ImageFacts* next, bool executes)
{
    constexpr std::uint64_t room_for_ends = 3;  // put_ends() puts them behind
    const std::uint64_t end = image.end_ticks != 0 ? image.end_ticks : image.seen_end_ticks;
    if (next == nullptr) {
        return end;
    }
    const std::uint64_t latest = next->start_ticks - std::min(next->start_ticks, room_for_ends);
    return end == 0 && executes ? latest : std::min(end, latest);
}

// `next` is what follows under its process's number, if anything does: another program in the same process, or in a
// later one. False: asked to stop before all of it was put.
base::Expected<bool> put_ended(const RecordedImage& image, const RecordedImage* next, const TakeBytes& take,
                               TraceProgress& progress, const std::stop_token& stop = {})
{
    const auto read = MEMSWEEP_TRY(image.open());
    const auto pieces = MEMSWEEP_TRY(find_pieces(image, read));
    ImageWriter writer{image, read, take, progress};
    if (!MEMSWEEP_TRY(writer.put_pieces(pieces, stop))) {
        return false;
    }
    MEMSWEEP_TRY(writer.put_stacks());
    const bool executes = next != nullptr && executes_next(image.facts, next->facts);
    MEMSWEEP_TRY(writer.put_ends(executes ? OtherOperation::exec : OtherOperation::process_exit,
                                 known_end(image.facts, next == nullptr ? nullptr : &next->facts, executes)));
    return true;
}

base::Expected<bool> put_running(const RecordedImage& image, const TakeBytes& take, TraceProgress& progress)
{
    const auto read = MEMSWEEP_TRY(image.open());
    const auto pieces = MEMSWEEP_TRY(find_pieces_so_far(image, read));
    ImageWriter writer{image, read, take, progress};
    MEMSWEEP_TRY(writer.put_pieces(pieces));
    MEMSWEEP_TRY(writer.put_stacks());
    return true;
}

RecordingSummary said_by_images(const std::vector<RecordedImage>& images)
{
    RecordingSummary summary;
    std::map<std::uint32_t, const ImageFacts*> last;  // image of a number
    for (const RecordedImage& image : images) {
        const ImageFacts*& before = last[number_in_trace(image.facts)];
        summary.processes += before == nullptr || !executes_next(*before, image.facts) ? 1U : 0U;
        before = &image.facts;
        summary.lost_events += image.facts.lost_events;
        summary.stopped_errno =
            summary.stopped_errno != 0 ? summary.stopped_errno : static_cast<int>(image.facts.stopped_errno);
        summary.stacks_errno =
            summary.stacks_errno != 0 ? summary.stacks_errno : static_cast<int>(image.facts.stacks_errno);
    }
    return summary;
}

// For each process, the programs that it ran, one after the other. Kept for the first thousands: all facts go into one
// chunk.
Facts program_facts(const std::vector<RecordedImage>& images)
{
    constexpr std::size_t most = 10'000;
    Facts facts;
    for (const RecordedImage& image : images) {
        const std::string program = program_of(image);
        if (program.empty() || facts.size() == most) {
            continue;
        }
        std::string& programs = facts[std::string{program_fact} + std::to_string(number_in_trace(image.facts))];
        programs.append(programs.empty() ? "" : ", ").append(program);
    }
    return facts;
}

// For each process, the most that one of its programs held, if that is worth a word.
Facts heap_facts(const std::vector<RecordedImage>& images)
{
    std::map<std::uint32_t, std::uint64_t> most;
    for (const RecordedImage& image : images) {
        if (image.facts.heap_pages_bytes > heap_pages_worth_a_word && image.facts.foreign_malloc == 0) {
            std::uint64_t& bytes = most[number_in_trace(image.facts)];
            bytes = std::max(bytes, image.facts.heap_pages_bytes);
        }
    }
    Facts facts;
    for (const auto& [process, bytes] : most) {
        facts[std::string{heap_pages_fact} + std::to_string(process)] = std::to_string(bytes);
    }
    return facts;
}

// For each process, where its malloc came from, of the last program that said so.
Facts server_facts(const std::vector<RecordedImage>& images)
{
    constexpr std::size_t most_bytes = 200'000;  // all facts go into one chunk
    std::size_t bytes = 0;
    Facts facts;
    for (const RecordedImage& image : images) {
        const auto& path = image.facts.served_by;
        const std::string server{path, ::strnlen(path, sizeof path)};
        bytes += server.size();
        if (!server.empty() && bytes < most_bytes) {
            facts[std::string{server_fact} + std::to_string(number_in_trace(image.facts))] = server;
        }
    }
    return facts;
}

}  // namespace

std::string program_of(const RecordedImage& image)
{
    const auto& name = image.facts.program;
    return {name, ::strnlen(name, sizeof name)};
}

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

FileHeader trace_header(std::vector<RecordedImage>& images, const ClockReading& now)
{
    std::ranges::stable_sort(images, {}, [](const RecordedImage& image) { return image.facts.start_ticks; });
    const ImageFacts& first = images.front().facts;
    return {.ticks_per_second = ticks_per_second(first, now),
            .start_ticks = first.start_ticks,
            .start_unix_ns = first.start_unix_ns,
            .process = number_in_trace(first)};
}

bool is_over(const RecordedImage& image, const RecordedImage& next) noexcept
{
    return next.facts.process == image.facts.process && image.facts.pid_namespace != 0 &&
           next.facts.pid_namespace == image.facts.pid_namespace;
}

base::Expected<bool> put_followed(const RecordedImage& image, const RecordedImage& next, const TakeBytes& take,
                                  TraceProgress& progress, const std::stop_token& stop)
{
    return put_ended(image, &next, take, progress, stop);
}

base::Expected<RecordingSummary> put_rest(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                          const TakeBytes& take, Facts facts, TraceProgress progress)
{
    MEMSWEEP_TRY(put_facts(take, facts));
    RecordingSummary summary = said_by_images(images);
    std::map<std::uint32_t, std::uint64_t> passed;  // images, by process
    for (auto image = images.begin(); image != images.end(); ++image) {
        const std::uint32_t process = number_in_trace(image->facts);
        if (passed[process]++ < progress.ended_images[process]) {
            continue;
        }
        const auto next = std::find_if(std::next(image), images.end(), [&](const RecordedImage& other) {
            return number_in_trace(other.facts) == process;
        });
        const bool runs = next == images.end() && is_running(image->facts);
        summary.still_running += runs ? 1U : 0U;
        MEMSWEEP_TRY(runs ? put_running(*image, take, progress)
                          : put_ended(*image, next == images.end() ? nullptr : &*next, take, progress));
    }
    summary.events = progress.events;
    summary.damaged_chunks = progress.damaged_chunks;
    summary.lost_stacks = progress.lost_stacks;
    summary.stacks_errno = summary.stacks_errno != 0 ? summary.stacks_errno : progress.stacks_errno;
    if (!progress.stacks_taken.empty()) {
        facts["stacks"] = progress.stacks_taken;
    }
    for (const std::string& version : progress.pythons) {
        std::string& versions = facts[python_fact];
        versions += versions.empty() ? version : "; " + version;
    }
    facts.merge(program_facts(images));
    facts.merge(heap_facts(images));
    facts.merge(server_facts(images));
    summary.may_have_unseen_blocks = std::ranges::any_of(images, [&](const RecordedImage& image) {
        return image.facts.foreign_malloc == 0 &&
               has_unseen_blocks(image.facts.heap_pages_bytes, 0, 0, summary.events / 2);
    });
    facts["processes"] = std::to_string(summary.processes);
    facts["lost_events"] = std::to_string(summary.lost_events);
    MEMSWEEP_TRY(put_facts(take, facts));
    return summary;
}

base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                          const IsRunning& is_running, const TakeBytes& take, Facts facts,
                                          const std::optional<UnfinishedTrace>& unfinished)
{
    if (unfinished && unfinished->is_finished()) {
        MEMSWEEP_TRY(put_header(take, unfinished->header()));
        const TraceProgress all = MEMSWEEP_TRY(unfinished->copy_chunks(take));
        MEMSWEEP_TRY(put_facts(take, unfinished->facts()));
        RecordingSummary summary = said_by_images(images);
        summary.processes = all.streams.size();
        summary.events = all.events;
        summary.damaged_chunks = all.damaged_chunks;
        return summary;
    }
    if (images.empty()) {
        return base::fail(base::ErrorCode::invalid_input, "nothing was recorded");
    }
    MEMSWEEP_TRY(put_header(take, trace_header(images, now)));
    TraceProgress progress;
    if (unfinished) {
        progress = MEMSWEEP_TRY(unfinished->copy_chunks(take));
    }
    return put_rest(images, is_running, take, std::move(facts), std::move(progress));
}

}  // namespace memsweep::trace
