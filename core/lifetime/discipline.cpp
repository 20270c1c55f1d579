#include "core/lifetime/discipline.hpp"

#include "core/base/assert.hpp"
#include "core/lifetime/deferred_batch_discipline.hpp"
#include "core/lifetime/finalizer_discipline.hpp"
#include "core/lifetime/leak_discipline.hpp"
#include "core/lifetime/refcount_discipline.hpp"

namespace memsweep::lifetime {

std::unique_ptr<Discipline> make_discipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    switch (spec.mode) {
    case model::ReleaseMode::refcount:
        return std::make_unique<RefcountDiscipline>(reclaimer);
    case model::ReleaseMode::finalizer:
        return std::make_unique<FinalizerDiscipline>(spec, reclaimer);
    case model::ReleaseMode::deferred_batch:
        return std::make_unique<DeferredBatchDiscipline>(spec.batch, reclaimer);
    case model::ReleaseMode::leak:
        return std::make_unique<LeakDiscipline>();
    }
    MEMSWEEP_ASSERT(false, "a release mode outside its enumeration");
}

}  // namespace memsweep::lifetime
