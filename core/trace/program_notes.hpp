// Reads what a trace tells about its processes in addition to events and call stacks: the programs and libraries that
// were loaded, the code that made each mapping, the address ranges of threads' stacks, and how many bytes of a block
// are usable (malloc_usable_size).
//
// Cost     read(): some 100 ns for each chunk that has such information.
// Memory   the payloads of modules, and a header for each chunk of events that has mappings.
// Errors   a malformed chunk is read up to the fault, and counted in TraceFile::damage().
// Threads  any, after read().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/trace/chunk_numbers.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/module_table.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

// A program or library that was loaded in one process image (a process from one exec to the next).
struct NotedModule {
    StackImage image;
    LoadedModule module;
};

// A thread's stack. Its guard pages lie below and are not part of it.
struct ThreadStack {
    std::uint32_t process{};
    std::uint32_t thread{};
    std::uint64_t begin{};
    std::uint64_t bytes{};
    std::uint64_t first_ticks{};  // when the recording of the thread began
};

// Identifies all blocks of a process that have the same size and the same alignment. malloc_usable_size gives one
// answer for all of them.
struct UsableSize {
    std::uint32_t process{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // 0: malloc's default
    friend auto operator<=>(const UsableSize&, const UsableSize&) = default;
};

class ProgramNotes {
  public:
    [[nodiscard]] static ProgramNotes read(TraceFile& file);

    // Returns the modules of all images. Event::module is a place in this list, from 1.
    [[nodiscard]] const std::vector<NotedModule>& modules() const noexcept { return modules_; }
    // Returns the place of the image's module `number` in modules(), from 1. 0: the trace does not have this module.
    [[nodiscard]] std::uint32_t place_of(const StackImage& image, std::uint32_t number) const;
    // Returns whether the trace names the module of at least one mapping.
    [[nodiscard]] bool has_mappers() const noexcept { return !mappers_.empty(); }
    // Returns the chunk that names the modules of the mappings in the event chunk `events`, or null if the trace has no
    // such chunk.
    [[nodiscard]] const ChunkPlace* mappers_of(const ChunkHeader& events) const;

    [[nodiscard]] const std::vector<ThreadStack>& thread_stacks() const noexcept { return thread_stacks_; }
    // Returns the usable size of the blocks that `block` identifies. nullopt: the trace does not tell it. For glibc's
    // allocator no trace tells it, because the size follows a known rule (usable_size.hpp). A block that realloc
    // has resized in place may have more usable bytes.
    [[nodiscard]] std::optional<std::uint64_t> usable_size(const UsableSize& block) const;
    [[nodiscard]] const std::map<UsableSize, std::uint64_t>& usable_sizes() const noexcept { return usable_sizes_; }

  private:
    bool take_usable_sizes(std::uint32_t process, std::span<const std::uint8_t> payload, std::uint64_t& held,
                           std::uint64_t most_held);
    bool take_thread_stacks(const ChunkHeader& header, std::span<const std::uint8_t> payload, std::uint64_t& held,
                            std::uint64_t most_held);

    using ChunkKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
    struct Places {
        std::uint32_t before{};  // how many modules of other images come before those of this image
        std::uint32_t count{};
    };

    ModuleTable table_;
    std::vector<NotedModule> modules_;
    std::map<StackImage, Places> places_;
    std::map<ChunkKey, ChunkPlace> mappers_;
    std::vector<ThreadStack> thread_stacks_;
    std::map<UsableSize, std::uint64_t> usable_sizes_;
};

// Tells which modules made the mappings of one chunk of events, in the order of the events.
class ChunkMappers {
  public:
    ChunkMappers() = default;
    // If the trace does not tell the modules for this chunk, next() always returns 0.
    ChunkMappers(const ProgramNotes& notes, TraceFile& file, const ChunkHeader& events);

    // Returns the module of the next event that maps or unmaps, as a place in ProgramNotes::modules(), from 1. 0: not
    // known.
    [[nodiscard]] std::uint32_t next();
    // Says whether the modules matched the events of the chunk. Call it after the chunk's last event.
    [[nodiscard]] bool is_whole() const noexcept { return numbers_.is_whole(); }

  private:
    ChunkNumbers numbers_;
    const ProgramNotes* notes_{};
};

}  // namespace memsweep::trace
