#include "core/memory/prefetch.hpp"

#include <algorithm>

#include <sys/mman.h>

#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {
namespace {

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

}  // namespace

Prefetched prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept
{
    if (how == model::PrefetchHow::none || bytes == 0) {
        return {};
    }
    const PageSpan span = pages_of(ptr, bytes);
    const bool done = sys::advise(span.begin, span.bytes, advice_of(how)).has_value();
    return {done ? span.bytes : 0, !done};
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
