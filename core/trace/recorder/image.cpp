#include "core/trace/recorder/image.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/trace/format/crc32c.hpp"
#include "core/trace/recorder/call_stacks.hpp"
#include "core/trace/recorder/counting.hpp"
#include "core/trace/recorder/found_object.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"
#include "core/trace/recorder/thread_starts.hpp"

namespace memsweep::trace::recorder {
namespace {

// A forked child finds all of this zeroed, and begins anew.
struct Image {
    std::atomic<std::uint32_t> lock;
    std::atomic<std::uint32_t> slots_lock;  // taken for a moment, also with the other one held
    bool is_started;
    bool is_stopped;
    std::atomic<bool> has_call_tree;
    bool has_no_call_tree;  // and cannot have one
    ImageFacts* facts;      // in the mapped file
    CallTree tree;
    UsableSizes usable_sizes;
    bool stamps_every_event;
    std::uint32_t logs_used;
    std::array<ThreadLog, max_slots> logs;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
Image* image;
bool has_read_choice;
Choice the_choice;
std::array<char, max_path_bytes> folder;
// These outlive a fork: the child lets go of its parent's file, and knows where it comes from.
constinit RecordingFile file;
std::uint32_t last_process;
const char* server;  // the path of the file that malloc comes from; null: not known
// The number of the slot that each log writes to.
std::array<std::uint32_t, max_slots> slot_numbers;
bool is_counting;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

__thread std::uint32_t recorded_thread __attribute__((tls_model("initial-exec"))) = 0;

// A key whose destructor runs when a thread ends. Threads that have none of it end unseen.
pthread_key_t exit_key;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool has_exit_key;       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Beyond these keys the C library allocates the place of a value, which would be recorded while it is set.
constexpr pthread_key_t keys_without_allocation = 32;  // PTHREAD_KEY_2NDLEVEL_SIZE of nptl

void record_thread_exit(void* /*mark*/) noexcept
{
    record<Call::thread_exit>(0);
}

void expect_exit() noexcept
{
    if (has_exit_key && exit_key < keys_without_allocation) {
        ::pthread_setspecific(exit_key, &exit_key);
    }
}

const TickClock& the_clock() noexcept
{
    static const TickClock clock;  // -fno-threadsafe-statics: any thread finds the same
    return clock;
}

std::uint32_t id_of(long call) noexcept
{
    return static_cast<std::uint32_t>(kernel(call));
}

void acquire(std::atomic<std::uint32_t>& lock) noexcept
{
    while (lock.exchange(1, std::memory_order_acquire) != 0) {
        kernel(SYS_sched_yield);
    }
}

void release(std::atomic<std::uint32_t>& lock) noexcept
{
    lock.store(0, std::memory_order_release);
}

// Zeroed in a child; where the kernel does not know that (before 4.14), a fork handler does it.
Image* make_image() noexcept
{
    const long at = map_own_memory(sizeof(Image));
    if (at < 0) {
        return nullptr;
    }
    void* const memory = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    if (kernel(SYS_madvise, memory, sizeof(Image), MADV_WIPEONFORK) < 0) {
        ::pthread_atfork(nullptr, nullptr, [] { std::memset(static_cast<void*>(image), 0, sizeof(Image)); });
    }
    return static_cast<Image*>(memory);
}

void find_program(ImageFacts& facts) noexcept
{
    const char* const path = own_program();
    const char* const slash = std::strrchr(path, '/');
    const char* const name = slash == nullptr ? path : slash + 1;
    std::memcpy(facts.program, name, std::min(std::strlen(name), sizeof facts.program - 1));
}

void put_server(ImageFacts& facts) noexcept
{
    const std::size_t length = server == nullptr ? 0 : std::strlen(server);
    const std::size_t kept = std::min(length, sizeof facts.served_by - 1);
    std::memcpy(facts.served_by, server + (length - kept), kept);
}

void write_headers(std::uint32_t process) noexcept
{
    ImageFacts facts{.process = process,
                     .parent = id_of(SYS_getppid),
                     .slots = file.slots(),
                     .start_ticks = the_clock().ticks(),
                     .start_nanoseconds = nanoseconds_of(CLOCK_MONOTONIC),
                     .start_unix_ns = nanoseconds_of(CLOCK_REALTIME),
                     .append_at = file.mapped_bytes(),
                     .pid_namespace = own_pid_namespace(),
                     .home_namespace = the_choice.home_namespace};
    find_program(facts);
    put_server(facts);
    std::memcpy(file.memory() + facts_offset, &facts, sizeof facts);
    image->facts = reinterpret_cast<ImageFacts*>(file.memory() + facts_offset);
    ChunkHeader room{.kind = ChunkKind::slots,
                     .span_bytes = static_cast<std::uint32_t>(file.mapped_bytes() - sizeof(FileHeader)),
                     .process = process};
    room.header_crc = crc32c(&room, offsetof(ChunkHeader, header_crc));
    std::memcpy(file.memory() + sizeof(FileHeader), &room, sizeof room);
    FileHeader header{.start_ticks = facts.start_ticks,
                      .start_unix_ns = facts.start_unix_ns,
                      .process = process,
                      .page_bytes = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE))};
    header.header_crc = crc32c(&header, offsetof(FileHeader, header_crc));
    std::memcpy(file.memory(), &header, sizeof header);
}

void stop(long problem) noexcept
{
    image->is_stopped = true;
    if (image->facts != nullptr && image->facts->stopped_errno == 0) {
        image->facts->stopped_errno = static_cast<std::uint32_t>(problem < 0 ? -problem : problem);
    }
}

// Where one process shall be recorded alone, its children, which have its memory, are not that one.
bool is_to_be_recorded(std::uint32_t process) noexcept
{
    if (the_choice.only_child_of != 0) {
        return last_process == 0 && id_of(SYS_getppid) == the_choice.only_child_of;
    }
    if (the_choice.only_chosen) {
        std::array<char, max_path_bytes> path;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
        return last_process == 0 && own_pid_namespace() == the_choice.home_namespace &&
               make_path(path, folder.data(), process, 0, chosen_ending) &&
               kernel(SYS_faccessat, AT_FDCWD, path.data(), F_OK) == 0;
    }
    return true;
}

// With the lock held.
bool start_image() noexcept
{
    image->is_started = true;
    image->is_stopped = true;
    const std::uint32_t process = id_of(SYS_getpid);
    if (!is_to_be_recorded(process)) {
        return false;
    }
    if (file.create(folder.data(), process) != 0) {
        return false;  // `memsweep record` finds a link that says why
    }
    write_headers(process);
    if (the_choice.stacks) {
        const long problem = begin_stacks(file.path(), process);
        image->facts->stacks_errno = static_cast<std::uint32_t>(-problem);
        image->has_no_call_tree = problem != 0;
        image->has_call_tree.store(problem == 0, std::memory_order_release);
    }
    image->is_stopped = false;
    return true;
}

Slot* slot_at(std::uint32_t number) noexcept
{
    return reinterpret_cast<Slot*>(file.memory() + slots_offset + std::size_t{number} * slot_bytes);
}

std::uint32_t number_of(const Slot* slot) noexcept
{
    const auto offset = reinterpret_cast<std::uintptr_t>(slot) - reinterpret_cast<std::uintptr_t>(slot_at(0));
    return static_cast<std::uint32_t>(offset / slot_bytes);
}

// The lowest free one of the first so many, which is in the caches. nullptr: there is none, or no room on the disk.
Slot* free_slot(std::uint32_t most, long& problem) noexcept
{
    const std::uint32_t used = image->facts->slots_used;
    for (std::uint32_t number = 0; number < std::min(used, most); ++number) {
        Slot* const slot = slot_at(number);
        if (std::atomic_ref{slot->state}.load(std::memory_order_acquire) == SlotState::free) {
            return slot;
        }
    }
    if (used >= most) {
        return nullptr;
    }
    problem = file.reserve(slots_offset + std::uint64_t{used} * slot_bytes, slot_bytes);
    if (problem != 0) {
        return nullptr;
    }
    image->facts->slots_used = used + 1;
    return slot_at(used);
}

// Empty, and nobody else's.
Slot* take_slot(std::uint32_t most, long& problem) noexcept
{
    acquire(image->slots_lock);
    Slot* const slot = free_slot(most, problem);
    if (slot != nullptr) {
        slot->used = 0;
        std::atomic_ref{slot->state}.store(SlotState::writing, std::memory_order_release);
    }
    release(image->slots_lock);
    return slot;
}

void begin_chunk(ThreadLog& log, Slot* slot, std::uint64_t sequence) noexcept
{
    const std::uint64_t earliest = log.slot->chunk.first_ticks + 1;  // also where the clock stepped back since
    slot->used = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // in this order also for who finds it after a kill
    slot->chunk = {.kind = ChunkKind::words,
                   .flags = static_cast<std::uint8_t>(chunk_unsealed | (follows_clock() ? chunk_ticked : 0)),
                   .span_bytes = slot_bytes - static_cast<std::uint32_t>(offsetof(Slot, chunk)),
                   .process = image->facts->process,
                   .thread = log.thread,
                   .sequence = sequence,
                   .first_ticks = std::max(the_clock().ticks(), earliest)};
    slot_numbers[static_cast<std::size_t>(&log - image->logs.data())] = number_of(slot);
    log.slot = slot;
    log.end = payload_of(slot);
    log.window_end = log.end;
}

struct FilePlace {
    std::uint64_t offset{};
    std::uint32_t bytes{};
    std::uint32_t zeroes{};  // to be written behind
    std::uint32_t span_bytes{};
};

// A chunk that fills its slot ends at a multiple of the slot's size, so that the next such begins there.
FilePlace take_place(std::uint32_t bytes) noexcept
{
    constexpr std::uint32_t max_zeroes = 1024;
    const bool is_full = bytes > slot_bytes - max_zeroes;
    const std::atomic_ref append_at{image->facts->append_at};
    std::uint64_t offset = append_at.load(std::memory_order_relaxed);
    std::uint64_t end{};
    do {
        end = is_full ? (offset + bytes + slot_bytes - 1) / slot_bytes * slot_bytes : offset + bytes;
    } while (!append_at.compare_exchange_weak(offset, end, std::memory_order_relaxed));
    const auto span = static_cast<std::uint32_t>(end - offset);
    return {offset, bytes, span - bytes <= max_zeroes ? span - bytes : 0, span};
}

// A thread that has ended. Its number may belong to another thread by now: then it is the caller's own.
bool has_ended(const ThreadLog& log, std::uint32_t own_thread) noexcept
{
    return log.thread == own_thread || kernel(SYS_tgkill, image->facts->process, log.thread, 0) == -ESRCH;
}

// To the end of the file.
long append_chunk(Slot& slot) noexcept
{
    ChunkHeader& chunk = slot.chunk;
    const FilePlace place = take_place(static_cast<std::uint32_t>(sizeof chunk) + slot.used);
    chunk.flags &= static_cast<std::uint8_t>(~chunk_unsealed);
    chunk.span_bytes = place.span_bytes;
    chunk.stored_bytes = slot.used;
    chunk.raw_bytes = slot.used;
    chunk.payload_crc = crc32c(word_at(payload_of(&slot)), slot.used);
    chunk.header_crc = crc32c(&chunk, offsetof(ChunkHeader, header_crc));
    return file.write(reinterpret_cast<const std::uint8_t*>(&chunk), place.bytes, place.zeroes, place.offset);
}

// At most so many wait to be read: the rest are for threads, unless the file can grow no more.
std::uint32_t waiting_slots() noexcept
{
    constexpr std::uint32_t most_waiting = 64;
    return std::min(most_waiting, file.slots() / 4);
}

// In another slot, while few wait to be read.
bool go_on(ThreadLog& log) noexcept
{
    const std::uint64_t sequence = log.slot->chunk.sequence + 1;
    long unused = 0;
    Slot* next = take_slot(waiting_slots(), unused);
    if (next == nullptr) {
        const long problem = append_chunk(*log.slot);
        if (problem == 0) {
            begin_chunk(log, log.slot, sequence);
            return true;
        }
        next = take_slot(file.slots(), unused);
        if (next == nullptr) {
            stop(problem);
            return false;
        }
        log.slot->chunk.flags |= chunk_unsealed;  // it stands there after all
    }
    std::atomic_ref{log.slot->state}.store(SlotState::full, std::memory_order_release);
    begin_chunk(log, next, sequence);
    return true;
}

ThreadLog* log_of_ended_thread(std::uint32_t own_thread) noexcept
{
    const std::uint32_t used = image->logs_used;
    const bool is_scarce = used + waiting_slots() >= file.slots();
    const bool look_at_all = used % 32 == 0 || is_scarce;
    for (std::uint32_t i = 0; i < used; ++i) {
        ThreadLog& log = image->logs[i];
        if (log.is_taken && (look_at_all || log.thread == own_thread) && has_ended(log, own_thread)) {
            record_deferred(log);
            if (log.slot->used == 0 || go_on(log)) {
                log.is_taken = false;
            }
        }
    }
    const auto end = image->logs.begin() + used;
    const auto free = std::find_if(image->logs.begin(), end, [](const ThreadLog& log) { return !log.is_taken; });
    return free == end ? nullptr : &*free;
}

ThreadLog* take_log(std::uint32_t thread) noexcept
{
    ThreadLog* log = log_of_ended_thread(thread);
    if (log == nullptr) {
        std::uint32_t& used = image->logs_used;
        while (used < image->logs.size() && image->logs[used].is_taken) {
            ++used;  // taken by code that a fork may have interrupted
        }
        if (used == image->logs.size()) {
            return nullptr;
        }
        log = &image->logs[used];
    }
    if (log->slot == nullptr) {
        long problem = 0;
        log->slot = take_slot(file.slots(), problem);
        if (problem != 0) {
            stop(problem);
        }
    }
    if (log->slot == nullptr) {
        return nullptr;
    }
    image->logs_used = std::max(image->logs_used, static_cast<std::uint32_t>(log - image->logs.data()) + 1);
    log->thread = thread;
    log->number = static_cast<std::uint32_t>(log - image->logs.data());
    forget_stack(log->number);
    log->is_taken = true;
    log->deferred_count = 0;
    return log;
}

// A stream of its own for each thread; the first of a process says what it came from.
void begin_stream(ThreadLog& log, bool is_first, const Bounds& stack) noexcept
{
    if (is_first && last_process != 0) {  // forked
        put_event(log, WordEvent::process, {last_process});
        put_event(log, WordEvent::thread, {recorded_thread});
        put_event(log, WordEvent::fork, {image->facts->process});
        put_event(log, WordEvent::process, {image->facts->process});
        put_event(log, WordEvent::thread, {log.thread});
    } else if (!is_first) {
        put_event(log, WordEvent::thread_start, {log.thread});
    }
    if (stack.high != 0) {
        put_event(log, WordEvent::thread_stack, {stack.low, stack.high - stack.low});
    }
}

bool attach(std::uint32_t thread, const Bounds& stack) noexcept
{
    const bool is_first = !image->is_started;
    if ((is_first && !start_image()) || image->is_stopped) {
        return false;
    }
    if (!is_first) {
        expect_threads();
    }
    ThreadLog* const log = take_log(thread);
    if (log == nullptr) {
        return false;
    }
    begin_chunk(*log, log->slot, 0);
    open_window(*log);
    log->tick = last_tick() - 1;  // its first stamp, the chunk's, is older than the tick
    begin_stream(*log, is_first, stack);
    make_ready(*log, the_choice.selects() ? LogState::selecting : LogState::ready);
    current = log;
    if (!is_first) {
        expect_exit();
    }
    if (is_first) {
        last_process = image->facts->process;
    }
    recorded_thread = thread;
    return true;
}

}  // namespace

const Choice& choice() noexcept
{
    return the_choice;
}

const TickClock& tick_clock() noexcept
{
    return the_clock();
}

bool is_recording() noexcept
{
    return image != nullptr;
}

bool has_recording() noexcept
{
    return image != nullptr && image->facts != nullptr;
}

UsableSizes& usable_sizes() noexcept
{
    return image->usable_sizes;
}

bool stamps_every_event() noexcept
{
    return image != nullptr && image->stamps_every_event;
}

void attach_thread() noexcept
{
    const int error = errno;
    const SignalsBlocked blocked;
    if (!has_read_choice) {  // while the program has one thread, or in its first constructors
        has_read_choice = true;
        the_choice = read_choice(folder);
        is_counting = the_choice.on && the_choice.counts && begin_counting(folder.data());
        the_choice.on = the_choice.on && !the_choice.counts;
        image = the_choice.on ? make_image() : nullptr;
        if (image != nullptr) {
            follow_clock(folder.data());
            prepare_finding_objects();
            prepare_thread_starts();
        }
        if (the_choice.stacks && image != nullptr) {
            prepare_stacks(image->tree, the_choice.stacks_every);
        }
        has_exit_key = image != nullptr && ::pthread_key_create(&exit_key, record_thread_exit) == 0;
        if (the_choice.on && image == nullptr) {
            RecordingFile::note_refusal(folder.data(), id_of(SYS_getpid), -ENOMEM);
        }
    }
    go_without_log(is_counting ? LogState::counting : LogState::ignored);
    if (image != nullptr) {
        const bool may_be_main = last_process == 0;  // whose stack the kernel names
        const Bounds stack = may_be_main ? Bounds{} : own_stack();
        acquire(image->lock);
        if (!attach(id_of(SYS_gettid), stack) && image->facts != nullptr) {
            go_without_log(LogState::stopped);
        }
        release(image->lock);
    }
    errno = error;
}

void in_forked_child() noexcept
{
    count_in_forked_child();
    if (image == nullptr) {
        return;
    }
    if (current < image->logs.begin() || current >= image->logs.end()) {
        if (current->state == LogState::stopped || current->state == LogState::ignored) {
            forget_log();  // it was its parent's
        }
        return;
    }
    if (current->state != LogState::unset) {
        return;  // another handler of forks has allocated: this is the child's own
    }
    ThreadLog& interrupted = static_cast<ThreadLog&>(*current);
    const std::uint32_t slot = slot_numbers[static_cast<std::size_t>(&interrupted - image->logs.data())];
    interrupted.slot = slot_at(slot);
    interrupted.next = interrupted.end = interrupted.window_end = payload_of(interrupted.slot);
    interrupted.is_taken = true;
    file.leave(slots_offset + std::uint64_t{slot} * slot_bytes, slot_bytes);
    forget_log();
}

// Another thread may lose this to what it stores itself: then its stamps come a little later, and a reader finds the
// order by the blocks themselves.
void expect_threads() noexcept
{
    if (image == nullptr || image->facts == nullptr || image->stamps_every_event) {
        return;  // none is recorded, or no image of this process could be begun
    }
    image->stamps_every_event = true;
    for (std::uint32_t i = 0; i < image->logs_used; ++i) {
        image->logs[i].limit = 0;
        image->logs[i].limit_of_allocations = 0;
    }
}

bool flush(ThreadLog& log) noexcept
{
    const SignalsBlocked blocked;  // a handler may fork
    if (image->is_stopped) {
        return false;
    }
    if (log.slot->used == 0) {
        return true;
    }
    return go_on(log);
}

void count_lost_event() noexcept
{
    if (image != nullptr && image->facts != nullptr) {
        std::atomic_ref{image->facts->lost_events}.fetch_add(1, std::memory_order_relaxed);
    }
}

void note_heap_pages(std::uint64_t bytes) noexcept
{
    if (is_counting) {
        count_heap_pages(bytes);
    }
    const bool sees_all = !the_choice.selects();
    if (sees_all && image != nullptr && image->facts != nullptr) {
        image->facts->heap_pages_bytes = bytes;
    }
}

void note_end() noexcept
{
    ask_open_window();
    note_quick_end();
}

// A child of vfork(2) ends in its parent's memory.
void note_quick_end() noexcept
{
    if (has_recording() && image->facts->process == id_of(SYS_getpid)) {
        image->facts->end_ticks = the_clock().ticks();
    }
}

void note_foreign_malloc() noexcept
{
    if (is_counting) {
        count_foreign_malloc();
    }
    if (image != nullptr && image->facts != nullptr) {
        image->facts->foreign_malloc = 1;
    }
}

CallTree* call_tree() noexcept
{
    const bool has_one = image != nullptr && image->has_call_tree.load(std::memory_order_acquire);
    return has_one ? &image->tree : nullptr;
}

CallTree* open_call_tree() noexcept
{
    if (CallTree* const open = call_tree(); open != nullptr || image == nullptr) {
        return open;
    }
    const SignalsBlocked blocked;
    acquire(image->lock);
    if (image->facts != nullptr && !image->has_no_call_tree && !image->has_call_tree.load(std::memory_order_relaxed)) {
        image->has_no_call_tree = image->tree.open(file.path(), image->facts->process, modules_alone) != 0;
        image->has_call_tree.store(!image->has_no_call_tree, std::memory_order_release);
    }
    release(image->lock);
    return call_tree();
}

void note_server(const char* path) noexcept
{
    server = path;
    if (is_counting) {
        note_serving_library(path);
    }
    if (image != nullptr && image->facts != nullptr) {
        put_server(*image->facts);
    }
}

const char* recording_folder() noexcept
{
    return the_choice.on || is_counting ? folder.data() : nullptr;
}

}  // namespace memsweep::trace::recorder
