#include "core/memory/trim.hpp"

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {
namespace {

sys::Advice advice_of(model::TrimHow how)
{
    switch (how) {
    case model::TrimHow::soft:
    case model::TrimHow::dontneed:
        return sys::Advice::dont_need;
    case model::TrimHow::free:
        return sys::Advice::free;
    case model::TrimHow::cold:
        return sys::Advice::cold;
    case model::TrimHow::pageout:
        return sys::Advice::page_out;
    case model::TrimHow::none:
    case model::TrimHow::cgroup:
        break;
    }
    MEMSWEEP_ASSERT(false, "not a mechanism that is told of a block");
}

}  // namespace

Trimmed trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept
{
    const std::uint64_t page = sys::page_size();
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const bool whole_pages_only = model::contents_after(how) != model::Contents::kept;
    const std::uint64_t before = address % page;
    const std::uint64_t begin = whole_pages_only ? round_up(address, page) : address - before;
    const std::uint64_t end = whole_pages_only ? (address + bytes) / page * page : round_up(address + bytes, page);
    if (end <= begin) {
        return {};
    }
    auto* const start = static_cast<std::byte*>(ptr) + static_cast<std::ptrdiff_t>(begin - address);
    const bool done = sys::advise(start, end - begin, advice_of(how)).has_value();
    return {done ? end - begin : 0, !done};
}

}  // namespace memsweep::memory
