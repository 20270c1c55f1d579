#include "core/trace/recorder/counting.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/trace/format/count_layout.hpp"
#include "core/trace/format/ticks.hpp"
#include "core/trace/recorder/lent_file.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"

// False as long as the C library has made no thread (glibc 2.32).
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): its name
extern "C" char __libc_single_threaded __attribute__((weak));

namespace memsweep::trace::recorder {
namespace {

// Cells for 64 MiB of addresses: one for every 8 bytes, as no allocator packs blocks more closely.
constexpr unsigned region_bits = 26;
constexpr unsigned cell_bits = 3;
constexpr unsigned address_bits = 48;
constexpr std::uint64_t cells_in_region = 1ULL << (region_bits - cell_bits);
constexpr std::uint64_t regions = 1ULL << (address_bits - region_bits);
using Cell = std::uint32_t;

// A cell holds the size and 1, so that zero is no block. What needs more than 31 bits goes on in the next cell, which
// is within the block and so nobody else's.
constexpr unsigned low_bits = 31;
constexpr Cell goes_on = 1U << low_bits;

// A forked child finds all of this zeroed, and begins anew.
struct Counting {
    std::atomic<std::uint32_t> lock;
    std::atomic<std::uint32_t> is_begun;
    CountFile* file;  // null: nothing is counted
    std::atomic<std::uint32_t> next_shard;
    std::array<std::atomic<Cell*>, regions> cells;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
Counting* counting;
CountFile* mapped_file;  // outlives a fork
std::array<char, max_path_bytes> count_folder;
std::array<char, sizeof CountFile::served_by> served_by;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

__thread std::uint32_t shard_and_one __attribute__((tls_model("initial-exec"))) = 0;
__thread std::uint64_t old_bytes_and_one __attribute__((tls_model("initial-exec"))) = 0;

// Address space that costs memory where it is written, and of which a child has zeroes.
void* reserve_wiped(std::size_t bytes) noexcept
{
    const long at =
        kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0) {
        return nullptr;
    }
    void* const memory = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    if (kernel(SYS_madvise, memory, bytes, MADV_WIPEONFORK) < 0) {
        kernel(SYS_munmap, memory, bytes);
        return nullptr;
    }
    return memory;
}

CountFile* map_file(long fd) noexcept
{
    if (kernel(SYS_ftruncate, fd, sizeof(CountFile)) < 0 || kernel(SYS_fallocate, fd, 0, 0, sizeof(CountFile)) < 0) {
        return nullptr;
    }
    const long at = kernel(SYS_mmap, nullptr, sizeof(CountFile), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at < 0) {
        return nullptr;
    }
    void* const memory = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    return static_cast<CountFile*>(memory);
}

// The program may lower it at any time.
void note_address_limit(CountFile& file) noexcept
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        file.address_limit_bytes = std::max<std::uint64_t>(limit.rlim_cur, 1);
    }
}

// A process has several images when it executes programs one after the other.
CountFile* make_file(std::uint32_t process) noexcept
{
    std::array<char, max_path_bytes> path{};
    long fd = -EEXIST;
    for (unsigned number = 0; number < max_images && fd == -EEXIST; ++number) {
        fd = make_path(path, count_folder.data(), process, number, count_ending) ? open_in_folder(path.data(), true)
                                                                                 : -ENAMETOOLONG;
    }
    if (fd < 0) {
        RecordingFile::note_refusal(count_folder.data(), process, fd);
        return nullptr;
    }
    CountFile* const file = map_file(fd);
    kernel(SYS_close, fd);
    if (file == nullptr) {
        kernel(SYS_unlinkat, AT_FDCWD, path.data(), 0);
        RecordingFile::note_refusal(count_folder.data(), process, -ENOSPC);
        return nullptr;
    }
    mapped_file = file;
    file->version = count_version;
    file->process = process;
    file->pid_namespace = own_pid_namespace();
    file->start_nanoseconds = nanoseconds_of(CLOCK_MONOTONIC);
    std::memcpy(file->program, own_program(), std::min(std::strlen(own_program()), sizeof file->program - 1));
    std::memcpy(file->served_by, served_by.data(), served_by.size());
    note_address_limit(*file);
    std::atomic_ref{file->magic}.store(count_magic, std::memory_order_release);
    return file;
}

__attribute__((noinline)) void begin_image() noexcept
{
    const SignalsBlocked blocked;  // a handler that allocates must not meet the lock that its own thread holds
    while (counting->lock.exchange(1, std::memory_order_acquire) != 0) {
        kernel(SYS_sched_yield);
    }
    if (counting->is_begun.load(std::memory_order_relaxed) == 0) {
        counting->file = make_file(static_cast<std::uint32_t>(kernel(SYS_getpid)));
        counting->is_begun.store(1, std::memory_order_release);
    }
    counting->lock.store(0, std::memory_order_release);
}

CountFile* current_file() noexcept
{
    if (counting->is_begun.load(std::memory_order_acquire) == 0) [[unlikely]] {
        begin_image();
    }
    return counting->file;
}

[[maybe_unused]] bool has_one_thread() noexcept
{
    return &__libc_single_threaded != nullptr && __libc_single_threaded != 0;
}

// What was there before. One instruction where it can be, so that a signal handler comes before it or after it.
std::uint64_t add(std::uint64_t& into, std::uint64_t amount) noexcept
{
#if defined(__x86_64__)
    if (has_one_thread()) [[likely]] {
        asm volatile("xaddq %0, %1" : "+r"(amount), "+m"(into) : : "cc");
        return amount;
    }
#endif
    return std::atomic_ref{into}.fetch_add(amount, std::memory_order_relaxed);
}

void raise(std::uint64_t& largest, std::uint64_t value) noexcept
{
    const std::atomic_ref peak{largest};
    std::uint64_t before = peak.load(std::memory_order_relaxed);
    while (value > before && !peak.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
    }
}

CountShard& own_shard(CountFile& file) noexcept
{
    if (shard_and_one == 0) [[unlikely]] {
        const std::uint32_t next = counting->next_shard.fetch_add(1, std::memory_order_relaxed);
        shard_and_one = next % static_cast<std::uint32_t>(file.shards.size()) + 1;
    }
    return file.shards[shard_and_one - 1];
}

__attribute__((noinline)) Cell* make_cells(std::atomic<Cell*>& into) noexcept
{
    auto* const made = static_cast<Cell*>(reserve_wiped(cells_in_region * sizeof(Cell)));
    Cell* there = nullptr;
    if (made == nullptr || into.compare_exchange_strong(there, made, std::memory_order_acq_rel)) {
        return made;
    }
    kernel(SYS_munmap, made, cells_in_region * sizeof(Cell));
    return there;
}

// Null: there are none for this address, and none were wanted or could be had.
Cell* cell_of(std::uint64_t address, bool is_wanted) noexcept
{
    if (address >> address_bits != 0) [[unlikely]] {
        return nullptr;
    }
    std::atomic<Cell*>& region = counting->cells[address >> region_bits];
    Cell* cells = region.load(std::memory_order_acquire);
    if (cells == nullptr) [[unlikely]] {
        cells = is_wanted ? make_cells(region) : nullptr;
    }
    return cells == nullptr ? nullptr : cells + ((address >> cell_bits) & (cells_in_region - 1));
}

bool keep_size(std::uint64_t address, std::uint64_t size) noexcept
{
    Cell* const cell = cell_of(address, true);
    if (cell == nullptr) [[unlikely]] {
        return false;
    }
    const std::uint64_t stored = size + 1;
    if (stored < goes_on) [[likely]] {
        *cell = static_cast<Cell>(stored);
    } else {
        cell[0] = goes_on | static_cast<Cell>(stored & (goes_on - 1));
        cell[1] = static_cast<Cell>(stored >> low_bits);
    }
    return true;
}

// The size and 1; 0: the block is not known.
std::uint64_t take_size(std::uint64_t address) noexcept
{
    Cell* const cell = cell_of(address, false);
    if (cell == nullptr) [[unlikely]] {
        return 0;
    }
    std::uint64_t stored = *cell;
    *cell = 0;
    if ((stored & goes_on) != 0) [[unlikely]] {
        stored = (stored & (goes_on - 1)) | static_cast<std::uint64_t>(cell[1]) << low_bits;
        cell[1] = 0;
    }
    return stored;
}

void count_block(CountFile& file, std::uint64_t address, std::uint64_t size, std::uint64_t released) noexcept
{
    CountShard& shard = own_shard(file);
    add(shard.allocations, 1);
    add(shard.allocated_bytes, size);
    if (!keep_size(address, size)) [[unlikely]] {
        add(file.lost_blocks, 1);
        size = 0;
    }
    const std::uint64_t change = size - released;
    raise(file.live_bytes_peak, add(file.live_bytes, change) + change);
}

void count_release(CountFile& file, std::uint64_t size) noexcept
{
    add(file.live_bytes, 0 - size);
}

}  // namespace

bool begin_counting(const char* folder) noexcept
{
    std::memcpy(count_folder.data(), folder, std::strlen(folder) + 1);
    counting = static_cast<Counting*>(reserve_wiped(sizeof(Counting)));
    if (counting == nullptr) {
        RecordingFile::note_refusal(folder, static_cast<std::uint32_t>(kernel(SYS_getpid)), -ENOMEM);
        return false;
    }
    return current_file() != nullptr;
}

void count_call(Call call, std::uint64_t address, std::uint64_t size) noexcept
{
    CountFile* const file = current_file();
    if (file == nullptr) [[unlikely]] {
        return;
    }
    switch (call) {
    case Call::malloc:
    case Call::calloc:
    case Call::aligned_alloc:
        count_block(*file, address, size, 0);
        break;
    case Call::free:
        if (const std::uint64_t stored = take_size(address); stored != 0) {
            count_release(*file, stored - 1);
        }
        break;
    default:
        break;
    }
}

void count_before_realloc(std::uint64_t address) noexcept
{
    old_bytes_and_one = address != 0 && current_file() != nullptr ? take_size(address) : 0;
}

void count_realloc(std::uint64_t address, std::uint64_t size) noexcept
{
    CountFile* const file = current_file();
    if (file == nullptr) [[unlikely]] {
        return;
    }
    const std::uint64_t released = old_bytes_and_one == 0 ? 0 : old_bytes_and_one - 1;
    if (address == 0) {
        count_release(*file, released);
    } else {
        count_block(*file, address, size, released);
    }
}

void count_failed_realloc(std::uint64_t old_address) noexcept
{
    if (old_bytes_and_one != 0) {
        keep_size(old_address, old_bytes_and_one - 1);
    }
}

void count_in_forked_child() noexcept
{
    if (counting != nullptr && mapped_file != nullptr && mapped_file != counting->file) {
        kernel(SYS_mmap, mapped_file, sizeof(CountFile), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        mapped_file = nullptr;
    }
}

// The cells are pages too: half a byte per byte of heap at most.
void count_heap_pages(std::uint64_t bytes) noexcept
{
    if (CountFile* const file = current_file()) {
        file->heap_pages_bytes = bytes / 3 * 2;
        note_address_limit(*file);
    }
}

void count_foreign_malloc() noexcept
{
    if (CountFile* const file = current_file()) {
        file->foreign_malloc = 1;
    }
}

// Forked children have it of their parent.
void note_serving_library(const char* path) noexcept
{
    std::strncpy(served_by.data(), path, served_by.size() - 1);
    if (CountFile* const file = current_file()) {
        std::memcpy(file->served_by, served_by.data(), served_by.size());
    }
}

}  // namespace memsweep::trace::recorder
