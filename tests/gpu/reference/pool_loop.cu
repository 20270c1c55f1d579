// What the driver's own memory calls cost, by a loop around them and nothing else: memsweep's scenario driver_memory
// stands beside these. A pair makes a block and frees it. Only the calls are timed, not the wait for the stream after.
//
//   pool_loop [SAMPLES]         prints the columns below, for device 0; the slow kinds take 9 samples at most
//
// low_ns and high_ns are the order statistics that hold the median at 95 %; empty below 6 samples.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr std::size_t kib = 1024;
constexpr int slow_samples = 9;
// Pairs behind a held stream: its queue takes about 1000 calls, then the next call waits for the stream.
constexpr int batch = 256;
constexpr unsigned long long hold_limit_ns = 2'000'000'000;

void check(cudaError_t code, const char* call)
{
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
        std::exit(1);
    }
}

// Gives way in the end, so that a call which waits for the stream is a failure, and no hang.
__global__ void hold(const volatile int* go, volatile int* gave_way)
{
    unsigned long long begin = 0;
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    while (*go == 0 && *gave_way == 0) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if (now - begin > hold_limit_ns) {
            *gave_way = 1;
        }
    }
}

template <typename Pair>
double ns_of(int pairs, Pair pair)
{
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < pairs; ++i) {
        pair();
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// The k of the values k and n + 1 - k that hold the median: the largest with 2 P(fewer than k of n lie below) <= 5 %.
int interval_rank(int n)
{
    double term = std::pow(0.5, n);
    double sum = term;
    int k = 0;
    while (2 * sum <= 0.05) {
        ++k;
        term *= static_cast<double>(n - k + 1) / k;
        sum += term;
    }
    return k;
}

// `sample` returns the ns of all its pairs, less than 0 where it failed.
template <typename Sample>
bool report(const char* kind, std::size_t bytes, int pairs, int samples, Sample sample)
{
    std::vector<double> ns;
    for (int i = -1; i < samples; ++i) {
        const double all = sample(pairs);
        if (all < 0) {
            std::fprintf(stderr, "%s, %zu bytes, %d pairs: a call waited for the held stream\n", kind, bytes, pairs);
            return false;
        }
        if (i >= 0) {  // the first was to warm up
            ns.push_back(all / pairs);
        }
    }
    std::sort(ns.begin(), ns.end());
    const std::size_t n = ns.size();
    std::printf("%s,%zu,%d,%zu,%.1f,", kind, bytes, pairs, n, (ns[(n - 1) / 2] + ns[n / 2]) / 2);
    if (const int k = interval_rank(samples); k > 0) {
        std::printf("%.1f,%.1f\n", ns[k - 1], ns[n - k]);
    } else {
        std::printf(",\n");
    }
    std::fflush(stdout);
    return true;
}

// One row from a new pool that keeps what it has, and has a block from the start.
bool report_pool(bool busy, std::size_t bytes, int pairs, int samples, cudaStream_t stream, volatile int* signal)
{
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.handleTypes = cudaMemHandleTypeNone;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = 0;
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
    std::uint64_t kept_bytes = std::numeric_limits<std::uint64_t>::max();
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes), "cudaMemPoolSetAttribute");
    const auto pair = [&] {
        void* made = nullptr;
        check(cudaMallocFromPoolAsync(&made, bytes, pool, stream), "cudaMallocFromPoolAsync");
        check(cudaFreeAsync(made, stream), "cudaFreeAsync");
    };
    const auto idle_sample = [&](int count) {
        const double ns = ns_of(count, pair);
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        return ns;
    };
    const auto busy_sample = [&](int count) {
        double ns = 0;
        for (int left = count; left > 0; left -= batch) {
            signal[0] = 0;
            signal[1] = 0;
            hold<<<1, 1, 0, stream>>>(const_cast<const int*>(signal), const_cast<int*>(signal) + 1);
            check(cudaGetLastError(), "hold");
            ns += ns_of(std::min(left, batch), pair);
            signal[0] = 1;
            check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            if (signal[1] != 0) {
                return -1.0;
            }
        }
        return ns;
    };
    idle_sample(1);
    const bool done = busy ? report("pool_busy", bytes, pairs, samples, busy_sample)
                           : report("pool", bytes, pairs, samples, idle_sample);
    check(cudaMemPoolDestroy(pool), "cudaMemPoolDestroy");
    return done;
}

}  // namespace

int main(int count, char** words)
{
    const int samples = count > 1 ? std::atoi(words[1]) : 15;
    if (samples < 1 || samples > 1000) {
        std::fprintf(stderr, "usage: pool_loop [SAMPLES], 1 to 1000\n");
        return 2;
    }
    const int fewer = std::min(samples, slow_samples);
    check(cudaSetDevice(0), "cudaSetDevice");
    int* signal = nullptr;  // go, gave way
    cudaStream_t stream;
    check(cudaHostAlloc(&signal, 2 * sizeof *signal, cudaHostAllocMapped), "cudaHostAlloc");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, hold), "cudaFuncGetAttributes");  // loads it
    bool done = true;
    std::printf("kind,size_bytes,operations,samples,median_ns_per_pair,low_ns,high_ns\n");
    for (const std::size_t bytes : {64 * kib, kib * kib, 16 * kib * kib}) {
        for (const bool busy : {false, true}) {
            for (const int pairs : {100, 1000, 10000}) {
                done = report_pool(busy, bytes, pairs, samples, stream, signal) && done;
            }
        }
        void* made = nullptr;
        const auto device = [&] {
            check(cudaMalloc(&made, bytes), "cudaMalloc");
            check(cudaFree(made), "cudaFree");
        };
        const auto pinned = [&] {  // as memsweep asks for it
            check(cudaHostAlloc(&made, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
            check(cudaFreeHost(made), "cudaFreeHost");
        };
        const auto managed = [&] {
            check(cudaMallocManaged(&made, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
            check(cudaFree(made), "cudaFree");
        };
        for (const int pairs : {100, 1000}) {
            report("device", bytes, pairs, fewer, [&](int times) { return ns_of(times, device); });
        }
        if (bytes <= kib * kib) {
            report("pinned", bytes, 100, fewer, [&](int times) { return ns_of(times, pinned); });
        }
        report("managed", bytes, 100, fewer, [&](int times) { return ns_of(times, managed); });
    }
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    check(cudaFreeHost(signal), "cudaFreeHost");
    return done ? 0 : 1;
}
