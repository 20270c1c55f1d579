#include "core/model/plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"

namespace memsweep::model {

namespace {

template <typename Step>
constexpr OperationInfo info_of()
{
    return {Step::info.name, Step::info.meaning, requires {Step::is_for_threads;
}
};  // namespace
}  // namespace memsweep::model

template <typename... Steps>
constexpr std::array<OperationInfo, sizeof...(Steps)> infos_of(const std::variant<Steps...>* /*of*/)
{
    return {info_of<Steps>()...};
}

std::string mode_text(const Case& one)
{
    const Scalar* mode = find_value(one.params, "mode");
    return mode == nullptr ? std::string{} : to_text(*mode);
}

bool share_worker(const Case& a, const Case& b)
{
    return a.placement != Placement::alone && a.placement == b.placement && a.memory == b.memory &&
           a.release == b.release && a.allocator == b.allocator && mode_text(a) == mode_text(b);
}

// What cases that share a worker have in common, in part: what axes vary most, so that few groups have one key.
using WorkerKey = std::tuple<Placement, std::string, ResourceKind, ReleaseMode, std::string, std::uint64_t,
                             std::uint64_t, std::uint64_t>;

WorkerKey worker_key(const Case& one)
{
    return {one.placement,      mode_text(one),         one.memory.resource,   one.release.mode,
            one.allocator.name, one.memory.limit_bytes, one.memory.fail_every, one.release.collect_every};
}

}  // namespace

std::span<const OperationInfo> operations()
{
    static constexpr auto table = infos_of(static_cast<const Operation*>(nullptr));
    return table;
}

Nested nested(const Operation& operation)
{
    if (const auto* repeat = std::get_if<RepeatStep>(&operation)) {
        return {repeat->times, &repeat->steps};
    }
    if (const auto* scope = std::get_if<ScopeStep>(&operation)) {
        return {1, &scope->steps};
    }
    if (const auto* parallel = std::get_if<ParallelStep>(&operation)) {
        return {parallel->threads, &parallel->steps};
    }
    return {};
}

std::string_view operation_name(const Operation& operation)
{
    return operations()[operation.index()].name;
}

std::optional<std::uint64_t> array_bytes(const AllocStep& step)
{
    std::optional<std::uint64_t> bytes = size_bytes(step.dtype);
    for (const std::uint64_t extent : step.shape) {
        bytes = bytes ? base::checked_mul(*bytes, extent) : std::nullopt;
    }
    return bytes;
}

std::uint64_t host_bytes(const TransferStep& step)
{
    using base::saturating_add;
    using base::saturating_mul;
    std::uint64_t bytes = std::min<std::uint64_t>(step.options.work_bytes, 8U << 20U);
    for (const TransferJob& job : step.jobs) {
        const std::uint64_t each = saturating_add(job.bytes, step.options.offset_bytes);
        const std::uint64_t slots = saturating_mul(step.options.slots, std::min(step.options.chunk_bytes, job.bytes));
        bytes = saturating_add(bytes, saturating_add(saturating_mul(step.options.batch ? 3 : 2, each), slots));
    }
    return bytes;
}

const Steps& Case::steps() const
{
    static const Steps none;
    const auto* const own = std::get_if<Steps>(&work);
    return own == nullptr ? none : *own;
}

bool runs_commands(const Plan& plan)
{
    return !plan.cases.empty() && plan.cases.front().command() != nullptr;
}

std::vector<std::vector<std::size_t>> sweeps(const std::vector<Case>& cases)
{
    std::vector<std::vector<std::size_t>> groups;
    std::map<WorkerKey, std::vector<std::size_t>> alike;  // groups, by index, that only full comparison tells apart
    for (std::size_t index = 0; index < cases.size(); ++index) {
        if (cases[index].placement == Placement::alone) {
            groups.push_back({index});
            continue;
        }
        std::vector<std::size_t>& candidates = alike[worker_key(cases[index])];
        const auto group = std::ranges::find_if(
            candidates, [&](std::size_t one) { return share_worker(cases[groups[one].front()], cases[index]); });
        if (group == candidates.end()) {
            candidates.push_back(groups.size());
            groups.push_back({index});
        } else {
            groups[*group].push_back(index);
        }
    }
    return groups;
}

namespace {

template <typename CountOfStep>
std::uint64_t count_over(const std::vector<Step>& steps, const CountOfStep& count_of)
{
    std::uint64_t total = 0;
    for (const Step& step : steps) {
        if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            total = base::saturating_add(total, base::saturating_mul(inner.times, count_over(*inner.steps, count_of)));
        } else {
            total = base::saturating_add(total, count_of(step));
        }
    }
    return total;
}

void add_trims(const std::vector<Step>& steps, std::vector<TrimHow>& found)
{
    for (const Step& step : steps) {
        if (const auto* trim = std::get_if<TrimStep>(&step.operation)) {
            if (trim->how != TrimHow::none && std::ranges::find(found, trim->how) == found.end()) {
                found.push_back(trim->how);
            }
        } else if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            add_trims(*inner.steps, found);
        }
    }
}

}  // namespace

std::vector<TrimHow> trims(const Case& plan_case)
{
    std::vector<TrimHow> found;
    if (plan_case.memory.trim.above_bytes != 0 && plan_case.memory.trim.how != TrimHow::none) {
        found.push_back(plan_case.memory.trim.how);
    }
    add_trims(plan_case.steps(), found);
    return found;
}

std::uint64_t allocation_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        if (const auto* concat = std::get_if<ConcatStep>(&step.operation)) {
            const std::uint64_t results = concat->what->out ? 1 : concat->warmup + concat->calls;
            return 2 * concat->what->count + results;  // two per input at most: the one that a copy was made of
        }
        const auto* alloc = std::get_if<AllocStep>(&step.operation);
        const auto* view = std::get_if<ViewStep>(&step.operation);
        const bool makes_one = std::holds_alternative<BinaryStep>(step.operation) || (view != nullptr && view->copy);
        return alloc != nullptr ? alloc->count : (makes_one ? 1 : 0);
    });
}

std::uint64_t timed_call_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        const auto* concat = std::get_if<ConcatStep>(&step.operation);
        return concat != nullptr ? concat->calls : 0;
    });
}

std::uint64_t sample_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        return std::holds_alternative<SampleStep>(step.operation) ? 1 : 0;
    });
}

}  // namespace memsweep::model
