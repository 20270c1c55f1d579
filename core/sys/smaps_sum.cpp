#include "core/sys/smaps_sum.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "core/sys/proc_text.hpp"
#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
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
