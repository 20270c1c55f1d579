#include "core/memory/quarantine_adaptor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace memsweep::memory {
namespace {

bool all_poison(const unsigned char* bytes, std::size_t count)
{
    return count == 0 || (bytes[0] == QuarantineAdaptor::poison && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

}  // namespace

QuarantineAdaptor::~QuarantineAdaptor()
{
    static_cast<void>(take_broken());
}

void QuarantineAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    std::memset(ptr, poison, bytes);
    const std::lock_guard lock{mutex_};
    held_.push_back({ptr, bytes, alignment, tag_});
    held_bytes_ += bytes;
    while (held_bytes_ > limit_bytes_) {
        leave(held_.front());
        held_.pop_front();
    }
}

void QuarantineAdaptor::leave(const Held& held)
{
    if (!all_poison(static_cast<const unsigned char*>(held.ptr), held.bytes)) {
        broken_.push_back(held.tag);
    }
    held_bytes_ -= held.bytes;
    upstream_.deallocate(held.ptr, held.bytes, held.alignment);
}

std::vector<std::uint16_t> QuarantineAdaptor::take_broken()
{
    const std::lock_guard lock{mutex_};
    for (; !held_.empty(); held_.pop_front()) {
        leave(held_.front());
    }
    return std::exchange(broken_, {});
}

bool looks_poisoned(const void* ptr, std::size_t bytes) noexcept
{
    const auto* const data = static_cast<const unsigned char*>(ptr);
    const std::size_t edge = std::min<std::size_t>(bytes, 16);
    return bytes != 0 && all_poison(data, edge) && all_poison(data + bytes - edge, edge);
}

}  // namespace memsweep::memory
