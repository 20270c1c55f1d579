// The call stacks of a process image as a tree. Each node has a parent node and an address. Equal stacks are the same
// path in the tree. The tree lies in a file (stack_recording.hpp). Whenever the process dies, the file is complete up
// to its last node. The file also has the objects (the program and its libraries) that contain the calling code, and
// the lines that an interpreter runs. Each object and each line is in the file only once.
//
// Cost     find(): a look-up in a hash table, some ns. A new node: some 300 ns, most of them for two system calls.
// Memory   for a node, 16 bytes of the file and 8 to 32 bytes of the index and of its smaller predecessors; for a line,
//          8 bytes of the file and its texts.
// Errors   without a file, disk space or address space, no nodes are added. A new stack then gets the number 0. The
//          file counts the lost stacks, and says why they were lost.
// Threads  any. find() and knows() take no lock. The functions that add or change something take a lock, with all
//          signals blocked. So no signal handler ever waits for a lock that its own thread holds. The tree must lie in
//          memory that a forked child finds zeroed. The child then begins a tree of its own.
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
    // Creates the file in the same folder as the image's own file. Returns 0, or a negative errno if there can be no
    // stacks. If `sampled_every` is modules_alone, the tree takes no nodes.
    [[nodiscard]] long open(const char* recording_path, std::uint32_t process, std::uint64_t sampled_every) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return header_ != nullptr; }

    // Returns the number of the tree's generation. A new generation begins whenever the tree is opened. Node numbers
    // are valid only within one generation. 0: the tree is not open.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

    // Returns the number of the node with this parent and this address. 0: the tree has no such node.
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
    // Adds nested calls: a node for addresses[0] under `parent`, a node for addresses[1] under that node, and so on.
    // Writes the nodes' numbers to `numbers`. False: `generation` is not the current one, or a node could not be added.
    // In the second case, the stack counts as lost.
    [[nodiscard]] bool add(std::uint64_t generation, std::uint32_t parent, std::span<const std::uint64_t> addresses,
                           std::span<std::uint32_t> numbers) noexcept;
    // Returns the address that stands for this line in stacks. 0: the line could not be added, or `generation` is not
    // the current one.
    [[nodiscard]] std::uint64_t address_of_line(std::uint64_t generation, const PythonLine& line) noexcept;
    // Counts an event that should have a stack and has none.
    void count_lost() noexcept;

    struct NotedObject {
        std::uint32_t number{};  // a module's number, as in stack_recording.hpp
        bool replaces{};         // another object had its addresses before; from now on, all addresses get new nodes
    };
    // Puts an object into the file, unless the file has it already.
    [[nodiscard]] NotedObject note_object(const FoundObject& object) noexcept;
    // Whether the file lists this object as loaded. Takes no lock, so it may miss an object that another thread is just
    // noting.
    [[nodiscard]] bool knows(const FoundObject& object) const noexcept;
    // Call after objects have been unloaded. Returns whether one of the noted objects is gone.
    [[nodiscard]] bool note_gone_objects() noexcept;

  private:
    // The index has a pointer to the nodes that it lists. So if a signal handler forks in the middle of find(), the
    // child finishes find() with the index and the nodes of its parent.
    struct Index {
        std::uint64_t mask;
        const StackNode* nodes;
        std::uint32_t numbers[1];  // mask + 1 of them
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
    std::uint32_t room_;                                // nodes for which disk space is reserved
    std::uint32_t indexed_;                             // nodes in the index
    std::uint32_t first_;                               // the first node in the index
    std::uint32_t problem_;                             // errno, if no more nodes can be added
    std::array<std::atomic<std::uint64_t>, 64> noted_;  // a cache: a hash and a number for each noted object
    std::uint8_t* lines_;
    std::uint64_t lines_offset_;     // in the file
    std::uint32_t line_bytes_room_;  // reserved on the disk
    struct IndexedLine {
        std::uint64_t content;
        std::uint64_t number;  // the line's number plus one; 0: the entry is free
    };
    std::array<IndexedLine, 4 * std::size_t{most_recorded_lines} / 3> line_index_;
};

}  // namespace memsweep::trace::recorder
