// The file to which a recorder writes call stacks while its process runs. It also has the modules: the programs and
// libraries that contain the calling code. Its name is <process>.<number>.stacks; it lies in the same folder as the
// image's own file (recording_layout.hpp). The reader turns it into chunks of kinds `frames` and `modules`. If no
// stacks were asked for, the file is made at the first mapping, and has only modules.
//
//   0          StackFileHeader
//   4096       RecordedModule, one after the other
//   then       StackNode, by their numbers; the header says how many the file has room for
//   then       RecordedLine, one after the other
//
// A module's number is its place in the file, from 1. Number 0 stands for code outside of these modules: code that was
// made at run time, or whose module the file had no room for.
//
// A call stack is identified by the number of its innermost node. A node's address is the return address of a call. Its
// parent is the stack in which the call was made. Number 0 means no stack. If the outer callers could not be followed,
// the outermost node has the address cut_address. If a signal interrupted a function, the address is the interrupted
// instruction's plus one: like a return address, it lies behind the instruction that was executed. The first
// RecordedLine has the address first_interpreted (stack_layout.hpp), the second first_interpreted + 1, and so on.
//
// The process may be killed at any instruction. So a node is complete before the header counts it and before an event
// refers to it. If there is no room for a node, the event's stack is 0, and the header counts the loss.
//
// Memory   none. This file needs no library, because the recorder includes it.
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
inline constexpr std::uint64_t lines_room = 16U << 20U;     // bytes of the file that are kept for lines
inline constexpr std::uint64_t modules_alone = UINT64_MAX;  // a value of sampled_every: there are no stacks

struct StackFileHeader {
    std::uint64_t magic{stacks_magic};
    std::uint32_t process{};
    std::uint32_t node_room{};  // nodes that the file has room for
    std::uint32_t nodes{};      // nodes with smaller numbers are complete
    std::uint32_t modules{};    // modules that are complete
    // The average number of bytes from one event with a stack to the next. 0: every event that asks for memory has a
    // stack; modules_alone: no event has one.
    std::uint64_t sampled_every{};
    std::uint64_t lost_stacks{};   // events that should have a stack, but have none
    std::uint32_t lost_errno{};    // why stacks were lost; 0: there was no room for more nodes
    std::uint32_t lost_modules{};  // modules for which there was no room
    std::uint32_t lines{};         // lines that are complete
    std::uint32_t line_bytes{};    // bytes of all lines
    std::uint32_t python{};        // the first Python interpreter's version, as in Py_Version; 0: none was met
    std::uint32_t reads_python{};  // 1: the stacks have this interpreter's calls
};
static_assert(sizeof(StackFileHeader) == 64 && std::is_trivially_copyable_v<StackFileHeader>);

struct StackNode {
    std::uint64_t address{};
    std::uint32_t parent{};
    std::uint32_t reserved{};
};
static_assert(sizeof(StackNode) == 16 && std::is_trivially_copyable_v<StackNode>);

struct RecordedModule {
    std::uint64_t begin{};  // the lowest address that it occupies in the process
    std::uint64_t end{};
    std::uint64_t bias{};        // what loading added to the addresses in its file
    std::uint64_t seen_ticks{};  // when the recorder first met it
    std::uint64_t gone_ticks{};  // when it was found to be unloaded; 0: never
    std::uint32_t build_id_bytes{};
    std::uint32_t path_bytes{};
    std::uint8_t build_id[32]{};
    char path[944]{};  // the end of the path, if the path is longer
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
