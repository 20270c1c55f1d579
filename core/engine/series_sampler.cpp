#include "core/engine/series_sampler.hpp"

#include <utility>

namespace memsweep::engine {

SeriesSampler::SeriesSampler(const model::SeriesSpec& spec, int pid) : wants_live_bytes_{spec.live_bytes}
{
    working_set_.name = "working_set";
    live_bytes_.name = "live_bytes";
    if (spec.working_set) {
        if (auto opened = sys::ProcessWatch::open(pid)) {
            watch_.emplace(std::move(*opened));
        }
    }
}

void SeriesSampler::sample(const RunRegion& region, const Gauges& gauges, std::chrono::nanoseconds now)
{
    const RunState state = region.header->state.load(std::memory_order_acquire);
    if (state == RunState::waiting) {
        return;
    }
    const std::chrono::nanoseconds started{region.header->started_ns.load(std::memory_order_relaxed)};
    const double t = std::chrono::duration<double>(now - started).count();
    if (watch_) {
        if (const auto bytes = watch_->working_set_bytes()) {
            working_set_.t.push_back(t);
            working_set_.v.push_back(static_cast<double>(*bytes));
        }
    }
    if (wants_live_bytes_) {
        const std::uint32_t index = region.header->counters.load(std::memory_order_relaxed);
        live_bytes_.t.push_back(t);
        live_bytes_.v.push_back(static_cast<double>(gauges.counters[index % max_case_memories].live_bytes()));
    }
}

std::vector<model::Series> SeriesSampler::take()
{
    std::vector<model::Series> taken;
    for (model::Series* series : {&working_set_, &live_bytes_}) {
        if (!series->t.empty()) {
            taken.push_back(std::move(*series));
        }
    }
    return taken;
}

}  // namespace memsweep::engine
