#include "core/sys/process_probe.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/sys/proc_text.hpp"
#include "core/sys/wait_ready.hpp"

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

rusage own_usage()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage;
}

base::Expected<UniqueFd> open_for_reading(const char* path)
{
    UniqueFd fd{::open(path, O_RDONLY | O_CLOEXEC)};
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
    auto smaps = open_for_reading(smaps_path());
    if (!smaps) {
        return base::fail(std::move(smaps).error());
    }
    auto status = open_for_reading(status_path);
    if (!status) {
        return base::fail(std::move(status).error());
    }
    OwnProcessProbe probe{std::move(*smaps), std::move(*status),
                          UniqueFd{::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)},
                          UniqueFd{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)}};
    // Also touches the stack that later snapshots use, so that they cause no fault of their own.
    if (const auto first = probe.snapshot(); !first) {
        return base::fail(first.error());
    }
    if (const auto peak = probe.peak_bytes(); !peak) {
        return base::fail(peak.error());
    }
    return probe;
}

base::Expected<MemorySnapshot> OwnProcessProbe::snapshot() noexcept
{
    auto snapshot = read_smaps(smaps_.get(), smaps_path());
    if (!snapshot) {
        return snapshot;
    }
    const FaultCounts now = faults();
    snapshot->minor_faults = now.minor;
    snapshot->major_faults = now.major;
    return snapshot;
}

FaultCounts OwnProcessProbe::faults() const noexcept
{
    const rusage usage = own_usage();
    return {.minor = static_cast<std::uint64_t>(usage.ru_minflt),
            .major = static_cast<std::uint64_t>(usage.ru_majflt),
            .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw)};
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
        return snapshot;
    }

  private:
    static constexpr std::array<std::string_view, 4> fields{"Rss", "AnonHugePages", "Private_Hugetlb",
                                                            "Shared_Hugetlb"};

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
    std::size_t kept = 0;           // of a line that has begun
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

}  // namespace memsweep::sys
