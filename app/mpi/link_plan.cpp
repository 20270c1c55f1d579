#include "app/mpi/link_plan.hpp"

namespace memsweep::mpi {
namespace {

void add_pairs(Pattern pattern, int ranks, std::vector<LinkTest>& plan)
{
    for (int from = 0; from < ranks; ++from) {
        for (int to = 0; to < ranks; ++to) {
            if (pattern == Pattern::bidirectional && from < to) {
                plan.push_back({pattern, {{from, to}, {to, from}}});
            } else if (pattern != Pattern::bidirectional && from != to) {
                plan.push_back({pattern, {{from, to}}});
            }
        }
    }
}

void add_stars(Pattern pattern, int ranks, std::vector<LinkTest>& plan)
{
    for (int center = 0; center < ranks; ++center) {
        LinkTest test{pattern, {}};
        for (int other = 0; other < ranks; ++other) {
            if (other != center) {
                test.flows.push_back(pattern == Pattern::all_to_one ? Flow{other, center} : Flow{center, other});
            }
        }
        plan.push_back(std::move(test));
    }
}

}  // namespace

std::vector<LinkTest> link_plan(const std::vector<Pattern>& wanted, int ranks)
{
    std::vector<LinkTest> plan;
    for (const Pattern pattern : wanted) {
        if (ranks < 2) {
            break;
        }
        switch (pattern) {
        case Pattern::latency:
        case Pattern::uni:
        case Pattern::bidirectional:
            add_pairs(pattern, ranks, plan);
            break;
        case Pattern::all_to_one:
        case Pattern::one_to_all:
            add_stars(pattern, ranks, plan);
            break;
        case Pattern::ring:
            plan.push_back({pattern, {}});
            for (int rank = 0; rank < ranks; ++rank) {
                plan.back().flows.push_back({rank, (rank + 1) % ranks});
            }
            break;
        }
    }
    return plan;
}

}  // namespace memsweep::mpi
