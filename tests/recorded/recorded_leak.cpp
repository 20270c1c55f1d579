// Does OPERATIONS operations, each of which takes a block and gives it back, and forgets one of 48 B in every EVERY:
// recorded_leak OPERATIONS EVERY [cache | late | map]. 0: it forgets none. With `cache` it keeps up to 16 blocks of its
// work; with `late` it keeps all of them until its end; with `map` each operation maps 64 KiB.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

namespace {

constexpr std::size_t forgotten_bytes = 48;

__attribute__((noinline)) void* work(std::size_t bytes)
{
    void* const block = std::malloc(bytes);
    std::memset(block, 1, bytes);
    return block;
}

__attribute__((noinline)) void forget()
{
    std::memset(std::malloc(forgotten_bytes), 1, forgotten_bytes);
}

}  // namespace

int main(int count, char** words)
{
    if (count < 3) {
        return 2;
    }
    const unsigned long operations = std::strtoul(words[1], nullptr, 10);
    const unsigned long every = std::strtoul(words[2], nullptr, 10);
    const bool caches = count > 3 && std::strcmp(words[3], "cache") == 0;
    const bool maps = count > 3 && std::strcmp(words[3], "map") == 0;
    const bool is_late = count > 3 && std::strcmp(words[3], "late") == 0;
    std::vector<void*> kept;
    for (unsigned long i = 1; i <= operations; ++i) {
        void* const block = work(100);
        if (is_late || (caches && kept.size() < 16)) {
            kept.push_back(block);
        } else {
            std::free(block);
        }
        if (maps && ::mmap(nullptr, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
            return 1;
        }
        if (every != 0 && i % every == 0) {
            forget();
        }
    }
    for (void* const block : is_late ? kept : std::vector<void*>{}) {
        std::free(block);
    }
    std::puts("done");
}
