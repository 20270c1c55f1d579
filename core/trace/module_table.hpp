// The programs and libraries that each process image had loaded, according to a trace.
//
// Errors   take() returns false if a payload is malformed, and keeps the modules before the fault.
// Threads  any, once all payloads are taken.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/trace/format/stack_layout.hpp"

namespace memsweep::trace {

class ModuleTable {
  public:
    // Adds the modules of a payload of kind `modules`, and their number to `held`. Stops early if `held` (things of
    // bounds.hpp) would exceed `most_held`.
    bool take(std::vector<std::uint8_t> payload, std::uint32_t process, std::uint64_t& held, std::uint64_t most_held);

    // The modules of an image, in the order in which the trace first named them. A module's number is its place here,
    // from 1.
    [[nodiscard]] const std::vector<LoadedModule>& of(const StackImage& image) const;

  private:
    using Key = std::tuple<StackImage, std::uint64_t, std::uint64_t, std::string_view>;  // begin, first ticks, path

    std::map<StackImage, std::vector<LoadedModule>> modules_;
    std::map<Key, std::size_t> places_;                // of each module in its image's list
    std::vector<std::vector<std::uint8_t>> payloads_;  // the modules' texts point into them
};

}  // namespace memsweep::trace
