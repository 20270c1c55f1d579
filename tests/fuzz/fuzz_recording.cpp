// Any bytes as what a recorder left behind: assembled into a trace, which must be whole and say what was counted.
//
// Errors   a broken promise ends the process.
#include <cstdint>
#include <string>

#include "core/base/assert.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/summary.hpp"

namespace {

using namespace memsweep;

trace::RecordingSummary assembled(trace::RecordedImage image, std::string& into)
{
    const auto append = [&](std::string_view bytes) -> base::Expected<void> {
        into += bytes;
        return {};
    };
    const auto is_running = [](std::uint32_t process) { return process % 2 == 1; };
    const auto summary = trace::assemble({std::move(image)}, {1'000'000, 1'000}, is_running, append, {});
    MEMSWEEP_ASSERT(summary || !summary.error().message.empty(), "a refusal has a reason");
    return summary.value_or(trace::RecordingSummary{});
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
    std::string whole;
    const trace::RecordingSummary summary = assembled(**std::move(image), whole);
    if (summary.images == 0) {
        return 0;
    }
    auto reader = trace::TraceReader::open(
        trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()}), "assembled");
    MEMSWEEP_ASSERT(reader, "what is assembled is a trace");
    std::uint64_t events = 0;
    trace::Event event;
    while (reader->next(event)) {
        ++events;
    }
    MEMSWEEP_ASSERT(reader->damage().corrupted_chunks == 0, "no chunk of it is damaged");
    MEMSWEEP_ASSERT(events == summary.events, "it holds what was counted");
    return 0;
}
