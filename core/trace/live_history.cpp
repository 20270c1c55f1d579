#include "core/trace/live_history.hpp"

#include <algorithm>

namespace memsweep::trace {

void LiveHistory::add(std::uint64_t ticks, const Held& held, std::uint64_t total)
{
    if (events_ == events_per_step_ * max_steps) {
        for (std::size_t i = 0; i < max_steps / 2; ++i) {
            steps_[i] = steps_[2 * i];
        }
        steps_.resize(max_steps / 2);
        events_per_step_ *= 2;
        fold(total_);
        std::ranges::for_each(processes_, [](auto& process) { fold(process.second); });
    }
    const std::uint64_t step = events_ / events_per_step_;
    ++events_;
    if (step == steps_.size()) {
        steps_.push_back({events_, ticks});
    }
    note(total_, step, total);
    note(processes_[held.process], step, held.bytes);
}

std::vector<std::uint64_t> LiveHistory::of_process(std::uint32_t process) const
{
    const auto found = processes_.find(process);
    return found == processes_.end() ? std::vector<std::uint64_t>(steps_.size()) : most_in_steps(found->second);
}

// A step begins with what was held before it.
void LiveHistory::note(Curve& curve, std::uint64_t step, std::uint64_t bytes)
{
    const std::uint64_t before = curve.empty() ? 0 : curve.back().last;
    if (bytes == before && !curve.empty()) {
        return;
    }
    if (curve.empty() || curve.back().step != step) {
        curve.push_back({step, before, before});
    }
    curve.back().most = std::max(curve.back().most, bytes);
    curve.back().last = bytes;
}

void LiveHistory::fold(Curve& curve)
{
    Curve folded;
    for (const Change& change : curve) {
        if (!folded.empty() && folded.back().step == change.step / 2) {
            folded.back().most = std::max(folded.back().most, change.most);
            folded.back().last = change.last;
        } else {
            folded.push_back({change.step / 2, change.most, change.last});
        }
    }
    curve = std::move(folded);
}

std::vector<std::uint64_t> LiveHistory::most_in_steps(const Curve& curve) const
{
    std::vector<std::uint64_t> most(steps_.size());
    std::uint64_t held = 0;
    auto change = curve.begin();
    for (std::size_t step = 0; step < most.size(); ++step) {
        most[step] = held;
        if (change != curve.end() && change->step == step) {
            most[step] = change->most;
            held = change->last;
            ++change;
        }
    }
    return most;
}

}  // namespace memsweep::trace
