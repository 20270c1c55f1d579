// What a processor gives to every form of copy, beside the C library's: the floor of a concatenation of equal types.
//
// Usage    copy_forms
// Output   a line for each size: bytes moved (two inputs read and a result of both written), what memcpy gives, and the
//          time of every form as a share of memcpy's. Below 1 a form is faster.
// Method   the forms in turn, 15 rounds, each form three times in a row, the last of which counts: it finds the caches
//          as the same form has left them, as it does in a loop of concatenations. Medians.
// Units    the inputs are of 0.5 to 16 MiB; pages are as malloc gives them.
// Sources  Intel 64 and IA-32 Architectures Optimization Reference Manual: rep movsb, non-temporal stores, software
//          prefetch.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>

namespace {

constexpr std::size_t page_bytes = 4096;

void by_library(char* out, const char* in, std::size_t bytes)
{
    std::memcpy(out, in, bytes);
}

void by_string_instruction(char* out, const char* in, std::size_t bytes)
{
    asm volatile("rep movsb" : "+D"(out), "+S"(in), "+c"(bytes) : : "memory");
}

enum class Store : bool { plain, streamed };

template <Store store>
[[gnu::target("avx2"), gnu::always_inline]] inline void copy_line(char* out, const char* in)
{
    for (std::size_t half = 0; half < 64; half += 32) {
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + half));
        auto* const to = reinterpret_cast<__m256i*>(out + half);
        if constexpr (store == Store::streamed) {
            _mm256_stream_si256(to, value);
        } else {
            _mm256_storeu_si256(to, value);
        }
    }
}

// `ahead`: bytes that are asked for before they are read, and `out_ahead` before they are written; 0: none.
template <Store store, std::size_t ahead, std::size_t out_ahead = 0>
[[gnu::target("avx2")]] void by_lines(char* out, const char* in, std::size_t bytes)
{
    for (std::size_t at = 0; at < bytes; at += 64) {
        if constexpr (ahead != 0) {
            _mm_prefetch(in + at + ahead, _MM_HINT_T0);
        }
        if constexpr (out_ahead != 0) {
            __builtin_prefetch(out + at + out_ahead, 1, 3);
        }
        copy_line<store>(out + at, in + at);
    }
    _mm_sfence();
}

// Several pages at once, a line of each in turn.
template <Store store, std::size_t pages>
[[gnu::target("avx2")]] void by_pages(char* out, const char* in, std::size_t bytes)
{
    for (std::size_t block = 0; block < bytes; block += pages * page_bytes) {
        for (std::size_t line = 0; line < page_bytes; line += 64) {
            for (std::size_t page = 0; page < pages; ++page) {
                const std::size_t at = block + page * page_bytes + line;
                copy_line<store>(out + at, in + at);
            }
        }
    }
    _mm_sfence();
}

struct Form {
    const char* name;
    void (*copy)(char* out, const char* in, std::size_t bytes);
};

constexpr std::array<Form, 12> forms{{
    {"memcpy", by_library},
    {"rep_movsb", by_string_instruction},
    {"plain", by_lines<Store::plain, 0>},
    {"plain_ahead_512", by_lines<Store::plain, 512>},
    {"plain_ahead_4096", by_lines<Store::plain, 4096>},
    {"plain_both_ahead_512", by_lines<Store::plain, 512, 512>},
    {"plain_both_ahead_4096", by_lines<Store::plain, 4096, 4096>},
    {"plain_4_pages", by_pages<Store::plain, 4>},
    {"streamed", by_lines<Store::streamed, 0>},
    {"streamed_ahead_2048", by_lines<Store::streamed, 2048>},
    {"streamed_4_pages", by_pages<Store::streamed, 4>},
    {"streamed_8_pages", by_pages<Store::streamed, 8>},
}};

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

struct FreeBlock {
    void operator()(char* block) const { std::free(block); }
};
using Block = std::unique_ptr<char, FreeBlock>;

Block written_block(std::size_t bytes)
{
    constexpr std::size_t read_ahead = page_bytes * 2;  // of the forms that prefetch
    Block block{static_cast<char*>(std::aligned_alloc(page_bytes, bytes + read_ahead))};
    std::memset(block.get(), 1, bytes + read_ahead);
    return block;
}

void compare(std::size_t input_bytes)
{
    constexpr int rounds = 15;
    constexpr int in_a_row = 3;
    using Clock = std::chrono::steady_clock;
    const Block left = written_block(input_bytes);
    const Block right = written_block(input_bytes);
    const Block out = written_block(2 * input_bytes);
    std::array<std::vector<double>, forms.size()> seconds;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t number = 0; number < forms.size(); ++number) {
            Clock::duration took{};
            for (int turn = 0; turn < in_a_row; ++turn) {
                const auto begin = Clock::now();
                forms[number].copy(out.get(), left.get(), input_bytes);
                forms[number].copy(out.get() + input_bytes, right.get(), input_bytes);
                took = Clock::now() - begin;
            }
            seconds[number].push_back(std::chrono::duration<double>(took).count());
        }
    }
    const double library = median(seconds.front());
    const double moved = 4 * static_cast<double>(input_bytes);
    std::printf("%3.0f MiB moved, memcpy %5.1f GB/s:", moved / (1 << 20), moved / library / 1e9);
    for (std::size_t number = 1; number < forms.size(); ++number) {
        std::printf(" %s %.2f", forms[number].name, median(seconds[number]) / library);
    }
    std::printf("\n");
}

}  // namespace

int main()
{
    if (__builtin_cpu_supports("avx2") == 0) {
        std::fprintf(stderr, "copy_forms: this processor lacks AVX2\n");
        return 2;
    }
    constexpr std::size_t least = 512U << 10U;
    constexpr std::size_t most = 16U << 20U;
    for (std::size_t input_bytes = least; input_bytes <= most; input_bytes *= 2) {
        compare(input_bytes);
    }
    return 0;
}
#else
int main()
{
    std::fprintf(stderr, "copy_forms: its forms are those of x86-64\n");
    return 2;
}
#endif
