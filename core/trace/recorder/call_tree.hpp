// The call stacks of a process image, each once, as nodes of (parent, address). Their file is whole up to its last node
// whenever the process dies (stack_recording.hpp). It also has the objects in which the addresses, or those of other
// callers, lie; and the lines that an interpreter runs, each once.
//
// Cost     find(): a step through a hash table, some ns. A new node some 300 ns, most of it two system calls.
// Memory   16 bytes of the file a node, and 8 to 16 bytes beside it; 8 a line, and its texts.
// Errors   without a file, room or addresses there are no more nodes. Stacks are 0 then; they are counted, and the file
//          says why.
// Threads  find(): any, without a lock. The rest takes a lock with all signals blocked, so that no handler meets it.
//          The tree must lie in memory that a forked child finds zeroed; it begins anew there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/trace/format/stack_recording.hpp"
#include "core/trace/recorder/found_object.hpp"
#include "core/trace/recorder/python_calls.hpp"

namespace memsweep::trace::recorder {

class CallTree {
  public:
    // Makes the file beside the image's own. A negative errno: there are no stacks. With modules_alone it takes no
    // nodes.
    [[nodiscard]] long open(const char* recording_path, std::uint32_t process, std::uint64_t sampled_every) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return header_ != nullptr; }

    // Numbers are valid within one generation. 0: the tree is not open.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

    // 0: the node is not there.
    [[nodiscard]] std::uint32_t find(std::uint32_t parent, std::uint64_t address) const noexcept
    {
        const Index* const index = index_.load(std::memory_order_acquire);
        if (index == nullptr) [[unlikely]] {
            return 0;
        }
        for (std::uint64_t at = place_of(parent, address);; ++at) {
            const std::uint32_t number =
                std::atomic_ref{index->numbers[at & index->mask]}.load(std::memory_order_acquire);
            if (number == 0 || (index->nodes[number].address == address && index->nodes[number].parent == parent)) {
                return number;
            }
        }
    }
    // Adds nested calls: addresses[0] under `parent`, addresses[1] under that, and so on. Each node's number goes to
    // numbers. False: there is no room, which is counted, or the parent is of another generation.
    [[nodiscard]] bool add(std::uint64_t generation, std::uint32_t parent, std::span<const std::uint64_t> addresses,
                           std::span<std::uint32_t> numbers) noexcept;
    // The address that stands for this line in stacks. 0: there is no room, or `generation` is another.
    [[nodiscard]] std::uint64_t address_of_line(std::uint64_t generation, const PythonLine& line) noexcept;
    // Counts an event that should have a stack and has none.
    void count_lost() noexcept;

    struct NotedObject {
        std::uint32_t number{};  // as stack_recording.hpp has it
        bool replaces{};  // another object was at its place before, so nodes from here on differ from those before
    };
    [[nodiscard]] NotedObject note_object(const FoundObject& object) noexcept;
    // Takes no lock, so an object that is just being noted may be missed.
    [[nodiscard]] bool knows(const FoundObject& object) const noexcept;
    // After objects have been unloaded: true if one of those noted is gone.
    [[nodiscard]] bool note_gone_objects() noexcept;

  private:
    // The index lies with its nodes, so a forked child that was interrupted in find() goes on in its parent's index.
    struct Index {
        std::uint64_t mask;
        const StackNode* nodes;
        std::uint32_t numbers[1];  // as many as the mask says
    };

    static std::uint64_t place_of(std::uint32_t parent, std::uint64_t address) noexcept
    {
        return ((address ^ std::uint64_t{parent} << 32U) * 0x9E3779B97F4A7C15U ^
                std::uint64_t{parent} * 0xC2B2AE3D27D4EB4FU) >>
               20U;
    }
    [[nodiscard]] Index* new_index(std::uint64_t places) const noexcept;
    static void put(Index& index, const StackNode& node, std::uint32_t number) noexcept;
    std::uint32_t add_one(std::uint32_t parent, std::uint64_t address) noexcept;
    bool grow_index() noexcept;
    bool have_room() noexcept;
    void begin_anew() noexcept;
    void note_version() noexcept;
    std::uint32_t add_line(const PythonLine& line) noexcept;
    long map(std::uint32_t most_nodes) noexcept;
    void acquire() noexcept;
    void release() noexcept { lock_.store(0, std::memory_order_release); }

    std::atomic<std::uint32_t> lock_;
    std::atomic<Index*> index_;
    std::atomic<std::uint64_t> generation_;
    StackFileHeader* header_;
    RecordedModule* modules_;
    StackNode* nodes_;
    std::uint32_t room_;                                // nodes that the disk has room for
    std::uint32_t indexed_;                             // nodes in the index
    std::uint32_t first_;                               // that is in the index
    std::uint32_t problem_;                             // errno: no more nodes
    std::array<std::atomic<std::uint64_t>, 64> noted_;  // objects, so that they are known at a glance: marks, numbers
    std::uint8_t* lines_;
    std::uint64_t lines_offset_;     // in the file
    std::uint32_t line_bytes_room_;  // that the disk has
    struct IndexedLine {
        std::uint64_t content;
        std::uint64_t number;  // and one; 0: free
    };
    std::array<IndexedLine, 4 * std::size_t{most_recorded_lines} / 3> line_index_;
};

}  // namespace memsweep::trace::recorder
