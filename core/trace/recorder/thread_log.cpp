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

void record_deferred(ThreadLog& log) noexcept
{
    std::uint32_t done = 0;
    while (done < log.deferred_count && log.state != LogState::stopped) {
        append(log, log.deferred[done++]);
    }
    log.deferred_count = 0;
}

void record_otherwise(const CallEvent& event) noexcept
{
    ThreadLog* log = current;
    if (log->state == LogState::unset) {
        attach_thread();
        log = current;
    }
    if (log->state == LogState::ignored) {
        return;
    }
    if (log->state == LogState::stopped) {
        count_lost_event();
        return;
    }
    if (log->state == LogState::recording) {
        defer(*log, event);
        return;
    }
    CallEvent selected = event;
    const LogState before = log->state;
    if (before == LogState::selecting && !select(selected, old_block_was_chosen)) {
        return;
    }
    log->state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    append(*log, selected);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    record_deferred(*log);
    if (log->state == LogState::recording) {
        log->state = before;
    }
}

void prepare_realloc(void* block) noexcept
{
    if (current->state == LogState::selecting) {
        old_block_was_chosen = is_chosen(reinterpret_cast<std::uint64_t>(block));
    }
}

}  // namespace memsweep::trace::recorder
