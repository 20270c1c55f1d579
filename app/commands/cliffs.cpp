#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/engine/runner.hpp"
#include "core/measure/cliffs.hpp"
#include "core/memory/malloc_cost.hpp"
#include "core/model/allocator_settings.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/page_ops.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct CliffsCommand {
    std::vector<std::string> allocators;
    measure::SizeRange range;
    std::string format{"text"};
    std::string out;
    bool no_verify{};
};

using measure::Cliff;
using measure::SizeRange;
using reporters::SettingEffect;
using reporters::TriedSetting;

constexpr int answer_fd = 3;
constexpr std::chrono::seconds cost_patience{120};

// What a process says of the malloc that it runs under.
struct CostAnswer {
    std::array<char, 512> library{};
    std::array<char, 64> version{};
    memory::MallocCost cost{};
    std::uint64_t given{};  // 1 when all of it is written
};

base::Expected<ExitCode> answer_on(int fd, std::uint64_t bytes)
{
    auto region = sys::SharedRegion::map(sys::UniqueFd{fd}, sizeof(CostAnswer));
    if (!region) {
        return refuse("is memsweep's own: memsweep cliffs starts it, with memory to answer in", "malloc-cost");
    }
    auto& answer = *region->data<CostAnswer>();
    answer.cost = memory::measure_malloc_cost(sys::SystemClock{}, bytes);
    sys::serving_library().copy(answer.library.data(), answer.library.size() - 1);
    sys::allocator_version().copy(answer.version.data(), answer.version.size() - 1);
    answer.given = 1;
    return ExitCode::done;
}

// What malloc and free cost by size under an allocator, measured in a fresh process of ours, which ran nothing else
// before, under that malloc.
//
// Errors   os: no process could be started; invalid_input: it ran under another malloc, refused the size or died.
base::Expected<CostAnswer> ask_under(const model::AllocatorSpec& allocator, std::uint64_t bytes)
{
    auto region = MEMSWEEP_TRY(sys::SharedRegion::create(sizeof(CostAnswer), "memsweep-cost"));
    sys::SpawnOptions spawn{.argv = {"/proc/self/exe", "malloc-cost", std::to_string(answer_fd), std::to_string(bytes)},
                            .inherit = {{region.fd(), answer_fd}}};
    sys::put_under(allocator, spawn);
    auto process = MEMSWEEP_TRY(sys::ChildProcess::spawn(spawn));
    const auto status = process.wait_for(cost_patience);
    const CostAnswer& answer = *region.data<CostAnswer>();
    if (!status || answer.given != 1) {
        return refuse(fmt::format("measuring blocks of {} B ended with {}", bytes,
                                  status ? status->describe() : "no answer in time"),
                      allocator.name);
    }
    if (!sys::is_same_file(answer.library.data(), sys::expected_library(allocator))) {
        return refuse(
            fmt::format("malloc came from {}, not from {}", answer.library.data(), sys::expected_library(allocator)),
            allocator.name);
    }
    if (answer.cost.ns_per_op < 0) {
        return refuse(fmt::format("it refuses a block of {} B", bytes), allocator.name);
    }
    return answer;
}

base::Expected<measure::SizeCost> cost_under(const model::AllocatorSpec& allocator, std::uint64_t bytes)
{
    const CostAnswer answer = MEMSWEEP_TRY(ask_under(allocator, bytes));
    return measure::SizeCost{bytes, answer.cost.faults_per_op, answer.cost.ns_per_op};
}

// What our environment sets of allocators: they are measured as they would run from here.
model::Variables allocator_settings()
{
    model::Variables settings;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view value{*entry};
        const std::string_view name = base::take_until(value, '=');
        if (model::sets_an_allocator(name)) {
            settings.emplace_back(name, value);
        }
    }
    return settings;
}

measure::CostOfSize costs(const model::AllocatorSpec& allocator)
{
    return [allocator](std::uint64_t bytes) { return cost_under(allocator, bytes); };
}

// Where a cliff that a setting has moved is looked for: it would be seen on both sides of where it was.
SizeRange around(const Cliff& cliff)
{
    return {.from = std::max<std::uint64_t>(cliff.cheap.bytes / 4, 1), .to = cliff.cheap.bytes * 2};
}

base::Expected<TriedSetting> judge(const Cliff& cliff, const measure::CostOfSize& cost_of)
{
    const measure::SizeCost beyond = MEMSWEEP_TRY(cost_of(cliff.dear.bytes));
    const measure::CliffSurvey survey = MEMSWEEP_TRY(measure::find_cliffs(around(cliff), cost_of));
    TriedSetting tried{.effect = SettingEffect::removed, .beyond = beyond};
    for (const Cliff& found : survey.cliffs) {
        if (found.kind != cliff.kind) {
            continue;
        }
        const auto [low, high] = std::minmax(found.cheap.bytes, cliff.cheap.bytes);
        if (high - low > sys::page_size()) {
            tried.effect = SettingEffect::moved;
            tried.last_cheap = found.cheap.bytes;
            break;
        }
        const bool easier = found.dear.ns_per_op < 0.8 * cliff.dear.ns_per_op && cliff.kind == measure::CliffKind::time;
        tried.effect = easier ? SettingEffect::eased : SettingEffect::none;
        tried.beyond = found.dear;
    }
    // A rise without an edge, or one that begins below the range, is no removal.
    if (tried.effect == SettingEffect::removed && measure::is_cliff(cliff.kind, cliff.cheap, beyond)) {
        tried.effect = SettingEffect::none;
    }
    return tried;
}

TriedSetting try_setting(model::AllocatorSpec allocator, const Cliff& cliff, const measure::CliffSetting& setting)
{
    const model::Variables variables = model::to_variables(allocator.name, setting);
    std::string text;
    for (const auto& [name, value] : variables) {
        model::add_variable(allocator.environment, name, value);
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
    auto judged = judge(cliff, costs(allocator));
    TriedSetting tried =
        judged ? *std::move(judged) : TriedSetting{.effect = SettingEffect::failed, .reason = judged.error().message};
    tried.text = std::move(text);
    return tried;
}

reporters::ExplainedCliff explain(const model::AllocatorSpec& allocator, std::string_view version, const Cliff& cliff,
                                  bool verify)
{
    reporters::ExplainedCliff explained{.cliff = cliff};
    if (const auto cause = measure::find_cause({allocator.name, version, allocator.environment}, cliff)) {
        explained.cause = cause;
        for (const measure::CliffSetting& setting :
             verify ? cause->settings : std::span<const measure::CliffSetting>{}) {
            explained.tried.push_back(try_setting(allocator, cliff, setting));
        }
    }
    return explained;
}

using ShowProgress = std::function<void(const std::string& what)>;

base::Expected<reporters::AllocatorCliffs> look_at(const std::string& name, const CliffsCommand& command,
                                                   const engine::Capabilities& capabilities,
                                                   const ShowProgress& show_progress)
{
    reporters::AllocatorCliffs found{.name = name};
    const auto library = capabilities.locate_allocator(name);
    if (!library) {
        found.skipped = library.error().message;
        return found;
    }
    const model::AllocatorSpec allocator{.name = name, .library = *library, .environment = allocator_settings()};
    found.library = library->empty() ? sys::c_library() : *library;
    show_progress(fmt::format("{}: sweeping sizes from {} to {}", name, base::exact_size(command.range.from),
                              base::exact_size(command.range.to)));
    const CostAnswer first = MEMSWEEP_TRY(ask_under(allocator, command.range.from));
    measure::CliffSurvey survey = MEMSWEEP_TRY(measure::find_cliffs(command.range, costs(allocator)));
    found.sizes = std::move(survey.sizes);
    for (const Cliff& cliff : survey.cliffs) {
        show_progress(fmt::format("{}: a cliff after {} B{}", name, cliff.cheap.bytes,
                                  command.no_verify ? "" : "; trying what should move it"));
        found.cliffs.push_back(explain(allocator, first.version.data(), cliff, !command.no_verify));
    }
    return found;
}

base::Expected<ExitCode> execute(const CliffsCommand& command, const GlobalOptions& global)
{
    for (const std::string& name : command.allocators) {
        if (model::find_allocator(name) == nullptr && !model::is_library_path(name)) {
            const auto known = model::allocator_names();
            return refuse(fmt::format("\"{}\" is no allocator{}", name, base::suggestion(name, known)), "--on");
        }
    }
    reporters::CliffsReport report{
        .tool = model::this_tool(), .machine = this_machine(), .taken = sys::utc_now(), .range = command.range};
    const engine::Capabilities capable = capabilities(report.machine);
    const ShowProgress show_progress = [&global](const std::string& what) {
        if (!global.quiet) {
            print_note(what);
        }
    };
    ExitCode code = ExitCode::done;
    for (const std::string& name : command.allocators) {
        auto found = look_at(name, command, capable, show_progress);
        if (!found) {
            print_error(found.error());
            code = worse(code, ExitCode::case_failed);
            continue;
        }
        report.allocators.push_back(*std::move(found));
    }
    const bool measured = std::ranges::any_of(report.allocators, [](const auto& one) { return one.skipped.empty(); });
    code = measured ? code : worse(code, ExitCode::nothing_measured);
    const std::string text =
        command.format == "json" ? reporters::to_json(report) : reporters::to_terminal(report, terminal_style(global));
    return worse(code, write_text(text, command.out));
}

}  // namespace

void add_cliffs(Command& root, const GlobalOptions& global)
{
    Command& command =
        root.command("cliffs", "Find the sizes where an allocator's cost jumps, why, and what moves them");
    auto& cliffs = arguments_of<CliffsCommand>(command, global, execute);
    command.required_option(
        "--on A,B", value::offering(value::comma_texts(cliffs.allocators), value::names_in(model::allocators())),
        "Allocators, with commas: glibc, jemalloc, mimalloc, tcmalloc, or paths of libraries");
    command.option("--from SIZE", value::size(cliffs.range.from), "Smallest size (default 64B)");
    command.option("--to SIZE", value::size(cliffs.range.to), "Largest size (default 64MiB)");
    command.flag("--no-verify", cliffs.no_verify, "Only name the settings that should move a cliff; do not try them");
    command.format_option(cliffs.format, value::word(cliffs.format, {"text", "json"}), "text or json");
    command.option("-o,--out FILE", value::text(cliffs.out), "Where to write (default stdout)");
    command.footer = "Each size is measured in a fresh process, with the allocator settings of the environment. Exit "
                     "codes: 0 done; 2 an unknown allocator; 3 a measurement "
                     "failed; 4 none of the allocators is installed.";
    command.check = [&cliffs]() -> base::Expected<void> {
        if (cliffs.range.from == 0 || cliffs.range.from >= cliffs.range.to) {
            return refuse("must be above 0 and below --to", "--from");
        }
        return {};
    };
}

// Measures one size in a process of its own; cost_under starts it.
void add_malloc_cost(Command& root, const GlobalOptions& /*global*/)
{
    struct Asked {
        int fd{};
        std::uint64_t bytes{};
    };
    const auto asked = std::make_shared<Asked>();
    Command& command = root.hidden_command("malloc-cost");
    command.positional("fd FD", value::number(asked->fd, 0, INT_MAX), "");
    command.positional("bytes BYTES", value::number(asked->bytes, 0, UINT64_MAX), "");
    command.run = [asked] { return answer_on(asked->fd, asked->bytes); };
}

}  // namespace memsweep::app
