#include "core/transfer/transfer_set.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/barrier.hpp"
#include "core/base/quantity.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/processors.hpp"
#include "core/transfer/async_copy.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;
using model::Strategy;
using model::TransferEnd;
using std::chrono::nanoseconds;

constexpr std::uint64_t poison_seed = 0x0BAD;
constexpr std::uint64_t work_slice_bytes = 256U << 10U;
constexpr std::uint64_t work_set_bytes = 8U << 20U;

// Doubled by each attempt, to a second; one that is longer stays as it is.
nanoseconds retry_delay(nanoseconds first, std::uint32_t attempts)
{
    constexpr nanoseconds longest = std::chrono::seconds{1};
    nanoseconds delay = first;
    for (std::uint32_t i = 0; i < attempts && delay.count() != 0 && delay < longest; ++i) {
        delay = std::min(2 * delay, longest);
    }
    return delay;
}

bool is_pinned(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::host && traits_of(end.host).is_locked;
}

// The device whose stream copies an end that a processor does not reach.
std::uint32_t device_beside(const TransferEnd& end, const model::TransferSpec& spec)
{
    return end.kind == TransferEnd::Kind::device ? end.number.value_or(0) : driver_of(spec).value_or(0);
}

std::string memlock_limit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return "RLIMIT_MEMLOCK has no limit";
    }
    return fmt::format("RLIMIT_MEMLOCK is {}", base::format_size(static_cast<double>(limit.rlim_cur)));
}

// The processors of the node that a device is attached to, as far as this process may use them. Empty: the thread runs
// wherever it is put.
std::vector<std::uint32_t> processors_beside(const device::DeviceFacts& facts)
{
    const auto own = facts.numa_node ? sys::processors_of_node(*facts.numa_node) : std::nullopt;
    std::vector<std::uint32_t> cpus = own ? sys::allowed_cpus() : std::vector<std::uint32_t>{};
    std::erase_if(cpus, [&](std::uint32_t cpu) { return std::ranges::find(*own, cpu) == own->end(); });
    return cpus;
}

}  // namespace

TransferSet::TransferSet(device::Runtime& runtime, const sys::Clock& clock, const model::TransferOptions& options)
    : runtime_{&runtime}, clock_{&clock}, options_{options}, statistics_{std::make_unique<TransferStatistics>()}
{
}

TransferSet::~TransferSet()
{
    drop_memory();
}

Expected<TransferSet> TransferSet::make(device::Runtime& runtime, const sys::Clock& clock,
                                        std::vector<model::TransferJob> jobs, const model::TransferOptions& options)
{
    TransferSet set{runtime, clock, options};
    MEMSWEEP_TRY(set.choose(std::move(jobs)));
    MEMSWEEP_TRY(set.check_budget());
    MEMSWEEP_TRY(set.make_memory());
    if (options.fresh) {  // once, so that what this machine lacks is known before the first turn
        set.drop_memory();
        *set.statistics_ = {};
    } else {
        MEMSWEEP_TRY(set.write_ends());
    }
    if (options.work_bytes != 0) {
        set.work_.resize(std::min(options.work_bytes, work_set_bytes) / sizeof(std::uint64_t) + 1, 1);
    }
    return set;
}

Expected<void> TransferSet::choose(std::vector<model::TransferJob> jobs)
{
    std::ranges::stable_sort(jobs, std::ranges::greater{}, &model::TransferJob::priority);
    std::string missing;
    for (const model::TransferJob& job : jobs) {
        if (job.optional) {
            if (std::string why = missing_device(*runtime_, job.spec); !why.empty()) {
                missing = missing.empty() ? std::move(why) : missing;
                ++left_out_;
                continue;
            }
        }
        auto route = MEMSWEEP_TRY(choose_route(*runtime_, job, options_));
        PreparedTransfer& one = transfers_.emplace_back();
        one.job = job;
        one.route = std::move(route);
        one.options = options_;
        one.options.chunk_bytes = chunk_bytes_of(job, options_, one.route.strategy);
        MEMSWEEP_TRY(choose_processors(one));
    }
    choose_rings();
    return transfers_.empty() ? base::fail(base::ErrorCode::not_supported, std::move(missing)) : Expected<void>{};
}

Expected<void> TransferSet::choose_processors(PreparedTransfer& one) const
{
    const model::TransferSpec& spec = one.job.spec;
    if (const auto device = driver_of(spec)) {
        one.cpus = processors_beside(runtime_->devices()[*device]);
        return {};
    }
    const auto node = spec.exe.number ? spec.exe.number : spec.src.number ? spec.src.number : spec.dst.number;
    if (spec.exe.kind != model::Mover::Kind::processors || !node) {
        return {};
    }
    std::vector<std::uint32_t> cpus = sys::allowed_cpus();
    if (const auto own = sys::processors_of_node(*node); own || *node != 0) {  // without NUMA node 0 has them all
        std::erase_if(cpus, [&](std::uint32_t cpu) { return !own || std::ranges::find(*own, cpu) == own->end(); });
    }
    if (cpus.empty()) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("no processors on node {} that this process may use", *node));
    }
    one.cpus = std::move(cpus);
    return {};
}

void TransferSet::choose_rings()
{
    const std::size_t at_once =
        options_.concurrency == 0 ? transfers_.size() : std::min<std::size_t>(options_.concurrency, transfers_.size());
    const std::size_t usable = sys::allowed_cpus().size();
    for (PreparedTransfer& one : transfers_) {
        if (one.route.strategy == Strategy::staged) {
            one.rings = rings_of(one.job, one.options,
                                 {.processors = one.cpus.empty() ? usable : one.cpus.size(),
                                  .transfers_at_once = at_once,
                                  .slots_bytes = pinned_budget() / transfers_.size()});
        }
    }
}

std::uint64_t TransferSet::pinned_bytes() const
{
    std::uint64_t pinned = 0;
    for (const PreparedTransfer& one : transfers_) {
        pinned += (is_pinned(one.job.spec.src) ? one.job.bytes : 0) +
                  (is_pinned(one.job.spec.dst) ? one.job.bytes : 0) +
                  slot_bytes(one.job, one.options, one.route.strategy, one.rings);
    }
    return pinned;
}

std::uint64_t TransferSet::pinned_budget() const
{
    return options_.pinned_budget_bytes != 0 ? options_.pinned_budget_bytes : sys::available_memory() / 4;
}

Expected<void> TransferSet::check_budget() const
{
    const std::uint64_t pinned = pinned_bytes();
    const std::uint64_t budget = pinned_budget();
    if (pinned > budget) {
        return base::fail(
            base::ErrorCode::budget,
            fmt::format("the transfers need {} of pinned memory; {} may be pinned ({}; {})", base::exact_size(pinned),
                        base::exact_size(budget),
                        options_.pinned_budget_bytes != 0 ? "pinned_budget" : "a quarter of the available memory",
                        memlock_limit()));
    }
    return {};
}

Expected<void> TransferSet::make_memory()
{
    const auto began = clock_->now();
    std::uint64_t pinned = 0;
    sys::Affinity affinity;
    for (PreparedTransfer& one : transfers_) {
        MEMSWEEP_TRY(affinity.limit_to(driver_of(one.job.spec) ? one.cpus : std::vector<std::uint32_t>{}));
        const auto make_end = [&](const TransferEnd& end) {
            return EndMemory::make(*runtime_, {.end = end,
                                               .bytes = one.job.bytes,
                                               .skew_bytes = options_.offset_bytes,
                                               .driver = driver_of(one.job.spec)});
        };
        one.src = std::make_unique<EndMemory>(MEMSWEEP_TRY(make_end(one.job.spec.src)));
        one.dst = std::make_unique<EndMemory>(MEMSWEEP_TRY(make_end(one.job.spec.dst)));
        const bool by_processor = one.route.strategy == Strategy::staged || one.route.strategy == Strategy::host;
        const auto is_out_of_reach = [&](const TransferEnd& end, const EndMemory& memory) {
            return (by_processor || options_.batch) && end.kind == TransferEnd::Kind::host && memory.host() == nullptr;
        };
        if (is_out_of_reach(one.job.spec.src, *one.src) || is_out_of_reach(one.job.spec.dst, *one.dst)) {
            return base::fail(base::ErrorCode::not_supported,
                              fmt::format("{}: a processor reaches such memory only while it is mapped, and cannot "
                                          "stage it",
                                          model::to_text(one.job.spec)));
        }
        one.copy = MEMSWEEP_TRY(make_copy(*runtime_, *clock_,
                                          {.job = one.job,
                                           .options = one.options,
                                           .route = one.route,
                                           .src = one.src.get(),
                                           .dst = one.dst.get(),
                                           .rings = one.rings},
                                          *statistics_));
        pinned += one.src->pinned_bytes() + one.dst->pinned_bytes() +
                  slot_bytes(one.job, one.options, one.route.strategy, one.rings);
    }
    statistics_->memory_ns += (clock_->now() - began).count();
    statistics_->pinned_bytes_peak = std::max(statistics_->pinned_bytes_peak, pinned);
    return {};
}

void TransferSet::drop_memory()
{
    for (PreparedTransfer& one : transfers_) {
        if (one.copy) {
            one.copy->settle();
        }
        one.copy.reset();
        one.src.reset();
        one.dst.reset();
    }
}

Expected<void> TransferSet::write_ends()
{
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
        const PreparedTransfer& one = transfers_[i];
        if (!one.src->is_null()) {
            MEMSWEEP_TRY(write_end(*runtime_, device_beside(one.job.spec.src, one.job.spec), *one.src, i + 1));
        }
        if (!one.dst->is_null()) {
            MEMSWEEP_TRY(
                write_end(*runtime_, device_beside(one.job.spec.dst, one.job.spec), *one.dst, poison_seed + i));
        }
    }
    return {};
}

Expected<void> TransferSet::run_turn()
{
    if (options_.fresh) {
        drop_memory();
        MEMSWEEP_TRY(make_memory());
        MEMSWEEP_TRY(write_ends());
    }
    work_left_bytes_ = options_.work_bytes;
    affinity_ = std::make_unique<sys::Affinity>();
    MEMSWEEP_TRY(affinity_->limit_to(transfers_.front().cpus));
    const auto began = clock_->now();
    auto copied = run_all();
    statistics_->wall_ns += (clock_->now() - began).count();
    affinity_.reset();
    work(work_left_bytes_);
    return copied;
}

Expected<void> TransferSet::run_all()
{
    const std::size_t most = options_.concurrency == 0 ? transfers_.size() : options_.concurrency;
    std::vector<PreparedTransfer*> active;
    active.reserve(transfers_.size());
    std::size_t next = 0;
    while (next < transfers_.size() || !active.empty()) {
        while (next < transfers_.size() && active.size() < most) {
            PreparedTransfer& one = transfers_[next++];
            one.attempts = 0;
            one.began = clock_->now();
            one.copy->begin();
            active.push_back(&one);
        }
        statistics_->most_at_once = std::max(statistics_->most_at_once, static_cast<std::uint32_t>(active.size()));
        bool any_moved = false;
        for (auto at = active.begin(); at != active.end();) {
            const auto progress = advance(**at);
            if (!progress) {
                std::ranges::for_each(active, [](PreparedTransfer* one) { one->copy->settle(); });
                return base::fail(progress.error());
            }
            any_moved = any_moved || *progress != AsyncCopy::Progress::waiting;
            at = *progress == AsyncCopy::Progress::done ? active.erase(at) : at + 1;
        }
        if (!any_moved && !active.empty()) {
            if (auto waited = wait_or_work(*active.front()); !waited) {
                std::ranges::for_each(active, [](PreparedTransfer* one) { one->copy->settle(); });
                return waited;
            }
        }
    }
    return {};
}

Expected<AsyncCopy::Progress> TransferSet::advance(PreparedTransfer& one)
{
    MEMSWEEP_TRY(affinity_->limit_to(one.cpus));
    auto progress = one.copy->advance();
    if (!progress) {
        return try_again(one, progress.error());
    }
    if (*progress == AsyncCopy::Progress::done) {
        one.took = clock_->now() - one.began;
        statistics_->count_transfer(direction_of(one.job.spec), one.job.bytes, one.took.count());
    }
    return progress;
}

// Where nothing can go on: what the program has to do itself, else nothing.
Expected<void> TransferSet::wait_or_work(PreparedTransfer& one)
{
    if (work_left_bytes_ != 0 && !options_.blocking) {
        work(std::min(work_left_bytes_, work_slice_bytes));
        return {};
    }
    const auto began = clock_->now();
    const auto waited = one.copy->wait();
    statistics_->wait_ns += (clock_->now() - began).count();
    if (!waited) {
        return try_again(one, waited.error()).map([](AsyncCopy::Progress) {});
    }
    return {};
}

void TransferSet::work(std::uint64_t most_bytes)
{
    std::uint64_t left = std::min(most_bytes, work_left_bytes_);
    work_left_bytes_ -= left;
    while (left != 0) {
        const std::uint64_t words = std::min<std::uint64_t>(work_.size(), left / sizeof(std::uint64_t) + 1);
        work_sum_ = std::accumulate(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(words), work_sum_);
        base::keep_stores(&work_sum_);
        left -= std::min(left, words * sizeof(std::uint64_t));
    }
}

Expected<AsyncCopy::Progress> TransferSet::try_again(PreparedTransfer& one, const base::Error& error)
{
    one.copy->settle();
    const std::optional<std::string> lost = runtime_->lost();  // then every call fails, however often it is made
    const bool is_worth_it = !lost && (error.code == base::ErrorCode::device || error.code == base::ErrorCode::io ||
                                       error.code == base::ErrorCode::timeout);
    if (!is_worth_it || one.attempts == options_.retries) {
        ++statistics_->failed;
        return base::fail(error.code, fmt::format("{} failed {} and was given up: {}", model::to_text(one.job.spec),
                                                  one.attempts == 0 ? std::string{"at once"}
                                                                    : fmt::format("{} times", one.attempts + 1),
                                                  error.message));
    }
    clock_->sleep_for(retry_delay(options_.retry_delay, one.attempts));
    ++one.attempts;
    ++statistics_->retries;
    one.copy->begin();
    return AsyncCopy::Progress::moved;
}

Expected<std::string> TransferSet::check()
{
    std::string first;
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
        const PreparedTransfer& one = transfers_[i];
        if (one.dst == nullptr || one.dst->is_null()) {
            continue;
        }
        const std::uint32_t number = device_beside(one.job.spec.dst, one.job.spec);
        const auto found =
            MEMSWEEP_TRY(one.src->is_null() ? check_filled(*runtime_, number, *one.dst, written_from_null)
                                            : check_end(*runtime_, number, *one.dst, i + 1));
        statistics_->checked_bytes += one.job.bytes;
        statistics_->wrong_bytes += std::min(found.words * sizeof(std::uint64_t), one.job.bytes);
        if (found.words != 0 && first.empty()) {
            first = fmt::format("{}: {}", model::to_text(one.job.spec), device::describe(found, one.job.bytes));
        }
    }
    return first;
}

std::string TransferSet::routes() const
{
    std::string text;
    for (const PreparedTransfer& one : transfers_) {
        text += fmt::format("{}{}: {}, {}", text.empty() ? "" : "; ", model::to_text(one.job.spec),
                            model::name_of(one.route.strategy), one.route.why);
    }
    if (left_out_ != 0) {
        text += fmt::format("; {} left out: this machine has {} devices", left_out_, runtime_->devices().size());
    }
    return text;
}

}  // namespace memsweep::transfer
