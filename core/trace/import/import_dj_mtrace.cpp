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

enum class RecordType : std::uint8_t {
    unused,
    malloc,
    calloc,
    free,
    realloc,
    memalign,
    valloc,
    pvalloc,
    posix_memalign,
    magic = 255,
};

constexpr unsigned type_mask = 0xFF;

// The first record: type 255, pointer 0x1234.
bool is_dj_mtrace(std::string_view head)
{
    return head.size() >= 32 && head[4] == '\xFF' && head.substr(8, 8) == std::string_view{"\x34\x12\0\0\0\0\0\0", 8};
}

// False for a record of unknown type.
bool add_record(const Record& record, ImportSink& sink)
{
    Event event{
        .thread = static_cast<std::uint32_t>(record.thread), .address = record.new_pointer, .size = record.size};
    switch (static_cast<RecordType>(record.type_and_path & type_mask)) {
    case RecordType::unused:
    case RecordType::magic:
        return true;
    case RecordType::malloc:
        event.kind = EventKind::malloc;
        break;
    case RecordType::calloc:
        event.kind = EventKind::calloc;
        break;
    case RecordType::free:
        event.kind = EventKind::free;
        event.address = record.old_pointer;
        event.size = 0;
        break;
    case RecordType::realloc:
        event.kind = EventKind::realloc;
        event.old_address = record.old_pointer;
        break;
    case RecordType::memalign:
    case RecordType::valloc:
    case RecordType::pvalloc:
    case RecordType::posix_memalign:
        event.kind = EventKind::aligned_alloc;
        event.alignment = record.size2 == 0 ? 1 : record.size2;
        break;
    default:  // what a file holds need not be one of them
        return false;
    }
    if (event.address == 0 && event.size != 0) {
        event = {.kind = EventKind::failed_alloc, .thread = event.thread, .size = event.size};
    }
    sink.add(event);
    return true;
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
        if (!add_record(record, sink)) {
            sink.bad(number, "unknown record type");
        }
    }
}

}  // namespace

ImportFormat dj_mtrace_format()
{
    return {"dj-mtrace", "the records of glibc's malloc tracing branch", 0, is_dj_mtrace, import_dj_mtrace};
}

}  // namespace memsweep::trace
