#include "core/engine/command/end_watch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/tree_sample.hpp"
#include "core/trace/format/preload_obstacle.hpp"
#include "core/trace/recording.hpp"

namespace memsweep::engine {
namespace {

struct Rollup {
    std::uint64_t resident{};
    std::uint64_t anonymous{};
};

Rollup rollup_of(pid_t process)
{
    const auto text = sys::read_kernel_text(fmt::format("/proc/{}/smaps_rollup", process));
    if (!text) {
        return {};
    }
    const auto field = [&](const char* name) { return sys::find_kib_field(*text, name).value_or(0); };
    return {field("Rss") + field("Private_Hugetlb") + field("Shared_Hugetlb"),
            field("Anonymous") + field("Private_Hugetlb")};
}

// Heaps of glibc's arenas other than the first one are 64 MiB of addresses, aligned to as much, the first part of which
// can be used.
constexpr std::uint64_t arena_heap = std::uint64_t{64} << 20U;

struct Mappings {
    std::vector<std::string> files;
    unsigned arenas{};
};

Mappings mappings_of(pid_t process)
{
    Mappings found;
    const auto text = sys::read_kernel_text(fmt::format("/proc/{}/maps", process));
    std::string_view rest = text ? std::string_view{*text} : std::string_view{};
    std::uint64_t usable_from = 0;
    std::uint64_t usable_to = 0;
    while (!rest.empty()) {
        std::string_view line = sys::take_line(rest);
        const std::string_view range = sys::take_word(line);
        const std::string_view access = sys::take_word(line);
        for (int i = 0; i < 3; ++i) {  // offset, device, inode
            static_cast<void>(sys::take_word(line));
        }
        const std::string_view name = base::trimmed(line);
        if (name.starts_with('/') && (found.files.empty() || found.files.back() != name)) {
            found.files.emplace_back(name);
        }
        const std::size_t dash = std::min(range.find('-'), range.size());
        const auto from = base::parse_number(range.substr(0, dash), 16).value_or(0);
        const auto to = base::parse_number(range.substr(std::min(dash + 1, range.size())), 16).value_or(0);
        if (access == "---p" && from == usable_to && to - usable_from == arena_heap && usable_from % arena_heap == 0) {
            ++found.arenas;
        }
        if (access == "rw-p" && name.empty()) {
            usable_from = from;
            usable_to = to;
        }
    }
    std::ranges::sort(found.files);
    const auto repeated = std::ranges::unique(found.files);
    found.files.erase(repeated.begin(), repeated.end());
    return found;
}

unsigned threads_of(std::string_view status)
{
    const auto field = sys::find_field(status, "Threads");
    return field ? static_cast<unsigned>(base::parse_number(*field).value_or(1)) : 1;
}

// The effective user of a process is another than ours.
bool is_another_users(std::string_view status)
{
    auto field = sys::find_field(status, "Uid");
    if (!field) {
        return false;
    }
    static_cast<void>(sys::take_word(*field));  // the real one
    const auto effective = base::parse_number(sys::take_word(*field));
    return effective && *effective != ::geteuid();
}

}  // namespace

Moment read_moment(pid_t program, pid_t guard)
{
    std::vector<pid_t> processes = sys::descendants_of(guard);
    if (std::ranges::find(processes, program) == processes.end()) {
        processes.push_back(program);
    }
    Moment moment{.ticks = trace::read_clocks().ticks};
    pid_t largest = program;
    std::uint64_t largest_bytes = 0;
    std::uint64_t alive = 0;
    for (const pid_t process : processes) {
        const Rollup rollup = rollup_of(process);
        if (rollup.resident == 0) {
            continue;
        }
        ++alive;
        moment.anonymous_bytes += rollup.anonymous;
        if (rollup.resident > largest_bytes) {
            largest_bytes = rollup.resident;
            largest = process;
        }
        if (const auto status = sys::read_kernel_text(fmt::format("/proc/{}/status", process))) {
            moment.threads = std::max(moment.threads, threads_of(*status));
            moment.changes_user = moment.changes_user || is_another_users(*status);
        }
    }
    moment.working_set_bytes = alive > 1 ? sys::with_shared_once(sys::sample_descendants(guard)) : largest_bytes;
    Mappings mappings = mappings_of(largest);
    moment.files = std::move(mappings.files);
    moment.threads = std::max(moment.threads, mappings.arenas + 1);
    if (moment.working_set_bytes == 0) {
        moment.why_none = "the kernel told nothing of its memory";
    }
    return moment;
}

// What is read while the program is held at its exit: in another thread, and so apart.
struct EndWatch::AtExit {
    sys::UniqueFd launcher;         // a pidfd
    std::atomic<bool> is_needed{};  // the moment that is asked for may be the exit
    std::mutex mutex;
    Moment moment;

    void read(pid_t process, pid_t guard);
};

void EndWatch::AtExit::read(pid_t process, pid_t guard)
{
    if (!is_needed) {
        return;
    }
    // It descends from the guard, too, and may end later than a short program.
    static_cast<void>(sys::wait_readable(launcher.get(), std::chrono::milliseconds{100}));
    Moment read = read_moment(process, guard);
    const std::scoped_lock lock{mutex};
    moment = std::move(read);
}

EndWatch::EndWatch(const model::EndOfWork& end, const std::string& cwd) : sign_{end, cwd} {}

EndWatch::~EndWatch() = default;

void EndWatch::attach(pid_t launcher, pid_t guard, const std::string& file)
{
    if (::geteuid() != 0 && trace::preload_obstacle(file.c_str()) == trace::PreloadObstacle::privileges) {
        why_no_exit_stop_ = "traced, it would not get its privileges";
        return;
    }
    at_exit_ = std::make_shared<AtExit>();
    at_exit_->launcher.reset(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0)));
    at_exit_->is_needed = sign_.end().idle == Nanoseconds::zero();
    auto attached = sys::ExitStop::attach_to_child_of(
        launcher, [at_exit = at_exit_, guard](pid_t process) { at_exit->read(process, guard); });
    if (attached) {
        exit_stop_ = *std::move(attached);
    } else {
        why_no_exit_stop_ = attached.error().message;
    }
}

void EndWatch::begin(pid_t program, pid_t guard)
{
    program_ = program;
    guard_ = guard;
}

bool EndWatch::look(Nanoseconds now)
{
    if (const auto status = sys::read_kernel_text(fmt::format("/proc/{}/status", program_))) {
        threads_ = std::max(threads_, threads_of(*status));
    }
    const model::EndOfWork& end = sign_.end();
    if (!due_ && sign_.has_come()) {
        due_ = now + end.idle;
    }
    if (due_ && !read_at_ && now >= *due_) {
        moment_ = read_moment(program_, guard_);
        read_at_ = now;
        if (at_exit_ != nullptr) {
            at_exit_->is_needed = false;
        }
    }
    return read_at_ && now >= *read_at_ + grace && !std::exchange(has_asked_, true);
}

void EndWatch::settle()
{
    if (exit_stop_ == nullptr) {
        return;
    }
    is_outlived_ = exit_stop_->wait(patience) && exit_stop_->is_outlived();
    if (!exit_stop_->wait(Nanoseconds::zero()) || is_outlived_) {
        at_exit_.reset();  // it may be written yet, or is not of the end
    }
}

Moment EndWatch::finish()
{
    Moment at_exit;
    if (exit_stop_ != nullptr && at_exit_ != nullptr) {
        const std::scoped_lock lock{at_exit_->mutex};
        at_exit = at_exit_->moment;
    }
    exit_stop_.reset();
    const model::EndOfWork& end = sign_.end();
    const bool was_given = end.sign == model::EndSign::exit || due_ || sign_.has_come();
    Moment moment = read_at_ ? moment_ : at_exit;
    if (moment.working_set_bytes == 0 || !was_given || (!read_at_ && end.idle > Nanoseconds::zero())) {
        moment.working_set_bytes = 0;
        moment.why_none = !was_given && end.sign == model::EndSign::none ? "nobody asked for it"
                          : !was_given ? fmt::format("it ended without the sign {}", model::to_text(end))
                          : end.idle > Nanoseconds::zero() && !read_at_
                              ? "it ended before it had rested so long; it must stay when its work is done"
                          : !why_no_exit_stop_.empty()
                              ? "nobody here may look at it when it exits: " + why_no_exit_stop_
                          : is_outlived_ ? "its main thread ended before it did"
                                         : "it was gone before anybody could look at it";
    }
    moment.threads = std::max(moment.threads, threads_);
    return moment;
}

}  // namespace memsweep::engine
