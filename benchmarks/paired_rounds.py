"""What rounds of two measurements taken one after the other say about their ratio."""

import math


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


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))
