// Kernels over arrays by a gang of threads, timed.
//
// Units    seconds from the first thread's start to the last one's end; elements over all threads.
// Sources  each thread goes over chunks of its own share of the arrays, on from where its last run ended: what a run
//          touches was last touched a whole share ago, however short the run.
// Threads  those of the gang; the calls belong to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/transfer/gang.hpp"
#include "core/transfer/kernel.hpp"
#include "core/transfer/stream_arrays.hpp"

namespace memsweep::transfer {

struct StreamRun {
    double seconds{};
    std::uint64_t elements{};
    std::string problem;  // what is wrong with the data, as far as that was looked at; empty: nothing
};

class Stream {
  public:
    Stream(StreamArrays& arrays, Gang& gang) : arrays_{arrays}, gang_{gang}, next_chunk_(gang.size()) {}

    // Every thread over so many chunks of its share. The sum of a read is compared with what the arrays hold.
    [[nodiscard]] StreamRun run(const Form& form, double scalar, std::size_t chunks_per_thread);

    // The same with poisoned memory under it, and every element looked at afterwards, the chunk behind each thread's
    // last one included: it must still be poisoned.
    [[nodiscard]] StreamRun run_checked(const Form& form, double scalar, std::size_t chunks_per_thread);

    // Chunks that take about this long, judged by one run.
    [[nodiscard]] std::size_t chunks_for(const Form& form, double seconds);

    [[nodiscard]] std::size_t threads() const noexcept { return gang_.size(); }
    [[nodiscard]] std::size_t chunks_per_share() const noexcept { return arrays_.chunks() / gang_.size(); }

  private:
    [[nodiscard]] Visits visits_of(std::size_t thread, std::size_t chunks) const;

    StreamArrays& arrays_;
    Gang& gang_;
    std::vector<std::size_t> next_chunk_;  // of each thread, within its share
};

// The fastest of several, by rounds: all of them once, then the better half of those left, until one is. Each keeps its
// best round: what disturbs a run only ever makes it slower. `rate` is asked once for each round and candidate.
[[nodiscard]] std::size_t fastest(std::size_t candidates, const std::function<double(std::size_t)>& rate);

// The form of a kernel that is fastest on these arrays with this gang, here and now. nullptr for a kernel without
// forms.
[[nodiscard]] const Form* calibrate(Stream& stream, Kernel kernel, double seconds_per_run);

}  // namespace memsweep::transfer
