#include "core/trace/recorder/thread_log.hpp"

#include <cerrno>

#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/real_calls.hpp"

namespace memsweep::trace::recorder {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): never written, never read beyond its state
constinit ThreadLog unset_log{};

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
    default:
        return event.size >= choice().min_size && choice().sample == 1;
    }
}

void append_any(ThreadLog& log, const CallEvent& event) noexcept
{
    switch (event.call) {
    case Call::malloc:
        return append<Call::malloc>(log, event.address, event.size, event.other);
    case Call::calloc:
        return append<Call::calloc>(log, event.address, event.size, event.other);
    case Call::realloc:
        return append<Call::realloc>(log, event.address, event.size, event.other);
    case Call::free:
        return append<Call::free>(log, event.address, event.size, event.other);
    case Call::aligned_alloc:
        return append<Call::aligned_alloc>(log, event.address, event.size, event.other);
    case Call::failed_alloc:
        return append<Call::failed_alloc>(log, event.address, event.size, event.other);
    case Call::map:
        return append<Call::map>(log, event.address, event.size, event.other);
    case Call::unmap:
        return append<Call::unmap>(log, event.address, event.size, event.other);
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

}  // namespace

__thread ThreadLog* current __attribute__((tls_model("initial-exec"))) = &unset_log;
__thread bool old_block_was_chosen __attribute__((tls_model("initial-exec"))) = false;

bool renew(ThreadLog& log) noexcept
{
    const int error = errno;
    const bool has_room =
        static_cast<std::uint32_t>(log.at - payload_of(log.slot)) < slot_payload_bytes - slot_reserve_bytes;
    if (!has_room && !flush(log)) {
        give_up(log);
        errno = error;
        return false;
    }
    const bool every = stamps_every_event();
    log.at = log.encoder.stamp(log.at, every ? tick_clock().ordered_ticks() : tick_clock().ticks());
    log.until_stamp = every ? 0 : static_cast<std::int32_t>(events_per_stamp) - 1;
    errno = error;
    return true;
}

// Handlers go on deferring until the state is what it was.
void record_deferred(ThreadLog& log) noexcept
{
    const LogState before = log.state;
    while (log.deferred_count != 0 && log.state != LogState::stopped) {
        log.state = LogState::recording;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::uint32_t done = 0;
        std::uint32_t all = 0;
        do {
            append_any(log, log.deferred[done++]);
            all = done;
        } while (log.state != LogState::stopped &&
                 !std::atomic_ref{log.deferred_count}.compare_exchange_strong(all, 0));
        if (log.state != LogState::stopped) {
            log.state = before;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
}

void record_otherwise(CallEvent event) noexcept
{
    if (current->state == LogState::unset) {
        attach_thread();
    }
    ThreadLog& log = *current;
    if (log.state == LogState::ignored) {
        return;
    }
    if (log.state == LogState::stopped) {
        count_lost_event();
        return;
    }
    if (selects() && !select(event, old_block_was_chosen)) {
        return;
    }
    const LogState before = log.state;
    if (before == LogState::recording) {
        defer(log, event);
        return;
    }
    log.state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    append_any(log, event);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.state == LogState::recording) {
        log.state = before;
        record_deferred(log);
    }
}

void prepare_realloc(void* block) noexcept
{
    if (selects()) {
        old_block_was_chosen = is_chosen(reinterpret_cast<std::uint64_t>(block));
    }
}

}  // namespace memsweep::trace::recorder
