// Traces in memory, for tests: what a writer puts out, and what a reader makes of bytes.
#pragma once

#include <string>
#include <vector>

#include "core/trace/summary.hpp"
#include "core/trace/trace_writer.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

// Events with their texts, which readers only lend.
struct KeptEvents {
    std::vector<trace::Event> events;
    std::vector<std::string> texts;
    trace::Damage damage;
};

inline trace::TakeBytes append_to(std::string& file)
{
    return [&file](std::string_view bytes) -> base::Expected<void> {
        file += bytes;
        return {};
    };
}

inline std::string trace_of(const std::vector<trace::Event>& events, const trace::FileHeader& header = {},
                            const trace::Facts& facts = {})
{
    std::string file;
    trace::TraceWriter writer{append_to(file), header};
    for (const trace::Event& event : events) {
        writer.add(event);
    }
    REQUIRE(writer.finish(facts));
    return file;
}

inline trace::ReadAt read_from(const std::string& file)
{
    return trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

inline KeptEvents events_of(const std::string& file)
{
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    KeptEvents kept;
    trace::Event event;
    while (reader->next(event)) {
        kept.texts.emplace_back(event.text);
        event.text = {};
        kept.events.push_back(event);
    }
    kept.damage = reader->damage();
    return kept;
}

inline trace::TraceSummary summary_of(const std::string& file)
{
    auto reader = trace::TraceReader::open(read_from(file), "memory");
    REQUIRE(reader);
    return trace::summarize(*reader);
}

}  // namespace memsweep::tests
