// The file in which a recorder keeps call stacks, and the objects whose code calls, while its process runs. It is
// <process>.<number>.stacks, beside the image's own file (recording_layout.hpp). The reader turns it into chunks of
// frames and of modules. If no stacks were asked for, it is made at the first mapping and has modules alone.
//
//   0          StackFileHeader
//   4096       RecordedModule, one after the other
//   then       StackNode, by their numbers, and room for as many as the header says
//   then       RecordedLine, one after the other
//
// A module's number is its place, from 1. Number 0 is code outside of all modules: it was made at run time, or the file
// has no room for its module.
//
// A call stack is the number of a node. The node's address is where the innermost call returns to, and its parent is
// the stack in which this call was made. Number 0 is no stack. If a stack could not be followed to its beginning, it
// begins with a node of the address cut_address. If a signal interrupted a frame, the address is one beyond the
// instruction. So it lies behind what was being executed, as a return address does. A line that an interpreter executes
// has an address from first_interpreted on (stack_layout.hpp): the first RecordedLine, the second, ...
//
// The process may be killed at any instruction. So a node is whole before the file counts it, and before an event has
// its number. If there is no room for a node, the stack is 0 and the loss is counted.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <cstdint>
#include <type_traits>

namespace memsweep::trace {

inline constexpr const char* stacks_ending = ".stacks";
inline constexpr std::uint64_t stacks_magic = 0x316B63617453534DULL;  // "MSStack1"
inline constexpr std::uint32_t max_recorded_modules = 1024;
inline constexpr std::uint32_t max_stack_nodes = 16U << 20U;
inline constexpr std::uint32_t fewest_stack_nodes = 16U << 10U;
inline constexpr std::uint64_t cut_address = 1;
inline constexpr std::uint32_t most_recorded_lines = 96U << 10U;
inline constexpr std::uint64_t lines_room = 16U << 20U;     // bytes
inline constexpr std::uint64_t modules_alone = UINT64_MAX;  // a value of sampled_every: there are no stacks

struct StackFileHeader {
    std::uint64_t magic{stacks_magic};
    std::uint32_t process{};
    std::uint32_t node_room{};      // nodes that the file has room for
    std::uint32_t nodes{};          // numbers below this one are whole
    std::uint32_t modules{};        // likewise
    std::uint64_t sampled_every{};  // bytes, on average; 0: all events that ask for memory have a stack;
                                    // modules_alone: none has
    std::uint64_t lost_stacks{};    // events that should have a stack and have none
    std::uint32_t lost_errno{};     // why; 0: the table is full
    std::uint32_t lost_modules{};   // modules for which there was no room
    std::uint32_t lines{};          // that are whole
    std::uint32_t line_bytes{};     // of them all
    std::uint32_t python{};         // the first interpreter's version, as Py_Version has it; 0: none was met
    std::uint32_t reads_python{};   // 1: its calls are in the stacks
};
static_assert(sizeof(StackFileHeader) == 64 && std::is_trivially_copyable_v<StackFileHeader>);

struct StackNode {
    std::uint64_t address{};
    std::uint32_t parent{};
    std::uint32_t reserved{};
};
static_assert(sizeof(StackNode) == 16 && std::is_trivially_copyable_v<StackNode>);

struct RecordedModule {
    std::uint64_t begin{};  // the first byte that it has mapped in the process
    std::uint64_t end{};
    std::uint64_t bias{};        // what was added to the addresses of its file
    std::uint64_t seen_ticks{};  // when it was first met in a stack
    std::uint64_t gone_ticks{};  // 0: it was there to the end
    std::uint32_t build_id_bytes{};
    std::uint32_t path_bytes{};
    std::uint8_t build_id[32]{};
    char path[944]{};  // if it is longer, its end
};
static_assert(sizeof(RecordedModule) == 1024 && std::is_trivially_copyable_v<RecordedModule>);

// A line of a function that an interpreter runs. Its texts follow: the function's name, then the file's.
struct RecordedLine {
    std::uint32_t line{};
    std::uint16_t function_bytes{};
    std::uint16_t file_bytes{};
    [[nodiscard]] constexpr std::uint32_t bytes() const noexcept
    {
        return (std::uint32_t{8} + function_bytes + file_bytes + 7U) / 8U * 8U;
    }
};
static_assert(sizeof(RecordedLine) == 8 && std::is_trivially_copyable_v<RecordedLine>);

inline constexpr std::uint64_t modules_offset = 4096;
inline constexpr std::uint64_t nodes_offset = modules_offset + max_recorded_modules * sizeof(RecordedModule);
[[nodiscard]] constexpr std::uint64_t stack_file_bytes(std::uint64_t nodes) noexcept
{
    return nodes_offset + nodes * sizeof(StackNode);
}

}  // namespace memsweep::trace
