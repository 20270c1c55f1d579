#include "core/memory/thread_slot.hpp"

#include <atomic>
#include <bit>

namespace memsweep::memory {
namespace {

// One bit per number: the only state that all threads of a process share here, because numbers are the process's.
constinit std::atomic<std::uint64_t> taken{0};

bool take(std::uint32_t slot) noexcept
{
    const std::uint64_t bit = std::uint64_t{1} << slot;
    return (taken.fetch_or(bit, std::memory_order_acquire) & bit) == 0;
}

void give_back(std::uint32_t slot) noexcept
{
    taken.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release);
}

std::uint32_t take_lowest() noexcept
{
    std::uint64_t now = taken.load(std::memory_order_relaxed);
    while (now != ~std::uint64_t{0}) {
        const auto slot = static_cast<std::uint32_t>(std::countr_one(now));
        if (take(slot)) {
            return slot;
        }
        now = taken.load(std::memory_order_relaxed);
    }
    return thread_slots;
}

// Gives the number back when its thread ends. What frees memory after that shares.
struct Owner {
    Owner() noexcept { current_thread_slot = take_lowest(); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner()
    {
        const std::uint32_t slot = current_thread_slot;
        current_thread_slot = thread_slots;
        if (slot < thread_slots) {
            give_back(slot);
        }
    }
};

}  // namespace

constinit thread_local std::uint32_t current_thread_slot = unclaimed_slot;

std::uint32_t claim_thread_slot() noexcept
{
    static thread_local const Owner owner;
    return current_thread_slot;
}

SlotHold::SlotHold(std::uint32_t slot) noexcept : slot_{slot}, held_{take(slot)} {}

SlotHold::~SlotHold()
{
    if (held_) {
        give_back(slot_);
    }
}

}  // namespace memsweep::memory
