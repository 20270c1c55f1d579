// Where the current contents of a buffer are that has memory on the host and on a device, and what each request copies.
//
//                    ensure_host      ensure_device    synchronize      write_host       write_device
//   uninitialized    host_only        device_only      H2D synchronized host_only        device_only
//   host_only        -                H2D synchronized H2D synchronized -                H2D device_dirty
//   device_only      D2H synchronized -                D2H synchronized D2H host_dirty   -
//   synchronized     -                -                -                host_dirty       device_dirty
//   host_dirty       -                H2D synchronized H2D synchronized -                error
//   device_dirty     D2H synchronized -                D2H synchronized D2H host_dirty   -
//   released         error            error            error            error            error
//
// write_host and write_device: that side is about to be written in place, over what is current now. mark_host_dirty and
// mark_device_dirty: it has been written; nothing is copied, so they are errors where that would lose the other side's
// contents, or where the side has no memory. A request that needs nothing copies nothing. Memory that a state needs and
// the buffer lacks is made and zeroed.
// Sources  the states of DotCompute's unified buffer; where its marks drop data silently these are errors.
// Errors   invalid_input: the request, the state, and what to ask for instead.
#pragma once

#include <cstdint>

#include "core/base/expected.hpp"
#include "core/model/names.hpp"

namespace memsweep::transfer {

enum class BufferState : std::uint8_t {
    uninitialized,
    host_only,
    device_only,
    synchronized,
    host_dirty,
    device_dirty,
    released,
};

enum class BufferRequest : std::uint8_t {
    ensure_host,
    ensure_device,
    synchronize,
    write_host,
    write_device,
    mark_host_dirty,
    mark_device_dirty,
    release,
};

enum class BufferCopy : std::uint8_t { none, host_to_device, device_to_host };

struct BufferMove {
    BufferState next{};
    BufferCopy copy{};
    friend bool operator==(const BufferMove&, const BufferMove&) = default;
};

[[nodiscard]] base::Expected<BufferMove> next_move(BufferState state, BufferRequest request);

}  // namespace memsweep::transfer

namespace memsweep::model {
template <>
std::span<const Named<transfer::BufferState>> names<transfer::BufferState>();
template <>
std::span<const Named<transfer::BufferRequest>> names<transfer::BufferRequest>();
}  // namespace memsweep::model
