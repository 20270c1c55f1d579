// What DJ Delorie's tools record of glibc's malloc: the records of its tracing branch, and the workloads (.wl) that
// trace2wl makes of them.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

struct Record {
    std::int32_t thread;
    std::uint32_t type_and_path;
    std::uint64_t old_pointer;
    std::uint64_t new_pointer;
    std::uint64_t size;
    std::uint64_t size2;  // of memalign: the alignment
    std::uint64_t size3;
    std::uint64_t padding[2];  // NOLINT(modernize-avoid-c-arrays): a layout of others
};
static_assert(sizeof(Record) == 64);
constexpr std::size_t old_record_bytes = 32;
// Threads write into windows of 64 MiB of the file, each from its beginning: what lies between two records is less.
constexpr std::size_t max_unused_bytes = 256 << 20;

// By the types of records, from 1.
constexpr std::array record_kinds{
    EventKind::malloc,
    EventKind::calloc,
    EventKind::free,
    EventKind::realloc,
    // memalign, valloc, pvalloc, posix_memalign
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
};
constexpr unsigned unused_record = 0;
constexpr unsigned free_record = 3;
constexpr unsigned magic_record = 255;
constexpr unsigned type_mask = 0xFF;

// The first record: type 255, pointer 0x1234.
bool is_dj_mtrace(std::string_view head)
{
    return head.size() >= 32 && head[4] == '\xFF' && head.substr(8, 8) == std::string_view{"\x34\x12\0\0\0\0\0\0", 8};
}

constexpr unsigned path_bits = 16;  // of type_and_path, behind the type; the others are unused
constexpr unsigned address_bits = 57;

// Whether the fields of a record can be those of a call.
bool is_call(const Record& record)
{
    const auto is_address = [](std::uint64_t value) { return value >> address_bits == 0 && value % 4 == 0; };
    const bool is_free_only = (record.type_and_path & type_mask) == free_record;
    return record.type_and_path >> (8 + path_bits) == 0 && record.thread >= 0 && is_address(record.old_pointer) &&
           is_address(record.new_pointer) && record.padding[0] == 0 && record.padding[1] == 0 &&
           (record.new_pointer == 0 || is_free_only || record.size >> address_bits == 0);
}

// False for a record that is of no call.
bool add_record(const Record& record, ImportSink& sink)
{
    const unsigned type = record.type_and_path & type_mask;
    if (type == magic_record) {
        return true;
    }
    if (type > record_kinds.size() || !is_call(record)) {
        return false;
    }
    if (type == unused_record) {
        return true;
    }
    Event event{.kind = record_kinds.at(type - 1),
                .thread = static_cast<std::uint32_t>(record.thread),
                .address = record.new_pointer,
                .size = record.size};
    if (event.kind == EventKind::free) {
        event.address = record.old_pointer;
        event.size = 0;
    } else if (event.kind == EventKind::realloc) {
        event.old_address = record.old_pointer;
    } else if (event.kind == EventKind::aligned_alloc) {
        event.alignment = record.size2 == 0 ? 1 : record.size2;
    }
    sink.add(event);
    return true;
}

// Older records end before size2. The first one, the magic, is padded with zeroes in the newer layout.
std::size_t record_bytes(std::string_view head)
{
    if (head.size() < old_record_bytes * 2) {
        return sizeof(Record);
    }
    std::uint32_t type{};
    std::memcpy(&type, head.data() + old_record_bytes + 4, sizeof type);
    return (type & type_mask) != 0 ? old_record_bytes : sizeof(Record);
}

base::Expected<void> import_dj_mtrace(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    if (!is_dj_mtrace(log.peek(old_record_bytes))) {
        return base::fail(base::ErrorCode::invalid_input,
                          "no records of glibc's malloc tracing branch: they begin "
                          "with one of type 255 and pointer 0x1234",
                          options.name);
    }
    const std::size_t bytes = record_bytes(log.peek(old_record_bytes * 2));
    std::size_t unused_bytes = 0;
    for (std::uint64_t number = 1;; ++number) {
        const std::string_view found = log.bytes(bytes);
        if (found.empty()) {
            return {};
        }
        if (found.size() < bytes) {
            sink.bad(number, "the last record is cut off");
            return {};
        }
        Record record{};
        std::memcpy(&record, found.data(), found.size());
        unused_bytes = (record.type_and_path & type_mask) == unused_record ? unused_bytes + bytes : 0;
        if (unused_bytes > max_unused_bytes) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("record {}: more than {} of unused records before it", number,
                                          base::exact_size(max_unused_bytes)),
                              options.name);
        }
        if (!add_record(record, sink)) {
            sink.bad(number, "not the record of a call: an unknown type, or fields that no call has");
        }
    }
}

// Workloads are byte code of several threads. Operations are one byte, numbers follow in groups of seven bits, the
// highest first, with bit 7 set but in the last. A master sequence says how many pointers, marks and threads there are
// and where each thread begins; a thread waits at SYNC_R until another has passed the SYNC_W of the same mark. The
// order made here lets each thread run until it waits.
enum class Code : std::uint8_t {
    nop,
    done,
    malloc,
    calloc,
    realloc,
    free,
    sync_write,
    sync_read,
    alloc_pointers,
    alloc_syncs,
    thread_count,
    start_thread,
    memalign,
    valloc,
    pvalloc,
    posix_memalign,
};

// How many numbers follow each.
constexpr std::array<std::uint8_t, 16> operand_counts{0, 0, 2, 2, 3, 1, 1, 1, 1, 1, 1, 1, 3, 2, 2, 3};

constexpr std::size_t max_marks = 1U << 28U;
constexpr std::size_t max_threads = 1U << 16U;
constexpr std::size_t max_workload_bytes = std::size_t{4} << 30U;
constexpr std::size_t workload_piece_bytes = 1 << 20U;
constexpr std::uint64_t valloc_alignment = 4096;

struct Instruction {
    Code code{Code::done};
    std::array<std::uint64_t, 3> number{};
};

// The numbers of pointers, marks and threads come first.
bool is_dj_workload(std::string_view head)
{
    for (const char code : {'\x08', '\x09', '\x0A'}) {
        if (head.empty() || head.front() != code) {
            return false;
        }
        const auto last = std::ranges::find_if(head.substr(1), [](char byte) { return (byte & 0x80) == 0; });
        const auto digits = static_cast<std::size_t>(last - head.begin());
        if (digits > 10) {
            return false;
        }
        head.remove_prefix(std::min(digits + 1, head.size()));
    }
    return head.starts_with('\x0B');
}

class WorkloadCursor {
  public:
    WorkloadCursor(std::string_view bytes, std::size_t at) : bytes_{bytes}, at_{at} {}

    [[nodiscard]] std::size_t position() const { return at_; }

    // False at an unknown code and at the end of the bytes.
    bool next(Instruction& instruction)
    {
        if (at_ >= bytes_.size()) {
            return false;
        }
        const auto code = static_cast<std::uint8_t>(bytes_[at_++]);
        if (code >= operand_counts.size()) {
            return false;
        }
        instruction.code = static_cast<Code>(code);
        for (std::size_t i = 0; i < operand_counts[code]; ++i) {
            if (!number(instruction.number[i])) {
                return false;
            }
        }
        return true;
    }

  private:
    bool number(std::uint64_t& value)
    {
        value = 0;
        while (at_ < bytes_.size()) {
            const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
            if (value >> 57U != 0) {
                return false;
            }
            value = value << 7U | (byte & 0x7FU);
            if ((byte & 0x80U) == 0) {
                return true;
            }
        }
        return false;
    }

    std::string_view bytes_;
    std::size_t at_;
};

class Workload {
  public:
    Workload(std::string_view bytes, ImportSink& sink) : bytes_{bytes}, sink_{&sink} {}

    void run()
    {
        read_master();
        if (declared_threads_ && *declared_threads_ != threads_.size()) {
            sink_->bad(bytes_.size(), "not as many threads as the workload declares");
        }
        for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
            ready_.insert(ready_.end(), thread);
        }
        for (std::size_t behind = 0; !ready_.empty();) {  // in turn, from the first thread to the last and again
            const auto next = ready_.lower_bound(behind);
            const auto place = next == ready_.end() ? ready_.begin() : next;
            const std::size_t thread = *place;
            ready_.erase(place);
            run_thread(thread);
            behind = thread + 1;
        }
        for (const Thread& thread : threads_) {
            if (!thread.ended) {
                sink_->bad(thread.cursor.position(), "the thread waits for a mark that no thread sets");
            }
        }
    }

  private:
    struct Thread {
        WorkloadCursor cursor;
        bool ended{};
    };

    void read_master()
    {
        WorkloadCursor cursor{bytes_, 0};
        Instruction instruction;
        while (cursor.next(instruction) && instruction.code != Code::done) {
            if (instruction.code == Code::start_thread && instruction.number[0] < bytes_.size() &&
                threads_.size() < max_threads) {
                threads_.push_back({WorkloadCursor{bytes_, instruction.number[0]}});
            } else if (instruction.code == Code::thread_count) {
                declared_threads_ = instruction.number[0];
            } else if (instruction.code == Code::alloc_pointers) {
                declared_pointers_ = instruction.number[0];
            } else if (instruction.code == Code::alloc_syncs) {
                declared_marks_ = instruction.number[0];
            } else if (instruction.code != Code::nop) {
                sink_->bad(cursor.position(), "invalid operation before the threads begin");
                return;
            }
        }
    }

    // Until it ends, or waits for a mark.
    void run_thread(std::size_t index)
    {
        Thread& thread = threads_[index];
        Instruction instruction;
        while (thread.cursor.next(instruction)) {
            if (instruction.code == Code::done) {
                thread.ended = true;
                return;
            }
            if (instruction.code == Code::sync_read && is_declared(instruction) && !is_set(instruction.number[0])) {
                waiting_[instruction.number[0]].push_back(index);
                return;
            }
            if (!is_declared(instruction)) {
                sink_->bad(thread.cursor.position(), "a pointer or mark beyond those that the workload declares");
            } else if (!execute(instruction, static_cast<std::uint32_t>(index))) {
                sink_->bad(thread.cursor.position(), "invalid operation in a thread");
            }
        }
        sink_->bad(thread.cursor.position(), "the thread is cut off");
        thread.ended = true;
    }

    [[nodiscard]] bool is_set(std::uint64_t mark) const { return mark < marks_.size() && marks_[mark]; }

    // trace2wl counts the null pointer among the pointers, and marks from 1.
    [[nodiscard]] bool is_declared(const Instruction& instruction) const
    {
        const auto& number = instruction.number;
        switch (instruction.code) {
        case Code::nop:
            return true;
        case Code::sync_write:
        case Code::sync_read:
            return number[0] <= declared_marks_;
        case Code::realloc:
            return std::max(number[0], number[1]) < declared_pointers_;
        default:
            return number[0] < declared_pointers_;
        }
    }

    bool execute(const Instruction& instruction, std::uint32_t thread)
    {
        const auto& number = instruction.number;
        Event event{.kind = EventKind::malloc, .thread = thread, .address = address(number[0])};
        switch (instruction.code) {
        case Code::nop:
        case Code::sync_read:
            return true;
        case Code::sync_write:
            if (number[0] >= max_marks) {
                return false;
            }
            marks_.resize(std::max<std::size_t>(marks_.size(), number[0] + 1));
            marks_[number[0]] = true;
            wake(number[0]);
            return true;
        case Code::malloc:
        case Code::calloc:
            event.kind = instruction.code == Code::malloc ? EventKind::malloc : EventKind::calloc;
            event.size = number[1];
            break;
        case Code::realloc:
            event.kind = EventKind::realloc;
            event.old_address = address(number[1]);
            event.size = number[2];
            break;
        case Code::free:
            event.kind = EventKind::free;
            break;
        case Code::memalign:
        case Code::posix_memalign:
            event.kind = EventKind::aligned_alloc;
            event.alignment = number[1];
            event.size = number[2];
            break;
        case Code::valloc:
        case Code::pvalloc:
            event.kind = EventKind::aligned_alloc;
            event.alignment = valloc_alignment;
            event.size = number[1];
            break;
        case Code::done:
        case Code::alloc_pointers:
        case Code::alloc_syncs:
        case Code::thread_count:
        case Code::start_thread:
            return false;
        }
        sink_->add(event);
        return true;
    }

    void wake(std::uint64_t mark)
    {
        if (const auto waiting = waiting_.extract(mark)) {
            ready_.insert(waiting.mapped().begin(), waiting.mapped().end());
        }
    }

    // Pointer 0 is the null pointer.
    static std::uint64_t address(std::uint64_t pointer) { return (pointer & (~0ULL >> 8U)) * made_address_spacing; }

    std::string_view bytes_;
    ImportSink* sink_;
    std::vector<Thread> threads_;
    std::uint64_t declared_pointers_{};
    std::uint64_t declared_marks_{};
    std::optional<std::uint64_t> declared_threads_;
    std::vector<bool> marks_;
    std::set<std::size_t> ready_;                                // threads
    std::map<std::uint64_t, std::vector<std::size_t>> waiting_;  // threads, by the marks that they wait for
};

base::Expected<void> import_dj_workload(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    if (!is_dj_workload(log.peek(log_head_bytes))) {
        return base::fail(base::ErrorCode::invalid_input,
                          "no workload: it begins with its numbers of pointers, marks and threads", options.name);
    }
    std::string bytes;
    for (std::string_view piece = log.bytes(workload_piece_bytes); !piece.empty();
         piece = log.bytes(workload_piece_bytes)) {
        if (piece.size() == workload_piece_bytes && piece.find_first_not_of('\0') == std::string_view::npos) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{} of zeroes from byte {} on: no workload has them",
                                          base::exact_size(workload_piece_bytes), bytes.size()),
                              options.name);
        }
        if (bytes.size() + piece.size() > max_workload_bytes) {
            return base::fail(base::ErrorCode::invalid_input, "a workload of more than 4 GiB", options.name);
        }
        bytes += piece;
        sink.hold(bytes.size() / bytes_of_a_thing);
    }
    if (!log.failure()) {
        Workload{bytes, sink}.run();
    }
    return {};
}

}  // namespace

constinit const ImportFormat dj_mtrace_format{"dj-mtrace", "the records of glibc's malloc tracing branch", 0,
                                              is_dj_mtrace, import_dj_mtrace};
constinit const ImportFormat dj_workload_format{"dj-workload", "the workloads (.wl) made of them", 0, is_dj_workload,
                                                import_dj_workload};

}  // namespace memsweep::trace
