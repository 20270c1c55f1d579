// What the kernels of kernels.cu do on a device, on the invented one.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/device/cuda/kernels.hpp"
#include "core/device/pattern.hpp"
#include "tests/cuda/invented_machine.hpp"

namespace memsweep::device::MEMSWEEP_API {

namespace cudart = tests::fake_cudart;

namespace {

std::uint64_t load(const volatile std::uint64_t* word)
{
    return std::atomic_ref{*const_cast<std::uint64_t*>(word)}.load();
}

}  // namespace

cudaError_t preload_kernels(Grids& /*grids*/)
{
    return cudart::enter("preload_kernels");
}

cudaError_t queue_copy(cudaStream_t stream, unsigned /*most_blocks*/, void* to, const void* from, std::uint64_t bytes)
{
    const auto code = cudart::enter_launch("copy_kernel", stream);
    if (code != cudaSuccess) {
        return code;
    }
    const int device = cudart::of(stream).device;
    return cudart::push(stream, cudart::ms_by_kernel(device, to, from, bytes),
                        [=] { cudart::copy_by_kernel(device, to, from, bytes); });
}

cudaError_t queue_pattern(cudaStream_t stream, unsigned /*most_blocks*/, void* to, std::uint64_t bytes, Pattern pattern)
{
    const auto code = cudart::enter_launch("pattern_kernel", stream);
    if (code != cudaSuccess) {
        return code;
    }
    return cudart::push(stream, cudart::ms_for(bytes), [=, device = cudart::of(stream).device] {
        if (std::byte* const words = cudart::reached(device, to, bytes, 8)) {
            write_pattern({words, bytes}, pattern);
        }
    });
}

cudaError_t queue_check(cudaStream_t stream, unsigned /*most_blocks*/, const void* from, std::uint64_t bytes,
                        Pattern pattern, unsigned long long* found)
{
    const auto code = cudart::enter_launch("check_kernel", stream);
    if (code != cudaSuccess) {
        return code;
    }
    return cudart::push(stream, cudart::ms_for(bytes), [=, device = cudart::of(stream).device] {
        const std::byte* const words = cudart::reached(device, from, bytes, 8);
        if (words == nullptr || cudart::reached(device, found, 2 * sizeof *found, 8) == nullptr) {
            return;
        }
        const Mismatch wrong = check_pattern({words, bytes}, pattern);
        found[0] += wrong.words;
        found[1] = wrong.words == 0 ? found[1] : wrong.first_byte / 8;
    });
}

cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place)
{
    constexpr double load_ms = 1e-3;
    const auto code = cudart::enter_launch("follow_kernel", stream);
    if (code != cudaSuccess) {
        return code;
    }
    const double takes_ms = load_ms * static_cast<double>(loads + 1);
    return cudart::push(stream, takes_ms, [=, device = cudart::of(stream).device] {
        std::byte* const held = cudart::reached(device, place, 8, 8);
        if (held == nullptr) {
            return;
        }
        std::uint64_t at = 0;
        std::memcpy(&at, held, sizeof at);
        for (std::uint64_t load = 0; load < loads; ++load) {
            const std::byte* const link =
                cudart::reached(device, static_cast<const std::byte*>(chain) + at, sizeof at, 8);
            if (link == nullptr) {
                return;
            }
            std::memcpy(&at, link, sizeof at);
        }
        std::memcpy(held, &at, sizeof at);
    });
}

cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                        volatile std::uint64_t* gave_up)
{
    const auto code = cudart::enter_launch("latch_kernel", stream);
    if (code != cudaSuccess) {
        return code;
    }
    cudart::InventedStream& on = cudart::of(stream);
    const auto let_go = [=, &on] {
        if (load(word) != expected) {
            std::atomic_ref{*const_cast<std::uint64_t*>(gave_up)}.store(expected);
        }
        on.at_ms = std::max(on.at_ms, cudart::machine().host_ms);
    };
    return cudart::push(stream, 0, let_go, [=, device = on.device] {
        return cudart::reached(device, const_cast<const std::uint64_t*>(word), 8, 8) != nullptr &&
               (load(word) == expected || cudart::machine().gives_up);
    });
}

}  // namespace memsweep::device::MEMSWEEP_API
