#include "core/memory/paging.hpp"

#include <algorithm>

#include <sys/mman.h>

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

sys::Advice advice_of(model::PrefetchHow how)
{
    switch (how) {
    case model::PrefetchHow::populate_read:
        return sys::Advice::populate_read;
    case model::PrefetchHow::populate_write:
        return sys::Advice::populate_write;
    case model::PrefetchHow::none:
    case model::PrefetchHow::willneed:
        break;
    }
    return sys::Advice::will_need;
}

// The pages that lie wholly inside the block.
PageSpan pages_within(void* ptr, std::uint64_t bytes)
{
    const std::uint64_t page = sys::page_size();
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uint64_t begin = round_up(address, page);
    const std::uint64_t end = (address + bytes) / page * page;
    return {static_cast<std::byte*>(ptr) + (begin - address), end <= begin ? 0 : end - begin};
}

PagesAdvised advised(const PageSpan& span, sys::Advice advice)
{
    if (span.bytes == 0) {
        return {};
    }
    const bool done = sys::advise(span.begin, span.bytes, advice).has_value();
    return {done ? span.bytes : 0, !done};
}

}  // namespace

PagesAdvised trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept
{
    const bool keeps_contents = model::contents_after(how) == model::Contents::kept;
    return advised(keeps_contents ? pages_of(ptr, bytes) : pages_within(ptr, bytes), advice_of(how));
}

PagesAdvised prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept
{
    return how == model::PrefetchHow::none ? PagesAdvised{} : advised(pages_of(ptr, bytes), advice_of(how));
}

// The first chunk asks for all that lie ahead, each later one for one more. Refused, the pages come when they are used.
void ask_ahead(std::byte* data, std::uint64_t bytes, std::uint64_t at, const StreamPlan& plan) noexcept
{
    if (plan.ahead == 0) {
        return;
    }
    const std::uint64_t from = at == 0 ? plan.chunk_bytes : at + plan.ahead * plan.chunk_bytes;
    const std::uint64_t wanted = at == 0 ? plan.ahead * plan.chunk_bytes : plan.chunk_bytes;
    if (from < bytes) {
        static_cast<void>(prefetch(data + from, std::min(wanted, bytes - from), model::PrefetchHow::willneed));
    }
}

bool drop_chunk(std::byte* chunk, std::uint64_t bytes, const StreamPlan& plan) noexcept
{
    const PageSpan span = pages_of(chunk, bytes);
    if (plan.writes && ::msync(span.begin, span.bytes, MS_SYNC) != 0) {
        return false;
    }
    return sys::advise(span.begin, span.bytes, sys::Advice::page_out).has_value();
}

}  // namespace memsweep::memory
