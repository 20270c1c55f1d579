// A program's requests to PyTorch's caching allocator on one device, from a trace.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1.
// Memory   32 bytes per request or free, 16 bytes per segment.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/segment_addresses.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct PyTorchOps {
    enum class Action : std::uint8_t {
        allocate,
        request_free,  // the program frees the block; a stream may still use it
        free,          // no stream uses the block any more
        refuse,        // a request that failed in the recording; simulated as an allocation that is freed at once
        empty_cache,   // torch.cuda.empty_cache()
    };
    struct Op {
        std::uint64_t size{};
        std::uint64_t stream{};
        std::uint64_t event{};
        std::uint32_t block{};  // a freed block's number is used again
        Action action{};
    };
    std::vector<Op> ops;
    std::vector<SegmentPlace> segments;  // the segments that PyTorch reserved in the recording, in order
    std::uint64_t emptied{};             // number of `empty_cache` operations in `ops`
    // How often the recorded allocator gave segments back by itself because memory was short. A release counts if the
    // next request failed. It also counts if the next request took a segment which, without the release, would have
    // made the reserved memory exceed its recorded peak. These releases are not in `ops`: a simulation makes its own.
    std::uint64_t own_releases{};
};

// Returns the operations and the segments of this device. Requests for more than 64 PiB are left out.
[[nodiscard]] PyTorchOps pytorch_ops(TraceReader& reader, std::uint32_t device);

}  // namespace memsweep::trace
