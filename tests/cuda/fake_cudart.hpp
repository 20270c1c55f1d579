// CUDA's runtime library as far as our backend calls it, and the backend's kernels, on memory of this process: what the
// backend asks for, in which order, and what it leaves behind. It says nothing about a device.
//
// Like CUDA's: a stream's work is done in order, when somebody waits for it; memory that a call of cudaHostAlloc maps
// has another address on the device; a kernel that uses an address which it does not reach, or which is not aligned,
// breaks everything from there on (a sticky error), while any other failure is remembered until cudaGetLastError.
//
// Threads  one.
#pragma once

#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

namespace memsweep::tests::fake_cudart {

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

// As it was at the start: nothing called, nothing broken.
void reset();

[[nodiscard]] std::size_t calls_of(const std::string& function);
// The next call of this function answers so.
void fail_next(const std::string& function, cudaError_t code);
// What cudaGetLastError would answer now.
[[nodiscard]] cudaError_t remembered();
// Everything answers so from now on.
void break_with(cudaError_t code);

}  // namespace memsweep::tests::fake_cudart
