#include "core/trace/format/preload_obstacle.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace memsweep::trace {
namespace {

constexpr int most_interpreters = 4;  // a script's interpreter may be a script
constexpr std::size_t head_bytes = 1024;

#if defined(__aarch64__)
constexpr Elf64_Half own_machine = EM_AARCH64;
#else
constexpr Elf64_Half own_machine = EM_X86_64;
#endif

// Raw calls: the C library's are points where a thread may be cancelled, and exec(3) is none.
class File {
  public:
    explicit File(const char* path) noexcept
        : fd_{static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))}
    {
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File()
    {
        if (fd_ >= 0) {
            ::syscall(SYS_close, fd_);
        }
    }
    [[nodiscard]] std::size_t read(void* into, std::size_t bytes, std::uint64_t offset) const noexcept
    {
        const long got = fd_ < 0 ? 0 : ::syscall(SYS_pread64, fd_, into, bytes, offset);
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }

  private:
    int fd_;
};

bool gains_privileges(const char* path) noexcept
{
    struct stat file {};
    if (::stat(path, &file) != 0) {
        return false;
    }
    const bool by_owner = (file.st_mode & S_ISUID) != 0 && file.st_uid != ::getuid();
    const bool by_group = (file.st_mode & S_ISGID) != 0 && (file.st_mode & S_IXGRP) != 0 && file.st_gid != ::getgid();
    const bool by_capability = ::getuid() != 0 && ::getxattr(path, "security.capability", nullptr, 0) > 0;
    return by_owner || by_group || by_capability;
}

// `ld.so PROGRAM` has no interpreter, and loads what is to be preloaded.
bool is_loader(const char* path) noexcept
{
    const char* const slash = std::strrchr(path, '/');
    const char* const name = slash == nullptr ? path : slash + 1;
    return std::strncmp(name, "ld-linux", 8) == 0 || std::strcmp(name, "ld.so") == 0;
}

PreloadObstacle obstacle_of_loader(const File& file, const Elf64_Phdr& segment) noexcept
{
    std::array<char, 256> loader{};
    const std::size_t length = std::min<std::size_t>(segment.p_filesz, loader.size() - 1);
    static_cast<void>(file.read(loader.data(), length, segment.p_offset));
    const bool is_other =
        std::strstr(loader.data(), "ld-musl") != nullptr || std::strstr(loader.data(), "uClibc") != nullptr;
    return is_other ? PreloadObstacle::other_loader : PreloadObstacle::none;
}

// Nothing is said against a file whose headers lie further behind.
PreloadObstacle obstacle_of_elf(const File& file, const std::array<char, head_bytes>& head, std::size_t length) noexcept
{
    if (length < sizeof(Elf64_Ehdr)) {
        return PreloadObstacle::none;
    }
    Elf64_Ehdr header{};
    std::memcpy(&header, head.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != own_machine) {
        return PreloadObstacle::other_machine;
    }
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > length) {
        return PreloadObstacle::none;
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (at + sizeof(Elf64_Phdr) > length) {
            return PreloadObstacle::none;
        }
        Elf64_Phdr segment{};
        std::memcpy(&segment, head.data() + at, sizeof segment);
        if (segment.p_type == PT_INTERP) {
            return obstacle_of_loader(file, segment);
        }
    }
    return PreloadObstacle::statically_linked;
}

// The first word behind "#!" moves to the front; false: there is none.
bool take_interpreter(std::array<char, head_bytes>& head, std::size_t length) noexcept
{
    const std::size_t last = std::min(length, head.size() - 1);
    std::size_t from = 2;
    while (from < last && (head[from] == ' ' || head[from] == '\t')) {
        ++from;
    }
    std::size_t end = from;
    while (end < last && std::strchr(" \t\r\n", head[end]) == nullptr) {
        ++end;
    }
    std::memmove(head.data(), head.data() + from, end - from);
    head[end - from] = '\0';
    return end > from;
}

}  // namespace

PreloadObstacle preload_obstacle(const char* path) noexcept
{
    std::array<char, head_bytes> name_or_head{};
    const char* at = path;
    for (int depth = 0; depth < most_interpreters; ++depth) {
        const bool gains = gains_privileges(at);  // `at` may be what is read over
        const bool loads_others = is_loader(at);
        const File file{at};
        const std::size_t length = file.read(name_or_head.data(), name_or_head.size(), 0);
        if (length >= SELFMAG && std::memcmp(name_or_head.data(), ELFMAG, SELFMAG) == 0) {
            return gains          ? PreloadObstacle::privileges
                   : loads_others ? PreloadObstacle::none
                                  : obstacle_of_elf(file, name_or_head, length);
        }
        if (length < 2 || std::memcmp(name_or_head.data(), "#!", 2) != 0 || !take_interpreter(name_or_head, length)) {
            return PreloadObstacle::none;
        }
        at = name_or_head.data();
    }
    return PreloadObstacle::none;
}

const char* describe(PreloadObstacle obstacle) noexcept
{
    switch (obstacle) {
    case PreloadObstacle::none:
        break;
    case PreloadObstacle::statically_linked:
        return "statically linked, so that no library can be preloaded";
    case PreloadObstacle::other_machine:
        return "a 32-bit program or one of another processor, which the recorder cannot be loaded into";
    case PreloadObstacle::other_loader:
        return "linked to another C library than glibc, whose dynamic linker cannot load the recorder";
    case PreloadObstacle::privileges:
        return "runs with more privileges than its caller (setuid, setgid or capabilities), so that the dynamic linker "
               "preloads nothing";
    case PreloadObstacle::own_malloc:
        return "brings its own malloc, whose calls do not come by the recorder";
    case PreloadObstacle::no_file:
        return "can make no file where it is recorded: it lacks the right (another user, chroot, mount namespace), a "
               "descriptor or room";
    }
    return "";
}

}  // namespace memsweep::trace
