#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/model/allocator.hpp"
#include "core/model/plan.hpp"
#include "core/model/specs.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/table.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/loader.hpp"
#include "scenarios/reader/starter.hpp"

namespace memsweep::app {
namespace {

struct NewCommand {
    std::string name;
    std::string from;  // a file, or a scenario that ships; empty: one is made from the answers
    std::string out;
    std::vector<std::string> release;
    std::vector<std::string> allocators;
    std::optional<std::uint64_t> array_bytes;
    std::optional<std::uint64_t> times;
    std::optional<std::uint32_t> repetitions;
    std::vector<std::uint64_t> threads;
    std::vector<std::uint64_t> mix_bytes;
};

bool has_answers(const NewCommand& asked)
{
    return !asked.release.empty() || !asked.allocators.empty() || asked.array_bytes || asked.times ||
           asked.repetitions || !asked.threads.empty() || !asked.mix_bytes.empty();
}

base::Expected<void> check(const NewCommand& asked)
{
    if (!asked.name.empty() && !scenarios::is_name(asked.name)) {
        return refuse(fmt::format("{} is no name: small letters, digits and _, beginning with a letter, at most 64",
                                  scenarios::in_quotes(asked.name)),
                      "NAME");
    }
    if (!asked.from.empty() && has_answers(asked)) {
        return refuse("copies a scenario as it is: edit the copy, or give memsweep run -a, --set and -n", "--from");
    }
    if (!asked.release.empty() && (!asked.threads.empty() || !asked.mix_bytes.empty())) {
        return refuse("is for arrays in a loop; --threads and --mix write blocks, which are freed at once",
                      "--release");
    }
    return {};
}

scenarios::StarterAnswers answers_of(const NewCommand& asked)
{
    scenarios::StarterAnswers answers;
    answers.release = asked.release.empty() ? answers.release : asked.release;
    answers.allocators = asked.allocators;
    answers.array_bytes = asked.array_bytes.value_or(answers.array_bytes);
    answers.times = asked.times.value_or(answers.times);
    answers.threads = asked.threads;
    answers.mix_bytes = asked.mix_bytes;
    answers.repetitions = asked.repetitions.value_or(answers.repetitions);
    return answers;
}

base::Expected<std::string> text_of(const NewCommand& asked, const std::string& file)
{
    std::error_code problem;
    const std::string schema = shipped("scenarios/schema/memsweep-scenario-1.schema.json");
    const auto absolute = std::filesystem::absolute(schema, problem);
    scenarios::StarterLabels labels{asked.name, file, problem ? schema : absolute.lexically_normal().string()};
    if (asked.from.empty()) {
        labels.name = labels.name.empty() ? "my_scenario" : labels.name;
        return scenarios::starter_scenario(answers_of(asked), labels);
    }
    const std::string path = scenario_path(asked.from);
    auto text = scenarios::read_text_file(path);
    if (!text) {
        text.error().message += scenario_hint(asked.from);
    }
    return scenarios::scenario_copy(path == "-" ? "<stdin>" : path, MEMSWEEP_TRY(std::move(text)), labels);
}

base::Expected<ExitCode> execute(const NewCommand& asked, const GlobalOptions& global)
{
    const std::string out = asked.out.empty() && !asked.name.empty() ? asked.name + ".json" : asked.out;
    const std::string file = is_stdout(out) ? "FILE" : out;
    const std::string text = MEMSWEEP_TRY(text_of(asked, file));
    const scenarios::Loaded plan = scenarios::load_text(file, text, {}, surroundings(this_machine()));
    if (!plan) {
        print_places(plan.error());
        return ExitCode::bad_input;
    }
    if (is_stdout(out)) {
        return print_text(text);
    }
    MEMSWEEP_TRY(sys::write_file_atomically(
        out, [&](const sys::PieceTaker& take) { take(text); }, sys::Existing::keep));
    if (!global.quiet) {
        print_note(fmt::format("{}: written, {}; memsweep run {} measures", out,
                               reporters::plural(plan->cases.size(), "case"), out));
    }
    return ExitCode::done;
}

void add_answers(Command& command, NewCommand& asked)
{
    command.group = "Answers";
    OptionValue release = value::words(asked.release, {});
    for (const std::string_view mode : model::all_names<model::ReleaseMode>()) {
        release.choices.emplace_back(mode);
    }
    release.commas = true;
    command.option("--release MODE", value::defaulting(std::move(release), "refcount,finalizer"),
                   "Compare these release modes (memsweep list disciplines)");
    OptionValue allocators = value::words(asked.allocators, value::names_in(model::allocators()));
    allocators.commas = true;
    command.option("--allocator ALLOCATOR", std::move(allocators),
                   "Under each of these allocators (default: as memsweep itself; memsweep list allocators)");
    command.option("--size SIZE", value::defaulting(value::size(asked.array_bytes), "1MiB"), "Of each array");
    command.option("--count N", value::defaulting(value::number(asked.times, 1, 1'000'000'000), "100"),
                   "So many arrays, one after the other");
    command.option("--threads N,N", value::each_of_list([&asked](const std::string& text) -> base::Expected<void> {
                       asked.threads.push_back(MEMSWEEP_TRY(value::whole_number(text, 1, 64)));
                       return {};
                   }),
                   "Blocks in place of arrays, allocated and freed by so many threads: 1,2,4 are three cases");
    command.option("--mix SIZE,SIZE", value::each_of_list([&asked](const std::string& text) -> base::Expected<void> {
                       asked.mix_bytes.push_back(MEMSWEEP_TRY(base::parse_size(text)));
                       return {};
                   }),
                   "Blocks in place of arrays, of these sizes side by side: 64B,16KiB");
    command.option("-n,--repetitions N", value::defaulting(value::number(asked.repetitions, 1, 100'000), "10"),
                   "Measured runs of each case");
}

}  // namespace

void add_new(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("new", "Write a scenario to start from, with comments");
    auto& asked = arguments_of<NewCommand>(command, global, execute);
    command.optional_positional("name NAME", value::text(asked.name),
                                "Of the scenario; without --out it is written to NAME.json");
    command.option("--from SCENARIO", value::text(asked.from), "Copy this file, or this scenario of the catalog")
        .look_up = shipped_scenarios;
    command.option("-o,--out FILE", value::text(asked.out),
                   "Where to write (default NAME.json, or stdout without a name); an existing file is never replaced");
    add_answers(command, asked);
    command.footer =
        "Exit codes: 0 written, and it can be run; 2 wrong usage, a scenario with mistakes, or a file that "
        "is there already.";
    command.check = [&asked] { return check(asked); };
}

}  // namespace memsweep::app
