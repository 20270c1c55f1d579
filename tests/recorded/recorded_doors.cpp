// Comes in by every door that allocators have, and says what a recording of it must hold beyond that of `nothing`: one
// line of JSON with the number of events by kind, the bytes asked for and the bytes that stay.
//
//   nothing        no door
//   c              malloc and its like
//   new            operator new and delete in all forms
//   threads        those on four threads
//   fork           those in a child as well
//   refused        sizes that nobody can give: prints by which way each was refused
//   handler        a new_handler that gives up after three tries
//   mallocx, mi, tc  the allocator's own functions; `none` where they are not there
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMSWEEP_IF_THERE extern "C" __attribute__((weak))
// NOLINTBEGIN(readability-identifier-naming): the allocators' names
MEMSWEEP_IF_THERE void* mallocx(std::size_t bytes, int flags);
MEMSWEEP_IF_THERE void* rallocx(void* block, std::size_t bytes, int flags);
MEMSWEEP_IF_THERE std::size_t xallocx(void* block, std::size_t bytes, std::size_t extra, int flags);
MEMSWEEP_IF_THERE void dallocx(void* block, int flags);
MEMSWEEP_IF_THERE void sdallocx(void* block, std::size_t bytes, int flags);

MEMSWEEP_IF_THERE void* mi_malloc(std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_zalloc(std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_calloc(std::size_t count, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_mallocn(std::size_t count, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_realloc(void* block, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_malloc_aligned(std::size_t bytes, std::size_t alignment);
MEMSWEEP_IF_THERE int mi_posix_memalign(void** into, std::size_t alignment, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_new(std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_new_n(std::size_t count, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_new_nothrow(std::size_t bytes);
MEMSWEEP_IF_THERE char* mi_strdup(const char* text);
MEMSWEEP_IF_THERE void mi_free(void* block);
MEMSWEEP_IF_THERE void mi_free_size(void* block, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_heap_new();
MEMSWEEP_IF_THERE void* mi_heap_malloc(void* heap, std::size_t bytes);
MEMSWEEP_IF_THERE void* mi_heap_calloc(void* heap, std::size_t count, std::size_t bytes);
MEMSWEEP_IF_THERE void mi_heap_destroy(void* heap);

MEMSWEEP_IF_THERE void* tc_malloc(std::size_t bytes);
MEMSWEEP_IF_THERE void* tc_calloc(std::size_t count, std::size_t bytes);
MEMSWEEP_IF_THERE void* tc_realloc(void* block, std::size_t bytes);
MEMSWEEP_IF_THERE void* tc_memalign(std::size_t alignment, std::size_t bytes);
MEMSWEEP_IF_THERE void* tc_new(std::size_t bytes);
MEMSWEEP_IF_THERE void* tc_newarray(std::size_t bytes);
MEMSWEEP_IF_THERE void tc_free(void* block);
MEMSWEEP_IF_THERE void tc_free_sized(void* block, std::size_t bytes);
MEMSWEEP_IF_THERE void tc_delete(void* block);
MEMSWEEP_IF_THERE void tc_deletearray_sized(void* block, std::size_t bytes);
// NOLINTEND(readability-identifier-naming)

namespace {

struct Expected {
    std::uint64_t allocations{};  // malloc
    std::uint64_t zeroed{};       // calloc
    std::uint64_t aligned{};
    std::uint64_t moved{};  // realloc
    std::uint64_t freed{};
    std::uint64_t refused{};
    std::uint64_t bytes{};
    std::uint64_t live{};
};

constexpr std::size_t rounds = 1000;
constexpr std::size_t too_much = std::size_t{1} << 60U;
void* volatile keep;  // what is stored here is not optimised away

void* kept(void* block)
{
    keep = block;
    if (block == nullptr) {
        std::puts("refused");
        std::exit(9);
    }
    std::memset(block, 1, 1);
    return block;
}

void print(const Expected& all)
{
    std::printf("{\"malloc\": %ju, \"calloc\": %ju, \"aligned_alloc\": %ju, \"realloc\": %ju, \"free\": %ju, "
                "\"failed_alloc\": %ju, \"bytes\": %ju, \"live\": %ju}\n",
                all.allocations, all.zeroed, all.aligned, all.moved, all.freed, all.refused, all.bytes, all.live);
    std::fflush(stdout);
}

Expected c()
{
    Expected all;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t bytes = 16 + i;
        void* aligned = nullptr;
        std::free(kept(std::malloc(bytes)));
        std::free(kept(std::calloc(2, bytes)));
        void* const block = kept(std::malloc(bytes));
        std::free(kept(std::realloc(block, 3 * bytes)));
        std::free(kept(std::aligned_alloc(64, 64 * bytes)));
        std::free(posix_memalign(&aligned, 128, bytes) == 0 ? kept(aligned) : nullptr);
        std::free(kept(memalign(32, bytes)));
        std::free(kept(reallocarray(nullptr, 3, bytes)));
        all.allocations += 2;
        all.zeroed += 1;
        all.aligned += 3;
        all.moved += 2;
        all.freed += 7;
        all.bytes += (1 + 2 + 1 + 3 + 64 + 1 + 1 + 3) * bytes;
    }
    return all;
}

Expected operators()
{
    constexpr std::align_val_t wide{64};
    Expected all;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t bytes = 16 + i;
        const std::size_t whole = 64 * bytes;
        ::operator delete(kept(::operator new(bytes)));
        ::operator delete[](kept(::operator new[](bytes)));
        ::operator delete(kept(::operator new(bytes, std::nothrow)), std::nothrow);
        ::operator delete[](kept(::operator new[](bytes, std::nothrow)), std::nothrow);
        ::operator delete(kept(::operator new(bytes)), bytes);
        ::operator delete[](kept(::operator new[](bytes)), bytes);
        ::operator delete(kept(::operator new(whole, wide)), wide);
        ::operator delete[](kept(::operator new[](whole, wide)), wide);
        ::operator delete(kept(::operator new(whole, wide, std::nothrow)), wide, std::nothrow);
        ::operator delete[](kept(::operator new[](whole, wide, std::nothrow)), wide, std::nothrow);
        ::operator delete(kept(::operator new(whole, wide)), whole, wide);
        ::operator delete[](kept(::operator new[](whole, wide)), whole, wide);
        ::operator delete(kept(::operator new(0)));
        ::operator delete(kept(::operator new(whole - 1, wide)), wide);  // whole, as libstdc++ asks for it
        ::operator delete(nullptr);
        std::free(kept(::operator new(bytes)));
        all.allocations += 8;
        all.aligned += 7;
        all.freed += 15;
        all.bytes += 7 * bytes + 7 * whole + 1;
    }
    kept(::operator new(1'000'000));
    all.allocations += 1;
    all.bytes += 1'000'000;
    all.live += 1'000'000;
    return all;
}

// What a recording of threads and their objects holds besides is the same for `idle` ones.
void on_threads(bool work)
{
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([work] {
            if (work) {
                operators();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

Expected times(std::uint64_t factor, Expected all)
{
    for (std::uint64_t* number :
         {&all.allocations, &all.zeroed, &all.aligned, &all.moved, &all.freed, &all.bytes, &all.live}) {
        *number *= factor;
    }
    return all;
}

Expected forked()
{
    const Expected all = operators();
    const pid_t child = fork();
    if (child == 0) {
        operators();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return times(2, all);
}

template <typename Call>
const char* outcome_of(Call call)
{
    try {
        return call() == nullptr ? "null" : "given";
    } catch (const std::bad_alloc& error) {
        return std::strcmp(error.what(), "std::bad_alloc") == 0 ? "bad_alloc" : "another";
    }
}

Expected refused()
{
    constexpr std::align_val_t wide{64};
    const volatile std::size_t bytes = too_much;
    std::printf("%s %s %s %s %s %s %s\n", outcome_of([&] { return ::operator new(bytes); }),
                outcome_of([&] { return ::operator new[](bytes); }),
                outcome_of([&] { return ::operator new(bytes, std::nothrow); }),
                outcome_of([&] { return ::operator new[](bytes, std::nothrow); }),
                outcome_of([&] { return ::operator new(bytes, wide); }),
                outcome_of([&] { return ::operator new(bytes, wide, std::nothrow); }),
                outcome_of([&] { return reallocarray(nullptr, bytes, bytes); }));  // no 64 bits hold it
    return {.refused = 7};
}

int tries;

Expected handled()
{
    std::set_new_handler([] {
        if (++tries == 3) {
            std::set_new_handler(nullptr);
        }
    });
    const volatile std::size_t bytes = too_much;
    const char* const outcome = outcome_of([&] { return ::operator new(bytes); });
    std::printf("%s after %d tries\n", outcome, tries);
    return {};
}

Expected of_jemalloc()
{
    constexpr int lg_64 = 6;
    constexpr int zero = 0x40;
    Expected all;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t bytes = 16 + i;
        dallocx(kept(mallocx(bytes, 0)), 0);
        dallocx(kept(mallocx(bytes, zero)), 0);
        sdallocx(kept(mallocx(64 * bytes, lg_64)), 64 * bytes, lg_64);
        void* const block = kept(mallocx(bytes, 0));
        void* const moved = kept(rallocx(block, 2 * bytes, 0));
        if (xallocx(moved, 2 * bytes, 0, 0) < 2 * bytes) {
            std::exit(8);
        }
        std::free(moved);
        all.allocations += 2;
        all.zeroed += 1;
        all.aligned += 1;
        all.moved += 2;
        all.freed += 4;
        all.bytes += (1 + 1 + 64 + 1 + 2 + 2) * bytes;
    }
    return all;
}

Expected of_mimalloc()
{
    Expected all;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t bytes = 16 + i;
        void* aligned = nullptr;
        mi_free(kept(mi_malloc(bytes)));
        mi_free(kept(mi_zalloc(bytes)));
        mi_free(kept(mi_calloc(2, bytes)));
        mi_free(kept(mi_mallocn(3, bytes)));
        mi_free_size(kept(mi_realloc(mi_malloc(bytes), 2 * bytes)), 2 * bytes);
        mi_free(kept(mi_malloc_aligned(bytes, 64)));
        mi_free(mi_posix_memalign(&aligned, 64, bytes) == 0 ? kept(aligned) : nullptr);
        mi_free(kept(mi_new(bytes)));
        mi_free(kept(mi_new_n(2, bytes)));
        mi_free(kept(mi_new_nothrow(bytes)));
        mi_free(kept(mi_strdup("seven b")));
        all.allocations += 7;
        all.zeroed += 2;
        all.aligned += 2;
        all.moved += 1;
        all.freed += 11;
        all.bytes += (1 + 1 + 2 + 3 + 1 + 2 + 1 + 1 + 1 + 2 + 1) * bytes + 8;
    }
    void* const heap = mi_heap_new();
    for (std::size_t i = 0; i < rounds; ++i) {
        kept(mi_heap_malloc(heap, 100));
        mi_free(kept(mi_heap_calloc(heap, 2, 100)));
        all.allocations += 1;
        all.zeroed += 1;
        all.freed += 2;
        all.bytes += 300;
    }
    mi_heap_destroy(heap);
    return all;
}

Expected of_tcmalloc()
{
    Expected all;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t bytes = 16 + i;
        tc_free(kept(tc_malloc(bytes)));
        tc_free_sized(kept(tc_malloc(bytes)), bytes);
        tc_free(kept(tc_calloc(2, bytes)));
        tc_free(kept(tc_realloc(tc_malloc(bytes), 2 * bytes)));
        tc_free(kept(tc_memalign(64, bytes)));
        tc_delete(kept(tc_new(bytes)));
        tc_deletearray_sized(kept(tc_newarray(bytes)), bytes);
        all.allocations += 5;
        all.zeroed += 1;
        all.aligned += 1;
        all.moved += 1;
        all.freed += 7;
        all.bytes += (1 + 1 + 2 + 1 + 2 + 1 + 1 + 1) * bytes;
    }
    return all;
}

// The address is asked for without the compiler knowing that a function always has one.
template <typename Function>
bool is_there(Function* function)
{
    Function* volatile const address = function;
    return address != nullptr;
}

int say(Expected (*way)(), bool there)
{
    if (!there) {
        std::puts("none");
        return 0;
    }
    print(way());
    return 0;
}

}  // namespace

// Also for a program of C that opens this as a library (recorded_plugin_host.cpp).
extern "C" int doors(int argc, char** argv)
{
    const std::string way = argc > 1 ? argv[1] : "";
    std::array<char, 1 << 12U> buffer{};
    std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
    if (way == "nothing") {
        return say([] { return Expected{}; }, true);
    }
    if (way == "c") {
        return say(c, true);
    }
    if (way == "new") {
        return say(operators, true);
    }
    if (way == "idle" || way == "threads") {
        on_threads(way == "threads");
        print(way == "threads" ? times(5, operators()) : Expected{});
        return 0;
    }
    if (way == "fork") {
        return say(forked, true);
    }
    if (way == "refused") {
        return say(refused, true);
    }
    if (way == "handler") {
        return say(handled, true);
    }
    if (way == "mallocx") {
        return say(of_jemalloc, is_there(mallocx));
    }
    if (way == "mi") {
        return say(of_mimalloc, is_there(mi_malloc));
    }
    if (way == "tc") {
        return say(of_tcmalloc, is_there(tc_malloc));
    }
    return 2;
}

#if !defined(MEMSWEEP_DOORS_AS_LIBRARY)
int main(int argc, char** argv)
{
    return doors(argc, argv);
}
#endif
