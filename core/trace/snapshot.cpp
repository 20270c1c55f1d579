#include "core/trace/snapshot.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/trace/bounds.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/format/varint.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t address_unit = 4096;  // which every page is a multiple of
constexpr std::uint64_t snapshot_kib = 1024;
constexpr std::size_t snapshot_part_bytes = 1U << 20U;
constexpr std::uint64_t things_of_an_area = 4;
constexpr std::uint64_t most_resident_bytes = 16ULL << 40U;  // page by page, a minute and a half

class SnapshotNumbers {
  public:
    void put(std::uint64_t value)
    {
        const std::size_t before = bytes_.size();
        bytes_.resize(before + max_varint_bytes);
        const auto* const end = put_varint(bytes_.data() + before, value);
        bytes_.resize(static_cast<std::size_t>(end - bytes_.data()));
    }
    void put_text(std::string_view text)
    {
        put(text.size());
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    void put_bytes(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::string_view text() const noexcept
    {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }

  private:
    std::vector<std::uint8_t> bytes_;
};

constexpr std::uint64_t flag_not_dumped = 1;
constexpr std::uint64_t flag_of_device = 2;

void put_mapped_area(const sys::MappedArea& area, std::uint64_t behind, SnapshotNumbers& out)
{
    out.put((area.begin - behind) / address_unit);
    out.put(area.size() / address_unit);
    out.put_text(area.permissions);
    out.put(area.inode);
    out.put_text(area.name);
    for (const std::uint64_t bytes :
         {area.rss_bytes, area.pss_bytes, area.anonymous_bytes, area.anon_huge_bytes, area.swapped_bytes}) {
        out.put(bytes / snapshot_kib);
    }
    out.put((area.is_left_out_of_dumps ? flag_not_dumped : 0) | (area.is_of_device ? flag_of_device : 0));
}

SnapshotNumbers snapshot_body(const Snapshot& snapshot)
{
    SnapshotNumbers out;
    out.put(snapshot.stopped_nanoseconds);
    out.put(snapshot.cut.threads.size());
    for (const ThreadCut& thread : snapshot.cut.threads) {
        for (const std::uint64_t value :
             {std::uint64_t{thread.thread}, thread.sequence, thread.first_ticks, thread.events}) {
            out.put(value);
        }
    }
    out.put(static_cast<std::uint64_t>(snapshot.space.from));
    out.put(snapshot.space.page_tables_bytes / snapshot_kib);
    out.put(snapshot.space.peak_rss_bytes / snapshot_kib);
    out.put(snapshot.start_ticks);
    out.put((snapshot.has_own_malloc ? 1U : 0U) | (snapshot.has_lost_events ? 2U : 0U));
    out.put_text(snapshot.served_by);
    out.put_text(snapshot.recorder_library);
    out.put_text(snapshot.recorder_folder);
    out.put(snapshot.space.areas.size());
    std::uint64_t behind = 0;
    for (const sys::MappedArea& area : snapshot.space.areas) {
        put_mapped_area(area, behind, out);
        behind = area.end;
    }
    out.put(snapshot.space.pages.size());
    behind = 0;
    for (const sys::PageRun& run : snapshot.space.pages) {
        constexpr unsigned state_bits = 3;
        out.put((run.begin - behind) / address_unit << state_bits | static_cast<std::uint64_t>(run.state) << 1U |
                (run.is_huge ? 1U : 0U));
        out.put((run.end - run.begin) / address_unit);
        behind = run.end;
    }
    return out;
}

// What each part begins with.
struct SnapshotPartHead {
    std::uint64_t number{};
    std::uint64_t part{};
    std::uint64_t parts{};
    std::uint64_t at{};
    std::uint64_t ticks{};
    std::uint64_t rss_bytes{};

    void put_to(SnapshotNumbers& out) const
    {
        for (const std::uint64_t value : {number, part, parts, at, ticks, rss_bytes}) {
            out.put(value);
        }
    }
    [[nodiscard]] bool take_from(payload::Cursor& cursor)
    {
        return cursor.number(number) && cursor.number(part) && cursor.number(parts) && cursor.number(at) &&
               cursor.number(ticks) && cursor.number(rss_bytes) && part < parts &&
               at <= static_cast<std::uint64_t>(SnapshotAt::time);
    }
};

bool take_snapshot_text(payload::Cursor& cursor, std::string& into)
{
    std::string_view text;
    if (!cursor.text(text)) {
        return false;
    }
    into = text;
    return true;
}

// Those behind `behind`; false: no address space has it. The highest page is the kernel's [vsyscall].
bool take_snapshot_range(std::uint64_t gap, std::uint64_t pages, std::uint64_t behind, std::uint64_t& begin,
                         std::uint64_t& end)
{
    constexpr std::uint64_t most = UINT64_MAX / address_unit;
    if (gap > most || pages > most) {
        return false;
    }
    begin = behind + gap * address_unit;
    end = begin + pages * address_unit;
    return begin >= behind && end > begin;
}

class SnapshotBodyReader {
  public:
    SnapshotBodyReader(std::span<const std::uint8_t> bytes, std::uint64_t most_held)
        : cursor_{bytes}, left_{std::min<std::uint64_t>(most_held, bytes.size() * things_of_an_area)}
    {
    }

    [[nodiscard]] bool read(Snapshot& snapshot)
    {
        return take_threads(snapshot) && take_program(snapshot) && take_areas(snapshot.space) &&
               take_pages(snapshot.space) && cursor_.at_end();
    }

  private:
    // How many things follow, each of which counts as so many.
    bool count(std::uint64_t& things, std::uint64_t each)
    {
        if (!cursor_.number(things) || things > left_ / each) {
            return false;
        }
        left_ -= things * each;
        return true;
    }

    bool take_threads(Snapshot& snapshot)
    {
        std::uint64_t threads{};
        if (!cursor_.number(snapshot.stopped_nanoseconds) || !count(threads, 1)) {
            return false;
        }
        for (std::uint64_t i = 0; i < threads; ++i) {
            ThreadCut thread{.process = snapshot.process};
            if (!cursor_.small_number(thread.thread) || !cursor_.number(thread.sequence) ||
                !cursor_.number(thread.first_ticks) || !cursor_.number(thread.events)) {
                return false;
            }
            snapshot.cut.threads.push_back(thread);
        }
        return true;
    }

    bool take_kib(std::uint64_t& bytes)
    {
        const bool is_there = cursor_.number(bytes) && bytes <= UINT64_MAX / snapshot_kib;
        bytes *= is_there ? snapshot_kib : 1;
        return is_there;
    }

    bool take_program(Snapshot& snapshot)
    {
        std::uint64_t from{};
        std::uint64_t flags{};
        const bool is_there = cursor_.number(from) && from <= static_cast<std::uint64_t>(sys::PagesFrom::pagemap) &&
                              take_kib(snapshot.space.page_tables_bytes) && take_kib(snapshot.space.peak_rss_bytes) &&
                              cursor_.number(snapshot.start_ticks) && cursor_.number(flags) &&
                              take_snapshot_text(cursor_, snapshot.served_by) &&
                              take_snapshot_text(cursor_, snapshot.recorder_library) &&
                              take_snapshot_text(cursor_, snapshot.recorder_folder);
        snapshot.space.from = static_cast<sys::PagesFrom>(from);
        snapshot.has_own_malloc = (flags & 1U) != 0;
        snapshot.has_lost_events = (flags & 2U) != 0;
        return is_there;
    }

    bool take_areas(sys::AddressSpace& space)
    {
        std::uint64_t areas{};
        if (!count(areas, things_of_an_area)) {
            return false;
        }
        std::uint64_t behind = 0;
        for (std::uint64_t i = 0; i < areas; ++i) {
            sys::MappedArea area;
            std::uint64_t gap{};
            std::uint64_t pages{};
            std::uint64_t flags{};
            if (!cursor_.number(gap) || !cursor_.number(pages) ||
                !take_snapshot_range(gap, pages, behind, area.begin, area.end) ||
                !take_snapshot_text(cursor_, area.permissions) || !cursor_.number(area.inode) ||
                !take_snapshot_text(cursor_, area.name) || !take_kib(area.rss_bytes) || !take_kib(area.pss_bytes) ||
                !take_kib(area.anonymous_bytes) || !take_kib(area.anon_huge_bytes) || !take_kib(area.swapped_bytes) ||
                !cursor_.number(flags)) {
                return false;
            }
            area.is_left_out_of_dumps = (flags & flag_not_dumped) != 0;
            area.is_of_device = (flags & flag_of_device) != 0;
            behind = area.end;
            space.areas.push_back(std::move(area));
        }
        return true;
    }

    // None lies outside of the areas, so that whoever goes through the pages goes through what is mapped at most.
    bool take_pages(sys::AddressSpace& space)
    {
        std::uint64_t runs{};
        if (!count(runs, 1)) {
            return false;
        }
        std::uint64_t behind = 0;
        auto area = space.areas.begin();
        for (std::uint64_t i = 0; i < runs; ++i) {
            constexpr unsigned state_bits = 3;
            constexpr std::uint64_t states = 3;
            sys::PageRun run;
            std::uint64_t word{};
            std::uint64_t pages{};
            if (!cursor_.number(word) || !cursor_.number(pages) ||
                !take_snapshot_range(word >> state_bits, pages, behind, run.begin, run.end)) {
                return false;
            }
            run.state = static_cast<sys::PageState>(word >> 1U & states);
            run.is_huge = (word & 1U) != 0;
            behind = run.end;
            area = std::find_if(area, space.areas.end(), [&](const auto& one) { return one.end > run.begin; });
            if (area == space.areas.end() || run.begin < area->begin || run.end > area->end) {
                return false;
            }
            space.pages.push_back(run);
        }
        return space.resident_bytes() <= most_resident_bytes;
    }

    payload::Cursor cursor_;
    std::uint64_t left_;  // things that it may have yet
};

}  // namespace

base::Expected<void> put_snapshot(const TakeBytes& take, const Snapshot& snapshot, std::uint64_t number)
{
    const SnapshotNumbers body = snapshot_body(snapshot);
    SnapshotPartHead head{.number = number,
                          .parts = (body.bytes().size() + snapshot_part_bytes - 1) / snapshot_part_bytes,
                          .at = static_cast<std::uint64_t>(snapshot.at),
                          .ticks = snapshot.cut.ticks,
                          .rss_bytes = snapshot.space.rss_bytes()};
    ChunkSealer sealer;
    for (; head.part < head.parts; ++head.part) {
        const std::size_t begin = head.part * snapshot_part_bytes;
        SnapshotNumbers out;
        head.put_to(out);
        out.put_bytes(body.bytes().subspan(begin, std::min(snapshot_part_bytes, body.bytes().size() - begin)));
        const ChunkHeader header{.kind = ChunkKind::snapshot,
                                 .process = snapshot.process,
                                 .sequence = head.part,
                                 .first_ticks = head.ticks,
                                 .last_ticks = head.ticks};
        MEMSWEEP_TRY(put_chunk(take, sealer.sealed(header, out.text())));
    }
    return {};
}

std::vector<FoundSnapshot> find_snapshots(TraceFile& file)
{
    std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>, std::pair<FoundSnapshot, std::uint64_t>> found;
    std::vector<std::uint8_t> payload;
    for (const ChunkPlace& chunk : file.side_chunks()) {
        SnapshotPartHead head;
        if (chunk.header.kind != ChunkKind::snapshot || !file.read_payload(chunk, payload)) {
            continue;
        }
        payload::Cursor cursor{payload};
        if (!head.take_from(cursor)) {
            file.count_corrupted();
            continue;
        }
        auto& [one, parts] = found[{head.ticks, chunk.header.process, head.number}];
        one.process = chunk.header.process;
        one.number = head.number;
        one.at = static_cast<SnapshotAt>(head.at);
        one.ticks = head.ticks;
        one.rss_bytes = head.rss_bytes;
        parts = head.parts;
        // What was written again by a recovery is the same.
        const bool is_next = one.parts.size() == head.part;
        if (is_next) {
            one.parts.push_back(chunk);
        }
    }
    std::vector<FoundSnapshot> whole;
    for (auto& [key, one] : found) {
        if (one.first.parts.size() == one.second) {
            whole.push_back(std::move(one.first));
        }
    }
    return whole;
}

std::optional<Snapshot> read_snapshot(TraceFile& file, const FoundSnapshot& found)
{
    std::vector<std::uint8_t> body;
    std::vector<std::uint8_t> payload;
    for (const ChunkPlace& chunk : found.parts) {
        SnapshotPartHead head;
        if (!file.read_payload(chunk, payload)) {
            return std::nullopt;
        }
        payload::Cursor cursor{payload};
        SnapshotNumbers again;
        if (!head.take_from(cursor)) {
            return std::nullopt;
        }
        head.put_to(again);
        const std::size_t head_bytes = std::min(again.bytes().size(), payload.size());
        body.insert(body.end(), payload.begin() + static_cast<std::ptrdiff_t>(head_bytes), payload.end());
    }
    Snapshot snapshot{.process = found.process, .at = found.at};
    snapshot.cut.ticks = found.ticks;
    snapshot.cut.processes.insert(found.process);
    if (!SnapshotBodyReader{body, most_held_by_trace(file.stored_bytes())}.read(snapshot)) {
        file.count_corrupted();
        return std::nullopt;
    }
    return snapshot;
}

}  // namespace memsweep::trace
