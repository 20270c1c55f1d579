// A program's requests to PyTorch's caching allocator on one device, from a trace.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1.
// Memory   32 bytes a request or free, 16 a segment.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/segment_addresses.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct PyTorchOps {
    enum class Action : std::uint8_t {
        allocate,
        request_free,  // the program has let go; a stream may still use the block
        free,          // no stream does any more
        refuse,        // a request that was not granted, counted as granted and freed at once
        empty_cache,   // torch.cuda.empty_cache()
    };
    struct Op {
        std::uint64_t size{};
        std::uint64_t stream{};
        std::uint64_t event{};
        std::uint32_t block{};  // a recycled number
        Action action{};
    };
    std::vector<Op> ops;
    std::vector<SegmentPlace> segments;  // segments that the program's own allocator took, in order
    std::uint64_t emptied{};             // calls of empty_cache() among the operations
    // How often segments were given back just before another was taken, because all together would have been more than
    // the program ever took. The allocator does so by itself if memory is short, so this is not among the operations.
    std::uint64_t own_releases{};
};

// Requests beyond 64 PiB are left out.
[[nodiscard]] PyTorchOps pytorch_ops(TraceReader& reader, std::uint32_t device);

}  // namespace memsweep::trace
