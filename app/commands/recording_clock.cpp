#include "app/commands/recording_clock.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/commands/recording_folder.hpp"
#include "core/base/text.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/format/ticks.hpp"

namespace memsweep::app {
namespace {

constexpr std::chrono::milliseconds tick{trace::tick_milliseconds};

// Of a file "<process>.<number>.mst" that of the program that the process went on to.
std::string next_image(const std::string& folder, std::string_view name)
{
    const std::string_view stem = name.substr(0, name.size() - std::string_view{trace::recording_ending}.size());
    const std::size_t dot = stem.rfind('.');
    const auto number = base::parse_number(stem.substr(dot + 1));
    return fmt::format("{}/{}.{}{}", folder, stem.substr(0, dot), number.value_or(0) + 1, trace::recording_ending);
}

void note_end(const std::string& path, std::uint64_t ticks)
{
    constexpr off_t place = trace::facts_offset + offsetof(trace::ImageFacts, seen_end_ticks);
    const sys::UniqueFd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
    static_cast<void>(::pwrite(file.get(), &ticks, sizeof ticks, place));
}

}  // namespace

RecordingClock::RecordingClock(const std::string& folder)
    : folder_{folder}, watch_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)}
{
    show_clock();
    if (watch_.valid() && ::inotify_add_watch(watch_.get(), folder.c_str(), IN_CLOSE_WRITE) < 0) {
        watch_.reset();
    }
    const sys::AllSignalsBlocked blocked;
    try {
        thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
    } catch (const std::system_error&) {
        watch_.reset();
        ::unlink(clock_in(folder).c_str());
    }
}

void RecordingClock::show_clock()
{
    const std::string path = clock_in(folder_);
    const sys::UniqueFd file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (!file.valid()) {
        return;
    }
    void* const at = ::posix_fallocate(file.get(), 0, trace::clock_bytes) == 0
                         ? ::mmap(nullptr, trace::clock_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)
                         : MAP_FAILED;
    if (at == MAP_FAILED) {
        ::unlink(path.c_str());
        return;
    }
    shown_ = static_cast<std::uint32_t*>(at);
}

void RecordingClock::finish()
{
    constexpr std::chrono::milliseconds longest_wait{20};
    constexpr std::chrono::milliseconds pause{1};
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
    const Clock::time_point until = Clock::now() + longest_wait;
    look_for_ends();
    while (!closed_.empty() && Clock::now() < until) {
        std::this_thread::sleep_for(pause);
        look_for_ends();
    }
    watch_.reset();  // what memsweep closes from here on says nothing
    closed_.clear();
    if (shown_ != nullptr) {
        ::munmap(std::exchange(shown_, nullptr), trace::clock_bytes);
    }
}

void RecordingClock::work(const std::stop_token& stop)
{
    Clock::time_point next = Clock::now() + tick;
    while (!stop.stop_requested()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
        pollfd waiting{.fd = watch_.get(), .events = POLLIN, .revents = 0};
        static_cast<void>(::poll(&waiting, 1, static_cast<int>(std::max(left, std::chrono::milliseconds{0}).count())));
        if (Clock::now() >= next) {
            if (shown_ != nullptr) {
                std::atomic_ref{*shown_}.fetch_add(1, std::memory_order_relaxed);
            }
            next = Clock::now() + tick;
        }
        look_for_ends();
    }
}

// Without memory no more ends are known; the clock goes on.
void RecordingClock::look_for_ends()
{
    try {
        take_closed();
        settle_closed();
    } catch (const std::bad_alloc&) {
        watch_.reset();
        closed_.clear();
    }
}

void RecordingClock::take_closed()
{
    alignas(inotify_event) std::array<char, 16384> buffer;
    while (watch_.valid()) {
        const ssize_t got = ::read(watch_.get(), buffer.data(), buffer.size());
        if (got <= 0) {
            return;
        }
        const std::uint64_t now = trace::TickClock{}.ticks();
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            const auto* const event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            const std::string_view name = event->len != 0 ? std::string_view{event->name} : std::string_view{};
            if (name.ends_with(trace::recording_ending)) {
                const Clock::time_point since = Clock::now();
                closed_.insert_or_assign(std::string{name}, Closed{now, since, since});
            }
            at += sizeof(inotify_event) + event->len;
        }
    }
}

// A process lets go of its file just before it counts as ended, or goes on in another program. memsweep itself closes
// files of processes that do neither.
bool RecordingClock::has_told(const std::string& name, const Closed& closed) const
{
    constexpr std::chrono::milliseconds longest_end{200};
    const bool is_old = Clock::now() - closed.since > longest_end;
    const std::string path = folder_ + "/" + name;
    const auto image = image_at(path);
    if (!image || !*image) {
        return is_old;
    }
    const trace::ImageFacts& facts = (*image)->facts;
    if (facts.seen_end_ticks != 0) {
        return true;
    }
    std::error_code problem;
    if (!is_running(facts) || (is_old && std::filesystem::exists(next_image(folder_, name), problem))) {
        note_end(path, closed.ticks);
        return true;
    }
    return is_old;
}

// Looks at each as often as it gets older by half, and at no more than a tick has time for.
void RecordingClock::settle_closed()
{
    const Clock::time_point begin = Clock::now();
    for (auto at = closed_.begin(); at != closed_.end() && Clock::now() - begin < tick / 2;) {
        Closed& closed = at->second;
        if (closed.due > begin) {
            ++at;
        } else if (has_told(at->first, closed)) {
            at = closed_.erase(at);
        } else {
            closed.due = begin + std::max<Clock::duration>((begin - closed.since) / 2, std::chrono::milliseconds{1});
            ++at;
        }
    }
}

}  // namespace memsweep::app
