#include <algorithm>
#include <bit>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/device/open.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/kernel.hpp"
#include "core/probe/probe_case.hpp"
#include "core/probe/stream.hpp"
#include "core/sys/threads.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::probe {
namespace {

using base::Expected;
using model::TransferEnd;
using model::TransferSpec;

constexpr std::size_t block_elements = (1U << 20) / sizeof(double);  // between two looks at the clock
constexpr std::uint64_t skew_bytes = 1408;                           // the ends never share their low address bits

double* data_of(const transfer::EndMemory& end)
{
    return reinterpret_cast<double*>(end.host());
}

struct HostTransfer {
    TransferSpec spec;
    Kernel kernel{};
    transfer::EndMemory src, dst;
    double* from{};  // nullptr: null
    double* to{};
    std::vector<std::uint32_t> cpus;
    std::size_t first_thread{};
    const Form* form{};
    model::CaseReport report;
    std::vector<double> rates;

    [[nodiscard]] bool runs() const { return report.status == model::Status::ok && report.reason.empty(); }
};

Kernel kernel_of(const TransferSpec& spec)
{
    return spec.src.kind == TransferEnd::Kind::null   ? Kernel::write
           : spec.dst.kind == TransferEnd::Kind::null ? Kernel::read
                                                      : Kernel::copy;
}

// The node whose processors move: the one named, the one beside the source, or beside the destination.
const sys::NumaNode* mover_node(const ProbeContext& context, const TransferSpec& spec)
{
    const auto wanted = spec.exe.number ? spec.exe.number : spec.src.number ? spec.src.number : spec.dst.number;
    if (!wanted) {
        return first_with_cpus(context.nodes);
    }
    const auto found = std::ranges::find_if(
        context.nodes, [&](const sys::NumaNode& node) { return node.id == *wanted && !node.cpus.empty(); });
    return found == context.nodes.end() ? nullptr : &*found;
}

// The processors of a node, divided among the transfers that its processors move.
void assign_processors(const ProbeContext& context, std::vector<HostTransfer>& transfers)
{
    std::map<std::uint32_t, std::vector<HostTransfer*>> by_node;
    for (HostTransfer& one : transfers) {
        const sys::NumaNode* const node = one.runs() ? mover_node(context, one.spec) : nullptr;
        if (node != nullptr) {
            by_node[node->id].push_back(&one);
        } else if (one.runs()) {
            skip(one.report, "no processors beside its memory, or of the node named, that this process may use");
        }
    }
    for (const auto& [id, movers] : by_node) {
        const sys::NumaNode& node = *mover_node(context, movers.front()->spec);
        for (std::size_t i = 0; i < movers.size(); ++i) {
            const std::size_t first = node.cpus.size() * i / movers.size();
            const std::size_t end = node.cpus.size() * (i + 1) / movers.size();
            movers[i]->cpus.assign(node.cpus.begin() + static_cast<std::ptrdiff_t>(first),
                                   node.cpus.begin() + static_cast<std::ptrdiff_t>(end));
            if (movers[i]->cpus.empty()) {
                skip(movers[i]->report, fmt::format("{} transfers need as many processors of node {}, which has {}",
                                                    movers.size(), id, node.cpus.size()));
            }
        }
    }
}

struct Share {
    std::size_t first{};
    std::size_t end{};
};

Share share_of(std::size_t elements, std::size_t number, std::size_t all)
{
    constexpr std::size_t line_elements = 8;
    const std::size_t lines = elements / line_elements;
    return {lines * number / all * line_elements,
            number + 1 == all ? elements : lines * (number + 1) / all * line_elements};
}

std::uint64_t run_block(const HostTransfer& one, const Form& form, std::size_t first, std::size_t end)
{
    return form.run({.a = one.to == nullptr ? nullptr : one.to + first,
                     .b = one.from == nullptr ? nullptr : one.from + first,
                     .c = nullptr,
                     .elements = end - first,
                     .scalar = stream_scalar});
}

// Calls work(transfer, number of the thread within it, its share) on every thread.
template <typename Work>
void each_share(sys::PinnedThreads& pool, std::vector<HostTransfer>& transfers, std::size_t elements, const Work& work)
{
    pool.run([&](std::size_t thread) {
        for (HostTransfer& one : transfers) {
            if (one.runs() && thread >= one.first_thread && thread < one.first_thread + one.cpus.size()) {
                work(one, thread - one.first_thread, share_of(elements, thread - one.first_thread, one.cpus.size()));
            }
        }
    });
}

void fill_ends(sys::PinnedThreads& pool, std::vector<HostTransfer>& transfers, std::size_t elements)
{
    each_share(pool, transfers, elements, [](HostTransfer& one, std::size_t /*number*/, Share share) {
        for (std::size_t i = share.first; i < share.end; ++i) {
            if (one.from != nullptr) {
                one.from[i] = b_at(i);
            }
            if (one.to != nullptr) {
                one.to[i] = poison_at(i);
            }
        }
    });
}

// Checks every element after a whole pass; a transfer with wrong data fails.
void check_ends(sys::PinnedThreads& pool, std::vector<HostTransfer>& transfers, std::size_t elements, bool run_first)
{
    std::vector<std::uint64_t> wrong(transfers.size() * pool.size());
    each_share(pool, transfers, elements, [&](HostTransfer& one, std::size_t number, Share share) {
        const std::uint64_t sum = run_first ? run_block(one, *one.form, share.first, share.end) : 0;
        std::uint64_t expected_sum = 0;
        std::uint64_t found = 0;
        for (std::size_t i = share.first; i < share.end; ++i) {
            if (one.to == nullptr) {
                expected_sum += std::bit_cast<std::uint64_t>(b_at(i));
            } else {
                found += std::bit_cast<std::uint64_t>(one.to[i]) != expected_bits(one.kernel, i, stream_scalar, 1);
            }
        }
        const bool sum_is_wrong = run_first && one.to == nullptr && sum != expected_sum;
        const auto index = static_cast<std::size_t>(&one - transfers.data());
        wrong[index * pool.size() + number] = found + (sum_is_wrong ? 1 : 0);
    });
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        std::uint64_t all = 0;
        for (std::size_t thread = 0; thread < pool.size(); ++thread) {
            all += wrong[i * pool.size() + thread];
        }
        if (all != 0) {
            fail(transfers[i].report,
                 transfers[i].to == nullptr
                     ? std::string{"wrong data: the sum of what was read is not that of what was written"}
                     : fmt::format("wrong data: {} of {} elements did not arrive", all, elements));
        }
    }
}

// Each trial goes on where the one before it ended: what it touches was last touched a whole share ago.
const Form* fastest_transfer_form(sys::PinnedThreads& pool, const HostTransfer& one, std::size_t elements)
{
    constexpr std::size_t trial_elements = (32U << 20) / sizeof(double);
    const std::vector<const Form*> among = candidates(one.kernel);
    std::size_t turn = 0;
    return among[fastest(among.size(), [&](std::size_t candidate) {
        const auto time = pool.run([&](std::size_t thread) {
            if (thread < one.first_thread || thread >= one.first_thread + one.cpus.size()) {
                return;
            }
            const Share share = share_of(elements, thread - one.first_thread, one.cpus.size());
            const std::size_t count = std::min(share.end - share.first, trial_elements);
            const std::size_t starts = (share.end - share.first) / std::max<std::size_t>(count, 1);
            const std::size_t first = share.first + (starts == 0 ? 0 : turn % starts) * count;
            static_cast<void>(run_block(one, *among[candidate], first, first + count));
        });
        ++turn;
        return 1 / std::max(sys::seconds_of(time), 1e-9);
    })];
}

// Runs every mover until the time of a sample has passed for it. Each transfer gets a rate, `together` their sum.
void sample_transfers(const ProbeContext& context, sys::PinnedThreads& pool, std::vector<HostTransfer>& transfers,
                      std::size_t elements, std::vector<double>& together)
{
    struct Moved {
        std::uint64_t elements{};
        double seconds{};
    };
    std::vector<Moved> moved(pool.size());
    const auto length = std::chrono::nanoseconds{static_cast<std::int64_t>(context.settings.sample_seconds * 1e9)};
    each_share(pool, transfers, elements, [&](HostTransfer& one, std::size_t number, Share share) {
        Moved mine;
        const auto begin = context.clock.now();
        auto now = begin;
        for (std::size_t at = share.first; share.first < share.end && now - begin < length;) {
            const std::size_t end = std::min(at + block_elements, share.end);
            static_cast<void>(run_block(one, *one.form, at, end));
            mine.elements += end - at;
            at = end == share.end ? share.first : end;
            now = context.clock.now();
        }
        mine.seconds = sys::seconds_of(now - begin);
        moved[one.first_thread + number] = mine;
    });
    double all = 0;
    for (HostTransfer& one : transfers) {
        if (!one.runs()) {
            continue;
        }
        std::uint64_t count = 0;
        double seconds = 1e-9;
        for (std::size_t thread = one.first_thread; thread < one.first_thread + one.cpus.size(); ++thread) {
            count += moved[thread].elements;
            seconds = std::max(seconds, moved[thread].seconds);
        }
        one.rates.push_back(static_cast<double>(count * sizeof(double)) / seconds);
        all += one.rates.back();
    }
    together.push_back(all);
}

std::vector<HostTransfer> make_transfers(const ProbeContext& context, const std::vector<TransferSpec>& specs,
                                         std::uint64_t bytes)
{
    std::vector<HostTransfer> transfers;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        HostTransfer one{.spec = specs[i], .kernel = kernel_of(specs[i])};
        one.report = transfer_case(specs[i], bytes, i, specs.size());
        one.report.planned_repetitions = context.settings.samples;
        if (std::string why = unmet(context, specs[i]); !why.empty()) {
            skip(one.report, std::move(why));
        } else if (std::string large = over_budget(context, bytes, specs.size()); !large.empty()) {
            skip(one.report, std::move(large));
        }
        transfers.push_back(std::move(one));
    }
    assign_processors(context, transfers);
    const auto no_devices = device::no_runtime("processors alone move");
    for (HostTransfer& one : transfers) {
        if (!one.runs()) {
            continue;
        }
        const auto make = [&](const TransferEnd& end, std::uint64_t skew) {
            return transfer::EndMemory::make(
                *no_devices,
                {.end = end, .bytes = bytes, .skew_bytes = skew, .driver = {}, .binds = context.binds_memory});
        };
        auto src = make(one.spec.src, 0);
        auto dst = src ? make(one.spec.dst, skew_bytes) : Expected<transfer::EndMemory>{base::fail(src.error())};
        if (!dst) {
            set_error(one.report, dst.error());
            continue;
        }
        one.src = *std::move(src);
        one.dst = *std::move(dst);
        one.from = data_of(one.src);
        one.to = data_of(one.dst);
    }
    return transfers;
}

void finish_case(HostTransfer& one)
{
    if (one.rates.empty()) {
        if (one.runs()) {
            skip_interrupted(one.report);
        }
        return;
    }
    set_values(one.report, model::metrics::bandwidth, one.rates);
    set_fact(one.report, "bytes_counted", std::string{"payload"});
    set_fact(one.report, "loop", describe(*one.form));
    set_fact(one.report, "threads", one.cpus.size());
    set_ends(one.report, one.src, one.dst);
}

}  // namespace

std::vector<model::CaseReport> probe_transfers(const ProbeContext& context, const std::vector<TransferSpec>& specs)
{
    const std::uint64_t bytes =
        context.settings.array_bytes.value_or(usual_transfer_bytes) / sizeof(double) * sizeof(double);
    const std::size_t elements = bytes / sizeof(double);
    context.progress(fmt::format("transfers: {} of {}, at once", specs.size(), base::exact_size(bytes)));
    std::vector<HostTransfer> transfers = make_transfers(context, specs, bytes);
    std::vector<std::uint32_t> cpus;
    for (HostTransfer& one : transfers) {
        one.first_thread = cpus.size();
        if (one.runs()) {
            cpus.insert(cpus.end(), one.cpus.begin(), one.cpus.end());
        }
    }
    std::vector<double> together;
    std::vector<model::CaseReport> cases;
    if (!cpus.empty()) {
        auto pool = sys::PinnedThreads::start(context.clock, cpus);
        for (HostTransfer& one : transfers) {
            if (one.runs() && !pool) {
                set_error(one.report, pool.error());
            }
        }
        if (pool) {
            fill_ends(*pool, transfers, elements);
            for (HostTransfer& one : transfers) {
                one.form = one.runs() ? fastest_transfer_form(*pool, one, elements) : nullptr;
            }
            fill_ends(*pool, transfers, elements);
            check_ends(*pool, transfers, elements, true);
            for (std::uint32_t round = 0; round < context.settings.samples && !context.stopped(); ++round) {
                sample_transfers(context, *pool, transfers, elements, together);
            }
            check_ends(*pool, transfers, elements, false);
        }
    }
    for (HostTransfer& one : transfers) {
        finish_case(one);
        cases.push_back(std::move(one.report));
    }
    if (specs.size() > 1) {
        cases.push_back(case_of_all(specs.size(), together));
    }
    return cases;
}

}  // namespace memsweep::probe
