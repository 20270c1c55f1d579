// An array of zeros in a mapping of its own. A page takes memory only after it has been written. Pools keep their lists
// in such arrays.
//
// Memory   address space for the whole array, pages for its used part.
// Errors   only the constructor throws: std::bad_alloc, if no address space is left.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

template <typename T>
class LazyArray {
  public:
    // All zero bits must be a valid T. No destructors are called.
    static_assert(std::is_trivially_destructible_v<T>);

    explicit LazyArray(std::size_t count)
        : mapping_{map(count * sizeof(T))}, data_{reinterpret_cast<T*>(mapping_.data())}, count_{count}
    {
    }

    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

  private:
    static sys::Mapping map(std::size_t bytes)
    {
        auto mapping = sys::Mapping::anonymous(bytes);
        if (!mapping) {
            throw std::bad_alloc{};
        }
        return std::move(*mapping);
    }

    sys::Mapping mapping_;
    T* data_;
    std::size_t count_;
};

}  // namespace memsweep::memory
