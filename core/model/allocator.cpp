#include "core/model/allocator.hpp"

#include <algorithm>

namespace memsweep::model {
namespace {

constexpr std::array<KnownAllocator, 4> table{{
    {"glibc", {}, "libc6", "the C library's own malloc: ptmalloc, with arenas and a dynamic mmap threshold"},
    {"jemalloc", {"libjemalloc.so.2"}, "libjemalloc2", "arenas, thread caches, freed pages returned by decay"},
    {"mimalloc",
     {"libmimalloc.so.2.0", "libmimalloc.so.2", "libmimalloc.so.3"},
     "libmimalloc2.0",
     "free lists sharded by page, segments kept and decommitted after a delay"},
    {"tcmalloc",
     {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
     "libtcmalloc-minimal4",
     "thread caches over a central page heap that rarely returns memory"},
}};

constexpr std::array<std::string_view, 2> settings{"MALLOC_CONF", "GLIBC_TUNABLES"};
constexpr std::array<std::string_view, 3> prefixes{"MIMALLOC_", "TCMALLOC_", "MALLOC_"};

}  // namespace

std::span<const KnownAllocator> allocators()
{
    return table;
}

const KnownAllocator* find_allocator(std::string_view name)
{
    const auto found = std::ranges::find(table, name, &KnownAllocator::name);
    return found == table.end() ? nullptr : &*found;
}

std::vector<std::string_view> allocator_names()
{
    std::vector<std::string_view> names;
    for (const KnownAllocator& one : table) {
        names.push_back(one.name);
    }
    return names;
}

bool is_library_path(std::string_view name)
{
    return name.starts_with('/');
}

bool sets_an_allocator(std::string_view variable)
{
    return std::ranges::find(settings, variable) != settings.end() ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace memsweep::model
