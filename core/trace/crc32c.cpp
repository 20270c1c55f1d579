#include "core/trace/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
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
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(const unsigned char* at,
                                                                      std::size_t bytes) noexcept
{
    std::uint64_t crc = 0xFFFFFFFFU;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        std::uint64_t word{};
        std::memcpy(&word, at, 8);
        crc = _mm_crc32_u64(crc, word);
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
    if (__builtin_cpu_supports("sse4.2") != 0) {
        return crc32c_by_instruction(static_cast<const unsigned char*>(data), bytes);
    }
#endif
    return crc32c_by_table(data, bytes);
}

}  // namespace memsweep::trace
