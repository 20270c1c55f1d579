"""What rounds of two measurements taken one after the other say about their ratio."""

import math

FEWEST_ROUNDS = 6  # whose range encloses the median with 95 %


def interval_of_median(values):
    """Order statistics that enclose the median with at least 95 %; the whole range where there are too few."""
    ordered, n = sorted(values), len(values)
    outside, rank = 0.0, 0
    while True:
        outside += math.comb(n, rank) / 2**n
        if 2 * outside > 0.05:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def verdict(rounds, low, high, limit):
    """Of a ratio with this interval: "within" 1 +- limit, "outside" of it, or "unclear"."""
    if rounds < FEWEST_ROUNDS:
        return "unclear"
    if 1 - limit <= low and high <= 1 + limit:
        return "within"
    return "outside" if low > 1 + limit or high < 1 - limit else "unclear"


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))
