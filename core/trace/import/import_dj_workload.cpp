// The workloads (.wl) that DJ Delorie's trace2wl makes of glibc traces: byte code of several threads.
//
// Operations are one byte, numbers follow in groups of seven bits, the highest first, with bit 7 set but in the last.
// A master sequence says how many pointers, marks and threads there are and where each thread begins; a thread waits at
// SYNC_R until another has passed the SYNC_W of the same mark. The order made here lets each thread run until it waits.
#include <array>
#include <vector>

#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

enum Code : std::uint8_t {
    nop,
    done,
    code_malloc,
    code_calloc,
    code_realloc,
    code_free,
    sync_write,
    sync_read,
    alloc_pointers,
    alloc_syncs,
    thread_count,
    start_thread,
    code_memalign,
    code_valloc,
    code_pvalloc,
    code_posix_memalign,
    codes,
};

// How many numbers follow each.
constexpr std::array<std::uint8_t, codes> operands{0, 0, 2, 2, 3, 1, 1, 1, 1, 1, 1, 1, 3, 2, 2, 3};

constexpr std::size_t most_marks = 1U << 28U;
constexpr std::size_t most_threads = 1U << 16U;
constexpr std::size_t largest_workload = std::size_t{4} << 30U;
constexpr std::uint64_t spacing = 16;
constexpr std::uint64_t page = 4096;

struct Instruction {
    Code code{done};
    std::array<std::uint64_t, 3> number{};
};

class Cursor {
  public:
    Cursor(std::string_view bytes, std::size_t at) : bytes_{bytes}, at_{at} {}

    [[nodiscard]] std::size_t position() const { return at_; }

    // False at a code that there is none of, and where the bytes end.
    bool next(Instruction& instruction)
    {
        if (at_ >= bytes_.size()) {
            return false;
        }
        const auto code = static_cast<std::uint8_t>(bytes_[at_++]);
        if (code >= codes) {
            return false;
        }
        instruction.code = static_cast<Code>(code);
        for (std::size_t i = 0; i < operands[code]; ++i) {
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
        bool moves = true;
        while (moves) {
            moves = false;
            for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
                moves = run_thread(thread) || moves;
            }
        }
        for (const Thread& thread : threads_) {
            if (!thread.ended) {
                sink_->bad(thread.cursor.position(), "its thread waits for a mark that nobody sets");
            }
        }
    }

  private:
    struct Thread {
        Cursor cursor;
        bool ended{};
        std::uint64_t awaited{};  // a mark, plus one; 0: none
    };

    void read_master()
    {
        Cursor cursor{bytes_, 0};
        Instruction instruction;
        while (cursor.next(instruction) && instruction.code != done) {
            if (instruction.code == start_thread && instruction.number[0] < bytes_.size() &&
                threads_.size() < most_threads) {
                threads_.push_back({Cursor{bytes_, instruction.number[0]}});
            } else if (instruction.code != alloc_pointers && instruction.code != alloc_syncs &&
                       instruction.code != thread_count && instruction.code != nop) {
                sink_->bad(cursor.position(), "no such operation before the threads begin");
                return;
            }
        }
    }

    // Whether it got further.
    bool run_thread(std::size_t index)
    {
        Thread& thread = threads_[index];
        if (thread.ended || (thread.awaited != 0 && !is_set(thread.awaited - 1))) {
            return false;
        }
        thread.awaited = 0;
        Instruction instruction;
        while (thread.cursor.next(instruction)) {
            if (instruction.code == done) {
                thread.ended = true;
                return true;
            }
            if (instruction.code == sync_read && !is_set(instruction.number[0])) {
                thread.awaited = instruction.number[0] + 1;
                return true;
            }
            if (!execute(instruction, static_cast<std::uint32_t>(index))) {
                sink_->bad(thread.cursor.position(), "no such operation in a thread");
            }
        }
        sink_->bad(thread.cursor.position(), "its thread is cut off");
        thread.ended = true;
        return true;
    }

    [[nodiscard]] bool is_set(std::uint64_t mark) const { return mark < marks_.size() && marks_[mark]; }

    bool execute(const Instruction& instruction, std::uint32_t thread)
    {
        const auto& number = instruction.number;
        Event event{.kind = EventKind::malloc, .thread = thread, .address = address(number[0])};
        switch (instruction.code) {
        case nop:
        case sync_read:
            return true;
        case sync_write:
            if (number[0] >= most_marks) {
                return false;
            }
            marks_.resize(std::max<std::size_t>(marks_.size(), number[0] + 1));
            marks_[number[0]] = true;
            return true;
        case code_malloc:
        case code_calloc:
            event.kind = instruction.code == code_malloc ? EventKind::malloc : EventKind::calloc;
            event.size = number[1];
            break;
        case code_realloc:
            event.kind = EventKind::realloc;
            event.old_address = address(number[1]);
            event.size = number[2];
            break;
        case code_free:
            event.kind = EventKind::free;
            break;
        case code_memalign:
        case code_posix_memalign:
            event.kind = EventKind::aligned_alloc;
            event.alignment = number[1];
            event.size = number[2];
            break;
        case code_valloc:
        case code_pvalloc:
            event.kind = EventKind::aligned_alloc;
            event.alignment = page;
            event.size = number[1];
            break;
        default:
            return false;
        }
        sink_->add(event);
        return true;
    }

    // Pointer 0 is the null pointer.
    static std::uint64_t address(std::uint64_t pointer) { return (pointer & (~0ULL >> 8U)) * spacing; }

    std::string_view bytes_;
    ImportSink* sink_;
    std::vector<Thread> threads_;
    std::vector<bool> marks_;
};

}  // namespace

base::Expected<void> import_dj_workload(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    std::string bytes;
    for (std::string_view piece = log.bytes(1 << 20); !piece.empty(); piece = log.bytes(1 << 20)) {
        if (bytes.size() + piece.size() > largest_workload) {
            return base::fail(base::ErrorCode::invalid_input, "a workload of more than 4 GiB", options.name);
        }
        bytes += piece;
    }
    Workload{bytes, sink}.run();
    return {};
}

}  // namespace memsweep::trace
