// One step of a scenario, with every axis value and variable already substituted.
//
// A Step's operation is a closed variant: a new operation is a compile error in every visitor.
// Units    bytes, elements and counts as named; shapes in elements, slowest-varying dimension first.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/dtype.hpp"

namespace memsweep::model {

enum class Touch : std::uint8_t {
    none,  // nothing is written: no page becomes resident
    page,  // one byte of each page
    full,  // every byte
};

enum class Fill : std::uint8_t { none, zeros, ones, arange };

enum class BinaryFunction : std::uint8_t { add, multiply };

template <>
std::span<const Named<Touch>> names<Touch>();
template <>
std::span<const Named<Fill>> names<Fill>();
template <>
std::span<const Named<BinaryFunction>> names<BinaryFunction>();

// Allocates `count` arrays under one name. A name in use is rebound as in Python: the new arrays are
// made first, then the old ones dropped.
struct AllocStep {
    std::string as;
    std::uint64_t count{1};
    DType dtype{DType::float64};
    std::vector<std::uint64_t> shape;
    Fill fill{Fill::none};
    Touch touch{Touch::none};
};

struct WriteStep {
    std::string target;
    Touch touch{Touch::full};
};

// as = left (function) right, element by element, into a new array each (NumPy's ufunc into a fresh result).
struct BinaryStep {
    BinaryFunction function{};
    std::string as;
    std::string left;
    std::string right;
};

struct DropStep {
    std::string target;
};
struct CollectStep {};  // find what is unreachable; with a finalizer this only queues it
struct DrainStep {};    // wait until everything found has been released
struct SampleStep {
    std::string name;
};
struct IdleStep {
    std::chrono::nanoseconds duration{};
};

struct Step;
struct RepeatStep {
    std::uint64_t times{1};
    std::vector<Step> steps;
};

using Operation =
    std::variant<AllocStep, WriteStep, BinaryStep, DropStep, CollectStep, DrainStep, SampleStep, IdleStep, RepeatStep>;

struct Step {
    Operation operation;
    std::string phase;  // empty: a top-level step is its own phase, named after its operation
    bool timed{};       // wall_time covers only such steps, when a scenario marks any
    std::string where;  // file:line:col, for messages; empty in steps made by code
};

// Name and meaning of every operation, in the order of Operation's alternatives.
struct OperationInfo {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] std::span<const OperationInfo> operations();
[[nodiscard]] std::string_view operation_name(const Operation& operation);

// Bytes of one array of this step; empty when the product overflows 64 bits.
[[nodiscard]] std::optional<std::uint64_t> array_bytes(const AllocStep& step);

}  // namespace memsweep::model
