// A server that gives up rights and then forks its workers. Its words say what it does before, in their order:
//
//   user           becomes nobody
//   root FOLDER    has the folder as its root
//   mounts FOLDER  has mounts of its own, with an empty folder over this one
//   network        has a network of its own
//   descriptors    closes all descriptors but the standard output
//
// Then it allocates. Four workers allocate, two by two at the same time, and each forks one that allocates too. Each
// process writes a line: its number, that of its parent, and its descriptors.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int most_descriptors = 1024;

void* volatile keep;  // what is stored here is not optimised away

bool give_up(char**& word)
{
    const char* const what = *word++;
    if (std::strcmp(what, "user") == 0) {
        return setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
    }
    if (std::strcmp(what, "root") == 0) {
        return chroot(*word++) == 0 && chdir("/") == 0;
    }
    if (std::strcmp(what, "mounts") == 0) {
        return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("none", *word++, "tmpfs", 0, nullptr) == 0;
    }
    if (std::strcmp(what, "network") == 0) {
        return unshare(CLONE_NEWNET) == 0;
    }
    for (int fd = 0; fd < most_descriptors; ++fd) {
        if (fd != STDOUT_FILENO) {
            close(fd);
        }
    }
    return true;
}

void work(int times)
{
    for (int i = 0; i < times; ++i) {
        void* const block = std::malloc(1000);
        keep = block;
        if (i % 2 == 0) {
            std::free(block);
        }
    }
}

void tell()
{
    std::array<char, 8192> line{};
    int at = std::snprintf(line.data(), line.size(), "%d %d", static_cast<int>(getpid()), static_cast<int>(getppid()));
    for (int fd = 0; fd < most_descriptors; ++fd) {
        if (fcntl(fd, F_GETFD) != -1) {
            at += std::snprintf(line.data() + at, line.size() - static_cast<std::size_t>(at), " %d", fd);
        }
    }
    line[static_cast<std::size_t>(at++)] = '\n';
    if (write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(at)) != at) {
        _exit(4);
    }
}

void serve(int times)
{
    work(times);
    tell();
    if (fork() == 0) {
        work(times);
        tell();
        _exit(0);
    }
    wait(nullptr);
    _exit(0);
}

}  // namespace

int main(int /*argc*/, char** argv)
{
    work(10);
    for (char** word = argv + 1; *word != nullptr;) {
        if (!give_up(word)) {
            std::perror("recorded_prefork");
            return 3;
        }
    }
    tell();
    work(12'000);  // more than it has a file open for
    for (int worker = 0; worker < 4; ++worker) {
        if (fork() == 0) {
            serve(12'000 + worker);
        }
        if (worker % 2 == 1) {
            wait(nullptr);
            wait(nullptr);
        }
    }
    return 0;
}
