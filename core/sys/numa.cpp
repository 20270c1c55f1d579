#include "core/sys/numa.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <tuple>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

using model::NumaPolicy;

constexpr std::uint32_t max_nodes = 1024;
constexpr std::uint32_t word_bits = 64;
using NodeMask = std::array<std::uint64_t, max_nodes / word_bits>;

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

// 0, or why the kernel refuses. It looks at one bit less than it is told of.
int bind_range(void* ptr, std::uint64_t bytes, NumaPolicy policy, const NodeMask& nodes) noexcept
{
    return ::syscall(SYS_mbind, ptr, bytes, mode_of(policy), nodes.data(), max_nodes + 1UL, 0U) == 0 ? 0 : errno;
}

// Before Linux 6.6 move_pages takes pages that automatic NUMA balancing has marked, to see who uses them, for absent.
// Those are used here, which takes the mark away. Whether there was one.
bool unmark_resident(std::span<const void* const> pages, std::span<const int> status) noexcept
{
    bool was_marked = false;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        auto* const page = const_cast<void*>(pages[i]);
        unsigned char resident = 0;
        if (status[i] == -ENOENT && ::mincore(page, page_size(), &resident) == 0 && (resident & 1U) != 0) {
            was_marked |= advise(page, page_size(), Advice::populate_read).has_value();
        }
    }
    return was_marked;
}

// Asks or moves the base pages of the range by batches on the stack, and shows the outcome of each batch: per page its
// node, or a negative errno. `wanted`: the node to move to; negative: only ask. 0, or why the kernel refuses.
template <typename Show>
int move_pages(const void* ptr, std::uint64_t bytes, int wanted, const Show& show) noexcept(noexcept(show({})))
{
    constexpr std::size_t batch = 512;
    constexpr int move_own = 2;  // MPOL_MF_MOVE of linux/mempolicy.h: what nobody else has mapped
    std::array<const void*, batch> pages{};
    std::array<int, batch> nodes{};
    std::array<int, batch> status{};
    nodes.fill(wanted);
    const std::uint64_t page = page_size();
    const auto before = reinterpret_cast<std::uintptr_t>(ptr) % page;
    const auto* const first = static_cast<const std::byte*>(ptr) - before;
    const std::uint64_t count = (before + bytes + page - 1) / page;
    for (std::uint64_t from = 0; from < count; from += batch) {
        const std::size_t many = std::min<std::uint64_t>(batch, count - from);
        for (std::size_t i = 0; i < many; ++i) {
            pages[i] = first + (from + i) * page;
        }
        const auto ask = [&] {
            status.fill(-EAGAIN);
            return ::syscall(SYS_move_pages, 0, many, pages.data(), wanted < 0 ? nullptr : nodes.data(), status.data(),
                             wanted < 0 ? 0 : move_own) < 0 &&
                           errno != ENOENT  // no page of the batch was there
                       ? errno
                       : 0;
        };
        constexpr int most_marks = 16;  // tries with the same pages: the scan that marks them goes on meanwhile
        int refused = ask();
        for (int marks = 0;
             refused == 0 && marks < most_marks && unmark_resident({pages.data(), many}, {status.data(), many});
             ++marks) {
            refused = ask();
        }
        if (refused != 0) {
            return refused;
        }
        show(std::span<const int>{status.data(), many});
    }
    return 0;
}

}  // namespace

std::vector<std::uint32_t> nodes_with_memory()
{
    constexpr unsigned long allowed_nodes = 1U << 2;  // MPOL_F_MEMS_ALLOWED
    NodeMask mask{};
    std::vector<std::uint32_t> nodes;
    if (::syscall(SYS_get_mempolicy, nullptr, mask.data(), max_nodes, nullptr, allowed_nodes) == 0) {
        for (std::uint32_t node = 0; node < max_nodes; ++node) {
            if ((mask[node / word_bits] >> (node % word_bits) & 1U) != 0) {
                nodes.push_back(node);
            }
        }
    }
    return nodes.empty() ? std::vector<std::uint32_t>{0} : nodes;
}

bool set_memory_policy(void* ptr, std::size_t bytes, const model::NumaSpec& numa, std::size_t page_bytes) noexcept
{
    const std::uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    return bind_range(ptr, whole, numa.policy, NodeMask{numa.nodes}) == 0;
}

base::Expected<void> bind_to_node(void* ptr, std::uint64_t bytes, std::uint32_t node)
{
    if (node >= max_nodes) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("node {} is beyond {}", node, max_nodes));
    }
    NodeMask mask{};
    mask[node / word_bits] = std::uint64_t{1} << (node % word_bits);
    const int refused = bind_range(ptr, bytes, NumaPolicy::bind, mask);
    if (refused == ENOSYS) {
        return base::fail(base::ErrorCode::not_supported, "this kernel has no NUMA policies");
    }
    return refused == 0 ? base::Expected<void>{}
                        : base::fail(base::os_error(fmt::format("mbind to node {}", node), refused));
}

base::Expected<void> ThreadPages::bind_to(std::uint32_t node)
{
    static_assert(mask_words == std::tuple_size_v<NodeMask>);
    if (node >= max_nodes) {
        return base::fail(base::ErrorCode::os, fmt::format("there is no node {}", node));
    }
    int mode = 0;
    if (mode_before_ < 0) {
        if (::syscall(SYS_get_mempolicy, &mode, nodes_before_.data(), max_nodes + 1UL, nullptr, 0UL) != 0) {
            return base::fail(base::os_error("get_mempolicy", errno));
        }
    } else {
        mode = mode_before_;
    }
    NodeMask nodes{};
    nodes.at(node / word_bits) = std::uint64_t{1} << (node % word_bits);
    if (::syscall(SYS_set_mempolicy, mode_of(NumaPolicy::bind), nodes.data(), max_nodes + 1UL) != 0) {
        return base::fail(base::os_error("set_mempolicy", errno));
    }
    mode_before_ = mode;
    return {};
}

ThreadPages::~ThreadPages()
{
    if (mode_before_ >= 0) {
        ::syscall(SYS_set_mempolicy, mode_before_, nodes_before_.data(), max_nodes + 1UL);
    }
}

base::Expected<PagesByNode> pages_by_node(const void* ptr, std::uint64_t bytes)
{
    PagesByNode found;
    const int refused = move_pages(ptr, bytes, -1, [&](std::span<const int> batch) {
        for (const int node : batch) {
            ++(node >= 0 ? found.pages[static_cast<std::uint32_t>(node)] : found.not_resident);
        }
    });
    if (refused == ENOSYS) {
        return base::fail(base::ErrorCode::not_supported, "this kernel has no move_pages");
    }
    return refused == 0 ? base::Expected<PagesByNode>{std::move(found)}
                        : base::fail(base::os_error("move_pages", refused));
}

Migration migrate_pages(void* ptr, std::size_t bytes, std::uint32_t node) noexcept
{
    Migration done;
    done.refused =
        move_pages(ptr, bytes, static_cast<int>(node), [&](std::span<const int> batch) noexcept {
            for (const int at : batch) {
                const bool absent = at == -ENOENT || at == -EFAULT;
                ++(absent ? done.pages_absent : at == static_cast<int>(node) ? done.pages_there : done.pages_left);
            }
        }) != 0;
    return done;
}

bool has_weighted_interleave() noexcept
{
    return ::access("/sys/kernel/mm/mempolicy/weighted_interleave", F_OK) == 0;
}

}  // namespace memsweep::sys
