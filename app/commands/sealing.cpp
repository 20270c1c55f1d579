#include "app/commands/sealing.hpp"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include <fmt/format.h>

#include "app/commands/recording_folder.hpp"
#include "core/base/text.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::app {
namespace {

constexpr std::chrono::milliseconds shortest_pause{1};
constexpr std::chrono::milliseconds longest_pause{20};
constexpr std::size_t most_held = 64;  // descriptors

// "<process>.<number>.mst": the programs that a process runs are numbered from 0.
struct ImageName {
    std::string process;
    std::uint64_t number{};
};

std::optional<ImageName> image_name(const std::filesystem::path& path)
{
    const std::string name = path.stem().string();
    const std::size_t dot = name.rfind('.');
    const auto number = dot == std::string::npos ? std::nullopt : base::parse_number(name.substr(dot + 1));
    return number && path.extension() == trace::recording_ending
               ? std::optional{ImageName{name.substr(0, dot), *number}}
               : std::nullopt;
}

}  // namespace

SealingMeanwhile::SealingMeanwhile(std::string folder, GrowingTrace& trace)
    : folder_{std::move(folder)}, take_{trace.taker()}
{
    const sys::AllSignalsBlocked blocked;
    try {
        thread_ = std::jthread{[this](const std::stop_token& stop) { seal(stop); }};
    } catch (const std::system_error&) {
        static_cast<void>(thread_);  // what it would have done is left to the end
    }
}

trace::TraceProgress SealingMeanwhile::finish()
{
    if (thread_.joinable()) {
        constexpr sched_param none{};
        thread_.request_stop();
        ::pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &none);  // we wait for it: root may
        thread_.join();
    }
    held_.clear();
    return std::move(progress_);
}

void SealingMeanwhile::seal(const std::stop_token& stop)
{
    constexpr sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any woken;
    try {
        while (!stop.stop_requested()) {
            const auto next = find_recordings(stop).and_then([&] { return look(stop); });
            if (!next) {
                return;  // whoever writes at the end says why
            }
            woken.wait_until(lock, stop, std::min(*next, next_search_), [] { return false; });
        }
    } catch (const std::bad_alloc&) {
        return;
    }
}

// However many files there are, to look for them takes no more than a fiftieth of the time.
base::Expected<void> SealingMeanwhile::find_recordings(const std::stop_token& stop)
{
    constexpr int rest = 50;
    const Clock::time_point begin = Clock::now();
    if (begin < next_search_) {
        return {};
    }
    std::vector<std::pair<std::string, std::string>> following;
    for (const std::filesystem::path& path : entries_of(folder_).value_or(std::vector<std::filesystem::path>{})) {
        const auto name = image_name(path);
        if (!name || held_.contains(path.string()) || left_.contains(path.string())) {
            continue;
        }
        if (name->number == 0) {
            hold(path.string());
            continue;
        }
        const std::string before =
            path.parent_path() / fmt::format("{}.{}{}", name->process, name->number - 1, trace::recording_ending);
        if (held_.contains(before)) {
            following.emplace_back(before, path.string());
        }
    }
    const Clock::time_point end = Clock::now();
    const Clock::duration pause = held_.empty() ? shortest_pause : longest_pause;  // the program has just been started
    next_search_ = end + std::max(pause, rest * (end - begin));
    for (const auto& [before, path] : following) {
        MEMSWEEP_TRY(follow(before, path, stop));
    }
    return {};
}

base::Expected<void> SealingMeanwhile::follow(const std::string& before, const std::string& path,
                                              const std::stop_token& stop)
{
    const auto image = image_at(before).value_or(std::nullopt);
    const auto next = image_at(path).value_or(std::nullopt);
    if (!image || !next) {
        return {};  // its headers are being written
    }
    if (!trace::is_over(*image, *next)) {
        left_.insert(path);
        return {};
    }
    if (MEMSWEEP_TRY(trace::put_followed(*image, *next, take_, progress_, stop))) {
        held_.erase(before);
        left_.insert(before);
        hold(path);
        if (!held_.contains(path)) {
            left_.insert(path);
        }
    }
    return {};
}

void SealingMeanwhile::hold(const std::string& path)
{
    if (held_.size() >= most_held) {
        std::erase_if(held_, [this](const auto& held) {
            return !is_running(held.second.recording.facts()) && left_.insert(held.first).second;
        });
    }
    if (held_.size() >= most_held) {
        return;
    }
    auto file = trace::open_for_updating(path);
    if (!file) {
        return;
    }
    auto recording = trace::LiveRecording::open(*std::move(file), path);
    if (!recording) {
        left_.insert(path);
    } else if (*recording) {
        held_.emplace(path, Held{.recording = **std::move(recording)});
    }
}

base::Expected<SealingMeanwhile::Clock::time_point> SealingMeanwhile::look(const std::stop_token& stop)
{
    const Clock::time_point now = Clock::now();
    Clock::time_point next = Clock::time_point::max();
    for (auto& [path, held] : held_) {
        if (held.due <= now) {
            const bool has_found = MEMSWEEP_TRY(held.recording.look(take_, progress_, stop));
            held.pause =
                has_found ? shortest_pause : std::clamp<Clock::duration>(2 * held.pause, shortest_pause, longest_pause);
            held.due = Clock::now() + held.pause;
        }
        next = std::min(next, held.due);
    }
    return next;
}

}  // namespace memsweep::app
