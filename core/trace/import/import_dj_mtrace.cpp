#include <cstring>

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

enum Type : unsigned {
    unused,
    call_malloc,
    call_calloc,
    call_free,
    call_realloc,
    call_memalign,
    call_valloc,
    call_pvalloc,
    call_posix_memalign,
    magic = 255
};

constexpr unsigned type_mask = 0xFF;

void add(const Record& record, std::uint64_t number, ImportSink& sink)
{
    Event event{
        .thread = static_cast<std::uint32_t>(record.thread), .address = record.new_pointer, .size = record.size};
    switch (record.type_and_path & type_mask) {
    case unused:
    case magic:
        return;
    case call_malloc:
        event.kind = EventKind::malloc;
        break;
    case call_calloc:
        event.kind = EventKind::calloc;
        break;
    case call_free:
        event.kind = EventKind::free;
        event.address = record.old_pointer;
        event.size = 0;
        break;
    case call_realloc:
        event.kind = EventKind::realloc;
        event.old_address = record.old_pointer;
        break;
    case call_memalign:
    case call_valloc:
    case call_pvalloc:
    case call_posix_memalign:
        event.kind = EventKind::aligned_alloc;
        event.alignment = record.size2 == 0 ? 1 : record.size2;
        break;
    default:
        sink.bad(number, "a record of unknown type");
        return;
    }
    if (event.address == 0 && event.size != 0) {
        event = {.kind = EventKind::failed_alloc, .thread = event.thread, .size = event.size};
    }
    sink.add(event);
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

}  // namespace

base::Expected<void> import_dj_mtrace(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    const std::size_t bytes = record_bytes(log.peek(old_record_bytes * 2));
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
        add(record, number, sink);
    }
}

}  // namespace memsweep::trace
