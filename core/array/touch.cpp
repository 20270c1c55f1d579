#include "core/array/touch.hpp"

#include <cstring>

#include "core/memory/barrier.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::array {

std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept
{
    if (bytes == 0) {
        return 0;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(ptr);
    return (first + bytes - 1) / page_bytes - first / page_bytes + 1;
}

std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept
{
    if (touch == model::Touch::none || bytes == 0) {
        return 0;
    }
    if (touch == model::Touch::page) {
        return sys::touch_pages(ptr, bytes);
    }
    std::memset(ptr, 0, bytes);
    memory::keep_stores(ptr);
    return pages_spanned(ptr, bytes, sys::page_size());
}

}  // namespace memsweep::array
