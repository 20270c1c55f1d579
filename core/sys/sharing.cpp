#include "core/sys/sharing.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <new>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/clock.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

constexpr std::uint32_t opened = 0xFFFF'FFFF;  // the second process has the memory
constexpr int spins_before_yield = 2000;
constexpr int yields_between_looks = 1000;

// The first page of the shared memory; the words of both sides lie on lines of their own.
struct Board {
    alignas(64) std::atomic<std::uint32_t> mine{0};    // what the first process has come to
    alignas(64) std::atomic<std::uint32_t> theirs{0};  // and the second
    alignas(64) std::int64_t read_ns{};
    std::uint64_t wrong_bytes{};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

std::int64_t now_ns() noexcept
{
    return SystemClock{}.now().count();
}

// Different in every word and every round, so that nothing old passes for new.
std::uint64_t word_of(std::uint64_t index, std::uint64_t round) noexcept
{
    return (index + 1) * 0x9E37'79B9'7F4A'7C15 + round;
}

base::Expected<Mapping> map_shared(int fd, std::size_t bytes) noexcept
{
    return Mapping::map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

Board& board_of(const Mapping& pages) noexcept
{
    return *reinterpret_cast<Board*>(pages.data());
}

std::uint64_t* words_of(const Mapping& pages) noexcept
{
    return reinterpret_cast<std::uint64_t*>(pages.data() + page_size());
}

// gone() is asked now and then; true from it ends the wait. False: it ended so.
template <typename Gone>
bool wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value, const Gone& gone) noexcept
{
    for (int spins = 0; word.load(std::memory_order_acquire) != value; ++spins) {
        if (spins > spins_before_yield) {
            ::sched_yield();
            if (spins % yields_between_looks == 0 && gone()) {
                return false;
            }
        }
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    return true;
}

void write_words(std::uint64_t* words, std::uint64_t count, std::uint64_t round) noexcept
{
    for (std::uint64_t i = 0; i < count; ++i) {
        words[i] = word_of(i, round);
    }
}

std::uint64_t wrong_words(const std::uint64_t* words, std::uint64_t count, std::uint64_t round) noexcept
{
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        wrong += words[i] == word_of(i, round) ? 0U : 1U;
    }
    return wrong;
}

// The second process: only what is safe after fork in a process with threads. Its parent's death ends it.
[[noreturn]] void read_what_comes(const char* name, std::size_t bytes, std::uint64_t words, std::uint64_t rounds,
                                  ::pid_t parent) noexcept
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto orphan = [parent] { return ::getppid() != parent; };
    std::array<char, 96> path{};
    static_cast<void>(std::snprintf(path.data(), path.size(), "/dev/shm%s", name));
    const int fd = ::open(path.data(), O_RDWR | O_CLOEXEC);
    const auto pages = map_shared(fd, bytes);
    if (!pages) {
        ::_exit(1);
    }
    Board& board = board_of(*pages);
    board.theirs.store(opened, std::memory_order_release);
    for (std::uint32_t turn = 1; turn <= sharing_turns; ++turn) {
        if (!wait_for(board.mine, turn, orphan)) {
            ::_exit(2);
        }
        board.theirs.store(turn, std::memory_order_release);
    }
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const auto word = static_cast<std::uint32_t>(sharing_turns + round);
        if (!wait_for(board.mine, word, orphan)) {
            ::_exit(2);
        }
        const std::int64_t began = now_ns();
        board.wrong_bytes += wrong_words(words_of(*pages), words, round) * sizeof(std::uint64_t);
        board.read_ns += now_ns() - began;
        board.theirs.store(word, std::memory_order_release);
    }
    ::_exit(0);
}

// The first process's side. False: the second has ended.
bool write_to(const Mapping& pages, std::uint64_t words, std::uint64_t rounds, ::pid_t peer, const char* name,
              Sharing& sharing) noexcept
{
    const auto ended = [peer] {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(peer), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == peer;
    };
    Board& board = board_of(pages);
    const bool there = wait_for(board.theirs, opened, ended);
    ::shm_unlink(name);
    if (!there) {
        return false;
    }
    const std::int64_t began = now_ns();
    for (std::uint32_t turn = 1; turn <= sharing_turns; ++turn) {
        board.mine.store(turn, std::memory_order_release);
        if (!wait_for(board.theirs, turn, ended)) {
            return false;
        }
    }
    sharing.turn_ns = (now_ns() - began) / static_cast<std::int64_t>(2 * sharing_turns);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const auto word = static_cast<std::uint32_t>(sharing_turns + round);
        const std::int64_t start = now_ns();
        write_words(words_of(pages), words, round);
        sharing.write_ns += now_ns() - start;
        board.mine.store(word, std::memory_order_release);
        if (!wait_for(board.theirs, word, ended)) {
            return false;
        }
        sharing.bytes += words * sizeof(std::uint64_t);
    }
    sharing.read_ns = board.read_ns;
    sharing.wrong_bytes = board.wrong_bytes;
    return true;
}

Sharing::Outcome share(const Mapping& pages, std::size_t whole, std::uint64_t words, std::uint64_t rounds,
                       const char* name, Sharing& sharing) noexcept
{
    new (&board_of(pages)) Board;
    const ::pid_t self = ::getpid();
    const ::pid_t peer = ::fork();
    if (peer < 0) {
        ::shm_unlink(name);
        return Sharing::Outcome::no_process;
    }
    if (peer == 0) {
        read_what_comes(name, whole, words, rounds, self);
    }
    const bool complete = write_to(pages, words, rounds, peer, name, sharing);
    int status = 0;
    const ::pid_t reaped = retry_interrupted([&] { return ::waitpid(peer, &status, 0); });
    return complete && (reaped < 0 || status == 0) ? Sharing::Outcome::done : Sharing::Outcome::peer_ended;
}

}  // namespace

Sharing share_with_a_process(std::uint64_t bytes, std::uint64_t rounds) noexcept
{
    static std::atomic<std::uint32_t> made{0};
    Sharing sharing;
    const std::uint64_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    const std::size_t whole = page_size() + words * sizeof(std::uint64_t);
    std::array<char, 64> name{};
    static_cast<void>(std::snprintf(name.data(), name.size(), "/memsweep-%d-share-%u", ::getpid(), ++made));
    const UniqueFd fd{::shm_open(name.data(), O_CREAT | O_EXCL | O_RDWR, 0600)};
    int error = fd.valid() ? EINTR : errno;
    if (fd.valid()) {
        ::flock(fd.get(), LOCK_EX | LOCK_NB);  // see remove_left_shared_memory
    }
    while (fd.valid() && error == EINTR) {
        error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(whole));
    }
    if (error != 0) {
        ::shm_unlink(name.data());
        sharing.outcome = error == ENOSPC ? Sharing::Outcome::shm_full : Sharing::Outcome::no_memory;
        return sharing;
    }
    const auto pages = map_shared(fd.get(), whole);
    if (!pages) {
        ::shm_unlink(name.data());
        sharing.outcome = Sharing::Outcome::no_memory;
        return sharing;
    }
    sharing.outcome = share(*pages, whole, words, rounds, name.data(), sharing);
    return sharing;
}

}  // namespace memsweep::sys
