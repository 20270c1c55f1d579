// What a recorder says of a process beside blocks and stacks, from its words and files into a trace and out of it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/format/stack_recording.hpp"
#include "core/trace/mapped_ranges.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/thread_stacks.hpp"
#include "tests/trace/recording_bytes.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace memsweep::tests {
namespace {

constexpr std::uint64_t address = 0x7000'0000;

// An event of a recorder, in its long form.
std::string long_words(trace::WordEvent event, const std::array<std::uint64_t, trace::max_operands>& values)
{
    std::array<std::uint64_t, trace::max_event_words> words{};
    const std::uint64_t* const end = trace::put_long_form(words.data(), event, values);
    return {reinterpret_cast<const char*>(words.data()),
            static_cast<std::size_t>(end - words.data()) * sizeof words[0]};
}

// A recorder's file without stacks, with modules of these paths.
std::string modules_file(const std::vector<std::string>& paths)
{
    std::string bytes(trace::stack_file_bytes(0), '\0');
    const auto put = [&](std::size_t at, const auto& structure) {
        bytes.replace(at, sizeof structure, reinterpret_cast<const char*>(&structure), sizeof structure);
    };
    for (std::size_t i = 0; i < paths.size(); ++i) {
        trace::RecordedModule module{
            .begin = address + 0x1000 * i, .end = address + 0x1000 * i + 0x1000, .seen_ticks = i};
        module.path_bytes = static_cast<std::uint32_t>(paths[i].size());
        std::memcpy(module.path, paths[i].data(), paths[i].size());
        put(trace::modules_offset + i * sizeof module, module);
    }
    put(0, trace::StackFileHeader{.modules = static_cast<std::uint32_t>(paths.size()),
                                  .sampled_every = trace::modules_alone});
    return bytes;
}

std::string trace_assembled(RecordingBytes& recording, const std::string& stacks)
{
    const auto open = [&]() -> base::Expected<trace::ReadAt> { return recording.file().read; };
    auto image = trace::find_image(open, "recording").value();
    REQUIRE(image.has_value());
    image->open_stacks = [&stacks]() -> base::Expected<trace::ReadAt> { return read_from(stacks); };
    std::string out;
    REQUIRE(trace::assemble({*image}, {}, [](const trace::ImageFacts&) { return false; }, append_to(out), {}));
    return out;
}

// The path of each mapping's module.
std::vector<std::string> mappers_in(const std::string& file)
{
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const trace::ProgramNotes& notes = reader->read_notes();
    std::vector<std::string> found;
    trace::Event event;
    while (reader->next(event)) {
        if (trace::takes_mapper(event.kind)) {
            found.emplace_back(event.module == 0 ? "" : notes.modules()[event.module - 1].module.path);
        }
    }
    CHECK(reader->damage().corrupted_chunks == 0);
    return found;
}

std::string some_mappings()
{
    return long_words(trace::WordEvent::map, {address, 4096, 2}) + mallocs(3, 0x10000) +
           long_words(trace::WordEvent::map, {address + 8192, 4096, 1}) +
           long_words(trace::WordEvent::unmap, {address, 4096, 0}) +
           long_words(trace::WordEvent::unmap, {address + 8192, 4096, 7});
}

std::string some_stack()
{
    return long_words(trace::WordEvent::thread_start, {41}) +
           long_words(trace::WordEvent::thread_stack, {0x7fff'0000'0000, 8U << 20U});
}

std::string some_sizes()
{
    return long_words(trace::WordEvent::usable_size, {24, 0, 32}) +
           long_words(trace::WordEvent::usable_size, {1U << 20U, 64, (1U << 20U) + 4096});
}

}  // namespace

TEST_CASE("a thread has the stack that its words say, until it ends", "[unit]")
{
    RecordingBytes recording{3};
    recording.slot(0, own_process, 0, mallocs(2, 0x20000));
    recording.slot(1, 41, 0, some_stack() + mallocs(2, 0x10000) + long_words(trace::WordEvent::thread_exit, {}));
    recording.slot(2, 41, 0, some_stack() + mallocs(1, 0x30000), trace::SlotState::writing, 5'000);  // another, later
    const std::string file = trace_assembled(recording, "");
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const trace::ProgramNotes& notes = reader->read_notes();
    REQUIRE(notes.thread_stacks().size() == 2);
    CHECK(notes.thread_stacks()[0].begin == 0x7fff'0000'0000);
    CHECK(notes.thread_stacks()[0].bytes == 8U << 20U);
    CHECK(notes.thread_stacks()[0].thread == 41);
    trace::ThreadStacks stacks{notes};
    trace::Event event;
    while (reader->next(event)) {
        stacks.add(event);
    }
    CHECK(stacks.alive_bytes() == 0);
    CHECK(stacks.peak_bytes() == 8U << 20U);
    CHECK(std::ranges::all_of(
        stacks.all(), [](const trace::ThreadStackState& one) { return one.state == trace::StackState::ended; }));
    CHECK(summary_of(file).thread_stacks.bytes == 16U << 20U);
    CHECK(events_of(file).damage.corrupted_chunks == 0);
}

TEST_CASE("an allocator's usable sizes are its process's", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 0, mallocs(2, 0x20000) + some_sizes());
    const std::string file = trace_assembled(recording, "");
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    const trace::ProgramNotes& notes = reader->read_notes();
    CHECK(notes.usable_sizes().size() == 2);
    CHECK(notes.usable_size({own_process, 24, 0}) == 32);
    CHECK(notes.usable_size({own_process, 1U << 20U, 64}) == (1U << 20U) + 4096);
    CHECK(!notes.usable_size({own_process, 25, 0}));
    CHECK(!notes.usable_size({own_process + 1, 24, 0}));
    CHECK(events_of(file).events.size() == 2 + 1);
}

TEST_CASE("a mapping has the module that called for it", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, 41, 0, some_mappings());
    const std::string file = trace_assembled(recording, modules_file({"/usr/bin/one", "/usr/lib/two.so"}));
    CHECK(mappers_in(file) == std::vector<std::string>{"/usr/lib/two.so", "/usr/bin/one", "", ""});
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    CHECK(!reader->has_stacks());
    CHECK(reader->facts().count("stacks") == 0);
    const trace::TraceSummary summary = summary_of(file);
    REQUIRE(summary.mapped_by.size() == 2);
    CHECK(summary.mapped_by[0].mapped.bytes == 4096);
    CHECK(summary.mapped_by[0].mapped.end_bytes == 0);
}

TEST_CASE("without their modules mappings have none, and nothing is lost", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, 41, 0, some_mappings());
    const std::string file = trace_assembled(recording, "");
    CHECK(mappers_in(file) == std::vector<std::string>(4));
    CHECK(events_of(file).events.size() == 7 + 2);
}

TEST_CASE("what is damaged of the notes costs no event, and is told", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, 41, 0, some_stack() + some_mappings() + some_sizes());
    const std::string file = trace_assembled(recording, modules_file({"/usr/bin/one", "/usr/lib/two.so"}));
    for (std::size_t at = sizeof(trace::FileHeader); at + sizeof(trace::ChunkHeader) <= file.size();) {
        trace::ChunkHeader chunk;
        std::memcpy(&chunk, file.data() + at, sizeof chunk);
        if (chunk.kind >= trace::ChunkKind::modules) {
            for (std::size_t byte = at; byte < at + chunk.span_bytes; ++byte) {
                std::string damaged = file;
                damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
                auto reader = trace::TraceReader::open(read_from(damaged), "memory");
                REQUIRE(reader);
                reader->check_side_chunks();
                const trace::TraceSummary summary = trace::summarize(*reader);
                CHECK(summary.totals.events == 8 + 2);
                CHECK(summary.damage.corrupted_chunks != 0);
            }
        }
        at += chunk.span_bytes;
    }
}

TEST_CASE("ranges that are mapped never overlap, and what is unmapped in part leaves the rest", "[unit]")
{
    trace::MappedRanges ranges;
    std::uint64_t removed = 0;
    const auto remove = [&](std::uint64_t bytes, std::uint32_t) { removed += bytes; };
    const auto mapped = [&] {
        std::uint64_t bytes = 0;
        std::uint64_t end = 0;
        for (const auto& [place, range] : ranges.all()) {
            CHECK(place.begin >= end);
            bytes += range.end - place.begin;
            end = range.end;
        }
        return bytes;
    };
    ranges.insert({1, 0, 0x1000}, 0x4000, 5, remove);
    ranges.remove({1, 0, 0x2000}, 0x1000, remove);  // out of the middle
    CHECK(removed == 0x1000);
    CHECK(ranges.count() == 2);
    ranges.insert({1, 0, 0x1800}, 0x1000, 6, remove);  // over an end
    CHECK(removed == 0x1800);
    CHECK(mapped() == 0x3800);
    ranges.remove({2, 0, 0}, 0x10000, remove);  // of another process
    ranges.remove({1, 1, 0}, 0x10000, remove);  // of another space
    CHECK(mapped() == 0x3800);
    ranges.remove({1, 0, 0}, 0x10000, remove);
    CHECK(ranges.count() == 0);
    CHECK(removed == 0x1800 + 0x3800);
}

}  // namespace memsweep::tests
