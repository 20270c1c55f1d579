#include "core/array/streaming.hpp"

#include <algorithm>
#include <cstddef>

#include <sys/mman.h>
#include <unistd.h>

#include "core/array/element_mover.hpp"
#include "core/base/rng.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::array {
namespace {

constexpr std::uint64_t fewest_tried_bytes = 2U << 20U;
constexpr std::uint64_t most_tried_bytes = 64U << 20U;
constexpr std::uint64_t repeated_bytes = 32U << 20U;  // joins of less are repeated until they come to as much
constexpr double clear_gain = 0.95;                   // share of the time that plain stores take

std::uint64_t presumed_here() noexcept
{
    const auto bytes = [](int name) {
        const long value = ::sysconf(name);
        return value > 0 ? static_cast<std::uint64_t>(value) : 0;
    };
    return presumed_streaming_bytes(bytes(_SC_LEVEL2_CACHE_SIZE), bytes(_SC_LEVEL3_CACHE_SIZE));
}

StreamingSizes& chosen() noexcept
{
    static StreamingSizes sizes{presumed_here(), presumed_here()};
    return sizes;
}

std::uint64_t least_with_gain(std::span<const StreamingTrial> trials, Writing writing, std::uint64_t presumed) noexcept
{
    std::uint64_t largest = 0;
    std::uint64_t largest_without_gain = 0;
    for (const StreamingTrial& trial : trials) {
        if (trial.writing == writing) {
            largest = std::max(largest, trial.bytes_moved);
            const bool gains = trial.streamed_seconds <= clear_gain * trial.plain_seconds;
            largest_without_gain = std::max(largest_without_gain, gains ? 0 : trial.bytes_moved);
        }
    }
    if (largest_without_gain == largest) {
        return std::max(presumed, largest + 1);
    }
    std::uint64_t least = largest;
    for (const StreamingTrial& trial : trials) {
        if (trial.writing == writing && trial.bytes_moved > largest_without_gain) {
            least = std::min(least, trial.bytes_moved);
        }
    }
    return least;
}

bool is_resident(std::byte* ptr)
{
    std::byte* const page = ptr - reinterpret_cast<std::uintptr_t>(ptr) % sys::page_size();
    unsigned char state = 0;
    return ::mincore(page, 1, &state) == 0 && (state & 1U) != 0;
}

// Two inputs of a quarter of what is moved each, and the result behind them, as in a heap. They hold data and no
// zeroes: an EPYC 9005 streams zeroes at 96 GB/s and anything else at 44, and a trial with zeroes would stream what is
// faster by plain stores.
class Joining {
  public:
    Joining(const CastTable& table, std::uint64_t most_bytes)
        : table_{table}, memory_(most_bytes + 2 * malloc_header_bytes)
    {
        constexpr std::uint64_t seed = 19;
        base::Rng{seed}.fill(memory_);
    }

    void join(std::uint64_t bytes_moved, Writing writing, bool streaming)
    {
        constexpr std::uint64_t short_piece = 2048;
        const std::uint64_t input_bytes = bytes_moved / 4;
        const std::uint64_t piece_bytes = writing == Writing::in_pieces ? short_piece : input_bytes;
        const std::byte* const first = memory_.data();
        const std::byte* const second = first + input_bytes + malloc_header_bytes;
        SlabWriter writer{table_, memory_.data() + 2 * (input_bytes + malloc_header_bytes), model::DType::uint8,
                          streaming};
        for (std::uint64_t at = 0; at < input_bytes; at += piece_bytes) {
            writer.append(model::DType::uint8, first + at, piece_bytes);
            writer.append(model::DType::uint8, second + at, piece_bytes);
        }
        writer.finish();
        if (streaming) {
            table_.finish_streams();
        }
    }

  private:
    static constexpr std::uint64_t malloc_header_bytes = 16;

    const CastTable& table_;
    std::vector<std::byte> memory_;
};

// The least of several joins in a row, more of them where one is short: each finds the caches as the same kind of store
// has left them.
double least_seconds(Joining& joining, std::uint64_t bytes, Writing writing, bool streaming, const sys::Clock& clock)
{
    joining.join(bytes, writing, streaming);
    double least = std::numeric_limits<double>::max();
    for (std::uint64_t round = 0; round < 2 + repeated_bytes / bytes; ++round) {
        const auto start = clock.now();
        joining.join(bytes, writing, streaming);
        least = std::min(least, sys::seconds_of(clock.now() - start));
    }
    return least;
}

}  // namespace

std::uint64_t presumed_streaming_bytes(std::uint64_t l2_bytes, std::uint64_t l3_bytes) noexcept
{
    return l3_bytes != 0 ? l2_bytes + l3_bytes : never_streamed;
}

StreamingSizes streaming_sizes(std::span<const StreamingTrial> trials, std::uint64_t presumed) noexcept
{
    return {least_with_gain(trials, Writing::front_to_back, presumed),
            least_with_gain(trials, Writing::in_pieces, presumed)};
}

std::vector<StreamingTrial> try_streaming(const CastTable& table, const sys::Clock& clock)
{
    std::vector<StreamingTrial> trials;
    if (!table.streams()) {
        return trials;
    }
    Joining joining{table, most_tried_bytes};
    for (std::uint64_t bytes = fewest_tried_bytes; bytes <= most_tried_bytes; bytes *= 2) {
        for (const Writing writing : {Writing::front_to_back, Writing::in_pieces}) {
            trials.push_back({.writing = writing,
                              .bytes_moved = bytes,
                              .plain_seconds = least_seconds(joining, bytes, writing, false, clock),
                              .streamed_seconds = least_seconds(joining, bytes, writing, true, clock)});
        }
    }
    return trials;
}

void stream_from(const StreamingSizes& sizes) noexcept
{
    chosen() = sizes;
}

const StreamingSizes& streams_from() noexcept
{
    return chosen();
}

bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes, std::uint64_t bytes_moved,
                    Writing writing) noexcept
{
    return table.streams() && bytes_moved >= streams_from().of(writing) &&
           is_resident(static_cast<std::byte*>(out) + out_bytes / 2);
}

}  // namespace memsweep::array
