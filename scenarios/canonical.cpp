#include "scenarios/canonical.hpp"

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
        return {{"target", step.target}, {"touch", model::name_of(step.touch)}};
    }
    json operator()(const model::BinaryStep& step) const
    {
        return {
            {"function", model::name_of(step.function)}, {"as", step.as}, {"left", step.left}, {"right", step.right}};
    }
    json operator()(const model::DropStep& step) const { return {{"target", step.target}}; }
    json operator()(const model::CollectStep& /*step*/) const { return json::object(); }
    json operator()(const model::DrainStep& /*step*/) const { return json::object(); }
    json operator()(const model::SampleStep& step) const { return {{"name", step.name}}; }
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

json memory_json(const model::MemorySpec& memory)
{
    return {{"resource", model::name_of(memory.resource)},
            {"pages", model::name_of(memory.pages)},
            {"limit_bytes", memory.limit_bytes},
            {"fail_every", memory.fail_every}};
}

// Keys of other modes than the selected one are accepted and mean nothing, so they do not count either.
json release_json(const model::ReleaseSpec& release)
{
    json object{{"mode", model::name_of(release.mode)}};
    if (release.mode == model::ReleaseMode::finalizer) {
        object["finalizer_threads"] = release.finalizer_threads;
        object["gated"] = release.gated;
        object["collect_every"] = release.collect_every;
        object["release_cost_ns"] = release.release_cost_ns;
    } else if (release.mode == model::ReleaseMode::deferred_batch) {
        object["batch"] = release.batch;
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
    return {{"params", params_json(plan_case.params)},
            {"memory", memory_json(plan_case.memory)},
            {"release", release_json(plan_case.release)},
            {"steps", steps_json(plan_case.steps)},
            {"series", series_json(plan_case.series)}};
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
        object["ratio"] = {{first.axis, first.value}, {second.axis, second.value}};
    }
    return object;
}

}  // namespace memsweep::scenarios
