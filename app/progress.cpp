#include "app/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/display_text.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::app {
namespace {

int stderr_width()
{
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

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

    // The name of the case gives way: what is left to do is worth more than its middle.
    // Where it is narrow the name of the case gives way first, then the peak: what is left to do is asked for most.
    void draw(const std::string& before, std::string_view case_id, std::string after) const
    {
        constexpr int shortest_name = 12;
        const int width = std::max(stderr_width() - 1, 20);
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

}  // namespace

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

}  // namespace memsweep::app
