// Snapshots in a trace: what is written is read, readers of events pass over them, and no bytes break the reading.
#include "core/trace/snapshot.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/trace_reader.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests::snapshots {
namespace {

constexpr std::uint64_t page = 4096;

trace::Snapshot made(base::Rng& random, std::size_t areas)
{
    trace::Snapshot snapshot{.process = 4711, .at = trace::SnapshotAt::end, .stopped_nanoseconds = 1234567};
    snapshot.cut = {.ticks = 1000 + random.below(1000),
                    .processes = {4711},
                    .threads = {{4711, 4711, 3, 77, 12}, {4711, 4712, 0, 90, 1U << 20U}}};
    snapshot.start_ticks = 50;
    snapshot.has_lost_events = true;
    snapshot.served_by = "/lib/libc.so.6";
    snapshot.recorder_library = "/opt/memsweep/libmemsweep_record.so";
    snapshot.recorder_folder = "/tmp/a b.recording";
    snapshot.space.page_tables_bytes = 40960;
    snapshot.space.peak_rss_bytes = 1ULL << 40U;
    std::uint64_t at = 0x5555'0000'0000;
    for (std::size_t i = 0; i < areas; ++i) {
        sys::MappedArea area{.begin = at + page * random.below(5)};
        area.end = area.begin + page * (1 + random.below(1000));
        area.permissions = random.below(2) == 0 ? "rw-p" : "r-xp";
        area.inode = random.below(1000);
        area.name = random.below(2) == 0 ? "" : "/usr/lib/a\nb";
        area.anonymous_bytes = page;
        area.is_left_out_of_dumps = random.below(3) == 0;
        area.is_of_device = random.below(9) == 0;
        for (std::uint64_t from = area.begin; from < area.end && random.below(8) != 0;) {
            const std::uint64_t to = std::min(area.end, from + page * (1 + random.below(50)));
            const auto state = static_cast<sys::PageState>(random.below(4));
            snapshot.space.pages.push_back({from, to, state, random.below(2) == 0});
            area.rss_bytes += snapshot.space.pages.back().is_resident() ? to - from : 0;
            from = to + page * random.below(3);
        }
        at = area.end;
        snapshot.space.areas.push_back(area);
    }
    constexpr std::uint64_t vsyscall = 0xffff'ffff'ff60'0000;
    snapshot.space.areas.push_back(
        {.begin = vsyscall, .end = vsyscall + page, .permissions = "--xp", .name = "[vsyscall]"});
    return snapshot;
}

std::string file_with(const std::vector<trace::Snapshot>& snapshots)
{
    std::string file;
    const trace::TakeBytes take = [&file](std::string_view bytes) -> base::Expected<void> {
        file += bytes;
        return {};
    };
    REQUIRE(trace::put_header(take, {.process = 4711}));
    std::uint64_t number = 0;
    for (const trace::Snapshot& snapshot : snapshots) {
        REQUIRE(trace::put_snapshot(take, snapshot, number++));
    }
    return file;
}

trace::ReadAt reading(const std::string& file)
{
    return trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

void check_equal(const trace::Snapshot& one, const trace::Snapshot& other)
{
    CHECK(one.process == other.process);
    CHECK(one.at == other.at);
    CHECK(one.stopped_nanoseconds == other.stopped_nanoseconds);
    CHECK(one.cut.ticks == other.cut.ticks);
    CHECK(one.cut.processes == other.cut.processes);
    REQUIRE(one.cut.threads.size() == other.cut.threads.size());
    for (std::size_t i = 0; i < one.cut.threads.size(); ++i) {
        CHECK(one.cut.threads[i].thread == other.cut.threads[i].thread);
        CHECK(one.cut.threads[i].process == other.cut.threads[i].process);
        CHECK(one.cut.threads[i].sequence == other.cut.threads[i].sequence);
        CHECK(one.cut.threads[i].first_ticks == other.cut.threads[i].first_ticks);
        CHECK(one.cut.threads[i].events == other.cut.threads[i].events);
    }
    CHECK(one.has_lost_events == other.has_lost_events);
    CHECK(one.has_own_malloc == other.has_own_malloc);
    CHECK(one.served_by == other.served_by);
    CHECK(one.recorder_library == other.recorder_library);
    CHECK(one.recorder_folder == other.recorder_folder);
    CHECK(one.start_ticks == other.start_ticks);
    CHECK(one.space.page_tables_bytes == other.space.page_tables_bytes);
    CHECK(one.space.peak_rss_bytes == other.space.peak_rss_bytes);
    CHECK(one.space.rss_bytes() == other.space.rss_bytes());
    CHECK(one.space.pages == other.space.pages);
    REQUIRE(one.space.areas.size() == other.space.areas.size());
    for (std::size_t i = 0; i < one.space.areas.size(); ++i) {
        const sys::MappedArea& here = one.space.areas[i];
        const sys::MappedArea& there = other.space.areas[i];
        CHECK((here.begin == there.begin && here.end == there.end && here.name == there.name));
        CHECK((here.permissions == there.permissions && here.inode == there.inode));
        CHECK((here.is_left_out_of_dumps == there.is_left_out_of_dumps && here.is_of_device == there.is_of_device));
        CHECK((here.rss_bytes == there.rss_bytes && here.anonymous_bytes == there.anonymous_bytes));
    }
}

}  // namespace

TEST_CASE("snapshots are read as they were written, also in several chunks, and again after a recovery", "[unit]")
{
    base::Rng random{7};
    const std::vector<trace::Snapshot> written{made(random, 3), made(random, 60'000), made(random, 0)};
    std::string bytes = file_with(written);
    bytes += bytes.substr(sizeof(trace::FileHeader));
    auto file = trace::TraceFile::open(reading(bytes), "snapshots");
    REQUIRE(file);
    CHECK(file->side_chunks().size() > 2 * written.size());
    const auto found = trace::find_snapshots(*file);
    REQUIRE(found.size() == written.size());
    for (const trace::Snapshot& one : written) {
        const auto same = std::ranges::find_if(found, [&](const auto& each) {
            return each.ticks == one.cut.ticks && each.rss_bytes == one.space.rss_bytes();
        });
        REQUIRE(same != found.end());
        const auto read = trace::read_snapshot(*file, *same);
        REQUIRE(read);
        check_equal(*read, one);
    }
    CHECK(std::ranges::is_sorted(found, {}, &trace::FoundSnapshot::ticks));
    CHECK(file->damage().corrupted_chunks == 0);
}

TEST_CASE("who reads the events of a trace with snapshots finds no damage", "[unit]")
{
    base::Rng random{8};
    const std::string bytes = file_with({made(random, 10)});
    auto reader = trace::TraceReader::open(reading(bytes), "snapshots");
    REQUIRE(reader);
    trace::Event event;
    CHECK(!reader->next(event));
    reader->check_side_chunks();
    CHECK(reader->damage().corrupted_chunks == 0);
}

TEST_CASE("a snapshot that lacks a part is none, and whatever bytes it has break nothing", "[unit]")
{
    base::Rng random{9};
    const trace::Snapshot large = made(random, 60'000);
    const std::string whole = file_with({large});
    const std::string part = whole.substr(0, whole.size() - 100);
    auto cut = trace::TraceFile::open(reading(part), "cut");
    REQUIRE(cut);
    CHECK(trace::find_snapshots(*cut).empty());

    for (int round = 0; round < 2000; ++round) {
        const trace::Snapshot small = made(random, 1 + random.below(4));
        std::string bytes = file_with({small});
        auto file = trace::TraceFile::open(reading(bytes), "small");
        REQUIRE(file);
        std::vector<std::uint8_t> body;
        REQUIRE(file->read_payload(file->side_chunks().front(), body));
        for (std::uint64_t change = 1 + random.below(4); change != 0; --change) {
            body[random.below(body.size())] = static_cast<std::uint8_t>(random.next());
        }
        std::string changed;
        const trace::TakeBytes take = [&changed](std::string_view piece) -> base::Expected<void> {
            changed += piece;
            return {};
        };
        REQUIRE(trace::put_header(take, {.process = 4711}));
        REQUIRE(trace::put_chunk(take, {.kind = trace::ChunkKind::snapshot, .process = 4711},
                                 {reinterpret_cast<const char*>(body.data()), body.size()}));
        auto hostile = trace::TraceFile::open(reading(changed), "hostile");
        REQUIRE(hostile);
        for (const trace::FoundSnapshot& one : trace::find_snapshots(*hostile)) {
            if (const auto read = trace::read_snapshot(*hostile, one)) {
                for (const sys::PageRun& run : read->space.pages) {
                    CHECK(run.begin < run.end);
                }
            }
        }
    }
}

}  // namespace memsweep::tests::snapshots
