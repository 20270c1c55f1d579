#include "core/base/checked.hpp"
#include "core/trace/format/varint.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_message_bytes = 4096;

bool is_malloc_bench(std::string_view head)
{
    return head.size() > 3 && head[0] == '\x0A' &&
           (head[2] == '\x0A' || head[2] == '\x12' || head[2] == '\x1A' || head[2] == '"');
}

// Protocol Buffers on the wire: a varint of number and type, then a varint or a length and bytes.
class ProtobufFields {
  public:
    explicit ProtobufFields(std::string_view message)
        : at_{reinterpret_cast<const std::uint8_t*>(message.data())}, end_{at_ + message.size()}
    {
    }

    bool next()
    {
        std::uint64_t tag{};
        if (at_ == end_ || !number(tag)) {
            return false;
        }
        field = tag >> 3U;
        bytes = {};
        value = 0;
        if ((tag & 7U) == 0) {
            return number(value);
        }
        std::uint64_t length{};
        if ((tag & 7U) != 2 || !number(length) || length > static_cast<std::uint64_t>(end_ - at_)) {
            return fail();
        }
        bytes = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(length)};
        at_ += length;
        return true;
    }
    [[nodiscard]] bool failed() const { return failed_; }

    std::uint64_t field{};
    std::uint64_t value{};
    std::string_view bytes;

  private:
    bool number(std::uint64_t& read)
    {
        const std::uint8_t* after = get_varint(at_, end_, read);
        at_ = after != nullptr ? after : at_;
        return after != nullptr || fail();
    }
    bool fail()
    {
        failed_ = true;
        return false;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool failed_{};
};

// An id that is left out is the null pointer.
std::uint64_t address_of_id(std::optional<std::uint64_t> id)
{
    return id ? made_address(*id) : 0;
}

struct Operands {
    std::optional<std::uint64_t> first;
    std::uint64_t second{};
    std::uint64_t third{};
    bool has_second{};
};

bool read_operands(std::string_view bytes, Operands& operands)
{
    ProtobufFields fields{bytes};
    while (fields.next()) {
        if (fields.field == 1) {
            operands.first = fields.value;
        } else if (fields.field == 2) {
            operands.second = fields.value;
            operands.has_second = true;
        } else if (fields.field == 3) {
            operands.third = fields.value;
        }
    }
    return !fields.failed();
}

bool add_message(std::string_view line, ImportSink& sink)
{
    ProtobufFields fields{line};
    if (!fields.next() || fields.field < 1 || fields.field > 4) {
        return false;
    }
    const std::uint64_t operation = fields.field;
    Operands operands;
    if (!read_operands(fields.bytes, operands)) {
        return false;
    }
    const std::uint64_t address = address_of_id(operands.first);
    if (operation == 1) {
        const EventKind kind = operands.third != 0 ? EventKind::aligned_alloc : EventKind::malloc;
        sink.add({.kind = kind, .address = address, .size = operands.second, .alignment = operands.third});
    } else if (operation == 2) {
        sink.add({.kind = EventKind::free, .address = address});
    } else if (operation == 3) {
        const std::uint64_t old = operands.has_second ? address_of_id(operands.second) : 0;
        sink.add({.kind = EventKind::realloc, .address = address, .old_address = old, .size = operands.third});
    } else {
        const auto size = base::checked_mul(operands.second, operands.third);
        if (!size) {
            return false;
        }
        sink.add({.kind = EventKind::calloc, .address = address, .size = *size});
    }
    return true;
}

// A varint from the log itself; nullopt at its end.
std::optional<std::uint64_t> read_varint(LogText& log)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::string_view byte = log.bytes(1);
        if (byte.empty()) {
            return std::nullopt;
        }
        value |= (static_cast<std::uint64_t>(byte[0]) & 0x7FU) << shift;
        if ((static_cast<unsigned char>(byte[0]) & 0x80U) == 0) {
            return value;
        }
    }
    return std::nullopt;
}

base::Expected<void> import_malloc_bench(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    for (std::uint64_t line_number = 1;; ++line_number) {
        const auto tag = read_varint(log);
        if (!tag) {
            return {};
        }
        const auto value = read_varint(log);
        if (*tag == ((2U << 3U) | 0U) && value) {
            continue;  // the most blocks that are live at once
        }
        if (*tag != ((1U << 3U) | 2U) || !value || *value > max_message_bytes) {
            return base::fail(base::ErrorCode::invalid_input, "not a Tracefile of malloc-bench, or damaged",
                              options.name);
        }
        const std::string_view line = log.bytes(*value);
        if (line.size() < *value || !add_message(line, sink)) {
            sink.bad(line_number, line.size() < *value ? "cut off" : "unknown operation");
        }
    }
}

}  // namespace

ImportFormat malloc_bench_format()
{
    return {"malloc-bench", "malloc-bench, protobuf", 0, is_malloc_bench, import_malloc_bench};
}

}  // namespace memsweep::trace
