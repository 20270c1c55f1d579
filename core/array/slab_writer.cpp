#include "core/array/slab_writer.hpp"

#include <algorithm>
#include <cstring>

namespace memsweep::array {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t longest_collected_bytes = 8192;

}  // namespace

void SlabWriter::append(model::DType from, const std::byte* in, std::size_t elements) noexcept
{
    const std::size_t bytes = elements * model::size_bytes(dtype_);
    if (streaming_ && bytes <= longest_collected_bytes) {
        return collect(ElementMover{table_, from, dtype_, false}, in, elements);
    }
    finish();
    ElementMover{table_, from, dtype_, streaming_}.contiguous(out_, in, elements);
    out_ += bytes;
}

void SlabWriter::collect(const ElementMover& mover, const std::byte* in, std::size_t elements) noexcept
{
    while (elements != 0) {
        const std::size_t room = (capacity_bytes - collected_bytes_) / mover.to_bytes();
        const std::size_t count = std::min(elements, room);
        mover.contiguous(collected_ + collected_bytes_, in, count);
        collected_bytes_ += count * mover.to_bytes();
        in += count * mover.from_bytes();
        elements -= count;
        if (count == room) {
            write_whole_lines();
        }
    }
}

void SlabWriter::write_whole_lines() noexcept
{
    const std::size_t beyond_line = (reinterpret_cast<std::uintptr_t>(out_) + collected_bytes_) % line_bytes;
    const std::size_t whole = collected_bytes_ - beyond_line;
    table_.streamed_copy(out_, collected_, whole);
    std::memmove(collected_, collected_ + whole, beyond_line);
    out_ += whole;
    collected_bytes_ = beyond_line;
}

void SlabWriter::finish() noexcept
{
    if (collected_bytes_ != 0) {
        std::memcpy(out_, collected_, collected_bytes_);
        out_ += collected_bytes_;
        collected_bytes_ = 0;
    }
}

}  // namespace memsweep::array
