#include "core/trace/end_mark.hpp"

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "core/trace/format/stack_layout.hpp"
#include "core/trace/format/varint.hpp"

namespace memsweep::trace {
namespace {

void put_mark_number(std::uint64_t value, std::string& out)
{
    std::array<std::uint8_t, max_varint_bytes> bytes{};
    const auto* const end = put_varint(bytes.data(), value);
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(end - bytes.data()));
}

// `most`: processes, and threads.
bool take_mark(payload::Cursor& cursor, std::uint64_t most, EndMark& mark)
{
    std::uint64_t count{};
    std::string_view sign;
    if (!cursor.text(sign) || !cursor.number(mark.cut.ticks) || !cursor.number(count) || count > most) {
        return false;
    }
    mark.sign = sign;
    for (; count > 0; --count) {
        std::uint32_t process{};
        if (!cursor.small_number(process)) {
            return false;
        }
        mark.cut.processes.insert(process);
    }
    if (!cursor.number(count) || count > most) {
        return false;
    }
    for (; count > 0; --count) {
        ThreadCut thread;
        if (!cursor.small_number(thread.process) || !cursor.small_number(thread.thread) ||
            !cursor.number(thread.sequence) || !cursor.number(thread.first_ticks) || !cursor.number(thread.events)) {
            return false;
        }
        mark.cut.threads.push_back(thread);
    }
    return cursor.at_end();
}

}  // namespace

base::Expected<EndMark> end_mark_of(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                    std::string sign)
{
    std::map<std::uint32_t, const RecordedImage*> last;  // by process
    for (const RecordedImage& image : images) {
        const RecordedImage*& known = last[number_in_trace(image.facts)];
        if (known == nullptr || known->facts.start_nanoseconds <= image.facts.start_nanoseconds) {
            known = &image;
        }
    }
    EndMark mark{.sign = std::move(sign), .cut = {.ticks = read_clocks().ticks}};
    for (const auto& [process, image] : last) {
        if (is_running(image->facts)) {
            MEMSWEEP_TRY(add_to_cut(*image, mark.cut));
        }
    }
    return mark;
}

base::Expected<void> put_end_mark(const TakeBytes& take, const EndMark& mark)
{
    std::string payload;
    put_mark_number(mark.sign.size(), payload);
    payload += mark.sign;
    put_mark_number(mark.cut.ticks, payload);
    put_mark_number(mark.cut.processes.size(), payload);
    for (const std::uint32_t process : mark.cut.processes) {
        put_mark_number(process, payload);
    }
    put_mark_number(mark.cut.threads.size(), payload);
    for (const ThreadCut& thread : mark.cut.threads) {
        for (const std::uint64_t value : {std::uint64_t{thread.process}, std::uint64_t{thread.thread}, thread.sequence,
                                          thread.first_ticks, thread.events}) {
            put_mark_number(value, payload);
        }
    }
    return put_chunk(take, {.kind = ChunkKind::end_mark, .first_ticks = mark.cut.ticks, .last_ticks = mark.cut.ticks},
                     payload);
}

std::optional<EndMark> find_end_mark(TraceFile& file)
{
    // A thread that is in the middle of a chunk has one in the file, but for what a cut-off recording lost.
    const std::uint64_t most = 1024 + file.event_chunks().size();
    std::vector<std::uint8_t> payload;
    for (const ChunkPlace& chunk : file.side_chunks()) {
        if (chunk.header.kind != ChunkKind::end_mark || !file.read_payload(chunk, payload)) {
            continue;
        }
        EndMark mark;
        payload::Cursor cursor{payload};
        if (take_mark(cursor, most, mark)) {
            return mark;
        }
        file.count_corrupted();
    }
    return std::nullopt;
}

}  // namespace memsweep::trace
