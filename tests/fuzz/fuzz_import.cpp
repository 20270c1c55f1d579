// Any bytes as a log of the chosen importer, or, where none is chosen, as one that may be compressed and is recognised.
//
// Errors   a broken promise ends the process: what was imported reads back as something else.
#include <cstdint>
#include <string>

#include "core/base/assert.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/summary.hpp"
#include "tests/fuzz/chosen_parser.hpp"

namespace {

using namespace memsweep;

// Small, so that inputs of a few hundred bytes reach their ends, and a hundred thousand of them take seconds to make.
constexpr std::size_t buffer_bytes = 256;
constexpr std::size_t chunk_bytes = 512;

void import(trace::LogSource source, const trace::ImportFormat& format)
{
    trace::LogText log{std::move(source), buffer_bytes};
    std::string written;
    trace::TraceWriter writer{[&](std::string_view piece) -> base::Expected<void> {
                                  written += piece;
                                  return {};
                              },
                              {.ticks_per_second = format.ticks_per_second},
                              chunk_bytes};
    trace::ImportSink sink{writer};
    const auto imported = trace::import_log(format, log, sink,
                                            {.name = "fuzz.dev1.csv", .uid = {}, .drawn_live = 20, .drawn_events = 60});
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

void recognise(std::string_view bytes)
{
    const auto source = trace::decompressed(trace::log_from_memory(bytes), "fuzz", buffer_bytes);
    if (!source) {
        MEMSWEEP_ASSERT(!source.error().message.empty(), "a refusal has a reason");
        return;
    }
    trace::LogText log{*source, buffer_bytes};
    const std::string head{log.peek(trace::log_head_bytes)};
    if (const auto format = trace::find_import_format("", head, "fuzz"); format) {
        import(*trace::decompressed(trace::log_from_memory(bytes), "fuzz", buffer_bytes), **format);
    }
}

const trace::ImportFormat* chosen_format()
{
    const std::string_view name = fuzz::chosen_parser();
    if (name.empty() || name == "recognised") {
        return nullptr;
    }
    const auto format = trace::find_import_format(name, "", "fuzz");
    MEMSWEEP_ASSERT(format, "MEMSWEEP_FUZZ_PARSER names an importer");
    return *format;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const trace::ImportFormat* const format = chosen_format();
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    if (format == nullptr) {
        recognise(bytes);
    } else {
        import({.read = trace::log_from_memory(bytes)}, *format);
    }
    return 0;
}
