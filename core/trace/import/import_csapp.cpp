#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr int csapp_header_lines = 4;

bool is_csapp(std::string_view head)
{
    for (int i = 0; i < csapp_header_lines; ++i) {
        const std::string_view line = take_until(head, '\n');
        if (line.empty() || line.find_first_not_of("0123456789 \r") != std::string_view::npos) {
            return false;
        }
    }
    return head.starts_with("a ");
}

bool add_csapp_line(std::string_view line, ImportSink& sink)
{
    std::string_view rest = trimmed(line);
    const std::string_view operation = take_until(rest, ' ');
    const auto id = parse_number(take_until(rest, ' '));
    const auto size = parse_number(trimmed(rest));
    if (!id || *id > (~0ULL / made_address_spacing) - 2 || (operation == "f") == size.has_value()) {
        return false;
    }
    const std::uint64_t address = made_address(*id);
    if (operation == "a") {
        sink.add({.kind = EventKind::malloc, .address = address, .size = *size});
    } else if (operation == "r") {
        // A realloc of a block that is not there yet allocates it.
        const bool is_live = sink.accounting().live().find({address, 0, 0}) != nullptr;
        sink.add({.kind = EventKind::realloc, .address = address, .old_address = is_live ? address : 0, .size = *size});
    } else if (operation == "f") {
        sink.add({.kind = EventKind::free, .address = address});
    } else {
        return false;
    }
    return true;
}

base::Expected<void> import_csapp(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    int header_lines = csapp_header_lines;
    import_lines(log, sink, [&](std::string_view line) -> const char* {
        if (trimmed(line).empty() || (header_lines > 0 && parse_number(trimmed(line)))) {
            --header_lines;
            return nullptr;
        }
        return add_csapp_line(line, sink) ? nullptr : "expected \"a ID SIZE\", \"r ID SIZE\" or \"f ID\"";
    });
    return {};
}

}  // namespace

ImportFormat csapp_format()
{
    return {"csapp", "CS:APP malloc lab .rep", 0, is_csapp, import_csapp};
}

}  // namespace memsweep::trace
