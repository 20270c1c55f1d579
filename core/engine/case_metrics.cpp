#include "core/engine/case_metrics.hpp"

#include "core/engine/call_time_report.hpp"
#include "core/engine/metric_scope.hpp"
#include "core/engine/metric_table.hpp"
#include "core/engine/metric_values.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::engine {
namespace {

using values::Context;
using values::seconds;

// Whether a finalizer's thread races the counters decides whether they repeat to the last digit.
model::MetricClass class_of(const model::MetricInfo& info, const Program& program)
{
    const bool racing = scope::queues(program) && (info.name == "live_bytes_peak" ||
                                                   info.name == "floating_bytes_peak" || info.name == "outstanding");
    const bool timed_trigger =
        program.release.target.initial != 0 || program.release.pressure.rule != model::PressureRule::none;
    const bool follows_time = timed_trigger && (info.name == "collections" || info.name == "floating_bytes_peak" ||
                                                info.name == "live_bytes_peak" || info.name == "outstanding");
    return racing || follows_time ? model::MetricClass::noisy : info.metric_class;
}

// Under a profile collections come when a rule says so, and pause the program as long as it says.
model::Provenance provenance_of(const model::MetricInfo& info, const Program& program)
{
    const bool by_rule = info.name == "collections" || info.name == "gc_pause_time" || info.name == "gc_pause_max" ||
                         info.name == "reserve_sleeps" || info.name == "reserve_sleep_time" ||
                         info.name == "collector_wait_time";
    return program.release.modelled && by_rule ? model::Provenance::modelled : info.provenance;
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
        point.live_bytes = static_cast<double>(from.live_bytes);
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
                 values::fault_time_of(context, from.minor_faults, from.costs),
                 values::nanoseconds(from.costs.allocator_ns),
                 scope::waits(context.program) ? values::nanoseconds(from.costs.wait_ns) : values::Value{}});
        }
    }
}

}  // namespace

void declare_metrics(const Program& program, model::CaseReport& report)
{
    for (const model::MetricInfo& info : model::metric_catalog()) {
        if (extractor_of(info.name).applies(program)) {
            model::Metric metric;
            metric.name = info.name;
            metric.unit = info.unit;
            metric.better = info.better;
            metric.metric_class = class_of(info, program);
            metric.provenance = provenance_of(info, program);
            report.metrics.push_back(std::move(metric));
        }
    }
}

void append_repetition(const Program& program, const Outcome& outcome, std::uint64_t page_bytes,
                       std::uint64_t huge_page_bytes, model::CaseReport& report)
{
    const Context context{program, outcome, page_bytes, huge_page_bytes};
    for (model::Metric& metric : report.metrics) {
        const Extractor& extractor = extractor_of(metric.name);
        metric.values.push_back(extractor.value(context));
        if (!metric.values.back()) {
            metric.reason = extractor.absent;
        }
    }
    append_points(program, outcome, report.repetitions, report);
    append_phases(context, report.repetitions, report);
    append_defects(program, outcome, report.repetitions, report);
    append_call_times(outcome, report);
    for (model::Series series : outcome.series) {
        series.repetition = report.repetitions;
        report.series.push_back(std::move(series));
    }
    ++report.repetitions;
}

void summarize_metrics(model::CaseReport& report)
{
    for (model::Metric& metric : report.metrics) {
        metric.summary = measure::summarize(metric.values);
    }
}

}  // namespace memsweep::engine
