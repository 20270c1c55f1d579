#include "reporters/wording/cliff_words.hpp"

namespace memsweep::reporters {

using measure::CliffLimit;
using measure::LimitMoves;

std::string limit_text(CliffLimit limit)
{
    switch (limit) {
    case CliffLimit::glibc_thread_cache:
        return "it is the end of the thread cache (tcache_max, 1,032 B unless GLIBC_TUNABLES says otherwise): larger "
               "blocks come from the arena's bins and go back to them, under its lock";
    case CliffLimit::glibc_fast_bins:
        return "it is the end of the fast bins (mxfast): larger blocks are merged with what is free beside them";
    case CliffLimit::glibc_growing_mmap_threshold:
        return "freeing a block that had a mapping of its own raises the mmap threshold from 128 KiB to its size, but "
               "not to 32 MiB: a block whose mapping is that large is mapped, faulted in and unmapped every time";
    case CliffLimit::glibc_set_mmap_threshold:
        return "it is the mmap threshold, which does not grow because a threshold is set: larger blocks are mapped, "
               "faulted in and unmapped every time";
    case CliffLimit::glibc_set_trim_threshold:
        return "it is the trim threshold, which does not grow because a threshold is set: freeing a block at the top "
               "of the heap returns its pages, which are faulted in again";
    case CliffLimit::jemalloc_thread_cache:
        return "larger blocks than tcache_max are not kept by the thread: they go through their arena, under its lock";
    case CliffLimit::jemalloc_old_thread_cache:
        return "larger blocks than lg_tcache_max are not kept by the thread: they go through their arena, under its "
               "lock";
    case CliffLimit::jemalloc_small_classes:
        return "14 KiB is the largest small class: larger blocks are runs of pages of their own, and the thread keeps "
               "neither";
    case CliffLimit::jemalloc_oversize_threshold:
        return "the next size class reaches oversize_threshold (8 MiB by default): such a block is purged as soon as "
               "it is freed, so every page is faulted in again";
    case CliffLimit::mimalloc_small_sizes:
        return "1 KiB is the largest small size: for larger ones the page of their size class is looked up";
    case CliffLimit::mimalloc_segment_pages:
        return "larger blocks get a run of pages of their own in a segment (large pages): it is set up with every "
               "malloc and taken apart with every free";
    case CliffLimit::mimalloc_half_segment:
        return "larger blocks than half a segment (16 MiB; 2 MiB before version 2) are mapped from the system and "
               "unmapped when they are freed";
    case CliffLimit::tcmalloc_classes:
        return "256 KiB (kMaxSize) is the largest size class of the thread caches: larger blocks come from the page "
               "heap, under its lock";
    case CliffLimit::tcmalloc_release:
        return "freed pages are returned to the system at a rate that grows with what is freed";
    }
    return {};
}

std::string without_text(LimitMoves moves)
{
    switch (moves) {
    case LimitMoves::lifted:
        return {};
    case LimitMoves::lowered_only:
        return "no setting lifts it before glibc 2.42: a smaller tcache_max moves it down, which shows that it is this "
               "limit";
    case LimitMoves::compiled_in:
        return "the limit is compiled in";
    case LimitMoves::compiled_in_cost_set:
        return "the limit is compiled in: the setting changes what lies above it, not the limit";
    }
    return {};
}

}  // namespace memsweep::reporters
