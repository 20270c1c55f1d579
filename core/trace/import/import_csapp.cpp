#include "core/trace/import/fields.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t spacing = 16;  // blocks have numbers, and a trace wants addresses

std::uint64_t address_of(std::uint64_t id)
{
    return (id + 1) * spacing;
}

bool add(std::string_view line, ImportSink& sink)
{
    std::string_view rest = trimmed(line);
    const std::string_view operation = take_until(rest, ' ');
    const auto id = number(take_until(rest, ' '));
    const auto size = number(trimmed(rest));
    if (!id || *id > (~0ULL / spacing) - 2 || (operation == "f") == size.has_value()) {
        return false;
    }
    if (operation == "a") {
        sink.add({.kind = EventKind::malloc, .address = address_of(*id), .size = *size});
    } else if (operation == "r") {
        // A realloc of a block that is not there yet allocates it.
        const bool lives = sink.accounting().live().find({address_of(*id), 0, 0}) != nullptr;
        sink.add({.kind = EventKind::realloc,
                  .address = address_of(*id),
                  .old_address = lives ? address_of(*id) : 0,
                  .size = *size});
    } else if (operation == "f") {
        sink.add({.kind = EventKind::free, .address = address_of(*id)});
    } else {
        return false;
    }
    return true;
}

}  // namespace

base::Expected<void> import_csapp(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    std::string_view line;
    int header_lines = 4;
    while (log.line(line)) {
        if (trimmed(line).empty() || (header_lines > 0 && number(trimmed(line)))) {
            --header_lines;
            continue;
        }
        if (!add(line, sink)) {
            sink.bad(log.line_number(), "neither \"a ID SIZE\" nor \"r ID SIZE\" nor \"f ID\"");
        }
    }
    return {};
}

}  // namespace memsweep::trace
