// The mark of the end of a program's work: what is written is read, it cuts what came behind, and no bytes break the
// reading.
#include "core/trace/end_mark.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_moment.hpp"
#include "core/trace/trace_reader.hpp"
#include "tests/trace/recording_bytes.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace memsweep::tests::end_marks {
namespace {

trace::RecordedImage image_of(RecordingBytes& recording)
{
    const auto open = [&]() -> base::Expected<trace::ReadAt> { return recording.file().read; };
    auto image = trace::find_image(open, "recording").value();
    REQUIRE(image.has_value());
    return *image;
}

std::string trace_with(RecordingBytes& recording, const std::vector<trace::EndMark>& marks)
{
    std::string out;
    REQUIRE(
        trace::assemble({image_of(recording)}, {}, [](const trace::ImageFacts&) { return false; }, append_to(out), {}));
    for (const trace::EndMark& mark : marks) {
        REQUIRE(trace::put_end_mark(append_to(out), mark));
    }
    return out;
}

bool runs(const trace::ImageFacts& /*image*/)
{
    return true;
}

bool has_ended(const trace::ImageFacts& /*image*/)
{
    return false;
}

std::uint64_t events_of(trace::TraceReader& reader)
{
    trace::Event event;
    std::uint64_t events = 0;
    while (reader.next(event)) {
        ++events;
    }
    return events;
}

}  // namespace

TEST_CASE("a mark of more threads or processes than a file can have is none", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 0, mallocs(5, 0x20000));
    constexpr std::size_t too_many = 3000;
    trace::EndMark threads{.sign = "signal", .cut = {.threads = std::vector<trace::ThreadCut>(too_many)}};
    trace::EndMark processes{.sign = "signal", .cut = {}};
    for (std::uint32_t process = 0; process < too_many; ++process) {
        processes.cut.processes.insert(process);
    }
    for (const trace::EndMark& mark : {threads, processes}) {
        const std::string file = trace_with(recording, {mark});
        auto reader = trace::TraceReader::open(read_from(file), "memory");
        REQUIRE(reader);
        CHECK_FALSE(reader->end_mark().has_value());
    }
}

TEST_CASE("a mark is read as it was written, and the first counts", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 0, mallocs(5, 0x20000));
    const trace::EndMark mark{.sign = "line:a\nb",
                              .cut = {.ticks = 1ULL << 60U,
                                      .processes = {1, own_process, UINT32_MAX},
                                      .threads = {{1, 2, 3, 4, 5}, {own_process, own_process, 0, UINT64_MAX, 7}}}};
    const std::string file = trace_with(recording, {mark, {.sign = "signal", .cut = {}}});
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const auto read = reader->end_mark();
    REQUIRE(read);
    CHECK(read->sign == mark.sign);
    CHECK(read->cut.ticks == mark.cut.ticks);
    CHECK(read->cut.processes == mark.cut.processes);
    REQUIRE(read->cut.threads.size() == 2);
    CHECK(read->cut.threads[0].events == 5);
    CHECK(read->cut.threads[1].first_ticks == UINT64_MAX);
    reader->check_side_chunks();
    CHECK(reader->damage().corrupted_chunks == 0);
}

TEST_CASE("the end of a trace with a mark is the mark, and its exit is the last event", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 0, mallocs(5, 0x20000));
    const auto mark = trace::end_mark_of({image_of(recording)}, runs, "signal");
    REQUIRE(mark);
    recording.slot(0, own_process, 0, mallocs(40, 0x20000));
    const std::string file = trace_with(recording, {*mark});
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const std::uint64_t all = events_of(*reader);
    CHECK(all >= 40);
    CHECK(trace::is_before_exit(*reader, trace::TraceEnd{}));
    CHECK(!trace::is_before_exit(*reader, trace::TraceExit{}));
    CHECK(trace::events_before(*reader, trace::TraceEnd{}) == UINT64_MAX);
    CHECK(events_of(*reader) == 5);
    reader->read_to_end();
    CHECK(trace::events_before(*reader, trace::TraceExit{}) == UINT64_MAX);
    CHECK(events_of(*reader) == all);
    reader->rewind();
    const trace::TraceSummary summary = trace::summarize(*reader);
    REQUIRE(summary.end_of_work);
    CHECK(summary.end_of_work->events == 5);
    CHECK(summary.end_of_work->live_blocks == 5);
    CHECK(summary.totals.events == all);
    reader->rewind();
    CHECK(events_of(*reader) == all);
}

TEST_CASE("without a mark the end is the exit", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 0, mallocs(5, 0x20000));
    const std::string file = trace_with(recording, {});
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    CHECK(!reader->end_mark());
    CHECK(!trace::is_before_exit(*reader, trace::TraceEnd{}));
    CHECK(!trace::summarize(*reader).end_of_work);
}

TEST_CASE("of a process that has ended all is before the mark", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 0, mallocs(5, 0x20000));
    const auto mark = trace::end_mark_of({image_of(recording)}, has_ended, "signal");
    REQUIRE(mark);
    CHECK(mark->cut.threads.empty());
    CHECK(mark->cut.processes.empty());
    const std::string file = trace_with(recording, {*mark});
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const std::uint64_t all = events_of(*reader);
    reader->read_until(mark->cut);
    CHECK(events_of(*reader) == all);
}

TEST_CASE("whatever bytes a mark has, it is read or it is none", "[unit]")
{
    RecordingBytes recording{1};
    const trace::EndMark mark{.sign = "file:ready",
                              .cut = {.ticks = 9, .processes = {1, 2}, .threads = {{1, 2, 3, 4, 5}}}};
    const std::string whole = trace_with(recording, {mark});
    base::Rng random{11};
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole.substr(0, whole.size() - random.below(30));
        const std::size_t from = damaged.size() - std::min<std::size_t>(damaged.size(), 100);
        damaged[from + random.below(damaged.size() - from)] = static_cast<char>(random.below(256));
        auto reader = trace::TraceReader::open(read_from(damaged), "memory");
        if (reader) {
            static_cast<void>(reader->end_mark());
            static_cast<void>(trace::summarize(*reader));
        }
    }
    // A chunk whose payload is whole, and promises more than there is.
    for (const std::string& payload : {std::string{}, std::string{"\x7f"}, std::string{"\x01x\x01\xff\xff\x7f", 6}}) {
        std::string file;
        REQUIRE(trace::put_header(append_to(file), {}));
        REQUIRE(trace::put_chunk(append_to(file), {.kind = trace::ChunkKind::end_mark}, payload));
        auto reader = trace::TraceReader::open(read_from(file), "memory");
        REQUIRE(reader);
        CHECK(!reader->end_mark());
    }
}

}  // namespace memsweep::tests::end_marks
