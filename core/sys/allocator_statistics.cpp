#include "core/sys/allocator_statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <malloc.h>

#include "core/sys/allocator_library.hpp"

namespace memsweep::sys {
namespace {

struct Text {
    std::span<char> into;
    std::size_t length{};
};

void append(Text& text, const char* piece)
{
    const std::size_t room = text.into.size() - text.length;
    const std::size_t taken = std::min(room, std::strlen(piece));
    std::memcpy(text.into.data() + text.length, piece, taken);
    text.length += taken;
}

template <typename Function>
Function* find(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

using Print = void(void* text, const char* piece);
using JemallocPrint = void(Print*, void* text, const char* options);
using MimallocOut = void(const char* piece, void* text);
using MimallocPrint = void(MimallocOut*, void* text);
using TcmallocStats = void(char* into, int bytes);

// Options of malloc_stats_print: JSON, and without destroyed arenas, single arenas, bins, large classes and mutexes.
constexpr const char* jemalloc_options = "Jdablx";

std::size_t c_library_statistics(std::span<char> into)
{
    std::FILE* file = ::fmemopen(into.data(), into.size(), "w");
    if (file == nullptr) {
        return 0;
    }
    ::malloc_info(0, file);
    const long length = std::ftell(file);
    std::fclose(file);
    return static_cast<std::size_t>(std::max(length, 0L));
}

}  // namespace

AllocatorStatistics write_allocator_statistics(std::span<char> into)
{
    Text text{into};
    if (auto* print = find<JemallocPrint>("malloc_stats_print")) {
        print([](void* to, const char* piece) { append(*static_cast<Text*>(to), piece); }, &text, jemalloc_options);
        return {"json", text.length};
    }
    if (auto* print = find<MimallocPrint>("mi_stats_print_out")) {
        if (auto* merge = find<void()>("mi_stats_merge")) {
            merge();
        }
        print([](const char* piece, void* to) { append(*static_cast<Text*>(to), piece); }, &text);
        return {"text", text.length};
    }
    if (auto* get = find<TcmallocStats>("MallocExtension_GetStats")) {
        get(into.data(), static_cast<int>(into.size()));
        return {"text", ::strnlen(into.data(), into.size())};
    }
    if (is_same_file(serving_library(), c_library())) {
        return {"xml", c_library_statistics(into)};
    }
    return {};
}

}  // namespace memsweep::sys
