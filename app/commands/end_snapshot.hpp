// Reads the memory state of a recorded program while the program is stopped. Afterwards asks a forked copy of the
// program to return free heap memory to the kernel.
//
// Errors   those of read_address_space() and of reading the recording; not_supported: the program was not recorded.
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

// Returns all recordings in the folder.
[[nodiscard]] base::Expected<std::vector<trace::RecordedImage>> recorded_images(const std::string& folder);

// Looks inside the program's private huge pages, and returns the base pages (4 KiB) there that hold only zeros.
// Adjacent pages form one range.
//
// Cost     some 0.2 ms per MiB of huge pages.
[[nodiscard]] std::vector<measure::AddressRange> zero_parts_of(const sys::AddressSpace& space,
                                                               const sys::ForeignMemory& memory);

// The processes that a program has started, without the program's forked copy (see ProgramCopy).
struct OtherProcesses {
    // Page faults of the children that the program has waited for. The faults of a child include those of the children
    // that it has itself waited for.
    std::uint64_t page_faults{};
    std::uint64_t peak_bytes{};  // the largest peak resident set of any of them; 0: not known
    bool are_running{};
};
[[nodiscard]] OtherProcesses other_processes(pid_t process);

// What a program's forked copy answered (format/given_back.hpp).
struct CopyAnswer {
    measure::TriedRequest tried;
    std::vector<std::pair<std::string, std::uint64_t>> figures;  // the allocator's statistics before the request
    // The largest peak resident set of the program's children. 0: it had none, or the copy did not answer.
    std::uint64_t children_peak_bytes{};
};

// The forked copy that the recorder leaves behind when a program ends by exit(3).
//
// Ownership  the copy ends at the latest when this object is destroyed or memsweep is killed.
class ProgramCopy {
  public:
    // Call before the program begins. Makes a FIFO in the folder and opens it as `gate_`. The copy gets its request
    // through this FIFO.
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

    // Call while `process` is stopped. `copy`: the forked copy of `process`; it becomes our child when `process` ends.
    void take(pid_t process, pid_t copy);
    [[nodiscard]] bool is_there() const noexcept { return copy_ != 0; }
    // Returns the copy's memory; null: there is no copy, or we are not allowed to read its memory.
    [[nodiscard]] const sys::ForeignMemory* memory() const noexcept { return memory_ ? &*memory_ : nullptr; }
    // Call after the process has ended. Asks the copy to return memory, and waits for its answer for 10 s at most. The
    // request changes the copy's memory, so read memory() first. If there is no copy, the returned CopyAnswer says why.
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
