#include "app/mpi/link_plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

model::Plan plan_of(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes, std::uint32_t samples)
{
    model::Plan plan;
    plan.name = "mpi_transfer";
    plan.settings.repetitions = samples;
    plan.requirements.ranks.or_more = true;
    model::TransferStep step;
    step.options.times = 0;
    for (const model::TransferSpec& spec : transfers) {
        step.jobs.push_back({.spec = spec, .bytes = bytes});
        const std::uint32_t highest = std::max(spec.src.rank.value_or(0), spec.dst.rank.value_or(0));
        plan.requirements.ranks.count = std::max(plan.requirements.ranks.count, highest + 1);
        plan.fingerprint += model::to_text(spec) + "\n";
    }
    plan.cases.push_back(
        {.id = plan.name, .scenario = plan.name, .work = model::Steps{{.operation = std::move(step)}}});
    return plan;
}

void add_tests(const model::Plan& plan, int ranks, std::vector<LinkTest>& tests)
{
    const model::RankNeed& need = plan.requirements.ranks;
    const std::string unmet = model::is_met(need, static_cast<std::uint32_t>(ranks))
                                  ? std::string{}
                                  : fmt::format("needs {}; this run has {}", model::to_text(need), ranks);
    for (const model::Case& plan_case : plan.cases) {
        std::vector<model::TransferStep> steps;
        std::size_t jobs = 0;
        for (const model::Step& step : plan_case.steps()) {
            steps.push_back(std::get<model::TransferStep>(step.operation));
            jobs += steps.back().jobs.size();
        }
        for (std::size_t number = 0; number < steps.size(); ++number) {
            const model::TransferStep& step = steps[number];
            LinkTest test{.pattern = Pattern::uni,
                          .scenario = plan.name,
                          .params = plan_case.params,
                          .samples = plan.settings.repetitions,
                          .messages = step.options.times,
                          .timeout = plan.settings.timeout,
                          .unmet = unmet};
            for (std::size_t i = 0; i < step.jobs.size(); ++i) {
                const model::TransferJob& job = step.jobs[i];
                test.flows.push_back({.from = static_cast<int>(job.spec.src.rank.value_or(0)),
                                      .to = static_cast<int>(job.spec.dst.rank.value_or(0)),
                                      .src = job.spec.src,
                                      .dst = job.spec.dst,
                                      .bytes = job.bytes,
                                      .part = jobs == 1 ? "" : fmt::format("{}.{}", number + 1, i + 1)});
            }
            tests.push_back(std::move(test));
        }
    }
}

}  // namespace memsweep::mpi
