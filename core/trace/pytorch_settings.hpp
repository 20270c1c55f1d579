// The settings of PyTorch's caching allocator, as PYTORCH_CUDA_ALLOC_CONF has them.
//
// Units    bytes, but for the texts, whose sizes are MiB.
// Sources  c10/core/AllocatorConfig.{h,cpp} of PyTorch: names, bounds and what a list of divisions means.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/trace/placement.hpp"

namespace memsweep::trace {

inline constexpr std::uint64_t mib = 1ULL << 20U;

struct PyTorchSettings {
    std::uint64_t max_split{unbounded};              // blocks of this size or more are neither split nor cut from
    std::uint64_t max_non_split_rounding{20 * mib};  // how much larger than the request such a block may be
    // Into how many steps the sizes between two powers of two are divided; 0 and 1: no rounding. The first number is
    // for sizes below 2 MiB, each next one for twice the size, and the last for sizes from 32 GiB on.
    std::array<std::uint64_t, 16> divisions{};
    double gc_threshold{};  // of the capacity; 0: no collection
    bool expandable{};

    [[nodiscard]] std::uint64_t divisions_of(std::uint64_t size) const;
    [[nodiscard]] bool rounds() const;
    friend bool operator==(const PyTorchSettings&, const PyTorchSettings&) = default;
};

// "max_split_size_mb:64,expandable_segments:True"; empty: all is as it is by default.
[[nodiscard]] std::string text_of(const PyTorchSettings& settings);

// Reads the text as PyTorch would. Settings that do not change what is reserved are accepted and ignored.
//
// Errors   invalid_input: an unknown name, a value that PyTorch refuses, another backend.
[[nodiscard]] base::Expected<PyTorchSettings> parse_pytorch_settings(std::string_view text);

}  // namespace memsweep::trace
