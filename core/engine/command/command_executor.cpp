#include "core/engine/command/command_executor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/printable.hpp"
#include "core/engine/command/halves.hpp"
#include "core/engine/command/measured_command.hpp"
#include "core/engine/command/name_lengths.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/process_probe.hpp"
#include "core/trace/file_lender.hpp"

namespace memsweep::engine {
namespace {

// The counter takes less than 100 MiB, and half a byte for each byte of heap.
constexpr std::uint64_t ample_address_bytes = std::uint64_t{4} << 30U;

using std::chrono::nanoseconds;
namespace fs = std::filesystem;

// Always as long: a program that copies its environment allocates by the length of this path.
constexpr sys::PassingShape counts_folders{.before = "memsweep-counts-", .after = "", .tells_boot = false, .digits = 6};

void nobody(int /*pid*/) {}

}  // namespace

CommandExecutor::CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals,
                                 base::Expected<std::string> recorder, std::vector<std::uint32_t> processors)
    : clock_{clock}, signals_{signals}, recorder_{std::move(recorder)}, processors_{std::move(processors)}
{
    sys::adopt_orphans();
}

void CommandExecutor::do_beside(const CompiledCase& compiled, const RunLimits& limits, std::string_view what,
                                const std::vector<std::string>& words, Attempt& attempt) const
{
    if (words.empty() || attempt.ending == Ending::interrupted) {
        return;
    }
    model::CommandSpec surrounding = compiled.command();
    surrounding.input.clear();  // which `prepare` may be there to make
    ProgramEnd end = Supervision{clock_, signals_, limits.timeout}.run(surrounding, words, {}, model::output_discarded,
                                                                       {}, nullptr, nobody);
    std::string why = judge(end, model::CommandSpec{}, limits.timeout);
    if (end.ending != Ending::finished && attempt.ending == Ending::finished) {
        attempt.ending = end.ending == Ending::interrupted ? Ending::interrupted : Ending::broken;
        attempt.reason = fmt::format("{}: {}", what, why);
    }
}

void CommandExecutor::prepare(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const
{
    attempt.ending = signals_.arrived() ? Ending::interrupted : Ending::finished;
    do_beside(compiled, limits, "prepare", compiled.command().prepare, attempt);
}

// Follows whatever the program has done, unless the user wants an end.
void CommandExecutor::clean_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const
{
    do_beside(compiled, limits, "the clean-up after a repetition", compiled.command().cleanup, attempt);
}

CommandExecutor::~CommandExecutor()
{
    tear_down();
}

void CommandExecutor::set_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt)
{
    const model::CommandSpec& command = compiled.command();
    if (set_up_ && set_up_->command().run == command.run && set_up_->command().setup == command.setup) {
        return;
    }
    tear_down();
    do_beside(compiled, limits, "setup", command.setup, attempt);
    if (attempt.ending == Ending::finished && !(command.setup.empty() && command.teardown.empty())) {
        set_up_ = compiled;
        set_up_limits_ = limits;
    }
}

void CommandExecutor::tear_down()
{
    if (const std::optional<CompiledCase> ended = std::exchange(set_up_, std::nullopt)) {
        Attempt attempt;
        attempt.ending = Ending::finished;
        do_beside(*ended, set_up_limits_, "the clean-up after the last repetition", ended->command().teardown, attempt);
        if (attempt.ending != Ending::finished && attempt.ending != Ending::interrupted) {
            failed_clean_ups_.push_back(fmt::format(
                "{}: {}", base::printable(fmt::format("{}", fmt::join(ended->command().run, " "))), attempt.reason));
        }
    }
}

std::vector<std::string> CommandExecutor::take_down()
{
    tear_down();
    return std::exchange(failed_clean_ups_, {});
}

Attempt CommandExecutor::run(const CompiledCase& compiled, const RunLimits& limits,
                             const std::function<void(int pid)>& started)
{
    Attempt attempt;
    attempt.ending = signals_.arrived() ? Ending::interrupted : Ending::finished;
    set_up(compiled, limits, attempt);
    if (attempt.ending != Ending::finished) {
        return attempt;
    }
    prepare(compiled, limits, attempt);
    if (attempt.ending == Ending::finished) {
        attempt = measure(compiled, limits, started, {});
    }
    clean_up(compiled, limits, attempt);
    count_behind(compiled, limits, attempt);
    return attempt;
}

std::vector<Attempt> CommandExecutor::run_at_once(std::span<const Repetition> repetitions)
{
    std::vector<Attempt> attempts(repetitions.size());
    std::vector<Half> halves;
    std::vector<std::size_t> measured;
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        const Repetition& one = repetitions[i];
        prepare(one.compiled, one.limits, attempts[i]);
        if (attempts[i].ending == Ending::finished) {
            const std::uint32_t processor = processors_[one.place];
            halves.push_back({.measure =
                                  [this, &one, processor](const std::function<void(int)>& started, const auto& ready) {
                                      return measure(one.compiled, one.limits, started, {processor, ready});
                                  },
                              .started = one.started,
                              .longest = one.limits.timeout + longest_ending});
            measured.push_back(i);
        }
    }
    std::vector<Attempt> together = run_halves(halves, clock_, signals_);
    for (std::size_t i = 0; i < measured.size(); ++i) {
        attempts[measured[i]] = std::move(together[i]);
    }
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        clean_up(repetitions[i].compiled, repetitions[i].limits, attempts[i]);
    }
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        count_behind(repetitions[i].compiled, repetitions[i].limits, attempts[i]);
    }
    return attempts;
}

void CommandExecutor::count_behind(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt)
{
    const bool names_malloc = !compiled.allocator.name.empty();
    const bool asks = names_malloc && asks_ && !asked_.contains(&compiled);
    if (attempt.ending == Ending::finished && (limits.counts || asks)) {
        const auto tree = count(compiled, limits);
        if (limits.counts) {
            const auto counts = tree.and_then([](const trace::CountedTree& one) { return one.whole(); });
            CommandRecord& measured = attempt.command();
            measured.why_uncounted = counts ? "" : counts.error().message;
            measured.counts = counts ? std::optional{*counts} : std::nullopt;
            const bool is_tight = counts && tree->address_limit_bytes < ample_address_bytes;
            measured.counted_under_bytes = is_tight ? tree->address_limit_bytes : 0;
            measured.names = counts ? std::optional{name_lengths(compiled.command(), {*recorder_})} : std::nullopt;
        }
        if (asks) {
            asked_[&compiled] = tree ? "" : tree.error().message;
            attempt.reason = tree ? other_malloc(*tree, compiled.allocator) : "";
        }
        attempt.ending = signals_.arrived()        ? Ending::interrupted
                         : !attempt.reason.empty() ? Ending::broken
                                                   : Ending::finished;
    }
    if (auto* const measured = std::get_if<CommandRecord>(&attempt.measured)) {
        measured->why_unasked = names_malloc && asks_ ? asked_[&compiled] : "";
    }
}

std::string other_malloc(const trace::CountedTree& tree, const model::AllocatorSpec& allocator)
{
    const std::string expected = sys::expected_library(allocator);
    const auto serves = [&](const std::string& program, const std::string& which) {
        return fmt::format("another malloc than {} serves {}: {}", allocator.name, base::printable(program), which);
    };
    for (const trace::ServedProgram& one : tree.served) {
        if (one.is_own) {
            return serves(one.program, "its own");
        }
        if (!one.library.empty() && !sys::is_same_file(one.library, expected)) {
            return serves(one.program, "that of " + base::printable(one.library));
        }
    }
    const auto has_other = [](const trace::UnrecordedProgram& one) {  // none: it may have been served all the same
        return one.obstacle != trace::PreloadObstacle::none && one.obstacle != trace::PreloadObstacle::no_file;
    };
    const auto other = std::ranges::find_if(tree.unrecorded, has_other);
    return other == tree.unrecorded.end() ? "" : serves(other->program, trace::reason_of(*other));
}

base::Expected<trace::CountedTree> CommandExecutor::count(const CompiledCase& compiled, const RunLimits& limits) const
{
    const std::string library = MEMSWEEP_TRY(recorder_);
    MEMSWEEP_TRY(sys::can_be_preloaded(executed(compiled.command().run, compiled.command().shell)));
    const auto folder = sys::PassingFolder::make(counts_folders);
    if (!folder) {
        return base::fail(base::os_error("cannot make a folder", errno, sys::PassingFolder::parent()));
    }
    trace::TreeLooks looks{library};
    const auto done = run_recorded(compiled, limits, folder->path(), "count", looks);
    if (!done) {
        return base::fail(done.error().code, "counting its allocations: " + done.error().message);
    }
    return trace::take_counts(folder->path(), looks);
}

base::Expected<Moment> CommandExecutor::record(const CompiledCase& compiled, const RunLimits& limits,
                                               const std::string& folder, const std::string& options) const
{
    MEMSWEEP_TRY(sys::can_be_preloaded(executed(compiled.command().run, compiled.command().shell)));
    trace::TreeLooks looks{MEMSWEEP_TRY(recorder_)};
    return run_recorded(compiled, limits, folder, options, looks);
}

base::Expected<Moment> CommandExecutor::run_recorded(const CompiledCase& compiled, const RunLimits& limits,
                                                     const std::string& folder, const std::string& options,
                                                     trace::TreeLooks& looks) const
{
    const model::CommandSpec& command = compiled.command();
    trace::make_starts(folder);
    const trace::FileLender lender{folder};
    Attempt attempt;
    Moment moment;
    prepare(compiled, limits, attempt);
    if (attempt.ending == Ending::finished) {
        Supervision supervision{clock_, signals_, limits.timeout};
        supervision.record_with(MEMSWEEP_TRY(recorder_), folder, options, looks);
        ProgramEnd end =
            supervision.run(command, command.run, compiled.allocator, model::output_discarded, {}, nullptr, nobody);
        attempt.reason = judge(end, command, limits.timeout);
        attempt.ending = end.ending;
        moment = std::move(end.at_end);
    }
    clean_up(compiled, limits, attempt);
    if (attempt.ending != Ending::finished) {
        return base::fail(base::ErrorCode::os, attempt.reason);
    }
    return moment;
}

Attempt CommandExecutor::measure(const CompiledCase& compiled, const RunLimits& limits,
                                 const std::function<void(int pid)>& started, const Hold& hold) const
{
    const model::CommandSpec& command = compiled.command();
    const bool keeps_series = limits.series.interval > nanoseconds::zero() && limits.series.working_set;
    TreeSampler sampler{keeps_series};
    Attempt attempt;
    Supervision supervision{clock_, signals_, limits.timeout};
    supervision.hold(hold);
    ProgramEnd end =
        supervision.run(command, command.run, compiled.allocator, command.output,
                        keeps_series ? limits.series.interval : nanoseconds::zero(), &sampler, [&](int pid) {
                            attempt.pid = pid;
                            started(pid);
                        });
    attempt.reason = judge(end, command, limits.timeout);
    attempt.ending = end.ending;
    auto& measured =
        attempt.measured.emplace<CommandRecord>(measured_command(end.status, end.wall, sampler, std::move(end.at_end)));
    measured.peak_working_set_bytes = std::max(measured.peak_working_set_bytes, end.left.max_rss_bytes);
    measured.hardware = end.hardware;
    measured.left_processes = end.left.processes;
    measured.checksum = std::move(end.checksum);
    for (model::Series& series : sampler.take_series()) {
        if (series.name == "working_set" && !series.t.empty()) {
            attempt.series.push_back(std::move(series));
        }
    }
    return attempt;
}

std::string missing_program(const model::CommandSpec& command)
{
    if (command.shell || !command.prepare.empty() || command.run.empty()) {
        return {};
    }
    const std::string& name = command.run.front();
    if (name.find('/') == std::string::npos) {
        const bool own_path =
            std::ranges::any_of(command.environment, [](const auto& variable) { return variable.first == "PATH"; });
        if (own_path) {
            return {};
        }
        return sys::find_program(name).empty()
                   ? fmt::format("{}: there is no such program in PATH", base::printable(name))
                   : "";
    }
    const std::string path = path_from(command.cwd, name);
    std::error_code problem;
    if (fs::is_directory(path, problem)) {
        return fmt::format("{}: is a folder", base::printable(path));
    }
    if (::access(path.c_str(), X_OK) != 0) {
        return fmt::format("{}: {}", base::printable(path),
                           errno == ENOENT ? "there is no such program" : "is not executable");
    }
    return {};
}

}  // namespace memsweep::engine
