#include "core/lifetime/buffer.hpp"

#include <algorithm>
#include <new>

#include "core/base/assert.hpp"
#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {
namespace {

struct ExternalBlock : Block {
    Buffer::Deleter deleter{};
    void* context{};
};

void release_external(ExternalBlock* block) noexcept
{
    if (claim_free(*block)) {
        block->deleter(block->context, block->data, block->bytes);
        delete block;
    }
}

}  // namespace

void release_handle(Block& block) noexcept
{
    Discipline* const discipline = block.discipline;  // read first: after the drop the block may be another buffer's
    const Drop drop = drop_handle(block);
    if (drop.stray && discipline != nullptr) {
        discipline->count_stray_release();
    }
    if (!drop.last) {
        return;
    }
    if (discipline != nullptr) {
        discipline->unreachable(block);
    } else {
        release_external(static_cast<ExternalBlock*>(&block));
    }
}

Buffer::Buffer(const Buffer& other) noexcept : block_{other.block_}, data_{other.data_}, bytes_{other.bytes_}
{
    if (block_ != nullptr) {
        MEMSWEEP_ASSERT(try_add_handle(*block_), "a copy of a handle whose buffer was released behind its back");
    }
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

Buffer Buffer::wrap(void* data, std::uint64_t bytes) noexcept
{
    return Buffer{nullptr, data, bytes};
}

Buffer Buffer::adopt(void* data, std::uint64_t bytes, Deleter deleter, void* context) noexcept
{
    auto* const block = new (std::nothrow) ExternalBlock;
    if (block == nullptr) {
        return {};
    }
    block->data = data;
    block->bytes = bytes;
    block->deleter = deleter;
    block->context = context;
    return begin(*block, bytes);
}

std::uint64_t Buffer::use_count() const noexcept
{
    return block_ == nullptr
               ? 0
               : static_cast<std::uint64_t>(std::max<std::int64_t>(block_->handles.load(std::memory_order_acquire), 0));
}

}  // namespace memsweep::lifetime
