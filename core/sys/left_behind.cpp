#include "core/sys/left_behind.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): the name is xxhash.h's
#include <xxhash.h>

#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t boot_digits = 16;

std::uint64_t random_number()
{
    std::uint64_t number{};
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        timespec now{};  // early at boot; a name that is taken is only tried again
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        number = static_cast<std::uint64_t>(::getpid()) << 32U ^ static_cast<std::uint64_t>(now.tv_nsec);
    }
    return number;
}

const std::string& this_boot()
{
    static const std::string boot = [] {
        const std::string id = read_word("/proc/sys/kernel/random/boot_id");
        return fmt::format("{:016x}", XXH64(id.data(), id.size(), 0));
    }();
    return boot;
}

bool is_number(std::string_view text, std::size_t digits)
{
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The boot that a name of this shape tells, if it does; nothing: it has another shape.
std::optional<std::string_view> boot_of(std::string_view name, const PassingShape& shape)
{
    if (name.size() < shape.before.size() + shape.after.size() || !name.starts_with(shape.before) ||
        !name.ends_with(shape.after)) {
        return std::nullopt;
    }
    name.remove_prefix(shape.before.size());
    name.remove_suffix(shape.after.size());
    std::string_view boot;
    if (shape.tells_boot) {
        boot = name.substr(0, boot_digits);
        if (name.size() <= boot_digits || name[boot_digits] != '-' || !is_number(boot, boot_digits)) {
            return std::nullopt;
        }
        name.remove_prefix(boot_digits + 1);
    }
    return is_number(name, shape.digits) ? std::optional{boot} : std::nullopt;
}

// File systems of which no other machine holds a lock.
bool is_local(int file)
{
    constexpr std::array<std::uint32_t, 8> local{
        0xEF53,     0x58465342, 0x9123683E, 0x01021994,   // ext, xfs, btrfs, tmpfs
        0x794C7630, 0x2FC12FC1, 0xF2F52010, 0x858458F6};  // overlay, zfs, f2fs, ramfs
    struct statfs facts {};
    return ::fstatfs(file, &facts) == 0 &&
           std::ranges::find(local, static_cast<std::uint32_t>(facts.f_type)) != local.end();
}

bool is_there(int file, int folder, const std::string& name)
{
    struct stat held {};
    struct stat named {};
    return ::fstat(file, &held) == 0 && ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

// Whether somebody else could give a folder of ours another name there.
bool others_rename_in(int folder)
{
    struct stat facts {};
    return ::fstat(folder, &facts) != 0 ||
           ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0);
}

// Open and locked, so that its owner is gone; invalid: it stays.
UniqueFd take_over(int folder, const std::string& name, bool is_folder)
{
    struct stat facts {};
    if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || facts.st_uid != ::geteuid() ||
        (is_folder ? !S_ISDIR(facts.st_mode) : !S_ISREG(facts.st_mode))) {
        return {};
    }
    const int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR;  // NFS locks what is open to be written only
    UniqueFd file{::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!file.valid() || ::fstat(file.get(), &facts) != 0 || facts.st_uid != ::geteuid() ||
        ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !is_there(file.get(), folder, name)) {
        return {};
    }
    return file;
}

std::vector<std::string> names_in(const std::string& folder)
{
    std::vector<std::string> names;
    std::error_code problem;
    for (fs::directory_iterator entry{folder, problem}; !problem && entry != fs::directory_iterator{};
         entry.increment(problem)) {
        if (std::string name = entry->path().filename().string(); name.find("memsweep-") < 2) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

UniqueFd open_folder(const std::string& path)
{
    return UniqueFd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

// "memsweep-PID-0xADDRESS" and "memsweep-PID-share-NUMBER": the process, or nothing.
std::optional<std::uint64_t> process_of_shared_memory(std::string_view name)
{
    constexpr std::string_view before = "memsweep-";
    constexpr std::string_view digits = "0123456789";
    if (!name.starts_with(before)) {
        return std::nullopt;
    }
    name.remove_prefix(before.size());
    const std::size_t end = name.find('-');
    const auto process = base::parse_number(name.substr(0, end));
    if (!process || end == std::string_view::npos) {
        return std::nullopt;
    }
    name.remove_prefix(end + 1);
    for (const auto& [start, allowed] :
         {std::pair{std::string_view{"0x"}, std::string_view{"0123456789abcdef"}}, {"share-", digits}}) {
        if (name.starts_with(start) && name.size() > start.size() &&
            name.find_first_not_of(allowed, start.size()) == std::string_view::npos) {
            return process;
        }
    }
    return std::nullopt;
}

// A file gets its lock a moment after its name.
bool is_new(int file)
{
    constexpr std::time_t moment_s = 2;
    struct stat facts {};
    timespec now{};
    return ::fstat(file, &facts) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0 ||
           (facts.st_ctim.tv_sec <= now.tv_sec && now.tv_sec - facts.st_ctim.tv_sec < moment_s);
}

}  // namespace

std::string new_passing_name(const PassingShape& shape)
{
    const std::string number = fmt::format("{:016x}", random_number());
    return fmt::format("{}{}{}{}{}", shape.before, shape.tells_boot ? this_boot() : "", shape.tells_boot ? "-" : "",
                       number.substr(number.size() - shape.digits), shape.after);
}

bool hold_passing(int file) noexcept
{
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        return errno != EWOULDBLOCK;
    }
    struct stat facts {};
    return ::fstat(file, &facts) != 0 || facts.st_nlink != 0;
}

void remove_left_behind(const std::string& folder, const PassingShape& shape)
{
    static std::mutex mutex;
    static std::set<std::string> looked_at;
    {
        const std::lock_guard lock{mutex};
        if (!looked_at.insert(fmt::format("{}/{}", folder, shape.before)).second) {
            return;
        }
    }
    const UniqueFd parent = open_folder(folder);
    for (const std::string& name : parent.valid() ? names_in(folder) : std::vector<std::string>{}) {
        const auto boot = boot_of(name, shape);
        if (!boot || (*boot != this_boot() && !is_local(parent.get()))) {
            continue;
        }
        if (const UniqueFd file = take_over(parent.get(), name, false); file.valid()) {
            ::unlinkat(parent.get(), name.c_str(), 0);
        } else if (const UniqueFd inner = take_over(parent.get(), name, true);
                   inner.valid() && !others_rename_in(parent.get())) {
            std::error_code problem;
            fs::remove_all(fs::path{folder} / name, problem);
        }
    }
}

void remove_left_shared_memory()
{
    constexpr const char* folder = "/dev/shm";
    const UniqueFd parent = open_folder(folder);
    for (const std::string& name : parent.valid() ? names_in(folder) : std::vector<std::string>{}) {
        const auto process = process_of_shared_memory(name);
        if (!process || *process == 0 || *process > INT_MAX) {
            continue;
        }
        const UniqueFd file = take_over(parent.get(), name, false);
        const bool has_ended = ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH;
        if (file.valid() && (has_ended || !is_new(file.get()))) {
            ::unlinkat(parent.get(), name.c_str(), 0);
        }
    }
}

namespace {

// Fixed storage, so that the handler never meets a path that is being freed. It takes what it unlinks: a slot that it
// has taken is never written to again.
enum class SlotState : int { free, filling, armed, taken };
struct Slot {
    std::atomic<SlotState> state{SlotState::free};
    pid_t owner{};
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

constexpr std::size_t most_paths = 8;
std::array<Slot, most_paths> slots;

// Async-signal-safe. The signal is on hold in here, and has its default effect, which ends the process, afterwards.
void remove_and_end(int signal)
{
    for (Slot& slot : slots) {
        auto expected = SlotState::armed;
        // A fork has the paths as well, and they are not its own.
        if (slot.owner == ::getpid() && slot.state.compare_exchange_strong(expected, SlotState::taken)) {
            ::unlink(slot.path.data());
        }
    }
    ::raise(signal);
}

// One that is ignored, or that something else handles, stays as it is.
void handle_stop_signals() noexcept
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
            action.sa_handler == SIG_DFL) {
            struct sigaction ours {};
            ours.sa_handler = remove_and_end;
            ours.sa_flags = static_cast<int>(SA_RESETHAND);
            sigemptyset(&ours.sa_mask);
            ::sigaction(signal, &ours, nullptr);
        }
    }
}

}  // namespace

RemovedAtStop::RemovedAtStop(const std::string& path) noexcept
{
    if (path.size() >= PATH_MAX) {
        return;
    }
    handle_stop_signals();
    for (std::size_t i = 0; i < slots.size() && slot_ < 0; ++i) {
        auto expected = SlotState::free;
        if (slots[i].state.compare_exchange_strong(expected, SlotState::filling)) {
            slots[i].owner = ::getpid();
            std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
            slots[i].state = SlotState::armed;
            slot_ = static_cast<int>(i);
        }
    }
}

RemovedAtStop::~RemovedAtStop()
{
    if (slot_ >= 0) {
        auto expected = SlotState::armed;
        slots[static_cast<std::size_t>(slot_)].state.compare_exchange_strong(expected, SlotState::free);
    }
}

std::string PassingFolder::parent()
{
    std::error_code problem;
    const fs::path temporary = fs::temp_directory_path(problem);
    return (problem ? fs::path{"/tmp"} : temporary).string();
}

std::optional<PassingFolder> PassingFolder::make(const PassingShape& shape)
{
    constexpr int most_tries = 100;
    const std::string folder = parent();
    remove_left_behind(folder, shape);
    for (int i = 0; i < most_tries; ++i) {
        std::string path = fmt::format("{}/{}", folder, new_passing_name(shape));
        if (::mkdir(path.c_str(), 0700) != 0) {
            if (errno != EEXIST) {
                break;
            }
            continue;
        }
        UniqueFd held = open_folder(path);
        if (held.valid() && hold_passing(held.get())) {
            return PassingFolder{std::move(path), std::move(held)};
        }
        if (held.valid() || errno == ENOENT) {
            continue;
        }
        const int problem = errno;
        ::rmdir(path.c_str());
        errno = problem;
        break;
    }
    return std::nullopt;
}

PassingFolder::~PassingFolder()
{
    std::error_code problem;
    if (!path_.empty()) {
        fs::remove_all(path_, problem);
    }
}

}  // namespace memsweep::sys
