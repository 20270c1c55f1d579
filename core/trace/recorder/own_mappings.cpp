#include "core/trace/recorder/own_mappings.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>

#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// struct procmap_query of <linux/fs.h> from Linux 6.11 on.
struct MappingQuery {
    std::uint64_t size{sizeof(MappingQuery)};
    std::uint64_t flags{};  // none: the mapping that holds the address
    std::uint64_t address{};
    std::uint64_t low{};
    std::uint64_t high{};
    std::uint64_t found_flags{};
    std::uint64_t page_bytes{};
    std::uint64_t file_offset{};
    std::uint64_t inode{};
    std::uint32_t device[2]{};
    std::uint32_t name_bytes{};  // with the zero behind; 0: it has no name
    std::uint32_t build_id_bytes{};
    std::uint64_t name{};  // where it goes
    std::uint64_t build_id{};
};
constexpr unsigned long query_mapping = _IOWR('f', 17, MappingQuery);

// Names without a slash in front are the kernel's. Shared memory that has no other name is this file to it.
bool is_name_of_file(std::string_view name) noexcept
{
    return name.starts_with('/') && name.rfind("/dev/zero", 0) != 0;  // unlike starts_with, names no exception at -O0
}

bool query(long maps, std::uint64_t address, std::span<char> room, OwnMapping& found) noexcept
{
    MappingQuery asked{.address = address,
                       .name_bytes = static_cast<std::uint32_t>(room.size()),
                       .name = reinterpret_cast<std::uint64_t>(room.data())};
    long outcome = kernel(SYS_ioctl, maps, query_mapping, &asked);
    const bool is_too_long = outcome == -ENAMETOOLONG;
    if (is_too_long) {
        asked = {.address = address};
        outcome = kernel(SYS_ioctl, maps, query_mapping, &asked);
    }
    if (outcome != 0) {
        return false;
    }
    const std::string_view name{room.data(), asked.name_bytes == 0 ? 0 : asked.name_bytes - 1};
    found = {asked.low, asked.high, name == "[stack]", is_too_long || is_name_of_file(name)};
    return true;
}

// One line after the other, in the room given.
class MapsLines {
  public:
    MapsLines(long maps, std::span<char> room) noexcept : maps_{maps}, room_{room} {}

    // False: there is none, or it does not fit.
    bool next(std::string_view& line) noexcept
    {
        const auto* end = find_end(at_);
        if (end == nullptr) {
            std::memmove(room_.data(), room_.data() + at_, filled_ - at_);
            filled_ -= at_;
            at_ = 0;
            for (long got = 1; got > 0 && filled_ < room_.size() && end == nullptr;) {
                got = kernel(SYS_read, maps_, room_.data() + filled_, room_.size() - filled_);
                filled_ += got > 0 ? static_cast<std::size_t>(got) : 0;
                end = find_end(0);
            }
            if (end == nullptr) {
                return false;
            }
        }
        line = {room_.data() + at_, static_cast<std::size_t>(end - room_.data()) - at_};
        at_ += line.size() + 1;
        return true;
    }

  private:
    [[nodiscard]] const char* find_end(std::size_t from) const noexcept
    {
        return static_cast<const char*>(std::memchr(room_.data() + from, '\n', filled_ - from));
    }

    long maps_;
    std::span<char> room_;
    std::size_t at_{};
    std::size_t filled_{};
};

std::uint64_t take_hexadecimal(std::string_view& text) noexcept
{
    std::uint64_t number = 0;
    for (; !text.empty(); text.remove_prefix(1)) {
        const char digit = text.front();
        if (digit >= '0' && digit <= '9') {
            number = number << 4U | static_cast<std::uint64_t>(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            number = number << 4U | static_cast<std::uint64_t>(digit - 'a' + 10);
        } else {
            break;
        }
    }
    return number;
}

// What stands before a name has neither of these.
std::string_view name_in(std::string_view line) noexcept
{
    const std::size_t begin = line.find_first_of("/[");
    line.remove_prefix(begin == std::string_view::npos ? line.size() : begin);
    return line;
}

}  // namespace

bool find_own_mapping(std::uint64_t address, std::span<char> room, OwnMapping& found) noexcept
{
    const long maps = kernel(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) {
        return false;
    }
    bool is_found = query(maps, address, room, found);
    MapsLines lines{maps, room};
    for (std::string_view line; !is_found && lines.next(line);) {
        const std::string_view name = name_in(line);
        found.low = take_hexadecimal(line);
        line.remove_prefix(line.empty() ? 0 : 1);
        found.high = take_hexadecimal(line);
        found.is_main_stack = name == "[stack]";
        found.is_of_file = is_name_of_file(name);
        is_found = found.holds(address);
    }
    kernel(SYS_close, maps);
    return is_found;
}

}  // namespace memsweep::trace::recorder
