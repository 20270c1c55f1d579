// Any bytes as what a recorder left behind: assembled into a trace, which must be whole and say what was counted; at
// once, with a part of it taken before, and up to a cut.
//
// Errors   a broken promise ends the process.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/assert.hpp"
#include "core/trace/exact_cut.hpp"
#include "core/trace/live_recording.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/summary.hpp"

namespace {

using namespace memsweep;

trace::TakeBytes append_to(std::string& into)
{
    return [&](std::string_view bytes) -> base::Expected<void> {
        into += bytes;
        return {};
    };
}

trace::ReadAt read_from(const std::string& bytes)
{
    return trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

void assembled(const trace::RecordedImage& image, const std::optional<trace::UnfinishedTrace>& unfinished)
{
    std::string whole;
    const auto is_running = [](const trace::ImageFacts& facts) { return facts.process % 2 == 1; };
    const auto summary = trace::assemble({image}, {1'000'000, 1'000}, is_running, append_to(whole), {}, unfinished);
    MEMSWEEP_ASSERT(summary || !summary.error().message.empty(), "a refusal has a reason");
    if (!summary) {
        return;
    }
    auto reader = trace::TraceReader::open(read_from(whole), "assembled");
    MEMSWEEP_ASSERT(reader, "what is assembled is a trace");
    std::uint64_t events = 0;
    trace::Event event;
    while (reader->next(event)) {
        ++events;
    }
    MEMSWEEP_ASSERT(reader->damage().corrupted_chunks == 0, "no chunk of it is damaged");
    MEMSWEEP_ASSERT(events == summary->events, "it holds what was counted");
    trace::ExactCut cut;
    if (trace::add_to_cut(image, cut)) {
        reader->read_until(cut);
        std::uint64_t until = 0;
        while (reader->next(event)) {
            ++until;
        }
        MEMSWEEP_ASSERT(until <= events, "nothing is in a cut that is not in the trace");
    }
}

// What is taken of the recording while its process runs.
std::optional<trace::UnfinishedTrace> taken_from(std::string& recording, std::string& trace)
{
    const auto write = [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) -> base::Expected<void> {
        MEMSWEEP_ASSERT(offset + bytes.size() <= recording.size(), "what is freed is there");
        std::ranges::copy(bytes, recording.begin() + static_cast<std::ptrdiff_t>(offset));
        return {};
    };
    auto live = trace::LiveRecording::open({read_from(recording), write}, "fuzz");
    if (!live || !*live) {
        return std::nullopt;
    }
    MEMSWEEP_ASSERT(trace::put_header(append_to(trace), {}), "it is taken");
    trace::TraceProgress progress;
    constexpr int looks = 3;
    for (int i = 0; i < looks; ++i) {
        MEMSWEEP_ASSERT((*live)->look(append_to(trace), progress, {}), "it is taken");
    }
    return trace::UnfinishedTrace::open(read_from(trace), "unfinished").value_or(std::nullopt);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto open = [&] { return trace::read_from_memory({data, size}); };
    auto image = trace::find_image(open, "fuzz");
    if (!image || !*image) {
        MEMSWEEP_ASSERT(image || !image.error().message.empty(), "a refusal has a reason");
        return 0;
    }
    assembled(**image, {});
    std::string recording{reinterpret_cast<const char*>(data), size};
    std::string trace;
    const auto unfinished = taken_from(recording, trace);
    (*image)->open = [&] { return read_from(recording); };
    assembled(**image, unfinished);
    return 0;
}
