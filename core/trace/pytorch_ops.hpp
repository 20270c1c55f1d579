// What a program asked of PyTorch's caching allocator on one device, as a trace has it.
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
    std::vector<SegmentPlace> segments;  // that the program's own allocator took, in their order
    std::uint64_t emptied{};             // empty_cache() among the operations
    // Segments were given back just before another was taken, when it would have fitted beside them only by taking more
    // than the program ever did: as the allocator does by itself where memory is short. It is not among the operations.
    std::uint64_t own_releases{};
};

// Requests beyond 64 PiB are left out.
[[nodiscard]] PyTorchOps pytorch_ops(TraceReader& reader, std::uint32_t device);

}  // namespace memsweep::trace
