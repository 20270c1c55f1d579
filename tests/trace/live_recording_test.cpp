// Chunks are taken out of recordings while their processes run: each once, in the order of its thread, whatever
// happens.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/format/event_words.hpp"
#include "core/trace/live_recording.hpp"
#include "core/trace/recording.hpp"
#include "tests/trace/recording_bytes.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace {

using namespace memsweep;
using tests::mallocs;
using tests::own_process;
using trace::SlotState;

// A trace that grows, and the look that makes it grow.
struct Growing {
    explicit Growing(tests::RecordingBytes& bytes) : recording{bytes}
    {
        REQUIRE(trace::put_header(tests::append_to(trace), {}));
        auto opened = trace::LiveRecording::open(bytes.file(), "memory");
        REQUIRE(opened);
        REQUIRE(opened->has_value());
        live.emplace(**std::move(opened));
    }

    bool look()
    {
        const auto found = live->look(tests::append_to(trace), progress, {});
        REQUIRE(found);
        return *found;
    }
    [[nodiscard]] std::uint64_t next_sequence(std::uint32_t thread)
    {
        return progress.streams[own_process][thread].next_sequence;
    }
    // As after a kill, from what stands in files.
    [[nodiscard]] std::pair<trace::RecordingSummary, std::string> recovered() const
    {
        auto unfinished = trace::UnfinishedTrace::open(tests::read_from(trace), "memory");
        REQUIRE(unfinished);
        return assembled(*unfinished);
    }
    [[nodiscard]] std::pair<trace::RecordingSummary, std::string>
    assembled(const std::optional<trace::UnfinishedTrace>& unfinished) const
    {
        std::string out;
        const auto summary = trace::assemble(
            {image()}, {2'000'000, 1'000'000}, [](const trace::ImageFacts&) { return false; }, tests::append_to(out),
            {}, unfinished);
        REQUIRE(summary);
        return {*summary, out};
    }
    [[nodiscard]] trace::RecordedImage image() const
    {
        auto found = trace::find_image([this] { return tests::read_from(recording.bytes()); }, "memory");
        REQUIRE(found);
        REQUIRE(found->has_value());
        return **std::move(found);
    }

    tests::RecordingBytes& recording;
    std::string trace;
    trace::TraceProgress progress;
    std::optional<trace::LiveRecording> live;
};

// The addresses of a trace's allocations, each once.
std::vector<std::uint64_t> addresses(const std::string& file)
{
    const tests::KeptEvents kept = tests::events_of(file);
    CHECK(kept.damage.corrupted_chunks == 0);
    CHECK(kept.damage.missing_chunks == 0);
    std::vector<std::uint64_t> found;
    for (const trace::Event& event : kept.events) {
        if (event.kind == trace::EventKind::malloc) {
            found.push_back(event.address);
        }
    }
    return found;
}

trace::RecordedPiece piece(std::uint32_t thread, std::uint64_t sequence, std::uint64_t offset, std::uint64_t ticks = 0)
{
    return {{{.thread = thread, .sequence = sequence, .first_ticks = ticks == 0 ? 1'000 + sequence : ticks}, offset},
            8,
            SlotState::full};
}

std::vector<std::uint64_t> offsets(const std::vector<trace::RecordedPiece>& pieces)
{
    std::vector<std::uint64_t> found;
    for (const trace::RecordedPiece& one : pieces) {
        found.push_back(one.place.offset);
    }
    return found;
}

using Offsets = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("what a second look finds is taken up to what the first has seen", "[unit]")
{
    // The first look passed slot 1 before thread 5 filled it, and found chunk 1 in slot 2.
    CHECK(offsets(trace::takeable({2}, {piece(5, 0, 1), piece(5, 1, 2), piece(5, 2, 3)}, {})) == Offsets{1, 2});
    CHECK(offsets(trace::takeable({}, {piece(5, 0, 1)}, {})).empty());
    CHECK(offsets(trace::takeable({1, 2}, {piece(6, 0, 1), piece(5, 0, 2)}, {})) == Offsets{2, 1});
}

TEST_CASE("a chunk is taken when those before it have been", "[unit]")
{
    const trace::StreamEnds ends{{5, {.first_ticks = 1'001, .next_sequence = 2}}};
    CHECK(offsets(trace::takeable({3, 4}, {piece(5, 3, 3), piece(5, 4, 4)}, ends)).empty());
    CHECK(offsets(trace::takeable({2, 3}, {piece(5, 3, 3), piece(5, 2, 2)}, ends)) == Offsets{2, 3});
    CHECK(offsets(trace::takeable({3}, {piece(6, 1, 3)}, ends)).empty());
    SECTION("a thread that has the number of one that has ended begins at 0 again")
    {
        const auto again = piece(5, 0, 4, 5'000);
        CHECK(offsets(trace::takeable({4}, {again, piece(5, 2, 2)}, ends)) == Offsets{2, 4});
        CHECK(offsets(trace::takeable({4}, {again, piece(5, 3, 3)}, ends)).empty());
    }
    SECTION("what stands in the trace is only freed, where it has been seen")
    {
        CHECK(offsets(trace::takeable({1}, {piece(5, 1, 1), piece(5, 0, 9)}, ends)) == Offsets{1});
        CHECK(offsets(trace::takeable({2}, {piece(5, 1, 1), piece(5, 2, 2)}, ends)) == Offsets{2});
    }
}

TEST_CASE("full slots go into the trace and are free again", "[unit]")
{
    tests::RecordingBytes bytes{4};
    bytes.slot(0, own_process, 0, mallocs(100, 0x10000), SlotState::full);
    bytes.slot(1, own_process, 1, mallocs(10, 0x20000));
    bytes.slot(2, 41, 0, mallocs(20, 0x30000), SlotState::full);
    Growing growing{bytes};
    CHECK(growing.look());
    CHECK(bytes.state(0) == SlotState::free);
    CHECK(bytes.state(1) == SlotState::writing);
    CHECK(bytes.state(2) == SlotState::free);
    CHECK(growing.progress.events == 120);
    CHECK_FALSE(growing.look());
    bytes.slot(1, own_process, 1, mallocs(50, 0x20000), SlotState::full);
    bytes.slot(0, own_process, 2, mallocs(5, 0x40000));
    CHECK(growing.look());
    const auto [summary, out] = growing.recovered();
    CHECK(addresses(out).size() == 175);
    CHECK(summary.events == 175 + 2);  // the ends of a thread and of the process
    CHECK(tests::events_of(out).events.size() == summary.events);
}

TEST_CASE("no chunk is taken while one before it may still be written to the end of the file", "[unit]")
{
    tests::RecordingBytes bytes{4};
    const std::string first = mallocs(100, 0x10000);
    const std::size_t place = bytes.chunk_to_come(first);
    bytes.slot(0, 41, 0, mallocs(20, 0x30000), SlotState::full);
    bytes.chunk(own_process, 1, mallocs(10, 0x20000));
    Growing growing{bytes};
    CHECK_FALSE(growing.look());
    CHECK(growing.progress.events == 0);
    bytes.write_chunk(place, own_process, 0, first);
    CHECK(growing.look());
    CHECK(growing.progress.events == 130);
    CHECK(growing.next_sequence(own_process) == 2);
    CHECK(bytes.state(0) == SlotState::free);
    CHECK(addresses(growing.recovered().second).size() == 130);
}

TEST_CASE("a chunk that was written before a kill and not freed counts once", "[unit]")
{
    tests::RecordingBytes bytes{4};
    bytes.slot(0, own_process, 0, mallocs(100, 0x10000), SlotState::full);
    Growing growing{bytes};
    CHECK(growing.look());
    bytes.slot(0, own_process, 0, mallocs(100, 0x10000), SlotState::full);
    bytes.slot(1, own_process, 1, mallocs(10, 0x20000));
    CHECK(addresses(growing.recovered().second).size() == 110);
    CHECK(growing.look());
    CHECK(bytes.state(0) == SlotState::free);
    CHECK(growing.progress.events == 100);
}

TEST_CASE("an unfinished trace may end anywhere", "[unit]")
{
    tests::RecordingBytes bytes{4};
    Growing growing{bytes};
    std::vector<std::size_t> ends{growing.trace.size()};
    for (unsigned i = 0; i < 3; ++i) {
        bytes.slot(0, own_process, i, mallocs(50, 0x10000 * (i + 1)), SlotState::full);
        CHECK(growing.look());
        ends.push_back(growing.trace.size());
    }
    const std::string whole = growing.trace;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        growing.trace.resize(length);
        growing.trace.replace(0, length, whole, 0, length);
        const auto chunks = std::ranges::upper_bound(ends, length) - ends.begin() - 1;
        const auto unfinished = trace::UnfinishedTrace::open(tests::read_from(growing.trace), "memory");
        REQUIRE(unfinished);
        REQUIRE(unfinished->has_value() == (length >= sizeof(trace::FileHeader)));
        if (*unfinished) {
            std::string copy;
            const auto progress = (*unfinished)->copy_chunks(tests::append_to(copy));
            REQUIRE(progress);
            REQUIRE(progress->events == 50 * static_cast<std::uint64_t>(chunks));
            REQUIRE(progress->damaged_chunks == 0);
        }
    }
}

TEST_CASE("what was written at the end is made anew, until it was whole", "[unit]")
{
    tests::RecordingBytes bytes{4};
    bytes.slot(0, own_process, 0, mallocs(100, 0x10000), SlotState::full);
    bytes.slot(1, own_process, 1, mallocs(10, 0x20000));
    Growing growing{bytes};
    CHECK(growing.look());
    std::vector<trace::RecordedImage> images{growing.image()};
    const trace::FileHeader header = trace::trace_header(images, {2'000'000, 1'000'000});
    REQUIRE(trace::put_rest(
        images, [](const trace::ImageFacts&) { return false; }, tests::append_to(growing.trace), {},
        std::move(growing.progress)));
    bytes.slot(1, own_process, 1, mallocs(30, 0x20000));  // it was running still
    CHECK(addresses(growing.recovered().second).size() == 130);
    std::string head;
    REQUIRE(trace::put_header(tests::append_to(head), header));
    growing.trace.replace(0, head.size(), head);
    const auto [summary, out] = growing.recovered();
    CHECK(addresses(out).size() == 110);
    CHECK(summary.events == 111);
    CHECK(summary.processes == 1);
}

TEST_CASE("what is taken while a process runs and what is left make the trace that the end alone makes", "[unit]")
{
    base::Rng random{3};
    constexpr std::uint32_t slots = 6;
    struct Thread {
        std::uint32_t number{};
        std::uint64_t sequence{};
        std::uint64_t ticks{};
        std::string payload;
        std::optional<std::uint32_t> slot;
    };
    int with_appended = 0;
    int with_taken = 0;
    for (int round = 0; round < 50; ++round) {
        tests::RecordingBytes bytes{slots};
        Growing growing{bytes};
        std::array<Thread, 3> threads{{{own_process, 0, 0, {}, {}}, {41, 0, 0, {}, {}}, {42, 0, 0, {}, {}}}};
        std::uint64_t now = 2'000;
        std::uint64_t address = 0x10000;
        std::vector<std::uint64_t> expected;
        const auto begin = [&](Thread& thread, std::uint32_t not_this) {
            for (std::uint32_t i = 0; i < slots && !thread.slot; ++i) {
                const auto held = std::ranges::count(threads, std::optional{i}, &Thread::slot);
                thread.slot =
                    held == 0 && i != not_this && bytes.state(i) == SlotState::free ? std::optional{i} : std::nullopt;
            }
            thread.ticks = ++now;
            thread.payload.clear();
        };
        for (int step = 0; step < 200; ++step) {
            Thread& thread = threads[random.below(threads.size())];
            if (!thread.slot) {
                begin(thread, slots);
            }
            if (!thread.slot) {
                continue;
            }
            thread.payload += mallocs(1, address);
            expected.push_back(address);
            address += 16;
            bytes.slot(*thread.slot, thread.number, thread.sequence, thread.payload, SlotState::writing, thread.ticks);
            if (random.below(2) == 0) {
                const std::uint32_t slot = *std::exchange(thread.slot, std::nullopt);
                const Thread full = thread;
                begin(thread, slot);
                if (thread.slot) {
                    bytes.slot(slot, full.number, full.sequence, full.payload, SlotState::full, full.ticks);
                } else {
                    bytes.chunk(full.number, full.sequence, full.payload, 0, full.ticks);
                    thread.slot = slot;
                }
                const bool ends = random.below(5) == 0;  // another thread gets its number
                thread.sequence = ends ? 0 : thread.sequence + 1;
            }
            if (random.below(10) == 0) {
                growing.look();
            }
        }
        const std::string out = growing.recovered().second;
        std::map<std::uint32_t, std::uint64_t> last;  // by thread
        for (const trace::Event& event : tests::events_of(out).events) {
            if (event.kind == trace::EventKind::malloc) {
                REQUIRE(event.address > std::exchange(last[event.thread], event.address));
            }
        }
        std::vector<std::uint64_t> found = addresses(out);
        std::ranges::sort(found);
        REQUIRE(found == expected);
        with_appended += bytes.bytes().size() > trace::slots_offset + slots * trace::slot_bytes ? 1 : 0;
        with_taken += growing.progress.events > 0 ? 1 : 0;
    }
    CHECK(with_appended > 10);
    CHECK(with_taken > 10);
}

TEST_CASE("words are the events that were put, whatever their values", "[unit]")
{
    using Values = std::array<std::uint64_t, trace::max_operands>;
    base::Rng random{4};
    std::vector<std::uint64_t> words;
    std::vector<std::pair<trace::WordEvent, Values>> expected;
    for (int i = 0; i < 20'000; ++i) {
        const auto event = static_cast<trace::WordEvent>(random.below(trace::word_events));
        Values values{};
        for (std::size_t k = 0; k < trace::operands_of(event); ++k) {
            values[k] = random.below(1ULL << (4 + random.below(60)));
        }
        std::array<std::uint64_t, trace::max_event_words> at{};
        if (event == trace::WordEvent::stamp) {
            values[0] = random.below(1ULL << 61U);
            words.push_back(trace::stamp_word(values[0]));
        } else if (event == trace::WordEvent::stack) {
            values[0] = random.below(1ULL << 32U);
            words.push_back(trace::stack_word(static_cast<std::uint32_t>(values[0])));
        } else if (event <= trace::WordEvent::calloc && trace::fits_word(values[0], values[1])) {
            const auto tag = event == trace::WordEvent::free     ? trace::WordTag::free
                             : event == trace::WordEvent::malloc ? trace::WordTag::malloc
                                                                 : trace::WordTag::calloc;
            words.push_back(trace::word_of(tag, values[0], values[1]));
        } else if (event == trace::WordEvent::realloc && trace::fits_word(values[0], values[1]) &&
                   trace::fits_word(values[2])) {
            words.push_back(trace::word_of(trace::WordTag::operand, values[2]));
            words.push_back(trace::word_of(trace::WordTag::realloc, values[0], values[1]));
        } else {
            words.insert(words.end(), at.data(), trace::put_long_form(at.data(), event, values));
        }
        expected.emplace_back(event, values);
        words.resize(words.size() + random.below(3));  // nothing
    }
    trace::WordDecoder decoder{words};
    trace::WordEvent event{};
    Values values{};
    for (const auto& [wanted, wanted_values] : expected) {
        REQUIRE(decoder.next(event, values));
        REQUIRE(event == wanted);
        const bool has_own_form = event == trace::WordEvent::stamp || event == trace::WordEvent::stack;
        const std::size_t operands = has_own_form ? 1 : trace::operands_of(event);
        for (std::size_t k = 0; k < operands; ++k) {
            REQUIRE(values[k] == wanted_values[k]);
        }
    }
    CHECK_FALSE(decoder.next(event, values));
    CHECK_FALSE(decoder.damaged());
}

TEST_CASE("words that no recorder writes end a chunk", "[unit]")
{
    const auto long_form = [](std::uint64_t event) {
        return event << trace::word_tag_bits | static_cast<std::uint64_t>(trace::WordTag::long_form);
    };
    const std::uint64_t operand = trace::word_of(trace::WordTag::operand, 0x10);
    const std::uint64_t malloc = trace::word_of(trace::WordTag::malloc, 0x1000, 16);
    const std::vector<std::vector<std::uint64_t>> damaged{
        {0x1000},                                               // bits of nothing
        {trace::word_of(trace::WordTag::realloc, 0x1000, 16)},  // without the old address
        {operand, operand, trace::word_of(trace::WordTag::realloc, 0x1000, 16)},
        {long_form(0)},
        {operand, long_form(0)},
        {operand, operand, long_form(trace::word_events)},
        {operand, operand, long_form(static_cast<std::uint64_t>(trace::WordEvent::stamp))},  // has no long form
        {operand, operand, trace::stack_word(7)},                                            // has no operands
        std::vector<std::uint64_t>(7, operand),
    };
    for (const auto& words : damaged) {
        std::vector<std::uint64_t> all{malloc};
        all.insert(all.end(), words.begin(), words.end());
        all.push_back(malloc);
        trace::WordDecoder decoder{all};
        trace::WordEvent event{};
        std::array<std::uint64_t, trace::max_operands> values{};
        REQUIRE(decoder.next(event, values));
        REQUIRE_FALSE(decoder.next(event, values));
        REQUIRE(decoder.damaged());
        REQUIRE_FALSE(decoder.next(event, values));
    }
    const std::vector<std::uint64_t> cut_off{malloc, operand, operand};  // its process died in the middle of a call
    trace::WordDecoder decoder{cut_off};
    trace::WordEvent event{};
    std::array<std::uint64_t, trace::max_operands> values{};
    CHECK(decoder.next(event, values));
    CHECK_FALSE(decoder.next(event, values));
    CHECK_FALSE(decoder.damaged());
}
