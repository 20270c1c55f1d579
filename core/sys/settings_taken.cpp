#include "core/sys/settings_taken.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

constexpr std::array linkers{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-linux.so.2"};

// What a program says on both of its outputs, up to what a pipe holds.
base::Expected<std::string> said_by(SpawnOptions options)
{
    constexpr std::chrono::seconds patience{10};
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        return base::fail(base::os_error("pipe", errno));
    }
    const UniqueFd from{ends[0]};
    UniqueFd to{ends[1]};
    options.inherit = {{to.get(), STDOUT_FILENO}, {to.get(), STDERR_FILENO}};
    auto child = MEMSWEEP_TRY(ChildProcess::spawn(options));
    to.reset();
    if (!child.wait_for(patience)) {
        return base::fail(base::ErrorCode::os, "did not end", options.argv.front());
    }
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(from.get(), buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::string lower(std::string_view text)
{
    std::string low{text};
    std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return low;
}

base::Expected<void> unknown(const model::AllocatorSpec& allocator, std::string_view name)
{
    return base::fail(base::ErrorCode::not_supported,
                      fmt::format("{} as it is installed here does not know {}", allocator.name, name));
}

base::Expected<void> check_glibc(const model::AllocatorSpec& allocator)
{
    const auto linker = std::ranges::find_if(linkers, [](const char* path) { return ::access(path, X_OK) == 0; });
    if (linker == linkers.end()) {
        return {};
    }
    const std::string known = MEMSWEEP_TRY(said_by({.argv = {*linker, "--list-tunables"}}));
    if (known.find("glibc.malloc.") == std::string::npos) {
        return {};  // before 2.33 it lists none
    }
    for (const auto& [variable, list] : allocator.environment) {
        std::string_view rest = list;
        while (!rest.empty()) {
            std::string_view one = rest.substr(0, rest.find(':'));
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            const std::string_view name = one.substr(0, one.find('='));
            if (known.find(fmt::format("{}:", name)) == std::string::npos) {
                return unknown(allocator, name);
            }
        }
    }
    return {};
}

base::Expected<std::string> said_under(const model::AllocatorSpec& allocator)
{
    SpawnOptions options{.argv = {"/bin/true"}};
    put_under(allocator, options);
    return said_by(std::move(options));
}

base::Expected<void> check_jemalloc(const model::AllocatorSpec& allocator)
{
    const std::string said = MEMSWEEP_TRY(said_under(allocator));
    const std::size_t complaint = said.find("<jemalloc>:");
    if (complaint == std::string::npos) {
        return {};
    }
    return base::fail(base::ErrorCode::not_supported, said.substr(complaint, said.find('\n', complaint) - complaint));
}

base::Expected<void> check_mimalloc(model::AllocatorSpec allocator)
{
    const model::Variables wanted = allocator.environment;
    allocator.environment.emplace_back("MIMALLOC_VERBOSE", "1");
    const std::string known = MEMSWEEP_TRY(said_under(allocator));
    constexpr std::string_view prefix = "mimalloc_";
    for (const auto& [variable, value] : wanted) {
        const std::string name = lower(variable).substr(prefix.size());
        if (known.find(fmt::format("option '{}'", name)) == std::string::npos) {
            return unknown(allocator, variable);
        }
    }
    return {};
}

base::Expected<void> check_tcmalloc(const model::AllocatorSpec& allocator)
{
    constexpr std::uint64_t largest_library = std::uint64_t{64} << 20U;
    const UniqueFd file = open_regular_file(allocator.library);
    std::string bytes;
    std::vector<char> buffer(std::size_t{64} << 10U);
    for (ssize_t got = 0;
         bytes.size() < largest_library && (got = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
        bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
    for (const auto& [variable, value] : allocator.environment) {
        if (bytes.find(variable) == std::string::npos) {
            return unknown(allocator, variable);
        }
    }
    return {};
}

}  // namespace

base::Expected<void> check_settings_taken(const model::AllocatorSpec& allocator)
{
    if (allocator.environment.empty()) {
        return {};
    }
    if (allocator.name == "glibc") {
        return check_glibc(allocator);
    }
    if (allocator.name == "jemalloc") {
        return check_jemalloc(allocator);
    }
    if (allocator.name == "mimalloc") {
        return check_mimalloc(allocator);
    }
    return allocator.name == "tcmalloc" ? check_tcmalloc(allocator) : base::Expected<void>{};
}

}  // namespace memsweep::sys
