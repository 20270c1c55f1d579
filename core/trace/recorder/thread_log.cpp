#include "core/trace/recorder/thread_log.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/trace/recorder/counting.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/real_calls.hpp"

namespace memsweep::trace::recorder {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): never written, never read beyond its state
constinit ThreadLog unset_log{};

bool takes(const char*& at, const char* word) noexcept
{
    const std::size_t length = std::strlen(word);
    if (std::strncmp(at, word, length) != 0) {
        return false;
    }
    at += length;
    return true;
}

std::uint64_t take_number(const char*& at) noexcept
{
    std::uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        number = number * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return number;
}

void give_up(ThreadLog& log) noexcept
{
    log.state = LogState::stopped;
    count_lost_event();
}

// Neighbours in memory shall not all fall into the sample, or all out of it.
bool is_sampled(std::uint64_t address) noexcept
{
    return ((address >> 4U) * 0x9E3779B97F4A7C15U >> 32U) % choice().sample == 0;
}

bool selects() noexcept
{
    return choice().min_size != 0 || choice().sample > 1;
}

// The same answer at a block's allocation and at its free: it rests on the address and on what the allocator gave.
bool is_chosen(std::uint64_t address) noexcept
{
    if (address == 0 || !is_sampled(address)) {
        return false;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a block of the allocator's
    void* const block = reinterpret_cast<void*>(address);
    return choice().min_size == 0 || real.malloc_usable_size(block) >= choice().min_size;
}

bool select(CallEvent& event, bool old_was_chosen) noexcept
{
    switch (event.call) {
    case Call::malloc:
    case Call::calloc:
    case Call::aligned_alloc:
    case Call::free:
        return is_chosen(event.address);
    case Call::realloc: {
        const bool is_new_chosen = is_chosen(event.address);
        if (is_new_chosen && !old_was_chosen) {
            event.call = Call::malloc;
        } else if (!is_new_chosen && old_was_chosen) {
            event = {.call = Call::free, .address = event.other};
        }
        return is_new_chosen || old_was_chosen;
    }
    case Call::failed_alloc:
    case Call::map:
    case Call::unmap:
        break;
    }
    return event.size >= choice().min_size && choice().sample == 1;
}

std::uint8_t* encode(EventEncoder& encoder, std::uint8_t* at, const CallEvent& event) noexcept
{
    switch (event.call) {
    case Call::malloc:
        return encoder.malloc(at, event.address, event.size);
    case Call::calloc:
        return encoder.sized(at, OtherOperation::calloc, event.address, event.size);
    case Call::realloc:
        return encoder.realloc(at, event.other, event.address, event.size);
    case Call::free:
        return encoder.free(at, event.address);
    case Call::aligned_alloc:
        return encoder.aligned_alloc(at, event.address, event.size, event.other);
    case Call::failed_alloc:
        return encoder.counted(at, OtherOperation::failed_alloc, event.size);
    case Call::map:
        return encoder.sized(at, OtherOperation::map, event.address, event.size);
    case Call::unmap:
        return encoder.sized(at, OtherOperation::unmap, event.address, event.size);
    }
    return at;
}

void set_end(ThreadLog& log, const std::uint8_t* end) noexcept
{
    std::atomic_signal_fence(std::memory_order_release);
    log.slot->used = static_cast<std::uint32_t>(end - payload_of(log.slot));
}

std::uint32_t room_in(const ThreadLog& log) noexcept
{
    return slot_payload_bytes - log.slot->used;
}

// Room, and a stamp; false when the recording has stopped.
bool renew(ThreadLog& log) noexcept
{
    constexpr std::uint32_t fewest_events = 16;  // for less it is not worth to stay in a chunk
    const int error = errno;
    if (room_in(log) < max_stamp_bytes + fewest_events * max_call_bytes && !flush(log)) {
        give_up(log);
        errno = error;
        return false;
    }
    const bool every = stamps_every_event();
    std::uint8_t* const at = payload_of(log.slot) + log.slot->used;
    set_end(log, log.encoder.stamp(at, every ? tick_clock().ordered_ticks() : tick_clock().ticks()));
    const std::uint32_t fitting = room_in(log) / max_call_bytes;
    log.until_stamp =
        every ? 0 : static_cast<std::int32_t>(fitting < events_per_stamp ? fitting : events_per_stamp) - 1;
    errno = error;
    return true;
}

// What the count of events allows for.
void append_counted(ThreadLog& log, const CallEvent& event) noexcept
{
    if (log.until_stamp >= 0 || renew(log)) {
        set_end(log, encode(log.encoder, payload_of(log.slot) + log.slot->used, event));
    }
}

void append(ThreadLog& log, const CallEvent& event) noexcept
{
    --log.until_stamp;
    append_counted(log, event);
}

// From `recording` to what it was before, unless that was the last event.
void finish(ThreadLog& log, LogState before) noexcept
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.state == LogState::recording) {
        log.state = before;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        record_deferred(log);
    }
}

void defer(ThreadLog& log, const CallEvent& event) noexcept
{
    if (log.deferred_count < log.deferred.size()) {
        log.deferred[log.deferred_count] = event;
        std::atomic_signal_fence(std::memory_order_release);
        ++log.deferred_count;
    } else {
        count_lost_event();
    }
}

void count(Call call, std::uint64_t address, std::uint64_t size) noexcept
{
    if (call == Call::realloc) {
        count_realloc(address, size);
    } else {
        count_call(call, address, size);
    }
}

}  // namespace

Choice read_choice(std::span<char> folder) noexcept
{
    Choice choice;
    const char* const given = std::getenv(recording_folder_variable);
    if (given == nullptr || std::strlen(given) >= folder.size()) {
        return choice;
    }
    std::memcpy(folder.data(), given, std::strlen(given) + 1);
    choice.on = true;
    const char* options = std::getenv(recording_options_variable);
    while (options != nullptr && *options != '\0') {
        if (takes(options, "min-size=")) {
            choice.min_size = take_number(options);
        } else if (takes(options, "sample=")) {
            choice.sample = take_number(options);
        } else if (takes(options, "only-child-of=")) {
            choice.only_child_of = static_cast<std::uint32_t>(take_number(options));
        } else if (takes(options, "count")) {
            choice.counts = true;
        } else {
            ++options;
        }
    }
    choice.sample = choice.sample == 0 ? 1 : choice.sample;
    return choice;
}

__thread ThreadLog* current __attribute__((tls_model("initial-exec"))) = &unset_log;
__thread bool old_block_was_chosen __attribute__((tls_model("initial-exec"))) = false;

// Handlers go on deferring until the state is what it was.
std::uint64_t record_deferred(ThreadLog& log, std::uint64_t address) noexcept
{
    const LogState before = log.state;
    while (log.deferred_count != 0 && log.state != LogState::stopped) {
        log.state = LogState::recording;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::uint32_t done = 0;
        std::uint32_t all = 0;
        do {
            append(log, log.deferred[done++]);
            all = done;
        } while (log.state != LogState::stopped &&
                 !std::atomic_ref{log.deferred_count}.compare_exchange_strong(all, 0));
        if (log.state != LogState::stopped) {
            log.state = before;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    return address;
}

std::uint64_t record_long(ThreadLog& log, Call call, std::uint64_t address, std::uint64_t size,
                          std::uint64_t other) noexcept
{
    append_counted(log, {call, address, other, size});
    finish(log, LogState::ready);
    return address;
}

std::uint64_t record_otherwise(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t other) noexcept
{
    if (current->state == LogState::unset && has_real_calls()) {
        attach_thread();
    }
    ThreadLog& log = *current;
    if (log.state == LogState::counting) {
        count(call, address, size);
        return address;
    }
    if (log.state == LogState::ignored || log.state == LogState::unset) {
        return address;
    }
    if (log.state == LogState::stopped) {
        count_lost_event();
        return address;
    }
    CallEvent event{call, address, other, size};
    if (selects() && !select(event, old_block_was_chosen)) {
        return address;
    }
    const LogState before = log.state;
    if (before == LogState::recording) {
        defer(log, event);
        return address;
    }
    log.state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    append(log, event);
    finish(log, before);
    return address;
}

void forget_log() noexcept
{
    current = &unset_log;
}

void prepare_realloc(void* block) noexcept
{
    if (current->state == LogState::unset && has_real_calls()) {
        attach_thread();
    }
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (current->state == LogState::counting) {
        count_before_realloc(address);
    } else if (selects()) {
        old_block_was_chosen = is_chosen(address);
    }
}

void record_failed_realloc(void* block, std::uint64_t bytes) noexcept
{
    if (current->state == LogState::counting) {
        count_failed_realloc(reinterpret_cast<std::uint64_t>(block));
    } else {
        record<Call::failed_alloc>(0, bytes);
    }
}

}  // namespace memsweep::trace::recorder
