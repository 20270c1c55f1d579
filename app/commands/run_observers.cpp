#include "app/commands/run_observers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

class PlainProgress final : public engine::Observer {
  public:
    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override
    {
        ++ended_;
        std::fprintf(stderr, "[%llu/%zu] %s: %s%s%s\n", static_cast<unsigned long long>(ended_), report.cases.size(),
                     ended.id.c_str(), name_of(ended.status).data(), ended.reason.empty() ? "" : ": ",
                     ended.reason.c_str());
    }

  private:
    std::uint64_t ended_{};
};

class StatusLine final : public engine::Observer {
  public:
    explicit StatusLine(const sys::Clock& clock) : clock_{clock} {}
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    ~StatusLine() override { clear(); }

    void run_started(const model::RunReport& /*report*/, std::uint64_t planned_repetitions) override
    {
        planned_ = planned_repetitions;
        began_ = clock_.now();
    }

    void repetition_started(const engine::RepetitionStart& start) override
    {
        const std::string kind = start.warmup ? "warm-up" : "repetition";
        draw(fmt::format("{}/{} ", done_, planned_), start.case_id,
             fmt::format(" {} {}{}", kind, start.repetition + 1, eta()));
    }

    void repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& outcome,
                          const model::RunReport& /*report*/) override
    {
        done_ += start.warmup ? 0 : 1;
        last_peak_ = fmt::format(", last peak {}",
                                 base::format_size(static_cast<double>(outcome.record.peak_working_set_bytes)));
    }

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

// Tells the person who waits how far the run is: on a terminal one status line on stderr, elsewhere one line per case.
// The line is drawn between repetitions only, never inside a timed phase. Returns nullptr for ProgressMode::none and
// ::json, which an EventLog on stderr serves.
std::unique_ptr<engine::Observer> make_progress(ProgressMode mode, const sys::Clock& clock)
{
    const char* term = std::getenv("TERM");
    const bool can_redraw = isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view{term} != "dumb");
    if (mode == ProgressMode::automatic) {
        mode = can_redraw ? ProgressMode::bar : ProgressMode::plain;
    }
    switch (mode) {
    case ProgressMode::bar:
        return std::make_unique<StatusLine>(clock);
    case ProgressMode::plain:
        return std::make_unique<PlainProgress>();
    case ProgressMode::automatic:
    case ProgressMode::json:
    case ProgressMode::none:
        break;
    }
    return nullptr;
}

}  // namespace

base::Expected<std::unique_ptr<RunObservers>> RunObservers::make(const RunCommand& command, const GlobalOptions& global,
                                                                 const std::string& result_path, bool append_events,
                                                                 const sys::Clock& clock)
{
    std::unique_ptr<RunObservers> observers{new RunObservers{result_path, clock}};
    if (!command.events.empty()) {
        auto log = EventLog::open(command.events, append_events);
        if (!log) {
            return base::fail(log.error());
        }
        observers->add_log(*std::move(log));
    }
    if (global.progress == ProgressMode::json) {
        observers->add_log(EventLog::on_stderr());
    }
    if (!global.quiet) {
        observers->progress_ = make_progress(global.progress, clock);
    }
    if (observers->progress_) {
        observers->fan_out_.add(*observers->progress_);
    }
    return observers;
}

void RunObservers::add_log(std::unique_ptr<EventLog> log)
{
    fan_out_.add(*log);
    logs_.push_back(std::move(log));
}

std::optional<std::string> RunObservers::finish(const model::RunReport& report)
{
    std::optional<std::string> saved = result_.finish(report);
    for (const auto& log : logs_) {
        log->finish(report);
    }
    return saved;
}

}  // namespace memsweep::app
