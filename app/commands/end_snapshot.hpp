// What is looked at of a recorded program while it stands, and what its copy is asked afterwards.
//
// Errors   those of reading; not_supported: nothing was recorded of it.
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

// Where a program is recorded to, and by what.
struct RecordedBy {
    std::string library;
    std::string folder;
};

// Takes it of a process that stands, of the last program that it has become. How long it stood is filled in later.
[[nodiscard]] base::Expected<trace::Snapshot> take_snapshot(const RecordedBy& recorded, pid_t process, pid_t thread,
                                                            trace::SnapshotAt at);

// All that recorders have written to the folder.
[[nodiscard]] base::Expected<std::vector<trace::RecordedImage>> recorded_images(const std::string& folder);

// Parts of the size of a page that are all zero, of the huge pages that a program has for itself.
//
// Cost     some 0.2 ms a MiB of huge pages.
[[nodiscard]] std::vector<measure::AddressRange> zero_parts_of(const sys::AddressSpace& space,
                                                               const sys::ForeignMemory& memory);

// The processes that a program has started, without the copy that is left of it.
struct OtherProcesses {
    std::uint64_t page_faults{};  // by those that it has waited for, and by theirs
    std::uint64_t peak_bytes{};   // the resident set of the largest of them; 0: not known
    bool are_running{};
};
[[nodiscard]] OtherProcesses other_processes(pid_t process);

// The answer of a copy (format/given_back.hpp).
struct CopyAnswer {
    measure::TriedRequest tried;
    std::vector<std::pair<std::string, std::uint64_t>> figures;  // of the allocator, before the request
    std::uint64_t children_peak_bytes{};                         // 0: there were none
};

// The copy that the recorder leaves of a program that ends by exit(3).
//
// Ownership  it ends with this object at the latest, and when we are killed.
class ProgramCopy {
  public:
    // Makes the gate in the folder, by which a copy is asked: before the program begins.
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

    // The process stands, and has this copy: it becomes a child of ours when the process ends.
    void take(pid_t process, pid_t copy);
    [[nodiscard]] bool is_there() const noexcept { return copy_ != 0; }
    // Null: it may not be read.
    [[nodiscard]] const sys::ForeignMemory* memory() const noexcept { return memory_ ? &*memory_ : nullptr; }
    // Asks it, which changes its memory, and waits 10 s at most; without a copy, says why there is none. Once the
    // process has ended.
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
