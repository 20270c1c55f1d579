/* What memory gives to loops written by hand for one processor: the figures that `memsweep probe bandwidth` must come
 * near.
 *
 * Usage    bandwidth_limits MIB_PER_ARRAY SAMPLES, built by bandwidth_beside_peers.py (gcc -O2 -march=native -fopenmp)
 * Output   one line per loop, "KERNEL FORM GB/s": the median sample, bytes counted as STREAM counts them.
 * Method   arrays of doubles on transparent huge pages, each thread's part written by itself. The loops take turns, as
 * memsweep's do: each goes over all of them once unmeasured, then three times as a sample, all threads from one barrier
 * to the next. A loop that alone goes over its arrays again and again finds part of them in a cache of their size. The
 * loops here are not memsweep's, on purpose.
 * Source   the forms of loop are those found fastest on AVX-512 servers: plain vector loads with a prefetch one page
 * ahead, and non-temporal stores, alone, with a prefetch 2 KiB ahead, or with eight pages walked side by side; and the
 * C library's.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 8, PAGE = 512, SIDE_BY_SIDE = 8, PASSES = 3 };

#ifdef __AVX512F__
typedef __m512d Line;
static inline Line load(const double* from)
{
    return _mm512_load_pd(from);
}
static inline void stream(double* to, Line line)
{
    _mm512_stream_pd(to, line);
}
static inline void store(double* to, Line line)
{
    __asm__ volatile("vmovapd %1, %0" : "=m"(*(Line*)to) : "v"(line));
}
static inline Line all_threes(void)
{
    return _mm512_set1_pd(3.0);
}
static inline void use(Line line)
{
    __asm__ volatile("" : : "v"(line));
}
static inline Line triad_of(Line b, Line c)
{
    return _mm512_add_pd(b, _mm512_mul_pd(_mm512_set1_pd(3.0), c));
}
#else
typedef struct {
    __m256d low, high;
} Line;
static inline Line load(const double* from)
{
    return (Line){_mm256_load_pd(from), _mm256_load_pd(from + 4)};
}
static inline void stream(double* to, Line line)
{
    _mm256_stream_pd(to, line.low);
    _mm256_stream_pd(to + 4, line.high);
}
static inline void store(double* to, Line line)
{
    __asm__ volatile("vmovapd %1, %0" : "=m"(*(__m256d*)to) : "x"(line.low));
    __asm__ volatile("vmovapd %1, %0" : "=m"(*(__m256d*)(to + 4)) : "x"(line.high));
}
static inline Line all_threes(void)
{
    return (Line){_mm256_set1_pd(3.0), _mm256_set1_pd(3.0)};
}
static inline void use(Line line)
{
    __asm__ volatile("" : : "x"(line.low), "x"(line.high));
}
static inline __m256d triad_half(__m256d b, __m256d c)
{
    return _mm256_add_pd(b, _mm256_mul_pd(_mm256_set1_pd(3.0), c));
}
static inline Line triad_of(Line b, Line c)
{
    return (Line){triad_half(b.low, c.low), triad_half(b.high, c.high)};
}
#endif

typedef struct {
    double *a, *b, *c;
    size_t elements;
} Part;

static inline void read_ahead(const Part* part, size_t ahead)
{
    for (size_t i = 0; i < part->elements; i += LINE) {
        if (ahead)
            _mm_prefetch((const char*)(part->b + i + ahead), _MM_HINT_T0);
        use(load(part->b + i));
    }
}

static void read_plain(const Part* part)
{
    read_ahead(part, 0);
}
static void read_prefetch_page(const Part* part)
{
    read_ahead(part, PAGE);
}

static inline void copy_line(const Part* part, size_t at)
{
    stream(part->a + at, load(part->b + at));
}
static inline void triad_line(const Part* part, size_t at)
{
    stream(part->a + at, triad_of(load(part->b + at), load(part->c + at)));
}

#define STRAIGHT(name, line_of, ahead, also_c)                                                                         \
    static void name(const Part* part)                                                                                 \
    {                                                                                                                  \
        for (size_t i = 0; i < part->elements; i += LINE) {                                                            \
            if (ahead)                                                                                                 \
                _mm_prefetch((const char*)(part->b + i + (ahead)), _MM_HINT_T0);                                       \
            if ((ahead) && (also_c))                                                                                   \
                _mm_prefetch((const char*)(part->c + i + (ahead)), _MM_HINT_T0);                                       \
            line_of(part, i);                                                                                          \
        }                                                                                                              \
        _mm_sfence();                                                                                                  \
    }

#define PAGES(name, line_of, run)                                                                                      \
    static void name(const Part* part)                                                                                 \
    {                                                                                                                  \
        for (size_t i = 0; i < part->elements; i += SIDE_BY_SIDE * PAGE)                                               \
            for (size_t k = 0; k < PAGE; k += (run)*LINE)                                                              \
                for (size_t page = 0; page < SIDE_BY_SIDE; ++page)                                                     \
                    for (size_t line = 0; line < (run); ++line)                                                        \
                        line_of(part, i + page * PAGE + k + line * LINE);                                              \
        _mm_sfence();                                                                                                  \
    }

static inline void write_line(const Part* part, size_t at)
{
    stream(part->a + at, all_threes());
}

static void write_plain(const Part* part)
{
    for (size_t i = 0; i < part->elements; i += LINE)
        store(part->a + i, all_threes());
}

STRAIGHT(write_nt, write_line, 0, 0)
PAGES(write_nt_8pages, write_line, 1)
PAGES(write_nt_8pages_4lines, write_line, 4)
STRAIGHT(copy_nt, copy_line, 0, 0)
STRAIGHT(copy_nt_ahead, copy_line, 256, 0)
PAGES(copy_nt_8pages, copy_line, 1)
PAGES(copy_nt_8pages_4lines, copy_line, 4)
STRAIGHT(triad_nt, triad_line, 0, 0)
STRAIGHT(triad_nt_ahead, triad_line, 256, 1)
PAGES(triad_nt_8pages, triad_line, 1)
PAGES(triad_nt_8pages_4lines, triad_line, 4)

static void write_libc(const Part* part)
{
    memset(part->a, 3, part->elements * sizeof(double));
}
static void copy_libc(const Part* part)
{
    memcpy(part->a, part->b, part->elements * sizeof(double));
}

static const struct {
    const char *kernel, *form;
    void (*run)(const Part*);
    int arrays;
} loops[] = {
    {"read", "plain", read_plain, 1},
    {"read", "prefetch_4KiB", read_prefetch_page, 1},
    {"write", "plain", write_plain, 1},
    {"write", "nt", write_nt, 1},
    {"write", "nt_8pages", write_nt_8pages, 1},
    {"write", "nt_8pages_4lines", write_nt_8pages_4lines, 1},
    {"write", "memset", write_libc, 1},
    {"copy", "nt", copy_nt, 2},
    {"copy", "nt_prefetch_2KiB", copy_nt_ahead, 2},
    {"copy", "nt_8pages", copy_nt_8pages, 2},
    {"copy", "nt_8pages_4lines", copy_nt_8pages_4lines, 2},
    {"copy", "memcpy", copy_libc, 2},
    {"triad", "nt", triad_nt, 3},
    {"triad", "nt_prefetch_2KiB", triad_nt_ahead, 3},
    {"triad", "nt_8pages", triad_nt_8pages, 3},
    {"triad", "nt_8pages_4lines", triad_nt_8pages_4lines, 3},
};

static const size_t loop_count = sizeof loops / sizeof *loops;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void* left, const void* right)
{
    const double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

static double* array_of(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    char* mapped = mmap(NULL, bytes + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(mapped, bytes + 2 * huge, MADV_HUGEPAGE);
    return (double*)(((uintptr_t)mapped + huge - 1) & ~(huge - 1));
}

int main(int count, char** words)
{
    if (count != 3 || atol(words[1]) < 1 || atol(words[2]) < 1) {
        fprintf(stderr, "usage: %s MIB_PER_ARRAY SAMPLES\n", words[0]);
        return 2;
    }
    const size_t bytes = (size_t)atol(words[1]) << 20;
    const int samples = atoi(words[2]), threads = omp_get_max_threads();
    const size_t each = bytes / sizeof(double) / (size_t)threads / (SIDE_BY_SIDE * PAGE) * (SIDE_BY_SIDE * PAGE);
    double *a = array_of(bytes), *b = array_of(bytes), *c = array_of(bytes),
           *took = malloc(loop_count * (size_t)samples * sizeof *took);
#pragma omp parallel
    {
        const size_t from = each * (size_t)omp_get_thread_num();
        for (size_t i = from; i < from + each; ++i) {
            a[i] = 1;
            b[i] = 2;
            c[i] = 3;
        }
    }
#pragma omp parallel
    {
        const size_t from = each * (size_t)omp_get_thread_num();
        const Part part = {a + from, b + from, c + from, each};
        for (int sample = 0; sample < samples; ++sample) {
            for (size_t which = 0; which < loop_count; ++which) {
                double started = 0;
                loops[which].run(&part);
#pragma omp barrier
#pragma omp master
                started = seconds();
                for (int pass = 0; pass < PASSES; ++pass)
                    loops[which].run(&part);
#pragma omp barrier
#pragma omp master
                took[which * (size_t)samples + (size_t)sample] = seconds() - started;
            }
        }
    }
    for (size_t which = 0; which < loop_count; ++which) {
        double* const of_loop = took + which * (size_t)samples;
        qsort(of_loop, (size_t)samples, sizeof *took, ascending);
        const double moved = (double)(each * (size_t)threads * sizeof(double)) * loops[which].arrays * PASSES;
        const double median = (of_loop[(samples - 1) / 2] + of_loop[samples / 2]) / 2;
        printf("%s %s %.3f\n", loops[which].kernel, loops[which].form, moved / median * 1e-9);
    }
    return 0;
}
