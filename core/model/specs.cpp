#include "core/model/specs.hpp"

#include <array>

namespace memsweep::model {

template <>
std::span<const Named<ResourceKind>> names<ResourceKind>()
{
    static constexpr std::array<Named<ResourceKind>, 3> table{{
        {ResourceKind::malloc, "malloc", "the process's malloc: what most runtimes use"},
        {ResourceKind::pages, "pages", "a private anonymous mapping per allocation, straight from the kernel"},
        {ResourceKind::null, "null", "no memory at all: what the harness itself costs; arrays must not be touched"},
    }};
    return table;
}

template <>
std::span<const Named<PageKind>> names<PageKind>()
{
    static constexpr std::array<Named<PageKind>, 3> table{{
        {PageKind::system, "system", "as the machine's transparent-huge-page setting decides"},
        {PageKind::small, "4k", "base pages only (MADV_NOHUGEPAGE)"},
        {PageKind::thp, "thp", "transparent huge pages asked for (MADV_HUGEPAGE)"},
    }};
    return table;
}

template <>
std::span<const Named<ReleaseMode>> names<ReleaseMode>()
{
    static constexpr std::array<Named<ReleaseMode>, 4> table{{
        {ReleaseMode::refcount, "refcount", "freed by whoever drops the last reference, at once (CPython)"},
        {ReleaseMode::finalizer, "finalizer",
         "found unreachable by a collection, freed later by a finalizer thread (.NET, Mono)"},
        {ReleaseMode::deferred_batch, "deferred_batch", "freed in batches of N drops, by the dropping thread"},
        {ReleaseMode::leak, "leak", "never freed: the upper bound"},
    }};
    return table;
}

}  // namespace memsweep::model
