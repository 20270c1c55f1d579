// recorded_sites KIND [--without load|keep] [--ask]: a program of two call sites, of which one leaves pages behind and
// the other pins them: blocks of `load_batch` are freed at the end, small ones of `keep_entry` that lie between them
// stay. KIND is one (a thread), or threads (four of them, all there before one begins, so that each has its arena, and
// joined before the end). `--without`: it never calls that
// site. It prints the anonymous memory that it holds then, by the kernel's word, and with --ask also what it holds once
// malloc_trim was called.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc): what the program is for
constexpr std::size_t batch = 40'000;
constexpr std::size_t between = 32;
constexpr std::size_t most_threads = 4;
std::array<std::array<char*, batch>, most_threads> loaded;
std::array<std::array<char*, batch / between>, most_threads> kept;
pthread_barrier_t all_there;
bool loads = true;
bool keeps = true;

// So that no compiler leaves the writing out.
char* written(char* block, std::size_t bytes)
{
    std::memset(block, 1, bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
    return block;
}

// What differs in them keeps a compiler from making one function of both.
[[gnu::noinline, gnu::noclone]] char* load_batch(std::size_t bytes)
{
    __asm__ volatile("" : : "r"(loaded.data()));
    return written(static_cast<char*>(std::malloc(bytes)), bytes);
}

[[gnu::noinline, gnu::noclone]] char* keep_entry(std::size_t bytes)
{
    __asm__ volatile("" : : "r"(kept.data()));
    return written(static_cast<char*>(std::malloc(bytes)), bytes);
}

void work(std::size_t thread)
{
    for (std::size_t i = 0; i < batch; ++i) {
        loaded.at(thread).at(i) = loads ? load_batch(160) : nullptr;
        if (i % between == 0 && keeps) {
            kept.at(thread).at(i / between) = keep_entry(48);
        }
    }
    for (char* const block : loaded.at(thread)) {
        std::free(block);
    }
}

void work_among_others(std::size_t thread)
{
    std::free(written(static_cast<char*>(std::malloc(1)), 1));  // glibc gives an arena to who first asks for memory
    ::pthread_barrier_wait(&all_there);
    work(thread);
}

// Without a call of malloc.
unsigned long anonymous_bytes()
{
    static std::array<char, 4096> text;
    const int file = ::open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t length = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    const char* const at = length > 0 ? std::strstr(text.data(), "\nAnonymous:") : nullptr;
    return at == nullptr ? 0 : std::strtoul(at + 11, nullptr, 10) * 1024;
}

void print(unsigned long number)
{
    std::array<char, 32> line{};
    const int length = std::snprintf(line.data(), line.size(), "%lu\n", number);
    if (::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(length)) != length) {
        ::_exit(2);
    }
}
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc)

}  // namespace

int main(int argc, char** argv)
{
    bool asks = false;
    for (int i = 2; i < argc; ++i) {
        const std::string_view word{argv[i]};
        asks = asks || word == "--ask";
        loads = loads && word != "load";
        keeps = keeps && word != "keep";
    }
    if (argc > 1 && std::string_view{argv[1]} == "threads") {
        ::pthread_barrier_init(&all_there, nullptr, most_threads);
        std::array<std::thread, most_threads> threads;
        for (std::size_t i = 0; i < most_threads; ++i) {
            threads.at(i) = std::thread{work_among_others, i};
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    } else {
        for (std::size_t i = 0; i < most_threads; ++i) {
            work(i);
        }
    }
    print(anonymous_bytes());
    if (asks) {
        ::malloc_trim(0);
        print(anonymous_bytes());
    }
    return 0;
}
