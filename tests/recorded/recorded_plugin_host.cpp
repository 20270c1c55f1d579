// A program without C++'s library that opens one of C++ for itself alone, as interpreters open their extensions:
// recorded_plugin_host LIBRARY WAY does what recorded_doors WAY does.
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

int main(int argc, char** argv)
{
    void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* const found = library != nullptr ? dlsym(library, "doors") : nullptr;
    if (found == nullptr) {
        std::puts(dlerror());
        return 2;
    }
    int (*doors)(int, char**) = nullptr;
    std::memcpy(&doors, &found, sizeof found);
    return doors(argc - 1, argv + 1);
}
