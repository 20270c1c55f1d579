// The release disciplines that make_discipline() chooses from, in the order of the files that implement them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

// basic_disciplines.cpp: blocks are freed at once, never, at every Nth drop, or in a collection that stops the program.
// `garbage_fraction`: the share of dropped blocks that collections free; all other blocks are freed at once.
// `shadowed`, here and below: the program frees some of its memory itself, so avoided collections are counted.
[[nodiscard]] std::unique_ptr<Discipline> make_refcount(Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_leak(Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_deferred_batch(std::uint64_t batch, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_sweep(const model::ReleaseSpec& spec, double garbage_fraction,
                                                     bool shadowed, Reclaimer& reclaimer);

// finalizer_discipline.cpp: blocks are found by a collection, and freed later by another thread.
[[nodiscard]] std::unique_ptr<Discipline> make_finalizer(const model::ReleaseSpec& spec, bool shadowed,
                                                         Reclaimer& reclaimer);

// early_free_discipline.cpp: a block is freed by the program itself, or by the fallback if the program does not free
// it.
[[nodiscard]] std::unique_ptr<Discipline> make_early_free(const model::ReleaseSpec& spec,
                                                          std::unique_ptr<Discipline> fallback, Reclaimer& reclaimer);

// bump_disciplines.cpp: blocks are allocated by moving a pointer, and freed at the end of a scope or, as on a stack, in
// the reverse order.
[[nodiscard]] std::unique_ptr<Discipline> make_arena(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_stack(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

// caching_disciplines.cpp: dropped blocks are kept for reuse, by the whole heap or by each thread.
[[nodiscard]] std::unique_ptr<Discipline> make_caching(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_tls_cache(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

}  // namespace memsweep::lifetime
