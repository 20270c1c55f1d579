#include "core/measure/warnings.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/nonparametric.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t min_for_interval = 6;
constexpr std::size_t min_for_scatter = 5;  // below it the median deviation itself is mostly chance
constexpr std::size_t min_for_drift = 8;
constexpr double drift_limit = 0.6;
constexpr double noise_limit = 0.05;

const model::Metric* judged_metric(const model::CaseReport& report)
{
    for (const std::string_view name : {"wall_time", "time_per_op"}) {
        const model::Metric* metric = model::find_metric(report, name);
        if (metric != nullptr && !present(metric->values).empty()) {
            return metric;
        }
    }
    return nullptr;
}

class Noise {
  public:
    Noise(const model::CaseReport& report, const model::Metric& metric)
        : subject_{fmt::format("{}: {}", report.id, metric.name)}, values_{present(metric.values)},
          summary_{*summarize(metric.values)}
    {
    }

    std::vector<model::Warning> warnings()
    {
        few_repetitions();
        if (!coarse_clock()) {
            outliers(slow_first());
        }
        drift();
        noisy();
        return std::move(warnings_);
    }

  private:
    void warn(std::string code, const std::string& message, std::string hint)
    {
        warnings_.push_back({std::move(code), fmt::format("{} {}", subject_, message), std::move(hint)});
    }

    void few_repetitions()
    {
        if (values_.size() < min_for_interval) {
            warn("few-repetitions",
                 fmt::format("has {} value{}: too few for an interval", values_.size(), values_.size() == 1 ? "" : "s"),
                 "run at least 6 repetitions (-n 6), 10 to compare results");
        }
    }

    // More than half of the values equal to the last digit: no clock that is fine enough shows that.
    bool coarse_clock()
    {
        const bool coarse = values_.size() >= min_for_scatter && summary_.mad <= 0;
        if (coarse) {
            warn("coarse-clock", fmt::format("is {} in most repetitions, to the last digit", shown(summary_.median)),
                 "the clock is too coarse for a run this short: repeat the timed steps within a repetition");
        }
        return coarse;
    }

    bool slow_first()
    {
        const bool slow =
            values_.size() >= min_for_scatter && values_.front() - summary_.median > outlier_distance * summary_.mad;
        if (slow) {
            warn("slow-first-repetition",
                 fmt::format("took {} in the first repetition, {} in the median", shown(values_.front()),
                             shown(summary_.median)),
                 "caches or page tables were cold: raise --warmup");
        }
        return slow;
    }

    void outliers(bool first_told)
    {
        const std::uint64_t count = summary_.outliers - (first_told ? 1 : 0);
        if (values_.size() >= min_for_scatter && count > 0) {
            warn("outliers",
                 fmt::format("has {} of {} repetitions far from the median {} ({} to {})", count, values_.size(),
                             shown(summary_.median), shown(summary_.min), shown(summary_.max)),
                 "something else ran on this machine: close it, pin CPUs, or raise the repetitions (-n)");
        }
    }

    void drift()
    {
        const auto rho = values_.size() >= min_for_drift ? spearman_with_order(values_) : std::nullopt;
        if (rho && std::fabs(*rho) > drift_limit) {
            warn("drift",
                 fmt::format("{} from repetition to repetition (rank correlation {:+.2f})",
                             *rho > 0 ? "grows" : "shrinks", *rho),
                 "the machine changes while it is measured: let it warm up or cool down, fix its clock frequency, and "
                 "keep "
                 "the interleaved order");
        }
    }

    void noisy()
    {
        if (summary_.mdape && *summary_.mdape > noise_limit) {
            warn("noisy", fmt::format("scatters by {} around its median", format_percent(*summary_.mdape)),
                 "make the timed steps longer, quiet the machine, or raise the repetitions (-n)");
        }
    }

    static std::string shown(double seconds) { return base::format_duration(seconds); }

    std::string subject_;
    std::vector<double> values_;
    model::Summary summary_;
    std::vector<model::Warning> warnings_;
};

}  // namespace

std::optional<model::Warning> profile_warning(const model::CaseReport& report)
{
    if (!report.release.modelled || report.release.verified) {
        return std::nullopt;
    }
    return model::Warning{
        "unverified-profile",
        fmt::format("{}: when collections come follows the rules of profile \"{}\"", report.id, report.release.profile),
        "no recording of that runtime has confirmed them; the memory, the releases and the times are real"};
}

std::vector<model::Warning> noise_warnings(const model::CaseReport& report)
{
    const model::Metric* metric = judged_metric(report);
    return metric != nullptr ? Noise{report, *metric}.warnings() : std::vector<model::Warning>{};
}

}  // namespace memsweep::measure
