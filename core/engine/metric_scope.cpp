#include "core/engine/metric_scope.hpp"

#include <algorithm>

namespace memsweep::engine::scope {

bool always(const Program& /*program*/)
{
    return true;
}

bool never(const Program& /*program*/)
{
    return false;
}

bool has_op(const Program& program, OpCode op)
{
    return std::ranges::any_of(program.instructions, [op](const Instruction& one) { return one.op == op; });
}

bool is_arena(const Program& program)
{
    using model::ReleaseMode;
    const ReleaseMode mode = program.release.mode;
    return mode == ReleaseMode::arena || mode == ReleaseMode::arena_autoscale || mode == ReleaseMode::arena_checked;
}

bool makes_arrays(const Program& program)
{
    return program.arrays != 0;
}

bool calls(const Program& program)
{
    return has_op(program, OpCode::concat);
}

bool drains(const Program& program)
{
    return has_op(program, OpCode::drain);
}

bool queues(const Program& program)
{
    using model::Fallback;
    using model::ReleaseMode;
    const model::ReleaseSpec& release = program.release;
    const bool fallback = release.fallback == Fallback::finalizer || release.fallback == Fallback::cleaner;
    return release.mode == ReleaseMode::finalizer || release.mode == ReleaseMode::cleaner ||
           (model::frees_manually(release) && fallback);
}

bool keeps(const Program& program)
{
    using model::ReleaseMode;
    const ReleaseMode mode = program.release.mode;
    return mode == ReleaseMode::pool || mode == ReleaseMode::preallocated || mode == ReleaseMode::tls_cache ||
           mode == ReleaseMode::forward;
}

bool pools(const Program& program)
{
    return program.memory.pool.kind != model::PoolKind::none;
}

bool keeps_or_pools(const Program& program)
{
    return keeps(program) || pools(program);
}

bool maintains(const Program& program)
{
    return pools(program) && program.memory.pool.trim_interval_ns != 0;
}

bool collects(const Program& program)
{
    const model::ReleaseSpec& release = program.release;
    const bool pressed = keeps(program) && release.pressure.rule != model::PressureRule::none;
    return model::is_collected(release) || release.mode == model::ReleaseMode::deferred_batch || pressed;
}

bool delays(const Program& program)
{
    return collects(program) || is_arena(program);
}

bool frees_by_hand(const Program& program)
{
    return model::frees_manually(program.release);
}

bool spares_collections(const Program& program)
{
    return frees_by_hand(program) && model::is_collected(program.release);
}

bool capped(const Program& program)
{
    return collects(program) && program.release.cap.bytes != 0;
}

bool bumps(const Program& program)
{
    return is_arena(program) || program.release.mode == model::ReleaseMode::stack;
}

bool reads(const Program& program)
{
    return has_op(program, OpCode::read) || has_op(program, OpCode::stream);
}

bool looks_for_uses(const Program& program)
{
    return program.release.safety.detect != model::Detection::off ||
           program.release.mode == model::ReleaseMode::arena_checked;
}

bool maps_pages(const Program& program)
{
    return program.memory.resource == model::ResourceKind::pages && !pools(program) && !program.memory.populated &&
           !program.memory.locked && program.points != 0;
}

bool trims(const Program& program)
{
    return has_op(program, OpCode::trim) || program.memory.trim.above_bytes != 0;
}

bool prefetches(const Program& program)
{
    return has_op(program, OpCode::prefetch);
}

bool migrates(const Program& program)
{
    return has_op(program, OpCode::migrate);
}

bool streams(const Program& program)
{
    return has_op(program, OpCode::stream);
}

bool shares(const Program& program)
{
    return has_op(program, OpCode::share);
}

bool transfers(const Program& program)
{
    return !program.transfers.empty();
}

bool replays_or_transfers(const Program& program)
{
    return !program.replays.empty() || transfers(program);
}

bool may_stage(const Program& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        const bool wanted = plan.options.strategy == model::Strategy::automatic ||
                            plan.options.strategy == model::Strategy::staged ||
                            plan.options.strategy == model::Strategy::p2p;
        return wanted && std::any_of(plan.jobs.begin(), plan.jobs.begin() + static_cast<std::ptrdiff_t>(plan.count),
                                     [](const model::TransferJob& job) { return !model::is_on_host(job.spec); });
    });
}

bool registers(const Program& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        return plan.options.strategy == model::Strategy::registered;
    });
}

bool passes(const Program& program)
{
    return has_op(program, OpCode::pass);
}

bool waits(const Program& program)
{
    return model::is_collected(program.release) || drains(program) || has_op(program, OpCode::collect);
}

bool is_shared(const Program& program)
{
    return program.memory.resource == model::ResourceKind::memfd;
}

bool may_have_huge_pages(const Program& program)
{
    return !is_shared(program) &&
           (program.memory.pages == model::PageKind::thp || program.memory.huge_pages_from_bytes != 0);
}

bool times_calls(const Program& program)
{
    return program.times_calls;
}

bool replays(const Program& program)
{
    return has_op(program, OpCode::replay);
}

bool replays_touched(const Program& program)
{
    return std::ranges::any_of(program.instructions, [](const Instruction& one) {
        return one.op == OpCode::replay && one.replay_touch != model::ReplayTouch::none;
    });
}

}  // namespace memsweep::engine::scope
