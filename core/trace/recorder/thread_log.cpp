#include "core/trace/recorder/thread_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/trace/recorder/call_stacks.hpp"
#include "core/trace/recorder/counting.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/real_calls.hpp"
#include "core/trace/recorder/signals_blocked.hpp"
#include "core/trace/recorder/usable_sizes.hpp"

namespace memsweep::trace::recorder {
namespace {

// What threads have that have recorded nothing yet; only reserved in, which goes nowhere.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit LogCursor unset_log{};
__thread LogCursor without_log __attribute__((tls_model("initial-exec"))) = {};

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
    case Call::thread_exit:
        return true;
    default:
        break;
    }
    return event.size >= choice().min_size && choice().sample == 1;
}

// Those that ask for memory.
bool has_stack(Call call, std::uint64_t address) noexcept
{
    switch (call) {
    case Call::malloc:
    case Call::calloc:
    case Call::aligned_alloc:
    case Call::failed_alloc:
    case Call::map:
        return true;
    case Call::realloc:
        return address != 0;
    default:
        return false;
    }
}

// Those that give a block.
bool has_caller(Call call) noexcept
{
    return choice().callers() && call != Call::failed_alloc && call != Call::map;
}

std::uint64_t* encode(std::uint64_t* at, const CallEvent& event, std::uint64_t before = 0) noexcept
{
    if (before != 0) {
        *at++ = before;
        std::atomic_signal_fence(std::memory_order_release);
    }
    const WordTag tag = short_form_of(event.call);
    if (tag == WordTag::nothing || !fits_word(event.address, event.size)) {
        const bool has_address = event.call != Call::failed_alloc;
        return put_long_form(at, event.call, {has_address ? event.address : event.size, event.size, event.other});
    }
    if (tag == WordTag::realloc) {
        if (!fits_word(event.other)) {
            return put_long_form(at, event.call, {event.address, event.size, event.other});
        }
        *at++ = word_of(WordTag::operand, event.other);
        std::atomic_signal_fence(std::memory_order_release);
    }
    *at++ = word_of(tag, event.address, event.size);
    return at;
}

// As record() does it, with the word of its stack or of its caller before, if it has one. The words are reserved at
// once, so that a handler's come before or behind all of them. False: it is to be recorded otherwise.
bool put_inline(ThreadLog& log, const CallEvent& event) noexcept
{
    const WordTag tag = short_form_of(event.call);
    const bool is_realloc = tag == WordTag::realloc;
    if (tag == WordTag::nothing || !fits_word(event.address, event.size) || (is_realloc && !fits_word(event.other))) {
        return false;
    }
    const std::uint64_t words = (is_realloc ? 2U : 1U) + (event.before != 0 ? 1U : 0U);
    const std::uint64_t bytes = words * sizeof(std::uint64_t);
    // A handler may open another window, which begins where this one ends: words that do not fit into this one are its.
    const std::uint64_t limit = log.limit;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t at = reserve(log, bytes);
    if (at + (bytes - sizeof(std::uint64_t)) >= limit || log.tick != last_tick()) {
        return false;
    }
    static_cast<void>(encode(word_at(at), event, event.before));
    log.last_caller = 0;
    return true;
}

void put(ThreadLog& log, std::uint64_t* end) noexcept
{
    log.end = reinterpret_cast<std::uint64_t>(end);
}

void put_stamp(ThreadLog& log, std::uint64_t ticks) noexcept
{
    *word_at(log.end) = stamp_word(ticks);
    log.end += sizeof(std::uint64_t);
}

bool frees_in(const std::uint64_t* word, const std::uint64_t* end, std::uint64_t address) noexcept
{
    return std::any_of(word, end, [&](std::uint64_t other) {
        return other == word_of(WordTag::free, address) || other == word_of(WordTag::operand, address);
    });
}

// A block that the thread has allocated inline and not given back since; all before this stands in the window.
bool is_live(const ThreadLog& log, std::uint64_t address, const std::uint64_t* behind) noexcept
{
    return log.deferred_count == 0 && !stamps_every_event() && !frees_in(behind, word_at(log.end), address);
}

// A size below 64 KiB, and behind it what the allocator says of it.
using Answers = std::array<std::uint64_t, events_per_stamp>;
constexpr unsigned size_bits = 64U - word_size_shift;

// Of the window's allocations inline that are live: asks how large each is whose size is new.
std::size_t ask_window(const ThreadLog& log, Answers& answers) noexcept
{
    constexpr std::uint64_t address_bits = (1ULL << word_size_shift) - (1ULL << word_tag_bits);
    constexpr std::uint64_t allocating_mask = 6;  // of a tag
    constexpr auto allocating = static_cast<std::uint64_t>(WordTag::malloc);
    static_assert((allocating & allocating_mask) == allocating &&
                  static_cast<std::uint64_t>(WordTag::calloc) == (allocating | 1U) &&
                  (static_cast<std::uint64_t>(WordTag::free) & allocating_mask) != allocating);
    std::size_t count = 0;
    const std::uint64_t* const end = word_at(log.end);
    for (const std::uint64_t* word = word_at(log.window_begin); word < end && count < answers.size(); ++word) {
        if ((*word & allocating_mask) != allocating) {
            continue;
        }
        const std::uint64_t address = *word & address_bits;
        if (word + 1 != end && word[1] == word_of(WordTag::free, address)) {
            continue;  // as most are that do not live to the window's end
        }
        const std::uint64_t size = *word >> word_size_shift;
        if (usable_sizes().knows_small(size) || !is_live(log, address, word + 1)) {
            continue;
        }
        const SignalsBlocked blocked;  // a handler may free it
        if (is_live(log, address, word + 1) && usable_sizes().take(size, 0)) {
            answers[count++] = usable_size_at(address) << size_bits | size;
        }
    }
    return count;
}

CallEvent said_by(std::uint64_t answer) noexcept
{
    return {Call::usable_size, answer & ((1U << size_bits) - 1U), 0, answer >> size_bits};
}

// Whether the window takes another event.
bool takes_more(const ThreadLog& log) noexcept
{
    const bool has_time = stamps_every_event() || log.tick == last_tick();
    return has_time && log.end + (1 + max_event_words) * sizeof(std::uint64_t) <= log.window_end;
}

// Room and a stamp; false when the recording has stopped.
bool open_next_window(ThreadLog& log) noexcept
{
    constexpr std::uint64_t fewest_words = 1 + 2 * max_event_words;  // for less it is not worth to stay in a chunk
    if (log.end + fewest_words * sizeof(std::uint64_t) > payload_of(log.slot) + slot_payload_bytes && !flush(log)) {
        log.state = LogState::stopped;
        count_lost_event();
        return false;
    }
    open_window(log);
    if (!stamps_every_event()) {
        put_stamp(log, tick_clock().ticks());
    }
    return true;
}

// The same, when what the window has recorded inline has been asked about.
__attribute__((noinline)) bool renew_asking(ThreadLog& log) noexcept
{
    Answers answers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    const std::size_t count = ask_window(log, answers);
    bool is_open = open_next_window(log);
    for (std::size_t i = 0; i < count && is_open; ++i) {
        put(log, encode(word_at(log.end), said_by(answers[i])));
        is_open = takes_more(log) || open_next_window(log);
    }
    return is_open;
}

// One of the window's callers, so that what calls often is met soon.
void note_caller_in_window(ThreadLog& log) noexcept
{
    constexpr std::uint64_t most_words = 8;
    const std::uint64_t* const begin = word_at(log.window_begin);
    const std::uint64_t* const end = std::min<const std::uint64_t*>(word_at(log.end), begin + most_words);
    const auto* const word = std::find_if(begin, end, is_caller_word);
    const std::uint64_t caller = word < end ? caller_in(*word) : 0;
    if (caller - log.noted_begin >= log.noted_end - log.noted_begin && caller != 0) {
        const FoundObject object = note_caller(caller);
        log.noted_begin = object.begin;
        log.noted_end = object.end;
    }
}

bool renew(ThreadLog& log) noexcept
{
    const bool has_window = log.window_begin >= payload_of(log.slot);  // not where a handler has forked
    if (choice().callers() && has_window && log.window_begin < log.end) {
        note_caller_in_window(log);
    }
    const bool asks = asks_usable_sizes() && log.takes_inline && !choice().stacks;
    return asks ? renew_asking(log) : open_next_window(log);
}

void append(ThreadLog& log, const CallEvent& event) noexcept
{
    const int error = errno;
    if (takes_more(log) || renew(log)) {
        if (stamps_every_event()) {
            put_stamp(log, tick_clock().ordered_ticks());
        }
        const bool holds = is_caller_word(event.before) && caller_in(event.before) == log.last_caller;
        put(log, encode(word_at(log.end), event, holds ? 0 : event.before));
        log.last_caller = is_caller_word(event.before) ? caller_in(event.before) : log.last_caller;
    }
    errno = error;
}

// What has been reserved inline is recorded, or nothing: a handler may have come in between.
void begin(ThreadLog& log) noexcept
{
    log.state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log.limit = 0;
    log.limit_of_allocations = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.takes_inline) {
        log.end = log.next < log.window_end ? log.next : log.window_end;
    }
}

// From `recording` to what it was before, unless that was the last event.
void finish(ThreadLog& log, LogState before) noexcept
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.state == LogState::recording) {
        make_ready(log, before);
        record_deferred(log);
    }
}

// What the handler does next waits too, also where the thread is not yet or no longer on the longer way.
void defer(ThreadLog& log, const CallEvent& event) noexcept
{
    log.limit = 0;
    log.limit_of_allocations = 0;
    if (log.deferred_count < log.deferred.size()) {
        log.deferred[log.deferred_count] = event;
        std::atomic_signal_fence(std::memory_order_release);
        ++log.deferred_count;
    } else {
        count_lost_event();
    }
}

void record_longer(ThreadLog& log, const CallEvent& event, LogState before) noexcept
{
    if (before == LogState::recording) {
        defer(log, event);
        return;
    }
    begin(log);
    append(log, event);
    finish(log, before);
}

// Of a block that was just given: a realloc that left it where it was may have left it larger.
bool is_new_size(const CallEvent& event) noexcept
{
    switch (event.call) {
    case Call::malloc:
    case Call::calloc:
        return usable_sizes().take(event.size, 0);
    case Call::realloc:
        return event.address != 0 && event.address != event.other && usable_sizes().take(event.size, 0);
    case Call::aligned_alloc:
        return usable_sizes().take(event.size, event.other);
    default:
        return false;
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
        } else if (takes(options, "only-chosen")) {
            choice.only_chosen = true;
        } else if (takes(options, "namespace=")) {
            choice.home_namespace = static_cast<std::uint32_t>(take_number(options));
        } else if (takes(options, "stacks")) {
            choice.stacks = true;
            choice.stacks_every = takes(options, "=") ? take_number(options) : 0;
        } else if (takes(options, "give-back")) {
            choice.gives_back = true;
        } else if (takes(options, "count")) {
            choice.counts = true;
        } else {
            ++options;
        }
    }
    choice.sample = choice.sample == 0 ? 1 : choice.sample;
    return choice;
}

__thread LogCursor* current __attribute__((tls_model("initial-exec"))) = &unset_log;
__thread bool old_block_was_chosen __attribute__((tls_model("initial-exec"))) = false;

// Also of a log that a handler's fork has changed halfway: no more is written than its slot.
void open_window(ThreadLog& log) noexcept
{
    constexpr std::uint64_t window_bytes = (1 + events_per_stamp) * sizeof(std::uint64_t);
    const std::uint64_t payload = payload_of(log.slot);
    const std::uint64_t from = log.window_end;
    const std::uint64_t end = std::min(log.end + window_bytes, payload + slot_payload_bytes);
    if (from < end) {
        std::memset(word_at(from), 0, end - from);
    }
    std::atomic_signal_fence(std::memory_order_release);
    log.slot->used = static_cast<std::uint32_t>(end - payload);
    log.tick = last_tick();  // before the stamp
    log.window_begin = log.end;
    log.window_end = end;
    log.last_caller = 0;
}

void put_event(ThreadLog& log, WordEvent event, const std::array<std::uint64_t, max_operands>& values) noexcept
{
    put(log, put_long_form(word_at(log.end), event, values));
}

void make_ready(ThreadLog& log, LogState state) noexcept
{
    log.next = log.end;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log.takes_inline = state == LogState::ready && !stamps_every_event();
    log.limit = log.takes_inline ? log.window_end : 0;
    log.limit_of_allocations = choice().stacks ? 0 : log.limit;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log.state = state;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Handlers go on deferring until the state is what it was.
void record_deferred(ThreadLog& log) noexcept
{
    const LogState before = log.state;
    while (log.deferred_count != 0 && log.state != LogState::stopped) {
        begin(log);
        std::uint32_t done = 0;
        std::uint32_t all = 0;
        do {
            append(log, log.deferred[done++]);
            all = done;
        } while (log.state != LogState::stopped &&
                 !std::atomic_ref{log.deferred_count}.compare_exchange_strong(all, 0) && all >= done);
        if (all < done) {
            return;  // a handler has forked, and this is the child, where the log is no longer in use
        }
        if (log.state != LogState::stopped) {
            make_ready(log, before);
        }
    }
}

std::uint64_t record_otherwise(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t other,
                               std::uint64_t returns_to) noexcept
{
    if (current->state == LogState::unset && has_real_calls()) {
        attach_thread();
    }
    LogCursor* const own = current;
    __asm__("" : : "r"(own) : "memory");  // whatever a handler does that forks from here on
    const LogState before = own->state;
    if (before == LogState::counting) {
        count(call, address, size);
        return address;
    }
    if (before == LogState::ignored || before == LogState::unset) {
        return address;
    }
    if (before == LogState::stopped) {
        count_lost_event();
        return address;
    }
    CallEvent event{call, address, size, other};
    if (call == Call::map || call == Call::unmap) {
        event.other = calling_module(other);
    }
    if (choice().selects() && !select(event, old_block_was_chosen)) {
        return address;
    }
    ThreadLog& log = static_cast<ThreadLog&>(*own);
    if (asks_usable_sizes() && is_new_size(event)) {
        const std::uint64_t alignment = call == Call::aligned_alloc ? other : 0;
        record_longer(log, {Call::usable_size, size, alignment, usable_size_at(address)}, before);
    }
    if (choice().stacks && has_stack(call, address)) {
        const std::uint32_t stack = call_stack(log.number, size, log.unsampled);
        event.before = stack != 0 ? stack_word(stack) : 0;
        if (stack == 0 && has_caller(call)) {
            event.before = caller_word(returns_to);
        }
        if (put_inline(log, event)) {
            return address;
        }
    }
    record_longer(log, event, before);
    return address;
}

void expire_window() noexcept
{
    current->tick = last_tick() - 1;
}

void ask_open_window() noexcept
{
    if (!asks_usable_sizes() || current->state != LogState::ready) {
        return;
    }
    ThreadLog& log = static_cast<ThreadLog&>(*current);
    if (!log.takes_inline || choice().stacks) {
        return;
    }
    begin(log);
    Answers answers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    const std::size_t count = ask_window(log, answers);
    for (std::size_t i = 0; i < count && log.state == LogState::recording; ++i) {
        append(log, said_by(answers[i]));
    }
    finish(log, LogState::ready);
}

// The word that is reserved is the caller's, if the event's is the next: no handler has recorded in between.
__attribute__((noinline)) std::uint64_t record_with_caller(Call call, std::uint64_t address, std::uint64_t size,
                                                           std::uint64_t at, std::uint64_t returns_to) noexcept
{
    LogCursor& log = *current;
    constexpr std::uint64_t bytes = sizeof(std::uint64_t);
    const std::uint64_t limit = log.limit;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t next = reserve(log, bytes);
    if (next != at + bytes || next >= limit) [[unlikely]] {
        return record_otherwise(call, address, size, 0, returns_to);
    }
    log.unsampled -= size != 0 ? size : 1;
    *word_at(at) = caller_word(returns_to);
    log.last_caller = returns_to;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.next != next + bytes) [[unlikely]] {
        log.last_caller = 0;  // a handler has recorded behind
    }
    *word_at(next) = word_of(short_form_of(call), address, size);
    return address;
}

std::uint64_t record_unsampled(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t at,
                               std::uint64_t returns_to) noexcept
{
    LogCursor& log = *current;
    if (size >= log.unsampled || at >= log.limit || !fits_word(address, size) || log.tick != last_tick()) {
        return record_otherwise(call, address, size, 0, returns_to);
    }
    if (returns_to != log.last_caller) {
        return record_with_caller(call, address, size, at, returns_to);
    }
    log.unsampled -= size != 0 ? size : 1;
    *word_at(at) = word_of(short_form_of(call), address, size);
    return address;
}

void forget_log() noexcept
{
    current = &unset_log;
}

void go_without_log(LogState state) noexcept
{
    without_log.state = state;
    current = &without_log;
}

void prepare_realloc(void* block) noexcept
{
    if (current->state == LogState::unset && has_real_calls()) {
        attach_thread();
    }
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (current->state == LogState::counting) {
        count_before_realloc(address);
    } else if (choice().selects()) {
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
