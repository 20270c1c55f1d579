// Allocates in call trees that are known, one way of life per argument:
//
//   tree               functions that call each other, also themselves
//   deep               a recursion of 300 calls
//   aligned            a function whose frame is aligned, and has room that is asked for as it runs
//   handler            a signal's handler allocates, on the thread's stack, on one of its own
//   timer MS           a timer's handler allocates wherever it strikes, or leaves by siglongjmp, for so long
//   coroutine          allocates on a stack of its own (makecontext)
//   fork               parent and child
//   exec               becomes itself with `tree`
//   threads N          each allocates a thousand times
//   storm N R LIBRARY  N threads open the library, let it allocate, and close it, R times each
//   loop FILE          allocates until it is killed, and counts in the file's first eight bytes what it has done
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

#define APART __attribute__((noinline))

std::atomic<int> done;  // whatever comes behind a call, so that no call is the last thing a function does

APART void leaf_a()
{
    std::free(std::malloc(16));
    ++done;
}

APART void leaf_b()
{
    std::free(std::calloc(1, 100));
    ++done;
}

APART void middle(int count)
{
    for (int i = 0; i < count; ++i) {
        leaf_a();
        if (i % 3 == 0) {
            leaf_b();
        }
    }
    ++done;
}

APART void grower(int count)
{
    std::array<char, 300> room{};
    room[static_cast<std::size_t>(count) % room.size()] = 1;
    for (int i = 0; i < count; ++i) {
        void* block = std::malloc(24);
        block = std::realloc(block, 5000);
        std::free(block);
    }
    done += room[7];
}

APART void descend(int depth)
{
    if (depth == 0) {
        leaf_a();
    } else {
        descend(depth - 1);
    }
    ++done;
}

APART void aligned_frame(std::size_t bytes)
{
    alignas(64) std::array<char, 64> room{};
    auto* const more = static_cast<char*>(alloca(bytes));
    std::memset(more, 1, bytes);
    room[static_cast<std::size_t>(more[0])] = 1;
    leaf_a();
    done += room[1] + static_cast<int>(reinterpret_cast<std::uintptr_t>(room.data()) % 64);
}

APART void on_signal(int /*number*/)
{
    leaf_b();
    ++done;
}

APART void raiser(int count)
{
    for (int i = 0; i < count; ++i) {
        ::raise(SIGUSR1);
    }
    ++done;
}

APART void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigaction(number, &action, nullptr);
    ++done;
}

sigjmp_buf somewhere;
std::atomic<int> strikes;
volatile std::sig_atomic_t may_jump;

APART void on_timer(int /*number*/)
{
    leaf_b();
    if (++strikes % 16 == 0 && may_jump != 0) {
        may_jump = 0;
        siglongjmp(somewhere, 1);
    }
}

APART void under_a_timer(int milliseconds)
{
    handle(SIGALRM, on_timer, SA_RESTART);
    const itimerval often{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    timespec begin{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long passed = 0; passed < milliseconds;) {
        if (sigsetjmp(somewhere, 1) == 0) {
            may_jump = 1;
        }
        for (int i = 0; i < 100; ++i) {
            ++done;  // nothing that a jump would leave half done
        }
        may_jump = 0;
        middle(10);
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        passed = (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000;
    }
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    std::fprintf(stderr, "%d\n", strikes.load());
}

ucontext_t outside;
ucontext_t inside;

APART void coroutine()
{
    leaf_b();
    ::swapcontext(&inside, &outside);
    leaf_a();
    ++done;
}

APART void resume()
{
    static std::array<char, 64 << 10> stack;
    ::getcontext(&inside);
    inside.uc_stack.ss_sp = stack.data();
    inside.uc_stack.ss_size = stack.size();
    inside.uc_link = &outside;
    ::makecontext(&inside, coroutine, 0);
    ::swapcontext(&outside, &inside);
    leaf_b();
    ::swapcontext(&outside, &inside);
    ++done;
}

APART void in_child()
{
    for (int i = 0; i < 30; ++i) {
        leaf_b();
    }
    ++done;
}

APART void forking()
{
    middle(50);
    if (const pid_t child = ::fork(); child == 0) {
        in_child();
        middle(10);
        ::_exit(0);
    } else {
        middle(20);
        ::waitpid(child, nullptr, 0);
    }
    ++done;
}

APART void thread_body()
{
    for (int i = 0; i < 1000; ++i) {
        leaf_a();
    }
    ++done;
}

APART void with_library(const char* path, int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void (*allocate)(int) = nullptr;
        void* const found = library == nullptr ? nullptr : ::dlsym(library, "plugin_allocate");
        std::memcpy(&allocate, &found, sizeof found);
        if (allocate == nullptr) {
            std::abort();
        }
        allocate(5);
        leaf_a();
        ::dlclose(library);
    }
    ++done;
}

template <typename Body>
void in_threads(int count, Body body)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back(body);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

APART int run(int count, char** words)
{
    const std::string_view what = count > 1 ? words[1] : "";
    const auto number = [&](int index) { return count > index ? std::atoi(words[index]) : 0; };
    if (what == "tree") {
        middle(300);
        grower(200);
        descend(20);
        for (int i = 0; i < 5; ++i) {
            middle(7);
        }
    } else if (what == "deep") {
        descend(300);
    } else if (what == "aligned") {
        aligned_frame(static_cast<std::size_t>(count) + 100);
    } else if (what == "handler") {
        handle(SIGUSR1, on_signal, 0);
        raiser(10);
        static std::array<char, 64 << 10> room;
        stack_t own{};
        own.ss_sp = room.data();
        own.ss_size = room.size();
        ::sigaltstack(&own, nullptr);
        handle(SIGUSR1, on_signal, SA_ONSTACK);
        raiser(7);
    } else if (what == "timer") {
        under_a_timer(number(2));
    } else if (what == "coroutine") {
        resume();
    } else if (what == "fork") {
        forking();
    } else if (what == "exec") {
        middle(3);
        ::execl("/proc/self/exe", words[0], "tree", nullptr);
    } else if (what == "threads") {
        in_threads(number(2), thread_body);
    } else if (what == "storm") {
        in_threads(number(2), [&] { with_library(words[4], number(3)); });
    } else if (what == "loop") {
        const int file = ::open(words[2], O_RDWR);
        void* const shared = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared == MAP_FAILED) {
            return 2;
        }
        for (auto& finished = *static_cast<std::atomic<std::uint64_t>*>(shared);; ++finished) {
            middle(1);
        }
    } else {
        return 2;
    }
    return done == 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** words)
{
    const int status = run(count, words);
    return status + (done == 0 ? 1 : 0);
}
