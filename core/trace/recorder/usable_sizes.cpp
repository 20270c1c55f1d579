#include "core/trace/recorder/usable_sizes.hpp"

#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/real_calls.hpp"

namespace memsweep::trace::recorder {

constinit bool wants_usable_sizes = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool UsableSizes::take(std::uint64_t size, std::uint64_t alignment) noexcept
{
    if (size < first_large && alignment == 0) {
        const std::uint64_t bit = std::uint64_t{1} << size % 64;
        return !knows_small(size) && (small_[size / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    }
    const std::uint64_t mark = ((size ^ alignment << 40U ^ alignment) * 0x9E3779B97F4A7C15U) | 1U;  // never zero
    for (std::size_t step = 0; step < others_.size(); ++step) {
        std::atomic<std::uint64_t>& place = others_[((mark >> 20U) + step) % others_.size()];
        std::uint64_t there = place.load(std::memory_order_relaxed);
        if (there == 0 && place.compare_exchange_strong(there, mark, std::memory_order_relaxed)) {
            return true;
        }
        if (there == mark) {
            return false;
        }
        constexpr std::size_t most_steps = 32;
        if (step == most_steps) {
            break;
        }
    }
    return false;
}

void prepare_usable_sizes() noexcept
{
    const LoadedObject server = LoadedObject::holding(reinterpret_cast<void*>(real.malloc));
    wants_usable_sizes =
        server.contains(reinterpret_cast<void*>(real.malloc_usable_size)) && !server.defines("gnu_get_libc_version");
}

std::uint64_t usable_size_at(std::uint64_t address) noexcept
{
    return real.malloc_usable_size(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr): a block
}

}  // namespace memsweep::trace::recorder
