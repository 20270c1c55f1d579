// What a recorder leaves behind in its file, cut off at any point, becomes a trace.
#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/base/rng.hpp"
#include "core/trace/format/crc32c.hpp"
#include "core/trace/live_recording.hpp"
#include "core/trace/recording.hpp"
#include "tests/trace/recording_bytes.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace {

using namespace memsweep;

using tests::mallocs;
using tests::own_process;
using tests::RecordingBytes;

struct Assembled {
    trace::RecordingSummary summary;
    tests::KeptEvents events;
};

trace::RecordedImage image_of(const std::string& file)
{
    auto image = trace::find_image([&] { return tests::read_from(file); }, "memory");
    REQUIRE(image);
    REQUIRE(image->has_value());
    return **std::move(image);
}

Assembled assembled(const std::vector<std::string>& files, bool runs = false,
                    const std::optional<trace::UnfinishedTrace>& unfinished = {})
{
    std::vector<trace::RecordedImage> images;
    for (const std::string& file : files) {
        images.push_back(image_of(file));
    }
    std::string out;
    const auto summary = trace::assemble(
        std::move(images), {2'000'000, 1'000'000}, [&](const trace::ImageFacts&) { return runs; },
        tests::append_to(out), {}, unfinished);
    REQUIRE(summary);
    return {*summary, tests::events_of(out)};
}

std::size_t count(const Assembled& trace, trace::EventKind kind)
{
    return static_cast<std::size_t>(std::ranges::count(trace.events.events, kind, &trace::Event::kind));
}

}  // namespace

TEST_CASE("numbers written at once are the varints that the loop writes", "[unit]")
{
    for (unsigned bits = 0; bits < 64; ++bits) {
        for (const std::uint64_t value : {1ULL << bits, (1ULL << bits) - 1, (1ULL << bits) + 12345}) {
            std::array<std::uint8_t, trace::max_varint_bytes> by_loop{};
            std::array<std::uint8_t, trace::max_varint_bytes> at_once{};
            const auto length = trace::put_varint(by_loop.data(), value) - by_loop.data();
            REQUIRE(trace::put_varint_at_once(at_once.data(), value) - at_once.data() == length);
            REQUIRE(std::equal(by_loop.begin(), by_loop.begin() + length, at_once.begin()));
        }
    }
}

TEST_CASE("the checksum is the same by table and by instruction, however long the bytes", "[unit]")
{
    base::Rng random{2};
    std::string bytes(20'000, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random.below(256));
    }
    for (const std::size_t length :
         std::initializer_list<std::size_t>{0, 1, 7, 8, 63, 1'024, 3'071, 3'072, 3'080, 6'143, 6'145, 9'999, 20'000}) {
        REQUIRE(trace::crc32c(bytes.data(), length) == trace::crc32c_by_table(bytes.data(), length));
    }
}

TEST_CASE("a chunk may span more than its payload, and the file end in what it spans", "[unit]")
{
    RecordingBytes recording{1};
    recording.chunk(own_process, 0, mallocs(100, 0x10000), 4'096);
    recording.chunk(own_process, 1, mallocs(10, 0x20000), 9);
    std::string bytes = recording.bytes();
    CHECK(count(assembled({bytes}), trace::EventKind::malloc) == 110);
    bytes.resize(bytes.size() - 9);
    const Assembled trace = assembled({bytes});
    CHECK(count(trace, trace::EventKind::malloc) == 110);
    CHECK(trace.summary.damaged_chunks == 0);
    CHECK(trace.events.damage.skipped_bytes == 0);
}

TEST_CASE("events of a process that sees the clock tick are close behind their stamp", "[unit]")
{
    for (const bool is_ticked : {false, true}) {
        RecordingBytes recording{2};  // from 1,000 on, at 2 ticks a nanosecond
        if (is_ticked) {
            recording.follow_clock();
        }
        const std::uint64_t later = trace::stamp_word(1'000'000'000);
        const std::string stamp{reinterpret_cast<const char*>(&later), sizeof later};
        recording.slot(0, own_process, 0, mallocs(4, 0x10000) + stamp + mallocs(1, 0x20000));
        recording.slot(1, 41, 0, mallocs(1, 0x40000));
        std::vector<std::uint64_t> ticks;
        for (const trace::Event& event : assembled({recording.bytes()}).events.events) {
            if (event.kind == trace::EventKind::malloc && event.thread == own_process) {
                ticks.push_back(event.ticks);
            }
        }
        REQUIRE(ticks.size() == 5);
        CHECK(ticks[0] == 1'000);
        CHECK((ticks[3] < 100'000) == is_ticked);
        CHECK((ticks[3] > 700'000'000) != is_ticked);
        CHECK(ticks[4] == 1'000'000'000);
    }
}

TEST_CASE("a process is there until memsweep saw it end, if it did not say so itself", "[unit]")
{
    const auto end_of = [](RecordingBytes recording, const std::vector<std::string>& behind = {}) {
        recording.slot(0, own_process, 0, mallocs(1, 0x10000));
        std::vector<std::string> files{recording.bytes()};
        files.insert(files.end(), behind.begin(), behind.end());
        return assembled(files).events.events[1];
    };
    RecordingBytes killed{1};
    killed.see_end(5'000);
    CHECK(end_of(killed).kind == trace::EventKind::process_exit);
    CHECK(end_of(killed).ticks >= 5'000);
    CHECK(end_of(killed).ticks < 5'010);
    RecordingBytes exited{1, 1'000, 1, 0, 3'000};
    exited.see_end(5'000);
    CHECK(end_of(exited).ticks >= 3'000);
    CHECK(end_of(exited).ticks < 3'010);
    RecordingBytes next{1, 4'000};
    next.slot(0, own_process, 0, mallocs(1, 0x20000));
    const trace::Event exec = end_of(killed, {next.bytes()});
    CHECK(exec.kind == trace::EventKind::exec);
    CHECK(exec.ticks > 3'990);
    CHECK(exec.ticks <= 4'000);
}

TEST_CASE("chunks and slots of a recording are a stream per thread, with its end", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 2, mallocs(5, 0x30000));
    recording.slot(1, 41, 0, mallocs(7, 0x40000));
    recording.chunk(own_process, 0, mallocs(100, 0x10000));
    recording.chunk(own_process, 1, mallocs(10, 0x20000));
    const Assembled trace = assembled({recording.bytes()});
    CHECK(trace.summary.damaged_chunks == 0);
    CHECK(count(trace, trace::EventKind::malloc) == 122);
    CHECK(count(trace, trace::EventKind::thread_exit) == 1);
    CHECK(trace.events.events.back().kind == trace::EventKind::process_exit);
    CHECK(trace.summary.events == 124);
    CHECK(trace.events.damage.missing_chunks == 0);
}

TEST_CASE("a chunk that was flushed when its process died is still in its slot, and counts once", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 0, mallocs(5, 0x30000));
    recording.chunk(own_process, 0, mallocs(5, 0x30000));
    std::string bytes = recording.bytes();
    CHECK(count(assembled({bytes}), trace::EventKind::malloc) == 5);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);  // half written: then the slot has it
    const Assembled trace = assembled({bytes});
    CHECK(count(trace, trace::EventKind::malloc) == 5);
    CHECK(trace.summary.damaged_chunks == 1);
}

TEST_CASE("a recording that ends anywhere gives what stands before", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 2, mallocs(5, 0x30000));
    recording.chunk(own_process, 0, mallocs(100, 0x10000));
    recording.chunk(own_process, 1, mallocs(10, 0x20000));
    const std::string whole = recording.bytes();
    for (std::size_t bytes = whole.size(); bytes > trace::slots_offset + trace::slot_bytes; --bytes) {
        const Assembled trace = assembled({whole.substr(0, bytes)});
        REQUIRE(count(trace, trace::EventKind::malloc) >= 5);
        REQUIRE(trace.events.damage.corrupted_chunks == 0);
    }
    const std::string cut = whole.substr(0, 100);
    CHECK_FALSE(trace::find_image([&] { return tests::read_from(cut); }, "memory"));
}

TEST_CASE("a process that wrote no header recorded nothing; what cannot be read is another matter", "[unit]")
{
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{trace::slots_offset}}) {
        const std::string blank(bytes, '\0');
        const auto image = trace::find_image([&] { return tests::read_from(blank); }, "memory");
        REQUIRE(image);
        CHECK_FALSE(image->has_value());
    }
    const auto closed = []() -> base::Expected<trace::ReadAt> {
        return base::fail(base::ErrorCode::io, "no descriptor");
    };
    CHECK(trace::find_image(closed, "memory").error().message == "no descriptor");
}

TEST_CASE("a later image under the same number is another program, or another process", "[unit]")
{
    RecordingBytes first{1};
    first.slot(0, own_process, 0, mallocs(5, 0x30000));
    RecordingBytes second{1, 5'000};
    second.slot(0, own_process, 0, mallocs(6, 0x30000));
    const Assembled executed = assembled({second.bytes(), first.bytes()});
    CHECK(count(executed, trace::EventKind::exec) == 1);
    CHECK(count(executed, trace::EventKind::process_exit) == 1);
    CHECK(executed.summary.processes == 1);
    RecordingBytes stranger{1, 5'000, 2};
    stranger.slot(0, own_process, 0, mallocs(6, 0x30000));
    CHECK(count(assembled({stranger.bytes(), first.bytes()}), trace::EventKind::process_exit) == 2);
    RecordingBytes elsewhere{1, 5'000, 1, 4'026'531'836};  // another namespace has the same numbers
    elsewhere.slot(0, own_process, 0, mallocs(6, 0x30000));
    CHECK(count(assembled({elsewhere.bytes(), first.bytes()}), trace::EventKind::process_exit) == 2);
    RecordingBytes ended{1, 1'000, 1, 0, 2'000};  // by exit, so that the next of its number is another
    ended.slot(0, own_process, 0, mallocs(6, 0x30000));
    const Assembled later = assembled({second.bytes(), ended.bytes()});
    CHECK(count(later, trace::EventKind::process_exit) == 2);
    CHECK(later.summary.processes == 2);
    const Assembled running = assembled({first.bytes()}, true);
    CHECK(count(running, trace::EventKind::process_exit) == 0);
    CHECK(running.summary.still_running == 1);
}

TEST_CASE("processes of another pid namespace have numbers of their own", "[unit]")
{
    constexpr std::uint32_t home = 4'026'531'836;
    trace::ImageFacts image{.process = 1, .pid_namespace = home, .home_namespace = home};
    CHECK(trace::number_in_trace(image) == 1);
    image.pid_namespace = home + 600;
    const std::uint32_t inner = trace::number_in_trace(image);
    CHECK(inner % 10'000'000 == 1);
    CHECK(inner > 4'194'304);
    CHECK(trace::number_in_trace(image, 4'194'304) == inner + 4'194'303);
    image.pid_namespace = home + 601;
    CHECK(trace::number_in_trace(image) != inner);
    image.home_namespace = 0;  // it is not known whose numbers they are
    CHECK(trace::number_in_trace(image) == 1);
}

TEST_CASE("what recordings are fuzzed with is of this version, and so is read at all", "[unit]")
{
    for (const std::string name : {"slot-full", "slots-overlap-chunks"}) {
        std::ifstream file{MEMSWEEP_SOURCE_DIR "/tests/fuzz/corpus/recording/image/" + name, std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        CHECK(trace::find_image([&] { return tests::read_from(bytes); }, name));
    }
}

TEST_CASE("an image is over when another begins under its number in the same namespace", "[unit]")
{
    constexpr std::uint32_t ours = 4'026'531'836;
    const auto is_over = [](std::uint32_t before, std::uint32_t now) {
        const RecordingBytes first{1, 1'000, 1, before};
        const RecordingBytes second{1, 5'000, 1, now};
        return trace::is_over(image_of(first.bytes()), image_of(second.bytes()));
    };
    CHECK(is_over(ours, ours));
    CHECK(!is_over(ours, ours + 1));
    CHECK(!is_over(0, 0));
}

TEST_CASE("what a process executes is taken behind the end of what it was, wherever the trace is left", "[unit]")
{
    const bool is_damaged = GENERATE(false, true);  // what says when, in one slot
    RecordingBytes first{3};
    first.slot(0, own_process, 0, mallocs(5, 0x30000), trace::SlotState::full);
    first.slot(1, own_process, 1, mallocs(3, 0x40000), trace::SlotState::writing, is_damaged ? 1ULL << 60U : 1'100);
    first.slot(2, 41, 0, mallocs(2, 0x50000));
    RecordingBytes second{2, 5'000};
    second.slot(0, own_process, 0, mallocs(6, 0x60000), trace::SlotState::full);
    second.slot(1, own_process, 1, mallocs(4, 0x70000));
    const auto check = [&](const std::string& begun) {
        auto unfinished = trace::UnfinishedTrace::open(tests::read_from(begun), "memory");
        REQUIRE(unfinished);
        const Assembled trace = assembled({first.bytes(), second.bytes()}, false, *unfinished);
        CHECK(trace.events.damage.missing_chunks == 0);
        CHECK(trace.summary.damaged_chunks == 0);
        CHECK(count(trace, trace::EventKind::malloc) == 20);
        CHECK(count(trace, trace::EventKind::thread_exit) == 1);
        CHECK(count(trace, trace::EventKind::exec) == 1);
        CHECK(count(trace, trace::EventKind::process_exit) == 1);
        CHECK((is_damaged || trace.events.events.back().kind == trace::EventKind::process_exit));
        CHECK(trace.summary.events == 23);
    };
    std::string begun;
    trace::TraceProgress progress;
    REQUIRE(trace::put_header(tests::append_to(begun), {}));
    const auto put =
        trace::put_followed(image_of(first.bytes()), image_of(second.bytes()), tests::append_to(begun), progress, {});
    REQUIRE(put);
    CHECK(*put);
    for (std::size_t length = 0; length <= begun.size(); ++length) {
        check(begun.substr(0, length));
    }
    auto live = trace::LiveRecording::open(second.file(), "memory");
    REQUIRE(live);
    REQUIRE(live->has_value());
    REQUIRE((*live)->look(tests::append_to(begun), progress, {}));
    CHECK(second.state(0) == trace::SlotState::free);
    check(begun);
    std::vector<trace::RecordedImage> images{image_of(second.bytes()), image_of(first.bytes())};
    static_cast<void>(trace::trace_header(images, {2'000'000, 1'000'000}));  // which sorts them
    const auto summary = trace::put_rest(
        images, [](const trace::ImageFacts&) { return false; }, tests::append_to(begun), {}, std::move(progress));
    REQUIRE(summary);
    CHECK(summary->events == 23);
    CHECK(tests::events_of(begun).events.size() == 23);
}
