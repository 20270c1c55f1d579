#include "core/engine/steps/step_report.hpp"

#include <algorithm>
#include <array>

#include "core/engine/repetition/kept_facts.hpp"
#include "core/model/specs.hpp"

namespace memsweep::engine {
namespace {

using values::seconds;

// What the slots say is wrong. Only what nobody will ever free is a leak: collectors and open arenas still may.
void append_defects(const StepProgram& program, const StepMeasurements& measured, std::uint32_t repetition,
                    model::CaseReport& report)
{
    using model::DefectKind;
    const bool loses = model::frees_manually(program.release) && !model::is_collected(program.release);
    const bool leaks = loses || measured.record.discipline.skipped_restores != 0;
    for (std::size_t i = 0; i < measured.slots.size(); ++i) {
        const SlotRecord& slot = measured.slots[i];
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

void append_points(const StepProgram& program, const StepMeasurements& measured, std::uint32_t repetition,
                   model::CaseReport& report)
{
    const StepRecord& record = measured.record;
    for (const PointRecord& from : measured.points) {
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

void append_phases(const StepContext& context, std::uint32_t repetition, model::CaseReport& report)
{
    for (std::size_t i = 0; i < context.measured.phases.size(); ++i) {
        const PhaseRecord& from = context.measured.phases[i];
        if (from.entered != 0) {
            report.phases.push_back(
                {repetition, context.work.phase_names[i], seconds(from.first_start_ns), seconds(from.last_end_ns),
                 seconds(from.time_ns), from.entered, from.minor_faults, from.major_faults,
                 values::fault_time_of(context, from.minor_faults, from.costs), seconds(from.costs.allocator_ns),
                 scope::waits(context.work) ? values::Value{seconds(from.costs.wait_ns)} : values::Value{}});
        }
    }
}

constexpr std::array<const char*, trace::call_kinds> call_names{"allocate", "release"};

// Sizes from 2^(k-1) to 2^k - 1 make class k; class 0 holds size 0.
model::CallTimes& times_of_class(model::CaseReport& report, const char* call, std::size_t size_class)
{
    const std::uint64_t from = size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
    return model::times_of(report.call_times, call, from, size_class == 0 ? 0 : from * 2 - 1);
}

// The counter that calls are timed by runs at one rate, so its steps are the same in every repetition to within its
// calibration; the first repetition's edges stand.
void append_call_times(const StepMeasurements& measured, model::CaseReport& report)
{
    if (measured.call_counts == nullptr) {
        return;
    }
    const double seconds_per_tick = measured.record.replay.ns_per_tick * 1e-9;
    for (std::size_t kind = 0; kind < trace::call_kinds; ++kind) {
        for (std::size_t size = 0; size < trace::call_size_classes; ++size) {
            const auto& steps = measured.call_counts->counts[kind][size];
            for (std::size_t step = 0; step < steps.size(); ++step) {
                if (steps[step] != 0) {
                    model::add_calls(times_of_class(report, call_names[kind], size),
                                     static_cast<double>(trace::CallTimeCounts::ticks_of(step)) * seconds_per_tick,
                                     steps[step]);
                }
            }
        }
    }
}

}  // namespace

model::MetricClass class_of(const StepRow& row, model::MetricClass usual, const StepProgram& program)
{
    const bool timed_trigger =
        program.release.target.initial != 0 || program.release.pressure.rule != model::PressureRule::none;
    const bool varies = (row.nature.races && scope::queues(program)) || (row.nature.is_triggered && timed_trigger);
    return varies ? model::MetricClass::noisy : usual;
}

model::Provenance provenance_of(const StepRow& row, model::Provenance usual, const StepProgram& program)
{
    return program.release.modelled && row.nature.is_by_rule ? model::Provenance::modelled : usual;
}

bool is_uncounted(const StepRow& row, const StepProgram& program)
{
    return program.memory.accounting == model::Accounting::off && row.nature.needs_counters;
}

void append_details(const StepContext& context, std::uint32_t repetition, model::CaseReport& report)
{
    append_points(context.work, context.measured, repetition, report);
    append_phases(context, repetition, report);
    append_defects(context.work, context.measured, repetition, report);
    append_call_times(context.measured, report);
}

std::string keep_facts(const StepProgram& program, const StepMeasurements& measured, bool /*has_finished*/,
                       model::CaseReport& report)
{
    keep_fact("routes", read_text(measured.record.transfers.routes), report.facts);
    keep_fact("device", read_text(measured.record.device.name), report.facts);
    if (model::is_beyond_reach(program.memory.resource)) {
        keep_fact("contents", "never touched: the processor does not reach this memory", report.facts);
    }
    return {};
}

}  // namespace memsweep::engine
