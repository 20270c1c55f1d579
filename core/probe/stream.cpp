#include "core/probe/stream.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::probe {
namespace {

constexpr std::size_t longest_chunk_bytes = 4U << 20;
constexpr std::size_t chunk_grain_bytes = 4096;
constexpr std::uint64_t pattern_mask = (1U << 20) - 1;

// Arrays that are almost a power of two apart compete for the rows of the same banks of memory (triad on an EPYC of Zen
// 4: 25 or 36 GB/s, by where the kernel put their pages; beyond 64 KiB always 34 to 36).
constexpr std::uint64_t array_skew_bytes = 64U << 10;

// A third of a page and a few lines, so that the same element of all three never shares its low address bits. Of a and
// b it does: where several pages are walked side by side, those of both begin together (copy on a Xeon of the Granite
// Rapids kind, 1 and 2 threads: 28.5 and 57.2 GB/s with b skewed so too, else 29.1 and 60.0; plain stores, triad and
// add the same).
constexpr std::uint64_t skew_of_c_bytes = 1408;

// A bijection, so no two positions share all of it.
std::uint64_t mixed(std::uint64_t value) noexcept
{
    value *= 0x9E3779B97F4A7C15;
    return value ^ (value >> 29);
}

double whole_number(std::uint64_t position, std::uint64_t which) noexcept
{
    return static_cast<double>((mixed(position + (which << 40)) >> 24) & pattern_mask);
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t grain)
{
    return (bytes + grain - 1) / grain * grain;
}

// The part of `count` things that thread `number` of `all` has.
std::pair<std::size_t, std::size_t> share(std::size_t count, std::size_t number, std::size_t all)
{
    return {count * number / all, count * (number + 1) / all};
}

}  // namespace

double b_at(std::size_t element) noexcept
{
    return whole_number(element, 1);
}

double c_at(std::size_t element) noexcept
{
    return whole_number(element, 2);
}

double poison_at(std::size_t element) noexcept
{
    return static_cast<double>(1U << 21) + whole_number(element, 3);
}

std::uint64_t expected_bits(Kernel kernel, std::size_t element, double scalar, std::uint32_t visits) noexcept
{
    if (visits == 0) {
        return std::bit_cast<std::uint64_t>(poison_at(element));
    }
    switch (kernel) {
    case Kernel::copy:
    case Kernel::memcpy:
        return std::bit_cast<std::uint64_t>(b_at(element));
    case Kernel::write:
        return std::bit_cast<std::uint64_t>(scalar);
    case Kernel::scale:
        return std::bit_cast<std::uint64_t>(scalar * b_at(element));
    case Kernel::add:
        return std::bit_cast<std::uint64_t>(b_at(element) + c_at(element));
    case Kernel::triad:
        return std::bit_cast<std::uint64_t>(b_at(element) + scalar * c_at(element));
    case Kernel::update:
        return std::bit_cast<std::uint64_t>(poison_at(element) + scalar * visits);
    case Kernel::memset:
        return 0x0101010101010101U * memset_byte(scalar);
    case Kernel::read:
        break;
    }
    return std::bit_cast<std::uint64_t>(poison_at(element));
}

base::Expected<StreamArrays> StreamArrays::make(const Spec& spec, sys::PinnedThreads& pool)
{
    const std::size_t share_bytes = spec.bytes_per_array / std::max<std::size_t>(spec.shares, 1);
    const std::size_t chunk_bytes =
        std::max(std::min(longest_chunk_bytes, share_bytes) / chunk_grain_bytes * chunk_grain_bytes, chunk_grain_bytes);
    const std::size_t chunks =
        std::max<std::size_t>(share_bytes / chunk_bytes, 1) * std::max<std::size_t>(spec.shares, 1);
    const std::uint64_t spacing = rounded_up(chunks * chunk_bytes, chunk_grain_bytes) + array_skew_bytes;
    auto memory = MEMSWEEP_TRY(sys::PlacedMemory::untouched(
        {.bytes = 3 * spacing + skew_of_c_bytes, .pages = spec.pages, .or_small = spec.or_small, .node = spec.node}));
    StreamArrays arrays{std::move(memory)};
    arrays.chunks_ = chunks;
    arrays.chunk_elements_ = chunk_bytes / sizeof(double);
    arrays.a_ = reinterpret_cast<double*>(arrays.memory_.data());
    arrays.b_ = reinterpret_cast<double*>(arrays.memory_.data() + spacing);
    arrays.c_ = reinterpret_cast<double*>(arrays.memory_.data() + 2 * spacing + skew_of_c_bytes);
    arrays.fill(pool);
    return arrays;
}

void StreamArrays::fill(sys::PinnedThreads& pool)
{
    sums_of_b_.resize(chunks_);
    const std::uint64_t page_bytes = sys::bytes_of(memory_.pages());
    pool.run([&](std::size_t number) {
        // Whole pages each, so that no two threads wait for the same fault.
        const auto [first_page, end_page] = share(memory_.size() / page_bytes, number, pool.size());
        sys::touch_pages(memory_.data() + first_page * page_bytes, (end_page - first_page) * page_bytes);
    });
    pool.run([&](std::size_t number) {
        const auto [first, end] = share(chunks_, number, pool.size());
        for (std::size_t chunk = first; chunk < end; ++chunk) {
            std::uint64_t sum = 0;
            for (std::size_t i = chunk * chunk_elements_; i < (chunk + 1) * chunk_elements_; ++i) {
                a_[i] = poison_at(i);
                b_[i] = b_at(i);
                c_[i] = c_at(i);
                sum += std::bit_cast<std::uint64_t>(b_[i]);
            }
            sums_of_b_[chunk] = sum;
        }
    });
}

Operands StreamArrays::chunk(std::size_t number) const noexcept
{
    const std::size_t first = number * chunk_elements_;
    return {.a = a_ + first, .b = b_ + first, .c = c_ + first, .elements = chunk_elements_};
}

void StreamArrays::poison(std::size_t first_chunk, std::size_t count, sys::PinnedThreads& pool)
{
    pool.run([&](std::size_t number) {
        const auto [first, end] = share(count * chunk_elements_, number, pool.size());
        for (std::size_t i = first; i < end; ++i) {
            const std::size_t element = first_chunk * chunk_elements_ + i;
            a_[element] = poison_at(element);
        }
    });
}

std::string StreamArrays::check(Kernel kernel, double scalar, const Visits& visits, sys::PinnedThreads& pool) const
{
    struct Wrong {
        std::uint64_t count{};
        std::size_t first{SIZE_MAX};
    };
    std::vector<Wrong> found(pool.size());
    pool.run([&](std::size_t number) {
        const auto [first, end] = share(visits.counts.size(), number, pool.size());
        Wrong wrong;
        for (std::size_t chunk = first; chunk < end; ++chunk) {
            const std::size_t start = (visits.first_chunk + chunk) * chunk_elements_;
            for (std::size_t i = start; i < start + chunk_elements_; ++i) {
                if (std::bit_cast<std::uint64_t>(a_[i]) != expected_bits(kernel, i, scalar, visits.counts[chunk])) {
                    ++wrong.count;
                    wrong.first = std::min(wrong.first, i);
                }
            }
        }
        found[number] = wrong;
    });
    Wrong all;
    for (const Wrong& one : found) {
        all.count += one.count;
        all.first = std::min(all.first, one.first);
    }
    return all.count == 0 ? std::string{}
                          : fmt::format("wrong data: {} of {} elements, the first at byte {} of the array", all.count,
                                        visits.counts.size() * chunk_elements_, all.first * sizeof(double));
}

StreamRun Stream::run(const Form& form, double scalar, std::size_t chunks_per_thread)
{
    const std::size_t share = chunks_per_share();
    std::vector<std::uint64_t> sums(pool_.size());
    const auto time = pool_.run([&](std::size_t thread) {
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
    StreamRun result{.seconds = sys::seconds_of(time),
                     .elements = pool_.size() * chunks_per_thread * arrays_.chunk_elements()};
    for (std::size_t thread = 0; thread < pool_.size(); ++thread) {
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
    for (std::size_t thread = 0; thread < pool_.size(); ++thread) {
        // Of a long share only the chunks of this run and the one behind them; all of it where the run wraps around.
        Visits visits = visits_of(thread, chunks_per_thread);
        const std::size_t first = next_chunk_[thread];
        const std::size_t end = std::min(first + chunks_per_thread + 1, visits.counts.size());
        if (first + chunks_per_thread < visits.counts.size()) {
            visits.counts = {visits.counts.begin() + static_cast<std::ptrdiff_t>(first),
                             visits.counts.begin() + static_cast<std::ptrdiff_t>(end)};
            visits.first_chunk += first;
        }
        arrays_.poison(visits.first_chunk, visits.counts.size(), pool_);
        expected.push_back(std::move(visits));
    }
    StreamRun result = run(form, scalar, chunks_per_thread);
    for (const Visits& visits : expected) {
        if (result.problem.empty() && writes_a(form.kernel)) {
            result.problem = arrays_.check(form.kernel, scalar, visits, pool_);
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
        one_round();
        left.resize((left.size() + 1) / 2);
    }
    return left.empty() ? 0 : left.front();
}

const Form* calibrate(Stream& stream, Kernel kernel, std::optional<Store> store, double seconds_per_run)
{
    std::vector<const Form*> among = candidates(kernel);
    std::erase_if(among, [&](const Form* form) { return store && form->store != *store; });
    if (among.empty()) {
        return nullptr;
    }
    const std::size_t chunks = stream.chunks_for(*among.front(), seconds_per_run);
    return among[fastest(among.size(), [&](std::size_t candidate) {
        const StreamRun run = stream.run(*among[candidate], 1, chunks);
        return run.problem.empty() ? static_cast<double>(run.elements) / run.seconds : 0;
    })];
}

}  // namespace memsweep::probe
