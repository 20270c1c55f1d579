// The functions that programs find before those of the C library: allocation, mappings, threads; and what happens when
// the library is loaded.
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/trace/recorder/allocator_calls.hpp"
#include "core/trace/recorder/call_stacks.hpp"
#include "core/trace/recorder/counting.hpp"
#include "core/trace/recorder/giving_back.hpp"
#include "core/trace/recorder/heap_pages.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/noted_calls.hpp"
#include "core/trace/recorder/operators.hpp"
#include "core/trace/recorder/own_mappings.hpp"
#include "core/trace/recorder/real_calls.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/starting.hpp"
#include "core/trace/recorder/thread_log.hpp"
#include "core/trace/recorder/thread_starts.hpp"
#include "core/trace/recorder/usable_sizes.hpp"

#define MEMSWEEP_PRELOADED extern "C" __attribute__((visibility("default")))

namespace {

using namespace memsweep::trace::recorder;

__attribute__((always_inline)) inline void record_and_free(void* block) noexcept
{
    void* const same = block_at(record<Call::free>(place(block)));
    real.free(same);
}

// Blocks of the arena are nobody's: from before the real functions were found.
__attribute__((noinline)) void free_outside_arena(void* block) noexcept
{
    if (!in_arena(block)) {
        record_and_free(block);
    }
}

// The program's own malloc comes before ours. One that only takes malloc's address has an entry under that name too,
// but defines nothing.
bool is_foreign(void* function) noexcept
{
    Dl_info owner{};
    Dl_info us{};
    void* symbol = nullptr;
    return function != nullptr && ::dladdr1(function, &owner, &symbol, RTLD_DL_SYMENT) != 0 && symbol != nullptr &&
           static_cast<const ElfW(Sym)*>(symbol)->st_shndx != SHN_UNDEF &&
           ::dladdr(reinterpret_cast<void*>(&is_foreign), &us) != 0 && owner.dli_fbase != us.dli_fbase;
}

bool is_of_file(const void* mapping) noexcept
{
    std::array<char, mapping_room_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    OwnMapping found;
    return find_own_mapping(place(mapping), room, found) && found.is_of_file;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own it
pid_t first_process;

// A program that never allocates is in the recording too.
__attribute__((constructor)) void begin() noexcept
{
    find_real_calls();
    note_objects_at_start();
    note_mapping(nullptr, 0, 0);  // it looks for the allocator
    redirect_allocator_calls();
    prepare_usable_sizes();
    if (current->state == LogState::unset) {
        attach_thread();
    }
    if (choice().on && choice().callers()) {
        LoadedObject::visit_all([](const LoadedObject& object, const char*) {
            static_cast<void>(note_caller(place(object.begin()) + 1));
            return false;
        });
    }
    ::pthread_atfork(nullptr, nullptr, in_forked_child);
    first_process = ::getpid();
    if (is_foreign(::dlsym(RTLD_DEFAULT, "malloc"))) {
        note_foreign_malloc();
    }
    if (Dl_info server{}; ::dladdr(reinterpret_cast<void*>(real.malloc), &server) != 0 && server.dli_fname != nullptr) {
        note_server(server.dli_fname);
    }
    begin_noting_starts();
}

[[noreturn]] void leave(int status) noexcept
{
    note_quick_end();
    if (real.leave != nullptr) {
        real.leave(status);
    }
    for (;;) {
        kernel(SYS_exit_group, status);
    }
}

// The pages of a forked child are its parent's.
__attribute__((destructor)) void end() noexcept
{
    note_end();
    if (first_process == ::getpid()) {
        note_heap_pages(heap_pages_bytes());
        if (choice().gives_back && has_recording()) {
            leave_copy();
        }
    }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
MEMSWEEP_PRELOADED void* malloc(std::size_t bytes)
{
    return note_allocation<Call::malloc>(real.malloc(bytes), bytes);
}

MEMSWEEP_PRELOADED void free(void* block)
{
    if (block == nullptr) [[unlikely]] {
        return;
    }
    if (arena_is_used()) [[unlikely]] {
        free_outside_arena(block);
        return;
    }
    record_and_free(block);
}

MEMSWEEP_PRELOADED void* calloc(std::size_t count, std::size_t bytes)
{
    void* const block = real.calloc(count, bytes);
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) [[unlikely]] {
        all = SIZE_MAX;
    }
    return note_allocation<Call::calloc>(block, all);
}

MEMSWEEP_PRELOADED void* realloc(void* block, std::size_t bytes)
{
    if (block != nullptr && in_arena(block)) [[unlikely]] {
        void* const moved = malloc(bytes);
        if (moved != nullptr) {
            __builtin_memcpy(moved, block, arena_block_bytes(block) < bytes ? arena_block_bytes(block) : bytes);
        }
        return moved;
    }
    if (current->state != LogState::ready) {
        prepare_realloc(block);
    }
    void* const moved = real.realloc(block, bytes);
    if (moved == nullptr && (bytes != 0 || block == nullptr)) [[unlikely]] {
        record_failed_realloc(block, bytes);
    } else if (moved == nullptr || !in_arena(moved)) {
        record<Call::realloc>(place(moved), moved != nullptr ? bytes : 0, place(block));
    }
    return moved;
}

// Libraries differ in whether theirs calls realloc: this one does.
MEMSWEEP_PRELOADED void* reallocarray(void* block, std::size_t count, std::size_t bytes)
{
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        record<Call::failed_alloc>(0, SIZE_MAX);
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(block, all);
}

MEMSWEEP_PRELOADED int posix_memalign(void** into, std::size_t alignment, std::size_t bytes)
{
    const int problem = real.posix_memalign(into, alignment, bytes);
    if (problem != EINVAL) {
        note_allocation<Call::aligned_alloc>(problem == 0 ? *into : nullptr, bytes, alignment);
    }
    return problem;
}

MEMSWEEP_PRELOADED void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    return note_allocation<Call::aligned_alloc>(real.aligned_alloc(alignment, bytes), bytes, alignment);
}

MEMSWEEP_PRELOADED void* memalign(std::size_t alignment, std::size_t bytes)
{
    return note_allocation<Call::aligned_alloc>(real.memalign(alignment, bytes), bytes, alignment);
}

MEMSWEEP_PRELOADED void* valloc(std::size_t bytes)
{
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return note_allocation<Call::aligned_alloc>(real.valloc(bytes), bytes, page);
}

// Whole pages are what it gives.
MEMSWEEP_PRELOADED void* pvalloc(std::size_t bytes)
{
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return note_allocation<Call::aligned_alloc>(real.pvalloc(bytes), (bytes + page - 1) / page * page, page);
}

MEMSWEEP_PRELOADED void* mmap(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void* const at = real.mmap(hint, bytes, protection, flags, fd, offset);
    if (at != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0) {
        record<Call::map>(place(at), bytes, place(__builtin_return_address(0)));
    }
    note_mapping(__builtin_return_address(0), bytes, flags);
    return at;
}

MEMSWEEP_PRELOADED void* mmap64(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

MEMSWEEP_PRELOADED int munmap(void* at, std::size_t bytes)
{
    record<Call::unmap>(place(at), bytes, place(__builtin_return_address(0)));
    return real.munmap(at, bytes);
}

// Records an unmap and a map; of a file's mapping no more than the unmap, as mmap and munmap do.
MEMSWEEP_PRELOADED void* mremap(void* at, std::size_t before, std::size_t after, int flags, ...)
{
    void* to = nullptr;
    if ((flags & MREMAP_FIXED) != 0) {
        va_list rest;
        va_start(rest, flags);
        to = va_arg(rest, void*);
        va_end(rest);
    }
    void* const moved = real.mremap(at, before, after, flags, to);
    if (moved != MAP_FAILED) {
        const std::uint64_t caller = place(__builtin_return_address(0));
        record<Call::unmap>(place(at), before, caller);
        if (!is_of_file(moved)) {
            record<Call::map>(place(moved), after, caller);
        }
        note_mapping(__builtin_return_address(0), after, MAP_PRIVATE);
    }
    return moved;
}

MEMSWEEP_PRELOADED int dlclose(void* handle) noexcept
{
    const int outcome = real.dlclose(handle);
    note_unloading();
    return outcome;
}

// exit(3) calls the C library's own.
MEMSWEEP_PRELOADED void _exit(int status)
{
    leave(status);
}

MEMSWEEP_PRELOADED void _Exit(int status) noexcept
{
    leave(status);
}

MEMSWEEP_PRELOADED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                                      void* argument)
{
    expect_threads();
    note_thread(attributes);
    ThreadStart start{attributes, run, argument};
    const int problem = real.pthread_create(thread, attributes, start.run(), start.argument());
    if (problem != 0) {
        start.abandon();
    }
    return problem;
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
