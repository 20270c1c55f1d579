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

struct VariableOf {
    std::string_view prefix;  // begins the names of its variables
    std::string_view allocator;
};
constexpr std::array variables{VariableOf{"MALLOC_CONF", "jemalloc"}, VariableOf{"GLIBC_TUNABLES", "glibc"},
                               VariableOf{"MIMALLOC_", "mimalloc"}, VariableOf{"TCMALLOC_", "tcmalloc"},
                               VariableOf{"MALLOC_", "glibc"}};

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

std::string_view allocator_set_by(std::string_view variable)
{
    const auto found =
        std::ranges::find_if(variables, [&](const VariableOf& one) { return variable.starts_with(one.prefix); });
    return found == variables.end() ? std::string_view{} : found->allocator;
}

bool sets_an_allocator(std::string_view variable)
{
    return !allocator_set_by(variable).empty();
}

}  // namespace memsweep::model
