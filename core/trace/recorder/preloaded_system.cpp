// Mappings and threads, and what happens when the library is loaded.
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/real_calls.hpp"
#include "core/trace/recorder/thread_log.hpp"

#define MEMSWEEP_PRELOADED extern "C" __attribute__((visibility("default")))

namespace {

using namespace memsweep::trace::recorder;

std::uint64_t place(const void* at) noexcept
{
    return reinterpret_cast<std::uint64_t>(at);
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

// A program that never allocates is in the recording too.
__attribute__((constructor)) void begin() noexcept
{
    find_real_calls();
    if (current->state == LogState::unset) {
        attach_thread();
    }
    ::pthread_atfork(nullptr, nullptr, in_forked_child);
    if (is_foreign(::dlsym(RTLD_DEFAULT, "malloc"))) {
        note_foreign_malloc();
    }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
MEMSWEEP_PRELOADED void* mmap(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void* const at = real.mmap(hint, bytes, protection, flags, fd, offset);
    if (at != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0) {
        record<Call::map>(place(at), bytes);
    }
    return at;
}

MEMSWEEP_PRELOADED void* mmap64(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return mmap(hint, bytes, protection, flags, fd, offset);
}

MEMSWEEP_PRELOADED int munmap(void* at, std::size_t bytes)
{
    record<Call::unmap>(place(at), bytes);
    return real.munmap(at, bytes);
}

// Of shared and of file mappings nothing was recorded, and nothing is moved.
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
        record<Call::unmap>(place(at), before);
        record<Call::map>(place(moved), after);
    }
    return moved;
}

MEMSWEEP_PRELOADED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                                      void* argument)
{
    expect_threads();
    return real.pthread_create(thread, attributes, run, argument);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
