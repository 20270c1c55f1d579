#include "core/trace/recorder/thread_starts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/own_mappings.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {

struct ThreadStart::Entry {
    std::atomic<bool> is_taken;
    RunThread* run;
    void* argument;
    Bounds given;              // the stack that the program has given it; empty: it gave none
    std::uint64_t most_bytes;  // the stack's; 0: not known
};

namespace {

constexpr std::size_t most_in_creation = 1024;
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
std::uint32_t own_data_bytes;  // what the C library keeps of a thread, from its thread pointer on
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// What the thread's creator knew.
__thread Bounds given_stack __attribute__((tls_model("initial-exec"))) = {};
__thread std::uint64_t most_stack_bytes __attribute__((tls_model("initial-exec"))) = 0;

void look_at(const pthread_attr_t& attributes, Bounds& given, std::uint64_t& most_bytes) noexcept
{
    void* low = nullptr;
    std::size_t bytes = 0;
    if (::pthread_attr_getstack(&attributes, &low, &bytes) != 0) {
        return;
    }
    most_bytes = bytes;
    const auto begin = reinterpret_cast<std::uint64_t>(low);
    if (begin + bytes != 0 && low != nullptr) {  // without one it ends at address 0
        given = {begin, begin + bytes};
    }
}

}  // namespace

ThreadStart::Entry* ThreadStart::take() noexcept
{
    static constinit std::array<Entry, most_in_creation> entries{};
    for (Entry& entry : entries) {
        if (!entry.is_taken.load(std::memory_order_relaxed) &&
            !entry.is_taken.exchange(true, std::memory_order_acquire)) {
            return &entry;
        }
    }
    return nullptr;
}

ThreadStart::ThreadStart(const pthread_attr_t* attributes, RunThread* body, void* argument) noexcept
    : run_{body}, argument_{argument}, entry_{is_recording() ? take() : nullptr}
{
    if (entry_ != nullptr) {
        entry_->run = body;
        entry_->argument = argument;
        entry_->given = {};
        entry_->most_bytes = 0;
        if (attributes != nullptr) {
            look_at(*attributes, entry_->given, entry_->most_bytes);
        }
    }
}

RunThread* ThreadStart::run() const noexcept
{
    return entry_ == nullptr ? run_ : begin;
}

void* ThreadStart::argument() const noexcept
{
    return entry_ == nullptr ? argument_ : entry_;
}

void ThreadStart::abandon() noexcept
{
    if (entry_ != nullptr) {
        entry_->is_taken.store(false, std::memory_order_release);
    }
}

// Not noexcept: pthread_exit and a cancellation unwind through what runs.
void* ThreadStart::begin(void* entry)
{
    Entry& start = *static_cast<Entry*>(entry);
    RunThread* const run = start.run;
    void* const argument = start.argument;
    given_stack = start.given;
    most_stack_bytes = start.most_bytes;
    start.is_taken.store(false, std::memory_order_release);
    if (current->state == LogState::unset) {
        attach_thread();
    }
    return run(argument);
}

void prepare_thread_starts() noexcept
{
    if (const void* const found = LoadedObject::first_definition("_thread_db_sizeof_pthread")) {
        std::memcpy(&own_data_bytes, found, sizeof own_data_bytes);
    }
}

Bounds own_stack() noexcept
{
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    if (given_stack.holds(here)) {
        return given_stack;
    }
    std::array<char, mapping_room_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    OwnMapping mapping;
    if (is_on_signal_stack() || !find_own_mapping(here, room, mapping) || mapping.is_main_stack) {
        return {};
    }
    constexpr std::uint64_t page = 4096;
    const auto own_data = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    Bounds bounds{mapping.low, mapping.high};
    if (bounds.holds(own_data) && own_data > here) {  // what is mapped behind may be another's
        bounds.high = std::min(bounds.high, (own_data + own_data_bytes + page - 1) / page * page);
        if (most_stack_bytes != 0 && most_stack_bytes < bounds.high - bounds.low) {  // or below, without a guard
            bounds.low = bounds.high - most_stack_bytes;
        }
    }
    return bounds;
}

}  // namespace memsweep::trace::recorder
