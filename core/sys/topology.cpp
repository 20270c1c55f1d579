#include "core/sys/topology.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/sys/numa_nodes.hpp"
#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

std::uint64_t count_in(const std::string& path)
{
    return parse_count(read_word(path)).value_or(0);
}

// "48K", "2048K", "8M"
std::uint64_t cache_size(std::string_view text)
{
    std::uint64_t unit = 1;
    if (text.ends_with('K') || text.ends_with('M')) {
        unit = text.back() == 'K' ? 1U << 10 : 1U << 20;
        text.remove_suffix(1);
    }
    return parse_count(text).value_or(0) * unit;
}

using CacheKey = std::tuple<std::uint32_t, std::string, std::uint64_t>;  // level, type, size

// Every instance once, by the processors that share it.
struct CacheCount {
    CacheFacts facts;
    std::set<std::string> sharers;
};

void add_caches(const std::string& cpu_folder, std::map<CacheKey, CacheCount>& caches)
{
    for (std::uint32_t index = 0;; ++index) {
        const std::string folder = fmt::format("{}cache/index{}/", cpu_folder, index);
        const std::string size = read_word(folder + "size");
        if (size.empty()) {
            return;
        }
        CacheFacts facts{.level = static_cast<std::uint32_t>(count_in(folder + "level")),
                         .type = read_word(folder + "type"),
                         .bytes = cache_size(size),
                         .line_bytes = static_cast<std::uint32_t>(count_in(folder + "coherency_line_size"))};
        const std::string sharers = read_word(folder + "shared_cpu_list");
        facts.shared_by = static_cast<std::uint32_t>(count_list(sharers).value_or(1));
        CacheCount& count = caches[{facts.level, facts.type, facts.bytes}];
        count.facts = facts;
        count.sharers.insert(sharers.empty() ? cpu_folder : sharers);
    }
}

std::vector<HugePagePool> huge_page_pools(const std::string& root)
{
    std::vector<HugePagePool> pools;
    std::error_code problem;
    const std::string top = root + "sys/kernel/mm/hugepages";
    for (const auto& entry : std::filesystem::directory_iterator{top, problem}) {
        const std::string name = entry.path().filename().string();
        std::string_view size = name;
        constexpr std::string_view prefix = "hugepages-";
        constexpr std::string_view suffix = "kB";
        if (!size.starts_with(prefix) || !size.ends_with(suffix)) {
            continue;
        }
        size.remove_prefix(prefix.size());
        size.remove_suffix(suffix.size());
        const std::string folder = entry.path().native() + "/";
        pools.push_back({.page_bytes = parse_count(size).value_or(0) << 10,
                         .reserved = count_in(folder + "nr_hugepages"),
                         .free = count_in(folder + "free_hugepages")});
    }
    std::ranges::sort(pools, {}, &HugePagePool::page_bytes);
    return pools;
}

std::uint64_t data_cache_bytes(const CpuTopology& topology, bool last)
{
    const CacheFacts* found = nullptr;
    for (const CacheFacts& cache : topology.caches) {
        if (cache.type != "Instruction" && (found == nullptr || last)) {
            found = &cache;
        }
    }
    return found == nullptr ? 0 : found->bytes;
}

}  // namespace

CpuTopology cpu_topology(const std::string& given_root)
{
    const std::string root = given_root.ends_with('/') ? given_root : given_root + "/";
    const std::string top = root + "sys/devices/system/cpu/";
    CpuTopology topology;
    std::set<std::string> packages;
    std::set<std::string> cores;
    std::map<CacheKey, CacheCount> caches;
    for (const std::uint32_t cpu : parse_list(read_word(top + "online")).value_or(std::vector<std::uint32_t>{})) {
        const std::string folder = fmt::format("{}cpu{}/", top, cpu);
        ++topology.processors;
        if (const std::string package = read_word(folder + "topology/physical_package_id"); !package.empty()) {
            packages.insert(package);
            cores.insert(package + "/" + read_word(folder + "topology/core_id"));
        }
        add_caches(folder, caches);
    }
    topology.packages = static_cast<std::uint32_t>(packages.size());
    topology.cores = static_cast<std::uint32_t>(cores.size());
    for (auto& [key, count] : caches) {
        count.facts.instances = static_cast<std::uint32_t>(count.sharers.size());
        topology.caches.push_back(std::move(count.facts));
    }
    topology.huge_pages = huge_page_pools(root);
    return topology;
}

std::uint64_t last_level_cache_bytes(const CpuTopology& topology)
{
    return data_cache_bytes(topology, true);
}

std::uint64_t first_level_cache_bytes(const CpuTopology& topology)
{
    return data_cache_bytes(topology, false);
}

}  // namespace memsweep::sys
