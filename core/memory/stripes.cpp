#include "core/memory/stripes.hpp"

#include <array>

#include "core/memory/thread_slot.hpp"

namespace memsweep::memory {

Stripes::Stripes(std::uint32_t stripes, std::uint32_t classes, std::uint32_t blocks)
{
    for (std::uint32_t i = 0; i < stripes; ++i) {
        depots_.push_back(std::make_unique<Depot>(classes, blocks));
    }
}

std::size_t Stripes::own_stripe() const noexcept
{
    return thread_slot() % depots_.size();
}

Stripes::Taken Stripes::take(std::uint32_t index) noexcept
{
    std::array<void*, 1> one{};
    const std::size_t own = own_stripe();
    for (std::size_t i = 0; i < depots_.size(); ++i) {
        if (depots_[(own + i) % depots_.size()]->take(index, one) == 1) {
            return {one[0], i == 0};
        }
    }
    return {};
}

bool Stripes::put(std::uint32_t index, void* block, std::uint32_t capacity) noexcept
{
    const std::array<void*, 1> one{block};
    return depots_[own_stripe()]->put(index, one, capacity) == 1;
}

std::uint32_t Stripes::count(std::uint32_t index) const noexcept
{
    std::uint32_t sum = 0;
    for (const auto& depot : depots_) {
        sum += depot->count(index);
    }
    return sum;
}

}  // namespace memsweep::memory
