// What the copy engines of a CUDA device do, by nvbandwidth's method and nothing else: 512 MiB of pinned memory, 16
// copies behind a kernel that spins until all are queued, the median of samples. memsweep's own figures stand beside
// these.
//
//   copy_engine [SAMPLES]       prints "transfer,GB/s" a line, for device 0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr std::size_t bytes = std::size_t{512} << 20;
constexpr int copies = 16;

void check(cudaError_t code, const char* call)
{
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
        std::exit(1);
    }
}

__global__ void spin(const volatile int* go)
{
    while (*go == 0) {
    }
}

double sample(void* to, const void* from, cudaStream_t stream, volatile int* go)
{
    cudaEvent_t begin;
    cudaEvent_t end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    *go = 0;
    spin<<<1, 1, 0, stream>>>(const_cast<const int*>(go));
    check(cudaGetLastError(), "spin");
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    for (int i = 0; i < copies; ++i) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    }
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    *go = 1;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return static_cast<double>(bytes) * copies / (milliseconds * 1e-3) / 1e9;
}

void report(const char* name, void* to, const void* from, cudaStream_t stream, volatile int* go, int samples)
{
    std::vector<double> rates;
    sample(to, from, stream, go);  // to warm up
    for (int i = 0; i < samples; ++i) {
        rates.push_back(sample(to, from, stream, go));
    }
    std::sort(rates.begin(), rates.end());
    std::printf("%s,%.3f\n", name, rates[rates.size() / 2]);
}

}  // namespace

int main(int count, char** words)
{
    const int samples = count > 1 ? std::atoi(words[1]) : 9;
    if (samples < 1) {
        std::fprintf(stderr, "usage: copy_engine [SAMPLES]\n");
        return 2;
    }
    void* host = nullptr;
    void* first = nullptr;
    void* second = nullptr;
    int* go = nullptr;
    cudaStream_t stream;
    check(cudaHostAlloc(&host, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    check(cudaHostAlloc(&go, sizeof *go, cudaHostAllocMapped), "cudaHostAlloc");
    check(cudaMalloc(&first, bytes), "cudaMalloc");
    check(cudaMalloc(&second, bytes), "cudaMalloc");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    std::memset(host, 1, bytes);
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, spin), "cudaFuncGetAttributes");
    report("host_to_device_memcpy_ce", first, host, stream, go, samples);
    report("device_to_host_memcpy_ce", host, first, stream, go, samples);
    report("device_local_copy", second, first, stream, go, samples);
    return 0;
}
