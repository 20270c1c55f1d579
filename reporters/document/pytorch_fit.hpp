// Which settings of PyTorch's caching allocator suit a trace: a sentence, the line to set, the table, and in a page
// what is reserved over time.
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
    std::string sizes;                 // what they are: "as requested"
    bool is_least{};                   // what the trace does not have may need more
    std::vector<std::string> caveats;  // why, and what else a reader has to know of the figures
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;
    std::uint64_t emptied{};       // calls of torch.cuda.empty_cache()
    std::uint64_t own_releases{};  // where the program's own allocator was short of memory
    trace::PyTorchFit fit;
};

// "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"; empty where nothing is worth a change or helps.
[[nodiscard]] std::string advice_of(const PyTorchFitReport& report);

[[nodiscard]] Document document(const PyTorchFitReport& report);

}  // namespace memsweep::reporters
