#include "core/trace/recorder/start_notes.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

#include "core/trace/format/ticks.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own it
StartsHeader* starts;  // shared with all processes; null: nothing is noted

// What the header says, as it was when this process mapped it: any process of the program may write there later, one
// with fewer rights, too.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): likewise
constinit std::uint64_t room{};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): likewise
constinit Lending lender{};

// Its end, where it is too long.
template <std::size_t size>
void put_end(char (&into)[size], const char* path) noexcept
{
    const std::size_t length = std::strlen(path);
    const std::size_t cut = length < size ? 0 : length - size + 1;
    std::memcpy(into, path + cut, length - cut);
}

template <std::size_t size>
void put_command(char (&into)[size], char* const* words) noexcept
{
    std::size_t at = 0;
    for (; words != nullptr && *words != nullptr && at + 1 < size; ++words) {
        if (at != 0) {
            into[at++] = ' ';
        }
        const std::size_t length = std::strlen(*words);
        const std::size_t taken = length < size - 1 - at ? length : size - 1 - at;
        std::memcpy(into + at, *words, taken);
        at += taken;
    }
}

// Null: there is none left, or no file.
StartEntry* take_entry(std::uint32_t process) noexcept
{
    if (starts == nullptr) {
        return nullptr;
    }
    const std::uint64_t number = std::atomic_ref{starts->taken}.fetch_add(1, std::memory_order_relaxed);
    if (number >= room) {
        return nullptr;
    }
    auto* const entries = reinterpret_cast<StartEntry*>(reinterpret_cast<unsigned char*>(starts) + starts_offset);
    StartEntry& entry = entries[number];
    entry = {};
    entry.process = process;
    entry.nanoseconds = nanoseconds_of(CLOCK_MONOTONIC);
    entry.pid_namespace = own_pid_namespace();
    return &entry;
}

void show(StartEntry& entry, StartState state) noexcept
{
    std::atomic_ref{entry.state}.store(state, std::memory_order_release);
}

}  // namespace

void map_starts(const char* folder) noexcept
{
    std::array<char, max_path_bytes> path{};
    const std::size_t length = std::strlen(folder);
    if (length + 1 + std::strlen(starts_name) >= path.size()) {
        return;
    }
    std::memcpy(path.data(), folder, length);
    path[length] = '/';
    std::memcpy(path.data() + length + 1, starts_name, std::strlen(starts_name));
    const long fd = kernel(SYS_openat, AT_FDCWD, path.data(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    StartsHeader header;
    const long got = kernel(SYS_pread64, fd, &header, sizeof header, 0);
    const bool is_one =
        got == static_cast<long>(sizeof header) && header.magic == starts_magic && header.entries <= max_starts;
    const long at =
        is_one ? kernel(SYS_mmap, nullptr, starts_bytes(header.entries), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
               : -EINVAL;
    kernel(SYS_close, fd);
    starts =
        at < 0 ? nullptr : reinterpret_cast<StartsHeader*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    room = starts == nullptr ? 0 : header.entries;
    lender = starts == nullptr ? Lending{} : header.lending;
}

StartEntry* note_start(std::uint32_t process, const char* file, PreloadObstacle obstacle, char* const* words) noexcept
{
    StartEntry* const entry = take_entry(process);
    if (entry != nullptr) {
        entry->obstacle = obstacle;
        put_end(entry->program, file);
        put_command(entry->command, words);
        show(*entry, StartState::begun);
    }
    return entry;
}

// A shell tries every folder of PATH: its entry goes again if it is the last.
void settle_start(StartEntry* entry, std::uint32_t process) noexcept
{
    if (entry == nullptr) {
        return;
    }
    entry->process = process;
    show(*entry, process == 0 ? StartState::failed : StartState::begun);
    if (process == 0) {
        const auto offset = reinterpret_cast<unsigned char*>(entry) - reinterpret_cast<unsigned char*>(starts);
        const std::uint64_t number = (static_cast<std::uint64_t>(offset) - starts_offset) / sizeof(StartEntry);
        std::uint64_t behind = number + 1;
        std::atomic_ref{starts->taken}.compare_exchange_strong(behind, number, std::memory_order_relaxed);
    }
}

const Lending* lending_memsweep() noexcept
{
    return lender.name_bytes - 1 < sizeof lender.name ? &lender : nullptr;  // 0 - 1 is large
}

bool note_unrecorded(std::uint32_t process) noexcept
{
    if (StartEntry* const entry = take_entry(process)) {
        entry->obstacle = PreloadObstacle::no_file;
        put_end(entry->program, own_program());
        show(*entry, StartState::unrecorded);
    }
    return starts != nullptr;
}

}  // namespace memsweep::trace::recorder
