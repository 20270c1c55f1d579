#include "core/trace/pytorch_fit.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace memsweep::trace {
namespace {

constexpr std::size_t most_split_sizes = 4;
constexpr std::uint64_t first_split_size = 32 * mib;  // PyTorch takes none below 20 MiB

// Powers of two up to the largest request: a larger one would change nothing.
std::vector<std::uint64_t> split_sizes(const PyTorchOps& ops)
{
    std::uint64_t largest = 0;
    for (const PyTorchOps::Op& op : ops.ops) {
        largest = std::max(largest, op.size);
    }
    std::vector<std::uint64_t> all;
    for (std::uint64_t size = first_split_size; size <= largest && all.size() < 64; size *= 2) {
        all.push_back(size);
    }
    if (all.size() <= most_split_sizes) {
        return all;
    }
    std::vector<std::uint64_t> some;
    for (std::size_t i = 0; i < most_split_sizes; ++i) {
        some.push_back(all[i * (all.size() - 1) / (most_split_sizes - 1)]);
    }
    return some;
}

bool is_worth_it(const PyTorchOutcome& now, const PyTorchOutcome& then)
{
    if (then.reserved_peak >= now.reserved_peak) {
        return false;
    }
    const std::uint64_t saved = now.reserved_peak - then.reserved_peak;
    return saved >= least_saving ||
           static_cast<double>(saved) >= least_saving_share * static_cast<double>(now.reserved_peak);
}

bool is_better(const PyTorchOutcome& then, const PyTorchOutcome& now)
{
    if (then.failure.has_value() != now.failure.has_value()) {
        return !then.failure;
    }
    if (then.failure) {
        return then.failure->event > now.failure->event;
    }
    if ((then.retries == 0) != (now.retries == 0)) {
        return then.retries == 0;
    }
    return is_worth_it(now, then);
}

PyTorchSettings with_divisions(PyTorchSettings settings, std::uint64_t divisions)
{
    settings.divisions.fill(divisions);
    return settings;
}

class PyTorchTrial {
  public:
    PyTorchTrial(const PyTorchOps& ops, std::optional<std::uint64_t> capacity) : ops_{&ops}, capacity_{capacity} {}

    void add(const PyTorchSettings& settings)
    {
        if (std::ranges::find(fit_.rows, settings, &PyTorchRow::settings) == fit_.rows.end()) {
            fit_.rows.push_back({settings, simulate(*ops_, settings, capacity_)});
        }
    }

    // The best of the default and of the rows from `first` on.
    [[nodiscard]] std::size_t best_from(std::size_t first) const
    {
        std::size_t best = 0;
        for (std::size_t i = first; i < fit_.rows.size(); ++i) {
            best = is_better(fit_.rows[i].outcome, fit_.rows[best].outcome) ? i : best;
        }
        return best;
    }
    [[nodiscard]] const PyTorchSettings& settings_of(std::size_t row) const { return fit_.rows[row].settings; }
    [[nodiscard]] std::size_t count() const { return fit_.rows.size(); }

    PyTorchFit take(std::size_t curve_points)
    {
        fit_.best = best_from(1);
        for (const std::size_t row : {std::size_t{0}, fit_.best}) {
            if (curve_points != 0 && fit_.rows[row].outcome.curve.empty()) {
                fit_.rows[row].outcome = simulate(*ops_, fit_.rows[row].settings, capacity_, curve_points);
            }
        }
        return std::move(fit_);
    }

  private:
    const PyTorchOps* ops_;
    std::optional<std::uint64_t> capacity_;
    PyTorchFit fit_;
};

}  // namespace

PyTorchFit fit_pytorch(const PyTorchOps& ops, std::optional<std::uint64_t> capacity,
                       std::span<const PyTorchSettings> also, std::size_t curve_points)
{
    constexpr std::array<std::uint64_t, 3> divisions{2, 4, 8};
    PyTorchTrial trial{ops, capacity};
    trial.add({});
    trial.add({.expandable = true});
    const std::size_t rounded = trial.count();
    for (const std::uint64_t each : divisions) {
        trial.add(with_divisions({}, each));
    }
    const PyTorchSettings best_rounded = trial.settings_of(trial.best_from(rounded));
    const std::size_t split = trial.count();
    for (const std::uint64_t size : split_sizes(ops)) {
        trial.add({.max_split = size});
    }
    const PyTorchSettings best_split = trial.settings_of(trial.best_from(split));
    PyTorchSettings both = best_rounded;
    both.max_split = best_split.max_split;
    trial.add(both);
    for (const std::uint64_t each : divisions) {
        trial.add(with_divisions({.expandable = true}, each));
    }
    if (capacity) {
        for (PyTorchSettings settings : {PyTorchSettings{}, best_rounded, best_split}) {
            for (const double threshold : {0.8, 0.6}) {
                settings.gc_threshold = threshold;
                trial.add(settings);
            }
        }
    }
    std::ranges::for_each(also, [&trial](const PyTorchSettings& settings) { trial.add(settings); });
    return trial.take(curve_points);
}

}  // namespace memsweep::trace
