// What a trace says of its processes beside their events and call stacks: the objects that were loaded, whose code
// called for each mapping, where threads' stacks lie, and how large the allocator says that its blocks are.
//
// Cost     some 100 ns a chunk that says so, once.
// Memory   the payloads of modules, and a header for each chunk of events that has mappings.
// Errors   what a chunk cannot mean ends the reading of that chunk, and is counted in TraceFile::damage().
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

// From its thread's start on; what is left of it as its guard lies below.
struct ThreadStack {
    std::uint32_t process{};
    std::uint32_t thread{};
    std::uint64_t begin{};
    std::uint64_t bytes{};
    std::uint64_t first_ticks{};  // when its thread was begun to be recorded
};

// What malloc_usable_size said of blocks that were asked for so.
struct UsableSize {
    std::uint32_t process{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // 0: as malloc has it
    friend auto operator<=>(const UsableSize&, const UsableSize&) = default;
};

class ProgramNotes {
  public:
    [[nodiscard]] static ProgramNotes read(TraceFile& file);

    // Of all images. Event::module is a place in it, from 1.
    [[nodiscard]] const std::vector<NotedModule>& modules() const noexcept { return modules_; }
    // The place of a module of an image; 0 for one that the trace does not have.
    [[nodiscard]] std::uint32_t place_of(const StackImage& image, std::uint32_t number) const;
    // Whether the trace says of any mapping who called.
    [[nodiscard]] bool has_mappers() const noexcept { return !mappers_.empty(); }
    // The chunk that says it of the events of another.
    [[nodiscard]] const ChunkPlace* mappers_of(const ChunkHeader& events) const;

    [[nodiscard]] const std::vector<ThreadStack>& thread_stacks() const noexcept { return thread_stacks_; }
    // Of a process's allocator; absent: it was not asked, as glibc is not (usable_size.hpp). A block that a realloc
    // left where it was may have more.
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

// Who called for the mappings of one chunk, in their order.
class ChunkMappers {
  public:
    ChunkMappers() = default;
    // Nobody where the trace does not say it of this chunk.
    ChunkMappers(const ProgramNotes& notes, TraceFile& file, const ChunkHeader& events);

    // Of the next event that maps or unmaps: its place in modules(); 0: not known.
    [[nodiscard]] std::uint32_t next();
    // Behind the chunk's last event: false if they were not its own.
    [[nodiscard]] bool is_whole() const noexcept { return numbers_.is_whole(); }

  private:
    ChunkNumbers numbers_;
    const ProgramNotes* notes_{};
};

}  // namespace memsweep::trace
