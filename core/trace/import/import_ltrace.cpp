// ltrace's lines: "PID 12:00:01 object->malloc(16) = 0x55da66fe42a0", with or without each of what stands before the
// call. A call within which others are printed comes in two lines, and its resumed one closes it.
#include <map>
#include <string>
#include <vector>

#include "core/trace/import/import.hpp"
#include "core/trace/import/log_clock.hpp"
#include "core/trace/import/traced_call.hpp"

namespace memsweep::trace {
namespace {

constexpr std::string_view unfinished_mark = " <unfinished";
constexpr std::uint64_t first_absolute_ns = 100'000'000 * ns_ticks;  // 1973: what is less is a time between two lines

bool is_digits(std::string_view word)
{
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// What stands before the call.
struct LineHead {
    std::uint32_t process{};
    std::string_view stamp;  // of -t, -tt, -ttt or -r
    std::string_view text;   // from the call on
};

LineHead head_of(std::string_view line)
{
    LineHead head;
    line = trimmed(line);
    if (line.starts_with("[pid ")) {
        line.remove_prefix(5);
        head.process = static_cast<std::uint32_t>(parse_number(trimmed(take_until(line, ']'))).value_or(0));
    } else if (std::string_view rest = line; is_digits(take_until(rest, ' '))) {
        head.process = static_cast<std::uint32_t>(parse_number(take_until(line, ' ')).value_or(0));
    }
    line = trimmed(line);
    if (!line.empty() && line.front() >= '0' && line.front() <= '9') {
        head.stamp = take_until(line, ' ');
        line = trimmed(line);
    }
    if (line.starts_with("[0x")) {  // the caller's address, of -i
        static_cast<void>(take_until(line, ']'));
    }
    head.text = trimmed(line);
    return head;
}

// "malloc@libc.so.6" of -x, which its resumed line calls "malloc".
std::string_view without_object(std::string_view name)
{
    return name.substr(0, name.find('@'));
}

bool ends_process(std::string_view text)
{
    return text.starts_with("+++ exited") || text.starts_with("+++ killed");
}

bool is_ltrace(std::string_view head)
{
    while (!head.empty()) {
        const std::string_view text = head_of(take_until(head, '\n')).text;
        const auto call = call_at(text);
        const bool returns = text.find(") ") != std::string_view::npos || text.find(unfinished_mark) != text.npos;
        if (ends_process(text) || (call && shape_of(call->name) && returns)) {
            return true;
        }
    }
    return false;
}

class LtraceLines {
  public:
    LtraceLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    static bool is_whole(std::string_view line) { return ends_process(head_of(line).text) && line.ends_with("+++"); }

    const char* add(std::string_view line)
    {
        const LineHead head = head_of(line);
        read_stamp(head.stamp);
        if (head.text.starts_with("<... ")) {
            return resume(head.process, head.text.substr(5));
        }
        if (ends_process(head.text)) {
            is_whole_ = true;
            return end(head.process);
        }
        const auto call = call_at(head.text);
        const auto shape = call ? shape_of(call->name) : std::nullopt;
        if (!shape) {
            return nullptr;
        }
        has_calls_ = true;
        const std::size_t cut = call->rest.find(unfinished_mark);
        return cut == std::string_view::npos ? whole(head.process, *shape, call->rest)
                                             : begin(head.process, *shape, call->name, call->rest.substr(0, cut));
    }

    const char* finish()
    {
        const char* reason = has_calls_ || is_whole_ ? nullptr : "no call of an allocation function";
        for (const auto& [process, calls] : open_) {
            if (!calls.empty()) {
                reason = "the log ends within a call: a line without its resumed one";
            }
        }
        return reason;
    }

  private:
    // A call that others are printed within. What C's functions call is their own affair; C++'s operators stand on
    // them, and one that is left by an exception never returns: what is called within counts, and the operator only
    // where nothing within did what it does.
    struct OpenCall {
        std::string name;
        CallShape shape{};
        std::string arguments;
        std::uint64_t block{};  // allocated within it, or freed by it
        bool hides{};           // what is called within
        bool counts{};          // it is not itself within another's affair
        bool has_hidden{};
        bool is_refused{};  // a call within it was
    };
    static constexpr std::size_t most_open = 64;  // deeper only by exceptions, whose calls stay open for ever
    static constexpr std::size_t most_argument_bytes = 256;  // four numbers and pointers have less
    static constexpr std::uint64_t things_of_a_call = 8;     // with both texts at their longest

    void read_stamp(std::string_view stamp)
    {
        bool is_time_of_day = false;
        const auto time = time_ns(stamp, is_time_of_day);
        if (!stamp.empty() && time) {
            static_cast<void>(is_time_of_day || *time >= first_absolute_ns ? clock_.set(*time, is_time_of_day)
                                                                           : clock_.advance(*time));
        }
    }

    Event event_of(std::uint32_t process) const { return {.process = process, .ticks = clock_.last()}; }

    const char* whole(std::uint32_t process, CallShape shape, std::string_view rest)
    {
        std::vector<OpenCall>& calls = open_[process];
        if (!calls.empty() && calls.back().hides) {
            calls.back().has_hidden = true;
            return nullptr;
        }
        Event event = event_of(process);
        if (!read_call(event, shape, rest)) {
            return unread(shape);
        }
        const bool is_free = event.kind == EventKind::free;
        if (is_free && !calls.empty() && calls.back().shape == CallShape::free && calls.back().block == event.address) {
            return nullptr;  // operator delete has freed it
        }
        put(event);
        note_within(calls, event);
        return nullptr;
    }

    // What a call has done that the one around it may have asked for.
    static void note_within(std::vector<OpenCall>& calls, const Event& event)
    {
        if (calls.empty() || calls.back().shape == CallShape::free || event.kind == EventKind::free) {
            return;
        }
        calls.back().block = event.address;
        calls.back().is_refused = event.kind == EventKind::failed_alloc;
    }

    const char* begin(std::uint32_t process, CallShape shape, std::string_view name, std::string_view arguments)
    {
        arguments = arguments.substr(0, most_argument_bytes);
        std::vector<OpenCall>& calls = open_[process];
        OpenCall call{.name = std::string{without_object(name).substr(0, most_argument_bytes)},
                      .shape = shape,
                      .arguments = std::string{arguments}};
        const OpenCall* const outer = calls.empty() ? nullptr : &calls.back();
        call.counts = outer == nullptr || !outer->hides;
        call.hides = !call.counts || (shape != CallShape::free && shape != CallShape::untold && !may_throw(name));
        const char* reason = nullptr;
        if (shape == CallShape::free && call.counts) {
            Event event = event_of(process);  // before others can have the block
            reason = read_call(event, shape, std::string{arguments} + ")") ? nullptr : unread(shape);
            call.block = event.address;
            const bool is_freed = outer != nullptr && outer->shape == CallShape::free && outer->block == event.address;
            if (reason == nullptr && !is_freed) {
                put(event);
            }
        }
        if (calls.size() == most_open) {
            calls.erase(calls.begin());
            --opened_;
        }
        calls.push_back(std::move(call));
        ++opened_;
        sink_->hold(things_of_a_call * opened_ + things_of_a_thread * open_.size());
        return reason;
    }

    // "NAME resumed> ) = 0x55da66fe42a0": what was opened after it has been left by an exception.
    const char* resume(std::uint32_t process, std::string_view text)
    {
        const std::size_t mark = text.find(" resumed>");
        if (mark == std::string_view::npos) {
            return nullptr;
        }
        const std::string_view name = without_object(text.substr(0, mark)).substr(0, most_argument_bytes);
        const auto shape = shape_of(name);
        if (!shape) {
            return nullptr;  // of a call that allocates nothing
        }
        std::vector<OpenCall>& calls = open_[process];
        std::size_t at = calls.size();
        while (at > 0 && calls[at - 1].name != name) {
            --at;
        }
        if (at == 0) {
            return "the end of a call whose beginning is not in the log";
        }
        OpenCall call = std::move(calls[at - 1]);
        for (std::size_t left = at; left < calls.size(); ++left) {
            call.is_refused = call.is_refused || calls[left].is_refused;
        }
        opened_ -= calls.size() - (at - 1);
        calls.resize(at - 1);
        if (!call.counts || call.shape == CallShape::free) {
            return nullptr;
        }
        if (call.shape == CallShape::untold) {
            return call.block != 0 ? nullptr : unread(call.shape);
        }
        Event event = event_of(process);
        if (!read_call(event, call.shape, call.arguments + std::string{text.substr(mark + 9)})) {
            return unread(call.shape);
        }
        const bool is_done_within =
            event.kind == EventKind::failed_alloc ? call.is_refused : event.address == call.block;
        note_within(calls, event);
        if (call.hides || !is_done_within) {
            put(event);
        }
        return nullptr;
    }

    // A process, or a thread, that has ended returns from no call any more.
    const char* end(std::uint32_t process)
    {
        const auto calls = open_.extract(process);
        if (calls.empty()) {
            return nullptr;
        }
        opened_ -= calls.mapped().size();
        for (const OpenCall& call : calls.mapped()) {
            if (call.hides && call.counts) {
                return call.has_hidden ? "a call has not returned, and what was called after it is left out"
                                       : "a call has not returned";
            }
        }
        return nullptr;
    }

    static const char* unread(CallShape shape)
    {
        return shape == CallShape::untold ? "a call that does not tell which block or how much it allocates"
                                          : "a call whose arguments or result cannot be read";
    }

    void put(const Event& event)
    {
        if (event.kind != EventKind::free || event.address != 0) {
            sink_->add(event);
        }
    }

    ImportSink* sink_;
    LogClock clock_;
    std::map<std::uint32_t, std::vector<OpenCall>> open_;  // by process, the outermost first
    std::uint64_t opened_{};                               // calls, in all of them
    bool has_calls_{};
    bool is_whole_{};  // it has the line of a process's end
};

}  // namespace

constinit const ImportFormat ltrace_format{"ltrace", "ltrace -f -e malloc+free+calloc+realloc", ns_ticks, is_ltrace,
                                           import_lines<LtraceLines>};

}  // namespace memsweep::trace
