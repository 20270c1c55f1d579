#!/usr/bin/python3
"""Writes reference_vectors.inc: what scipy and numpy say about fixed samples.

Run once by hand (`apt-get install python3-scipy`, then `/usr/bin/python3 make_vectors.py`); the tests read only the
stored file, so they need no Python. Where scipy has no function, the definition is written out with numpy and scipy's
distributions, not with memsweep's algorithms.
"""
import pathlib
import zlib

import numpy as np
import scipy
from scipy import stats
from scipy.stats._mannwhitneyu import _mwu_state


def rng(*name):
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


def braces(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def optional(values):
    return "std::nullopt" if values is None else "Interval{{" + ", ".join(repr(float(v)) for v in values) + "}}"


def distinct(generator, count):
    """`count` different lognormal values, short enough to read."""
    while True:
        values = np.round(np.exp(generator.normal(0, 0.5, count)), 4)
        if len(set(values)) == count:
            return values


def rank_samples():
    for n, m in [(1, 1), (1, 2), (3, 4), (5, 5), (6, 9), (10, 10), (12, 7), (1, 30), (20, 20), (30, 25), (50, 50), (60, 45)]:
        both = distinct(rng("rank", n, m), n + m)
        yield both[:n], np.round(both[n:] + (n % 3) * 0.2, 4)
    yield np.arange(1.0, 6), np.arange(6.0, 11)   # no overlap: the smallest p of 5 against 5
    yield np.arange(6.0, 11), np.arange(1.0, 6)
    for n, m in [(2, 2), (5, 5), (10, 10), (20, 15), (60, 45)]:
        g = rng("ties", n, m)
        yield g.integers(0, 6, n).astype(float), g.integers(1, 7, m).astype(float)
    yield np.full(6, 3.0), np.full(8, 3.0)


def rank_rows():
    for x, y in rank_samples():
        ties = len(set(np.concatenate([x, y]))) < len(x) + len(y)
        exact = not ties and len(x) * len(y) <= 2500
        result = stats.mannwhitneyu(x, y, alternative="two-sided", method="exact" if exact else "asymptotic",
                                    use_continuity=True)
        yield f"{{{braces(x)}, {braces(y)}, {float(result.statistic)!r}, {float(result.pvalue)!r}, {str(exact).lower()}}}"


def median_interval(x):
    """Narrowest x(k)..x(n+1-k) that covers the median with 95 %, by scipy's binomial distribution."""
    n = len(x)
    ranks = [k for k in range(1, n // 2 + 1) if 1 - 2 * stats.binom.cdf(k - 1, n, 0.5) >= 0.95]
    return None if not ranks else (np.sort(x)[max(ranks) - 1], np.sort(x)[n - max(ranks)])


def summary_rows():
    for n in [1, 2, 5, 6, 7, 9, 12, 19, 20, 30, 37, 101]:
        x = distinct(rng("summary", n), n)
        if n in (12, 30):
            x[n // 2] = 9.5   # an outlier
        mad = stats.median_abs_deviation(x)
        outliers = int(np.sum(np.abs(x - np.median(x)) > 5 * 1.4826 * mad))
        stddev = float(np.std(x, ddof=1)) if n > 1 else 0.0
        fields = [np.mean(x), np.median(x), mad, stddev, np.percentile(x, 5), np.percentile(x, 95), np.percentile(x, 33.3)]
        yield f"{{{braces(x)}, {', '.join(repr(float(f)) for f in fields)}, {optional(median_interval(x))}, {outliers}}}"


def shift_interval(pairs, n, m):
    """Order statistics of the pairs at the largest k with P(U < k) <= 2.5 %, U's distribution from scipy."""
    if n * m <= 2500:
        ranks = [k for k in range(1, n * m // 2 + 1) if _mwu_state.cdf(k - 1, n, m) <= 0.025]
    else:
        mean, deviation = n * m / 2, np.sqrt(n * m * (n + m + 1) / 12)
        ranks = [k for k in range(1, n * m // 2 + 1) if stats.norm.cdf((k - 0.5 - mean) / deviation) <= 0.025]
    return None if not ranks else (pairs[max(ranks) - 1], pairs[n * m - max(ranks)])


def shift_rows():
    sizes = [(1, 1), (3, 3), (4, 4), (5, 5), (5, 8), (10, 10), (20, 14), (30, 30), (60, 45)]
    for n, m in sizes:
        g = rng("shift", n, m)
        x, y = distinct(g, n), np.round(distinct(g, m) * 1.3, 4)
        pairs = np.sort(np.subtract.outer(np.log(y), np.log(x)).ravel())
        interval = shift_interval(pairs, n, m)
        yield (f"{{{braces(x)}, {braces(y)}, true, {float(np.exp(np.median(pairs)))!r}, "
               f"{optional(None if interval is None else np.exp(interval))}}}")
    for n, m in [(5, 5), (9, 12)]:
        g = rng("difference", n, m)
        x, y = g.integers(0, 9, n).astype(float), g.integers(2, 12, m).astype(float)
        x[0] = 0.0
        pairs = np.sort(np.subtract.outer(y, x).ravel())
        yield f"{{{braces(x)}, {braces(y)}, false, {float(np.median(pairs))!r}, {optional(shift_interval(pairs, n, m))}}}"


def adjusted(p):
    """Benjamini and Hochberg's definition, word for word: the least p(j) m / j over all j at or above its rank."""
    order = np.sort(p)
    m = len(p)
    return [min([order[j - 1] * m / j for j in range(1, m + 1) if order[j - 1] >= value] + [1.0]) for value in p]


def adjustment_rows():
    for p in [[0.03], [0.01, 0.02, 0.03], [0.9, 0.001, 0.04, 0.04, 0.6], list(np.round(rng("bh").uniform(0, 0.3, 25), 4)),
              [1.0, 1.0], [0.008, 0.5, 0.009, 1.0, 0.05, 0.0002]]:
        yield f"{{{braces(p)}, {braces(adjusted(p))}}}"


def spearman_rows():
    for n in [2, 5, 8, 20]:
        g = rng("spearman", n)
        for x in (distinct(g, n), g.integers(0, 5, n).astype(float) + np.arange(n) // 3):
            if len(set(x)) > 1:
                yield f"{{{braces(x)}, {float(stats.spearmanr(np.arange(n), x).statistic)!r}}}"


TABLES = [("RankVector", "rank_vectors", rank_rows), ("SummaryVector", "summary_vectors", summary_rows),
          ("ShiftVector", "shift_vectors", shift_rows), ("AdjustmentVector", "adjustment_vectors", adjustment_rows),
          ("SpearmanVector", "spearman_vectors", spearman_rows)]


def main():
    text = f"// Written by make_vectors.py with scipy {scipy.__version__} and numpy {np.__version__}; do not edit.\n// clang-format off\n"
    for kind, name, rows in TABLES:
        text += f"\ninline const std::vector<{kind}> {name}{{\n" + "".join(f"    {row},\n" for row in rows()) + "};\n"
    pathlib.Path(__file__).with_name("reference_vectors.inc").write_text(text)


main()
