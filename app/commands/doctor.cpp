#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/project_file.hpp"
#include "app/commands/this_machine.hpp"
#include "core/measure/measured_checks.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/setting_checks.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct DoctorCommand {
    bool json{};
};

constexpr std::uint64_t most_touched_bytes = 512ULL << 20;
constexpr std::chrono::milliseconds most_touching_time{1000};

model::MachineCheck cold_memory(const sys::Clock& clock)
{
    const std::uint64_t available = sys::available_memory();
    const auto chunks =
        sys::measure_first_touch(clock, std::min(most_touched_bytes, available / 4), most_touching_time);
    return measure::cold_memory_check(chunks.value_or(std::vector<sys::TouchedChunk>{}), available);
}

// Settings first: what is measured loads the machine, and its pressure would be our own.
base::Expected<ExitCode> execute(const DoctorCommand& command, const GlobalOptions& global)
{
    const auto project = MEMSWEEP_TRY(find_project_file());
    if (project) {
        print_note(fmt::format("defaults of runs here, from {}: {}", project->path, described(*project)));
    }
    const sys::SystemClock clock;
    reporters::Checkup checkup{.tool = model::this_tool(), .machine = this_machine(), .taken = sys::utc_now()};
    checkup.checks = sys::setting_checks();
    checkup.checks.push_back(cold_memory(clock));
    for (model::MachineCheck& check : measure::neighbour_checks(sys::run_canary(clock, {}))) {
        checkup.checks.push_back(std::move(check));
    }
    const bool fit = reporters::count(checkup, model::Fitness::spoils) == 0;
    const ExitCode code = fit ? ExitCode::done : ExitCode::finding;
    if (global.quiet && !command.json) {
        return code;
    }
    const std::string text =
        command.json ? reporters::to_json(checkup) : reporters::to_terminal(checkup, terminal_style(global));
    return worse(code, print_text(text));
}

}  // namespace

void add_doctor(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("doctor", "Check whether this machine is fit for measurements");
    auto& doctor = arguments_of<DoctorCommand>(command, global, execute);
    command.text_or_json(doctor.json, "As JSON: every check with its status, value, reason and command");
    command.footer =
        "Exit codes: 0 nothing would spoil numbers; 1 something would, and the command that changes it is shown.";
}

}  // namespace memsweep::app
