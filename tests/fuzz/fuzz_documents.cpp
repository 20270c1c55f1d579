// Any bytes as a document that a command reads besides scenarios and traces: a result, a fleet, a gate, limits, what a
// runtime recorded.
//
// Errors   a broken promise ends the process: a failure without a reason, a document that reads back as something else.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/assert.hpp"
#include "core/lifetime/recording.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "scenarios/reader/criteria_files.hpp"
#include "tests/fuzz/chosen_parser.hpp"

namespace {

using namespace memsweep;

void check_reason(const base::Error& error)
{
    MEMSWEEP_ASSERT(!error.message.empty() && error.message.size() < 4096, "a reason is text of readable length");
}

void check_reasons(const std::vector<base::Error>& errors)
{
    MEMSWEEP_ASSERT(!errors.empty(), "a failure has a reason");
    for (const base::Error& error : errors) {
        check_reason(error);
    }
}

std::string fleet_text(const model::Fleet& fleet)
{
    return reporters::whole_text([&](reporters::TextSink& sink) { reporters::write_fleet_json(fleet, sink); });
}

void read_result(std::string_view text)
{
    const auto report = reporters::read_json(text, "fuzz");
    if (!report) {
        return check_reason(report.error());
    }
    const std::string written = reporters::to_json(*report);
    const auto again = reporters::read_json(written, "written");
    MEMSWEEP_ASSERT(again, "what was written can be read");
    MEMSWEEP_ASSERT(reporters::to_json(*again) == written, "and is the same");
}

void read_fleet(std::string_view text)
{
    const auto fleet = reporters::read_fleet(text, "fuzz");
    if (!fleet) {
        return check_reason(fleet.error());
    }
    const std::string written = fleet_text(*fleet);
    const auto again = reporters::read_fleet(written, "written");
    MEMSWEEP_ASSERT(again, "what was written can be read");
    MEMSWEEP_ASSERT(fleet_text(*again) == written, "and is the same");
}

void read_gate(std::string_view text)
{
    if (const auto gate = scenarios::load_gate_text("fuzz", text); !gate) {
        check_reasons(gate.error());
    }
}

void read_limits(std::string_view text)
{
    if (const auto limits = scenarios::load_limits_text("fuzz", text); !limits) {
        check_reasons(limits.error());
    }
}

void read_runtime(std::string_view text)
{
    const auto recording = lifetime::parse_recording("fuzz", text);
    if (!recording) {
        return check_reason(recording.error());
    }
    MEMSWEEP_ASSERT(recording->rows.size() >= 2 && recording->iterations() <= 1'000'000,
                    "there is a loop, not too long");
    const auto rises = [](const auto& a, const auto& b) { return a.iteration >= b.iteration; };
    MEMSWEEP_ASSERT(std::ranges::adjacent_find(recording->rows, rises) == recording->rows.end(), "iterations rise");
    const std::vector<std::uint64_t> collections = recording->collections();
    MEMSWEEP_ASSERT(collections.size() == recording->rows.back().collections - recording->rows.front().collections,
                    "each collection has its iteration");
    MEMSWEEP_ASSERT(collections.empty() || collections.back() < recording->iterations(), "of the loop");
    MEMSWEEP_ASSERT(recording->peak() >= recording->rows.back().unreleased, "the most is no less than what is left");
    const auto loop = lifetime::recorded_loop(*recording);
    if (!loop) {
        return check_reason(loop.error());
    }
    MEMSWEEP_ASSERT(loop->array_bytes > 0, "an array has a size");
}

using Read = void (*)(std::string_view text);

Read chosen_reader()
{
    const std::string_view name = fuzz::chosen_parser();
    Read const read = name == "result"    ? read_result
                      : name == "fleet"   ? read_fleet
                      : name == "gate"    ? read_gate
                      : name == "limits"  ? read_limits
                      : name == "runtime" ? read_runtime
                                          : nullptr;
    MEMSWEEP_ASSERT(read != nullptr, "MEMSWEEP_FUZZ_PARSER is result, fleet, gate, limits or runtime");
    return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Read const read = chosen_reader();
    read({reinterpret_cast<const char*>(data), size});
    return 0;
}
