#include "core/engine/case_metrics.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/assert.hpp"
#include "core/engine/subjects.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::engine {
namespace {

// The subject's row of a metric; nullptr: it has none.
template <typename Work>
const RowOf<Work>* row_of(model::MetricId metric, const Work& work)
{
    for (const std::span<const RowOf<Work>> rows : rows_of(work)) {
        const auto found = std::ranges::find(rows, metric, &RowOf<Work>::metric);
        if (found != rows.end()) {
            return &*found;
        }
    }
    return nullptr;
}

template <typename Work>
void declare_metrics_of(const Work& work, model::CaseReport& report)
{
    for (std::size_t i = 0; i < model::metric_count; ++i) {
        const auto* const row = row_of(static_cast<model::MetricId>(i), work);
        if (row == nullptr || !row->applies(work)) {
            continue;
        }
        const model::MetricInfo& info = model::metric_catalog()[i];
        model::Metric metric;
        metric.name = info.name;
        metric.unit = info.unit;
        metric.better = info.better;
        metric.metric_class = class_of(*row, info.metric_class, work);
        metric.provenance = provenance_of(*row, info.provenance, work);
        report.metrics.push_back(std::move(metric));
    }
}

template <typename Context>
void append_values(const Context& context, model::CaseReport& report)
{
    for (model::Metric& metric : report.metrics) {
        const std::optional<model::MetricId> id = model::metric_id(metric.name);
        const auto* const row = id ? row_of(*id, context.work) : nullptr;
        MEMSWEEP_ASSERT(row != nullptr, "a case declares metrics of its subject");
        const bool uncounted = is_uncounted(*row, context.work);
        metric.values.push_back(uncounted ? values::Value{} : row->value(context));
        metric.summary.reset();
        if (!metric.values.back()) {
            metric.reason = uncounted ? "the case asks for no accounting" : row->absent;
        }
    }
}

template <typename Work, typename Measured>
void append_measured(const Work& work, const Measured& measured, const PageSizes& pages, model::CaseReport& report)
{
    if constexpr (std::is_same_v<Measured, typename RowOf<Work>::Measured>) {
        const typename RowOf<Work>::Context context{work, measured, pages};
        append_values(context, report);
        append_details(context, report.repetitions, report);
    } else {
        MEMSWEEP_ASSERT(false, "a repetition that counts has measured its own subject");
    }
}

// A sampler cannot tell that a case asks for no accounting.
bool is_told(const model::Series& series, const CompiledCase& compiled)
{
    const auto* const steps = std::get_if<StepProgram>(&compiled.work);
    return steps == nullptr || steps->memory.accounting != model::Accounting::off || series.name != "live_bytes";
}

}  // namespace

void declare_metrics(const CompiledCase& compiled, model::CaseReport& report)
{
    std::visit([&](const auto& work) { declare_metrics_of(work, report); }, compiled.work);
}

void append_repetition(const CompiledCase& compiled, const Attempt& attempt, const PageSizes& pages,
                       model::CaseReport& report)
{
    std::visit([&](const auto& work, const auto& measured) { append_measured(work, measured, pages, report); },
               compiled.work, attempt.measured);
    for (model::Series series : attempt.series) {
        if (is_told(series, compiled)) {
            series.repetition = report.repetitions;
            report.series.push_back(std::move(series));
        }
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
