// Any bytes as a log: the first one chooses the importer, by its place in the table, or beyond it the recognition.
//
// Errors   a broken promise ends the process: what was imported reads back as something else.
#include <cstdint>
#include <string>

#include "core/base/assert.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/summary.hpp"

namespace {

using namespace memsweep;

void import(std::string_view bytes, const trace::ImportFormat& format)
{
    auto source = trace::decompressed(trace::log_from_memory(bytes), "fuzz");
    if (!source) {
        return;
    }
    trace::LogText log{*std::move(source)};
    std::string written;
    trace::TraceWriter writer{[&](std::string_view piece) -> base::Expected<void> {
                                  written += piece;
                                  return {};
                              },
                              {.ticks_per_second = format.ticks_per_second}};
    trace::ImportSink sink{writer};
    const auto imported =
        format.import(log, sink, {.name = "fuzz.dev1.csv", .uid = {}, .drawn_live = 300, .drawn_events = 2'000});
    MEMSWEEP_ASSERT(imported || !imported.error().message.empty(), "a refusal has a reason");
    MEMSWEEP_ASSERT(writer.finish({}), "writing to memory succeeds");
    auto reader = trace::TraceReader::open(
        trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()}), "fuzz");
    MEMSWEEP_ASSERT(reader, "what was written can be read");
    const trace::Totals read = trace::summarize(*reader).totals;
    const trace::Totals meant = sink.accounting().totals();
    MEMSWEEP_ASSERT(read.impossible_event == meant.impossible_event, "sums overflow at the same event");
    MEMSWEEP_ASSERT(read.events == meant.events && read.allocations == meant.allocations && read.frees == meant.frees &&
                        read.peak_live_bytes == meant.peak_live_bytes && read.unknown_frees == meant.unknown_frees,
                    "what was imported reads back the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
    const auto formats = trace::import_formats();
    if (data[0] < formats.size()) {
        import(bytes, formats[data[0]]);
    } else if (const auto format = trace::find_import_format("", bytes, "fuzz")) {
        import(bytes, **format);
    }
    return 0;
}
