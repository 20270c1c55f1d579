// Finds the loaded program or library that contains an address. Takes no lock, and allocates nothing.
//
// Sources  _dl_find_object (from glibc 2.35 on). With an older glibc, nothing is found.
// Cost     some 20 ns.
// Memory   none.
// Threads  any; async-signal-safe.
// Ownership  a FoundObject is valid as long as the object is loaded.
#pragma once

#include <cstdint>

namespace memsweep::trace::recorder {

struct FoundObject {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::uint64_t bias{};
    const std::uint8_t* frame_header{};  // .eh_frame_hdr; null: the object has none
    const char* path{};                  // as the dynamic linker knows it; empty: the program itself

    [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address - begin < end - begin; }
};

// Looks up _dl_find_object. Call while the program has only one thread.
void prepare_finding_objects() noexcept;
// Stores the object that contains the address in `found`. False: no object contains it, or there is no _dl_find_object.
[[nodiscard]] bool find_object(std::uint64_t address, FoundObject& found) noexcept;

}  // namespace memsweep::trace::recorder
