// ln(n!) of all n up to a bound, for binomial and hypergeometric probabilities of counts.
//
// Not std::lgamma, which writes to a global of glibc's and so is not for several threads.
// Cost     one logarithm per entry, once.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace memsweep::measure {

class LogFactorials {
  public:
    explicit LogFactorials(std::size_t largest) : of_(largest + 1)
    {
        for (std::size_t n = 2; n <= largest; ++n) {
            of_[n] = of_[n - 1] + std::log(static_cast<double>(n));
        }
    }
    // The logarithm of n over k; k <= n <= the bound.
    [[nodiscard]] double choose(std::size_t n, std::size_t k) const { return of_[n] - of_[k] - of_[n - k]; }

  private:
    std::vector<double> of_;
};

}  // namespace memsweep::measure
