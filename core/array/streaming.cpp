#include "core/array/streaming.hpp"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::array {
namespace {

// Of the second-level cache, in quarters; none where its size is not known.
std::uint64_t min_streamed_bytes()
{
#ifdef MEMSWEEP_X86_64
    static const std::uint64_t quarters = __builtin_cpu_is("amd") ? 64 : 5;
#else
    constexpr std::uint64_t quarters = 5;
#endif
    static const long l2_bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return l2_bytes > 0 ? static_cast<std::uint64_t>(l2_bytes) / 4 * quarters : UINT64_MAX;
}

bool is_resident(std::byte* ptr)
{
    std::byte* const page = ptr - reinterpret_cast<std::uintptr_t>(ptr) % sys::page_size();
    unsigned char state = 0;
    return ::mincore(page, 1, &state) == 0 && (state & 1U) != 0;
}

constexpr std::size_t line_bytes = 64;
constexpr std::size_t max_collected_bytes = 8192;

}  // namespace

bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes, std::uint64_t bytes_moved) noexcept
{
    return table.streams() && bytes_moved >= min_streamed_bytes() &&
           is_resident(static_cast<std::byte*>(out) + out_bytes / 2);
}

void SlabWriter::append(model::DType from, const std::byte* in, std::size_t elements) noexcept
{
    const std::size_t bytes = elements * model::size_bytes(dtype_);
    if (streaming_ && bytes <= max_collected_bytes) {
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
