#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/this_machine.hpp"
#include "core/lifetime/profile_fit.hpp"
#include "core/sys/file_text.hpp"
#include "reporters/document/profile_fit.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "scenarios/reader/profile_files.hpp"

namespace memsweep::app {
namespace {

using lifetime::ModelLoop;
using lifetime::RecordedLoop;
using lifetime::Recording;
using lifetime::ReleaseKeys;

struct ProfileCommand {
    std::string what;
    std::vector<std::string> recordings;
    std::vector<std::string> checks;
    std::string inherits;  // empty: by the recordings
    ReleaseKeys keys;
    std::string out;
    bool json{};
};

constexpr std::array<std::string_view, 6> fitted_profiles{"cpython",          "jvm-cleaner",         "jvm-cleaner-g1",
                                                          "jvm-directbuffer", "jvm-directbuffer-g1", "mono"};
// What a loop makes beside each array is the scenario's to say.
constexpr std::array<std::string_view, 2> loop_keys{"garbage", "containers_beside"};

struct ReadLoop {
    Recording recording;
    RecordedLoop loop;
};

base::Expected<std::vector<ReadLoop>> read_loops(const std::vector<std::string>& paths)
{
    constexpr std::uint64_t largest_recording_bytes = 64 << 20;
    std::vector<ReadLoop> loops;
    for (const std::string& path : paths) {
        const std::string text = MEMSWEEP_TRY(sys::read_file(path, largest_recording_bytes));
        Recording recording = MEMSWEEP_TRY(lifetime::parse_recording(path, text));
        RecordedLoop loop = MEMSWEEP_TRY(lifetime::recorded_loop(recording));
        loops.push_back({std::move(recording), std::move(loop)});
    }
    return loops;
}

// Whose rules the recordings may follow, and how that is known.
struct Family {
    std::vector<std::string> profiles;
    std::string why;
};

Family family_of(const ReadLoop& read)
{
    if (!read.loop.profile.empty() && !read.loop.may_be_g1) {
        return {{read.loop.profile}, "by the command of the recording"};
    }
    if (read.recording.has_generations) {
        return {{read.recording.counts_major_ones_twice ? "mono" : "cpython"}, "by the columns of the recording"};
    }
    const std::string serial = read.loop.profile.empty() ? "jvm-cleaner" : read.loop.profile;
    return {{serial, serial + "-g1"}, "whose rules come nearest"};
}

base::Expected<Family> common_family(const ProfileCommand& command, const std::vector<ReadLoop>& loops)
{
    if (!command.inherits.empty()) {
        return Family{{command.inherits}, "as --inherits says"};
    }
    Family family = family_of(loops.front());
    for (const ReadLoop& other : loops) {
        if (const Family found = family_of(other); found.profiles != family.profiles) {
            return refuse(fmt::format("another runtime ({}) than that of {} ({})", found.profiles.front(),
                                      loops.front().recording.name, family.profiles.front()),
                          other.recording.name);
        }
    }
    return family;
}

// The keys of the profile: what the runtime was started with, then what --set says.
ReleaseKeys runtime_keys(const std::string& profile, const ReadLoop& read, const ProfileCommand& command)
{
    ReleaseKeys keys;
    if (profile == "cpython") {
        keys.emplace_back("mode", "cycle");
    }
    const auto put = [&keys](const auto& pair) {
        const auto known = std::ranges::find(keys, pair.first, &ReleaseKeys::value_type::first);
        known == keys.end() ? keys.push_back(pair) : static_cast<void>(known->second = pair.second);
    };
    std::ranges::for_each(read.loop.runtime_keys, put);
    std::ranges::for_each(command.keys, put);
    return keys;
}

base::Expected<ModelLoop> model_loop(const std::string& profile, const ReadLoop& read, const ProfileCommand& command)
{
    ReleaseKeys keys = runtime_keys(profile, read, command);
    keys.insert(keys.begin(), read.loop.loop_keys.begin(), read.loop.loop_keys.end());
    ModelLoop loop{.recording = read.recording,
                   .spec = MEMSWEEP_TRY(scenarios::release_of(profile, keys, "--set", surroundings(this_machine()))),
                   .array_bytes = read.loop.array_bytes,
                   .own_arrays = read.loop.own_arrays};
    if (profile.starts_with("jvm") && loop.spec.managed.heap.initial == 0) {
        return refuse("the size of the heap is not known: give --set heap_initial=SIZE (-Xms) and --set heap_max=SIZE "
                      "(-Xmx)",
                      read.recording.name);
    }
    return loop;
}

base::Expected<std::vector<ModelLoop>> model_loops(const std::string& profile, const std::vector<ReadLoop>& read,
                                                   const ProfileCommand& command)
{
    std::vector<ModelLoop> loops;
    for (const ReadLoop& one : read) {
        loops.push_back(MEMSWEEP_TRY(model_loop(profile, one, command)));
    }
    return loops;
}

// Recordings that are fitted together are of one runtime, started alike.
base::Expected<void> check_alike(const std::string& profile, const std::vector<ReadLoop>& read,
                                 const ProfileCommand& command)
{
    const ReleaseKeys first = runtime_keys(profile, read.front(), command);
    for (const ReadLoop& other : read) {
        if (runtime_keys(profile, other, command) != first) {
            return refuse(fmt::format("its runtime was started with other options than that of {}; fit one profile "
                                      "each, or name it by --check",
                                      read.front().recording.name),
                          other.recording.name);
        }
    }
    return {};
}

std::string profile_name(const std::string& out)
{
    return is_stdout(out) ? "my" : std::filesystem::path{out}.stem().string();
}

// The fit under those rules, judged by all recordings.
base::Expected<reporters::ProfileReport> fit_to(const std::string& profile, const ProfileCommand& command,
                                                const std::vector<ReadLoop>& fitted,
                                                const std::vector<ReadLoop>& checked)
{
    MEMSWEEP_TRY(check_alike(profile, fitted, command));
    std::vector<ModelLoop> loops = MEMSWEEP_TRY(model_loops(profile, fitted, command));
    const std::vector<ModelLoop> checks = MEMSWEEP_TRY(model_loops(profile, checked, command));
    reporters::ProfileReport report{.name = profile_name(command.out),
                                    .profile = profile,
                                    .why = {},
                                    .given = runtime_keys(profile, fitted.front(), command),
                                    .fit = lifetime::fit_profile(loops),
                                    .recordings = {}};
    std::erase_if(report.given,
                  [](const auto& key) { return std::ranges::find(loop_keys, key.first) != loop_keys.end(); });
    if (report.fit.keys.empty()) {
        return refuse("no collection came, so there is nothing to fit: record more iterations, or garbage beside each "
                      "array",
                      loops.front().recording.name);
    }
    for (const ModelLoop& loop : loops) {
        report.recordings.push_back({lifetime::agreement(loop), false});
    }
    for (ModelLoop check : checks) {
        lifetime::apply(report.fit, check.spec);
        report.recordings.push_back({lifetime::agreement(check), true});
    }
    return report;
}

// With the rules that come nearest.
base::Expected<reporters::ProfileReport> best_fit(const ProfileCommand& command, const std::vector<ReadLoop>& fitted,
                                                  const std::vector<ReadLoop>& checked)
{
    const Family family = MEMSWEEP_TRY(common_family(command, fitted));
    std::optional<reporters::ProfileReport> best;
    for (const std::string& profile : family.profiles) {
        reporters::ProfileReport report = MEMSWEEP_TRY(fit_to(profile, command, fitted, checked));
        if (!best || report.fit.iterations_off < best->fit.iterations_off) {
            best = std::move(report);
        }
    }
    best->why = family.why;
    return *std::move(best);
}

bool holds(const reporters::JudgedRecording& one)
{
    return one.agreement.holds;
}

scenarios::ProfileFile file_of(const reporters::ProfileReport& report)
{
    scenarios::ProfileFile file{.name = report.name,
                                .description = fmt::format("As {}; fitted to ", report.profile),
                                .inherits = report.profile,
                                .verified =
                                    std::ranges::all_of(report.recordings, holds) && report.recordings.back().is_check,
                                .keys = report.given};
    for (const reporters::JudgedRecording& one : report.recordings) {
        if (!one.is_check) {
            file.description += fmt::format("{}{}", &one == report.recordings.data() ? "" : ", ",
                                            std::filesystem::path{one.agreement.recording}.filename().string());
        }
    }
    file.description += ".";
    for (const lifetime::FittedKey& key : report.fit.keys) {
        file.keys.emplace_back(key.key, std::to_string(key.value));
    }
    return file;
}

base::Expected<ExitCode> execute(const ProfileCommand& command, const GlobalOptions& global)
{
    std::vector<std::string> inputs = command.recordings;
    inputs.insert(inputs.end(), command.checks.begin(), command.checks.end());
    MEMSWEEP_TRY(check_one_stdin(inputs));
    MEMSWEEP_TRY(check_out(command.out, inputs));
    if (command.json && is_stdout(command.out)) {
        return refuse("the profile goes to standard output already; give it a file by -o", "--json");
    }
    const auto fitted = MEMSWEEP_TRY(read_loops(command.recordings));
    const auto checked = MEMSWEEP_TRY(read_loops(command.checks));
    const reporters::ProfileReport report = MEMSWEEP_TRY(best_fit(command, fitted, checked));
    const ExitCode code = std::ranges::all_of(report.recordings, holds) ? ExitCode::done : ExitCode::finding;
    if (const ExitCode written = write_text(scenarios::to_text(file_of(report)), command.out);
        written != ExitCode::done) {
        return written;
    }
    if (command.json) {
        return worse(code, print_text(reporters::to_json(report)));
    }
    if (!is_stdout(command.out) && !global.quiet) {
        return worse(code, print_text(reporters::to_terminal(report, terminal_style(global))));
    }
    for (const lifetime::FittedKey& key : report.fit.keys) {
        if (!key.is_sure()) {
            print_note(reporters::key_sentence(report, key));
        }
    }
    return code;
}

}  // namespace

void add_profile(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("profile", "Fit a runtime profile to recordings of a runtime of your own");
    auto& profile = arguments_of<ProfileCommand>(command, global, execute);
    command.positional("what WHAT", value::word(profile.what, {"fit"}), "fit");
    command.positional("recording FILE", value::texts(profile.recordings),
                       "What record.py wrote, or CSV with the columns i, unreleased and gc0; - is stdin");
    command.required_option("-o,--out FILE", value::text(profile.out), "The profile to write; - is stdout");
    command.flag("--json", profile.json,
                 "On stdout as JSON: each key with its range, and how far each recording agrees");
    command.option("--check FILE", value::texts(profile.checks, Arity::each_time),
                   "A recording to judge the profile by, which is not used for the fit (repeatable)");
    command.option("--inherits PROFILE",
                   value::word(profile.inherits, {fitted_profiles.begin(), fitted_profiles.end()}),
                   "The profile whose rules apply if the recordings do not tell");
    command.option(
        "--set KEY=VALUE", value::pairs(profile.keys, "KEY=VALUE", Arity::each_time),
        "Set a key of the profile that the recording does not tell, or the garbage beside each array (repeatable)");
    command.footer = "Exit codes: 0 written, and it agrees with every recording; 1 written, and it does not agree with "
                     "one; 2 a recording is unreadable or says too little.";
}

}  // namespace memsweep::app
