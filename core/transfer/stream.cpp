#include "core/transfer/stream.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/transfer/kernel_forms.hpp"

namespace memsweep::transfer {

StreamRun Stream::run(const Form& form, double scalar, std::size_t chunks_per_thread)
{
    const std::size_t share = chunks_per_share();
    std::vector<std::uint64_t> sums(gang_.size());
    const auto time = gang_.run([&](std::size_t thread) {
        std::uint64_t sum = 0;
        std::size_t chunk = next_chunk_[thread];
        for (std::size_t done = 0; done < chunks_per_thread; ++done) {
            Operands on = arrays_.chunk(thread * share + chunk);
            on.scalar = scalar;
            sum += form.run(on);
            chunk = chunk + 1 == share ? 0 : chunk + 1;
        }
        sums[thread] = sum;
    });
    StreamRun result{.seconds = std::chrono::duration<double>(time).count(),
                     .elements = gang_.size() * chunks_per_thread * arrays_.chunk_elements()};
    for (std::size_t thread = 0; thread < gang_.size(); ++thread) {
        if (form.kernel == Kernel::read) {
            std::uint64_t expected = 0;
            for (std::size_t done = 0; done < chunks_per_thread; ++done) {
                expected += arrays_.sum_of_b(thread * share + (next_chunk_[thread] + done) % share);
            }
            if (sums[thread] != expected) {
                result.problem = "wrong data: the sum of what was read is not that of what was written";
            }
        }
        next_chunk_[thread] = (next_chunk_[thread] + chunks_per_thread) % share;
    }
    return result;
}

// In the order of a share's chunks from its first one on.
Visits Stream::visits_of(std::size_t thread, std::size_t chunks) const
{
    const std::size_t share = chunks_per_share();
    Visits visits{.first_chunk = thread * share,
                  .counts = std::vector<std::uint32_t>(share, static_cast<std::uint32_t>(chunks / share))};
    for (std::size_t extra = 0; extra < chunks % share; ++extra) {
        ++visits.counts[(next_chunk_[thread] + extra) % share];
    }
    return visits;
}

StreamRun Stream::run_checked(const Form& form, double scalar, std::size_t chunks_per_thread)
{
    std::vector<Visits> expected;
    for (std::size_t thread = 0; thread < gang_.size(); ++thread) {
        // Of a long share only what is gone over and the chunk after it, but for the start where the run wraps around.
        Visits visits = visits_of(thread, chunks_per_thread);
        const std::size_t first = next_chunk_[thread];
        const std::size_t end = std::min(first + chunks_per_thread + 1, visits.counts.size());
        if (first + chunks_per_thread < visits.counts.size()) {
            visits.counts = {visits.counts.begin() + static_cast<std::ptrdiff_t>(first),
                             visits.counts.begin() + static_cast<std::ptrdiff_t>(end)};
            visits.first_chunk += first;
        }
        arrays_.poison(visits.first_chunk, visits.counts.size(), gang_);
        expected.push_back(std::move(visits));
    }
    StreamRun result = run(form, scalar, chunks_per_thread);
    for (const Visits& visits : expected) {
        if (result.problem.empty() && writes_a(form.kernel)) {
            result.problem = arrays_.check(form.kernel, scalar, visits, gang_);
        }
    }
    return result;
}

std::size_t Stream::chunks_for(const Form& form, double seconds)
{
    const std::size_t tried = std::max<std::size_t>(std::min<std::size_t>(chunks_per_share(), 4), 1);
    static_cast<void>(run(form, 1, tried));
    const StreamRun judged = run(form, 1, tried);
    const double per_chunk = std::max(judged.seconds / static_cast<double>(tried), 1e-9);
    return std::max<std::size_t>(static_cast<std::size_t>(seconds / per_chunk), 1);
}

std::size_t fastest(std::size_t candidates, const std::function<double(std::size_t)>& rate)
{
    std::vector<std::size_t> left(candidates);
    std::iota(left.begin(), left.end(), std::size_t{});
    std::vector<double> best(candidates);
    const auto one_round = [&] {
        for (const std::size_t candidate : left) {
            best[candidate] = std::max(best[candidate], rate(candidate));
        }
        std::ranges::stable_sort(left, [&](std::size_t a, std::size_t b) { return best[a] > best[b]; });
    };
    while (left.size() > 1) {
        one_round();
        if (left.size() <= 4) {
            one_round();
        }
        left.resize((left.size() + 1) / 2);
    }
    return left.empty() ? 0 : left.front();
}

const Form* calibrate(Stream& stream, Kernel kernel, double seconds_per_run)
{
    const std::vector<const Form*> among = candidates(kernel);
    if (among.empty()) {
        return nullptr;
    }
    const std::size_t chunks = stream.chunks_for(*among.front(), seconds_per_run);
    return among[fastest(among.size(), [&](std::size_t candidate) {
        const StreamRun run = stream.run(*among[candidate], 1, chunks);
        return run.problem.empty() ? static_cast<double>(run.elements) / run.seconds : 0;
    })];
}

}  // namespace memsweep::transfer
