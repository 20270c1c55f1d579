#include "core/array/streaming.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "core/array/cast_levels.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::array {
namespace {

// Of the second-level cache, in quarters; none where its size is not known.
std::uint64_t smallest_streamed_bytes()
{
#ifdef MEMSWEEP_X86_64
    static const std::uint64_t quarters = __builtin_cpu_is("amd") ? 64 : 5;
#else
    constexpr std::uint64_t quarters = 5;
#endif
    static const long l2_bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return l2_bytes > 0 ? static_cast<std::uint64_t>(l2_bytes) / 4 * quarters : UINT64_MAX;
}

bool is_resident(std::byte* ptr)
{
    std::byte* const page = ptr - reinterpret_cast<std::uintptr_t>(ptr) % sys::page_size();
    unsigned char state = 0;
    return ::mincore(page, 1, &state) == 0 && (state & 1U) != 0;
}

}  // namespace

bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes, std::uint64_t bytes_moved) noexcept
{
    return table.streams() && bytes_moved >= smallest_streamed_bytes() &&
           is_resident(static_cast<std::byte*>(out) + out_bytes / 2);
}

}  // namespace memsweep::array
