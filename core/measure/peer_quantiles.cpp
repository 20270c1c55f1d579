#include "core/measure/peer_quantiles.hpp"

#include <array>
#include <cmath>

#include "core/base/assert.hpp"

namespace memsweep::measure {
namespace {

constexpr std::array<double, 5> tails{1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

struct Row {
    double inverse_n;
    std::array<double, tails.size()> z;
};

// Simulated as the header says, each n where odd ones still differ from even ones; the last is the normal
// distribution's.
constexpr std::array<Row, 17> rows{{{1.0 / 8, {1.714, 4.036, 7.910, 14.981, 27.565}},
                                    {1.0 / 9, {1.779, 4.170, 8.206, 15.300, 26.784}},
                                    {1.0 / 10, {1.730, 3.726, 6.643, 11.034, 18.287}},
                                    {1.0 / 11, {1.763, 3.793, 6.748, 11.336, 18.763}},
                                    {1.0 / 12, {1.722, 3.513, 5.911, 9.314, 14.004}},
                                    {1.0 / 13, {1.741, 3.545, 5.923, 9.306, 14.402}},
                                    {1.0 / 14, {1.713, 3.350, 5.417, 8.284, 12.468}},
                                    {1.0 / 15, {1.725, 3.376, 5.443, 8.276, 11.997}},
                                    {1.0 / 16, {1.706, 3.239, 5.059, 7.339, 10.623}},
                                    {1.0 / 17, {1.716, 3.260, 5.083, 7.370, 10.392}},
                                    {1.0 / 24, {1.688, 3.003, 4.382, 5.930, 7.692}},
                                    {1.0 / 32, {1.676, 2.884, 4.052, 5.262, 6.620}},
                                    {1.0 / 48, {1.667, 2.779, 3.788, 4.767, 5.800}},
                                    {1.0 / 64, {1.661, 2.724, 3.655, 4.546, 5.409}},
                                    {1.0 / 128, {1.654, 2.651, 3.466, 4.183, 4.882}},
                                    {1.0 / 256, {1.649, 2.617, 3.380, 4.035, 4.633}},
                                    {0.0, {1.645, 2.576, 3.291, 3.891, 4.417}}}};

std::array<double, tails.size()> quantiles(std::size_t n)
{
    const double inverse = 1 / static_cast<double>(n);
    std::size_t at = 0;
    while (rows.at(at).inverse_n > inverse) {
        ++at;
    }
    const Row& below = rows.at(at);
    if (at == 0) {
        return below.z;
    }
    const Row& above = rows.at(at - 1);
    const double share = (above.inverse_n - inverse) / (above.inverse_n - below.inverse_n);
    std::array<double, tails.size()> z{};
    for (std::size_t i = 0; i < z.size(); ++i) {
        z.at(i) = above.z.at(i) + share * (below.z.at(i) - above.z.at(i));
    }
    return z;
}

}  // namespace

double mad_factor(std::size_t n)
{
    constexpr double of_normal = 1.4826;
    constexpr std::array<double, 8> small{1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};  // n = 2 to 9
    MEMSWEEP_ASSERT(n >= 2, "one value has no spread");
    const auto count = static_cast<double>(n);
    return of_normal * (n - 2 < small.size() ? small.at(n - 2) : count / (count - 0.8));
}

double peer_p(double z, std::size_t n)
{
    MEMSWEEP_ASSERT(n >= least_peers, "too few values for a tail");
    const std::array<double, tails.size()> at = quantiles(n);
    if (z <= at.front()) {
        return tails.front() + (1 - tails.front()) * (1 - z / at.front());
    }
    std::size_t i = 1;
    while (i + 1 < at.size() && z > at.at(i)) {
        ++i;
    }
    const double slope = std::log(tails.at(i) / tails.at(i - 1)) / std::log(at.at(i) / at.at(i - 1));
    return tails.at(i) * std::pow(z / at.at(i), slope);
}

}  // namespace memsweep::measure
