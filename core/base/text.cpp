#include "core/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace memsweep::base {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);  // the row before the last
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(row);
    }
    return last.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known)
{
    constexpr std::size_t max_word_letters = 64;  // a longer one is no typing mistake, and the table is quadratic
    if (word.size() > max_word_letters) {
        return {};
    }
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known)
{
    constexpr std::size_t readable = 40;
    constexpr std::size_t affordable = 200;  // comparing words is quadratic in their length
    if (const std::string_view best = nearest(word, known.first(std::min(known.size(), affordable))); !best.empty()) {
        return fmt::format("; did you mean \"{}\"?", best);
    }
    return known.empty() || known.size() > readable ? std::string{}
                                                    : fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace memsweep::base
