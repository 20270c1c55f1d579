// The file to which a recorder writes call stacks while its process runs. The file also has the modules: the programs
// and libraries that contain the calling code. Its name is <process>.<number>.stacks. It lies in the folder of the
// recording (recording_layout.hpp). `memsweep record` makes chunks of kinds `frames` and `modules` from it. If
// no stacks are requested, the recorder makes the file when the program first maps memory, and the file has only
// modules.
//
//   0          StackFileHeader
//   4096       RecordedModule, one after the other
//   then       StackNode, by their numbers; node_room of the header says how many fit
//   then       RecordedLine, one after the other
//
// A module's number is its place in the list of modules, from 1. Number 0 stands for code outside of these modules:
// code that was generated at run time, or code of a module that did not fit into the file.
//
// A call stack is identified by the number of its innermost node. A node's address is the return address of a call. Its
// parent is the call by which the function around this address was entered. Number 0 means no stack. If the outer
// callers could not be followed, the outermost node has the address cut_address. If a signal interrupted a function,
// the node's address is the address of the interrupted instruction plus one: like a return address, it lies behind the
// beginning of the instruction. The first RecordedLine has the address first_interpreted (stack_layout.hpp), the second
// first_interpreted + 1, and so on.
//
// The process may be killed at any instruction. So a node is complete before the header counts it and before an event
// refers to it. If a node does not fit into the file, the event's stack is 0, and lost_stacks of the header counts the
// event.
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
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
inline constexpr std::uint64_t lines_room = 16U << 20U;     // bytes of the file that are reserved for lines
inline constexpr std::uint64_t modules_alone = UINT64_MAX;  // a value of sampled_every: the file has no stacks

struct StackFileHeader {
    std::uint64_t magic{stacks_magic};
    std::uint32_t process{};
    std::uint32_t node_room{};  // how many nodes fit into the file
    std::uint32_t nodes{};      // nodes with a number below this one are complete
    std::uint32_t modules{};    // how many modules are complete
    // The mean number of bytes that the program requests from one event with a stack to the next. 0: every event that
    // asks for memory has a stack; modules_alone: no event has one.
    std::uint64_t sampled_every{};
    std::uint64_t lost_stacks{};   // events that should have a stack, but have none
    std::uint32_t lost_errno{};    // why stacks were lost; 0: no failure, but nodes did not fit
    std::uint32_t lost_modules{};  // modules that did not fit into the file
    std::uint32_t lines{};         // how many lines are complete
    std::uint32_t line_bytes{};    // bytes of all lines
    std::uint32_t python{};        // version of the first Python interpreter, as Py_Version; 0: none was seen
    std::uint32_t reads_python{};  // 1: the stacks contain the calls of this interpreter
};
static_assert(sizeof(StackFileHeader) == 64 && std::is_trivially_copyable_v<StackFileHeader>);

struct StackNode {
    std::uint64_t address{};
    std::uint32_t parent{};
    std::uint32_t reserved{};
};
static_assert(sizeof(StackNode) == 16 && std::is_trivially_copyable_v<StackNode>);

struct RecordedModule {
    std::uint64_t begin{};  // the module's lowest address in the process
    std::uint64_t end{};
    std::uint64_t bias{};        // address in the process minus the address in its file
    std::uint64_t seen_ticks{};  // when the recorder first saw it
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
