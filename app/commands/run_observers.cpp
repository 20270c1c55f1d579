#include "app/commands/run_observers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "app/commands/result_journal.hpp"
#include "app/commands/results.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/model/case_index.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/json/events.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

class PlainProgress final : public engine::Observer {
  public:
    PlainProgress(Announcement announcement, const sys::Clock& clock)
        : announcement_{std::move(announcement)}, clock_{clock}
    {
    }

    void run_started(const model::RunReport& report, const engine::PlannedRuns& planned) override
    {
        planned_ = planned;
        began_ = last_line_ = clock_.now();
        if (planned.cases == 0) {
            return;
        }
        std::string line = fmt::format(
            "{}: {}, {}{}", base::printable(report.run.scenario_name), measure::counted(planned.cases, "case"),
            announcement_.until_sure ? "at most " : "", measure::counted(planned.repetitions, "repetition"));
        line += planned.warmups > 0 ? fmt::format(" after {}", measure::counted(planned.warmups, "warm-up")) : "";
        line += announcement_.until_sure ? ", until the verdict is sure" : "";
        line += announcement_.time.empty() ? "" : ", " + announcement_.time;
        std::fprintf(stderr, "%s\n", line.c_str());
    }

    void repetition_ended(const engine::RepetitionStart& /*start*/, const engine::Attempt& /*attempt*/,
                          const model::RunReport& /*report*/) override
    {
        constexpr std::uint64_t lines = 10;
        ++done_;
        const std::uint64_t all = planned_.repetitions + planned_.warmups;
        const std::uint64_t passed = all > 0 ? std::min(done_, all) * lines / all : lines;
        const bool is_due = passed > passed_ || done_ == planned_.cases;  // each was run once: how long is known
        passed_ = passed;
        if (is_due && passed < lines && clock_.now() - last_line_ >= apart) {
            say_how_far(all);
        }
    }

    void repetition_discarded(const engine::RepetitionDiscard& discard) override
    {
        --done_;
        ended_ -= discard.case_goes_on ? 1U : 0U;
    }

    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override
    {
        ++ended_;
        last_line_ = clock_.now();
        std::fprintf(stderr, "[%llu/%zu] %s: %s%s%s\n", static_cast<unsigned long long>(ended_), report.cases.size(),
                     base::printable(ended.id).c_str(), name_of(ended.status).data(), ended.reason.empty() ? "" : ": ",
                     base::printable(ended.reason).c_str());
    }

  private:
    static constexpr std::chrono::seconds apart{1};  // who waits less long needs no line

    void say_how_far(std::uint64_t all)
    {
        last_line_ = clock_.now();
        const double elapsed = sys::seconds_of(last_line_ - began_);
        const std::string_view bound = announcement_.until_sure ? "at most" : "about";
        const std::string line =
            fmt::format("{} of {}{} runs in {}, {} {} to go", done_, announcement_.until_sure ? "at most " : "", all,
                        base::format_duration(elapsed), bound,
                        base::format_duration(elapsed / static_cast<double>(done_) * static_cast<double>(all - done_)));
        std::fprintf(stderr, "%s\n", line.c_str());
    }

    Announcement announcement_;
    const sys::Clock& clock_;
    engine::PlannedRuns planned_;
    std::chrono::nanoseconds began_{};
    std::chrono::nanoseconds last_line_{};
    std::uint64_t done_{};    // repetitions and warm-ups
    std::uint64_t passed_{};  // tenths of them
    std::uint64_t ended_{};   // cases
};

class StatusLine final : public engine::Observer {
  public:
    explicit StatusLine(const sys::Clock& clock) : clock_{clock} {}
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    ~StatusLine() override { clear(); }

    void run_started(const model::RunReport& /*report*/, const engine::PlannedRuns& planned) override
    {
        planned_ = planned.repetitions;
        began_ = clock_.now();
    }

    void repetition_started(const engine::RepetitionStart& start) override
    {
        const std::string kind = start.warmup ? "warm-up" : "repetition";
        draw(fmt::format("{}/{} ", done_, planned_), start.case_id,
             fmt::format(" {} {}{}", kind, start.repetition + 1, eta()));
    }

    void repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                          const model::RunReport& /*report*/) override
    {
        done_ += start.warmup ? 0 : 1;
        last_peak_ =
            fmt::format(", last peak {}", base::format_size(static_cast<double>(attempt.peak_working_set_bytes())));
    }

    void repetition_discarded(const engine::RepetitionDiscard& /*discard*/) override { --done_; }

    void run_ended(const model::RunReport& /*report*/) override { clear(); }

  private:
    [[nodiscard]] std::string eta() const
    {
        if (done_ == 0) {
            return "";
        }
        const double elapsed = std::chrono::duration<double>(clock_.now() - began_).count();
        const double left =
            elapsed / static_cast<double>(done_) * static_cast<double>(planned_ - std::min(planned_, done_));
        return fmt::format(", ETA {}", base::format_duration(left));
    }

    // Where it is narrow the name of the case gives way first, then the peak: what is left to do is asked for most.
    void draw(const std::string& before, std::string_view case_id, std::string after) const
    {
        constexpr int shortest_name = 12;
        const int width = std::max(terminal_width(STDERR_FILENO) - 1, 20);
        const auto room = [&](std::string_view peak) {
            return width - static_cast<int>(before.size() + after.size() + peak.size());
        };
        after += room(last_peak_) >= shortest_name ? last_peak_ : "";
        const std::string name = reporters::elided(reporters::inert_text(case_id), std::max(room(""), shortest_name));
        std::fprintf(stderr, "\r\033[K%s", reporters::elided(before + name + after, width).c_str());
    }

    static void clear() { std::fputs("\r\033[K", stderr); }

    const sys::Clock& clock_;
    std::uint64_t planned_{};
    std::uint64_t done_{};
    std::chrono::nanoseconds began_{};
    std::string last_peak_;
};

// Tells the person who waits how far the run is: on a terminal one status line on stderr, elsewhere a line at the
// start, one for each tenth of a run that takes seconds, and one per case. The line is drawn between repetitions only,
// never inside a timed phase. Returns nullptr for ProgressMode::none and
// ::json, which an EventLog on stderr serves.
std::unique_ptr<engine::Observer> make_progress(ProgressMode mode, const Announcement& announcement,
                                                const sys::Clock& clock)
{
    const char* term = std::getenv("TERM");
    const bool can_redraw = isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view{term} != "dumb");
    if (mode == ProgressMode::bar || (mode == ProgressMode::automatic && can_redraw)) {
        return std::make_unique<StatusLine>(clock);
    }
    if (mode == ProgressMode::plain || mode == ProgressMode::automatic) {
        return std::make_unique<PlainProgress>(announcement, clock);
    }
    return nullptr;
}

}  // namespace

class RunObservers::ResultFile final : public engine::Observer {
  public:
    ResultFile(std::string path, bool names_itself, const sys::Clock& clock)
        : asked_path_{std::move(path)}, path_{asked_path_}, clock_{clock}, must_be_new_{names_itself}
    {
        const auto target = sys::find_output_target(path_);
        stream_ = path_ == "-" || (target && !target->replaceable());
        replaces_earlier_ = !stream_ && !names_itself && target && target->existing;
    }

    void run_started(const model::RunReport& report, const engine::PlannedRuns& /*planned*/) override
    {
        positions_.emplace(report.cases);
    }

    // What did not finish ends its case, which saves.
    void repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                          const model::RunReport& report) override
    {
        constexpr int largest_share = 50;
        if (stream_ || start.warmup || attempt.ending != engine::Ending::finished) {
            return;
        }
        const bool is_due = lacks_some_ || clock_.now() - last_write_ >= write_cost_ * largest_share;
        const auto position = positions_->position(std::string{start.case_id});
        if (is_due || !position || !append_to_journal(current_path(), report, report.cases[*position])) {
            static_cast<void>(save(report));
        }
    }

    // The next write is of the whole result: a journal's lines follow on what is in it.
    void repetition_discarded(const engine::RepetitionDiscard& /*discard*/) override { lacks_some_ = true; }

    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override
    {
        if (ended.status == model::Status::skipped) {
            return;  // nothing was measured that an earlier result should make room for
        }
        replaces_earlier_ = false;
        if (!stream_) {
            static_cast<void>(save(report));
        }
    }

    [[nodiscard]] std::optional<std::string> finish(const model::RunReport& report)
    {
        complained_ = false;
        replaces_earlier_ = replaces_earlier_ && report.run.interrupted;
        if (save(report)) {
            return current_path();
        }
        save_in_refuge(report);
        return std::nullopt;
    }

  private:
    [[nodiscard]] std::string current_path() const { return replaces_earlier_ ? partial_path(path_) : path_; }

    bool save(const model::RunReport& report)
    {
        const auto begin = clock_.now();
        const auto written = replaces_earlier_ ? write_result(report, partial_path(path_))
                             : must_be_new_    ? save_as_new(report)
                                               : write_result(report, path_);
        last_write_ = clock_.now();
        write_cost_ = last_write_ - begin;
        lacks_some_ = !written;
        if (!written) {
            if (!std::exchange(complained_, true)) {
                print_error(written.error());
            }
            return false;
        }
        remove_journal(current_path());
        if (replaces_earlier_) {
            partial_written_ = true;
        } else if (std::exchange(partial_written_, false)) {
            unlink(partial_path(path_).c_str());
            remove_journal(partial_path(path_));
        }
        return true;
    }

    // Saves the result under a name that no file has yet: NAME.json, NAME-2.json ... Results that begin within one
    // second thus stay apart.
    base::Expected<void> save_as_new(const model::RunReport& report)
    {
        constexpr int most_names = 10'000;
        base::Expected<void> written;
        for (int number = 1; number < most_names; ++number) {
            path_ = number == 1 ? asked_path_
                                : fmt::format("{}-{}.json", asked_path_.substr(0, asked_path_.rfind(".json")), number);
            written = write_result(report, path_, sys::Existing::keep);
            if (written || access(path_.c_str(), F_OK) != 0) {
                break;
            }
        }
        must_be_new_ = !written;
        return written;
    }

    std::string asked_path_;
    std::string path_;
    const sys::Clock& clock_;
    std::optional<model::CaseIndex<>> positions_;
    bool must_be_new_{};       // a file at path_ is another run's
    bool stream_{};            // a pipe or a device: one document, written at the end
    bool replaces_earlier_{};  // an earlier result still lies at path_
    bool partial_written_{};
    bool lacks_some_{};  // the last write failed, and a journal's lines must follow on what the result has
    bool complained_{};
    std::chrono::nanoseconds last_write_{};
    std::chrono::nanoseconds write_cost_{};
};

class RunObservers::EventLog final : public engine::Observer {
  public:
    // Path "-" is stdout.
    [[nodiscard]] static base::Expected<std::unique_ptr<EventLog>> open(const std::string& path, bool append)
    {
        if (path == "-") {
            return std::make_unique<EventLog>(STDOUT_FILENO, "stdout");
        }
        auto file = sys::open_output(path, append ? sys::Start::at_its_end : sys::Start::anew);
        if (!file) {
            constexpr std::string_view said = "cannot write";
            const base::Error& problem = file.error();
            return base::fail(problem.code, fmt::format("{} events{}", said, problem.message.substr(said.size())),
                              path);
        }
        auto log = std::make_unique<EventLog>(file->get(), path);
        log->own_ = *std::move(file);
        return log;
    }

    EventLog(int file, std::string name) : file_{file}, name_{std::move(name)} {}

    [[nodiscard]] bool failed() const { return complained_; }

    void run_started(const model::RunReport& report, const engine::PlannedRuns& planned) override
    {
        run_id_ = report.run.id;
        write("run_start", {{"scenario", report.run.scenario_name},
                            {"cases", report.cases.size()},
                            {"repetitions", planned.repetitions}});
    }

    // The first measured worker of a case is its start; the later ones are repetition starts, so that whoever counts
    // cases counts right and whoever watches processes still learns every pid.
    void repetition_started(const engine::RepetitionStart& start) override
    {
        if (start.warmup) {
            return;
        }
        const bool first = started_cases_.emplace(start.case_id).second;
        write(first ? "case_start" : "repetition_start",
              {{"case", start.case_id}, {"pid", start.pid}, {"repetition", start.repetition}});
    }

    void repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                          const model::RunReport& /*report*/) override
    {
        if (start.warmup) {
            return;
        }
        const auto status = attempt.ending == engine::Ending::finished    ? model::Status::ok
                            : attempt.ending == engine::Ending::timed_out ? model::Status::timeout
                            : attempt.ending == engine::Ending::unmet     ? model::Status::skipped
                                                                          : model::Status::error;
        std::optional<double> wall_seconds;  // none when it did not finish
        if (status == model::Status::ok) {
            wall_seconds = static_cast<double>(attempt.wall_ns()) * 1e-9;
        }
        write("repetition", {{"case", start.case_id},
                             {"repetition", start.repetition},
                             {"pid", attempt.pid},
                             {"status", status},
                             {"wall_time", wall_seconds},
                             {"reason", reporters::json_text_or_null(attempt.reason)}});
    }

    void repetition_discarded(const engine::RepetitionDiscard& discard) override
    {
        write("repetition_discarded", {{"case", discard.case_id}, {"repetition", discard.repetition}});
    }

    void case_ended(const model::CaseReport& ended, const model::RunReport& /*report*/) override
    {
        write("case_end",
              {{"case", ended.id}, {"status", ended.status}, {"reason", reporters::json_text_or_null(ended.reason)}});
    }

    // Warnings, assertions and the end.
    void finish(const model::RunReport& report)
    {
        for (const model::Warning& warning : report.warnings) {
            write("warning", reporters::event_fields(warning));
        }
        for (const model::AssertionResult& assertion : report.assertions) {
            write("assertion", reporters::event_fields(assertion));
        }
        write("run_end", {{"exit_code", report.run.exit_code}});
    }

  private:
    void write(std::string_view type, const reporters::Json& fields)
    {
        if (complained_) {
            return;
        }
        const std::string line = reporters::event_line(type, {run_id_, sys::utc_now()}, fields);
        if (const int problem = sys::write_all(file_, line); problem != 0) {
            complained_ = true;
            print_error(base::os_error("cannot write events", problem, name_));
        }
    }

    int file_;
    sys::UniqueFd own_;  // what is closed at the end; empty for stdout and stderr
    std::string name_;
    std::string run_id_;
    std::set<std::string, std::less<>> started_cases_;
    bool complained_{};
};

RunObservers::RunObservers() = default;
RunObservers::~RunObservers() = default;

base::Expected<std::unique_ptr<RunObservers>> RunObservers::make(const std::string& result_path, bool names_itself,
                                                                 const std::string& events, bool append_events,
                                                                 const Announcement& announcement,
                                                                 const GlobalOptions& global, const sys::Clock& clock)
{
    std::unique_ptr<RunObservers> observers{new RunObservers};
    observers->result_ = std::make_unique<ResultFile>(result_path, names_itself, clock);
    observers->all_.push_back(observers->result_.get());
    if (!events.empty()) {
        observers->logs_.push_back(MEMSWEEP_TRY(EventLog::open(events, append_events)));
    }
    if (global.progress == ProgressMode::json) {
        observers->logs_.push_back(std::make_unique<EventLog>(STDERR_FILENO, "stderr"));
    }
    for (const auto& log : observers->logs_) {
        observers->all_.push_back(log.get());
    }
    if (!global.quiet) {
        observers->progress_ = make_progress(global.progress, announcement, clock);
    }
    if (observers->progress_) {
        observers->all_.push_back(observers->progress_.get());
    }
    return observers;
}

void RunObservers::run_started(const model::RunReport& report, const engine::PlannedRuns& planned)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->run_started(report, planned); });
}

void RunObservers::repetition_started(const engine::RepetitionStart& start)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->repetition_started(start); });
}

void RunObservers::repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                                    const model::RunReport& report)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->repetition_ended(start, attempt, report); });
}

void RunObservers::repetition_discarded(const engine::RepetitionDiscard& discard)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->repetition_discarded(discard); });
}

void RunObservers::case_ended(const model::CaseReport& ended, const model::RunReport& report)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->case_ended(ended, report); });
}

void RunObservers::run_ended(const model::RunReport& report)
{
    std::ranges::for_each(all_, [&](engine::Observer* one) { one->run_ended(report); });
}

std::optional<std::string> RunObservers::finish(const model::RunReport& report)
{
    std::optional<std::string> saved = result_->finish(report);
    for (const auto& log : logs_) {
        log->finish(report);
    }
    return saved;
}

bool RunObservers::events_failed() const
{
    return std::ranges::any_of(logs_, [](const auto& log) { return log->failed(); });
}

}  // namespace memsweep::app
