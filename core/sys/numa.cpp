#include "core/sys/numa.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

using model::NumaPolicy;

// The numbers of linux/mempolicy.h, of which older ones lack the last.
int mode_of(NumaPolicy policy)
{
    switch (policy) {
    case NumaPolicy::none:
        return 0;
    case NumaPolicy::preferred:
        return 1;
    case NumaPolicy::bind:
        return 2;
    case NumaPolicy::interleave:
        return 3;
    case NumaPolicy::weighted:
        return 6;
    }
    return -1;
}

}  // namespace

bool set_memory_policy(void* ptr, std::size_t bytes, const model::NumaSpec& numa, std::size_t page_bytes) noexcept
{
    constexpr unsigned long most_nodes = 64 + 1;  // the kernel looks at one bit less
    const std::uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    return ::syscall(SYS_mbind, ptr, whole, mode_of(numa.policy), &numa.nodes, most_nodes, 0U) == 0;
}

std::vector<int> nodes_of_pages(const void* ptr, std::size_t bytes)
{
    const std::uint64_t page = page_size();
    const std::size_t count = (bytes + page - 1) / page;
    std::vector<const void*> pages(count);
    for (std::size_t i = 0; i < count; ++i) {
        pages[i] = static_cast<const std::byte*>(ptr) + i * page;
    }
    std::vector<int> nodes(count, -1);
    // Without nodes to move to, the call only reports.
    if (::syscall(SYS_move_pages, 0, count, pages.data(), nullptr, nodes.data(), 0) != 0) {
        nodes.assign(count, -1);
    }
    return nodes;
}

// By batches on the stack: moving must not allocate in the process that is measured.
Migration migrate_pages(void* ptr, std::size_t bytes, std::uint32_t node) noexcept
{
    constexpr std::size_t batch = 512;
    constexpr int move_own = 2;  // MPOL_MF_MOVE of linux/mempolicy.h: what nobody else has mapped
    std::array<void*, batch> pages{};
    std::array<int, batch> wanted{};
    std::array<int, batch> status{};
    wanted.fill(static_cast<int>(node));
    const std::uint64_t page = page_size();
    const auto before = reinterpret_cast<std::uintptr_t>(ptr) % page;
    auto* const first = static_cast<std::byte*>(ptr) - before;
    const std::size_t count = (before + bytes + page - 1) / page;
    Migration done;
    for (std::size_t from = 0; from < count; from += batch) {
        const std::size_t many = std::min(batch, count - from);
        for (std::size_t i = 0; i < many; ++i) {
            pages[i] = first + (from + i) * page;
            status[i] = -EAGAIN;
        }
        if (::syscall(SYS_move_pages, 0, many, pages.data(), wanted.data(), status.data(), move_own) < 0 &&
            errno != ENOENT) {  // no page of the batch was there
            done.refused = true;
            return done;
        }
        for (std::size_t i = 0; i < many; ++i) {
            const bool absent = status[i] == -ENOENT || status[i] == -EFAULT;
            ++(absent ? done.pages_absent : status[i] == static_cast<int>(node) ? done.pages_there : done.pages_left);
        }
    }
    return done;
}

bool has_weighted_interleave() noexcept
{
    return ::access("/sys/kernel/mm/mempolicy/weighted_interleave", F_OK) == 0;
}

}  // namespace memsweep::sys
