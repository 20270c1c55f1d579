// A trace is read up to where stopped threads stood in the recording, whatever came behind.
#include <cstdint>
#include <map>
#include <string>

#include "core/trace/exact_cut.hpp"
#include "tests/trace/recording_bytes.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace memsweep::tests {
namespace {

trace::RecordedImage cut_image(RecordingBytes& recording)
{
    const auto open = [&]() -> base::Expected<trace::ReadAt> { return recording.file().read; };
    auto image = trace::find_image(open, "recording").value();
    REQUIRE(image.has_value());
    return *image;
}

std::string trace_of_recording(RecordingBytes& recording)
{
    std::string out;
    REQUIRE(trace::assemble({cut_image(recording)}, {}, [](const trace::ImageFacts&) { return false; }, append_to(out),
                            {}));
    return out;
}

// Events of each thread up to the cut, those of its end among them.
std::map<std::uint32_t, int> events_until(const std::string& file, const trace::ExactCut& cut)
{
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    std::map<std::uint32_t, int> found;
    for (int round = 0; round < 2; ++round) {
        found.clear();
        reader->read_until(cut);
        trace::Event event;
        while (reader->next(event)) {
            ++found[event.thread];
        }
        CHECK(reader->damage().corrupted_chunks == 0);
    }
    return found;
}

}  // namespace

TEST_CASE("a cut has what each thread had recorded, and nothing that came later", "[unit]")
{
    RecordingBytes recording{6};
    recording.chunk(own_process, 0, mallocs(10, 0x10000));
    recording.slot(0, own_process, 1, mallocs(5, 0x20000));
    recording.slot(1, 41, 0, mallocs(7, 0x30000), trace::SlotState::full);
    recording.slot(2, 41, 1, mallocs(3, 0x40000) + std::string(64, '\0'));
    recording.slot(3, 42, 0, mallocs(2, 0x50000));
    trace::ExactCut cut;
    REQUIRE(trace::add_to_cut(cut_image(recording), cut));
    CHECK(cut.threads.size() == 3);
    CHECK(cut.processes.contains(own_process));
    const std::map<std::uint32_t, int> expected{{own_process, 15}, {41, 10}, {42, 2}};
    CHECK(events_until(trace_of_recording(recording), cut) == expected);

    // The threads go on, 41 in another chunk, and a new one begins.
    recording.slot(0, own_process, 1, mallocs(50, 0x20000));
    recording.slot(2, 41, 1, mallocs(30, 0x40000), trace::SlotState::full);
    recording.slot(4, 41, 2, mallocs(30, 0x60000));
    recording.slot(5, 43, 0, mallocs(30, 0x70000), trace::SlotState::writing, cut.ticks + 5);
    CHECK(events_until(trace_of_recording(recording), cut) == expected);
}

TEST_CASE("an event whose last word is not written is not in the cut", "[unit]")
{
    RecordingBytes recording{1};
    const std::uint64_t operand = trace::word_of(trace::WordTag::operand, 0x30000);
    const std::string half{reinterpret_cast<const char*>(&operand), sizeof operand};
    recording.slot(0, own_process, 0, mallocs(4, 0x20000) + half + std::string(32, '\0'));
    trace::ExactCut cut;
    REQUIRE(trace::add_to_cut(cut_image(recording), cut));
    REQUIRE(cut.threads.size() == 1);
    CHECK(cut.threads.front().events == 4);
    const std::uint64_t realloc = trace::word_of(trace::WordTag::realloc, 0x40000, 32);
    recording.slot(0, own_process, 0,
                   mallocs(4, 0x20000) + half + std::string{reinterpret_cast<const char*>(&realloc), sizeof realloc});
    CHECK(events_until(trace_of_recording(recording), cut) == std::map<std::uint32_t, int>{{own_process, 4}});
}

TEST_CASE("a cut before anything was recorded has nothing", "[unit]")
{
    RecordingBytes recording{2};
    trace::ExactCut cut;
    REQUIRE(trace::add_to_cut(cut_image(recording), cut));
    CHECK(cut.threads.empty());
    recording.slot(0, own_process, 0, mallocs(4, 0x20000), trace::SlotState::writing, cut.ticks + 1);
    CHECK(events_until(trace_of_recording(recording), cut).empty());
}

}  // namespace memsweep::tests
