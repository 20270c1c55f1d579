// The pools that tests of size classes begin with.
#pragma once

#include "core/model/pool_spec.hpp"

namespace memsweep::tests {

inline model::PoolSpec classes()
{
    model::PoolSpec spec;
    spec.kind = model::PoolKind::classes;
    spec.classes = model::ClassScheme::pow2;
    return spec;
}

// Only the common store: nothing stays in caches or depots.
inline model::PoolSpec store_only()
{
    model::PoolSpec spec = classes();
    spec.thread_blocks = 0;
    spec.depot_blocks = 0;
    return spec;
}

}  // namespace memsweep::tests
