// What the kernel says about a range of this process's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace memsweep::tests {

inline std::size_t page_bytes()
{
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Pages of the range that are resident, or -1 when part of it is not mapped. The range is widened to whole pages.
inline std::int64_t resident_pages(const void* ptr, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(ptr) / page_bytes() * page_bytes();
    const auto end = reinterpret_cast<std::uintptr_t>(ptr) + bytes;
    std::vector<unsigned char> pages((end - begin + page_bytes() - 1) / page_bytes());
    if (::mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()) != 0) {
        return -1;
    }
    return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; });
}

inline std::uint64_t mapped_bytes()
{
    std::ifstream statm{"/proc/self/statm"};
    std::uint64_t pages{};
    statm >> pages;
    return pages * page_bytes();
}

// The VmFlags of the mapping that holds this address: " rd wr mr ... hg ".
inline std::string vm_flags(const void* ptr)
{
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    std::ifstream smaps{"/proc/self/smaps"};
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t begin{};
        std::uintptr_t end{};
        char dash{};
        std::istringstream range{line};
        if (line.find(' ') > line.find('-') && range >> std::hex >> begin >> dash >> end && dash == '-') {
            inside = address >= begin && address < end;
        } else if (inside && line.starts_with("VmFlags:")) {
            return line.substr(8) + " ";
        }
    }
    return {};
}

}  // namespace memsweep::tests
