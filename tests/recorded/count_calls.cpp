// Counts the calls that reach the allocator, in a file that all processes of a run share: what a recording in front of
// it must hold, to the last one. COUNT_CALLS names the file, which holds `calls` numbers of 8 bytes.
//
// Calls of memsweep itself, which is started under the same LD_PRELOAD, are not counted.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

enum Call { malloc_call, calloc_call, realloc_call, free_call, aligned_call, map_call, unmap_call, failed_call, calls };

std::uint64_t* counters;
bool has_looked;
unsigned char early[65536];  // for what dlsym allocates
std::size_t early_used;
__thread bool finding __attribute__((tls_model("initial-exec")));  // another thread may allocate meanwhile

std::uint64_t* find_counters()
{
    const char* const path = std::getenv("COUNT_CALLS");
    if (path == nullptr || std::strcmp(program_invocation_short_name, "memsweep") == 0) {
        return nullptr;
    }
    const int error = errno;
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    const long at = syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    errno = error;
    return at == -1 ? nullptr : reinterpret_cast<std::uint64_t*>(at);
}

void count(Call call)
{
    if (!has_looked) {
        has_looked = true;
        counters = find_counters();
    }
    if (counters != nullptr) {
        std::atomic_ref{counters[call]}.fetch_add(1);
    }
}

template <typename Function>
Function next(const char* name)
{
    finding = true;
    void* const found = dlsym(RTLD_NEXT, name);
    finding = false;
    Function function{};
    std::memcpy(&function, &found, sizeof function);
    return function;
}

void* counted(Call call, void* block)
{
    count(block != nullptr ? call : failed_call);
    return block;
}

void* early_block(std::size_t bytes)
{
    void* const block = early + early_used;
    early_used += (bytes + 63) / 64 * 64;
    return block;
}

bool is_early(const void* block)
{
    return block >= static_cast<const void*>(early) && block < static_cast<const void*>(early + sizeof early);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes)
{
    if (finding) {
        return early_block(bytes);
    }
    static const auto real = next<void* (*)(std::size_t)>("malloc");
    return counted(malloc_call, real(bytes));
}

void* calloc(std::size_t number, std::size_t bytes)
{
    if (finding) {
        return early_block(number * bytes);
    }
    static const auto real = next<void* (*)(std::size_t, std::size_t)>("calloc");
    return counted(calloc_call, real(number, bytes));
}

void* realloc(void* block, std::size_t bytes)
{
    static const auto real = next<void* (*)(void*, std::size_t)>("realloc");
    void* const moved = real(block, bytes);
    count(moved == nullptr && (bytes != 0 || block == nullptr) ? failed_call : realloc_call);
    return moved;
}

void free(void* block)
{
    if (block == nullptr || is_early(block)) {
        return;
    }
    static const auto real = next<void (*)(void*)>("free");
    count(free_call);
    real(block);
}

int posix_memalign(void** into, std::size_t alignment, std::size_t bytes)
{
    static const auto real = next<int (*)(void**, std::size_t, std::size_t)>("posix_memalign");
    const int problem = real(into, alignment, bytes);
    if (problem != EINVAL) {
        count(problem == 0 ? aligned_call : failed_call);
    }
    return problem;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    static const auto real = next<void* (*)(std::size_t, std::size_t)>("aligned_alloc");
    return counted(aligned_call, real(alignment, bytes));
}

void* memalign(std::size_t alignment, std::size_t bytes)
{
    static const auto real = next<void* (*)(std::size_t, std::size_t)>("memalign");
    return counted(aligned_call, real(alignment, bytes));
}

void* valloc(std::size_t bytes)
{
    static const auto real = next<void* (*)(std::size_t)>("valloc");
    return counted(aligned_call, real(bytes));
}

void* pvalloc(std::size_t bytes)
{
    static const auto real = next<void* (*)(std::size_t)>("pvalloc");
    return counted(aligned_call, real(bytes));
}

void* mmap(void* hint, std::size_t bytes, int protection, int flags, int fd, off_t offset)
{
    static const auto real = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    void* const at = real(hint, bytes, protection, flags, fd, offset);
    if (at != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0) {
        count(map_call);
    }
    return at;
}

void* mremap(void* at, std::size_t before, std::size_t after, int flags, ...)
{
    static const auto real = next<void* (*)(void*, std::size_t, std::size_t, int, ...)>("mremap");
    void* const moved = real(at, before, after, flags);
    if (moved != MAP_FAILED) {
        count(unmap_call);
        count(map_call);
    }
    return moved;
}

int munmap(void* at, std::size_t bytes)
{
    static const auto real = next<int (*)(void*, std::size_t)>("munmap");
    count(unmap_call);
    return real(at, bytes);
}
}
