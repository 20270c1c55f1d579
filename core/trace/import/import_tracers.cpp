#include <map>
#include <string>

#include "core/trace/import/call.hpp"
#include "core/trace/import/fields.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

void add(CallParse parsed, const Event& event, std::uint64_t line_number, ImportSink& sink)
{
    if (parsed == CallParse::bad) {
        sink.bad(line_number, "a call whose arguments or result cannot be read");
    } else if (parsed == CallParse::event && (event.kind != EventKind::free || event.address != 0)) {
        sink.add(event);
    }
}

// "--PID-- malloc(16) = 0x4A46040"; other lines are valgrind's and the program's own.
void add_valgrind_line(std::string_view line, std::uint64_t line_number, ImportSink& sink)
{
    const std::size_t end = line.starts_with("--") ? line.find("-- ", 2) : std::string_view::npos;
    const auto process = end == std::string_view::npos ? std::nullopt : number(line.substr(2, end - 2));
    const CallPlace call = process ? find_call(line) : CallPlace{};
    if (call.begin == std::string_view::npos) {
        return;
    }
    const std::string_view rest = line.substr(call.begin + call.name.size() + 1);
    const std::size_t close = rest.find(')');
    const std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
    const std::string_view result = equals == std::string_view::npos ? std::string_view{} : rest.substr(equals + 1);
    Event event{.process = static_cast<std::uint32_t>(*process)};
    const CallParse parsed =
        close == std::string_view::npos ? CallParse::bad : parse_call(call.name, rest.substr(0, close), result, event);
    add(parsed, event, line_number, sink);
}

// "PID object->malloc(16) = 0x55da66fe42a0"; a call that another thread interrupts comes in two lines.
class LtraceLines {
  public:
    explicit LtraceLines(ImportSink& sink) : sink_{&sink} {}

    void add_line(std::string_view line, std::uint64_t line_number)
    {
        const std::uint32_t process = process_of(line);
        if (const std::size_t resumed = line.find(" resumed>"); resumed != std::string_view::npos) {
            finish(process, line.substr(resumed + 9), line_number);
            return;
        }
        const CallPlace call = find_call(line);
        if (call.begin == std::string_view::npos) {
            return;
        }
        std::string_view rest = line.substr(call.begin + call.name.size() + 1);
        if (const std::size_t cut = rest.find("<unfinished"); cut != std::string_view::npos) {
            unfinished_[process] = {std::string{call.name}, std::string{rest.substr(0, cut)}};
            return;
        }
        add_call(process, call.name, rest, line_number);
    }

  private:
    struct Unfinished {
        std::string name;
        std::string arguments;
    };

    static std::uint32_t process_of(std::string_view line)
    {
        line = trimmed(line);
        if (line.starts_with("[pid ")) {
            line.remove_prefix(5);
        }
        const std::string_view digits = line.substr(0, line.find_first_not_of("0123456789"));
        return static_cast<std::uint32_t>(number(digits).value_or(0));
    }

    void finish(std::uint32_t process, std::string_view rest, std::uint64_t line_number)
    {
        const auto begun = unfinished_.find(process);
        if (begun == unfinished_.end()) {
            return;  // of a call that allocates nothing
        }
        const std::string text = begun->second.arguments + std::string{rest};
        const std::string name = begun->second.name;
        unfinished_.erase(begun);
        add_call(process, name, text, line_number);
    }

    void add_call(std::uint32_t process, std::string_view name, std::string_view rest, std::uint64_t line_number)
    {
        const std::size_t close = rest.find(')', rest.starts_with("(nil)") ? 5 : 0);
        const std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
        Event event{.process = process};
        const bool has_both = close != std::string_view::npos && equals != std::string_view::npos;
        const CallParse parsed =
            has_both ? parse_call(name, rest.substr(0, close), rest.substr(equals + 1), event) : CallParse::bad;
        add(parsed, event, line_number, *sink_);
    }

    ImportSink* sink_;
    std::map<std::uint32_t, Unfinished> unfinished_;
};

}  // namespace

base::Expected<void> import_valgrind(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    std::string_view line;
    while (log.line(line)) {
        add_valgrind_line(line, log.line_number(), sink);
    }
    return {};
}

base::Expected<void> import_ltrace(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    LtraceLines lines{sink};
    std::string_view line;
    while (log.line(line)) {
        lines.add_line(line, log.line_number());
    }
    return {};
}

}  // namespace memsweep::trace
