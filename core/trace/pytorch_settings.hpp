// The settings of PyTorch's caching allocator, as PYTORCH_CUDA_ALLOC_CONF has them.
//
// Units    bytes; sizes in texts are in MiB.
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
    // A block of at least this size serves only requests of at least this size. It is never split, except in an
    // expandable segment.
    std::uint64_t max_split{unbounded};
    // A cached block of at least max_split bytes serves a request only if it is larger than the request by less than
    // this many bytes.
    std::uint64_t max_non_split_rounding{20 * mib};
    std::array<std::uint64_t, 16> divisions{};
    double gc_threshold{};  // the share of the capacity above which garbage is collected; 0: never
    bool expandable{};

    [[nodiscard]] std::uint64_t divisions_of(std::uint64_t size) const;
    [[nodiscard]] bool rounds() const;
    friend bool operator==(const PyTorchSettings&, const PyTorchSettings&) = default;
};

// Returns the settings that differ from the defaults, for example "max_split_size_mb:64,expandable_segments:True".
// Empty: none differs.
[[nodiscard]] std::string text_of(const PyTorchSettings& settings);

// Reads the text as PyTorch would. Settings that do not change what is reserved are accepted and ignored.
//
// Errors   invalid_input: an unknown name, a value that PyTorch refuses, or a backend other than PyTorch's own.
[[nodiscard]] base::Expected<PyTorchSettings> parse_pytorch_settings(std::string_view text);

}  // namespace memsweep::trace
