// The programs and libraries that each process image had loaded, according to a trace.
//
// Errors   take() returns false if a payload is malformed; the modules before the fault stay in the table.
// Threads  one for take(). After the last take(), any number of threads may read.
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
    // Adds the modules of a payload of kind `modules` to the table. For each module that it reads, adds 1 to `held`,
    // which counts "things" (bounds.hpp). Returns false if the payload is malformed, or as soon as `held` exceeds
    // `most_held`.
    bool take(std::vector<std::uint8_t> payload, std::uint32_t process, std::uint64_t& held, std::uint64_t most_held);

    // Returns the modules of an image, in the order in which the trace first named them. A module's number is its place
    // in this list, from 1. An empty list: the trace names no modules of this image.
    [[nodiscard]] const std::vector<LoadedModule>& of(const StackImage& image) const;

  private:
    // Image, then begin, first_ticks and path of the LoadedModule.
    using Key = std::tuple<StackImage, std::uint64_t, std::uint64_t, std::string_view>;

    std::map<StackImage, std::vector<LoadedModule>> modules_;
    std::map<Key, std::size_t> places_;                // by module: its index in the list of its image
    std::vector<std::vector<std::uint8_t>> payloads_;  // the modules' texts point into them
};

}  // namespace memsweep::trace
