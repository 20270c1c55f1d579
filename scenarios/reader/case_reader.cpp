#include "scenarios/reader/case_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/model/specs.hpp"
#include "scenarios/reader/command_reader.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/step_reader.hpp"

namespace memsweep::scenarios {
namespace {

using Combinations = std::vector<std::vector<model::Param>>;
using Exclusions = std::vector<std::vector<model::Param>>;

Exclusions read_exclusions(const SourceNode& node, const Axes& axes, const Reading& reading)
{
    const List* list = node.as<List>();
    if (list == nullptr || list->size() > max_exclusions) {
        reading.diagnostics.add(
            node.place, list == nullptr ? fmt::format("\"exclude\" must be a list of objects, not {}", describe(node))
                                        : fmt::format("more than {} exclusions", max_exclusions));
        return {};
    }
    Exclusions exclusions;
    for (const SourceNode& item : *list) {
        const Object* object = item.as<Object>();
        if (object != nullptr && object->empty()) {
            reading.diagnostics.add(item.place, "an empty exclusion would leave out every case");
        }
        auto pattern = read_pattern(item, "an exclusion", axes, reading);
        const bool whole = object != nullptr && !object->empty() && pattern.size() == object->size();
        if (whole) {  // otherwise reported, and what is left of it would leave out too much
            exclusions.push_back(std::move(pattern));
        }
    }
    return exclusions;
}

// Why these axes and steps are too many; empty when they are not.
std::string too_many(const std::vector<model::Axis>& axes, std::size_t steps)
{
    std::uint64_t cases = 1;
    for (const model::Axis& axis : axes) {
        cases = base::saturating_mul(cases, axis.values.size());
    }
    if (steps > max_steps) {
        return fmt::format("{} steps in a case: the limit is {}", steps, max_steps);
    }
    if (cases > max_cases) {
        return fmt::format("the axes have {} combinations; the limit is {}", cases, max_cases);
    }
    if (cases * axes.size() > max_params) {
        return fmt::format("{} combinations of {} axes: the limit is {} values over all cases", cases, axes.size(),
                           max_params);
    }
    return cases * steps <= max_case_steps
               ? std::string{}
               : fmt::format("{} combinations of {} steps: the limit is {} steps over all cases", cases, steps,
                             max_case_steps);
}

Combinations combine(const Fields& top, const Axes& axes, const Reading& reading)
{
    const SourceNode* const exclude = top.raw("exclude");
    const Exclusions exclusions = exclude == nullptr ? Exclusions{} : read_exclusions(*exclude, axes, reading);
    std::vector<model::Axis> used = axes.used;
    const std::size_t steps = top.has("steps") ? count_steps(*top.raw("steps")) : 0;
    if (std::string why = too_many(used, steps); !why.empty()) {
        top.complain(top.place(top.has("axes") && steps <= max_steps ? "axes" : "steps"), std::move(why));
        for (model::Axis& axis : used) {
            axis.values.resize(1);  // enough to find what else is wrong
        }
    }
    auto combinations = model::expand(used, exclusions, max_cases).value_or(Combinations{});
    if (combinations.empty() && exclude != nullptr) {
        top.complain(exclude->place, "every combination of the axes is excluded");
    }
    return combinations;
}

model::Placement placement_of(const std::vector<model::Param>& params)
{
    const model::Scalar* value = model::find_value(params, model::placement_axis);
    const std::string name = value == nullptr ? std::string{} : model::to_text(*value);
    return model::value_of<model::Placement>(name).value_or(model::Placement::alone);
}

model::Case read_case(const Fields& top, const model::Plan& plan, std::vector<model::Param> params, const Axes& axes,
                      ReleaseReader& releases, const Reading& outer)
{
    model::Case plan_case;
    plan_case.scenario = plan.name;
    plan_case.id = model::case_id(plan.name, params);
    plan_case.params = std::move(params);
    const Scope scope{outer.scope.surroundings,   outer.scope.variables,
                      &plan_case.params,          &axes.broken,
                      outer.scope.variable_flags, &axes.flags};
    const Reading reading{scope, outer.diagnostics};
    plan_case.placement = placement_of(plan_case.params);
    if (const SourceNode* memory = top.raw("memory")) {
        plan_case.memory = read_memory(*memory, reading);
    }
    if (const SourceNode* release = top.raw("release")) {
        releases.read(*release, reading, plan_case);
    }
    read_object(top, "safety", safety_table(), reading, plan_case.release.safety);
    plan_case.allocator = read_allocator(top.raw("allocators"), plan_case.params, reading);
    for (std::string& why : memory_objections(plan_case.memory, plan_case.release)) {
        top.complain(top.place("memory"), std::move(why));
    }
    if (const SourceNode* steps = top.raw("steps")) {
        const std::uint32_t ranks = plan.requirements.ranks.count;
        plan_case.work = StepReader{reading, plan_case.memory, plan_case.release, ranks}.read(*steps);
    }
    if (const SourceNode* command = top.raw("command")) {
        plan_case.work = read_command(*command, reading);
    }
    return plan_case;
}

}  // namespace

std::vector<std::string> memory_objections(const model::MemorySpec& memory, const model::ReleaseSpec& release)
{
    std::vector<std::string> objections;
    if (memory.trim.above_bytes != 0) {
        objections.push_back(model::trim_objection(memory.trim.how, memory, release.safety));
    }
    objections.push_back(model::driver_objection(memory, release.safety));
    if (model::is_single_threaded(memory.resource) && model::frees_beside_the_program(memory, release)) {
        objections.push_back(fmt::format("resource \"{}\" may be used by one thread only, and this release mode or "
                                         "pool has a thread of its own",
                                         model::name_of(memory.resource)));
    }
    std::erase(objections, "");
    return objections;
}

std::vector<model::Case> read_cases(const Fields& top, const model::Plan& plan, const Axes& axes,
                                    const model::SeriesSpec& series, Sources& sources, const Reading& reading)
{
    ReleaseReader releases{sources};
    if (top.has("allocators") && std::ranges::find(axes.used, allocator_axis, &model::Axis::name) == axes.used.end()) {
        top.complain(top.place("allocators"), "\"allocators\" has settings for the axis \"allocator\", which this "
                                              "scenario does not have");
    }
    auto combinations = combine(top, axes, reading);
    std::vector<model::Case> cases;
    cases.reserve(combinations.size());
    for (auto& params : combinations) {
        if (reading.diagnostics.count() > 0 && cases.size() == max_cases_with_errors) {
            break;
        }
        reading.diagnostics.begin_case();
        cases.push_back(read_case(top, plan, std::move(params), axes, releases, reading));
        cases.back().series = series;
    }
    return cases;
}

}  // namespace memsweep::scenarios
