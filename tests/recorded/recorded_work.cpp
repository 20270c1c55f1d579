// A program that holds 3 blocks of 7 MiB when its work is done, says so, and then goes its way:
// `recorded_work WAY SIGN [FILE]`.
//
//   frees    frees them, and exits
//   waits    waits for a signal to end
//   deaf     as waits, and takes no notice of SIGTERM; exits after 3 s
//   gone     frees them and exits at once
//   silent   as frees, without a sign
//   parent   as waits; two children hold as much each, and wait too
//
// SIGN: file (it makes FILE), line (it prints "work is done"), signal (SIGUSR1 to MEMSWEEP_PID).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr std::size_t blocks = 3;
constexpr std::size_t block_bytes = std::size_t{7} << 20U;
void* held[blocks];  // NOLINT(modernize-avoid-c-arrays)

[[gnu::noinline]] void work()
{
    for (void*& block : held) {
        block = std::malloc(block_bytes);
        std::memset(block, 1, block_bytes);
    }
}

void give(std::string_view sign, const char* file)
{
    const char* const pid = std::getenv("MEMSWEEP_PID");
    if (sign == "file") {
        ::close(::open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    } else if (sign == "line") {
        std::puts("work is done");
        std::fflush(stdout);
    } else if (sign == "signal" && pid != nullptr) {
        ::kill(static_cast<pid_t>(std::stol(pid)), SIGUSR1);
    }
}

// Two, which hold as much by the time that this returns.
void have_children()
{
    int ends[2];  // NOLINT(modernize-avoid-c-arrays)
    if (::pipe(ends) != 0) {
        std::abort();
    }
    for (int child = 0; child < 2; ++child) {
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            work();
            for (ssize_t told = ::write(ends[1], "w", 1); told == 1;) {
                ::pause();
            }
            ::_exit(1);
        }
    }
    char word = 0;
    for (int child = 0; child < 2; ++child) {
        if (::read(ends[0], &word, 1) != 1) {
            std::abort();
        }
    }
}

}  // namespace

int main(int count, char** words)
{
    constexpr unsigned moment_us = 100'000;
    const std::string_view way = count > 1 ? words[1] : "";
    const std::string_view sign = count > 2 ? words[2] : "";
    if (way == "deaf") {
        std::signal(SIGTERM, SIG_IGN);
    }
    std::puts("begun");
    std::fflush(stdout);
    work();
    if (way == "parent") {
        have_children();
    }
    if (way != "silent") {
        give(sign, count > 3 ? words[3] : "");
    }
    if (way == "waits" || way == "parent") {
        ::pause();
    }
    if (way == "deaf") {
        ::sleep(3);
    }
    ::usleep(way == "gone" ? 0 : moment_us);
    for (void* const block : held) {
        std::free(block);
    }
    std::puts("over");
    return 0;
}
