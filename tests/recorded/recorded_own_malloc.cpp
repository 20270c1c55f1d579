// A program that brings its own malloc.
#include <cstddef>
#include <cstdio>

namespace {
alignas(64) unsigned char room[1 << 20];
std::size_t used;
}  // namespace

extern "C" {
void* malloc(std::size_t bytes)
{
    void* const block = room + used;
    used += (bytes + 63) / 64 * 64;
    return used < sizeof room ? block : nullptr;
}
void* calloc(std::size_t number, std::size_t bytes)
{
    return malloc(number * bytes);
}
void* realloc(void* block, std::size_t bytes)
{
    auto* const from = static_cast<unsigned char*>(block);
    auto* const to = static_cast<unsigned char*>(malloc(bytes));
    for (std::size_t i = 0; from != nullptr && to != nullptr && i < bytes && from + i < room + sizeof room; ++i) {
        to[i] = from[i];
    }
    return to;
}
void free(void* /*block*/) {}
}

int main()
{
    std::puts(malloc(100) != nullptr ? "own" : "none");
}
