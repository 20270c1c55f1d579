// The settings of PyTorch's caching allocator that suit a trace: a sentence, the line to set, and the table. A page
// also has the reserved bytes over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/fit.hpp"
#include "core/trace/pytorch_fit.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct PyTorchFitReport {
    std::string trace_name;
    std::uint64_t live_peak{};  // as the trace's sizes are
    std::optional<std::uint64_t> capacity;
    std::string capacity_text;         // as it was asked for
    std::string memory;                // "device 0"
    std::string sizes;                 // their meaning: "as requested"
    bool is_least{};                   // memory that the trace lacks may need more
    std::vector<std::string> caveats;  // why, and further caveats about the figures
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;
    std::uint64_t emptied{};       // calls of torch.cuda.empty_cache()
    std::uint64_t own_releases{};  // times that the program's own allocator was short of memory
    trace::PyTorchFit fit;
};

// "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"; empty if no change helps or is worth it.
[[nodiscard]] std::string advice_of(const PyTorchFitReport& report);

[[nodiscard]] Document document(const PyTorchFitReport& report);

}  // namespace memsweep::reporters
