// Fresh memory on base pages, whatever this machine gives by itself.
#pragma once

#include <cstdint>
#include <utility>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline constexpr std::uint64_t mib = 1U << 20;

inline sys::Mapping small_pages(std::uint64_t bytes)
{
    auto mapping = sys::Mapping::anonymous(bytes);
    REQUIRE(mapping);
    static_cast<void>(sys::advise(mapping->data(), mapping->size(), sys::Advice::no_huge_pages));
    return std::move(*mapping);
}

}  // namespace memsweep::tests
