// The report on the settings of PyTorch's caching allocator that suit a trace: a sentence, the environment variable to
// set, and a table. A page also shows the reserved bytes over time.
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
    std::uint64_t live_peak{};  // summed from the sizes in the trace
    std::optional<std::uint64_t> capacity;
    std::string capacity_text;         // as the user wrote it
    std::string memory;                // the memory to fit: "device 0"
    std::string sizes;                 // meaning of the sizes: "as requested"
    bool is_least{};                   // more may be needed than the report says, because the trace lacks some memory
    std::vector<std::string> caveats;  // why more may be needed, and other doubts about the report
    std::uint64_t refusals{};
    std::optional<trace::RefusedRequest> refused;
    std::uint64_t emptied{};       // calls of torch.cuda.empty_cache()
    std::uint64_t own_releases{};  // how often the program's own allocator ran short of memory
    trace::PyTorchFit fit;
};

// Returns the variable to set: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True". Empty if no setting helps enough.
[[nodiscard]] std::string advice_of(const PyTorchFitReport& report);

[[nodiscard]] Document document(const PyTorchFitReport& report);

}  // namespace memsweep::reporters
