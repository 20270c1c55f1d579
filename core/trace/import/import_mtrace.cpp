#include "core/trace/import/fields.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

// "@ caller op operands": the caller may hold blanks, so lines are read from their end.
class MtraceLines {
  public:
    explicit MtraceLines(ImportSink& sink) : sink_{&sink} {}

    void add(std::string_view line, std::uint64_t line_number)
    {
        std::string_view rest = trimmed(line);
        if (rest.empty() || rest.starts_with("= ")) {
            return;
        }
        const std::string_view last = take_last_word(rest);
        std::string_view before = rest;
        const std::string_view middle = take_last_word(before);
        if (middle == "-" || middle == "<") {
            one_operand(middle.front(), pointer(last), line_number);
            return;
        }
        const std::string_view operation = take_last_word(before);
        if (operation == "+" || operation == ">" || operation == "!") {
            two_operands(operation.front(), pointer(middle), pointer(last), line_number);
            return;
        }
        sink_->bad(line_number, "no line of mtrace");
    }

  private:
    void one_operand(char operation, std::optional<std::uint64_t> address, std::uint64_t line_number)
    {
        if (!address) {
            sink_->bad(line_number, "its pointer is no pointer");
        } else if (operation == '<') {
            old_address_ = address;  // the new place follows in the next line
        } else {
            sink_->add({.kind = EventKind::free, .address = *address});
        }
    }
    void two_operands(char operation, std::optional<std::uint64_t> address, std::optional<std::uint64_t> size,
                      std::uint64_t line_number)
    {
        if (!address || !size) {
            sink_->bad(line_number, "its pointer or size is no number");
        } else if (operation == '!' || (*address == 0 && *size != 0)) {
            sink_->add({.kind = EventKind::failed_alloc, .size = *size});
        } else if (operation == '+') {
            sink_->add({.kind = EventKind::malloc, .address = *address, .size = *size});
        } else if (!old_address_) {
            sink_->bad(line_number, "a realloc without its first line");
        } else {
            sink_->add({.kind = EventKind::realloc, .address = *address, .old_address = *old_address_, .size = *size});
            old_address_.reset();
        }
    }

    ImportSink* sink_;
    std::optional<std::uint64_t> old_address_;
};

}  // namespace

base::Expected<void> import_mtrace(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    MtraceLines lines{sink};
    std::string_view line;
    while (log.line(line)) {
        lines.add(line, log.line_number());
    }
    return {};
}

}  // namespace memsweep::trace
