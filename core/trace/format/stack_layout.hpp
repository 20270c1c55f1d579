// The payloads of the chunks that describe call stacks (kinds `frames`, `stacks`, `modules`, `symbols` and `callers`),
// and of kind `mappers`. docs/trace-format.md describes the format.
//
// The stacks of a process image form a tree. A node is an address; its parent is the node of the caller. So the number
// of its innermost node identifies a whole stack. Node 0 means no stack. A parent has a smaller number than its
// children. Addresses are return addresses: the byte before a return address belongs to the call instruction.
//
// Cost     some 2 ns per number.
// Memory   none. The recorder includes this header, so it must not depend on any library. An encoder's functions write
//          at the position `at`, at most as many bytes as the encoder's constants say. They return the
//          end of what they wrote, and may overwrite bytes behind that end, within this limit.
// Errors   a decoder stops at the end of its payload. At bytes that the kind of its chunk does not allow, it stops
//          early, and damaged() is true from then on.
// Ownership  texts that a decoder returns point into its payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/trace/format/varint.hpp"

namespace memsweep::trace {

// The address of the outermost node of a stack if its outer callers could not be followed.
inline constexpr std::uint64_t callers_not_followed = 1;

// The 2^32 addresses from first_interpreted on are not code: they stand for source lines that an interpreter ran.
// Chunks of kind `symbols` say which lines.
inline constexpr std::uint64_t first_interpreted = 1ULL << 62U;
[[nodiscard]] constexpr bool is_interpreted(std::uint64_t address) noexcept
{
    return address >= first_interpreted && address - first_interpreted <= UINT32_MAX;
}

// A process image: a process from one exec to the next, or to its end. The images of a process have the numbers 0, 1,
// ... The nodes of each image are numbered from 1, and so are its modules.
struct StackImage {
    std::uint32_t process{};
    std::uint32_t image{};
    friend auto operator<=>(const StackImage&, const StackImage&) = default;
};

struct FrameNode {
    std::uint32_t parent{};  // the caller's node; 0: no caller is known
    std::uint64_t address{};
    friend bool operator==(const FrameNode&, const FrameNode&) = default;
};

// An object that was loaded: a program, a library, the vdso.
struct LoadedModule {
    std::uint64_t begin{};        // its first byte in memory
    std::uint64_t size{};         // up to the end of its last segment
    std::uint64_t bias{};         // address in memory minus the address in its file; at most `begin`
    std::uint64_t file_offset{};  // where the object begins in its file; not 0 for an object inside an archive
    std::string_view build_id{};  // as bytes, not as hexadecimal digits; empty: it has none
    std::string_view path{};
    std::uint64_t first_ticks{};  // when it was first seen
    std::uint64_t gone_ticks{};   // when it was found to be unloaded; 0: never
};

// A function and a line in source code.
struct SourceFrame {
    std::string_view function{};
    std::string_view file{};
    std::uint32_t line{};  // 0: not known
    friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

namespace payload {

// Reads a payload's numbers and texts, one after another.
class Cursor {
  public:
    constexpr Cursor() = default;
    explicit constexpr Cursor(std::span<const std::uint8_t> bytes) noexcept
        : at_{bytes.data()}, end_{bytes.data() + bytes.size()}
    {
    }
    [[nodiscard]] constexpr bool at_end() const noexcept { return at_ == end_; }
    [[nodiscard]] constexpr bool number(std::uint64_t& value) noexcept
    {
        const std::uint8_t* after = get_varint(at_, end_, value);
        at_ = after != nullptr ? after : at_;
        return after != nullptr;
    }
    [[nodiscard]] constexpr bool small_number(std::uint32_t& value) noexcept
    {
        std::uint64_t wide{};
        if (!number(wide) || wide > UINT32_MAX) {
            return false;
        }
        value = static_cast<std::uint32_t>(wide);
        return true;
    }
    [[nodiscard]] bool text(std::string_view& value) noexcept
    {
        std::uint64_t bytes{};
        if (!number(bytes) || bytes > static_cast<std::uint64_t>(end_ - at_)) {
            return false;
        }
        value = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(bytes)};
        at_ += bytes;
        return true;
    }

  private:
    const std::uint8_t* at_{};
    const std::uint8_t* end_{};
};

inline std::uint8_t* put_text(std::uint8_t* at, std::string_view text) noexcept
{
    at = put_varint(at, text.size());
    if (!text.empty()) {
        std::memcpy(at, text.data(), text.size());
    }
    return at + text.size();
}

}  // namespace payload

// Kind `frames`: the image and the number of the first node. Then for each node: its parent, and its address minus the
// address of the previous node.

class FramesEncoder {
  public:
    using Byte = std::uint8_t;
    static constexpr std::size_t max_head_bytes = 2 * max_varint_bytes;
    static constexpr std::size_t max_node_bytes = 2 * max_varint_bytes;

    // Begins a payload. Its nodes have the numbers `first`, `first` + 1, ... An image's first node has number 1.
    constexpr Byte* head(Byte* at, std::uint32_t image, std::uint32_t first) noexcept
    {
        last_address_ = 0;
        return put_varint(put_varint(at, image), first);
    }
    constexpr Byte* node(Byte* at, const FrameNode& node) noexcept
    {
        at = put_varint_at_once(at, node.parent);
        at = put_varint_at_once(at, zigzag(node.address - last_address_));
        last_address_ = node.address;
        return at;
    }

  private:
    std::uint64_t last_address_{};
};

class FramesDecoder {
  public:
    explicit constexpr FramesDecoder(std::span<const std::uint8_t> payload) noexcept : cursor_{payload}
    {
        damaged_ = !cursor_.small_number(image_) || !cursor_.small_number(number_) || number_ == 0;
    }
    [[nodiscard]] constexpr std::uint32_t image() const noexcept { return image_; }
    // Returns the number of the node that next() reads next.
    [[nodiscard]] constexpr std::uint32_t number() const noexcept { return number_; }
    // Reads the next node. False: there is none, or the payload is damaged. A node whose parent does not come before it
    // counts as damage, so no stack can be circular.
    [[nodiscard]] constexpr bool next(FrameNode& node) noexcept
    {
        if (damaged_ || cursor_.at_end()) {
            return false;
        }
        std::uint64_t step{};
        damaged_ = !cursor_.small_number(node.parent) || !cursor_.number(step) || node.parent >= number_ ||
                   number_ == UINT32_MAX;
        if (damaged_) {
            return false;
        }
        node.address = last_address_ += unzigzag(step);
        ++number_;
        return true;
    }
    [[nodiscard]] constexpr bool damaged() const noexcept { return damaged_; }

  private:
    payload::Cursor cursor_;
    std::uint64_t last_address_{};
    std::uint32_t image_{};
    std::uint32_t number_{};
    bool damaged_{};
};

// A chunk of kind `stacks` belongs to a chunk of events. It has the image and the sequence number of that chunk, then
// runs. A run is two numbers: how many consecutive events have the same node, and this node. Only events for which
// takes_stack() (event.hpp) is true are counted. Kind `mappers` has the same form, but counts the events that map or
// unmap, and has modules in place of nodes.

class StacksEncoder {
  public:
    using Byte = std::uint8_t;
    static constexpr std::size_t max_head_bytes = 2 * max_varint_bytes;
    static constexpr std::size_t max_run_bytes = 2 * max_varint_bytes;

    constexpr Byte* head(Byte* at, std::uint32_t image, std::uint64_t sequence) noexcept
    {
        run_ = 0;
        return put_varint(put_varint(at, image), sequence);
    }
    // Adds the node of the next event. If it differs from the previous event's node, writes the run that has ended.
    constexpr Byte* add(Byte* at, std::uint32_t node) noexcept
    {
        if (node != node_) {
            at = finish(at);
        }
        node_ = node;
        ++run_;
        return at;
    }
    // Writes the last run. If the last run has node 0, the caller need not write it.
    constexpr Byte* finish(Byte* at) noexcept
    {
        if (run_ != 0) {
            at = put_varint_at_once(put_varint_at_once(at, run_), node_);
        }
        run_ = 0;
        return at;
    }

  private:
    std::uint64_t run_{};
    std::uint32_t node_{};
};

class StacksDecoder {
  public:
    constexpr StacksDecoder() = default;
    explicit constexpr StacksDecoder(std::span<const std::uint8_t> payload) noexcept : cursor_{payload}
    {
        damaged_ = !cursor_.small_number(image_) || !cursor_.number(sequence_);
    }
    // Decodes the runs of a payload that has other data before them. `runs` is at the first run.
    constexpr StacksDecoder(const payload::Cursor& runs, std::uint32_t image, std::uint64_t sequence) noexcept
        : cursor_{runs}, sequence_{sequence}, image_{image}
    {
    }
    [[nodiscard]] constexpr std::uint32_t image() const noexcept { return image_; }
    [[nodiscard]] constexpr std::uint64_t sequence() const noexcept { return sequence_; }
    // Returns the node of the next event. After the last run, and from damage on, returns 0 for every event.
    [[nodiscard]] constexpr std::uint32_t next() noexcept
    {
        while (run_ == 0) {
            if (damaged_ || cursor_.at_end()) {
                return 0;
            }
            damaged_ = !cursor_.number(run_) || !cursor_.small_number(node_) || run_ == 0;
            run_ = damaged_ ? 0 : run_;
        }
        --run_;
        return node_;
    }
    // Says whether the payload has nodes for further events. After the last event of the chunk of events, it must not
    // have any.
    [[nodiscard]] constexpr bool has_more() const noexcept { return run_ != 0 || (!damaged_ && !cursor_.at_end()); }
    [[nodiscard]] constexpr bool damaged() const noexcept { return damaged_; }

  private:
    payload::Cursor cursor_;
    std::uint64_t sequence_{};
    std::uint64_t run_{};
    std::uint32_t image_{};
    std::uint32_t node_{};
    bool damaged_{};
};

// Kind `callers`: as `stacks`, but a run has the number of an address in place of a node. Before the runs come the
// addresses: first how many, then each address minus the previous one. The addresses are numbered from 1; 0 means no
// caller.

// Writes the addresses; their place in the payload is between the head and the runs. Writes at most max_varint_bytes
// for the number of addresses, and max_varint_bytes for each address.
constexpr std::uint8_t* put_callers(std::uint8_t* at, std::span<const std::uint64_t> addresses) noexcept
{
    at = put_varint_at_once(at, addresses.size());
    std::uint64_t last = 0;
    for (const std::uint64_t address : addresses) {
        at = put_varint_at_once(at, zigzag(address - last));
        last = address;
    }
    return at;
}

class CallersDecoder {
  public:
    explicit constexpr CallersDecoder(std::span<const std::uint8_t> payload) noexcept : cursor_{payload}
    {
        damaged_ = !cursor_.small_number(image_) || !cursor_.number(sequence_) || !cursor_.small_number(left_);
    }
    [[nodiscard]] constexpr std::uint32_t image() const noexcept { return image_; }
    [[nodiscard]] constexpr bool next(std::uint64_t& address) noexcept
    {
        std::uint64_t step{};
        if (damaged_ || left_ == 0) {
            return false;
        }
        damaged_ = !cursor_.number(step);
        if (damaged_) {
            return false;
        }
        --left_;
        last_ += unzigzag(step);
        address = last_;
        return true;
    }
    // Returns a decoder for the runs. Call it after next() has read the last address.
    [[nodiscard]] constexpr StacksDecoder runs() const noexcept { return {cursor_, image_, sequence_}; }
    [[nodiscard]] constexpr bool damaged() const noexcept { return damaged_; }

  private:
    payload::Cursor cursor_;
    std::uint64_t sequence_{};
    std::uint64_t last_{};
    std::uint32_t image_{};
    std::uint32_t left_{};
    bool damaged_{};
};

// Kind `modules`: the image. Then for each module, numbered from 1: begin, size, begin - bias, file_offset, build_id,
// path, first_ticks, gone_ticks (LoadedModule).

inline constexpr std::size_t max_module_bytes = 8 * max_varint_bytes;  // plus the bytes of its build id and path

inline std::uint8_t* put_modules_head(std::uint8_t* at, std::uint32_t image) noexcept
{
    return put_varint(at, image);
}

inline std::uint8_t* put_module(std::uint8_t* at, const LoadedModule& module) noexcept
{
    at = put_varint(put_varint(at, module.begin), module.size);
    at = put_varint(put_varint(at, module.begin - module.bias), module.file_offset);
    at = payload::put_text(payload::put_text(at, module.build_id), module.path);
    return put_varint(put_varint(at, module.first_ticks), module.gone_ticks);
}

class ModulesDecoder {
  public:
    explicit ModulesDecoder(std::span<const std::uint8_t> payload) noexcept : cursor_{payload}
    {
        damaged_ = !cursor_.small_number(image_);
    }
    [[nodiscard]] std::uint32_t image() const noexcept { return image_; }
    [[nodiscard]] bool next(LoadedModule& module) noexcept
    {
        if (damaged_ || cursor_.at_end()) {
            return false;
        }
        std::uint64_t own{};
        damaged_ = !cursor_.number(module.begin) || !cursor_.number(module.size) || !cursor_.number(own) ||
                   !cursor_.number(module.file_offset) || !cursor_.text(module.build_id) ||
                   !cursor_.text(module.path) || !cursor_.number(module.first_ticks) ||
                   !cursor_.number(module.gone_ticks);
        module.bias = module.begin - own;
        return !damaged_;
    }
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  private:
    payload::Cursor cursor_;
    std::uint32_t image_{};
    bool damaged_{};
};

// Kind `symbols`: the image. Then for each address: the address minus the previous address, its module, the number of
// its frames, and the frames. A frame is function, file and line. Inlined functions have frames of their own, the
// innermost first. A text begins with a number: 0 for no text; 1 if a new text follows; or 2 + N for text number N of
// the chunk, counted from 0.

inline constexpr std::uint64_t no_text = 0;
inline constexpr std::uint64_t new_text = 1;
inline constexpr std::uint64_t first_text = 2;

}  // namespace memsweep::trace
