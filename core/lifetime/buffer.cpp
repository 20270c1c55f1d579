#include "core/lifetime/buffer.hpp"

#include <algorithm>
#include <new>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {
namespace {

struct ExternalBlock : Block {
    Buffer::Deleter deleter{};
    void* context{};
};

[[gnu::noinline]] void release_external(ExternalBlock* block) noexcept
{
    if (claim_free(*block)) {
        block->deleter(block->context, block->data, block->bytes);
        delete block;
    }
}

}  // namespace

void last_handle_gone(Block& block) noexcept
{
    if (block.discipline != nullptr) {
        block.discipline->unreachable(block);
    } else {
        release_external(static_cast<ExternalBlock*>(&block));
    }
}

void release_one_of_several(Block& block) noexcept
{
    Discipline* const discipline = block.discipline;  // read first: after the drop the block may be another buffer's
    const Drop drop = drop_one_of_several(block);
    if (drop.stray && discipline != nullptr) {  // it may have been the one that released the block all the same
        discipline->count_stray_release();
    }
    if (drop.last) {
        last_handle_gone(block);
    }
}

Buffer& Buffer::operator=(const Buffer& other) noexcept
{
    Buffer copy{other};
    return *this = std::move(copy);
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
    return block_ == nullptr ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(block_->handles(), 0));
}

}  // namespace memsweep::lifetime
