// What makes a runtime collect: rules over what the program allocates and frees. They hold no memory of the program.
//
// Units    bytes, nanoseconds of any monotonic clock.
// Threads  one at a time: the owner of a trigger serialises its calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/specs.hpp"

namespace memsweep::lifetime {

enum class Due : std::uint8_t {
    no,
    now,         // the allocation waits for the collection
    background,  // it is asked for and runs beside the program
};

struct Collection {
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    std::uint64_t freed_bytes{};  // by the collection itself, or found by it for others to free
    bool asked_for{};             // by the program, not by a trigger
};

class Trigger {
  public:
    Trigger() = default;
    Trigger(const Trigger&) = delete;
    Trigger& operator=(const Trigger&) = delete;
    virtual ~Trigger() = default;

    [[nodiscard]] virtual Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept = 0;
    virtual void freed(std::uint64_t /*bytes*/) noexcept {}  // at last, by whomever
    virtual void collected(const Collection& /*collection*/) noexcept {}
};

// Every trigger that the spec asks for.
[[nodiscard]] std::vector<std::unique_ptr<Trigger>> make_triggers(const model::ReleaseSpec& spec);

}  // namespace memsweep::lifetime
