// CUDA's runtime library as far as our backend calls it, and the backend's kernels, on memory of this process: what the
// backend asks for, in which order, and what it leaves behind. It says nothing about a device.
//
// Like CUDA's: a stream's work is done in order, and here when somebody waits for it, no sooner; memory that a call of
// cudaHostAlloc maps has another address on the device; a kernel that uses an address which it does not reach, or which
// is not aligned, breaks everything from there on (a sticky error), while any other failure is remembered until
// cudaGetLastError. Kernels and cudaMemset reach the memory of another device where access to it was enabled, and never
// what comes from a pool; copies between devices go straight there too, and otherwise through the host, which is right
// whatever the link does.
//
// The same sources, compiled with MEMSWEEP_HIP, are HIP's library (core/device/cuda/api.hpp).
//
// Units    bytes; milliseconds of an invented clock, on which 1 GB/s is moved.
// Threads  any, one call at a time; the current device and the last error are each thread's own, as CUDA's are.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/device/cuda/runtime.hpp"

namespace memsweep::tests::fake_cudart {

// Of a pair, the first is the device whose kernels and copy engines work, the second the one whose memory they use.
using Pairs = std::set<std::pair<int, int>>;

#ifdef MEMSWEEP_HIP
inline constexpr int library_version = 50200;
#else
inline constexpr int library_version = CUDART_VERSION;
#endif

struct Devices {
    int count{2};
    const char* name{"invented"};  // and a number
    bool peers{true};              // access to each other's memory can be enabled
    Pairs misdirected;  // what goes over the link lands elsewhere, and is found there again, as behind an IOMMU
    Pairs corrupting;   // of each copy over the link one word arrives wrong
    Pairs slow;         // a copy over the link takes sixteen times as long as over another
    std::size_t memory_bytes{std::size_t{1} << 34U};  // of each
    int driver_version{library_version};
    bool reaches_ordinary{};  // kernels use ordinary memory where it lies (HMM)
    bool partitioned{};       // each is an instance (MIG) of its card
    std::vector<int> nodes;   // of host memory, that the management library calls nearest to each; empty: 65
};
inline constexpr int slower = 16;

// What the library has given out and not got back.
struct Holdings {
    std::size_t blocks{};
    std::size_t registrations{};
    std::size_t pools{};
    std::size_t streams{};
    std::size_t events{};
    friend bool operator==(const Holdings&, const Holdings&) = default;
};
[[nodiscard]] Holdings holdings();

// Our backend, opened on this library.
[[nodiscard]] inline base::Expected<std::unique_ptr<device::Runtime>> open_backend()
{
    return device::MEMSWEEP_API::open();
}

// As it was at the start: nothing called, nothing enabled, nothing broken. What was given out stays.
void reset(const Devices& devices = {});

[[nodiscard]] std::size_t calls_of(const std::string& function);
// The next call of this function answers so.
void fail_next(const std::string& function, cudaError_t code);
// What cudaGetLastError would answer now.
[[nodiscard]] cudaError_t remembered();
// Everything answers so from now on.
void break_with(cudaError_t code);

}  // namespace memsweep::tests::fake_cudart
