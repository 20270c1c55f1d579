#include "core/measure/cliffs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace memsweep::measure {
namespace {

using base::Expected;

constexpr double cliff_factor = 3;
constexpr int confirmations = 3;  // measurements of each side of a jump in time, the fastest of which counts

double cost(CliffKind kind, const SizeCost& size)
{
    return kind == CliffKind::faults ? size.faults_per_op : size.ns_per_op;
}

// Halfway between the sides: in sum for faults, of which there may be none; in ratio for times.
double watershed(CliffKind kind, const SizeCost& cheap, const SizeCost& dear)
{
    return kind == CliffKind::faults ? (cheap.faults_per_op + dear.faults_per_op) / 2
                                     : std::sqrt(cheap.ns_per_op * dear.ns_per_op);
}

Expected<SizeCost> fastest(std::uint64_t bytes, const CostOfSize& cost_of)
{
    std::optional<SizeCost> best;
    for (int i = 0; i < confirmations; ++i) {
        const SizeCost one = MEMSWEEP_TRY(cost_of(bytes));
        if (!best || one.ns_per_op < best->ns_per_op) {
            best = one;
        }
    }
    return *best;
}

Expected<Cliff> bisect(CliffKind kind, SizeCost cheap, SizeCost dear, const CostOfSize& cost_of)
{
    const double between = watershed(kind, cheap, dear);
    while (dear.bytes - cheap.bytes > 1) {
        const SizeCost middle = MEMSWEEP_TRY(cost_of(cheap.bytes + (dear.bytes - cheap.bytes) / 2));
        (cost(kind, middle) > between ? dear : cheap) = middle;
    }
    return Cliff{kind, cheap, dear};
}

// Both sides anew where noise could have made the jump.
Expected<Cliff> confirmed(const Cliff& cliff, const CostOfSize& cost_of)
{
    if (cliff.kind == CliffKind::faults) {
        return cliff;
    }
    const SizeCost cheap = MEMSWEEP_TRY(fastest(cliff.cheap.bytes, cost_of));
    const SizeCost dear = MEMSWEEP_TRY(fastest(cliff.dear.bytes, cost_of));
    return Cliff{cliff.kind, cheap, dear};
}

std::optional<CliffKind> kind_of(const SizeCost& cheap, const SizeCost& dear)
{
    if (is_cliff(CliffKind::faults, cheap, dear)) {
        return CliffKind::faults;
    }
    return is_cliff(CliffKind::time, cheap, dear) ? std::optional{CliffKind::time} : std::nullopt;
}

Expected<void> look_between(const SizeCost& cheap, const SizeCost& dear, const CostOfSize& cost_of,
                            std::vector<Cliff>& cliffs)
{
    const auto kind = kind_of(cheap, dear);
    if (!kind) {
        return {};
    }
    const Cliff found = MEMSWEEP_TRY(bisect(*kind, cheap, dear, cost_of));
    const Cliff cliff = MEMSWEEP_TRY(confirmed(found, cost_of));
    if (is_cliff(cliff.kind, cliff.cheap, cliff.dear)) {  // else it rose little by little, or was noise
        cliffs.push_back(cliff);
    }
    return {};
}

}  // namespace

bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear)
{
    return kind == CliffKind::faults ? dear.faults_per_op > cliff_factor * cheap.faults_per_op + 1
                                     : dear.ns_per_op > cliff_factor * cheap.ns_per_op;
}

std::vector<std::uint64_t> sizes_of(const SizeRange& range)
{
    std::vector<std::uint64_t> sizes;
    const double step = std::exp2(1.0 / range.per_doubling);
    for (auto size = static_cast<double>(range.from); size < static_cast<double>(range.to); size *= step) {
        const auto bytes = static_cast<std::uint64_t>(std::llround(size));
        if (sizes.empty() || bytes > sizes.back()) {
            sizes.push_back(bytes);
        }
    }
    if (sizes.empty() || sizes.back() < range.to) {
        sizes.push_back(range.to);
    }
    return sizes;
}

Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of)
{
    CliffSurvey survey;
    for (const std::uint64_t bytes : sizes_of(range)) {
        survey.sizes.push_back(MEMSWEEP_TRY(cost_of(bytes)));
    }
    for (std::size_t i = 1; i < survey.sizes.size(); ++i) {
        MEMSWEEP_TRY(look_between(survey.sizes[i - 1], survey.sizes[i], cost_of, survey.cliffs));
    }
    return survey;
}

}  // namespace memsweep::measure
