// What glibc's mtrace() writes: "@ caller + 0x55da66fe42a0 0x10".
#include <optional>

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
    MtraceLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    const char* add(std::string_view line)
    {
        const bool was_within = old_address_.has_value();
        const char* const reason = add_operation(trimmed(line));
        if (was_within && old_address_ && !trimmed(line).empty()) {
            old_address_ = begins_realloc_ ? old_address_ : std::nullopt;
            return reason != nullptr ? reason : "the realloc of the line before lacks its second line";
        }
        return reason;
    }
    const char* finish() const { return old_address_ ? "the log ends within a realloc" : nullptr; }
    static bool is_whole(std::string_view line) { return line == "= End"; }

  private:
    const char* add_operation(std::string_view rest)
    {
        begins_realloc_ = false;
        if (rest.empty() || rest.starts_with("= ")) {
            return nullptr;
        }
        const std::string_view last = take_last_word(rest);
        const std::string_view middle = take_last_word(rest);
        if (middle == "-" || middle == "<") {
            return one_operand(middle.front(), parse_pointer(last));
        }
        const std::string_view operation = take_last_word(rest);
        if (operation == "+" || operation == ">" || operation == "!") {
            return two_operands(operation.front(), parse_pointer(middle), parse_pointer(last));
        }
        return "not a line of mtrace";
    }
    const char* one_operand(char operation, std::optional<std::uint64_t> address)
    {
        if (!address) {
            return "invalid pointer";
        }
        if (operation == '<') {
            old_address_ = address;  // the new address follows in the next line
            begins_realloc_ = true;
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
    bool begins_realloc_{};
};

}  // namespace

constinit const ImportFormat mtrace_format{"mtrace", "glibc's mtrace(), text", 0, is_mtrace, import_lines<MtraceLines>};

}  // namespace memsweep::trace
