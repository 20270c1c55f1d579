#include "core/trace/unrecorded.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include <elf.h>
#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/process_stat.hpp"

namespace memsweep::trace {
namespace {

constexpr const char* unrecorded_fact = "unrecorded";  // how many; with a dot and a number from 1: one of them
constexpr std::size_t most_told = 1000;                // programs that are told: all facts go into one chunk

constexpr std::uint64_t share_of_disk = 64;  // the rest of what is free is for the recording

constexpr const char* not_loaded =
    "it did not load the recorder, or may not write where it records (another user), or ended before";

template <std::size_t size>
std::string text_of(const char (&text)[size])
{
    return {text, ::strnlen(text, size)};
}

UnrecordedProgram program_of(const StartEntry& entry)
{
    return {entry.process, entry.obstacle, text_of(entry.program), text_of(entry.command)};
}

std::string link_text(const std::string& path)
{
    std::error_code problem;
    return std::filesystem::read_symlink(path, problem).string();
}

// The words of /proc/PID/cmdline, with blanks between.
std::string command_of(const std::string& folder)
{
    std::string words = sys::read_kernel_text(folder + "cmdline").value_or("");
    while (!words.empty() && words.back() == '\0') {
        words.pop_back();
    }
    std::ranges::replace(words, '\0', ' ');
    words.resize(std::min(words.size(), sizeof StartEntry::command - 1));
    return words;
}

bool runs_secure(const std::string& folder)
{
    const std::string text = sys::read_kernel_text(folder + "auxv").value_or("");
    for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= text.size(); at += sizeof(Elf64_auxv_t)) {
        Elf64_auxv_t entry{};
        std::memcpy(&entry, text.data() + at, sizeof entry);
        if (entry.a_type == AT_SECURE) {
            return entry.a_un.a_val != 0;
        }
    }
    return false;
}

// Whether its environment can be read: not while the kernel sets its program up, nor after its end.
bool has_environment(const std::string& folder)
{
    const auto stat = sys::read_process_stat(folder);
    return stat && stat->env_end != 0;
}

// It has not got so far yet: it was started with the library, and can load it.
bool is_loading(const std::string& folder, const std::string& library, PreloadObstacle obstacle)
{
    const std::string environment = '\0' + sys::read_kernel_text(folder + "environ").value_or("");
    const std::size_t at = environment.find(std::string{'\0'} + "LD_PRELOAD=");
    const std::string list =
        at == std::string::npos ? "" : environment.substr(at + 1, environment.find('\0', at + 1) - at - 1);
    return obstacle == PreloadObstacle::none && list.find(library) != std::string::npos && !runs_secure(folder);
}

}  // namespace

std::string reason_of(const UnrecordedProgram& one)
{
    return one.obstacle == PreloadObstacle::none ? not_loaded : describe(one.obstacle);
}

std::string describe(const UnrecordedProgram& one)
{
    const std::string command = one.command.empty() ? "" : fmt::format(", `{}`", base::printable(one.command));
    return fmt::format("{} (process {}{}): {}", base::printable(one.program), one.process, command, reason_of(one));
}

std::string describe(const std::vector<UnrecordedProgram>& programs)
{
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, programs.size()); ++i) {
        text += (i == 0 ? "" : "; ") + describe(programs[i]);
    }
    return programs.size() <= most ? text : fmt::format("{}; and {} more", text, programs.size() - most);
}

std::string starts_in(const std::string& folder)
{
    return folder + "/" + starts_name;
}

void make_starts(const std::string& folder)
{
    const std::string path = starts_in(folder);
    const sys::UniqueFd file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    rlimit limit{};
    const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0;
    struct statvfs disk {};
    const bool is_known = ::fstatvfs(file.get(), &disk) == 0;
    const std::uint64_t room = is_known ? std::uint64_t{disk.f_bavail} * disk.f_frsize / share_of_disk : UINT64_MAX;
    for (std::uint64_t entries = max_starts; file.valid() && entries >= 16; entries /= 4) {
        if ((is_limited && limit.rlim_cur < starts_bytes(entries)) || room < starts_bytes(entries)) {
            continue;
        }
        const StartsHeader header{.entries = entries};
        if (::posix_fallocate(file.get(), 0, static_cast<off_t>(starts_bytes(entries))) == 0 &&
            ::pwrite(file.get(), &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header)) {
            return;
        }
        static_cast<void>(::ftruncate(file.get(), 0));
    }
    ::unlink(path.c_str());
}

std::vector<StartEntry> read_starts(const std::string& folder, std::uint64_t& not_noted)
{
    const sys::UniqueFd file{::open(starts_in(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    StartsHeader header;
    std::vector<StartEntry> entries;
    if (!file.valid() || ::pread(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
        header.magic != starts_magic || header.entries > max_starts) {
        return entries;
    }
    entries.resize(std::min(header.taken, header.entries));
    const std::size_t bytes = entries.size() * sizeof(StartEntry);
    if (::pread(file.get(), entries.data(), bytes, starts_offset) != static_cast<ssize_t>(bytes)) {
        entries.clear();
    }
    not_noted = header.taken - std::min(header.taken, header.entries);
    std::erase_if(entries, [](const StartEntry& one) {
        return (one.state != StartState::begun && one.state != StartState::unrecorded) || one.process == 0;
    });
    return entries;
}

std::vector<UnrecordedProgram> unrecorded_programs(const std::vector<StartEntry>& entries,
                                                   std::vector<ImageStart> images)
{
    using Process = std::pair<std::uint32_t, std::uint32_t>;  // its namespace and its number there
    const auto process_of = [](const auto& one) { return Process{one.pid_namespace, one.process}; };
    const auto by_time = [&](const ImageStart& a, const ImageStart& b) {
        return std::pair{process_of(a), a.nanoseconds} < std::pair{process_of(b), b.nanoseconds};
    };
    std::ranges::sort(images, by_time);
    std::map<Process, std::vector<std::uint64_t>> times;
    for (const StartEntry& entry : entries) {
        if (entry.state == StartState::begun) {
            times[process_of(entry)].push_back(entry.nanoseconds);
        }
    }
    std::vector<UnrecordedProgram> programs;
    for (const StartEntry& entry : entries) {
        if (entry.state == StartState::unrecorded) {
            programs.push_back(program_of(entry));
            continue;
        }
        std::uint64_t next = UINT64_MAX;
        for (const std::uint64_t time : times[process_of(entry)]) {
            next = time > entry.nanoseconds ? std::min(next, time) : next;
        }
        const ImageStart earliest{entry.process, entry.pid_namespace, entry.nanoseconds};
        const auto image = std::lower_bound(images.begin(), images.end(), earliest, by_time);
        // What cannot load the recorder has not: an image that follows is of a program that took its process over.
        const bool cannot = entry.obstacle != PreloadObstacle::none && entry.obstacle != PreloadObstacle::privileges;
        if (cannot || image == images.end() || process_of(*image) != process_of(entry) || image->nanoseconds >= next) {
            programs.push_back(program_of(entry));
        }
    }
    return programs;
}

std::vector<UnrecordedProgram> unrecorded_processes(const std::vector<StartEntry>& entries)
{
    std::vector<UnrecordedProgram> processes;
    for (const StartEntry& entry : entries) {
        if (entry.state == StartState::unrecorded) {
            processes.push_back(program_of(entry));
        }
    }
    return processes;
}

void TreeLooks::look(const std::vector<pid_t>& processes)
{
    for (const pid_t process : processes) {
        const std::string folder = fmt::format("/proc/{}/", process);
        std::error_code problem;
        const std::string file = std::filesystem::read_symlink(folder + "exe", problem).string();
        if (problem && problem != std::errc::permission_denied) {
            continue;  // it has ended
        }
        if (seen_.contains({process, file})) {
            continue;
        }
        const auto maps = problem ? std::nullopt : sys::read_kernel_text(folder + "maps");
        Sight sight{.what = {static_cast<std::uint32_t>(process), PreloadObstacle::none, file, ""}};
        if (maps && maps->empty()) {
            continue;  // it has ended
        }
        if (maps && maps->find(std::filesystem::path{library_}.filename().string()) == std::string::npos) {
            sight.what.obstacle =
                runs_secure(folder) ? PreloadObstacle::privileges : preload_obstacle((folder + "exe").c_str());
            const bool is_set_up = has_environment(folder);
            if (!is_set_up || is_loading(folder, library_, sight.what.obstacle) || !has_environment(folder) ||
                link_text(folder + "exe") != file) {
                continue;
            }
            sight.is_without = true;
        } else if (!maps) {
            sight.is_without = sight.is_unreadable = true;
        }
        sight.what.command = command_of(folder);
        seen_.emplace(std::pair{process, file}, std::move(sight));
    }
}

void TreeLooks::add_to(std::vector<UnrecordedProgram>& programs, const std::vector<ImageStart>& images) const
{
    for (const auto& [key, sight] : seen_) {
        const std::uint32_t process = sight.what.process;
        const bool is_recorded =
            sight.is_unreadable && std::ranges::find(images, process, &ImageStart::process) != images.end();
        const bool is_told =
            std::ranges::any_of(programs, [&](const UnrecordedProgram& one) { return one.process == process; });
        if (sight.is_without && !is_recorded && !is_told) {
            programs.push_back(sight.what);
        }
    }
}

void put_unrecorded(const std::vector<UnrecordedProgram>& programs, Facts& facts)
{
    if (programs.empty()) {
        return;
    }
    facts[unrecorded_fact] = std::to_string(programs.size());
    for (std::size_t i = 0; i < std::min(most_told, programs.size()); ++i) {
        const UnrecordedProgram& one = programs[i];
        std::string program = one.program;
        std::ranges::replace(program, '\t', ' ');
        facts[fmt::format("{}.{}", unrecorded_fact, i + 1)] =
            fmt::format("{}\t{}\t{}\t{}", one.process, static_cast<std::uint32_t>(one.obstacle), program, one.command);
    }
}

std::vector<UnrecordedProgram> take_unrecorded(Facts& facts)
{
    std::vector<UnrecordedProgram> programs;
    for (std::size_t number = 1;; ++number) {
        const auto found = facts.find(fmt::format("{}.{}", unrecorded_fact, number));
        if (found == facts.end()) {
            break;
        }
        std::string_view rest = found->second;
        const auto process = base::parse_number(base::take_until(rest, '\t'));
        const auto obstacle = base::parse_number(base::take_until(rest, '\t'));
        const std::string_view program = base::take_until(rest, '\t');
        const bool is_known = obstacle && *obstacle <= static_cast<std::uint32_t>(PreloadObstacle::no_file);
        programs.push_back({static_cast<std::uint32_t>(process.value_or(0)),
                            is_known ? static_cast<PreloadObstacle>(*obstacle) : PreloadObstacle::none,
                            std::string{program}, std::string{rest}});
        facts.erase(found);
    }
    if (programs.size() < most_told) {
        facts.erase(unrecorded_fact);
    }
    return programs;
}

}  // namespace memsweep::trace
