#include "scenarios/canonical.hpp"

#include "core/model/concat_case.hpp"

namespace memsweep::scenarios {
namespace {

using nlohmann::json;

json steps_json(const std::vector<model::Step>& steps);

json params_json(const std::vector<model::Param>& params)
{
    json object = json::object();
    for (const model::Param& param : params) {
        object[param.name] = model::to_text(param.value);
    }
    return object;
}

struct OperationJson {
    json operator()(const model::AllocStep& step) const
    {
        return {{"as", step.as},
                {"count", step.count},
                {"dtype", model::name_of(step.dtype)},
                {"shape", step.shape},
                {"fill", model::name_of(step.fill)},
                {"touch", model::name_of(step.touch)}};
    }
    json operator()(const model::WriteStep& step) const
    {
        json object{{"target", step.target}, {"touch", model::name_of(step.touch)}};
        if (step.overrun_bytes != 0) {
            object["overrun_bytes"] = step.overrun_bytes;
        }
        return object;
    }
    json operator()(const model::ReadStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::FreeStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::ReleaseStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::ScopeStep& step) const { return {{"steps", steps_json(step.steps)}}; }
    json operator()(const model::ThrowStep& step) const { return {{"every", step.every}}; }
    json operator()(const model::BinaryStep& step) const
    {
        return {
            {"function", model::name_of(step.function)}, {"as", step.as}, {"left", step.left}, {"right", step.right}};
    }
    json operator()(const model::ConcatStep& step) const
    {
        return {{"case", step.what->label}, {"warmup", step.warmup}, {"calls", step.calls}, {"out", step.out}};
    }
    json operator()(const model::ViewStep& step) const
    {
        return {{"as", step.as}, {"of", step.of}, {"start", step.start}, {"stop", step.stop}, {"copy", step.copy}};
    }
    json operator()(const model::DropStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::CollectStep& /*step*/) const { return json::object(); }
    json operator()(const model::DrainStep& /*step*/) const { return json::object(); }
    json operator()(const model::TrimStep& step) const
    {
        return {{"target", step.target}, {"how", model::name_of(step.how)}};
    }
    json operator()(const model::PrefetchStep& step) const
    {
        return {{"target", step.target}, {"how", model::name_of(step.how)}};
    }
    json operator()(const model::MigrateStep& step) const { return {{"target", step.target}, {"node", step.node}}; }
    json operator()(const model::StreamStep& step) const
    {
        return {{"target", step.target},
                {"chunk", step.chunk_bytes},
                {"ahead", step.ahead},
                {"drop_behind", step.drop_behind},
                {"write", step.write}};
    }
    json operator()(const model::ShareStep& step) const { return {{"bytes", step.bytes}, {"rounds", step.rounds}}; }
    json operator()(const model::TransferStep& step) const
    {
        json jobs = json::array();
        for (const model::TransferJob& job : step.jobs) {
            jobs.push_back({model::to_text(job.spec), job.bytes, job.priority});
        }
        const model::TransferOptions& o = step.options;
        return {{"transfers", std::move(jobs)},
                {"strategy", model::name_of(o.strategy)},
                {"options",
                 {o.times, o.pieces, o.batch, o.sync_each, o.chunk_bytes, o.slots, o.pipeline, o.adaptive,
                  o.concurrency, o.offset_bytes, o.retries, o.retry_delay.count(), o.pinned_budget_bytes, o.fresh,
                  o.chain, o.keep, o.work_bytes, o.blocking}}};
    }
    json operator()(const model::ParallelStep& step) const
    {
        return {{"threads", step.threads}, {"steps", steps_json(step.steps)}};
    }
    json operator()(const model::PassStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::SampleStep& step) const
    {
        json object{{"name", step.name}};
        if (step.counters_only) {
            object["counters_only"] = true;
        }
        return object;
    }
    json operator()(const model::PurgeStep& /*step*/) const { return json::object(); }
    // The trace by what it holds, not by where it lies.
    json operator()(const model::ReplayStep& step) const
    {
        return {{"trace", step.content},
                {"threads", step.threads},
                {"touch", model::name_of(step.touch)},
                {"speed", model::name_of(step.speed)},
                {"latency", step.latency}};
    }
    json operator()(const model::IdleStep& step) const { return {{"duration_ns", step.duration.count()}}; }
    json operator()(const model::RepeatStep& step) const
    {
        return {{"times", step.times}, {"steps", steps_json(step.steps)}};
    }
};

json steps_json(const std::vector<model::Step>& steps)
{
    json list = json::array();
    for (const model::Step& step : steps) {
        json object = std::visit(OperationJson{}, step.operation);
        object["op"] = model::operation_name(step.operation);
        object["phase"] = step.phase;
        object["timed"] = step.timed;
        list.push_back(std::move(object));
    }
    return list;
}

json pool_json(const model::PoolSpec& pool)
{
    json values{model::name_of(pool.kind),
                model::name_of(pool.classes),
                pool.factor,
                pool.smallest,
                pool.largest,
                pool.alignment,
                model::name_of(pool.topology),
                pool.thread_blocks,
                pool.thread_bytes,
                pool.depot_blocks,
                pool.depot_bytes,
                pool.stripes,
                pool.per_class,
                pool.class_bytes,
                pool.limit_bytes,
                model::name_of(pool.on_full),
                model::name_of(pool.zeros),
                pool.trim_interval_ns,
                pool.trim_to,
                pool.lifetime_ns,
                pool.decay_ns,
                pool.pressure,
                pool.cgroup_share,
                pool.chunk_bytes};
    if (pool.per_node) {
        values.push_back("per_node");
    }
    return values;
}

// What is not asked for says nothing, so that a new option leaves the fingerprints of old scenarios alone.
json memory_json(const model::MemorySpec& memory)
{
    json object{{"resource", model::name_of(memory.resource)},
                {"pages", model::name_of(memory.pages)},
                {"limit_bytes", memory.limit_bytes},
                {"fail_every", memory.fail_every}};
    if (memory.huge_pages_from_bytes != 0) {
        object["huge_pages_from_bytes"] = memory.huge_pages_from_bytes;
    }
    if (memory.resource == model::ResourceKind::aligned) {
        object["alignment"] = memory.alignment;
    }
    if (memory.resource == model::ResourceKind::file) {
        object["path"] = memory.path.data();
    }
    if (memory.device != 0) {
        object["device"] = memory.device;
    }
    if (memory.populated) {
        object["populated"] = true;
    }
    if (memory.locked) {
        object["locked"] = true;
    }
    if (memory.numa.policy != model::NumaPolicy::none) {
        object["numa"] = {model::name_of(memory.numa.policy), memory.numa.nodes};
    }
    if (memory.pool.kind != model::PoolKind::none) {
        object["pool"] = pool_json(memory.pool);
    }
    if (memory.trim.above_bytes != 0) {
        object["trim"] = {memory.trim.above_bytes, model::name_of(memory.trim.how)};
    }
    return object;
}

json trigger_json(const model::ReleaseSpec& release)
{
    const model::ManagedBudget& managed = release.managed;
    const model::Pressure& pressure = release.pressure;
    const model::HeapTarget& target = release.target;
    const model::CycleThresholds& cycle = release.cycle;
    return {
        {"gc", {release.collect_every, release.gated, release.gc_pause_ns, release.gc_duration_ns}},
        {"managed",
         {managed.bytes_per_array, managed.garbage, managed.header, managed.first, managed.second, managed.steady,
          managed.used_at_start, managed.tlab, managed.region, managed.large_from, managed.large, managed.promoted}},
        {"pressure",
         {model::name_of(pressure.rule), pressure.min_budget, pressure.max_ratio, pressure.managed_heap,
          pressure.heap_share, pressure.duty, pressure.capacity, pressure.threshold, pressure.max_gc_share}},
        {"cap", {release.cap.bytes, release.cap.explicit_gc, release.cap.sleeps, release.cap.first_sleep_ns}},
        {"target",
         {target.initial, target.min_growth, target.min_bytes, target.tuning, target.smooth_alloc, target.smooth_gc,
          target.max_heap, target.counts_from}},
        {"cycle",
         {cycle.generation0, cycle.generation1, cycle.generation2, cycle.containers_per_array,
          cycle.temporary_containers, cycle.containers_at_start, cycle.cyclic_fraction}},
        {"finalizer",
         {release.finalizer_threads, release.finalizer_objects, release.finalizer_nice, release.release_cost_ns,
          release.resurrect_every}}};
}

json arena_json(const model::ArenaSpec& arena)
{
    return {arena.slab_bytes,    arena.alignment, arena.restore_on_throw,
            arena.initial_bytes, arena.history,   arena.headroom};
}

json safety_json(const model::SafetySpec& safety)
{
    return {model::name_of(safety.detect), safety.quarantine_bytes, safety.guard_pages, safety.ignore_manual_free};
}

// Keys of other modes than the selected one are accepted and mean nothing, so they do not count either.
json release_json(const model::ReleaseSpec& release)
{
    using model::ReleaseMode;
    json object{{"mode", model::name_of(release.mode)}};
    if (model::frees_manually(release)) {
        object["free_fraction"] = release.free_fraction;
        object["fallback"] = model::name_of(release.fallback);
    }
    if (model::is_collected(release)) {
        object["triggers"] = trigger_json(release);
    }
    switch (release.mode) {
    case ReleaseMode::refcount:
        if (!release.atomic) {
            object["atomic"] = false;
        }
        break;
    case ReleaseMode::deferred_batch:
        object["batch"] = release.batch;
        break;
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
        object["arena"] = arena_json(release.arena);
        break;
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::tls_cache:
    case ReleaseMode::forward:
        object["cache"] = {release.cache.per_size, release.cache.limit_bytes, release.pressure.counts_idle};
        if (release.mode == ReleaseMode::pool && (release.cache.from_bytes > 1 || release.cache.below_bytes != 0)) {
            object["window"] = {release.cache.from_bytes, release.cache.below_bytes};
        }
        object["triggers"] = trigger_json(release);
        break;
    case ReleaseMode::stack:
        object["stack_bytes"] = release.cache.stack_bytes;
        break;
    default:
        break;
    }
    if (release.safety != model::SafetySpec{}) {
        object["safety"] = safety_json(release.safety);
    }
    return object;
}

json series_json(const model::SeriesSpec& series)
{
    return {{"interval_ns", series.interval.count()},
            {"working_set", series.working_set},
            {"live_bytes", series.live_bytes}};
}

}  // namespace

json canonical_case(const model::Case& plan_case)
{
    json object{{"params", params_json(plan_case.params)},
                {"memory", memory_json(plan_case.memory)},
                {"release", release_json(plan_case.release)},
                {"steps", steps_json(plan_case.steps)},
                {"series", series_json(plan_case.series)}};
    if (!plan_case.allocator.environment.empty()) {  // its name is among the parameters
        json settings = json::object();
        for (const auto& [name, value] : plan_case.allocator.environment) {
            settings[name] = value;
        }
        object["allocator"] = std::move(settings);
    }
    return object;
}

json canonical_assertion(const model::Assertion& assertion)
{
    const model::Expression& expression = assertion.expression;
    json object{{"where", params_json(assertion.where)},
                {"severity", model::name_of(assertion.severity)},
                {"abort", assertion.abort},
                {"point", expression.point},
                {"metric", expression.metric},
                {"stat", static_cast<int>(expression.stat)},
                {"percentile", expression.percentile},
                {"comparison", static_cast<int>(expression.comparison)},
                {"limit", expression.limit}};
    if (expression.ratio) {
        const auto& [first, second] = *expression.ratio;
        object[expression.explained           ? "explained"
               : expression.slope_length != 0 ? "slope"
                                              : "ratio"] = {{first.axis, first.value}, {second.axis, second.value}};
    }
    return object;
}

}  // namespace memsweep::scenarios
