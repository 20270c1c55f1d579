// recorded_memory KIND [END]: a program (hold:MIB holds so much) whose memory at its end is known by kind, and which
// ends as asked: exit (the default), _exit, abort, term or kill. It prints a line, so that what it prints can be
// compared.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using Function = void (*)();
constexpr std::size_t mib = std::size_t{1} << 20U;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc): what the program is for
std::array<char*, 60'000> kept;
std::size_t kept_count;

// So that no compiler leaves the writing out.
void write_all(char* block, std::size_t bytes)
{
    std::memset(block, 1, bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
}

[[gnu::noinline]] char* load_index(std::size_t bytes)
{
    auto* const block = static_cast<char*>(std::malloc(bytes));
    write_all(block, bytes);
    return block;
}

[[gnu::noinline]] char* keep_row(std::size_t bytes)
{
    auto* const block = static_cast<char*>(std::malloc(bytes));
    write_all(block, bytes);
    kept.at(kept_count++) = block;
    __asm__ volatile("" : : "r"(kept.data()) : "memory");
    return block;
}

// 200,000 blocks of the largest size that glibc's fastbins take, all freed.
void retain()
{
    std::vector<char*> blocks(200'000);
    for (char*& block : blocks) {
        block = load_index(120);
    }
    for (char* const block : blocks) {
        std::free(block);
    }
}

// Pairs of aligned blocks are freed around small ones that stay.
void aligned()
{
    for (int i = 0; i < 60; ++i) {
        auto* const one = static_cast<char*>(std::aligned_alloc(64, mib));
        auto* const other = static_cast<char*>(std::aligned_alloc(64, mib));
        write_all(one, mib);
        write_all(other, mib);
        keep_row(40);
        std::free(one);
        std::free(other);
    }
}

// Each of four threads frees all but a block in 32 of what it asks for.
void arenas()
{
    std::vector<std::thread> threads;
    static std::array<std::array<char*, 64>, 4> rows;
    std::atomic<std::size_t> begun{0};
    for (auto& own : rows) {
        threads.emplace_back([&own, &begun] {
            std::free(load_index(100));  // each has an arena before the first one ends, and leaves its own to another
            for (++begun; begun != rows.size();) {
                std::this_thread::yield();
            }
            std::vector<char*> queries;
            for (char*& row : own) {
                for (int i = 0; i < 32; ++i) {
                    queries.push_back(load_index(4000));
                }
                row = static_cast<char*>(std::malloc(600));
                write_all(row, 600);
            }
            for (char* const query : queries) {
                std::free(query);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// 32 MiB of huge pages, of which every 256th page is written.
void huge()
{
    constexpr std::size_t bytes = 32 * mib;
    constexpr std::size_t huge_page = 2 * mib;
    auto* const block = static_cast<char*>(std::aligned_alloc(huge_page, bytes));
    ::madvise(block, bytes, MADV_HUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += mib) {
        block[at] = 1;
    }
    kept.at(kept_count++) = block;
    __asm__ volatile("" : : "r"(kept.data()) : "memory");
}

[[gnu::noinline]] char* parse_query(std::size_t bytes)
{
    return load_index(bytes);
}

[[gnu::noinline]] void forget()
{
    auto* const block = static_cast<char*>(std::malloc(100));
    write_all(block, 100);
}

// Every eighth round loses a block, among others that come and go.
void leak()
{
    std::array<char*, 4000> cache{};
    std::uint32_t random = 1;
    for (int i = 0; i < 400'000; ++i) {
        random = random * 1664525U + 1013904223U;
        char* const query = parse_query(64 + (random >> 20U) % 900);
        if (i % 8 == 0) {
            forget();
        }
        char*& place = cache.at((random >> 8U) % cache.size());
        std::free(place);
        place = load_index(300);
        std::free(query);
    }
    for (char* const block : cache) {
        std::free(block);
    }
}

// What is lost, and nothing else.
void lose()
{
    for (int i = 0; i < 20'000; ++i) {
        static_cast<void>(load_index(1000));
    }
}

// As many rows as the frame of a program's first function may point to, which is gone at its end.
void frame()
{
    std::array<char*, 900> rows{};
    for (char*& row : rows) {
        row = load_index(20'000);
    }
    __asm__ volatile("" : : "r"(rows.data()) : "memory");
}

// What is added all the time is found by a table that the program has mapped directly before a block of malloc's: the
// kernel makes one mapping of both.
void table()
{
    constexpr std::size_t rows = 50'000;
    constexpr std::size_t bytes = mib / 2;
    constexpr std::size_t header = 16;  // of a block that glibc has mapped
    char** table = nullptr;
    for (int tries = 0; tries < 100 && table == nullptr; ++tries) {
        void* const wanted = load_index(mib) - header - bytes;
        void* const place =
            ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        table = place == MAP_FAILED ? nullptr : static_cast<char**>(place);
    }
    for (std::size_t i = 0; table != nullptr && i < rows; ++i) {
        std::free(parse_query(64 + i % 900));
        table[i] = load_index(200);
    }
}

// What is added all the time, and found again.
void grow()
{
    for (std::size_t i = 0; i < 400'000; ++i) {
        std::free(parse_query(64 + i % 900));
        if (i % 8 == 0) {
            keep_row(200);
        }
    }
}

void cache()
{
    for (int i = 0; i < 25'000; ++i) {
        keep_row(1000);
    }
}

// One block in 100 stays, of 240 bytes.
void pins()
{
    std::vector<char*> blocks;
    for (int i = 0; i < 200'000; ++i) {
        blocks.push_back(load_index(120));
        if (i % 25 == 0) {
            keep_row(24);
        }
    }
    for (char* const block : blocks) {
        std::free(block);
    }
}

void mapped()
{
    constexpr std::size_t bytes = 24 * mib;
    auto* const memory =
        static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    write_all(memory, bytes);
}

void shared()
{
    constexpr std::size_t bytes = 24 * mib;
    auto* const memory =
        static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    write_all(memory, bytes);
}

void little() {}

// 40 MiB are held for a third of a second, while another thread allocates and frees, and are given back then.
void peak()
{
    constexpr std::size_t block = 64'000;
    std::atomic<bool> is_over{false};
    std::thread other{[&is_over] {
        std::array<char*, 64> blocks{};
        for (std::uint32_t i = 0; !is_over; ++i) {
            char*& place = blocks.at(i * 2654435761U >> 26U);
            std::free(place);
            place = static_cast<char*>(std::malloc(16 + i % 2000));
        }
        for (char* const one : blocks) {
            std::free(one);
        }
    }};
    std::vector<char*> blocks;
    for (std::size_t held = 0; held < 40 * mib; held += block) {
        blocks.push_back(load_index(block));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    for (char* const one : blocks) {
        std::free(one);
    }
    ::malloc_trim(0);
    is_over = true;
    other.join();
}

void hold(std::size_t bytes)
{
    constexpr std::size_t block = 100'000;
    static std::vector<char*> blocks;
    for (std::size_t held = 0; held < bytes; held += block) {
        blocks.push_back(load_index(block));
    }
}
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc)

void end_as(std::string_view how)
{
    std::fflush(stdout);
    if (how == "_exit") {
        ::_exit(0);
    }
    if (how == "thread") {  // which asks for memory when the first thread has ended, and with it /proc/self/maps
        std::thread{[first = ::pthread_self()] {
            ::pthread_join(first, nullptr);
            cache();
            std::exit(0);
        }}.detach();
        ::pthread_exit(nullptr);
    }
    if (how == "abort") {
        std::abort();
    }
    if (how == "term" || how == "kill") {
        ::kill(::getpid(), how == "term" ? SIGTERM : SIGKILL);
        for (;;) {
            ::pause();
        }
    }
}

}  // namespace

int main(int count, char** words)
{
    const std::map<std::string_view, Function> kinds{
        {"retain", retain}, {"aligned", aligned}, {"arenas", arenas}, {"huge", huge},     {"leak", leak},
        {"grow", grow},     {"cache", cache},     {"pins", pins},     {"mapped", mapped}, {"shared", shared},
        {"little", little}, {"peak", peak},       {"lose", lose},     {"frame", frame},   {"table", table}};
    const auto found = count < 2 ? kinds.end() : kinds.find(words[1]);
    const std::string_view asked = count < 2 ? "" : words[1];
    constexpr std::string_view hold_kind = "hold:";
    if (asked.starts_with(hold_kind)) {
        hold(std::strtoull(words[1] + hold_kind.size(), nullptr, 10) * mib);
    } else if (found == kinds.end()) {
        return 2;
    } else {
        found->second();
    }
    std::puts("done");
    end_as(count < 3 ? "exit" : words[2]);
    return 0;
}
