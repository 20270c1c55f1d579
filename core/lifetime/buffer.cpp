#include "core/lifetime/buffer.hpp"

#include <algorithm>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

void last_handle_gone(Block& block) noexcept
{
    block.discipline->unreachable(block);
}

void count_stray_release(Discipline& discipline) noexcept
{
    discipline.count_stray_release();
}

Buffer& Buffer::operator=(const Buffer& other) noexcept
{
    Buffer copy{other};
    return *this = std::move(copy);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept
{
    if (this != &other) {
        reset();
        block_ = std::exchange(other.block_, nullptr);
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

std::uint64_t Buffer::use_count() const noexcept
{
    return block_ == nullptr
               ? 0
               : static_cast<std::uint64_t>(std::max<std::int64_t>(block_->handles.load(std::memory_order_acquire), 0));
}

}  // namespace memsweep::lifetime
