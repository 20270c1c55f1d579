// Whether this kernel can bind pages to a node: one without NUMA cannot, nor can emulators of its calls.
#pragma once

#include <string>

#include <sys/mman.h>

#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::tests {

// Empty if it can, or refuses one page for another reason than that it has no such call.
inline std::string why_no_numa_policies()
{
    const std::size_t bytes = sys::page_size();
    void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return {};
    }
    const auto bound = sys::bind_to_node(page, bytes, 0);
    ::munmap(page, bytes);
    return !bound && bound.error().code == base::ErrorCode::not_supported ? bound.error().message : std::string{};
}

}  // namespace memsweep::tests
