#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/measure/site_changes.hpp"

namespace memsweep::measure {
namespace {

using LinePairs = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t most_steps = 4'000'000;  // beyond, only lines of the same number are paired

// Shares of what the function asks for; ties are broken by what costs a billionth of it.
class LineCosts {
  public:
    LineCosts(std::span<const LineUse> base, std::span<const LineUse> candidate) : base_{base}, candidate_{candidate}
    {
        for (const auto& side : {base, candidate}) {
            double allocations = 0;
            double bytes = 0;
            for (const LineUse& one : side) {
                allocations += one.allocations;
                bytes += one.bytes;
            }
            allocations_ = std::max(allocations_, allocations);
            bytes_ = std::max(bytes_, bytes);
        }
    }

    [[nodiscard]] double pair(std::size_t i, std::size_t j) const
    {
        const LineUse& one = base_[i];
        const LineUse& other = candidate_[j];
        return share(std::fabs(one.allocations - other.allocations), std::fabs(one.bytes - other.bytes)) +
               (one.line == other.line ? 0 : tie);
    }
    // Behind a pair of the lines before: the distance to them is another.
    [[nodiscard]] double shift(std::size_t i, std::size_t j) const
    {
        return base_[i].line - base_[i - 1].line == candidate_[j].line - candidate_[j - 1].line ? 0 : tie;
    }
    [[nodiscard]] double alone(const LineUse& one) const { return share(one.allocations, one.bytes) + 4 * tie; }

  private:
    static constexpr double tie = 1e-9;

    [[nodiscard]] double share(double allocations, double bytes) const
    {
        return (allocations_ > 0 ? allocations / allocations_ : 0) + (bytes_ > 0 ? bytes / bytes_ : 0);
    }

    std::span<const LineUse> base_, candidate_;
    double allocations_{}, bytes_{};
};

// The cheapest way to come so far, and how.
struct Way {
    double paired{std::numeric_limits<double>::infinity()};  // the last of both are a pair
    double alone{std::numeric_limits<double>::infinity()};   // the last of one side stands alone
    bool after_pair{}, is_of_base{}, alone_after_pair{};
};

LinePairs equal_lines(std::span<const LineUse> base, std::span<const LineUse> candidate)
{
    LinePairs pairs;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < base.size() || j < candidate.size()) {
        const bool has_both = i < base.size() && j < candidate.size();
        if (has_both && base[i].line == candidate[j].line) {
            pairs.emplace_back(i++, j++);
        } else if (j == candidate.size() || (has_both && base[i].line < candidate[j].line)) {
            pairs.emplace_back(i++, no_line);
        } else {
            pairs.emplace_back(no_line, j++);
        }
    }
    return pairs;
}

class LineTable {
  public:
    LineTable(std::span<const LineUse> base, std::span<const LineUse> candidate)
        : costs_{base, candidate}, rows_{base.size() + 1}, columns_{candidate.size() + 1}, ways_(rows_ * columns_)
    {
        at(0, 0).alone = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            for (std::size_t j = 0; j < columns_; ++j) {
                if (i > 0 && j > 0) {
                    take_pair(i, j);
                }
                if (i > 0) {
                    take_alone(i, j, at(i - 1, j), costs_.alone(base[i - 1]), true);
                }
                if (j > 0) {
                    take_alone(i, j, at(i, j - 1), costs_.alone(candidate[j - 1]), false);
                }
            }
        }
    }

    [[nodiscard]] LinePairs cheapest()
    {
        LinePairs pairs;
        std::size_t i = rows_ - 1;
        std::size_t j = columns_ - 1;
        bool is_pair = at(i, j).paired < at(i, j).alone;
        while (i > 0 || j > 0) {
            const Way& way = at(i, j);
            if (is_pair) {
                pairs.emplace_back(--i, --j);
                is_pair = way.after_pair;
            } else if (way.is_of_base) {
                pairs.emplace_back(--i, no_line);
                is_pair = way.alone_after_pair;
            } else {
                pairs.emplace_back(no_line, --j);
                is_pair = way.alone_after_pair;
            }
        }
        std::ranges::reverse(pairs);
        return pairs;
    }

  private:
    Way& at(std::size_t i, std::size_t j) { return ways_[i * columns_ + j]; }

    void take_pair(std::size_t i, std::size_t j)
    {
        const Way& before = at(i - 1, j - 1);
        const double after_pair = before.paired + (i > 1 && j > 1 ? costs_.shift(i - 1, j - 1) : 0);
        Way& way = at(i, j);
        way.after_pair = after_pair < before.alone;
        way.paired = std::min(after_pair, before.alone) + costs_.pair(i - 1, j - 1);
    }

    void take_alone(std::size_t i, std::size_t j, const Way& before, double cost, bool is_of_base)
    {
        const double least = std::min(before.paired, before.alone) + cost;
        Way& way = at(i, j);
        if (least < way.alone) {
            way.alone = least;
            way.is_of_base = is_of_base;
            way.alone_after_pair = before.paired < before.alone;
        }
    }

    LineCosts costs_;
    std::size_t rows_, columns_;
    std::vector<Way> ways_;
};

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> pair_lines(std::span<const LineUse> base,
                                                            std::span<const LineUse> candidate)
{
    return (base.size() + 1) * (candidate.size() + 1) > most_steps ? equal_lines(base, candidate)
                                                                   : LineTable{base, candidate}.cheapest();
}

}  // namespace memsweep::measure
