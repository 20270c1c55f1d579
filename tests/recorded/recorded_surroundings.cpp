// What a program has beside its blocks, for what a recording says of it:
//
//   maps PLUGIN        itself 3 mappings of 1 MiB, one of which goes; the plugin 2 of 2 MiB, one of which is cut
//   killed PLUGIN      the same, and dies by SIGKILL
//   fork PLUGIN        the same in a child
//   storm N R PLUGIN   N threads open the plugin, let it map and unmap 64 KiB, and close it, R times each
//   threads N          N threads at a time, twice, with stacks of the default size, one of their own and a given one,
//                      that never allocate: prints number, first address and bytes of each, as the C library has it
//   sizes [killed]     blocks of many sizes and alignments that stay, with others that come and go: prints size,
//                      alignment (0: malloc's) and what malloc_usable_size says of each; or dies by SIGKILL
//   sizes_in_threads N  the same, of sizes of their own, in N threads
//   remap FILE         mappings of a file, anonymous ones and shared ones, moved and resized
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t mib = 1U << 20U;
constexpr int readable = PROT_READ | PROT_WRITE;

int failed(const char* what)
{
    std::perror(what);
    return 1;
}

struct Plugin {
    explicit Plugin(const char* path) : library{dlopen(path, RTLD_NOW)}
    {
        if (library == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(2);
        }
        map = reinterpret_cast<void* (*)(std::size_t)>(dlsym(library, "plugin_map"));
        unmap = reinterpret_cast<int (*)(void*, std::size_t)>(dlsym(library, "plugin_unmap"));
    }
    void* library;
    void* (*map)(std::size_t);
    int (*unmap)(void*, std::size_t);
};

int maps(const char* path)
{
    std::vector<void*> own(3);
    for (void*& at : own) {
        at = mmap(nullptr, mib, readable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    munmap(own[1], mib);
    const Plugin plugin{path};
    static_cast<void>(plugin.map(2 * mib));
    void* const second = plugin.map(2 * mib);
    return plugin.unmap(static_cast<char*>(second) + mib, mib);
}

int forks(const char* path)
{
    const pid_t child = fork();
    if (child == 0) {
        _exit(maps(path));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

int storm(unsigned threads, unsigned rounds, const char* path)
{
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i) {
        running.emplace_back([=] {
            for (unsigned round = 0; round < rounds; ++round) {
                const Plugin plugin{path};
                plugin.unmap(plugin.map(mib / 16), mib / 16);
                dlclose(plugin.library);
            }
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    return 0;
}

struct Sized {
    std::size_t size;
    std::size_t alignment;
    std::size_t usable;
};

// Sizes from `first` on, `step` apart.
std::vector<Sized> sizes_from(std::size_t first, std::size_t step)
{
    std::vector<Sized> found;
    found.reserve(4'000);
    const auto keep = [&](std::size_t size, std::size_t alignment, void* block) {
        found.push_back({size, alignment, malloc_usable_size(block)});
    };
    for (std::size_t size = first; size < 8'000; size += step) {
        std::free(std::malloc(size + 1));
        keep(size, 0, size % 3 == 0 ? std::calloc(1, size) : std::malloc(size));
        std::free(std::realloc(std::malloc(10), 20'000 + size));
    }
    for (std::size_t size = 60'000 + first; size < 3'000'000; size += size / 3) {
        keep(size, 0, std::malloc(size));
    }
    for (std::size_t alignment = 32; alignment <= 4096; alignment *= 2) {
        for (const std::size_t size : {alignment / 2 + first, 3 * alignment + first}) {
            void* block = nullptr;
            if (posix_memalign(&block, alignment, size) == 0) {
                keep(size, alignment, block);
            }
        }
    }
    return found;
}

void print(const std::vector<Sized>& found)
{
    for (const Sized& one : found) {
        std::printf("%zu %zu %zu\n", one.size, one.alignment, one.usable);
    }
}

int sizes(bool is_killed)
{
    const std::vector<Sized> found = sizes_from(1, 13);
    if (is_killed) {
        return raise(SIGKILL);
    }
    print(found);
    return 0;
}

int sizes_in_threads(unsigned count)
{
    std::vector<std::vector<Sized>> found(count);
    std::vector<std::thread> running;
    for (unsigned i = 0; i < count; ++i) {
        running.emplace_back([&, i] { found[i] = sizes_from(1 + i, count); });
    }
    for (unsigned i = 0; i < count; ++i) {
        running[i].join();
        print(found[i]);
    }
    return 0;
}

std::atomic<unsigned> waiting;
std::atomic<bool> may_end;
std::vector<pid_t> numbers;

void* wait_to_end(void* number)
{
    *static_cast<pid_t*>(number) = gettid();
    ++waiting;
    while (!may_end) {
        usleep(100);
    }
    return nullptr;
}

// The given stacks lie in one mapping, and have no guards.
int threads(unsigned count)
{
    const std::size_t bytes = mib / 4;
    auto* const given =
        static_cast<char*>(mmap(nullptr, count * bytes, readable, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (int round = 0; round < 2; ++round) {
        waiting = 0;
        may_end = false;
        numbers.assign(count, 0);
        std::vector<pthread_t> running(count);
        for (unsigned i = 0; i < count; ++i) {
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            if (i % 4 == 1) {
                pthread_attr_setstacksize(&attributes, bytes * (1 + i));
            } else if (i % 4 == 2) {
                pthread_attr_setstack(&attributes, given + i * bytes, bytes);
            } else if (i % 4 == 3) {
                pthread_attr_setstacksize(&attributes, bytes);
                pthread_attr_setguardsize(&attributes, 0);
            }
            if (pthread_create(&running[i], i % 4 == 0 ? nullptr : &attributes, wait_to_end, &numbers[i]) != 0) {
                return failed("pthread_create");
            }
            pthread_attr_destroy(&attributes);
        }
        while (waiting != count) {
            usleep(1000);
        }
        for (unsigned i = 0; i < count; ++i) {
            pthread_attr_t attributes;
            void* low = nullptr;
            std::size_t size = 0;
            pthread_getattr_np(running[i], &attributes);
            pthread_attr_getstack(&attributes, &low, &size);
            pthread_attr_destroy(&attributes);
            std::printf("%d %zu %zu\n", numbers[i], reinterpret_cast<std::size_t>(low), size);
        }
        may_end = true;
        for (const pthread_t thread : running) {
            pthread_join(thread, nullptr);
        }
    }
    return 0;
}

int remap(const char* path)
{
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4 * mib) != 0) {
        return failed(path);
    }
    for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
        void* const mapped = mmap(nullptr, mib, readable, flags, file, 0);
        void* const moved = mremap(mapped, mib, 2 * mib, MREMAP_MAYMOVE);
        munmap(moved, 2 * mib);
    }
    for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
        void* const mapped = mmap(nullptr, 2 * mib, readable, flags | MAP_ANONYMOUS, -1, 0);
        static_cast<void>(mremap(mapped, 2 * mib, mib, MREMAP_MAYMOVE));
    }
    return 0;
}

}  // namespace

int main(int count, char** words)
{
    const std::string_view what = count > 1 ? words[1] : "";
    const auto number = [&](int at) { return static_cast<unsigned>(std::strtoul(words[at], nullptr, 10)); };
    if (what == "maps" && count == 3) {
        return maps(words[2]);
    }
    if (what == "killed" && count == 3) {
        maps(words[2]);
        return raise(SIGKILL);
    }
    if (what == "fork" && count == 3) {
        return forks(words[2]);
    }
    if (what == "storm" && count == 5) {
        return storm(number(2), number(3), words[4]);
    }
    if (what == "threads" && count == 3) {
        return threads(number(2));
    }
    if (what == "sizes") {
        return sizes(count == 3);
    }
    if (what == "sizes_in_threads" && count == 3) {
        return sizes_in_threads(number(2));
    }
    if (what == "remap" && count == 3) {
        return remap(words[2]);
    }
    return 64;
}
