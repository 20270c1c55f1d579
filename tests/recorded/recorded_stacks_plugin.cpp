// What recorded_stacks and recorded_surroundings open and close: it allocates in a function of its own, and maps.
#include <cstddef>
#include <cstdlib>

#include <sys/mman.h>

namespace {

volatile int done;

__attribute__((noinline)) void plugin_leaf()
{
    std::free(std::malloc(48));
    done = done + 1;
}

}  // namespace

extern "C" void plugin_allocate(int count)
{
    for (int i = 0; i < count; ++i) {
        plugin_leaf();
    }
    done = done + 1;
}

extern "C" void* plugin_map(std::size_t bytes)
{
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    done = done + 1;
    return at;
}

extern "C" int plugin_unmap(void* at, std::size_t bytes)
{
    const int outcome = ::munmap(at, bytes);
    done = done + 1;
    return outcome;
}
