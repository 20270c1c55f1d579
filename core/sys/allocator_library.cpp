#include "core/sys/allocator_library.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace memsweep::sys {
namespace {

namespace fs = std::filesystem;

std::string file_of(const char* symbol)
{
    Dl_info info{};
    void* address = ::dlsym(RTLD_DEFAULT, symbol);
    return address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::vector<fs::path> library_folders()
{
    std::vector<fs::path> folders;
    const char* search = std::getenv("LD_LIBRARY_PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
    std::string_view rest = search != nullptr ? search : "";
    while (!rest.empty()) {
        const std::size_t end = rest.find(':');
        if (end != 0) {
            folders.emplace_back(rest.substr(0, end));
        }
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    folders.emplace_back("/usr/local/lib");
    folders.push_back(fs::path{c_library()}.parent_path());
    for (const char* folder : {"/usr/lib64", "/usr/lib", "/lib64", "/lib"}) {
        folders.emplace_back(folder);
    }
    return folders;
}

// The dynamic linker only warns of a file that it cannot preload, and goes on without.
bool is_shared_object(const fs::path& path)
{
    constexpr std::array<char, 4> magic{'\x7F', 'E', 'L', 'F'};
    std::array<char, 18> head{};
    std::ifstream file{path, std::ios::binary};
    constexpr char shared_object = 3;  // e_type, at byte 16
    return file.read(head.data(), head.size()) &&
           std::string_view{head.data(), 4} == std::string_view{magic.data(), 4} && head[16] == shared_object;
}

}  // namespace

std::string c_library()
{
    return file_of("gnu_get_libc_version");
}

std::string serving_library()
{
    return file_of("malloc");
}

bool is_same_file(const std::string& one, const std::string& other)
{
    std::error_code error;
    return fs::equivalent(one, other, error);
}

base::Expected<std::string> find_allocator_library(const std::string& name)
{
    using base::ErrorCode;
    if (model::is_library_path(name)) {
        if (!fs::exists(name)) {
            return base::fail(ErrorCode::invalid_input, "there is no such file", name);
        }
        return is_shared_object(name)
                   ? base::Expected<std::string>{name}
                   : base::fail(ErrorCode::invalid_input, "it is no shared library of this machine", name);
    }
    const model::KnownAllocator* known = model::find_allocator(name);
    if (known == nullptr) {
        return base::fail(ErrorCode::invalid_input, "there is no allocator of this name", name);
    }
    if (known->libraries.front().empty()) {
        return std::string{};
    }
    for (const std::string_view library : known->libraries) {
        for (const fs::path& folder : library_folders()) {
            if (!library.empty() && is_shared_object(folder / library)) {
                return (folder / library).string();
            }
        }
    }
    return base::fail(
        ErrorCode::invalid_input,
        fmt::format("{} is not installed; on Debian: apt-get install {}", known->libraries.front(), known->package),
        name);
}

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

namespace {

using Mallctl = int(const char* name, void* old_value, std::size_t* old_bytes, void* new_value, std::size_t new_bytes);
using Collect = void(bool force);

constexpr const char* purge_all_arenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL

}  // namespace

bool trim_allocator() noexcept
{
    if (auto* control = find<Mallctl>("mallctl")) {
        control("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        return control(purge_all_arenas, nullptr, nullptr, nullptr, 0) == 0;
    }
    if (auto* collect = find<Collect>("mi_collect")) {
        collect(true);
        return true;
    }
    if (auto* release = find<void()>("MallocExtension_ReleaseFreeMemory")) {
        release();
        return true;
    }
    if (is_same_file(serving_library(), c_library())) {
        ::malloc_trim(0);
        return true;
    }
    return false;
}

}  // namespace memsweep::sys
