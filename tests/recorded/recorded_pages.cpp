// Holds some 64 MiB in one way (16 MiB of static data), and ends by exit(3):
//
//   hidden LIBRARY  blocks by the address of malloc that dlsym gives in this library, past a recorder
//   break           its own blocks behind sbrk
//   blocks          by malloc, of many sizes, half of them freed
//   tiny            by malloc, of one byte each
//   large           by malloc, some of 1 MiB
//   new             by new
//   mapped          by mmap
//   copied          in a private mapping of a file
//   data            in static data
//   stacks          on the stacks of eight threads
//   nothing
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr std::size_t mib = 1 << 20U;
constexpr std::size_t all = 64 * mib;
char data[16 * mib];
void* volatile keep;  // what is stored here is not optimised away

void* filled(void* block, std::size_t bytes)
{
    if (block == nullptr || block == MAP_FAILED) {
        std::exit(9);
    }
    keep = block;
    return std::memset(block, 1, bytes);
}

void hide(const char* library)
{
    void* const found = dlsym(dlopen(library, RTLD_NOW), "malloc");
    void* (*give)(std::size_t) = nullptr;
    std::memcpy(&give, &found, sizeof found);
    for (std::size_t i = 0; i < all; i += mib / 16) {
        filled(give(mib / 16), mib / 16);
    }
}

void leave_half()
{
    std::vector<void*> blocks;
    for (std::size_t held = 0; held < all;) {
        const std::size_t bytes = 16 + blocks.size() * 7919 % 5000;
        blocks.push_back(filled(std::malloc(bytes), bytes));
        held += bytes;
    }
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
        std::free(blocks[i]);
    }
}

void use_stacks()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([] {
            char room[all / 10];
            filled(room, sizeof room);
        });
    }
    std::for_each(threads.begin(), threads.end(), [](std::thread& thread) { thread.join(); });
}

void copy_file()
{
    std::FILE* const file = std::tmpfile();
    if (ftruncate(fileno(file), all) == 0) {
        filled(mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0), all);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string way = argc > 1 ? argv[1] : "";
    if (way == "hidden") {
        hide(argv[2]);
    } else if (way == "break") {
        filled(sbrk(all), all);
    } else if (way == "blocks") {
        leave_half();
    } else if (way == "tiny") {
        for (std::size_t i = 0; i < all; i += 32) {
            filled(std::malloc(1), 1);
        }
    } else if (way == "large") {
        for (std::size_t i = 0; i < all; i += mib) {
            filled(std::malloc(mib), mib);
        }
    } else if (way == "new") {
        filled(new char[all], all);
    } else if (way == "mapped") {
        filled(mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), all);
    } else if (way == "copied") {
        copy_file();
    } else if (way == "data") {
        filled(data, sizeof data);
    } else if (way == "stacks") {
        use_stacks();
    }
}
