// Finds the positions at which the level of a sequence changes, and how sure each change is. Such a position, between
// two neighbouring values, is called a cut.
//
// Sources  Seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023). Cuts are searched in
//          overlapping intervals of fixed lengths: the whole sequence, halves, quarters and so on. So a rise is found
//          even if the level falls again later. In each interval every possible cut is tried. Mann-Whitney's U test
//          compares the values before the cut with those after it. The test is exact for few values without ties; its p
//          is never below the smallest that so few values can have. The lowest p of all cuts tried, times their number
//          (Bonferroni), is the p of the best cut. At the end, cuts() moves each cut, but not beyond the next cut on
//          either side. The new position minimizes the sum of the distances of all values from the median on their side
//          of the cut. Nothing is random.
// Cost     tries about n log n cuts for n values.
// Errors   none: fewer than 2 * min_segment values have no cut.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace memsweep::measure {

inline constexpr std::size_t min_segment = 4;  // the fewest values on each side of a cut

struct Cut {
    std::size_t at{};  // the index of the first value after the cut
    double p{1};
};

class CutFinder {
  public:
    // Returns the cut with the lowest p, even if it could be chance; nullopt: there are too few values.
    [[nodiscard]] std::optional<Cut> best_cut(std::span<const double> values);

    // Returns every cut whose p is at most `level`, in the order of the sequence. The p of a cut is computed from the
    // values between the cut before it and the cut after it.
    [[nodiscard]] std::vector<Cut> cuts(std::span<const double> values, double level);

  private:
    using Range = std::pair<std::size_t, std::size_t>;  // values: first, end

    std::optional<Cut> best_in(std::span<const double> values, std::span<const Range> intervals);
    double p_of(double u, std::size_t n, std::size_t m, double tie_term);
    void split(std::span<const double> values, Range range, double level, std::vector<std::size_t>& found);

    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> u_distributions_;
};

}  // namespace memsweep::measure
