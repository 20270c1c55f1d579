// What a case asks of memory and of release: plain values, so that they travel to a worker process as bytes.
//
// Units    every scalar's name carries its unit; 0 in a limit means "none".
#pragma once

#include <cstdint>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class ResourceKind : std::uint8_t { malloc, pages, null };

enum class PageKind : std::uint8_t {
    system,  // whatever the machine's THP setting gives
    small,   // 4 KiB only: MADV_NOHUGEPAGE
    thp,     // transparent huge pages asked for: MADV_HUGEPAGE
};

struct MemorySpec {
    ResourceKind resource{ResourceKind::malloc};
    PageKind pages{PageKind::system};
    std::uint64_t limit_bytes{};  // limiting adaptor: refuse when more than this would be live
    std::uint64_t fail_every{};   // failing adaptor: refuse every Nth allocation
    friend bool operator==(const MemorySpec&, const MemorySpec&) = default;
};

enum class ReleaseMode : std::uint8_t { refcount, finalizer, deferred_batch, leak };

struct ReleaseSpec {
    ReleaseMode mode{ReleaseMode::refcount};
    std::uint32_t finalizer_threads{1};
    bool gated{};                     // finalizer: the allocation that triggers a collection waits until it is drained
    std::uint64_t collect_every{};    // finalizer: collect before an allocation when this many were made since the last
    std::uint64_t release_cost_ns{};  // finalizer: busy time added per release, for finalizers that do more than free
    std::uint64_t batch{16};          // deferred_batch: free when this many drops are waiting
    friend bool operator==(const ReleaseSpec&, const ReleaseSpec&) = default;
};

template <>
std::span<const Named<ResourceKind>> names<ResourceKind>();
template <>
std::span<const Named<PageKind>> names<PageKind>();
template <>
std::span<const Named<ReleaseMode>> names<ReleaseMode>();

}  // namespace memsweep::model
