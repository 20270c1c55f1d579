// Every release discipline, each in the file of its idea: what make_discipline() chooses from.
#pragma once

#include <cstdint>
#include <memory>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

// basic_disciplines.cpp: freed at once, never, at every Nth drop, or in a collection that stops the program. Of what is
// dropped, make_sweep leaves the `garbage_fraction` to collections. `shadowed`: the program frees some of its memory
// itself, here and below.
[[nodiscard]] std::unique_ptr<Discipline> make_refcount(Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_leak(Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_deferred_batch(std::uint64_t batch, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_sweep(const model::ReleaseSpec& spec, double garbage_fraction,
                                                     bool shadowed, Reclaimer& reclaimer);

// finalizer_discipline.cpp: found by a collection, freed later by another thread.
[[nodiscard]] std::unique_ptr<Discipline> make_finalizer(const model::ReleaseSpec& spec, bool shadowed,
                                                         Reclaimer& reclaimer);

// early_free_discipline.cpp: freed by the program itself; what it does not free is the fallback's.
[[nodiscard]] std::unique_ptr<Discipline> make_early_free(const model::ReleaseSpec& spec,
                                                          std::unique_ptr<Discipline> fallback, Reclaimer& reclaimer);

// bump_disciplines.cpp: allocated by moving a pointer, freed with a scope or as a stack.
[[nodiscard]] std::unique_ptr<Discipline> make_arena(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_stack(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

// caching_disciplines.cpp: kept and handed out again, for the whole heap or by each thread.
[[nodiscard]] std::unique_ptr<Discipline> make_caching(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
[[nodiscard]] std::unique_ptr<Discipline> make_tls_cache(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

}  // namespace memsweep::lifetime
