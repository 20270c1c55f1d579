#include "core/lifetime/discipline.hpp"

#include <bit>

#include "core/base/assert.hpp"
#include "core/lifetime/basic_disciplines.hpp"
#include "core/lifetime/bump_disciplines.hpp"
#include "core/lifetime/caching_disciplines.hpp"
#include "core/lifetime/early_free_discipline.hpp"
#include "core/lifetime/finalizer_discipline.hpp"

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
        return nullptr;
    case Fallback::finalizer:
    case Fallback::cleaner:
        return std::make_unique<FinalizerDiscipline>(spec, true, reclaimer);
    case Fallback::sweep:
    case Fallback::cycle:
        return std::make_unique<SweepDiscipline>(spec, 1.0, true, reclaimer);
    }
    MEMSWEEP_ASSERT(false, "a fallback outside its enumeration");
}

}  // namespace

memory::AllocStatus Discipline::acquire(Block& block, std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    memory::MemoryResource& resource = reclaimer_.resource();
    const memory::Allocation made =
        zeroed ? resource.allocate_zeroed(bytes, alignment) : resource.allocate(bytes, alignment);
    block.data = made.ptr;
    block.bytes = bytes;
    block.alignment_log2 = static_cast<std::uint8_t>(std::countr_zero(alignment));
    return made.status;
}

void disown(const void* memory) noexcept
{
    if (__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(memory);
    }
}

std::unique_ptr<Discipline> make_discipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    if (model::frees_manually(spec)) {
        return std::make_unique<EarlyFreeDiscipline>(spec, make_fallback(spec, reclaimer), reclaimer);
    }
    switch (spec.mode) {
    case ReleaseMode::immediate:
    case ReleaseMode::refcount:
        return std::make_unique<RefcountDiscipline>(reclaimer);
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
        return std::make_unique<FinalizerDiscipline>(spec, false, reclaimer);
    case ReleaseMode::sweep:
        return std::make_unique<SweepDiscipline>(spec, 1.0, false, reclaimer);
    case ReleaseMode::cycle:
        return std::make_unique<SweepDiscipline>(spec, spec.cycle.cyclic_fraction, false, reclaimer);
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
        return std::make_unique<ArenaDiscipline>(spec, reclaimer);
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::forward:
        return std::make_unique<CachingDiscipline>(spec, reclaimer);
    case ReleaseMode::tls_cache:
        return std::make_unique<TlsCacheDiscipline>(spec, reclaimer);
    case ReleaseMode::deferred_batch:
        return std::make_unique<DeferredBatchDiscipline>(spec.batch, reclaimer);
    case ReleaseMode::stack:
        return std::make_unique<StackDiscipline>(spec, reclaimer);
    case ReleaseMode::leak:
        return std::make_unique<LeakDiscipline>(reclaimer);
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
        break;  // freed by the program: made above
    }
    MEMSWEEP_ASSERT(false, "a release mode outside its enumeration");
}

}  // namespace memsweep::lifetime
