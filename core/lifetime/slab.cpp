#include "core/lifetime/slab.hpp"

#include <bit>
#include <new>
#include <utility>

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

// As many as there are, up to the length of `out`, by one swap: it succeeds only if nobody has popped since the head
// was read, and then the links below it are still those that were read. Until then a link may be any that its block has
// had: its release and acquire make the chunk that it leads into visible.
std::uint32_t BlockSlab::pop(std::span<Block*> out) noexcept
{
    std::uint64_t head = head_.load(std::memory_order_acquire);
    while (place(head) != 0) {
        std::uint32_t count = 0;
        std::uint32_t next = place(head);
        while (next != 0 && count < out.size()) {
            Block& block = at(next - 1);
            out[count++] = &block;
            next = block.next_free.load(std::memory_order_acquire);
        }
        const std::uint64_t popped = ((head & ~low_half) + low_half + 1) | next;
        if (head_.compare_exchange_weak(head, popped, std::memory_order_acq_rel, std::memory_order_acquire)) {
            return count;
        }
    }
    return 0;
}

void BlockSlab::push(Block& first, Block& last) noexcept
{
    std::uint64_t head = head_.load(relaxed);
    do {
        last.next_free.store(place(head), std::memory_order_release);
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

// A batch, of which the thread keeps what it does not need now.
Block* BlockSlab::acquire_shared() noexcept
{
    Own& own = own_[memory::thread_slot()];
    if (own.first != nullptr) {
        return acquire();  // from what the thread that had the slot before has left
    }
    std::array<Block*, thread_batch> batch{};
    const std::span wanted{batch.data(), own.limit == 0 ? 1 : batch.size()};
    std::uint32_t got = pop(wanted);
    while (got == 0) {
        if (!grow()) {
            return nullptr;
        }
        got = pop(wanted);
    }
    for (; own.count < got - 1; ++own.count) {
        Block* const kept = batch[got - 1 - own.count];
        kept->next = own.first;
        own.first = kept;
    }
    return batch.front();
}

// The thread keeps the newer half of what it has.
void BlockSlab::recycle_shared(Block& block) noexcept
{
    Own& own = own_[memory::current_thread_slot];
    if (own.limit == 0) {
        return push(block, block);
    }
    Block* last_kept = own.first;
    for (std::uint32_t kept = 1; kept < own.count - thread_batch; ++kept) {
        last_kept = last_kept->next;
    }
    Block* const first = std::exchange(last_kept->next, nullptr);
    Block* last = first;
    for (; last->next != nullptr; last = last->next) {
        last->next_free.store(last->next->index + 1, std::memory_order_release);
    }
    push(*first, *last);
    own.count -= thread_batch;
    recycle(block);
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
