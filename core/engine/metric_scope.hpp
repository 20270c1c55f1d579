// What a program does, where that decides which metrics it has.
#pragma once

#include "core/engine/program.hpp"

namespace memsweep::engine::scope {

[[nodiscard]] bool always(const Program&);
// Of what `probe` measures, not the steps of a scenario.
[[nodiscard]] bool never(const Program&);
[[nodiscard]] bool has_op(const Program& program, OpCode op);
[[nodiscard]] bool is_arena(const Program& program);
[[nodiscard]] bool makes_arrays(const Program& program);
[[nodiscard]] bool calls(const Program& program);
[[nodiscard]] bool drains(const Program& program);
// Whether a thread of its own frees what a collection has found.
[[nodiscard]] bool queues(const Program& program);
[[nodiscard]] bool keeps(const Program& program);
[[nodiscard]] bool pools(const Program& program);
[[nodiscard]] bool keeps_or_pools(const Program& program);
[[nodiscard]] bool maintains(const Program& program);
[[nodiscard]] bool collects(const Program& program);
[[nodiscard]] bool delays(const Program& program);
[[nodiscard]] bool frees_by_hand(const Program& program);
[[nodiscard]] bool spares_collections(const Program& program);
[[nodiscard]] bool capped(const Program& program);
[[nodiscard]] bool bumps(const Program& program);
[[nodiscard]] bool reads(const Program& program);
[[nodiscard]] bool looks_for_uses(const Program& program);
[[nodiscard]] bool maps_pages(const Program& program);
[[nodiscard]] bool trims(const Program& program);
[[nodiscard]] bool prefetches(const Program& program);
[[nodiscard]] bool migrates(const Program& program);
[[nodiscard]] bool streams(const Program& program);
[[nodiscard]] bool shares(const Program& program);
[[nodiscard]] bool transfers(const Program& program);
[[nodiscard]] bool replays_or_transfers(const Program& program);
// Whether some transfer may take its bytes through slots.
[[nodiscard]] bool may_stage(const Program& program);
[[nodiscard]] bool registers(const Program& program);
[[nodiscard]] bool passes(const Program& program);
[[nodiscard]] bool waits(const Program& program);
[[nodiscard]] bool is_shared(const Program& program);
[[nodiscard]] bool may_have_huge_pages(const Program& program);
[[nodiscard]] bool times_calls(const Program& program);
[[nodiscard]] bool replays(const Program& program);
// Whether what is live is resident, so that what is resident beyond it is the allocator's doing.
[[nodiscard]] bool replays_touched(const Program& program);

}  // namespace memsweep::engine::scope
