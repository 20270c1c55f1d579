#include "core/sys/allocator_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/trace/format/preload_obstacle.hpp"

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
        if (const std::string_view folder = base::take_until(rest, ':'); !folder.empty()) {
            folders.emplace_back(folder);
        }
    }
    folders.emplace_back("/usr/local/lib");
    folders.push_back(fs::path{c_library()}.parent_path());
    for (const char* folder : {"/usr/lib64", "/usr/lib", "/lib64", "/lib"}) {
        folders.emplace_back(folder);
    }
    return folders;
}

constexpr std::size_t head_bytes = 4096;

// The first bytes of a file; fewer of a shorter one, none of one that cannot be read.
std::string head_of(const std::string& path)
{
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::string head(head_bytes, '\0');
    const ssize_t got = file.valid() ? ::read(file.get(), head.data(), head.size()) : 0;
    head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return head;
}

// The dynamic linker only warns of a file that it cannot preload, and goes on without.
bool is_shared_object(const fs::path& path)
{
    const std::string head = head_of(path.string());
    return head.size() >= EI_NIDENT + sizeof(Elf64_Half) && head.starts_with(ELFMAG) && head[EI_NIDENT] == ET_DYN;
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

std::string allocator_version()
{
    if (auto* control = find<Mallctl>("mallctl")) {
        const char* text = nullptr;
        std::size_t bytes = sizeof text;
        const bool said = control("version", static_cast<void*>(&text), &bytes, nullptr, 0) == 0 && text != nullptr;
        return said ? text : "";
    }
    if (auto* number = find<int()>("mi_version")) {  // 209 is 2.0.9
        const int version = number();
        return fmt::format("{}.{}.{}", version / 100, version / 10 % 10, version % 10);
    }
    if (auto *say = find<const char*(int* major, int* minor, const char** patch)>("tc_version")) {
        const char* const text = say(nullptr, nullptr, nullptr);
        return text != nullptr ? text : "";
    }
    return gnu_get_libc_version();
}

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

void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn)
{
    if (allocator.name.empty()) {
        return;
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::string_view name = text.substr(0, text.find('='));
        if (model::sets_an_allocator(name)) {
            spawn.without.emplace_back(name);
        }
    }
    spawn.without.emplace_back("LD_PRELOAD");
    spawn.environment.insert(spawn.environment.end(), allocator.environment.begin(), allocator.environment.end());
    if (!allocator.library.empty()) {
        spawn.environment.emplace_back("LD_PRELOAD", allocator.library);
    }
}

std::string expected_library(const model::AllocatorSpec& allocator)
{
    return allocator.library.empty() ? c_library() : allocator.library;
}

std::string find_program(const std::string& name)
{
    if (name.find('/') != std::string::npos) {
        return name;
    }
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
    while (!rest.empty()) {
        const std::string_view folder = base::take_until(rest, ':');
        std::string candidate = std::string{folder.empty() ? "." : folder} + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return {};
}

base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv)
{
    const std::string path = argv.empty() ? std::string{} : find_program(argv.front());
    const trace::PreloadObstacle obstacle = trace::preload_obstacle(path.c_str());
    if (path.empty() || obstacle == trace::PreloadObstacle::none) {
        return {};
    }
    const bool gains = obstacle == trace::PreloadObstacle::privileges;
    return base::fail(
        base::ErrorCode::not_supported,
        fmt::format("{}: it cannot be recorded{}", trace::describe(obstacle), gains ? ". Run it as its owner" : ""),
        path);
}

}  // namespace memsweep::sys
