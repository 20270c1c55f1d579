#include "core/sys/numa_nodes.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "core/sys/page_ops.hpp"
#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

std::uint64_t memory_of_node(const std::string& folder)
{
    // "Node 0 MemTotal:       24000000 kB"
    const std::string text = read_kernel_text(folder + "meminfo").value_or("");
    const std::size_t at = text.find("MemTotal:");
    return at == std::string::npos ? 0 : find_kib_field(std::string_view{text}.substr(at), "MemTotal").value_or(0);
}

std::vector<std::uint32_t> distances_of_node(const std::string& folder)
{
    std::vector<std::uint32_t> distances;
    const std::string text = read_word(folder + "distance");
    std::string_view rest = text;
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
        distances.push_back(static_cast<std::uint32_t>(parse_count(word).value_or(0)));
    }
    return distances;
}

NumaNode read_node(const std::string& folder, std::uint32_t id, const std::vector<std::uint32_t>& allowed)
{
    NumaNode node{.id = id, .memory_bytes = memory_of_node(folder), .distances = distances_of_node(folder)};
    for (const std::uint32_t cpu : parse_list(read_word(folder + "cpulist")).value_or(std::vector<std::uint32_t>{})) {
        if (std::ranges::find(allowed, cpu) != allowed.end()) {
            node.cpus.push_back(cpu);
        }
    }
    return node;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list)
{
    constexpr std::uint64_t most = 1U << 20;
    std::vector<std::uint32_t> numbers;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view part = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        const std::size_t dash = part.find('-');
        const auto first = parse_count(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse_count(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= most) {
            return std::nullopt;
        }
        for (std::uint64_t number = *first; number <= *last; ++number) {
            numbers.push_back(static_cast<std::uint32_t>(number));
        }
    }
    return numbers;
}

std::vector<std::uint32_t> allowed_cpus()
{
    std::vector<std::uint32_t> cpus;
    constexpr int most_cpus = 1 << 14;
    cpu_set_t* const set = CPU_ALLOC(most_cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    if (set != nullptr && ::sched_getaffinity(0, bytes, set) == 0) {
        for (int cpu = 0; cpu < most_cpus; ++cpu) {
            if (CPU_ISSET_S(static_cast<unsigned>(cpu), bytes, set)) {
                cpus.push_back(static_cast<std::uint32_t>(cpu));
            }
        }
    }
    CPU_FREE(set);
    return cpus;
}

std::vector<NumaNode> numa_nodes(const std::string& root)
{
    const std::string top = (root.ends_with('/') ? root : root + "/") + "sys/devices/system/node/";
    const std::vector<std::uint32_t> allowed = allowed_cpus();
    std::vector<NumaNode> nodes;
    for (const std::uint32_t id : parse_list(read_word(top + "online")).value_or(std::vector<std::uint32_t>{})) {
        nodes.push_back(read_node(fmt::format("{}node{}/", top, id), id, allowed));
    }
    if (nodes.empty()) {
        const long pages = ::sysconf(_SC_PHYS_PAGES);
        nodes.push_back(
            {.cpus = allowed, .memory_bytes = static_cast<std::uint64_t>(std::max(pages, 0L)) * page_size()});
    }
    return nodes;
}

base::Expected<void> bind_to_node(void* ptr, std::uint64_t bytes, std::uint32_t node)
{
    constexpr std::uint32_t most_nodes = 1024;
    constexpr std::uint32_t word_bits = 64;
    if (node >= most_nodes) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("node {} is beyond {}", node, most_nodes));
    }
    std::array<std::uint64_t, most_nodes / word_bits> mask{};
    mask[node / word_bits] = std::uint64_t{1} << (node % word_bits);
    if (::syscall(SYS_mbind, ptr, bytes, MPOL_BIND, mask.data(), most_nodes, 0) == 0) {
        return {};
    }
    if (errno == ENOSYS) {
        return base::fail(base::ErrorCode::not_supported, "this kernel has no NUMA policies");
    }
    return base::fail(base::os_error(fmt::format("mbind to node {}", node), errno));
}

base::Expected<PagesByNode> pages_by_node(const void* ptr, std::uint64_t bytes)
{
    constexpr std::size_t batch = 4096;
    std::vector<void*> pages(batch);
    std::vector<int> states(batch);
    PagesByNode found;
    auto* const start =
        static_cast<std::byte*>(const_cast<void*>(ptr));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const std::uint64_t all = (bytes + page_size() - 1) / page_size();
    for (std::uint64_t done = 0; done < all;) {
        const std::size_t count = std::min<std::uint64_t>(batch, all - done);
        for (std::size_t i = 0; i < count; ++i) {
            pages[i] = start + (done + i) * page_size();
        }
        if (::syscall(SYS_move_pages, 0, count, pages.data(), nullptr, states.data(), 0) != 0) {
            return base::fail(errno == ENOSYS
                                  ? base::Error{base::ErrorCode::not_supported, "this kernel has no move_pages", {}}
                                  : base::os_error("move_pages", errno));
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (states[i] >= 0) {
                ++found.pages[static_cast<std::uint32_t>(states[i])];
            } else {
                ++found.not_resident;
            }
        }
        done += count;
    }
    return found;
}

}  // namespace memsweep::sys
