// A heap with exact counters, and element access, for the array tests.
#pragma once

#include <cstring>
#include <initializer_list>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/streaming.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"

namespace memsweep::tests {

struct Rig {
    memory::MallocResource malloc;
    memory::Counters counters;
    memory::CountingAdaptor counting{malloc, counters};
    lifetime::Heap heap{counting, {}};

    array::Array make(model::DType dtype, const std::vector<std::uint64_t>& shape, model::Fill fill,
                      model::Touch touch = model::Touch::none)
    {
        return array::Array::create(heap, dtype, shape, fill, touch).array;
    }
    array::Array arange(const std::vector<std::uint64_t>& shape)
    {
        return make(model::DType::int64, shape, model::Fill::arange);
    }
};

template <typename T>
T element(const array::Array& array, std::initializer_list<std::uint64_t> index)
{
    T value;
    std::memcpy(&value, array.at({index.begin(), index.size()}), sizeof value);
    return value;
}

// What a test changes with stream_from() ends with it.
struct StreamingAsBefore {
    array::StreamingSizes before{array::streams_from()};
    StreamingAsBefore() = default;
    StreamingAsBefore(const StreamingAsBefore&) = delete;
    StreamingAsBefore& operator=(const StreamingAsBefore&) = delete;
    ~StreamingAsBefore() { array::stream_from(before); }
};

// Every element in row-major order, found by index and not by walking memory.
template <typename T>
std::vector<T> elements(const array::Array& array)
{
    std::vector<T> values(array.elements());
    std::vector<std::uint64_t> index(array.dimensions(), 0);
    for (T& value : values) {
        std::memcpy(&value, array.at(index), sizeof value);
        for (std::size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < array.shape()[axis]) {
                break;
            }
            index[axis] = 0;
        }
    }
    return values;
}

}  // namespace memsweep::tests
