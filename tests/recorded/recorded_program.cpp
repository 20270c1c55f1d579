// What a recorder must survive, one way of life per argument:
//
//   calls          every allocation function, with known sizes: prints the peak of its own live bytes
//   threads N      N threads at a time that pass blocks to each other, and end
//   fork           children that allocate, free what the parent allocated, and exit in different ways; a raw clone
//   exec           fork, exec of itself with `calls`
//   signals        a timer whose handler allocates, wherever it strikes
//   handler_forks  a timer whose handler forks, wherever it strikes; the children go on with what was interrupted
//   exits          ends by _exit with blocks alive; static destructors and thread destructors free
//   together HOW   four children hold 10 MB each at the same time, and end by HOW: exit, _exit, kill or exec
//   apart          10 MB are freed, and a third of a second later a child allocates as many; ends by _exit
//   loop N SIGNAL  allocates N times, then dies by the signal
//   closes         closes all descriptors, then allocates a lot into a file of its own
//   limits         no file may grow beyond 1 MiB, few descriptors are allowed, and its parent, stopped, empties no slot
//   wait           allocates, prints "ready", and waits to be killed
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void* volatile keep;  // what is stored here is not optimised away

void* kept(void* block)
{
    keep = block;
    return block;
}

struct Static {
    void* block{kept(std::malloc(111))};
    ~Static() { std::free(block); }
} static_block;

void churn(std::size_t count, std::uint64_t seed)
{
    std::array<void*, 200> slots{};
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        void*& slot = slots[(seed >> 33U) % slots.size()];
        if (slot == nullptr) {
            slot = kept(std::malloc(1 + (seed >> 40U) % 700));
        } else if (seed % 7 == 0) {
            slot = kept(std::realloc(slot, 1 + (seed >> 41U) % 900));
        } else {
            std::free(slot);
            slot = nullptr;
        }
    }
    for (void* slot : slots) {
        std::free(slot);
    }
}

int calls()
{
    // All live at once: 1000 + 5000 + 300 + 64 + 128 + 256 + 4096 + 4096 + 8000.
    std::vector<void*> blocks;
    blocks.reserve(16);
    void* aligned = nullptr;
    blocks.push_back(kept(std::malloc(1000)));
    blocks.push_back(kept(std::calloc(50, 100)));
    blocks.push_back(kept(std::realloc(std::realloc(nullptr, 10), 300)));
    blocks.push_back(kept(std::aligned_alloc(64, 64)));
    blocks.push_back(posix_memalign(&aligned, 128, 128) == 0 ? kept(aligned) : nullptr);
    blocks.push_back(kept(memalign(256, 256)));
    blocks.push_back(kept(valloc(4096)));
    blocks.push_back(kept(pvalloc(100)));
    blocks.push_back(kept(reallocarray(nullptr, 80, 100)));
    const volatile std::size_t too_much = SIZE_MAX / 2;
    if (std::malloc(too_much) != nullptr || std::calloc(too_much, 4) != nullptr || errno != ENOMEM) {
        return 1;
    }
    void* const mapped = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* const moved = mremap(mapped, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
    munmap(moved, 2 << 20);
    for (void* block : blocks) {
        std::free(block);
    }
    keep = std::realloc(std::malloc(20), 0);  // frees
    std::free(nullptr);
    return 0;
}

int threads(unsigned count)
{
    constexpr unsigned rounds = 20'000;
    std::vector<std::atomic<void*>> mailboxes(64);
    for (int generation = 0; generation < 3; ++generation) {
        std::vector<std::thread> running;
        for (unsigned number = 0; number < count; ++number) {
            running.emplace_back([&, number] {
                thread_local Static at_thread_exit;
                keep = at_thread_exit.block;
                std::uint64_t seed = number + 1;
                for (unsigned i = 0; i < rounds; ++i) {
                    seed = seed * 6364136223846793005U + 1442695040888963407U;
                    void* block = std::malloc(16 + (seed >> 40U) % 300);
                    if (seed % 5 == 0) {
                        block = std::realloc(block, 16 + (seed >> 42U) % 3000);
                    }
                    std::free(mailboxes[(seed >> 33U) % mailboxes.size()].exchange(block));
                }
            });
        }
        for (std::thread& thread : running) {
            thread.join();
        }
    }
    for (auto& mailbox : mailboxes) {
        std::free(mailbox.load());
    }
    return 0;
}

int forks()
{
    void* const inherited = std::malloc(500);
    for (int way = 0; way < 4; ++way) {
        const pid_t child =
            way == 3 ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)) : fork();
        if (child == 0) {
            churn(3'000, 7);
            std::free(inherited);
            keep = std::malloc(77);
            if (way == 0) {
                std::exit(0);
            }
            if (way == 1) {
                kill(getpid(), SIGKILL);
            }
            _exit(0);
        }
        churn(1'000, 9);
        waitpid(child, nullptr, 0);
    }
    std::free(inherited);
    return 0;
}

int executes(const char* self)
{
    const pid_t child = fork();
    if (child == 0) {
        keep = std::malloc(99);
        execl(self, self, "calls", nullptr);
        _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0 ? std::system("true") : 1;
}

std::atomic<int> struck;

int signals()
{
    struct sigaction action {};
    action.sa_handler = [](int) {
        // Between the program's own calls, where an allocator is whole; the recorder may be anywhere.
        ++struck;
        void* const block = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(block, 4096);
    };
    munmap(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (struck < 300) {
        churn(5'000, 3);
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    return 0;
}

std::atomic<bool> is_child;
std::atomic<int> failed_children;

int handler_forks()
{
    struct sigaction action {};
    action.sa_handler = [](int) {
        ++struck;
        const pid_t child = fork();
        if (child == 0) {
            is_child = true;
        } else if (child > 0) {
            int status = 0;
            waitpid(child, &status, 0);
            failed_children += status == 0 ? 0 : 1;
        }
    };
    sigaction(SIGALRM, &action, nullptr);
    for (std::uint64_t seed = 1; struck < 300; ++seed) {
        const itimerval once{{}, {0, static_cast<suseconds_t>(50 + seed % 200)}};
        const int before = struck;
        setitimer(ITIMER_REAL, &once, nullptr);
        while (struck == before) {
            churn(500, seed);
        }
        if (is_child) {
            churn(500, 7);
            _exit(0);
        }
    }
    return failed_children == 0 ? 0 : 1;
}

int loop(std::size_t count, int signal)
{
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    for (std::size_t i = 0; i < count; ++i) {
        keep = std::malloc(100);
    }
    return raise(signal);
}

// Our descriptors are closed, and others get their numbers: nothing of a recording may end up in them, and none of the
// lowest is taken.
int closes()
{
    for (int fd = 0; fd < 1100; ++fd) {
        close(fd);
    }
    churn(300'000, 5);
    for (int lowest = 0; lowest < 3; ++lowest) {
        if (memfd_create("own", 0) != lowest) {
            return 2;
        }
    }
    std::vector<int> files;
    for (int i = 0; i < 1000; ++i) {
        const int file = memfd_create("own", 0);
        if (file < 0) {
            break;
        }
        files.push_back(file);
    }
    churn(300'000, 5);
    for (const int file : files) {
        if (lseek(file, 0, SEEK_END) != 0) {
            return 1;
        }
    }
    return 0;
}

// No descriptor is left, for us or a recorder: neither here nor in a child.
int hoards()
{
    const rlimit few{64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    churn(1'000, 5);
    for (int fd = 3; fd < 1100; ++fd) {
        close(fd);
    }
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    const pid_t child = fork();
    if (child == 0) {
        churn(1'000, 5);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    churn(300'000, 5);
    return status;
}

int limits()
{
    const rlimit small{1 << 20, 1 << 20};
    const rlimit few{16, 16};
    setrlimit(RLIMIT_FSIZE, &small);
    setrlimit(RLIMIT_NOFILE, &few);
    kill(getppid(), SIGSTOP);
    churn(300'000, 5);
    kill(getppid(), SIGCONT);
    return 0;
}

constexpr std::size_t ten_megabytes = 10'000'000;

void end_by(const std::string& how)
{
    if (how == "exec") {
        execl("/bin/true", "true", nullptr);
    }
    if (how == "kill") {
        kill(getpid(), SIGKILL);
    }
    if (how == "exit") {
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): there is one thread
    }
    _exit(0);
}

int together(const std::string& how)
{
    constexpr int children = 4;
    std::array<int, 2> ready{};
    std::array<int, 2> go{};
    if (pipe(ready.data()) != 0 || pipe(go.data()) != 0) {
        return 1;
    }
    char byte = 0;
    for (int i = 0; i < children; ++i) {
        if (fork() == 0) {
            close(go[1]);
            keep = std::malloc(ten_megabytes);
            static_cast<void>(write(ready[1], &byte, 1));
            static_cast<void>(read(go[0], &byte, 1));  // until nobody can write
            end_by(how);
        }
    }
    for (int i = 0; i < children; ++i) {
        static_cast<void>(read(ready[0], &byte, 1));
    }
    close(go[1]);
    while (wait(nullptr) > 0) {
    }
    return 0;
}

int apart()
{
    constexpr useconds_t third = 333'000;
    std::free(kept(std::malloc(ten_megabytes)));
    usleep(third);
    if (fork() == 0) {
        keep = std::malloc(ten_megabytes);
        _exit(0);
    }
    wait(nullptr);
    usleep(third);
    _exit(0);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string way = argc > 1 ? argv[1] : "";
    const auto number = [&](int at) { return argc > at ? std::strtoul(argv[at], nullptr, 10) : 0; };
    if (way == "calls") {
        return calls();
    }
    if (way == "threads") {
        return threads(static_cast<unsigned>(number(2)));
    }
    if (way == "fork") {
        return forks();
    }
    if (way == "exec") {
        return executes(argv[0]);
    }
    if (way == "signals") {
        return signals();
    }
    if (way == "handler_forks") {
        return handler_forks();
    }
    if (way == "exits") {
        keep = std::malloc(1234);
        _exit(3);
    }
    if (way == "together") {
        return together(argc > 2 ? argv[2] : "");
    }
    if (way == "apart") {
        return apart();
    }
    if (way == "loop") {
        return loop(number(2), static_cast<int>(number(3)));
    }
    if (way == "closes") {
        return closes();
    }
    if (way == "hoards") {
        return hoards();
    }
    if (way == "limits") {
        return limits();
    }
    if (way == "wait") {
        churn(10'000, 3);
        keep = std::malloc(4321);
        std::puts("ready");
        std::fflush(stdout);
        for (;;) {
            pause();
        }
    }
    if (way == "status") {
        return static_cast<int>(number(2));
    }
    return 64;
}
