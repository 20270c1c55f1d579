#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/transfer/transfer_probe.hpp"
#include "core/transfer/transfer_set.hpp"

namespace memsweep::transfer {
namespace {

using model::TransferSpec;

constexpr std::uint64_t usual_bytes = 256U << 20;
constexpr std::uint64_t shared_bytes = 64U << 20;  // of devices whose memory is the host's

struct Sample {
    std::vector<double> seconds;  // of each transfer, over all turns
    double all_seconds{};
    std::uint64_t turns{};
};

base::Expected<Sample> take_sample(const ProbeContext& context, TransferSet& set, std::size_t transfers)
{
    Sample sample;
    sample.seconds.resize(transfers);
    while (sample.all_seconds < context.settings.sample_seconds) {
        const std::int64_t before = set.statistics().wall_ns;
        if (auto ran = set.run_turn(); !ran) {
            return base::fail(ran.error());
        }
        ++sample.turns;
        sample.all_seconds += static_cast<double>(std::max<std::int64_t>(set.statistics().wall_ns - before, 1)) * 1e-9;
        for (std::size_t i = 0; i < transfers; ++i) {
            sample.seconds[i] += std::chrono::duration<double>(set.last_time(i)).count();
        }
    }
    return sample;
}

std::uint64_t bytes_of(const ProbeContext& context, const device::Runtime& runtime)
{
    const auto shares = [](const device::DeviceFacts& facts) { return facts.shares_host_memory; };
    const std::uint64_t usual = std::ranges::any_of(runtime.devices(), shares) ? shared_bytes : usual_bytes;
    return context.settings.array_bytes.value_or(usual);
}

void add_facts(model::CaseReport& report, const TransferSet& set, std::size_t number, const TransferSpec& spec)
{
    set_fact(report, "bytes_counted", std::string{"payload"});
    set_fact(report, "direction", std::string{direction(spec)});
    set_fact(report, "strategy", std::string{model::name_of(set.route(number).strategy)});
    set_fact(report, "why", set.route(number).why);
    set_fact(report, "src_pages", set.src(number).pages());
    set_fact(report, "dst_pages", set.dst(number).pages());
    set_fact(report, "src_placement", set.src(number).proof().text);
    set_fact(report, "dst_placement", set.dst(number).proof().text);
    if (set.src(number).proof().wrong || set.dst(number).proof().wrong) {
        report.status = model::Status::failed;
        report.reason = "memory is not where it was bound to";
    }
}

}  // namespace

std::vector<model::CaseReport> probe_device_transfers(const ProbeContext& context, device::Runtime& runtime,
                                                      const std::vector<TransferSpec>& specs)
{
    const std::uint64_t bytes = bytes_of(context, runtime);
    context.tell(fmt::format("transfers: {} of {}, at once", specs.size(), base::exact_size(bytes)));
    std::vector<model::CaseReport> cases;
    std::vector<model::TransferJob> jobs;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        cases.push_back(transfer_case(specs[i], bytes, i, specs.size()));
        cases.back().planned_repetitions = context.settings.samples;
        jobs.push_back({specs[i], bytes, 5});
    }
    std::vector<std::vector<double>> rates(specs.size());
    std::vector<double> together;
    const auto measure = [&]() -> base::Expected<void> {
        if (std::ranges::any_of(specs, model::names_rank)) {
            return base::fail(base::ErrorCode::not_supported, "names a rank: one process alone has no other to reach");
        }
        for (const TransferSpec& spec : specs) {
            if (std::string missing = missing_node(context, spec.src) + missing_node(context, spec.dst);
                !missing.empty()) {
                return base::fail(base::ErrorCode::not_supported, std::move(missing));
            }
        }
        if (bytes * 2 * specs.size() > context.settings.memory_budget_bytes) {
            return base::fail(
                base::ErrorCode::budget,
                fmt::format("both ends of all transfers need {}, {} may be used: --size makes them smaller",
                            base::exact_size(bytes * 2 * specs.size()),
                            base::format_size(static_cast<double>(context.settings.memory_budget_bytes))));
        }
        auto set = TransferSet::make(runtime, context.clock, jobs, {});
        auto ready = set ? set->run_turn() : base::Expected<void>{base::fail(set.error())};
        for (std::uint32_t round = 0; ready && round < context.settings.samples && !context.stopped(); ++round) {
            const auto sample = take_sample(context, *set, specs.size());
            if (!sample) {
                return base::fail(sample.error());
            }
            const auto moved = static_cast<double>(bytes * sample->turns);
            for (std::size_t i = 0; i < specs.size(); ++i) {
                rates[i].push_back(moved / std::max(sample->seconds[i], 1e-9));
            }
            together.push_back(moved * static_cast<double>(specs.size()) / sample->all_seconds);
        }
        const auto wrong = ready ? set->check() : base::Expected<std::string>{base::fail(ready.error())};
        if (!wrong) {
            return base::fail(wrong.error());
        }
        for (std::size_t i = 0; i < specs.size(); ++i) {
            add_facts(cases[i], *set, i, specs[i]);
            if (!wrong->empty()) {
                cases[i].status = model::Status::failed;
                cases[i].reason = "wrong data: " + *wrong;
            }
        }
        return {};
    };
    const auto measured = measure();
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (!measured) {
            blame(cases[i], measured.error());
        } else if (rates[i].empty()) {
            skip(cases[i], "interrupted before its first sample");
        } else {
            set_values(cases[i], "bandwidth", rates[i]);
        }
    }
    if (specs.size() > 1) {
        cases.push_back(case_of_all(specs.size(), together));
    }
    return cases;
}

}  // namespace memsweep::transfer
