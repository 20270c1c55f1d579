#include "core/sys/allocator_library.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <dlfcn.h>

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

}  // namespace memsweep::sys
