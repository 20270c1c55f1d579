#include "core/trace/caller_strata.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

#include "core/base/checked.hpp"

namespace memsweep::trace {
namespace {

using Figure = std::uint64_t AllocationFigures::*;

constexpr std::array<Figure, 7> figures_that_add{&AllocationFigures::allocations, &AllocationFigures::bytes_allocated,
                                                 &AllocationFigures::temporary,   &AllocationFigures::peak_bytes,
                                                 &AllocationFigures::peak_blocks, &AllocationFigures::end_bytes,
                                                 &AllocationFigures::end_blocks};

std::vector<std::uint64_t> proportions_of(const std::vector<AllocationFigures>& samples,
                                          const std::vector<std::uint32_t>& numbers, Figure figure)
{
    std::vector<std::uint64_t> proportions;
    proportions.reserve(numbers.size());
    for (const std::uint32_t number : numbers) {
        proportions.push_back(samples[number].*figure);
    }
    return proportions;
}

bool have_some(const std::vector<std::uint64_t>& proportions)
{
    return std::ranges::any_of(proportions, [](std::uint64_t one) { return one != 0; });
}

}  // namespace

std::vector<std::uint64_t> shared_out(std::uint64_t sum, const std::vector<std::uint64_t>& proportions)
{
    const base::uint128 all = std::accumulate(proportions.begin(), proportions.end(), base::uint128{});
    std::vector<std::uint64_t> shares;
    std::vector<std::size_t> order(proportions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<base::uint128> rests;
    std::uint64_t left = sum;
    for (const std::uint64_t one : proportions) {
        const base::uint128 product = base::uint128{sum} * one;
        shares.push_back(static_cast<std::uint64_t>(product / all));
        rests.push_back(product % all);
        left -= shares.back();
    }
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t place) { return rests[place]; });
    for (std::uint64_t i = 0; i < left; ++i) {
        ++shares[order[i]];
    }
    return shares;
}

std::uint32_t CallerStrata::origin_of(std::uint32_t node)
{
    if (node >= origin_of_node_.size()) {
        origin_of_node_.resize(std::size_t{node} + 1);
    }
    std::uint32_t& known = origin_of_node_[node];
    if (known == 0) {
        const StackImage& image = table_->image_of(node);
        const std::uint64_t address = node == 0 ? 0 : table_->node(node).address;
        const auto next = static_cast<std::uint32_t>(origins_.size());
        known = origins_.try_emplace({image.process, image.image, address}, next).first->second + 1;
    }
    return known - 1;
}

std::vector<bool> CallerStrata::origins_of_known_group(const std::vector<std::uint32_t>& groups)
{
    std::vector<bool> are_known;
    std::vector<std::uint32_t> first_groups;
    for (std::uint32_t node = 0; node < table_->count(); ++node) {
        const std::uint32_t origin = origin_of(node);
        if (origin == are_known.size()) {
            are_known.push_back(true);
            first_groups.push_back(groups[node]);
        }
        const bool is_all_sampled = table_->caller_of(node) == 0;
        are_known[origin] = are_known[origin] && (is_all_sampled || groups[node] == first_groups[origin]);
    }
    return are_known;
}

CallerStrata::Place CallerStrata::place_of(std::uint32_t node, std::uint64_t size)
{
    const std::uint32_t origin = origin_of(node);
    const auto power = static_cast<std::uint32_t>(std::bit_width(size));
    const std::size_t at = std::size_t{origin} * powers + power;
    if (at >= numbers_.size()) {
        numbers_.resize(std::size_t{origin + 1} * powers);
    }
    const std::uint32_t alone = table_->caller_of(node);
    if (numbers_[at] == 0) {
        strata_.push_back({origin, alone});
        numbers_[at] = static_cast<std::uint32_t>(strata_.size());
    }
    Place place{.stratum = numbers_[at] - 1};
    if (node != 0 && node != alone) {
        const auto [known, is_new] =
            sample_numbers_.try_emplace(std::uint64_t{node} << 8U | power, static_cast<std::uint32_t>(samples_.size()));
        if (is_new) {
            samples_.push_back({node, place.stratum, origin});
        }
        place.sampled = known->second;
    }
    return place;
}

void CallerStrata::make(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight)
{
    exact_.make(place.stratum, {1, size});
    if (place.sampled != 0) {
        sampled_.make(place.sampled, weight);
    }
}

void CallerStrata::free(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight,
                        bool is_temporary)
{
    exact_.free(place.stratum, {1, size}, is_temporary);
    if (place.sampled != 0) {
        sampled_.free(place.sampled, weight, is_temporary);
    }
}

void CallerStrata::abandon(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight)
{
    exact_.abandon(place.stratum, {1, size});
    if (place.sampled != 0) {
        sampled_.abandon(place.sampled, weight);
    }
}

void CallerStrata::begin_peak()
{
    exact_.begin_peak();
    sampled_.begin_peak();
}

std::vector<AllocationFigures> CallerStrata::figures() const
{
    std::vector<AllocationFigures> of(table_->count());
    std::vector<AllocationFigures> samples = sampled_.all();
    samples.resize(samples_.size());
    std::vector<std::vector<std::uint32_t>> of_stratum(strata_.size());
    std::vector<std::vector<std::uint32_t>> of_origin(origins_.size());
    for (std::uint32_t number = 1; number < samples_.size(); ++number) {
        of_stratum[samples_[number].stratum].push_back(number);
        of_origin[samples_[number].origin].push_back(number);
    }
    for (std::uint32_t stratum = 0; stratum < strata_.size(); ++stratum) {
        const AllocationFigures exact = exact_.figures(stratum);
        const std::vector<std::uint32_t>& all_sizes = of_origin[strata_[stratum].origin];
        for (const Figure figure : figures_that_add) {
            if (exact.*figure == 0) {
                continue;
            }
            const std::vector<std::uint32_t>* numbers = &of_stratum[stratum];
            std::vector<std::uint64_t> proportions = proportions_of(samples, *numbers, figure);
            for (const Figure other : {figure, &AllocationFigures::bytes_allocated}) {
                if (!have_some(proportions)) {
                    numbers = &all_sizes;
                    proportions = proportions_of(samples, all_sizes, other);
                }
            }
            if (!have_some(proportions)) {
                std::uint64_t& alone = of[strata_[stratum].alone].*figure;
                alone = base::saturating_add(alone, exact.*figure);
                continue;
            }
            const std::vector<std::uint64_t> shares = shared_out(exact.*figure, proportions);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                std::uint64_t& one = of[samples_[(*numbers)[i]].node].*figure;
                one = base::saturating_add(one, shares[i]);
            }
        }
    }
    return of;
}

}  // namespace memsweep::trace
