#include "core/lifetime/discipline.hpp"

#include "core/base/assert.hpp"
#include "core/lifetime/disciplines.hpp"

extern "C" void __lsan_ignore_object(const void* pointer) __attribute__((weak));

namespace memsweep::lifetime {
namespace {

using model::Fallback;
using model::ReleaseMode;

std::unique_ptr<Discipline> make_fallback(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    // Frees that are to be ignored need somebody who frees in their place.
    const bool must_free = spec.safety.ignore_manual_free && spec.fallback == Fallback::none;
    switch (must_free ? Fallback::sweep : spec.fallback) {
    case Fallback::none:
        return make_leak(reclaimer);
    case Fallback::finalizer:
    case Fallback::cleaner:
        return make_finalizer(spec, true, reclaimer);
    case Fallback::sweep:
    case Fallback::cycle:
        return make_sweep(spec, 1.0, true, reclaimer);
    }
    MEMSWEEP_ASSERT(false, "a fallback outside its enumeration");
}

}  // namespace

void disown(const void* memory) noexcept
{
    if (__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(memory);
    }
}

std::unique_ptr<Discipline> make_discipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    if (model::frees_manually(spec)) {
        return make_early_free(spec, make_fallback(spec, reclaimer), reclaimer);
    }
    switch (spec.mode) {
    case ReleaseMode::immediate:
    case ReleaseMode::refcount:
        return make_refcount(reclaimer);
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
        return make_finalizer(spec, false, reclaimer);
    case ReleaseMode::sweep:
        return make_sweep(spec, 1.0, false, reclaimer);
    case ReleaseMode::cycle:
        return make_sweep(spec, spec.cycle.cyclic_fraction, false, reclaimer);
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
        return make_arena(spec, reclaimer);
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::forward:
        return make_caching(spec, reclaimer);
    case ReleaseMode::tls_cache:
        return make_tls_cache(spec, reclaimer);
    case ReleaseMode::deferred_batch:
        return make_deferred_batch(spec.batch, reclaimer);
    case ReleaseMode::stack:
        return make_stack(spec, reclaimer);
    case ReleaseMode::leak:
        return make_leak(reclaimer);
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
        break;  // freed by the program: made above
    }
    MEMSWEEP_ASSERT(false, "a release mode outside its enumeration");
}

}  // namespace memsweep::lifetime
