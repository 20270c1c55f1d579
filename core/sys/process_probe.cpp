#include "core/sys/process_probe.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

constexpr const char* status_path = "/proc/self/status";

using TextBuffer = std::array<char, 8192>;

const char* smaps_path() noexcept
{
    static const bool sums_itself = [] {
        utsname system{};
        return ::uname(&system) == 0 && !rollup_may_skip_mappings(system.release);
    }();
    return sums_itself ? "/proc/self/smaps_rollup" : "/proc/self/smaps";
}

// From /proc/PID/status. Empty for a zombie, which has no memory, and for a process that has been reaped.
std::optional<std::uint64_t> working_set_in(std::string_view status) noexcept
{
    const auto resident = find_kib_field(status, "VmRSS");
    return resident ? std::optional{*resident + find_kib_field(status, "HugetlbPages").value_or(0)} : std::nullopt;
}

rusage own_usage()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage;
}

base::Expected<UniqueFd> open_for_reading(const std::string& path)
{
    UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd.valid()) {
        return base::fail(base::os_error("open", errno, path));
    }
    return fd;
}

}  // namespace

OwnProcessProbe::OwnProcessProbe(UniqueFd smaps, UniqueFd status, UniqueFd clear_refs, UniqueFd schedstat) noexcept
    : smaps_{std::move(smaps)}, status_{std::move(status)}, clear_refs_{std::move(clear_refs)},
      schedstat_{std::move(schedstat)}
{
}

base::Expected<OwnProcessProbe> OwnProcessProbe::open()
{
    auto smaps = MEMSWEEP_TRY(open_for_reading(smaps_path()));
    auto status = MEMSWEEP_TRY(open_for_reading(status_path));
    OwnProcessProbe probe{std::move(smaps), std::move(status),
                          UniqueFd{::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)},
                          UniqueFd{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)}};
    // Also touches the stack that later snapshots use, so that they cause no fault of their own.
    MEMSWEEP_TRY(probe.snapshot());
    MEMSWEEP_TRY(probe.peak_bytes());
    return probe;
}

base::Expected<MemorySnapshot> OwnProcessProbe::snapshot() noexcept
{
    auto snapshot = MEMSWEEP_TRY(read_smaps(smaps_.get(), smaps_path()));
    const KernelUse now = kernel_use();
    snapshot.minor_faults = now.minor_faults;
    snapshot.major_faults = now.major_faults;
    return snapshot;
}

std::uint64_t minor_faults() noexcept
{
    return static_cast<std::uint64_t>(own_usage().ru_minflt);
}

KernelUse OwnProcessProbe::kernel_use() const noexcept
{
    const rusage usage = own_usage();
    return {.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt),
            .major_faults = static_cast<std::uint64_t>(usage.ru_majflt),
            .time = std::chrono::seconds{usage.ru_stime.tv_sec} + std::chrono::microseconds{usage.ru_stime.tv_usec}};
}

std::optional<std::chrono::nanoseconds> OwnProcessProbe::run_delay() const noexcept
{
    std::array<char, 128> buffer;
    const auto text = pread_text(schedstat_.get(), buffer);
    const std::size_t space = text ? text->find(' ') : std::string_view::npos;
    std::int64_t delay = 0;
    if (space == std::string_view::npos ||
        std::from_chars(text->data() + space + 1, text->data() + text->size(), delay).ec != std::errc{}) {
        return std::nullopt;
    }
    return std::chrono::nanoseconds{delay};
}

void OwnProcessProbe::reset_peak() noexcept
{
    constexpr std::string_view reset_high_water_mark = "5";
    const ssize_t written = retry_interrupted(
        [&] { return ::pwrite(clear_refs_.get(), reset_high_water_mark.data(), reset_high_water_mark.size(), 0); });
    peak_stale_ = written != 1;
}

base::Expected<std::uint64_t> OwnProcessProbe::peak_bytes() noexcept
{
    if (peak_stale_) {
        return base::fail(base::ErrorCode::not_supported, "this system does not let the peak resident set be reset",
                          "/proc/self/clear_refs");
    }
    TextBuffer buffer;
    const auto text = pread_text(status_.get(), buffer);
    if (!text) {
        return base::fail(base::os_error("read", errno, status_path));
    }
    const auto peak = find_kib_field(*text, "VmHWM");
    if (!peak) {
        return base::fail(base::ErrorCode::invalid_input, "the kernel does not show this field",
                          "/proc/self/status: VmHWM");
    }
    return *peak + find_kib_field(*text, "HugetlbPages").value_or(0);  // absent where hugetlb is not built in
}

namespace {

class SmapsSum {
  public:
    // Any number of whole lines.
    void add(std::string_view lines) noexcept
    {
        for (std::size_t length = lines.find('\n') + 1; length != 0; length = lines.find('\n') + 1) {
            const std::string_view line = lines.substr(0, length);
            lines.remove_prefix(length);
            for (std::size_t i = 0; i < fields.size(); ++i) {
                if (line.starts_with(fields[i])) {
                    if (const auto bytes = find_kib_field(line, fields[i])) {
                        bytes_[i] += *bytes;
                        seen_[i] = true;
                    }
                }
            }
        }
    }

    [[nodiscard]] base::Expected<MemorySnapshot> total(const char* path) const noexcept
    {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (!seen_[i]) {
                return base::fail(base::ErrorCode::invalid_input, "the kernel does not show this field",
                                  std::string{path}.append(": ").append(fields[i]));
            }
        }
        MemorySnapshot snapshot;
        snapshot.rss_bytes = bytes_[0];
        snapshot.anon_huge_bytes = bytes_[1];
        snapshot.hugetlb_bytes = bytes_[2] + bytes_[3];
        snapshot.anon_bytes = bytes_[4];
        return snapshot;
    }

  private:
    static constexpr std::array<std::string_view, 5> fields{"Rss", "AnonHugePages", "Private_Hugetlb", "Shared_Hugetlb",
                                                            "Anonymous"};

    std::array<std::uint64_t, fields.size()> bytes_{};
    std::array<bool, fields.size()> seen_{};
};

}  // namespace

bool rollup_may_skip_mappings(std::string_view release) noexcept
{
    constexpr std::pair first{6, 1};
    constexpr std::pair known_right{6, 12};
    std::pair<int, int> version{};
    const char* const end = release.data() + release.size();
    const auto [dot, error] = std::from_chars(release.data(), end, version.first);
    if (error != std::errc{} || dot == end || std::from_chars(dot + 1, end, version.second).ec != std::errc{}) {
        return false;
    }
    return version >= first && version < known_right;
}

base::Expected<MemorySnapshot> read_smaps(int fd, const char* path) noexcept
{
    SmapsSum sum;
    std::array<char, 8192> buffer;  // not zeroed: that would cost as much as the rest
    std::size_t kept = 0;           // bytes of a line that has begun
    ssize_t got = ::lseek(fd, 0, SEEK_SET);
    while (got >= 0) {
        got = retry_interrupted([&] { return ::read(fd, buffer.data() + kept, buffer.size() - kept); });
        if (got == 0) {
            return sum.total(path);
        }
        const std::string_view text{buffer.data(), kept + static_cast<std::size_t>(got < 0 ? 0 : got)};
        const std::size_t whole = text.rfind('\n') + 1;
        sum.add(text.substr(0, whole));
        kept = text.size() - whole;
        std::memmove(buffer.data(), text.data() + whole, kept);
        if (kept == buffer.size()) {
            kept = 1;  // the name of a mapping, of which no more is needed than that its line is none of ours
        }
    }
    return base::fail(base::os_error("read", errno, path));
}

ProcessWatch::ProcessWatch(UniqueFd status) noexcept : status_{std::move(status)} {}

base::Expected<ProcessWatch> ProcessWatch::open(pid_t pid)
{
    return ProcessWatch{MEMSWEEP_TRY(open_for_reading(fmt::format("/proc/{}/status", pid)))};
}

std::optional<std::uint64_t> ProcessWatch::working_set_bytes() noexcept
{
    TextBuffer buffer;
    const auto text = pread_text(status_.get(), buffer);
    return text ? working_set_in(*text) : std::nullopt;
}

namespace {

constexpr std::size_t most_processes = 4096;

std::vector<pid_t> children_of(pid_t process)
{
    std::vector<pid_t> children;
    std::error_code problem;
    for (const auto& task : std::filesystem::directory_iterator{fmt::format("/proc/{}/task", process), problem}) {
        const auto text = read_kernel_text(task.path().string() + "/children");
        std::string_view rest = text ? std::string_view{*text} : std::string_view{};
        for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
            if (const auto child = base::parse_number(word)) {
                children.push_back(static_cast<pid_t>(*child));
            }
        }
    }
    return children;
}

// What /proc calls this process; empty: it is not mounted.
std::optional<std::uint64_t> own_number_in_proc()
{
    std::error_code problem;
    return base::parse_number(std::filesystem::read_symlink("/proc/self", problem).string());
}

}  // namespace

base::Expected<std::string> own_program_folder()
{
    const auto number = own_number_in_proc();
    if (!number || *number != static_cast<std::uint64_t>(::getpid())) {
        return base::fail(base::ErrorCode::not_supported,
                          number ? "shows the processes of another pid namespace; mount its own (unshare --mount-proc)"
                                 : "is not mounted: what a program starts and holds is read there",
                          "/proc");
    }
    std::error_code problem;
    return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path().string();
}

std::vector<pid_t> descendants_of(pid_t of)
{
    if (own_number_in_proc() != static_cast<std::uint64_t>(::getpid())) {
        return {};
    }
    std::vector<pid_t> processes = children_of(of);
    for (std::size_t i = 0; i < processes.size() && processes.size() < most_processes; ++i) {
        const std::vector<pid_t> children = children_of(processes[i]);
        processes.insert(processes.end(), children.begin(), children.end());
    }
    return processes;
}

void adopt_orphans() noexcept
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::optional<std::uint64_t> memory_stall_us(std::string_view pressure_text)
{
    constexpr std::string_view key = "total=";
    const std::string_view line = take_line(pressure_text);
    const std::size_t at = line.find(key);
    return line.starts_with("some") && at != std::string_view::npos ? base::parse_number(line.substr(at + key.size()))
                                                                    : std::nullopt;
}

}  // namespace memsweep::sys
