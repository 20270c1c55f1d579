// Kills the program in the place of one of its calls that rename or remove a file: of the KILLED_AT-th, counted from 1.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void count()
{
    static long left = std::atol(std::getenv("KILLED_AT"));
    if (--left == 0) {
        std::raise(SIGKILL);
    }
}

long unlinked(const char* path, int flags)
{
    count();
    return syscall(SYS_unlinkat, AT_FDCWD, path, flags);
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept
{
    count();
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept
{
    return static_cast<int>(unlinked(path, 0));
}

int rmdir(const char* path) noexcept
{
    return static_cast<int>(unlinked(path, AT_REMOVEDIR));
}

int remove(const char* path) noexcept
{
    const bool is_removed = unlinked(path, 0) == 0 || syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) == 0;
    return is_removed ? 0 : -1;
}
}
