#include "core/trace/program_notes.hpp"

#include <set>
#include <utility>

#include "core/trace/bounds.hpp"

namespace memsweep::trace {

ProgramNotes ProgramNotes::read(TraceFile& file)
{
    ProgramNotes notes;
    std::set<StackImage> images;
    std::uint64_t held = 0;
    const std::uint64_t most_held = most_held_by_trace(file.stored_bytes());
    for (const ChunkPlace& chunk : file.side_chunks()) {
        const ChunkHeader& header = chunk.header;
        if (header.kind == ChunkKind::mappers) {
            notes.mappers_[{header.process, header.thread, header.sequence, header.first_ticks}] = chunk;
        }
        std::vector<std::uint8_t> payload;
        if (header.kind == ChunkKind::thread_stacks && file.read_payload(chunk, payload) &&
            !notes.take_thread_stacks(header, payload, held, most_held)) {
            file.count_corrupted();
        }
        if (header.kind == ChunkKind::usable_sizes && file.read_payload(chunk, payload) &&
            !notes.take_usable_sizes(header.process, payload, held, most_held)) {
            file.count_corrupted();
        }
        if (header.kind == ChunkKind::modules && file.read_payload(chunk, payload)) {
            images.insert({header.process, ModulesDecoder{payload}.image()});
            if (!notes.table_.take(std::move(payload), header.process, held, most_held)) {
                file.count_corrupted();
            }
        }
    }
    for (const StackImage& image : images) {
        const auto before = static_cast<std::uint32_t>(notes.modules_.size());
        for (const LoadedModule& module : notes.table_.of(image)) {
            notes.modules_.push_back({image, module});
        }
        notes.places_[image] = {before, static_cast<std::uint32_t>(notes.modules_.size()) - before};
    }
    return notes;
}

bool ProgramNotes::take_thread_stacks(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                                      std::uint64_t& held, std::uint64_t most_held)
{
    payload::Cursor cursor{payload};
    std::uint64_t image{};
    bool is_good = cursor.number(image);
    while (is_good && !cursor.at_end()) {
        ThreadStack stack{.process = header.process, .thread = header.thread, .first_ticks = header.first_ticks};
        is_good = cursor.number(stack.begin) && cursor.number(stack.bytes) && ++held <= most_held;
        if (is_good) {
            thread_stacks_.push_back(stack);
        }
    }
    return is_good;
}

bool ProgramNotes::take_usable_sizes(std::uint32_t process, std::span<const std::uint8_t> payload, std::uint64_t& held,
                                     std::uint64_t most_held)
{
    payload::Cursor cursor{payload};
    std::uint64_t image{};
    bool is_good = cursor.number(image);
    while (is_good && !cursor.at_end()) {
        UsableSize block{.process = process};
        std::uint64_t usable{};
        is_good =
            cursor.number(block.size) && cursor.number(block.alignment) && cursor.number(usable) && ++held <= most_held;
        if (is_good) {
            usable_sizes_[block] = usable;
        }
    }
    return is_good;
}

std::optional<std::uint64_t> ProgramNotes::usable_size(const UsableSize& block) const
{
    const auto found = usable_sizes_.find(block);
    return found == usable_sizes_.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t ProgramNotes::place_of(const StackImage& image, std::uint32_t number) const
{
    const auto places = places_.find(image);
    const bool is_there = places != places_.end() && number != 0 && number <= places->second.count;
    return is_there ? places->second.before + number : 0;
}

const ChunkPlace* ProgramNotes::mappers_of(const ChunkHeader& events) const
{
    const auto found = mappers_.find({events.process, events.thread, events.sequence, events.first_ticks});
    return found == mappers_.end() ? nullptr : &found->second;
}

ChunkMappers::ChunkMappers(const ProgramNotes& notes, TraceFile& file, const ChunkHeader& events)
    : numbers_{notes.mappers_of(events), file, events}, notes_{&notes}
{
}

std::uint32_t ChunkMappers::next()
{
    const std::uint32_t number = numbers_.next();
    return number == 0 ? 0 : notes_->place_of(numbers_.image(), number);
}

}  // namespace memsweep::trace
