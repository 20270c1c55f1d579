// The facts that a trace tells about its processes beside their events and call stacks. These are the objects that were
// loaded, the code that called for each mapping, and the places of threads' stacks. There are also the block sizes that
// the allocator tells.
//
// Cost     some 100 ns for each chunk of this kind, once.
// Memory   the payloads of modules, and a header for each chunk of events that has mappings.
// Errors   nonsense ends the reading of a chunk, and is counted in TraceFile::damage().
// Threads  any, once it is read.
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

// A module of one image.
struct NotedModule {
    StackImage image;
    LoadedModule module;
};

// A thread's stack, from the thread's start on. Its guard lies below and is no part of it.
struct ThreadStack {
    std::uint32_t process{};
    std::uint32_t thread{};
    std::uint64_t begin{};
    std::uint64_t bytes{};
    std::uint64_t first_ticks{};  // when its thread was begun to be recorded
};

// The answer of malloc_usable_size for blocks of this size and alignment.
struct UsableSize {
    std::uint32_t process{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // 0: as malloc has it
    friend auto operator<=>(const UsableSize&, const UsableSize&) = default;
};

class ProgramNotes {
  public:
    [[nodiscard]] static ProgramNotes read(TraceFile& file);

    // The modules of all images. Event::module is a place in this list, from 1.
    [[nodiscard]] const std::vector<NotedModule>& modules() const noexcept { return modules_; }
    // The place of a module of an image; 0: the trace does not have it.
    [[nodiscard]] std::uint32_t place_of(const StackImage& image, std::uint32_t number) const;
    // Whether the trace names the caller of any mapping.
    [[nodiscard]] bool has_mappers() const noexcept { return !mappers_.empty(); }
    // The chunk with the mappers for another chunk's events.
    [[nodiscard]] const ChunkPlace* mappers_of(const ChunkHeader& events) const;

    [[nodiscard]] const std::vector<ThreadStack>& thread_stacks() const noexcept { return thread_stacks_; }
    // The usable size that a process's allocator gives. Absent: it was not asked, as glibc is not (usable_size.hpp). A
    // block that a realloc left in place may have more.
    [[nodiscard]] std::optional<std::uint64_t> usable_size(const UsableSize& block) const;
    [[nodiscard]] const std::map<UsableSize, std::uint64_t>& usable_sizes() const noexcept { return usable_sizes_; }

  private:
    bool take_usable_sizes(std::uint32_t process, std::span<const std::uint8_t> payload, std::uint64_t& held,
                           std::uint64_t most_held);
    bool take_thread_stacks(const ChunkHeader& header, std::span<const std::uint8_t> payload, std::uint64_t& held,
                            std::uint64_t most_held);

    using ChunkKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
    struct Places {
        std::uint32_t before{};  // modules of other images
        std::uint32_t count{};
    };

    ModuleTable table_;
    std::vector<NotedModule> modules_;
    std::map<StackImage, Places> places_;
    std::map<ChunkKey, ChunkPlace> mappers_;
    std::vector<ThreadStack> thread_stacks_;
    std::map<UsableSize, std::uint64_t> usable_sizes_;
};

// The callers of one chunk's mappings, in their order.
class ChunkMappers {
  public:
    ChunkMappers() = default;
    // Without callers if the trace has none for this chunk.
    ChunkMappers(const ProgramNotes& notes, TraceFile& file, const ChunkHeader& events);

    // The module of the next event that maps or unmaps: a place in modules(); 0: not known.
    [[nodiscard]] std::uint32_t next();
    // Call after the chunk's last event. False: the callers were not those of this chunk.
    [[nodiscard]] bool is_whole() const noexcept { return numbers_.is_whole(); }

  private:
    ChunkNumbers numbers_;
    const ProgramNotes* notes_{};
};

}  // namespace memsweep::trace
