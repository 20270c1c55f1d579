#include "core/engine/case_metrics.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/engine/metric_table.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::engine {
namespace {

using values::Context;
using values::seconds;

model::MetricClass class_of(const Nature& nature, model::MetricClass usual, const Program& program)
{
    const bool timed_trigger =
        program.release.target.initial != 0 || program.release.pressure.rule != model::PressureRule::none;
    const bool varies = (nature.races && scope::queues(program)) || (nature.is_triggered && timed_trigger);
    return varies ? model::MetricClass::noisy : usual;
}

model::Provenance provenance_of(const Nature& nature, model::Provenance usual, const Program& program)
{
    return program.release.modelled && nature.is_by_rule ? model::Provenance::modelled : usual;
}

bool is_uncounted(const Nature& nature, const Program& program)
{
    return program.memory.accounting == model::Accounting::off && nature.needs_counters;
}

// What the slots say is wrong. Only what nobody will ever free is a leak: collectors and open arenas still may.
void append_defects(const Program& program, const Outcome& outcome, std::uint32_t repetition, model::CaseReport& report)
{
    using model::DefectKind;
    const bool loses = model::frees_manually(program.release) && !model::is_collected(program.release);
    const bool leaks = loses || outcome.record.discipline.skipped_restores != 0;
    for (std::size_t i = 0; i < outcome.slots.size(); ++i) {
        const SlotRecord& slot = outcome.slots[i];
        const auto add = [&](DefectKind kind, std::uint64_t count, std::uint64_t bytes = 0, std::int64_t age_ns = 0) {
            if (count != 0) {
                report.defects.push_back({kind, program.slot_names[i], repetition, count, bytes, seconds(age_ns)});
            }
        };
        add(DefectKind::use_after_free, slot.uses_after_free);
        add(DefectKind::double_free, slot.double_frees);
        add(DefectKind::aliased_free, slot.aliased_frees);
        add(DefectKind::stray_release, slot.stray_releases);
        add(DefectKind::overrun, slot.overruns);
        add(DefectKind::leak, leaks ? slot.unreleased : 0, slot.unreleased_bytes, slot.oldest_ns);
    }
}

void append_points(const Program& program, const Outcome& outcome, std::uint32_t repetition, model::CaseReport& report)
{
    const RepetitionRecord& record = outcome.record;
    for (const PointRecord& from : outcome.points) {
        model::Point point;
        point.repetition = repetition;
        point.name = program.sample_names[from.name];
        point.t = seconds(from.t_ns);
        if (program.memory.accounting == model::Accounting::exact) {
            point.live_bytes = static_cast<double>(from.live_bytes);
        }
        point.floating_bytes = static_cast<double>(from.floating_bytes);
        point.minor_faults = static_cast<double>(from.minor_faults);
        point.major_faults = static_cast<double>(from.major_faults);
        point.queue_depth = static_cast<double>(from.queue_depth);
        if (scope::keeps_or_pools(program)) {
            point.pool_idle_bytes = static_cast<double>(from.idle_bytes);
        }
        if (from.working_set_bytes != 0) {
            point.working_set = static_cast<double>(from.working_set_bytes);
            point.working_set_delta = values::difference(from.working_set_bytes, record.baseline_working_set_bytes);
            point.huge_page_bytes = values::difference(from.huge_page_bytes, record.baseline_huge_page_bytes);
        }
        report.points.push_back(std::move(point));
    }
}

void append_phases(const Context& context, std::uint32_t repetition, model::CaseReport& report)
{
    for (std::size_t i = 0; i < context.outcome.phases.size(); ++i) {
        const PhaseRecord& from = context.outcome.phases[i];
        if (from.entered != 0) {
            report.phases.push_back(
                {repetition, context.program.phase_names[i], seconds(from.first_start_ns), seconds(from.last_end_ns),
                 seconds(from.time_ns), from.entered, from.minor_faults, from.major_faults,
                 values::fault_time_of(context, from.minor_faults, from.costs), seconds(from.costs.allocator_ns),
                 scope::waits(context.program) ? values::Value{seconds(from.costs.wait_ns)} : values::Value{}});
        }
    }
}

constexpr std::array<const char*, trace::call_kinds> call_names{"allocate", "release"};

// Sizes from 2^(k-1) to 2^k - 1 make class k; class 0 holds size 0.
model::CallTimes& times_of_class(model::CaseReport& report, const char* call, std::size_t size_class)
{
    const std::uint64_t from = size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
    const auto found = std::ranges::find_if(
        report.call_times, [&](const model::CallTimes& one) { return one.call == call && one.from_bytes == from; });
    if (found != report.call_times.end()) {
        return *found;
    }
    return report.call_times.emplace_back(model::CallTimes{call, from, size_class == 0 ? 0 : from * 2 - 1, {}, {}});
}

// Steps of this repetition among those that the case has, by their lower edges to a tenth of a step.
void add(model::CallTimes& times, double seconds, std::uint64_t count)
{
    const auto near = std::ranges::find_if(times.seconds, [seconds](double edge) {
        return edge == seconds || (edge < seconds * 1.02 && edge > seconds * 0.98);
    });
    if (near != times.seconds.end()) {
        times.counts[static_cast<std::size_t>(near - times.seconds.begin())] += count;
        return;
    }
    const auto at = std::ranges::lower_bound(times.seconds, seconds) - times.seconds.begin();
    times.seconds.insert(times.seconds.begin() + at, seconds);
    times.counts.insert(times.counts.begin() + at, count);
}

// The counter that calls are timed by runs at one rate, so its steps are the same in every repetition to within its
// calibration; the first repetition's edges stand.
void append_call_times(const Outcome& outcome, model::CaseReport& report)
{
    if (outcome.call_counts == nullptr) {
        return;
    }
    const double seconds_per_tick = outcome.record.replay.ns_per_tick * 1e-9;
    for (std::size_t kind = 0; kind < trace::call_kinds; ++kind) {
        for (std::size_t size = 0; size < trace::call_size_classes; ++size) {
            const auto& steps = outcome.call_counts->counts[kind][size];
            for (std::size_t step = 0; step < steps.size(); ++step) {
                if (steps[step] != 0) {
                    add(times_of_class(report, call_names[kind], size),
                        static_cast<double>(trace::CallTimeCounts::ticks_of(step)) * seconds_per_tick, steps[step]);
                }
            }
        }
    }
}

}  // namespace

void declare_metrics(const Program& program, model::CaseReport& report)
{
    for (std::size_t i = 0; i < model::metric_count; ++i) {
        const auto id = static_cast<model::MetricId>(i);
        const model::MetricInfo& info = model::metric_catalog()[i];
        const Extractor& extractor = extractor_of(id);
        if (extractor.applies(program)) {
            model::Metric metric;
            metric.name = info.name;
            metric.unit = info.unit;
            metric.better = info.better;
            metric.metric_class = class_of(extractor.nature, info.metric_class, program);
            metric.provenance = provenance_of(extractor.nature, info.provenance, program);
            report.metrics.push_back(std::move(metric));
        }
    }
}

void append_repetition(const Program& program, const Outcome& outcome, std::uint64_t page_bytes,
                       std::uint64_t huge_page_bytes, model::CaseReport& report)
{
    const Context context{program, outcome, page_bytes, huge_page_bytes};
    for (model::Metric& metric : report.metrics) {
        const std::optional<model::MetricId> id = model::metric_id(metric.name);
        MEMSWEEP_ASSERT(id, "a case declares metrics of the catalogue");
        const Extractor& extractor = extractor_of(*id);
        const bool uncounted = is_uncounted(extractor.nature, program);
        metric.values.push_back(uncounted ? values::Value{} : extractor.value(context));
        metric.summary.reset();
        if (!metric.values.back()) {
            metric.reason = uncounted ? "the case asks for no accounting" : extractor.absent;
        }
    }
    append_points(program, outcome, report.repetitions, report);
    append_phases(context, report.repetitions, report);
    append_defects(program, outcome, report.repetitions, report);
    append_call_times(outcome, report);
    for (model::Series series : outcome.series) {
        if (series.name == "live_bytes" && program.memory.accounting == model::Accounting::off) {
            continue;
        }
        series.repetition = report.repetitions;
        report.series.push_back(std::move(series));
    }
    ++report.repetitions;
}

void remove_last_repetition(model::CaseReport& report)
{
    MEMSWEEP_ASSERT(report.repetitions > 0, "only what was measured can be measured again");
    const std::uint32_t last = --report.repetitions;
    for (model::Metric& metric : report.metrics) {
        metric.values.pop_back();
        metric.summary.reset();
    }
    const auto is_of_it = [last](const auto& one) { return one.repetition == last; };
    std::erase_if(report.points, is_of_it);
    std::erase_if(report.phases, is_of_it);
    std::erase_if(report.series, is_of_it);
    std::erase_if(report.defects, is_of_it);
}

void summarize_metrics(model::CaseReport& report)
{
    for (model::Metric& metric : report.metrics) {
        if (!metric.summary) {
            metric.summary = measure::summarize(metric.values);
        }
    }
}

}  // namespace memsweep::engine
