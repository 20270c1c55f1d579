#include "core/trace/format/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#endif

namespace memsweep::trace {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78U;  // reflected
constexpr std::size_t slices = 8;

consteval std::array<std::array<std::uint32_t, 256>, slices> make_tables()
{
    std::array<std::array<std::uint32_t, 256>, slices> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0U);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < slices; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}

constexpr auto tables = make_tables();

#if defined(__x86_64__)
// The instruction takes three cycles, and a processor has three of them under way when they do not wait for each
// other: so three parts of this size at a time, whose registers are then joined.
constexpr std::size_t part_bytes = 1024;
constexpr std::size_t part_words = part_bytes / 8;

// x^exponent modulo the polynomial: the highest bit is x^0.
consteval std::uint32_t power_of_x(std::size_t exponent)
{
    std::uint32_t value = 0x80000000U;
    for (; exponent != 0; --exponent) {
        value = (value >> 1U) ^ ((value & 1U) != 0 ? polynomial : 0U);
    }
    return value;
}

// What a register becomes after so many zero bytes. The product of two reflected numbers is one bit short, and the
// instruction multiplies by x^32: hence the 33.
template <std::size_t bytes>
__attribute__((target("sse4.2,pclmul"))) std::uint64_t after_zeroes(std::uint64_t crc) noexcept
{
    constexpr auto factor = static_cast<std::int64_t>(power_of_x(8 * bytes - 33));
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<std::int64_t>(crc)), _mm_cvtsi64_si128(factor), 0);
    return _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)));
}

__attribute__((target("sse4.2"))) std::uint64_t word_at(const unsigned char* at) noexcept
{
    std::uint64_t word{};
    std::memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2,pclmul"))) std::uint32_t crc32c_by_instruction(const unsigned char* at,
                                                                             std::size_t bytes) noexcept
{
    std::uint64_t crc = 0xFFFFFFFFU;
    for (; bytes >= 3 * part_bytes; bytes -= 3 * part_bytes, at += 3 * part_bytes) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < part_words; ++i) {
            crc = _mm_crc32_u64(crc, word_at(at + 8 * i));
            second = _mm_crc32_u64(second, word_at(at + part_bytes + 8 * i));
            third = _mm_crc32_u64(third, word_at(at + 2 * part_bytes + 8 * i));
        }
        crc = after_zeroes<2 * part_bytes>(crc) ^ after_zeroes<part_bytes>(second) ^ third;
    }
    for (; bytes >= 8; bytes -= 8, at += 8) {
        crc = _mm_crc32_u64(crc, word_at(at));
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; bytes != 0; --bytes) {
        rest = _mm_crc32_u8(rest, *at++);
    }
    return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const void* data, std::size_t bytes) noexcept
{
    const auto* at = static_cast<const unsigned char*>(data);
    std::uint32_t crc = 0xFFFFFFFFU;
    for (; bytes >= slices; bytes -= slices, at += slices) {
        std::uint64_t word{};
        std::memcpy(&word, at, slices);
        word ^= crc;
        crc = 0;
        for (std::size_t slice = 0; slice < slices; ++slice) {
            crc ^= tables[slices - 1 - slice][(word >> (8 * slice)) & 0xFFU];
        }
    }
    for (; bytes != 0; --bytes) {
        crc = (crc >> 8U) ^ tables[0][(crc ^ *at++) & 0xFFU];
    }
    return ~crc;
}

std::uint32_t crc32c(const void* data, std::size_t bytes) noexcept
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0) {
        return crc32c_by_instruction(static_cast<const unsigned char*>(data), bytes);
    }
#endif
    return crc32c_by_table(data, bytes);
}

}  // namespace memsweep::trace
