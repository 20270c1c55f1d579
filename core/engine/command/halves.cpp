#include "core/engine/command/halves.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine/repetition/text_field.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/process_tree.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds patience =
    std::chrono::seconds{14};  // for what takes milliseconds, or the end that was asked for
constexpr nanoseconds check_interval = std::chrono::milliseconds{50};
constexpr nanoseconds last_patience = std::chrono::seconds{1};  // for processes that have nothing left to do

// From a half. Its process's end says that nothing more will come.
constexpr std::string_view is_ready = "r";  // and the gate of its launch
constexpr std::string_view has_started = "s";
constexpr std::string_view is_over = "e";

// What a half has measured, in memory that both processes map.
struct Report {
    int pid{};
    Ending ending{Ending::broken};
    CommandUse use;
    std::array<char, 64> checksum{};
    std::uint64_t end_bytes{};  // of Moment
    std::array<char, 256> why_no_end{};
    std::array<char, 8192> reason{};
};

void write(const Attempt& attempt, Report& report)
{
    if (const auto* const measured = std::get_if<CommandRecord>(&attempt.measured)) {
        report.use = *measured;
        write_text(measured->checksum, report.checksum);
        report.end_bytes = measured->at_end.working_set_bytes;
        write_text(measured->at_end.why_none, report.why_no_end);
    }
    write_text(attempt.reason, report.reason);
    report.ending = attempt.ending;
}

Attempt read(const Report& report)
{
    Attempt attempt;
    attempt.ending = report.ending;
    attempt.reason = read_text(report.reason);
    attempt.pid = report.pid;
    auto& measured = attempt.measured.emplace<CommandRecord>();
    static_cast<CommandUse&>(measured) = report.use;
    measured.checksum = read_text(report.checksum);
    measured.at_end.working_set_bytes = report.end_bytes;
    measured.at_end.why_none = read_text(report.why_no_end);
    return attempt;
}

// The driver's side of one half.
class Supervised {
  public:
    [[nodiscard]] static base::Expected<Supervised> start(const Half& half, nanoseconds now)
    {
        auto ends = MEMSWEEP_TRY(sys::Channel::pair());
        auto region = MEMSWEEP_TRY(sys::SharedRegion::create(sizeof(Report), "memsweep-half"));
        auto* const report = ::new (region.data<Report>()) Report{};
        sys::Channel& theirs = ends.second;
        auto process = MEMSWEEP_TRY(sys::ChildProcess::copy([&] {
            const auto say = [&theirs](std::string_view word) { static_cast<void>(theirs.send(word)); };
            const auto ready = [&theirs](int gate) { static_cast<void>(theirs.send(is_ready, gate)); };
            const auto started = [&](int pid) {
                report->pid = pid;
                say(has_started);
            };
            write(half.measure(started, ready), *report);
            say(is_over);
        }));
        return Supervised{half, std::move(ends.first), std::move(region), std::move(process), now + patience};
    }

    [[nodiscard]] bool is_at_gate() const { return gate_.valid(); }
    [[nodiscard]] bool has_ended() const { return ended_; }
    [[nodiscard]] int fd() const { return ended_ ? -1 : channel_.fd(); }

    void let_begin(nanoseconds now)
    {
        sys::CommandLaunch::release(gate_.get());
        gate_.reset();
        deadline_ = now + half_->longest;
    }

    // What it has to say now, if anything. One that has not ended in time is lost.
    void listen(nanoseconds now)
    {
        std::array<char, 1> buffer{};
        auto message = channel_.receive(buffer, nanoseconds::zero());
        if (message && message->timed_out) {
            ended_ = now >= deadline_;
        } else if (!message || message->closed || message->bytes == is_over) {
            ended_ = true;
        } else if (message->bytes == is_ready) {
            gate_ = std::move(message->fd);
        } else if (message->bytes == has_started) {
            half_->started(region_.data<Report>()->pid);
        }
    }

    void pass_on(int signal, nanoseconds now)
    {
        ::kill(process_.pid(), signal);
        deadline_ = std::min(deadline_, now + patience);
    }

    [[nodiscard]] Attempt attempt()
    {
        static_cast<void>(process_.wait_for(last_patience));
        const sys::ExitStatus status = process_.kill_and_reap();
        Attempt attempt = read(*region_.data<Report>());
        if (!status.success()) {
            attempt.ending = Ending::broken;
            attempt.reason = "the process that supervised it was lost: " + status.describe();
        }
        return attempt;
    }

  private:
    Supervised(const Half& half, sys::Channel channel, sys::SharedRegion region, sys::ChildProcess process,
               nanoseconds deadline)
        : half_{&half}, channel_{std::move(channel)}, region_{std::move(region)}, process_{std::move(process)},
          deadline_{deadline}
    {
    }

    const Half* half_;
    sys::Channel channel_;
    sys::SharedRegion region_;
    sys::ChildProcess process_;
    sys::UniqueFd gate_;
    bool ended_{};
    nanoseconds deadline_;
};

void wait_for_words(const std::vector<std::optional<Supervised>>& all, const sys::StopSignals& signals)
{
    std::vector<pollfd> ready{{signals.fd(), POLLIN, 0}};
    for (const auto& one : all) {
        ready.push_back({one ? one->fd() : -1, POLLIN, 0});
    }
    const timespec timeout = sys::to_timespec(check_interval);
    ::ppoll(ready.data(), ready.size(), &timeout, nullptr);
}

template <typename Is>
bool each(const std::vector<std::optional<Supervised>>& all, const Is& is)
{
    return std::ranges::all_of(all, [&](const auto& one) { return !one || is(*one); });
}

void supervise(std::vector<std::optional<Supervised>>& all, const sys::Clock& clock, const sys::StopSignals& signals)
{
    bool held = true;
    while (!each(all, [](const Supervised& one) { return one.has_ended(); })) {
        if (held && each(all, [](const Supervised& one) { return one.is_at_gate() || one.has_ended(); })) {
            held = false;
            for (auto& one : all) {
                if (one && one->is_at_gate()) {
                    one->let_begin(clock.now());
                }
            }
        }
        wait_for_words(all, signals);
        const auto signal = signals.pending();
        const nanoseconds now = clock.now();
        for (auto& one : all) {
            if (!one || one->has_ended()) {
                continue;
            }
            if (signal) {
                one->pass_on(*signal, now);
            }
            one->listen(now);
        }
    }
}

}  // namespace

std::vector<Attempt> run_halves(std::span<const Half> halves, const sys::Clock& clock, const sys::StopSignals& signals)
{
    std::vector<Attempt> attempts(halves.size());
    std::vector<std::optional<Supervised>> all(halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i) {
        if (auto half = Supervised::start(halves[i], clock.now())) {
            all[i].emplace(*std::move(half));
        } else {
            attempts[i].reason = base::describe(half.error());
        }
    }
    supervise(all, clock, signals);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        if (all[i]) {
            attempts[i] = all[i]->attempt();
        }
    }
    static_cast<void>(sys::clear_descendants(last_patience));  // what a lost half left running
    return attempts;
}

}  // namespace memsweep::engine
