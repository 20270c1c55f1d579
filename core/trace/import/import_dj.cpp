// The records of glibc's malloc tracing branch, by DJ Delorie.
#include <array>
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
    std::uint64_t size2;  // memalign: the alignment
    std::uint64_t size3;
    std::uint64_t padding[2];  // NOLINT(modernize-avoid-c-arrays): a layout of others
};
static_assert(sizeof(Record) == 64);
constexpr std::size_t old_record_bytes = 32;
// Threads write into windows of 64 MiB of the file, each from its beginning: what lies between two records is less.
constexpr std::size_t max_unused_bytes = 256 << 20;

// By the types of records, from 1.
constexpr std::array record_kinds{
    EventKind::malloc,
    EventKind::calloc,
    EventKind::free,
    EventKind::realloc,
    // memalign, valloc, pvalloc, posix_memalign
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
    EventKind::aligned_alloc,
};
constexpr unsigned unused_record = 0;
constexpr unsigned free_record = 3;
constexpr unsigned magic_record = 255;
constexpr unsigned type_mask = 0xFF;

// The first record: type 255, pointer 0x1234.
bool is_dj_mtrace(std::string_view head)
{
    return head.size() >= 32 && head[4] == '\xFF' && head.substr(8, 8) == std::string_view{"\x34\x12\0\0\0\0\0\0", 8};
}

constexpr unsigned path_bits = 16;  // the path's bits in type_and_path, behind the type; the others are unused
constexpr unsigned address_bits = 57;

// Whether the fields of a record can be those of a call.
bool is_call(const Record& record)
{
    const auto is_address = [](std::uint64_t value) { return value >> address_bits == 0 && value % 4 == 0; };
    const bool is_free_only = (record.type_and_path & type_mask) == free_record;
    return record.type_and_path >> (8 + path_bits) == 0 && record.thread >= 0 && is_address(record.old_pointer) &&
           is_address(record.new_pointer) && record.padding[0] == 0 && record.padding[1] == 0 &&
           (record.new_pointer == 0 || is_free_only || record.size >> address_bits == 0);
}

// False for a record that is of no call.
bool add_record(const Record& record, ImportSink& sink)
{
    const unsigned type = record.type_and_path & type_mask;
    if (type == magic_record) {
        return true;
    }
    if (type > record_kinds.size() || !is_call(record)) {
        return false;
    }
    if (type == unused_record) {
        return true;
    }
    Event event{.kind = record_kinds.at(type - 1),
                .thread = static_cast<std::uint32_t>(record.thread),
                .address = record.new_pointer,
                .size = record.size};
    if (event.kind == EventKind::free) {
        event.address = record.old_pointer;
        event.size = 0;
    } else if (event.kind == EventKind::realloc) {
        event.old_address = record.old_pointer;
    } else if (event.kind == EventKind::aligned_alloc) {
        event.alignment = record.size2 == 0 ? 1 : record.size2;
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

base::Expected<void> import_dj_mtrace(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    if (!is_dj_mtrace(log.peek(old_record_bytes))) {
        return base::fail(base::ErrorCode::invalid_input,
                          "no records of glibc's malloc tracing branch: they begin "
                          "with one of type 255 and pointer 0x1234",
                          options.name);
    }
    const std::size_t bytes = record_bytes(log.peek(old_record_bytes * 2));
    std::size_t unused_bytes = 0;
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
        unused_bytes = (record.type_and_path & type_mask) == unused_record ? unused_bytes + bytes : 0;
        if (unused_bytes > max_unused_bytes) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("record {}: more than {} of unused records before it", number,
                                          base::exact_size(max_unused_bytes)),
                              options.name);
        }
        if (!add_record(record, sink)) {
            sink.bad(number, "not the record of a call: an unknown type, or fields that no call has");
        }
    }
}

}  // namespace

constinit const ImportFormat dj_mtrace_format{"dj-mtrace", "the records of glibc's malloc tracing branch", 0,
                                              is_dj_mtrace, import_dj_mtrace};

}  // namespace memsweep::trace
