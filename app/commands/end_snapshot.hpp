// Reads the state of a recorded program while it is stopped. Afterwards asks the copy of the program to give memory
// back.
//
// Errors   those of reading; not_supported: nothing was recorded of the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/memory_ledger.hpp"
#include "core/measure/memory_verdict.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/mappings.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/snapshot.hpp"

namespace memsweep::app {

// The recorder's library, and the folder into which it records.
struct RecordedBy {
    std::string library;
    std::string folder;
};

// Takes a snapshot of a stopped process. If the process has executed other programs (execve(2)), the snapshot is of the
// last one. The caller fills in how long the process was stopped.
[[nodiscard]] base::Expected<trace::Snapshot> take_snapshot(const RecordedBy& recorded, pid_t process, pid_t thread,
                                                            trace::SnapshotAt at);

// All that recorders have written to the folder.
[[nodiscard]] base::Expected<std::vector<trace::RecordedImage>> recorded_images(const std::string& folder);

// The all-zero parts of the program's private huge pages, in whole base pages. Neighbours are joined.
//
// Cost     some 0.2 ms a MiB of huge pages.
[[nodiscard]] std::vector<measure::AddressRange> zero_parts_of(const sys::AddressSpace& space,
                                                               const sys::ForeignMemory& memory);

// The processes that a program has started. Its copy does not count.
struct OtherProcesses {
    std::uint64_t page_faults{};  // of children that it waited for, and of theirs
    std::uint64_t peak_bytes{};   // the resident set of the largest of them; 0: not known
    bool are_running{};
};
[[nodiscard]] OtherProcesses other_processes(pid_t process);

// The answer of a copy (format/given_back.hpp).
struct CopyAnswer {
    measure::TriedRequest tried;
    std::vector<std::pair<std::string, std::uint64_t>> figures;  // that the allocator reports, before the request
    std::uint64_t children_peak_bytes{};                         // 0: there were none
};

// The copy that the recorder leaves of a program that ends by exit(3).
//
// Ownership  the copy ends with this object at the latest, or when we are killed.
class ProgramCopy {
  public:
    // Call before the program begins. Makes a FIFO in the folder, the gate, through which a copy is asked.
    [[nodiscard]] static base::Expected<ProgramCopy> await(const std::string& folder);
    ProgramCopy(ProgramCopy&& other) noexcept
        : folder_{std::move(other.folder_)}, gate_{std::move(other.gate_)}, process_{other.process_},
          copy_{std::exchange(other.copy_, 0)}, memory_{std::move(other.memory_)}
    {
    }
    ProgramCopy(const ProgramCopy&) = delete;
    ProgramCopy& operator=(const ProgramCopy&) = delete;
    ProgramCopy& operator=(ProgramCopy&&) = delete;
    ~ProgramCopy();

    // Call while the process is stopped and has this copy. The copy becomes our child when the process ends.
    void take(pid_t process, pid_t copy);
    [[nodiscard]] bool is_there() const noexcept { return copy_ != 0; }
    // Null: the memory of the copy may not be read.
    [[nodiscard]] const sys::ForeignMemory* memory() const noexcept { return memory_ ? &*memory_ : nullptr; }
    // Call once the process has ended. Asks the copy to give memory back, which changes its memory, and waits for 10 s
    // at most. If there is no copy, the answer says why.
    [[nodiscard]] CopyAnswer ask(pid_t process);

  private:
    ProgramCopy(std::string folder, sys::UniqueFd gate) : folder_{std::move(folder)}, gate_{std::move(gate)} {}
    bool wait_for_end() const;

    std::string folder_;
    sys::UniqueFd gate_;
    pid_t process_{};
    pid_t copy_{};
    std::optional<sys::ForeignMemory> memory_;
};

}  // namespace memsweep::app
