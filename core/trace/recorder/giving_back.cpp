#include "core/trace/recorder/giving_back.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/trace/format/given_back.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"
#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {
namespace {

std::uint64_t anonymous_bytes() noexcept
{
    const long file = kernel(SYS_openat, AT_FDCWD, "/proc/thread-self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    std::array<char, 4096> text{};
    const long length = kernel(SYS_read, file, text.data(), text.size() - 1);
    kernel(SYS_close, file);
    constexpr const char* name = "\nAnonymous:";
    const char* at = length > 0 ? std::strstr(text.data(), name) : nullptr;
    if (at == nullptr) {
        return 0;
    }
    at += std::strlen(name);
    at += std::strspn(at, " ");
    std::uint64_t kilobytes = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return kilobytes << 10U;
}

// A text of lines that is put together without memory of the allocator's.
class Lines {
  public:
    template <typename... Values>
    void add(const char* format, Values... values) noexcept
    {
        const int length = std::snprintf(text_.data() + used_, text_.size() - used_, format, values...);
        used_ = length < 0 ? used_ : std::min(used_ + static_cast<std::size_t>(length), text_.size() - 1);
    }
    [[nodiscard]] const char* text() const noexcept { return text_.data(); }
    [[nodiscard]] std::size_t length() const noexcept { return used_; }

  private:
    std::array<char, 1024> text_{};
    std::size_t used_{};
};

// What was done by the processes that this one has waited for.
struct Children {
    unsigned long long page_faults{};
    unsigned long long peak_kib{};
};

Children children() noexcept
{
    rusage usage{};
    kernel(SYS_getrusage, RUSAGE_CHILDREN, &usage);
    return {static_cast<unsigned long long>(usage.ru_minflt + usage.ru_majflt),
            static_cast<unsigned long long>(usage.ru_maxrss)};
}

void add_children(Lines& lines, const Children& done) noexcept
{
    lines.add("%s %llu %llu\n", given_back_children, done.page_faults, done.peak_kib);
}

// Under that process's name.
void leave_answer(long process, const Lines& lines) noexcept
{
    const char* const folder = recording_folder();
    std::array<char, max_path_bytes> path;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    if (folder == nullptr || !make_path(path, folder, static_cast<std::uint32_t>(process), 0, given_back_ending)) {
        return;
    }
    const long file = kernel(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        kernel(SYS_write, file, lines.text(), lines.length());
        kernel(SYS_close, file);
    }
}

void leave_refusal(long process, int problem, const Children& done) noexcept
{
    Lines lines;
    lines.add("%s %d\n", given_back_refused, problem);
    add_children(lines, done);
    leave_answer(process, lines);
}

using MallctlCall = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
using CollectCall = void (*)(bool);
using ReleaseCall = void (*)();
using PropertyCall = int (*)(const char*, std::size_t*);
// Of glibc's struct mallinfo2 (2.33).
struct ArenaFigures {
    std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
using FiguresCall = ArenaFigures (*)();
// Of mimalloc's mi_heap_area_t, as far as it is read.
struct HeapArea {
    void* blocks;
    std::size_t reserved, committed, used, block_bytes;
};
using AreaVisitor = bool (*)(const void* heap, const HeapArea* area, void* block, std::size_t bytes, void* argument);
using VisitCall = bool (*)(const void* heap, bool visits_blocks, AreaVisitor visitor, void* argument);
using DefaultHeapCall = void* (*)();

struct Allocator {
    MallctlCall mallctl;
    CollectCall collect;
    VisitCall visit;
    DefaultHeapCall default_heap;
    ReleaseCall release;
    PropertyCall property;
    FiguresCall figures;
};

template <typename Function>
Function named(const char* name) noexcept
{
    return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

// In the copy alone: a search that fails may allocate.
Allocator allocator() noexcept
{
    return {.mallctl = named<MallctlCall>("mallctl"),
            .collect = named<CollectCall>("mi_collect"),
            .visit = named<VisitCall>("mi_heap_visit_blocks"),
            .default_heap = named<DefaultHeapCall>("mi_heap_get_default"),
            .release = named<ReleaseCall>("MallocExtension_ReleaseFreeMemory"),
            .property = named<PropertyCall>("MallocExtension_GetNumericProperty"),
            .figures = named<FiguresCall>("mallinfo2")};
}

const char* ask(const Allocator& served_by) noexcept
{
    if (served_by.mallctl != nullptr) {
        served_by.mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        served_by.mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
        return "arena.4096.purge";
    }
    if (served_by.collect != nullptr) {
        served_by.collect(true);
        return "mi_collect";
    }
    if (served_by.release != nullptr) {
        served_by.release();
        return "ReleaseFreeMemory";
    }
    ::malloc_trim(0);
    return "malloc_trim";
}

void add_figure(Lines& lines, const char* name, std::size_t bytes) noexcept
{
    lines.add("%s %s %zu\n", given_back_says, name, bytes);
}

void add_figures_of_jemalloc(Lines& lines, MallctlCall mallctl) noexcept
{
    std::uint64_t epoch = 1;
    mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
    for (const char* const name : {"stats.allocated", "stats.arenas.4096.tcache_bytes"}) {
        std::size_t bytes = 0;
        std::size_t length = sizeof bytes;
        if (mallctl(name, &bytes, &length, nullptr, 0) == 0) {
            add_figure(lines, name, bytes);
        }
    }
}

bool add_area(const void* /*heap*/, const HeapArea* area, void* block, std::size_t /*bytes*/, void* sum) noexcept
{
    if (block == nullptr) {
        *static_cast<std::size_t*>(sum) += area->used * area->block_bytes;
    }
    return true;
}

// What it says of what is live, before it is asked to give anything back.
void add_figures(Lines& lines, const Allocator& served_by) noexcept
{
    if (served_by.mallctl != nullptr) {
        add_figures_of_jemalloc(lines, served_by.mallctl);
    } else if (served_by.collect != nullptr) {
        if (served_by.visit != nullptr && served_by.default_heap != nullptr) {
            std::size_t used = 0;
            served_by.visit(served_by.default_heap(), false, add_area, &used);
            add_figure(lines, "heap.used", used);
        }
    } else if (served_by.release != nullptr) {
        std::size_t bytes = 0;
        if (served_by.property != nullptr && served_by.property("generic.current_allocated_bytes", &bytes) != 0) {
            add_figure(lines, "current_allocated_bytes", bytes);
        }
    } else if (served_by.figures != nullptr) {
        const ArenaFigures figures = served_by.figures();
        add_figure(lines, "uordblks", figures.uordblks);
        add_figure(lines, "hblkhd", figures.hblkhd);
    }
}

// A file of the folder, opened: a descriptor, or a negative errno.
long open_gate() noexcept
{
    const char* const folder = recording_folder();
    std::array<char, max_path_bytes> path{};
    if (folder == nullptr ||
        std::snprintf(path.data(), path.size(), "%s/%s", folder, copy_gate) >= static_cast<int>(path.size())) {
        return -ENOENT;
    }
    return kernel(SYS_openat, AT_FDCWD, path.data(), O_RDONLY | O_CLOEXEC);
}

[[noreturn]] void leave() noexcept
{
    for (;;) {
        kernel(SYS_exit_group, 0);
    }
}

// Nobody who waits for the other end of a pipe, or for a lock, waits for the copy.
void close_all() noexcept
{
    constexpr unsigned most = 65536;  // of which a kernel without close_range (before Linux 5.9) closes one by one
    if (kernel(SYS_close_range, 0, ~0U, 0) != 0) {
        for (unsigned file = 0; file < most; ++file) {
            kernel(SYS_close, file);
        }
    }
}

[[noreturn]] void try_in_copy(long process, const Children& done) noexcept
{
    go_without_log(LogState::ignored);
    close_all();
    const long gate = open_gate();
    char go = 0;
    if (gate < 0) {
        leave_refusal(process, static_cast<int>(-gate), done);
        constexpr timespec pause{0, 10'000'000};
        while (kernel(SYS_getppid) == process) {  // it would be told of a child that ends
            kernel(SYS_nanosleep, &pause, nullptr);
        }
        leave();
    }
    long got = 0;
    do {
        got = kernel(SYS_read, gate, &go, 1);
    } while (got == -EINTR);
    if (got != 1) {
        leave();
    }
    kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    Lines figures;
    const Allocator served_by = allocator();
    const std::uint64_t before = anonymous_bytes();
    add_figures(figures, served_by);
    const char* const request = ask(served_by);
    const std::uint64_t after = anonymous_bytes();
    Lines lines;
    lines.add("%s %llu %llu\n", request, static_cast<unsigned long long>(before),
              static_cast<unsigned long long>(after));
    add_children(lines, done);
    lines.add("%s", figures.text());
    leave_answer(process, lines);
    leave();
}

// All other signals are blocked. Where nobody traces the process, and nobody handles SIGURG, this does nothing.
void call_tracer(std::uint32_t call) noexcept
{
    constexpr unsigned long long urgent = 1ULL << (SIGURG - 1);
    const long process = kernel(SYS_getpid);
    siginfo_t info{};
    info.si_signo = SIGURG;
    info.si_code = SI_QUEUE;
    info.si_pid = static_cast<pid_t>(process);
    info.si_value.sival_ptr =
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a number is what it carries
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::uint64_t{tracer_call_mark} << 32U | call));
    kernel(SYS_rt_tgsigqueueinfo, process, kernel(SYS_gettid), SIGURG, &info);
    kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, &urgent, nullptr, sizeof urgent);
    kernel(SYS_rt_sigprocmask, SIG_BLOCK, &urgent, nullptr, sizeof urgent);
}

}  // namespace

void leave_copy() noexcept
{
    const int error = errno;
    const SignalsBlocked blocked;
    const Children done = children();
    const long process = kernel(SYS_getpid);
    call_tracer(tracer_call_look);
    const pid_t copy = ::fork();
    if (copy == 0) {
        try_in_copy(process, done);
    }
    if (copy < 0) {
        leave_refusal(process, errno, done);
    } else {
        call_tracer(tracer_call_copied | (static_cast<std::uint32_t>(copy) & tracer_call_number));
    }
    errno = error;
}

}  // namespace memsweep::trace::recorder
