// Any bytes as a scenario file, as the file it includes, and their first line as what the command line may say; or as
// a runtime profile that a scenario names.
//
// Errors   a broken promise of the loader ends the process: a failure without a reason, a plan without cases.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/assert.hpp"
#include "core/model/assertion.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/axes.hpp"
#include "scenarios/reader/loader.hpp"
#include "tests/fuzz/chosen_parser.hpp"

namespace {

using namespace memsweep;

scenarios::Surroundings surroundings_with(std::string_view included)
{
    scenarios::Surroundings fake;
    fake.ncpus = 4;
    fake.memory_bytes = 1ULL << 34U;
    fake.environment = [](const std::string& name) {
        return name == "A" ? std::optional<std::string>{"4"} : std::nullopt;
    };
    fake.read_file = [included](const std::string&) { return base::Expected<std::string>{std::string{included}}; };
    fake.look_at_trace = [](const std::string& path) {
        return base::Expected<scenarios::TraceFacts>{{.path = path,
                                                      .content = "0",
                                                      .events = 9,
                                                      .threads = 2,
                                                      .peak_live_bytes = 4096,
                                                      .bytes_allocated = 8192,
                                                      .largest_block_bytes = 4096}};
    };
    return fake;
}

void check(const scenarios::Loaded& loaded)
{
    if (loaded) {
        MEMSWEEP_ASSERT(!loaded->cases.empty(), "a plan has cases");
        MEMSWEEP_ASSERT(loaded->fingerprint.size() == 64 && loaded->sha256.size() == 64, "a plan has digests");
        return;
    }
    MEMSWEEP_ASSERT(!loaded.error().empty(), "a failure has a reason");
    for (const base::Error& error : loaded.error()) {
        MEMSWEEP_ASSERT(!error.message.empty() && error.message.size() < 4096, "a reason is text of readable length");
    }
}

void check_command_line(std::string_view text, std::string_view line, const scenarios::Surroundings& surroundings)
{
    scenarios::Overrides overrides;
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
        overrides.axes.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        overrides.variables = overrides.axes;
        check(scenarios::load_text("f", text, overrides, surroundings));
    }
    static_cast<void>(scenarios::parse_axis_values(line));
    static_cast<void>(model::parse_expression(line));
}

void load_scenario(std::string_view text)
{
    const std::string_view line = text.substr(0, text.find('\n'));
    const scenarios::Surroundings surroundings = surroundings_with(text);
    check(scenarios::load_text("f", text, {}, surroundings));
    if (line.size() < text.size()) {
        check_command_line(text.substr(line.size()), line, surroundings);
    }
}

void load_profile(std::string_view text)
{
    constexpr std::string_view scenario =
        R"({"format": "memsweep-scenario", "version": 1, "name": "f", "release": {"profile": "p"},)"
        R"( "steps": [{"op": "alloc", "as": "a", "bytes": 64}, {"op": "drop", "target": "a"}]})";
    check(scenarios::load_text("f", scenario, {}, surroundings_with(text)));
}

using Load = void (*)(std::string_view text);

Load chosen_load()
{
    const std::string_view name = fuzz::chosen_parser();
    Load const load = name == "scenario" ? load_scenario : name == "profile" ? load_profile : nullptr;
    MEMSWEEP_ASSERT(load != nullptr, "MEMSWEEP_FUZZ_PARSER is scenario or profile");
    return load;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Load const load = chosen_load();
    load({reinterpret_cast<const char*>(data), size});
    return 0;
}
