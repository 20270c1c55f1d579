#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

bool is_mtrace(std::string_view head)
{
    return head.starts_with("= Start") || has_line_with(head, "@ ", " + 0x") || has_line_with(head, "+ 0x", " 0x");
}

// "@ caller op operands": the caller may contain blanks, so lines are read from their end.
class MtraceLines {
  public:
    explicit MtraceLines(ImportSink& sink) : sink_{&sink} {}

    // Why the line is bad, or nullptr.
    const char* add(std::string_view line)
    {
        std::string_view rest = trimmed(line);
        if (rest.empty() || rest.starts_with("= ")) {
            return nullptr;
        }
        const std::string_view last = take_last_word(rest);
        std::string_view before = rest;
        const std::string_view middle = take_last_word(before);
        if (middle == "-" || middle == "<") {
            return one_operand(middle.front(), parse_pointer(last));
        }
        const std::string_view operation = take_last_word(before);
        if (operation == "+" || operation == ">" || operation == "!") {
            return two_operands(operation.front(), parse_pointer(middle), parse_pointer(last));
        }
        return "not a line of mtrace";
    }

  private:
    const char* one_operand(char operation, std::optional<std::uint64_t> address)
    {
        if (!address) {
            return "invalid pointer";
        }
        if (operation == '<') {
            old_address_ = address;  // the new address follows in the next line
        } else {
            sink_->add({.kind = EventKind::free, .address = *address});
        }
        return nullptr;
    }
    const char* two_operands(char operation, std::optional<std::uint64_t> address, std::optional<std::uint64_t> size)
    {
        if (!address || !size) {
            return "invalid pointer or size";
        }
        if (operation == '!' || (*address == 0 && *size != 0)) {
            sink_->add({.kind = EventKind::failed_alloc, .size = *size});
        } else if (operation == '+') {
            sink_->add({.kind = EventKind::malloc, .address = *address, .size = *size});
        } else if (!old_address_) {
            return "a realloc without its first line";
        } else {
            sink_->add({.kind = EventKind::realloc, .address = *address, .old_address = *old_address_, .size = *size});
            old_address_.reset();
        }
        return nullptr;
    }

    ImportSink* sink_;
    std::optional<std::uint64_t> old_address_;
};

base::Expected<void> import_mtrace(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    MtraceLines lines{sink};
    import_lines(log, sink, [&](std::string_view line) { return lines.add(line); });
    return {};
}

}  // namespace

ImportFormat mtrace_format()
{
    return {"mtrace", "glibc's mtrace(), text", 0, is_mtrace, import_mtrace};
}

}  // namespace memsweep::trace
