#include "core/sys/preload.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/sys/allocator_library.hpp"
#include "core/sys/proc_text.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

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

namespace {

constexpr std::size_t head_bytes = 4096;
constexpr int most_interpreters = 4;  // a script's interpreter may be a script

std::string head_of(const std::string& path)
{
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::string head(head_bytes, '\0');
    const ssize_t got = file.valid() ? ::read(file.get(), head.data(), head.size()) : 0;
    head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return head;
}

// Nothing is said against a file whose headers lie further behind.
const char* elf_problem(std::string_view head)
{
    if (head.size() < sizeof(Elf64_Ehdr)) {
        return nullptr;
    }
    if (head[EI_CLASS] != ELFCLASS64) {
        return "a 32-bit program, which the 64-bit recorder cannot be loaded into";
    }
    Elf64_Ehdr file{};
    std::memcpy(&file, head.data(), sizeof file);
    if (file.e_phentsize != sizeof(Elf64_Phdr) || file.e_phoff > head.size()) {
        return nullptr;
    }
    for (std::size_t i = 0; i < file.e_phnum; ++i) {
        const std::size_t at = file.e_phoff + i * sizeof(Elf64_Phdr);
        if (at + sizeof(Elf64_Phdr) > head.size()) {
            return nullptr;
        }
        Elf64_Phdr segment{};
        std::memcpy(&segment, head.data() + at, sizeof segment);
        if (segment.p_type == PT_INTERP) {
            return nullptr;
        }
    }
    return "statically linked, so that no library can be preloaded";
}

bool gains_privileges(const std::string& path)
{
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) {
        return false;
    }
    const bool by_owner = (file.st_mode & S_ISUID) != 0 && file.st_uid != ::getuid();
    const bool by_group = (file.st_mode & S_ISGID) != 0 && (file.st_mode & S_IXGRP) != 0 && file.st_gid != ::getgid();
    const bool by_capability = ::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    return by_owner || by_group || by_capability;
}

}  // namespace

std::string find_program(const std::string& name)
{
    if (name.find('/') != std::string::npos) {
        return name;
    }
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
        std::string candidate = std::string{folder.empty() ? "." : folder} + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return {};
}

base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv)
{
    std::string path = argv.empty() ? std::string{} : find_program(argv.front());
    for (int depth = 0; depth < most_interpreters && !path.empty(); ++depth) {
        if (gains_privileges(path)) {
            return base::fail(base::ErrorCode::not_supported,
                              "runs with more privileges than its caller (setuid, setgid or capabilities), so that the "
                              "dynamic linker preloads nothing: it cannot be recorded. Run it as its owner",
                              path);
        }
        const std::string head = head_of(path);
        if (head.starts_with(ELFMAG)) {
            const char* const problem = elf_problem(head);
            return problem == nullptr ? base::Expected<void>{}
                                      : base::fail(base::ErrorCode::not_supported,
                                                   std::string{problem} + ": it cannot be recorded", path);
        }
        if (!head.starts_with("#!")) {
            return {};
        }
        std::string_view line = std::string_view{head}.substr(2, head.find('\n') - 2);
        const std::string interpreter{take_word(line)};
        const std::string argument{take_word(line)};
        path = interpreter.ends_with("/env") && !argument.empty() && argument.front() != '-' ? find_program(argument)
                                                                                             : interpreter;
    }
    return {};
}

}  // namespace memsweep::sys
