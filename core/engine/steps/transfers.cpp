#include "core/engine/steps/transfers.hpp"

#include <algorithm>
#include <string>

namespace memsweep::engine {

Transfers::Transfers(const RunRegion& region, Environment environment)
    : region_{region}, environment_{environment}, record_{region.header->record.transfers}
{
}

bool Transfers::prepare()
{
    std::string routes;
    prepared_.reserve(region_.transfers.size());
    for (const TransferPlan& plan : region_.transfers) {
        if (const auto ready = prepare(plan); !ready) {
            prepared_.clear();
            return fail(ready.error());
        }
        routes += (routes.empty() ? "" : "; ") +
                  std::visit([](const auto& prepared) { return prepared.routes(); }, prepared_.back());
    }
    write_text(routes, record_.routes);
    return true;
}

bool Transfers::run(const Transfer& transfer)
{
    Prepared& prepared = prepared_[transfer.plan];
    for (std::uint64_t turn = 0; turn < transfer.turns; ++turn) {
        const auto done = std::visit([](auto& set) { return set.run_turn(); }, prepared);
        if (!done) {
            return fail(done.error());
        }
    }
    record_.ran[transfer.plan] = true;
    return true;
}

void Transfers::finish()
{
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
        Prepared& prepared = prepared_[i];
        if (record_.ran.at(i)) {
            const auto wrong = std::visit([](auto& set) { return set.check(); }, prepared);
            if (!wrong) {
                static_cast<void>(fail(wrong.error()));
            } else if (!wrong->empty() && record_.trouble.front() == '\0') {
                write_text(*wrong, record_.trouble);
            }
        }
        record_.statistics += std::visit([](const auto& set) { return set.statistics(); }, prepared);
    }
    prepared_.clear();
}

base::Expected<void> Transfers::prepare(const TransferPlan& plan)
{
    const std::vector<model::TransferJob> jobs(plan.jobs.begin(),
                                               plan.jobs.begin() + static_cast<std::ptrdiff_t>(plan.count));
    const bool on_host =
        std::ranges::all_of(jobs, [](const model::TransferJob& job) { return model::is_on_host(job.spec); });
    if ((on_host || environment_.devices == nullptr) && !none_) {
        none_ = device::no_runtime("no devices were looked for");
    }
    device::Runtime& runtime = on_host || environment_.devices == nullptr ? *none_ : environment_.devices->runtime();
    if (plan.options.chain != 0) {
        prepared_.emplace_back(
            MEMSWEEP_TRY(transfer::KernelChain::make(runtime, environment_.clock, jobs.front(), plan.options)));
    } else {
        prepared_.emplace_back(
            MEMSWEEP_TRY(transfer::TransferSet::make(runtime, environment_.clock, jobs, plan.options)));
    }
    return {};
}

bool Transfers::fail(const base::Error& error)
{
    record_.unmet = error.code == base::ErrorCode::not_supported || error.code == base::ErrorCode::budget;
    record_.failed = !record_.unmet;
    write_text(base::describe(error), record_.trouble);
    return false;
}

}  // namespace memsweep::engine
