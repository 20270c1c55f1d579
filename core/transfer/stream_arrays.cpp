#include "core/transfer/stream_arrays.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::transfer {
namespace {

constexpr std::size_t longest_chunk_bytes = 4U << 20;
constexpr std::size_t chunk_grain_bytes = 4096;
constexpr std::uint64_t pattern_mask = (1U << 20) - 1;

// A third of a page and a few lines: the same element of two arrays never shares its low address bits. And 64 KiB: with
// less, arrays whose distance is a power of two but for that take turns in the rows of the same banks of memory (triad
// on an EPYC of Zen 4: 25 or 36 GB/s, by where the kernel put their pages; beyond 64 KiB always 34 to 36).
constexpr std::uint64_t array_skew_bytes = (64U << 10) + 1408;

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

base::Expected<StreamArrays> StreamArrays::make(const Spec& spec, Gang& gang)
{
    const std::size_t share_bytes = spec.bytes_per_array / std::max<std::size_t>(spec.shares, 1);
    const std::size_t chunk_bytes =
        std::max(std::min(longest_chunk_bytes, share_bytes) / chunk_grain_bytes * chunk_grain_bytes, chunk_grain_bytes);
    const std::size_t chunks =
        std::max<std::size_t>(share_bytes / chunk_bytes, 1) * std::max<std::size_t>(spec.shares, 1);
    const std::uint64_t spacing = rounded_up(chunks * chunk_bytes, chunk_grain_bytes) + array_skew_bytes;
    auto memory = sys::PagedMemory::map(3 * spacing, spec.pages);
    if (!memory) {
        return base::fail(std::move(memory).error());
    }
    if (spec.node) {
        if (auto bound = sys::bind_to_node(memory->data(), memory->size(), *spec.node); !bound) {
            return base::fail(std::move(bound).error());
        }
    }
    StreamArrays arrays{*std::move(memory)};
    arrays.chunks_ = chunks;
    arrays.chunk_elements_ = chunk_bytes / sizeof(double);
    arrays.a_ = reinterpret_cast<double*>(arrays.memory_.data());
    arrays.b_ = reinterpret_cast<double*>(arrays.memory_.data() + spacing);
    arrays.c_ = reinterpret_cast<double*>(arrays.memory_.data() + 2 * spacing);
    arrays.fill(gang);
    return arrays;
}

void StreamArrays::fill(Gang& gang)
{
    sums_of_b_.resize(chunks_);
    const std::uint64_t page_bytes = sys::bytes_of(memory_.pages());
    gang.run([&](std::size_t number) {
        // Whole pages each, so that no two threads wait for the same fault.
        const auto [first_page, end_page] = share(memory_.size() / page_bytes, number, gang.size());
        sys::touch_pages(memory_.data() + first_page * page_bytes, (end_page - first_page) * page_bytes);
    });
    gang.run([&](std::size_t number) {
        const auto [first, end] = share(chunks_, number, gang.size());
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

void StreamArrays::poison(std::size_t first_chunk, std::size_t count, Gang& gang)
{
    gang.run([&](std::size_t number) {
        const auto [first, end] = share(count * chunk_elements_, number, gang.size());
        for (std::size_t i = first; i < end; ++i) {
            const std::size_t element = first_chunk * chunk_elements_ + i;
            a_[element] = poison_at(element);
        }
    });
}

std::string StreamArrays::check(Kernel kernel, double scalar, const Visits& visits, Gang& gang) const
{
    struct Wrong {
        std::uint64_t count{};
        std::size_t first{SIZE_MAX};
    };
    std::vector<Wrong> found(gang.size());
    gang.run([&](std::size_t number) {
        const auto [first, end] = share(visits.counts.size(), number, gang.size());
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

base::Expected<sys::PagesGot> StreamArrays::pages_got() const
{
    return sys::pages_got(memory_.data(), memory_.size());
}

base::Expected<sys::PagesByNode> StreamArrays::pages_by_node() const
{
    return sys::pages_by_node(memory_.data(), memory_.size());
}

}  // namespace memsweep::transfer
