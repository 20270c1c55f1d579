#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/transfer/async_copy.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;

// Rings that staged copies of parts go through, each by a thread.
class StripedCopy final : public AsyncCopy {
  public:
    StripedCopy(TransferStatistics& statistics, std::size_t rings) : statistics_{statistics}, stripes_(rings) {}
    ~StripedCopy() override;
    StripedCopy(const StripedCopy&) = delete;
    StripedCopy& operator=(const StripedCopy&) = delete;

    [[nodiscard]] Expected<void> open(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan,
                                      const std::vector<Part>& parts);

    void begin() override;
    [[nodiscard]] Expected<Progress> advance() override;
    [[nodiscard]] Expected<void> wait() override;
    void settle() noexcept override;

  private:
    struct Stripe {
        TransferStatistics statistics;
        std::unique_ptr<AsyncCopy> copy;
        std::optional<base::Error> error;
        std::thread thread;
    };

    void serve(Stripe& stripe);
    void wait_for_all();
    void gather_statistics();

    TransferStatistics& statistics_;
    std::vector<Stripe> stripes_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable ended_;
    std::uint64_t turn_{};  // how often work was handed out
    std::size_t running_{};
    bool closing_{};
};

Expected<void> run_to_end(AsyncCopy& copy)
{
    for (copy.begin();;) {
        switch (MEMSWEEP_TRY(copy.advance())) {
        case AsyncCopy::Progress::moved:
            break;
        case AsyncCopy::Progress::waiting:
            MEMSWEEP_TRY(copy.wait());
            break;
        case AsyncCopy::Progress::done:
            return {};
        }
    }
}

Expected<void> StripedCopy::open(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan,
                                 const std::vector<Part>& parts)
{
    for (std::size_t i = 0; i < parts.size(); ++i) {
        CopyPlan of_part = plan;
        of_part.rings = 1;
        of_part.first_byte = parts[i].first_byte;
        of_part.job.bytes = parts[i].bytes;
        stripes_[i].copy = MEMSWEEP_TRY(make_staged_copy(runtime, clock, of_part, stripes_[i].statistics));
    }
    try {
        for (Stripe& stripe : stripes_) {
            stripe.thread = std::thread{&StripedCopy::serve, this, std::ref(stripe)};
        }
    } catch (const std::system_error& refused) {
        return base::fail(base::os_error("start a thread", refused.code().value()));
    }
    return {};
}

StripedCopy::~StripedCopy()
{
    {
        const std::scoped_lock lock{mutex_};
        closing_ = true;
    }
    wake_.notify_all();
    for (Stripe& stripe : stripes_) {
        if (stripe.thread.joinable()) {
            stripe.thread.join();
        }
    }
}

void StripedCopy::serve(Stripe& stripe)
{
    std::uint64_t seen = 0;
    std::unique_lock lock{mutex_};
    for (;;) {
        wake_.wait(lock, [&] { return closing_ || turn_ != seen; });
        if (turn_ == seen) {
            return;
        }
        seen = turn_;
        lock.unlock();
        const auto done = run_to_end(*stripe.copy);
        lock.lock();
        stripe.error = done ? std::nullopt : std::optional{done.error()};
        if (--running_ == 0) {
            ended_.notify_all();
        }
    }
}

void StripedCopy::begin()
{
    {
        const std::scoped_lock lock{mutex_};
        running_ = stripes_.size();
        ++turn_;
    }
    wake_.notify_all();
}

void StripedCopy::wait_for_all()
{
    std::unique_lock lock{mutex_};
    ended_.wait(lock, [&] { return running_ == 0; });
}

void StripedCopy::gather_statistics()
{
    for (Stripe& stripe : stripes_) {
        statistics_ += std::exchange(stripe.statistics, {});
    }
}

Expected<AsyncCopy::Progress> StripedCopy::advance()
{
    const std::scoped_lock lock{mutex_};
    if (running_ != 0) {
        return Progress::waiting;
    }
    gather_statistics();
    for (const Stripe& stripe : stripes_) {
        if (stripe.error) {
            return base::fail(*stripe.error);
        }
    }
    return Progress::done;
}

Expected<void> StripedCopy::wait()
{
    wait_for_all();
    return {};
}

void StripedCopy::settle() noexcept
{
    wait_for_all();
    for (Stripe& stripe : stripes_) {
        if (stripe.copy) {
            stripe.copy->settle();
        }
    }
}

}  // namespace

Expected<std::unique_ptr<AsyncCopy>> make_striped_copy(device::Runtime& runtime, const sys::Clock& clock,
                                                       const CopyPlan& plan, TransferStatistics& statistics)
{
    const std::vector<Part> parts = parts_of(plan.job, plan.options, plan.rings);
    auto made = std::make_unique<StripedCopy>(statistics, parts.size());
    MEMSWEEP_TRY(made->open(runtime, clock, plan, parts));
    return made;
}

}  // namespace memsweep::transfer
