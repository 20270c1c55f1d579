// Any bytes as a document that a command reads besides scenarios and traces: a result, a fleet, a gate, limits.
//
// Errors   a broken promise ends the process: a failure without a reason, a document that reads back as something else.
#include <cstdint>
#include <string>

#include "core/base/assert.hpp"
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

using Read = void (*)(std::string_view text);

Read chosen_reader()
{
    const std::string_view name = fuzz::chosen_parser();
    Read const read = name == "result"   ? read_result
                      : name == "fleet"  ? read_fleet
                      : name == "gate"   ? read_gate
                      : name == "limits" ? read_limits
                                         : nullptr;
    MEMSWEEP_ASSERT(read != nullptr, "MEMSWEEP_FUZZ_PARSER is result, fleet, gate or limits");
    return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Read const read = chosen_reader();
    read({reinterpret_cast<const char*>(data), size});
    return 0;
}
