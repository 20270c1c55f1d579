// What the arrays of one name are to a thread: those it means now, and those that a rebinding makes before the old go.
//
// Memory   sized once, before the baseline: nothing is allocated by rebinding, passing on or forgetting.
// Threads  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/touch.hpp"

namespace memsweep::engine {

struct Handles {
    std::vector<array::Array> current;
    std::vector<array::Array> fresh;  // what a rebinding makes before the old arrays go
    std::size_t in_use{};
    bool written{};  // its pages have been touched once, so that another write touches none anew

    void reserve(std::size_t capacity)
    {
        current.resize(capacity);
        fresh.resize(capacity);
    }

    // The name now means the new arrays; only then do the old ones go, one by one, as an interpreter's list would.
    void rebind(std::size_t count) noexcept
    {
        const std::size_t old = in_use;
        current.swap(fresh);
        in_use = count;
        for (std::size_t i = 0; i < old; ++i) {
            fresh[i] = array::Array{};
        }
    }

    void forget() noexcept
    {
        for (std::size_t i = 0; i < in_use; ++i) {
            current[i] = array::Array{};
        }
        in_use = 0;
    }

    // Pages touched for the first time, by whoever writes now; 0 when they have been written before.
    [[nodiscard]] std::uint64_t first_touch(std::uint64_t page_bytes) noexcept
    {
        std::uint64_t pages = 0;
        for (std::size_t i = 0; i < in_use && !written; ++i) {
            pages += array::pages_spanned(current[i].data(), current[i].bytes(), page_bytes);
        }
        written = true;
        return pages;
    }
};

}  // namespace memsweep::engine
