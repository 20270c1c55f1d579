#include "core/lifetime/slab.hpp"

#include <bit>
#include <new>

#include <sys/mman.h>

namespace memsweep::lifetime {
namespace {

constexpr std::uint64_t low_half = 0xFFFF'FFFF;

constexpr std::uint32_t place(std::uint64_t head)
{
    return static_cast<std::uint32_t>(head & low_half);
}

}  // namespace

BlockSlab::~BlockSlab()
{
    for (std::size_t chunk = 0; chunk < chunk_count_; ++chunk) {
        ::munmap(chunks_[chunk].load(relaxed), (std::size_t{first_chunk_blocks} << chunk) * sizeof(Block));
    }
}

// Chunk k holds the indices whose sum with the first chunk's size has its highest bit k places above that size's.
Block& BlockSlab::at(std::uint32_t index) const noexcept
{
    const std::uint64_t shifted = std::uint64_t{index} + first_chunk_blocks;
    const auto chunk = static_cast<std::size_t>(std::bit_width(shifted) - std::bit_width(first_chunk_blocks));
    return chunks_[chunk].load(std::memory_order_acquire)[shifted - (std::uint64_t{first_chunk_blocks} << chunk)];
}

Block* BlockSlab::pop() noexcept
{
    std::uint64_t head = head_.load(std::memory_order_acquire);
    while (place(head) != 0) {
        Block& block = at(place(head) - 1);
        const std::uint64_t popped = ((head & ~low_half) + low_half + 1) | block.next_free.load(relaxed);
        if (head_.compare_exchange_weak(head, popped, std::memory_order_acq_rel, std::memory_order_acquire)) {
            return &block;
        }
    }
    return nullptr;
}

void BlockSlab::push(Block& first, Block& last) noexcept
{
    std::uint64_t head = head_.load(relaxed);
    do {
        last.next_free.store(place(head), relaxed);
    } while (
        !head_.compare_exchange_weak(head, (head & ~low_half) | (first.index + 1), std::memory_order_acq_rel, relaxed));
}

bool BlockSlab::grow() noexcept
{
    const std::lock_guard lock{growing_};
    if (place(head_.load(relaxed)) != 0) {
        return true;  // another thread grew it, or a block came back, in the meantime
    }
    if (chunk_count_ == max_chunks) {
        return false;
    }
    const std::uint32_t count = first_chunk_blocks << chunk_count_;
    void* const memory =
        ::mmap(nullptr, std::size_t{count} * sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    auto* const blocks = static_cast<Block*>(memory);
    const std::uint32_t first_index = count - first_chunk_blocks;  // as many as lie in the chunks before
    for (std::uint32_t i = 0; i < count; ++i) {
        Block& block = *new (&blocks[i]) Block;
        block.index = first_index + i;
        block.next_free.store(block.index + 2, relaxed);
    }
    chunks_[chunk_count_].store(blocks, std::memory_order_release);
    ++chunk_count_;
    push(blocks[0], blocks[count - 1]);
    return true;
}

Block* BlockSlab::acquire() noexcept
{
    Block* block = pop();
    while (block == nullptr) {
        if (!grow()) {
            return nullptr;
        }
        block = pop();
    }
    return block;
}

bool BlockSlab::reserve(std::size_t blocks) noexcept
{
    Block* taken = nullptr;
    bool enough = true;
    for (std::size_t i = 0; i < blocks && enough; ++i) {
        Block* const block = acquire();
        enough = block != nullptr;
        if (enough) {
            block->next = taken;
            taken = block;
        }
    }
    while (taken != nullptr) {
        Block& block = *taken;
        taken = block.next;
        recycle(block);
    }
    return enough;
}

}  // namespace memsweep::lifetime
