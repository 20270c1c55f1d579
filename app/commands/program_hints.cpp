#include "app/commands/program_hints.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/shell_syntax.hpp"
#include "core/base/printable.hpp"
#include "core/base/text.hpp"

namespace memsweep::app {

std::string program_hint(const std::vector<std::string>& words, std::string_view command)
{
    if (words.empty()) {
        return {};
    }
    const std::string& first = words.front();
    const std::string line = base::printable(fmt::format("{}", fmt::join(words, " ")));
    if (first.find('=') != std::string::npos && needs_shell(first) == first) {
        return fmt::format("; env sets variables: memsweep {} -- env {}", command, line);
    }
    if (first.find_first_of(" \t") != std::string::npos && words.size() == 1) {
        return fmt::format("; behind -- each word stands alone: memsweep {} -- {}", command, line);
    }
    if (!needs_shell(first).empty() && command == "run") {
        return fmt::format("; {} is a word of the shell: memsweep run --shell -- '{}'", base::printable(first), line);
    }
    return {};
}

std::string missing_interpreter(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    std::string line;
    if (!file || !std::getline(file, line) || !line.starts_with("#!")) {
        return {};
    }
    const bool is_dos = line.ends_with('\r');
    const std::string_view named = base::trimmed(std::string_view{line}.substr(2));
    const std::string interpreter{named.substr(0, named.find_first_of(" \t"))};
    if (is_dos) {
        return fmt::format("{}: its first line ends in a carriage return, so that Linux looks for the interpreter "
                           "\"{}\\r\"; sed -i 's/\\r$//' {} makes its lines Linux's",
                           base::printable(path), base::printable(interpreter), base::printable(path));
    }
    if (::access(interpreter.c_str(), X_OK) != 0) {
        return fmt::format("{}: its first line names the interpreter {}, which is not there", base::printable(path),
                           base::printable(interpreter));
    }
    return {};
}

namespace {

constexpr std::size_t most_sections = 4096;
constexpr std::size_t most_bytes = 16U << 20U;

template <typename Entry>
std::vector<Entry> entries_at(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes)
{
    std::vector<Entry> entries(std::min<std::uint64_t>(bytes, most_bytes) / sizeof(Entry));
    const auto wanted = static_cast<std::streamsize>(entries.size() * sizeof(Entry));
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file.read(reinterpret_cast<char*>(entries.data()), wanted)) {
        entries.clear();
        file.clear();
    }
    return entries;
}

}  // namespace

std::string sanitizer_library(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    const std::vector<Elf64_Ehdr> header =
        file ? entries_at<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr)) : std::vector<Elf64_Ehdr>{};
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr) ||
        header[0].e_shnum > most_sections) {
        return {};
    }
    const auto sections = entries_at<Elf64_Shdr>(file, header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) {
            continue;
        }
        const Elf64_Shdr& names = sections[section.sh_link];
        const auto text = entries_at<char>(file, names.sh_offset, names.sh_size);
        for (const Elf64_Dyn& entry : entries_at<Elf64_Dyn>(file, section.sh_offset, section.sh_size)) {
            if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < text.size()) {
                const char* const name = text.data() + entry.d_un.d_val;
                std::string needed{name, ::strnlen(name, text.size() - entry.d_un.d_val)};
                for (const std::string_view known : {"libasan.so", "libclang_rt.asan"}) {
                    if (needed.starts_with(known)) {
                        return needed;
                    }
                }
            }
        }
    }
    return {};
}

}  // namespace memsweep::app
