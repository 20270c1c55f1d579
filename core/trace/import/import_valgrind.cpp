// The calls of allocation functions that valgrind prints, "--14505-- malloc(16) = 0x4A46040", and its HEAP SUMMARY.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/base/checked.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/import/log_clock.hpp"

namespace memsweep::trace {
namespace {

bool is_valgrind(std::string_view head)
{
    return has_line_with(head, "--", "-- malloc(") || has_line_with(head, "==", "alloc") ||
           has_line_with(head, "==", "Memcheck") || has_line_with(head, "--", "alloc(") ||
           has_line_with(head, "--", "-- _Zn");
}

// How the arguments and the result of an allocation function tell what it did.
enum class CallShape : std::uint8_t {
    malloc,       // (size)
    calloc,       // (count, size)
    realloc,      // (old, size)
    memalign,     // (alignment, size)
    aligned_new,  // (size, alignment)
    free,         // (block)
};

struct TracedFunction {
    std::string_view name;
    CallShape shape;
};

constexpr std::array traced_functions{
    TracedFunction{"malloc", CallShape::malloc},
    TracedFunction{"calloc", CallShape::calloc},
    TracedFunction{"realloc", CallShape::realloc},
    TracedFunction{"memalign", CallShape::memalign},
    TracedFunction{"aligned_alloc", CallShape::memalign},
    TracedFunction{"valloc", CallShape::malloc},
    TracedFunction{"pvalloc", CallShape::malloc},
    TracedFunction{"free", CallShape::free},
    TracedFunction{"cfree", CallShape::free},
    TracedFunction{"free_sized", CallShape::free},
    TracedFunction{"free_aligned_sized", CallShape::free},
};

// Empty where it is no allocation function.
std::optional<CallShape> shape_of(std::string_view name)
{
    if (name.starts_with("_Znw") || name.starts_with("_Zna")) {
        return name.find("align_val_t") != std::string_view::npos ? CallShape::aligned_new : CallShape::malloc;
    }
    if (name.starts_with("_Zdl") || name.starts_with("_Zda")) {
        return CallShape::free;
    }
    const auto* const function = std::ranges::find(traced_functions, name, &TracedFunction::name);
    return function == traced_functions.end() ? std::nullopt : std::optional{function->shape};
}

struct TracedCall {
    std::string_view name;
    std::string_view rest;  // behind the parenthesis that opens the arguments
};

// The call that a text begins with; empty where it begins with none.
std::optional<TracedCall> call_at(std::string_view text)
{
    const std::size_t open = text.find('(');
    const std::string_view name = trimmed(text.substr(0, open));
    return open == std::string_view::npos || name.empty() ? std::nullopt
                                                          : std::optional{TracedCall{name, text.substr(open + 1)}};
}

// "16" and "size 100".
std::optional<std::uint64_t> size_in(std::string_view text)
{
    return parse_number(take_last_word(text));
}

bool read_allocation(Event& event, EventKind kind, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto address = parse_pointer(result);
    if (!size || !address) {
        return false;
    }
    event.kind = *address == 0 && *size != 0 ? EventKind::failed_alloc : kind;
    event.address = *address;
    event.size = *size;
    return true;
}

bool read_reallocation(Event& event, std::string_view old, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto old_address = parse_pointer(old);
    if (!old_address) {
        return false;
    }
    if (*old_address != 0 && size == std::optional<std::uint64_t>{0} && parse_pointer(result).value_or(0) == 0) {
        event.kind = EventKind::realloc;
        event.old_address = *old_address;
        return true;
    }
    const bool good = read_allocation(event, EventKind::realloc, size, result);
    event.old_address = event.kind == EventKind::realloc ? *old_address : 0;
    return good;
}

// Fills in kind, addresses, size and alignment from "16) = 0x4A46040" behind the opening parenthesis; false where that
// cannot be read. A call that returned nothing is a failed_alloc.
bool read_call(Event& event, CallShape shape, std::string_view rest)
{
    const std::size_t close = rest.find(')');
    if (close == std::string_view::npos) {
        return false;
    }
    const std::size_t equals = rest.find('=', close);
    const std::string_view result =
        equals == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(equals + 1));
    std::string_view second = rest.substr(0, close);
    const std::string_view first = trimmed(take_until(second, ','));
    switch (shape) {
    case CallShape::malloc:
        return read_allocation(event, EventKind::malloc, size_in(first), result);
    case CallShape::calloc: {
        // What does not fit into 64 bits is refused, whatever it is.
        const auto count = size_in(first);
        const auto each = size_in(second);
        const auto size = count && each ? std::optional{base::saturating_mul(*count, *each)} : std::nullopt;
        return read_allocation(event, EventKind::calloc, size, result);
    }
    case CallShape::realloc:
        return read_reallocation(event, first, size_in(second), result);
    case CallShape::memalign:
        event.alignment = size_in(first).value_or(1);
        return read_allocation(event, EventKind::aligned_alloc, size_in(second), result);
    case CallShape::aligned_new:
        event.alignment = size_in(second).value_or(1);
        return read_allocation(event, EventKind::aligned_alloc, size_in(first), result);
    case CallShape::free:
        break;
    }
    const auto address = parse_pointer(first);
    event.kind = EventKind::free;
    event.address = address.value_or(0);
    return address.has_value();
}

// What stands between the marks before valgrind's lines: "14505", or with --time-stamp=yes "00:00:00:06.289 14831".
struct LineMark {
    std::uint32_t process{};
    std::string_view stamp;
    std::string_view text;  // behind the mark
};

std::optional<LineMark> mark_of(std::string_view line, std::string_view sign)
{
    const std::size_t end = line.starts_with(sign) ? line.find(sign, sign.size()) : std::string_view::npos;
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view between = line.substr(sign.size(), end - sign.size());
    const auto process = parse_number(take_last_word(between));
    return process ? std::optional{LineMark{static_cast<std::uint32_t>(*process), trimmed(between),
                                            trimmed(line.substr(end + sign.size()))}}
                   : std::nullopt;
}

// "days:hours:minutes:seconds.milliseconds" since valgrind began.
std::optional<std::uint64_t> elapsed_ns(std::string_view stamp)
{
    const auto days = parse_number(take_until(stamp, ':'));
    bool is_time_of_day = false;
    const auto rest = time_ns(stamp, is_time_of_day);
    return days && *days < 10'000 && rest && is_time_of_day ? std::optional{*days * 86'400 * ns_ticks + *rest}
                                                            : std::nullopt;
}

// "23 allocs, 22 frees, 110,160 bytes allocated", as valgrind counts them: a reallocation is one of each, a free of
// what is no block one too, and what was refused none.
struct HeapUsage {
    std::uint64_t allocations{};
    std::uint64_t frees{};
    std::uint64_t bytes{};

    void add(const Event& event)
    {
        const bool gives = event.kind != EventKind::free && event.kind != EventKind::failed_alloc && event.address != 0;
        allocations += gives ? 1U : 0U;
        bytes = base::saturating_add(bytes, gives ? event.size : 0);
        frees += event.kind == EventKind::free || event.old_address != 0 ? 1U : 0U;
    }
};

std::optional<std::uint64_t> take_count(std::string_view& text, std::string_view unit)
{
    std::string digits;
    for (const char digit : trimmed(take_until(text, ' '))) {
        digits += digit == ',' ? std::string{} : std::string{digit};
    }
    text = trimmed(text);
    const bool has_unit = text.starts_with(unit);
    text.remove_prefix(has_unit ? unit.size() : 0);
    text = trimmed(text);
    return has_unit ? parse_number(digits) : std::nullopt;
}

std::optional<HeapUsage> heap_usage_in(std::string_view text)
{
    constexpr std::string_view title = "total heap usage: ";
    if (!text.starts_with(title)) {
        return std::nullopt;
    }
    text.remove_prefix(title.size());
    const auto allocations = take_count(text, "allocs,");
    const auto frees = take_count(text, "frees,");
    const auto bytes = take_count(text, "bytes allocated");
    return allocations && frees && bytes ? std::optional{HeapUsage{*allocations, *frees, *bytes}} : std::nullopt;
}

// The functions of allocation that valgrind prints and that give no block, nor take one.
bool is_question(std::string_view name)
{
    return name.starts_with("malloc_") || name.starts_with("mall");
}

// A name that valgrind may print before "(" where it traces calls, and that speaks of allocation.
bool speaks_of_allocation(std::string_view name)
{
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    const bool is_name = name.find_first_of(" :.<>") == std::string_view::npos;
    return is_name && !is_question(name) && (has("alloc") || has("free") || has("memalign"));
}

// "--PID-- malloc(16) = 0x4A46040", and "==PID==   total heap usage: ..." at a process's end; other lines are those of
// valgrind and of the program.
class ValgrindLines {
  public:
    ValgrindLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    const char* add(std::string_view line)
    {
        if (const auto mark = mark_of(line, "==")) {
            read_message(*mark);
            return nullptr;
        }
        const auto mark = mark_of(line, "--");
        return mark ? read_trace(*mark) : nullptr;
    }

    const char* finish()
    {
        for (const auto& [process, counted] : processes_) {
            if (counted.stated) {
                compare(process, counted);
            }
        }
        return has_calls_ || is_whole_ ? nullptr : "no call of an allocation function";
    }

  private:
    struct Process {
        HeapUsage usage;
        HeapUsage before;  // all others', when it was first met: a child of a fork begins with its parent's counts
        std::optional<HeapUsage> stated;
    };

    Process& process_of(std::uint32_t number)
    {
        sink_->hold(things_of_a_thread * processes_.size());
        return processes_.try_emplace(number, Process{.usage = {}, .before = all_, .stated = {}}).first->second;
    }

    void read_message(const LineMark& mark)
    {
        if (mark.text.starts_with("Command: ")) {
            begin_program(mark.process);
        } else if (const auto stated = heap_usage_in(mark.text)) {
            process_of(mark.process).stated = stated;
            is_whole_ = is_whole_ || stated->allocations == 0;
        }
    }

    // A process that becomes another program, which valgrind follows with --trace-children=yes, begins anew.
    void begin_program(std::uint32_t number)
    {
        const auto known = processes_.find(number);
        if (known != processes_.end()) {
            known->second = {};
            sink_->add({.kind = EventKind::exec, .process = number, .ticks = ticks_});
        }
    }

    const char* read_trace(const LineMark& mark)
    {
        std::optional<TracedCall> call;
        std::string_view text = mark.text;
        for (auto next = call_at(text); next && speaks(next->name); next = call_at(text)) {
            call = next;  // a realloc that is an allocation or a free comes last: "realloc(0x0,42)malloc(42) = 0x4A"
            text = next->rest.substr(std::min(next->rest.size(), next->rest.find(')')));
            text = text.substr(std::min<std::size_t>(text.size(), 1));
        }
        if (!call) {
            return nullptr;
        }
        has_calls_ = true;
        ticks_ = elapsed_ns(mark.stamp).value_or(ticks_);
        Event event{.process = mark.process, .ticks = ticks_};
        const auto shape = shape_of(call->name);
        if (!shape || !read_call(event, *shape, call->rest)) {
            return shape ? "a call whose arguments or result cannot be read" : "an allocation function that is unknown";
        }
        if (event.kind != EventKind::free || event.address != 0) {
            process_of(mark.process).usage.add(event);
            all_.add(event);
            sink_->add(event);
        }
        return nullptr;
    }

    static bool speaks(std::string_view name) { return shape_of(name).has_value() || speaks_of_allocation(name); }

    void compare(std::uint32_t number, const Process& process)
    {
        const auto one = [&](std::string_view what, std::uint64_t HeapUsage::*count) {
            const std::uint64_t stated = process.stated.value_or(HeapUsage{}).*count;
            const std::uint64_t imported = process.usage.*count;
            const bool is_of_fork = stated > imported && stated - imported <= process.before.*count;
            if (!is_of_fork) {
                sink_->state_total(fmt::format("{} of process {}", what, number), stated, imported);
            }
        };
        one("allocations", &HeapUsage::allocations);
        one("frees", &HeapUsage::frees);
        one("bytes allocated", &HeapUsage::bytes);
    }

    ImportSink* sink_;
    std::map<std::uint32_t, Process> processes_;
    HeapUsage all_;
    std::uint64_t ticks_{};
    bool has_calls_{};
    bool is_whole_{};  // it says that nothing was allocated
};

}  // namespace

constinit const ImportFormat valgrind_format{"valgrind", "valgrind --trace-malloc=yes", ns_ticks, is_valgrind,
                                             import_lines<ValgrindLines>};

}  // namespace memsweep::trace
