#include "core/model/metric_id.hpp"
#include "core/probe/probe_case.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/transfer/transfer_set.hpp"

namespace memsweep::probe {
namespace {

using model::TransferSpec;

constexpr std::uint64_t shared_transfer_bytes = 64U << 20;  // of devices whose memory is the host's

struct TurnSample {
    std::vector<double> seconds;  // of each transfer, over all turns
    double all_seconds{};
    std::uint64_t turns{};
};

base::Expected<TurnSample> sample_turns(const ProbeContext& context, transfer::TransferSet& set, std::size_t transfers)
{
    TurnSample sample;
    sample.seconds.resize(transfers);
    while (sample.all_seconds < context.settings.sample_seconds) {
        const std::int64_t before = set.statistics().wall_ns;
        MEMSWEEP_TRY(set.run_turn());
        ++sample.turns;
        sample.all_seconds += static_cast<double>(std::max<std::int64_t>(set.statistics().wall_ns - before, 1)) * 1e-9;
        for (std::size_t i = 0; i < transfers; ++i) {
            sample.seconds[i] += sys::seconds_of(set.last_time(i));
        }
    }
    return sample;
}

std::uint64_t transfer_bytes(const ProbeContext& context, const device::Runtime& runtime)
{
    const auto shares = [](const device::DeviceFacts& facts) { return facts.shares_host_memory; };
    const std::uint64_t usual =
        std::ranges::any_of(runtime.devices(), shares) ? shared_transfer_bytes : usual_transfer_bytes;
    return context.settings.array_bytes.value_or(usual);
}

void add_transfer_facts(model::CaseReport& report, const transfer::TransferSet& set, std::size_t number,
                        const TransferSpec& spec)
{
    set_fact(report, "bytes_counted", std::string{"payload"});
    set_fact(report, "direction", std::string{transfer::direction(spec)});
    set_fact(report, "strategy", std::string{model::name_of(set.route(number).strategy)});
    set_fact(report, "why", set.route(number).why);
    set_ends(report, set.src(number), set.dst(number));
}

// Why one of them cannot be measured, whatever the others are: found out with a page, which costs next to nothing.
base::Expected<void> try_one(const ProbeContext& context, device::Runtime& runtime, const TransferSpec& spec)
{
    constexpr std::uint64_t page_bytes = 4096;
    if (std::string why = unmet(context, spec); !why.empty()) {
        return base::fail(base::ErrorCode::not_supported, std::move(why));
    }
    MEMSWEEP_TRY(transfer::TransferSet::make(runtime, context.clock, {{.spec = spec, .bytes = page_bytes}}, {}));
    return {};
}

struct Together {
    std::vector<std::size_t> numbers;        // of those that are measured, at once
    std::vector<std::vector<double>> rates;  // of each of these
    std::vector<double> all;
};

base::Expected<void> measure_together(const ProbeContext& context, device::Runtime& runtime,
                                      const std::vector<TransferSpec>& specs, std::uint64_t bytes, Together& together,
                                      std::vector<model::CaseReport>& cases)
{
    const std::size_t count = together.numbers.size();
    if (std::string large = over_budget(context, bytes, count); !large.empty()) {
        return base::fail(base::ErrorCode::budget, std::move(large));
    }
    std::vector<model::TransferJob> jobs;
    for (const std::size_t number : together.numbers) {
        jobs.push_back({.spec = specs[number], .bytes = bytes});
    }
    auto set = MEMSWEEP_TRY(transfer::TransferSet::make(runtime, context.clock, jobs, {}));
    MEMSWEEP_TRY(set.run_turn());
    for (std::uint32_t round = 0; round < context.settings.samples && !context.stopped(); ++round) {
        const auto sample = MEMSWEEP_TRY(sample_turns(context, set, count));
        const auto moved = static_cast<double>(bytes * sample.turns);
        for (std::size_t i = 0; i < count; ++i) {
            together.rates[i].push_back(moved / std::max(sample.seconds[i], 1e-9));
        }
        together.all.push_back(moved * static_cast<double>(count) / sample.all_seconds);
    }
    const std::string wrong = MEMSWEEP_TRY(set.check());
    for (std::size_t i = 0; i < count; ++i) {
        model::CaseReport& report = cases[together.numbers[i]];
        add_transfer_facts(report, set, i, specs[together.numbers[i]]);
        if (!wrong.empty()) {
            fail(report, "wrong data: " + wrong);
        }
    }
    return {};
}

}  // namespace

std::vector<model::CaseReport> probe_device_transfers(const ProbeContext& context, device::Runtime& runtime,
                                                      const std::vector<TransferSpec>& specs)
{
    const std::uint64_t bytes = transfer_bytes(context, runtime);
    context.progress(fmt::format("transfers: {} of {}, at once", specs.size(), base::exact_size(bytes)));
    std::vector<model::CaseReport> cases;
    Together together;
    std::string lost;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        cases.push_back(transfer_case(specs[i], bytes, i, specs.size()));
        cases.back().planned_repetitions = context.settings.samples;
        if (!lost.empty()) {
            skip(cases.back(), lost);
        } else if (const auto tried = try_one(context, runtime, specs[i]); !tried) {
            set_error(cases.back(), tried.error());
            lost = why_lost(runtime, cases.back().id);
        } else {
            together.numbers.push_back(i);
        }
    }
    if (!lost.empty()) {
        std::ranges::for_each(std::exchange(together.numbers, {}), [&](std::size_t one) { skip(cases[one], lost); });
    }
    together.rates.resize(together.numbers.size());
    const auto measured = together.numbers.empty() ? base::Expected<void>{}
                                                   : measure_together(context, runtime, specs, bytes, together, cases);
    for (std::size_t i = 0; i < together.numbers.size(); ++i) {
        model::CaseReport& report = cases[together.numbers[i]];
        if (!measured) {
            set_error(report, measured.error());
        } else {
            set_samples(report, model::metrics::bandwidth, together.rates[i]);
        }
    }
    if (specs.size() > 1) {
        cases.push_back(case_of_all(specs.size(), together.all));
        if (!together.all.empty()) {
            set_fact(cases.back(), "measured", fmt::format("{} of {}", together.numbers.size(), specs.size()));
        }
    }
    return cases;
}

}  // namespace memsweep::probe
