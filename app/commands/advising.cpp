#include "app/commands/advising.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include <unistd.h>

#include <fmt/format.h>

#include "app/commands/advice_candidates.hpp"
#include "app/commands/advice_executor.hpp"
#include "app/commands/advice_replays.hpp"
#include "app/commands/advice_verdict.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/remembered_runs.hpp"
#include "app/commands/site_removal.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/quantity.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/engine/judgement.hpp"
#include "core/engine/runner.hpp"
#include "core/measure/format.hpp"
#include "core/model/allocator_settings.hpp"
#include "core/model/metric_id.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine_facts.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using reporters::AdviceReport;
using reporters::AdviceTry;
using reporters::MallocOrigin;
using std::chrono::nanoseconds;

constexpr std::uint32_t usual_most_runs = 110;
constexpr std::uint32_t looking_runs = 2;  // counted, and as a first run that counts for nothing
std::string base_name(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string id_of(std::size_t admitted)
{
    return fmt::format("advise/{}", admitted);
}

// An allocator that the program brings along needs no preload, which would put it under every other program of the
// tree as well: its settings reach it by the environment alone, as they are advised.
void put_setting(const Candidates& candidates, std::size_t admitted, model::Case& one)
{
    const model::AllocatorSpec& spec = candidates.spec(admitted);
    if (!candidates.comes_along(admitted)) {
        one.allocator = spec;
        return;
    }
    model::Variables& environment = one.command()->environment;
    environment.insert(environment.end(), spec.environment.begin(), spec.environment.end());
}

// The program as it is, and once under each setting.
model::Plan plan_over(const AdviceQuestion& question, const Candidates& candidates)
{
    model::Plan plan = question.plan;
    plan.settings.repetitions = UINT32_MAX;
    plan.settings.warmup = 0;
    model::Case as_it_is = plan.cases.front();
    as_it_is.command()->end = question.end;
    as_it_is.command()->output = model::output_checksum;
    plan.cases.assign(1, as_it_is);
    plan.cases.front().id = as_it_is_id;
    for (std::size_t i = 0; i < candidates.admitted().size(); ++i) {
        model::Case one = as_it_is;
        one.id = id_of(i);
        put_setting(candidates, i, one);
        plan.cases.push_back(std::move(one));
    }
    return plan;
}

std::vector<double> values_of(const model::CaseReport& report, const std::string& name)
{
    std::vector<double> values;
    if (const model::Metric* metric = model::find_metric(report, name)) {
        for (const auto& value : metric->values) {
            if (value) {
                values.push_back(*value);
            }
        }
    }
    return values;
}

std::string word_of(schedule::AdviceDrop drop)
{
    switch (drop) {
    case schedule::AdviceDrop::slower:
        return "slower";
    case schedule::AdviceDrop::no_gain:
        return "no_gain";
    case schedule::AdviceDrop::unconfirmed:
        return "unconfirmed";
    case schedule::AdviceDrop::failed:
        return "failed";
    case schedule::AdviceDrop::outrun:
    case schedule::AdviceDrop::none:
        break;
    }
    return "outrun";
}

class Advising {
  public:
    Advising(const AdviceQuestion& question, const GlobalOptions& global, const sys::StopSignals& signals)
        : question_{question}, global_{global}, signals_{signals}, machine_{this_machine()},
          commands_{clock_, signals, recorder_library()}, replays_{question.end.idle, signals},
          executor_{runs_, question.at != WantedAt::peak, [this](const std::string& id) { note_run(id); },
                    [this] { return patience_with_a_run(); }}
    {
        report_.tool = model::this_tool();
        report_.machine = machine_;
        report_.taken = sys::utc_now();
        const model::CommandSpec& command = *question.plan.cases.front().command();
        report_.command = command.run;
        report_.is_script = command.shell;
        report_.wanted_at = question.at == WantedAt::peak ? "peak" : question.at == WantedAt::end ? "end" : "idle";
        report_.idle_seconds = sys::seconds_of(question.end.idle);
        report_.end_when = question.end.sign == model::EndSign::exit ? "" : model::to_text(question.end);
        report_.keep = question.keep;
        report_.at_most = question.at_most;
        double load = 0;
        report_.load = ::getloadavg(&load, 1) == 1 ? load : 0;
        began_ = runs_.clock().now();
        commands_
            .ask_no_more();  // the recorder is a preload too: what it has seen of the program another one will serve
    }

    base::Expected<AdviceReport> run()
    {
        if (!question_.resume.empty()) {
            MEMSWEEP_TRY(
                runs_.open(question_.resume, advice_identity(question_, machine_), question_.plan.settings.timeout));
            note(fmt::format("{} of {} to go on with", measure::counted(runs_.found(), "run"), question_.resume));
        }
        note("looking at the program as it is");
        MEMSWEEP_TRY(look());
        const std::uint64_t least = static_cast<std::uint64_t>(measure::LeastGain{}.of(memory_));
        if (signals_.arrived()) {
            report_.is_interrupted = true;
            nothing("It was interrupted before anything was tried.");
        } else if (too_short_) {
            nothing(fmt::format("It ends before anybody can look at it, and has no more than {} at any time.",
                                base::format_size(*too_short_)));
        } else if (report_.program.origin == MallocOrigin::own) {
            nothing("It brings its own malloc along: a preload is inert, and the C library's settings are for "
                    "another one.");
        } else if (memory_ > 0 && report_.program.bound_bytes < least) {
            nothing(fmt::format("No setting can return more than {} of {}: that is all that no file backs.",
                                base::format_size(report_.program.bound_bytes),
                                base::format_size(static_cast<std::uint64_t>(memory_))));
        } else if (!ended_while_.empty()) {
            budget_ended(fmt::format("The budget ended while {}; a larger --budget decides.", ended_while_), report_);
        } else if (report_.program.origin == MallocOrigin::unseen) {
            nothing(fmt::format("Its malloc cannot be seen or replaced: {}.", report_.program.unrecorded));
        } else {
            search();
        }
        report_.seconds = sys::seconds_of(runs_.clock().now() - began_);
        return std::move(report_);
    }

  private:
    void note(const std::string& what) const
    {
        if (!global_.quiet) {
            print_note("advise: " + what);
        }
    }

    void note_run(const std::string& id)
    {
        if (!global_.verbose || candidates_ == nullptr) {
            return;
        }
        for (std::size_t i = 0; i < candidates_->admitted().size(); ++i) {
            if (id_of(i) == id) {
                note(candidates_->tries()[candidates_->admitted()[i]].settings.text);
            }
        }
    }

    void nothing(std::string why) { change_nothing(std::move(why), report_); }

    [[nodiscard]] nanoseconds left() const
    {
        return question_.budget ? std::max(*question_.budget - (runs_.clock().now() - began_), nanoseconds{0})
                                : nanoseconds::max();
    }

    [[nodiscard]] bool is_out_of_time() const { return left() == nanoseconds{0}; }

    [[nodiscard]] nanoseconds left_for(double share) const
    {
        constexpr nanoseconds forever = std::chrono::hours{24};
        return question_.budget
                   ? nanoseconds{static_cast<nanoseconds::rep>(static_cast<double>(left().count()) * share)}
                   : forever;
    }

    // Of a run that ends with this share of what is left.
    [[nodiscard]] engine::RunLimits limits(double share = 1) const
    {
        constexpr nanoseconds least = std::chrono::milliseconds{1};
        const nanoseconds timeout = question_.plan.settings.timeout;
        return {.timeout = std::clamp(left_for(share), least, std::max(timeout, least))};
    }

    // A run that began in time may end a little later, but one that hangs ends with the budget.
    [[nodiscard]] nanoseconds patience_with_a_run() const
    {
        constexpr int much_longer = 3;
        return std::max(left(), much_longer * usual_run_);
    }

    // Gone before anybody could look at it, as a program is that does next to nothing.
    static bool is_too_short(const engine::Attempt& attempt)
    {
        constexpr std::int64_t short_ns = 20'000'000;
        constexpr std::uint64_t small = std::uint64_t{8} << 20U;
        const auto* const measured = std::get_if<engine::CommandRecord>(&attempt.measured);
        return attempt.ending == engine::Ending::broken && measured != nullptr &&
               measured->at_end.working_set_bytes == 0 && measured->wall_ns > 0 && measured->wall_ns < short_ns &&
               measured->peak_working_set_bytes < small;
    }

    // For the replays; says whose malloc serves it, too.
    base::Expected<trace::CountedTree> record(const engine::CompiledCase& compiled)
    {
        note("runs of it are dear: it is recorded, and replayed under each setting");
        constexpr double share = 0.75;  // the rest is for replays, and for the best of them
        return replays_.record(commands_, compiled, limits(share), left_for(share));
    }

    // Whose malloc, which user, how many threads, how much memory: two runs.
    base::Expected<void> look()
    {
        engine::CompiledCase compiled{.work = *question_.plan.cases.front().command()};
        compiled.command().end = question_.end;
        compiled.command().output = model::output_checksum;
        report_.real_runs = looking_runs;
        const engine::Attempt first =
            executor_.run(compiled, {.timeout = question_.plan.settings.timeout}, [](int /*pid*/) {});
        if (first.ending == engine::Ending::interrupted) {
            return {};
        }
        if (first.ending == engine::Ending::timed_out && is_out_of_time()) {
            ended_while_ = "it ran as it is for the first time";
            report_.program.unrecorded = "the budget ended before";
            report_.program.origin = MallocOrigin::unseen;
            report_.real_runs = 1;
            return {};
        }
        if (is_too_short(first)) {
            report_.program.origin = MallocOrigin::unseen;
            report_.program.unrecorded = "it ended too soon";
            too_short_ = first.peak_working_set_bytes();
            return {};
        }
        if (first.ending != engine::Ending::finished) {
            return base::fail(base::ErrorCode::os, first.reason, base_name(report_.command.front()));
        }
        usual_run_ = nanoseconds{first.command().wall_ns};
        const engine::Moment& moment = executor_.moment();
        const double peak = static_cast<double>(first.peak_working_set_bytes());
        const auto at_moment = static_cast<double>(moment.working_set_bytes);
        memory_ = question_.at == WantedAt::peak ? peak : at_moment;
        const double files =
            at_moment - static_cast<double>(std::min(moment.anonymous_bytes, moment.working_set_bytes));
        reporters::AdvisedProgram& program = report_.program;
        program.bound_bytes = static_cast<std::uint64_t>(std::max(memory_ - files, 0.0));
        program.heap_share = memory_ > 0 ? static_cast<double>(program.bound_bytes) / memory_ : 0;
        program.changes_user = moment.changes_user;
        program.threads = moment.threads;
        way_ = schedule::way_of({.run = nanoseconds{first.command().wall_ns},
                                 .rest = question_.end.idle,
                                 .settings = model::allocator_choices().size(),
                                 .budget = question_.budget});
        if (way_ == schedule::AdviceWay::replay) {  // what is replayed is recorded anew
            if (const auto recorded = record(compiled); recorded || signals_.arrived()) {
                take_origin(recorded, program);
            } else {
                way_ = schedule::AdviceWay::race;
                report_.warnings.push_back(fmt::format("It could not be recorded, so that nothing is predicted: {}.",
                                                       reporters::inert_text(recorded.error().message)));
            }
        }
        if (way_ == schedule::AdviceWay::race) {
            runs_.take_origin(program, [&](reporters::AdvisedProgram& unknown) {
                const trace::CountedTree& seen = replays_.seen();  // of a recording that came to nothing
                const bool is_whole = seen.served.empty();
                take_origin(is_whole ? commands_.count(compiled, limits()) : base::Expected<trace::CountedTree>{seen},
                            unknown);
                return is_whole;
            });
        }
        if (is_out_of_time()) {
            ended_while_ = "it was looked at as it is";
        }
        if (question_.at == WantedAt::end && question_.end.sign == model::EndSign::exit && peak > 4 * memory_) {
            report_.warnings.push_back(fmt::format("{} are resident when it exits, of {} before: if it frees on its "
                                                   "way out, or other processes do its work, "
                                                   "say when that is done (--end-when), or ask for rss@peak.",
                                                   base::format_size(moment.working_set_bytes),
                                                   base::format_size(first.peak_working_set_bytes())));
        }
        return {};
    }

    void search()
    {
        Candidates candidates{question_, report_.program, static_cast<std::uint64_t>(memory_)};
        candidates_ = &candidates;
        if (way_ == schedule::AdviceWay::replay) {
            predict(candidates);
        }
        report_.tried = candidates.tries();
        const model::Plan plan = plan_over(question_, candidates);
        std::vector<bool> keeps{true};
        for (const std::size_t place : candidates.admitted()) {
            keeps.push_back(candidates.tries()[place].settings.keeps_allocator);
        }
        schedule::AdviceSearch search{std::move(keeps), terms(), runs_.clock()};
        model::RunReport runs = new_report(machine_, global_.argv, {});
        note(way_ == schedule::AdviceWay::race ? fmt::format("trying {} settings on it", candidates.admitted().size())
                                               : "trying those settings on it that are predicted to need least");
        engine::Runner runner{plan, search, executor_, executor_, runs_.clock(), capabilities(machine_), {}, runs};
        runner.run();
        engine::judge_cases({}, runs);
        candidates_ = nullptr;
        report_.is_interrupted = runner.interrupted();
        take_outcome(candidates, runs, search.outcome(runs));
    }

    [[nodiscard]] double resident(const engine::ReplayResidence& replayed) const
    {
        return static_cast<double>(question_.at == WantedAt::peak  ? replayed.peak
                                   : question_.at == WantedAt::end ? replayed.end
                                                                   : replayed.idle);
    }

    // What the replay of each setting holds beyond that of the program as it is, on top of what the program really had.
    void predict(Candidates& candidates)
    {
        model::AllocatorSpec as_it_is{
            .name = report_.program.allocator, .library = {}, .environment = allocator_variables_of(::getpid())};
        const auto library = sys::find_allocator_library(as_it_is.name);
        const nanoseconds end = end_of_replays();
        const auto base = library.and_then([&](const std::string& path) -> base::Expected<engine::ReplayResidence> {
            as_it_is.library = path;
            MEMSWEEP_TRY(replays_.compile(patience(end)));
            return replays_.on(as_it_is, patience(end));
        });
        if (!base) {
            report_.warnings.push_back(fmt::format("Nothing is predicted, and settings are tried in their usual order: "
                                                   "{}.",
                                                   reporters::inert_text(base.error().message)));
            raced_ = SIZE_MAX;  // nothing says which are worth a run
            return;
        }
        report_.program.recorded_share = share_of_recording(*base);
        if (constexpr double little = 0.5; report_.program.recorded_share.value_or(1) < little) {
            report_.warnings.push_back(
                fmt::format("A replay of what was recorded holds {:.0f} % of what no file backs: predictions tell "
                            "little here.",
                            *report_.program.recorded_share * 100));
        }
        for (std::size_t i = 0; i < candidates.admitted().size() && runs_.clock().now() < end && !signals_.arrived();
             ++i) {
            if (const auto replayed = replays_.on(candidates.spec(i), patience(end))) {
                candidates.take_prediction(i, std::max(memory_ + resident(*replayed) - resident(*base), 0.0));
            }
        }
        report_.replays = replays_.replays();
        candidates.put_best_first();
        raced_ = worth_a_run(candidates.tries());
    }

    // Of those that are predicted to gain something: real runs that are not made here become pairs of the best. The
    // two that are predicted to need least run anyway: a prediction may be off.
    [[nodiscard]] std::size_t worth_a_run(const std::vector<AdviceTry>& tries) const
    {
        constexpr std::size_t least_raced = 2;
        const double most = memory_ - measure::LeastGain{}.of(memory_);
        const auto gaining = static_cast<std::size_t>(std::ranges::count_if(
            tries, [most](const AdviceTry& one) { return one.predicted.value_or(most + 1) <= most; }));
        return std::clamp(gaining, least_raced, schedule::raced_beside_replays);
    }

    [[nodiscard]] std::optional<double> share_of_recording(const engine::ReplayResidence& base) const
    {
        const auto bound = static_cast<double>(report_.program.bound_bytes);
        const auto before = static_cast<double>(base.end - std::min(base.heap, base.end));
        return bound > 0 ? std::optional{std::clamp((resident(base) - before) / bound, 0.0, 1.0)} : std::nullopt;
    }

    // For one replay that begins now.
    [[nodiscard]] nanoseconds patience(nanoseconds end) const
    {
        constexpr std::chrono::minutes most{10};
        constexpr std::chrono::milliseconds least{1};
        return std::clamp<nanoseconds>(end - runs_.clock().now(), least, most);
    }

    // Half of what is left of the budget is for real runs.
    [[nodiscard]] nanoseconds end_of_replays() const { return runs_.clock().now() + left_for(0.5); }

    [[nodiscard]] schedule::AdviceTerms terms() const
    {
        const bool replays = way_ == schedule::AdviceWay::replay;
        const std::uint32_t usual_runs = replays ? schedule::runs_beside_replays : usual_most_runs;
        schedule::AdviceTerms terms{.memory =
                                        std::string{question_.at == WantedAt::peak ? model::metrics::working_set_peak
                                                                                   : model::metrics::working_set_end},
                                    .time = question_.keep,
                                    .at_most = question_.at_most,
                                    .least = {},
                                    .budget = {},
                                    .usual_run = usual_run_,
                                    .most_runs = question_.most_runs.value_or(usual_runs) - looking_runs,
                                    .most_raced = replays ? raced_ : SIZE_MAX,
                                    .share_of_race = replays ? 0.6 : 0.5,
                                    .seed = question_.seed};
        if (question_.budget) {
            terms.budget = left();
        }
        return terms;
    }

    void take_outcome(const Candidates& candidates, const model::RunReport& runs,
                      const schedule::AdviceOutcome& outcome)
    {
        report_.default_memory = values_of(runs.cases.front(), terms().memory);
        report_.default_time = values_of(runs.cases.front(), question_.keep);
        if (report_.default_memory.empty() && way_ == schedule::AdviceWay::replay) {
            report_.default_memory.push_back(memory_);  // as it was looked at
        }
        correct_predictions();
        report_.real_runs = outcome.runs + looking_runs + executor_.repeats();
        report_.gain = outcome.gain;
        report_.price = outcome.price;
        for (std::size_t i = 0; i < candidates.admitted().size(); ++i) {
            const std::size_t place = candidates.admitted()[i];
            const model::CaseReport& one = runs.cases[i + 1];
            AdviceTry& tried = report_.tried[place];
            tried.stage = outcome.options[i + 1].stage;
            tried.memory = reporters::median_of(values_of(one, terms().memory));
            tried.time = reporters::median_of(values_of(one, question_.keep));
            tried.runs = one.repetitions;
            if (outcome.best == i + 1) {
                report_.best = place;
                continue;
            }
            take_drop(executor_.fault_of(one.id), outcome.options[i + 1], one, tried);
        }
        judge_advice({.question = question_,
                      .outcome = outcome,
                      .way = way_,
                      .memory = memory_,
                      .prints_otherwise = executor_.prints_otherwise()},
                     report_);
    }

    // They were made on top of one run as it is.
    void correct_predictions()
    {
        const double correction = reporters::median_of(report_.default_memory).value_or(memory_) - memory_;
        for (AdviceTry& one : report_.tried) {
            if (one.predicted) {
                one.predicted = std::max(*one.predicted + correction, 0.0);
            }
        }
    }

    static void take_drop(AdviceFault fault, const schedule::AdviceOption& option, const model::CaseReport& one,
                          AdviceTry& tried)
    {
        const bool has_failed = option.drop == schedule::AdviceDrop::failed;
        if (option.stage == measure::AdviceStage::untried) {
            tried.dropped = tried.predicted ? "outrun" : "not_reached";
            tried.why = tried.predicted ? "" : advice_not_reached_in_time;
        } else if (has_failed) {
            tried.dropped = fault == AdviceFault::inert ? "inert" : fault == AdviceFault::unsafe ? "unsafe" : "failed";
            tried.why = one.reason;
        } else {
            tried.dropped = word_of(option.drop);
        }
    }

    const AdviceQuestion& question_;
    const GlobalOptions& global_;
    const sys::StopSignals& signals_;
    sys::SystemClock clock_;
    model::Machine machine_;
    engine::CommandExecutor commands_;
    RememberedRuns runs_{commands_};
    AdviceReplays replays_;
    AdviceExecutor executor_;
    AdviceReport report_;
    nanoseconds began_{};
    schedule::AdviceWay way_{};
    std::size_t raced_{schedule::raced_beside_replays};  // of those that were replayed
    double memory_{};                                    // as it is
    nanoseconds usual_run_{};                            // how long it runs as it is
    std::string ended_while_;                            // what the budget has ended before anything could be tried
    std::optional<std::uint64_t> too_short_;             // most of its memory, of a program that is gone at once
    const Candidates* candidates_{};
};

}  // namespace

base::Expected<AdviceReport> advise_on(const AdviceQuestion& question, const GlobalOptions& global,
                                       const sys::StopSignals& signals)
{
    return Advising{question, global, signals}.run();
}

}  // namespace memsweep::app
