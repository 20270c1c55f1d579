#include "core/trace/recorder/image.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/trace/format/crc32c.hpp"
#include "core/trace/recorder/counting.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"

namespace memsweep::trace::recorder {
namespace {

// A forked child finds all of this zeroed, and begins anew.
struct Image {
    std::atomic<std::uint32_t> lock;
    bool is_started;
    bool is_stopped;
    ImageFacts* facts;  // in the mapped file
    bool stamps_every_event;
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
// What threads have that record nothing: never written to.
constinit ThreadLog ignored_log{.state = LogState::ignored};
constinit ThreadLog stopped_log{.state = LogState::stopped};
constinit ThreadLog counting_log{.state = LogState::counting};
bool is_counting;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

__thread std::uint32_t recorded_thread __attribute__((tls_model("initial-exec"))) = 0;

const TickClock& the_clock() noexcept
{
    static const TickClock clock;  // -fno-threadsafe-statics: any thread finds the same
    return clock;
}

std::uint32_t id_of(long call) noexcept
{
    return static_cast<std::uint32_t>(kernel(call));
}

void acquire_lock() noexcept
{
    while (image->lock.exchange(1, std::memory_order_acquire) != 0) {
        kernel(SYS_sched_yield);
    }
}

void release_lock() noexcept
{
    image->lock.store(0, std::memory_order_release);
}

// Zeroed in a child; where the kernel does not know that (before 4.14), a fork handler does it.
Image* make_image() noexcept
{
    const long at =
        kernel(SYS_mmap, nullptr, sizeof(Image), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
    std::array<char, 4096> path{};
    const long length = kernel(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path.data(), path.size());
    if (length <= 0) {
        return;
    }
    const char* const end = path.data() + length;
    const void* const slash = ::memrchr(path.data(), '/', static_cast<std::size_t>(length));
    const char* const name = slash == nullptr ? path.data() : static_cast<const char*>(slash) + 1;
    std::memcpy(facts.program, name, std::min(static_cast<std::size_t>(end - name), sizeof facts.program - 1));
}

void write_headers(std::uint32_t process) noexcept
{
    ImageFacts facts{.process = process,
                     .parent = id_of(SYS_getppid),
                     .slots = file.slots(),
                     .start_ticks = the_clock().ticks(),
                     .start_nanoseconds = nanoseconds_of(CLOCK_MONOTONIC),
                     .start_unix_ns = nanoseconds_of(CLOCK_REALTIME),
                     .append_at = file.mapped_bytes()};
    find_program(facts);
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

// With the lock held.
bool start_image() noexcept
{
    image->is_started = true;
    image->is_stopped = true;
    const std::uint32_t process = id_of(SYS_getpid);
    if (the_choice.only_child_of != 0 && (last_process != 0 || id_of(SYS_getppid) != the_choice.only_child_of)) {
        return false;
    }
    if (file.create(folder.data(), process) != 0) {
        return false;  // `memsweep record` finds a link that says why
    }
    write_headers(process);
    image->is_stopped = false;
    return true;
}

void begin_chunk(ThreadLog& log, std::uint64_t sequence) noexcept
{
    const std::uint64_t now = the_clock().ticks();
    log.slot->used = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // in this order also for who finds it after a kill
    log.slot->chunk = {.flags = chunk_unsealed,
                       .span_bytes = slot_bytes - static_cast<std::uint32_t>(offsetof(Slot, chunk)),
                       .process = image->facts->process,
                       .thread = log.thread,
                       .sequence = sequence,
                       .first_ticks = now};
    log.encoder = EventEncoder{recorder_rotation, now};
    log.until_stamp = image->stamps_every_event ? 0 : static_cast<std::int32_t>(events_per_stamp);
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

ThreadLog* slot_of_ended_thread(std::uint32_t own_thread) noexcept
{
    const std::uint32_t used = image->facts->slots_used;
    const bool look_at_all = used % 32 == 0 || used == file.slots();
    for (std::uint32_t i = 0; i < used; ++i) {
        ThreadLog& log = image->logs[i];
        if (log.is_taken && (look_at_all || log.thread == own_thread) && has_ended(log, own_thread)) {
            record_deferred(log);
            if (flush(log)) {
                log.is_taken = false;
            }
        }
    }
    const auto end = image->logs.begin() + used;
    const auto free = std::find_if(image->logs.begin(), end, [](const ThreadLog& log) { return !log.is_taken; });
    return free == end ? nullptr : &*free;
}

ThreadLog* take_slot(std::uint32_t thread) noexcept
{
    if (ThreadLog* const again = slot_of_ended_thread(thread)) {
        return again;
    }
    std::uint32_t number = image->facts->slots_used;
    while (number < file.slots() && image->logs[number].is_taken) {
        ++number;  // of code that a fork may have interrupted
    }
    const std::uint64_t offset = slots_offset + std::uint64_t{number} * slot_bytes;
    if (number == file.slots()) {
        return nullptr;
    }
    if (const long problem = file.reserve(offset, slot_bytes); problem != 0) {
        stop(problem);
        return nullptr;
    }
    image->facts->slots_used = number + 1;
    ThreadLog& log = image->logs[number];
    log.slot = reinterpret_cast<Slot*>(file.memory() + offset);
    return &log;
}

// A stream of its own for each thread; the first of a process says what it came from.
void begin_stream(ThreadLog& log, bool is_first) noexcept
{
    std::uint8_t* at = payload_of(log.slot);
    if (is_first && last_process != 0) {  // forked
        at = log.encoder.counted(at, OtherOperation::process, last_process);
        at = log.encoder.counted(at, OtherOperation::thread, recorded_thread);
        at = log.encoder.counted(at, OtherOperation::fork, image->facts->process);
        at = log.encoder.counted(at, OtherOperation::process, image->facts->process);
        at = log.encoder.counted(at, OtherOperation::thread, log.thread);
    } else if (!is_first) {
        at = log.encoder.counted(at, OtherOperation::thread_start, log.thread);
    }
    log.slot->used = static_cast<std::uint32_t>(at - payload_of(log.slot));
}

bool takes_way_inline() noexcept
{
#if defined(__x86_64__)
    static const bool has_instructions = RecorderVarints::are_fast();
#else
    constexpr bool has_instructions = true;
#endif
    return has_instructions && the_choice.min_size == 0 && the_choice.sample <= 1;
}

bool attach(std::uint32_t thread) noexcept
{
    const bool is_first = !image->is_started;
    if ((is_first && !start_image()) || image->is_stopped) {
        return false;
    }
    if (!is_first) {
        expect_threads();
    }
    ThreadLog* const log = take_slot(thread);
    if (log == nullptr) {
        return false;
    }
    log->thread = thread;
    log->is_taken = true;
    log->deferred_count = 0;
    begin_chunk(*log, 0);
    begin_stream(*log, is_first);
    log->state = takes_way_inline() ? LogState::ready : LogState::selecting;
    current = log;
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
        if (the_choice.on && image == nullptr) {
            RecordingFile::note_refusal(folder.data(), id_of(SYS_getpid), -ENOMEM);
        }
    }
    current = is_counting ? &counting_log : &ignored_log;
    if (image != nullptr) {
        acquire_lock();
        if (!attach(id_of(SYS_gettid)) && image->facts != nullptr) {
            current = &stopped_log;
        }
        release_lock();
    }
    errno = error;
}

void in_forked_child() noexcept
{
    count_in_forked_child();
    if (image == nullptr || current < image->logs.begin() || current >= image->logs.end()) {
        return;
    }
    ThreadLog& interrupted = *current;
    const std::uint64_t offset =
        slots_offset + static_cast<std::uint64_t>(&interrupted - image->logs.data()) * slot_bytes;
    interrupted.slot = reinterpret_cast<Slot*>(file.memory() + offset);
    interrupted.is_taken = true;
    file.leave(offset, slot_bytes);
    forget_log();
}

// Another thread may lose this to its own count: then its stamps come a little later, and a reader finds the order by
// the blocks themselves.
void expect_threads() noexcept
{
    if (image == nullptr || image->facts == nullptr || image->stamps_every_event) {
        return;  // none is recorded, or no image of this process could be begun
    }
    image->stamps_every_event = true;
    for (std::uint32_t i = 0; i < image->facts->slots_used; ++i) {
        image->logs[i].until_stamp = 0;
    }
}

bool flush(ThreadLog& log) noexcept
{
    const SignalsBlocked blocked;  // a handler may fork
    ChunkHeader& chunk = log.slot->chunk;
    const std::uint32_t used = log.slot->used;
    if (image->is_stopped) {
        return false;
    }
    if (used == 0) {
        return true;
    }
    const FilePlace place = take_place(static_cast<std::uint32_t>(sizeof chunk) + used);
    chunk.flags = 0;
    chunk.span_bytes = place.span_bytes;
    chunk.stored_bytes = used;
    chunk.raw_bytes = used;
    chunk.last_ticks = log.encoder.last_ticks();
    chunk.payload_crc = crc32c(payload_of(log.slot), used);
    chunk.header_crc = crc32c(&chunk, offsetof(ChunkHeader, header_crc));
    if (const long problem =
            file.write(reinterpret_cast<const std::uint8_t*>(&chunk), place.bytes, place.zeroes, place.offset);
        problem != 0) {
        stop(problem);
        return false;
    }
    begin_chunk(log, chunk.sequence + 1);
    return true;
}

void count_lost_event() noexcept
{
    if (image != nullptr && image->facts != nullptr) {
        std::atomic_ref{image->facts->lost_events}.fetch_add(1, std::memory_order_relaxed);
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

}  // namespace memsweep::trace::recorder
