// programs KIND SEED: a program of up to six call sites, site_1 to site_6, whose memory at its end depends on all of
// them. WITHOUT=K in its environment: site K is never called. With ASK in it, it prints two numbers as its last act:
// the anonymous memory that it holds, by the kernel's word, and what it still holds once the allocator that serves it
// was asked to give back. Without ASK it prints nothing and ends as it is.
//
//   cache    one site keeps 24 MiB
//   retain   one site, all of it freed
//   pins     blocks that are freed, and one in 32 between them that stays
//   aligned  aligned blocks that are freed around small ones that stay
//   random   six sites of random sizes, lives and shares that stay, by the seed
//   churn    six sites that replace each other's blocks for long, by the seed
//   arenas   pins, in each of four threads, joined before the end
//   handed   four threads; each frees what another has made
//   phases   as random, two threads in turns
#include <array>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

namespace {

// What the program is for.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc,concurrency-mt-unsafe)
int left_out = 0;

// So that no compiler leaves the writing out, and no site becomes another.
char* written(void* block, std::size_t bytes)
{
    std::memset(block, 1, bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
    return static_cast<char*>(block);
}

#define SITE(number)                                                                                                   \
    [[gnu::noinline, gnu::noclone]] char* site_##number(std::size_t bytes)                                             \
    {                                                                                                                  \
        return left_out == (number) ? nullptr : written(std::malloc(bytes), bytes);                                    \
    }
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
[[gnu::noinline, gnu::noclone]] char* aligned_1(std::size_t bytes)
{
    return left_out == 1 ? nullptr : written(std::aligned_alloc(64, bytes), bytes);
}

using Site = char* (*)(std::size_t);
constexpr std::array<Site, 6> sites{site_1, site_2, site_3, site_4, site_5, site_6};
constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t most_threads = 4;

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_{seed * 7919 + 1}
    {
        for (int i = 0; i < 10; ++i) {
            static_cast<void>(below(2));
        }
    }
    std::uint64_t below(std::uint64_t bound)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state_ >> 33U) % bound;
    }

  private:
    std::uint64_t state_;
};

// What the programs themselves need lies in no heap.
std::array<char*, 400'000> blocks;
std::array<bool, 400'000> is_doomed;

void cache()
{
    for (std::size_t i = 0; i < 25'000; ++i) {
        blocks.at(i) = site_1(1000);
    }
}

void retain()
{
    for (std::size_t i = 0; i < 200'000; ++i) {
        blocks.at(i) = site_1(120);
    }
    for (std::size_t i = 0; i < 200'000; ++i) {
        std::free(blocks.at(i));
    }
}

void pins_in(std::size_t first, std::size_t count)
{
    for (std::size_t i = first; i < first + count; ++i) {
        blocks.at(i) = i % 33 == 0 ? site_2(48) : site_1(160);
    }
    for (std::size_t i = first; i < first + count; ++i) {
        if (i % 33 != 0) {
            std::free(blocks.at(i));
        }
    }
}

void aligned()
{
    for (std::size_t i = 0; i < 60; ++i) {
        char* const one = aligned_1(mib);
        char* const other = aligned_1(mib);
        blocks.at(i) = site_2(40);
        std::free(one);
        std::free(other);
    }
}

struct Habit {
    std::uint64_t size{};
    std::uint64_t stays{};  // of a thousand
    std::uint64_t weight{};
};

Habit habit(Random& random)
{
    constexpr std::array<std::array<std::uint64_t, 2>, 5> sizes{
        {{16, 64}, {64, 200}, {200, 1000}, {1000, 3000}, {2000, 30'000}}};
    const auto& [least, more] = sizes.at(random.below(5));
    const std::uint64_t kind = random.below(4);
    const std::uint64_t size = least + random.below(more);
    const std::uint64_t stays = kind == 0   ? 0
                                : kind == 1 ? 1 + random.below(4)
                                : kind == 2 ? 10 + random.below(60)
                                            : 1000;
    return {size, stays, size > 4000 ? 1 : 1 + random.below(20)};
}

void random_lives(Random random, std::size_t first, std::size_t most_bytes)
{
    std::array<Habit, 6> habits;
    std::uint64_t all = 0;
    for (Habit& one : habits) {
        one = habit(random);
        all += one.weight;
    }
    std::size_t count = first;
    constexpr std::size_t most = 60'000;
    for (std::size_t bytes = 0; count < first + most && bytes < most_bytes; ++count) {
        std::size_t site = 0;
        for (std::uint64_t at = random.below(all); at >= habits.at(site).weight; ++site) {
            at -= habits.at(site).weight;
        }
        const std::uint64_t size =
            habits.at(site).size + (random.below(4) == 0 ? random.below(habits.at(site).size) : 0);
        blocks.at(count) = sites.at(site)(size);
        bytes += size;
        is_doomed.at(count) = random.below(1000) >= habits.at(site).stays;
        if (random.below(3) == 0) {
            const std::size_t victim = first + random.below(count + 1 - first);
            if (is_doomed.at(victim)) {
                std::free(blocks.at(victim));
                blocks.at(victim) = nullptr;
            }
        }
    }
    for (std::size_t i = first; i < count; ++i) {
        if (is_doomed.at(i)) {
            std::free(blocks.at(i));
        }
    }
}

void churn(Random random)
{
    constexpr std::size_t most = 12'000;
    struct Churning {
        std::uint64_t size, count, end, share, varies;
    };
    std::array<Churning, 6> all{};
    for (Churning& one : all) {
        const std::uint64_t kind = random.below(4);
        one.size = kind == 0   ? 16 + random.below(100)
                   : kind == 1 ? 100 + random.below(400)
                   : kind == 2 ? 500 + random.below(1500)
                               : 2000 + random.below(6000);
        one.count = one.size > 1500 ? 200 + random.below(1200) : 1000 + random.below(most - 1000);
        one.end = random.below(3);
        one.share = random.below(3) == 0 ? 1 + random.below(10) : random.below(1000);
        one.varies = random.below(2);
    }
    for (std::size_t i = 0; i < 600'000; ++i) {
        const std::size_t site = random.below(6);
        const Churning& one = all.at(site);
        char*& place = blocks.at(site * most + random.below(one.count));
        const std::uint64_t size = one.size + (one.varies != 0 ? random.below(one.size) : 0);
        std::free(place);
        const bool makes = random.below(3) < 1 + (i / 100'000 + site) % 3;
        place = makes ? sites.at(site)(size) : nullptr;
    }
    for (std::size_t site = 0; site < 6; ++site) {
        const Churning& one = all.at(site);
        for (std::size_t i = 0; i < one.count; ++i) {
            const std::uint64_t drawn = random.below(1000);
            if (one.end == 0 || (one.end == 1 && drawn >= one.share)) {
                std::free(blocks.at(site * most + i));
                blocks.at(site * most + i) = nullptr;
            }
        }
    }
}

template <typename Work>
void in_threads(const Work& work)
{
    std::array<std::thread, most_threads> threads;
    for (std::size_t i = 0; i < most_threads; ++i) {
        threads.at(i) = std::thread{work, i};
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void handed()
{
    constexpr std::size_t each = 40'000;
    std::barrier made{static_cast<std::ptrdiff_t>(most_threads)};
    in_threads([&](std::size_t thread) {
        for (std::size_t i = 0; i < each; ++i) {
            blocks.at(thread * each + i) = i % 33 == 0 ? site_2(64) : site_1(200);
        }
        made.arrive_and_wait();
        const std::size_t other = (thread + 1) % most_threads;
        for (std::size_t i = 0; i < each; ++i) {
            if (i % 33 != 0) {
                std::free(blocks.at(other * each + i));
            }
        }
    });
}

void phases(std::uint64_t seed)
{
    for (std::size_t i = 0; i < 2; ++i) {
        std::thread{random_lives, Random{seed + i}, i * 60'000, 24 * mib}.join();
    }
}

unsigned long anonymous_bytes()
{
    static std::array<char, 4096> text;
    const int file = ::open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t length = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    const char* const at = length > 0 ? std::strstr(text.data(), "\nAnonymous:") : nullptr;
    return at == nullptr ? 0 : std::strtoul(at + 11, nullptr, 10) * 1024;
}

template <typename Function>
Function found(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

void give_back()
{
    using Mallctl = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
    if (const auto mallctl = found<Mallctl>("mallctl")) {
        mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
    } else if (const auto collect = found<void (*)(bool)>("mi_collect")) {
        collect(true);
    } else if (const auto release = found<void (*)()>("MallocExtension_ReleaseFreeMemory")) {
        release();
    } else {
        ::malloc_trim(0);
    }
}

bool run(std::string_view kind, std::uint64_t seed)
{
    if (kind == "cache") {
        cache();
    } else if (kind == "retain") {
        retain();
    } else if (kind == "pins") {
        pins_in(0, 160'000);
    } else if (kind == "aligned") {
        aligned();
    } else if (kind == "random") {
        random_lives(Random{seed}, 0, 48 * mib);
    } else if (kind == "churn") {
        churn(Random{seed});
    } else if (kind == "arenas") {
        in_threads([](std::size_t thread) { pins_in(thread * 40'000, 40'000); });
    } else if (kind == "handed") {
        handed();
    } else if (kind == "phases") {
        phases(seed);
    } else {
        return false;
    }
    return true;
}
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,cppcoreguidelines-no-malloc,concurrency-mt-unsafe)

}  // namespace

int main(int argc, char** argv)
{
    const char* const without = std::getenv("WITHOUT");
    left_out = without == nullptr ? 0 : std::atoi(without);
    if (argc != 3 || !run(argv[1], std::strtoull(argv[2], nullptr, 10))) {
        return 2;
    }
    if (std::getenv("ASK") != nullptr) {
        const unsigned long held = anonymous_bytes();
        give_back();
        std::array<char, 64> line{};
        const int length = std::snprintf(line.data(), line.size(), "%lu %lu\n", held, anonymous_bytes());
        return ::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(length)) == length ? 0 : 2;
    }
    return 0;
}
