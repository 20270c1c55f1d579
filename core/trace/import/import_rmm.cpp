#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/trace/import/import.hpp"
#include "core/trace/import/log_clock.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_columns = 16;

bool is_rmm(std::string_view head)
{
    const std::string_view line = first_line(head);
    return line.find("Action") != std::string_view::npos && line.find("Pointer") != std::string_view::npos;
}

// Where the columns are; a log names them in its first line.
struct Columns {
    std::size_t thread = 0, time = 1, action = 2, pointer = 3, size = 4, stream = 5;
    std::size_t needed = 5;
};

using Row = std::array<std::string_view, max_columns>;

// Returns the number of columns in the line; the rest of the row stays as it was.
std::size_t split_row(std::string_view line, Row& row)
{
    std::size_t count = 0;
    while (count < max_columns) {
        const std::size_t comma = line.find(',');
        row[count++] = trimmed(line.substr(0, comma));
        if (comma == std::string_view::npos) {
            break;
        }
        line.remove_prefix(comma + 1);
    }
    return count;
}

bool read_header(std::string_view line, Columns& columns)
{
    Row row;
    const std::size_t count = split_row(line, row);
    Columns found{max_columns, max_columns, max_columns, max_columns, max_columns, max_columns};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view label = row[i];
        (label == "Thread"    ? found.thread
         : label == "Time"    ? found.time
         : label == "Action"  ? found.action
         : label == "Pointer" ? found.pointer
         : label == "Size"    ? found.size
         : label == "Stream"  ? found.stream
                              : found.needed) = i;
    }
    if (std::max({found.action, found.pointer, found.size}) >= max_columns) {
        return false;
    }
    found.needed = count;
    columns = found;
    return true;
}

// "name.dev3.csv": RMM for Python writes a log per device.
std::uint32_t device_in(const std::string& name)
{
    const std::size_t at = name.rfind(".dev");
    std::uint32_t device = 0;
    if (at != std::string::npos) {
        std::from_chars(name.data() + at + 4, name.data() + name.size(), device);
    }
    return device;
}

constexpr std::array<LoggedAction, 4> rmm_actions{{{"allocate", EventKind::malloc},
                                                   {"free", EventKind::free},
                                                   {"deallocate", EventKind::free},
                                                   {"allocate failure", EventKind::failed_alloc}}};

class RmmRows {
  public:
    RmmRows(ImportSink& sink, const ImportOptions& options) : sink_{&sink}
    {
        sink.define_space(0, SpaceKind::device, device_in(options.name), "device");
    }

    const char* add(std::string_view line)
    {
        if (line.empty() || (line.front() > '9' && is_header(line) && read_header(line, columns_))) {
            return nullptr;
        }
        const std::size_t count = split_row(line, row_);
        if (count < columns_.needed) {
            return "too few columns";
        }
        std::fill(row_.begin() + static_cast<std::ptrdiff_t>(count), row_.end(), std::string_view{});
        return add(row_);
    }

  private:
    static bool is_header(std::string_view line) { return line.find("Pointer") != std::string_view::npos; }
    static std::string_view field(const Row& row, std::size_t column)
    {
        return column < max_columns ? row[column] : std::string_view{};
    }

    const char* add(const Row& row)
    {
        const auto address = parse_pointer(field(row, columns_.pointer));
        const auto size = parse_number(field(row, columns_.size));
        const std::string_view thread_text = field(row, columns_.thread);
        const auto thread = thread_text.empty() ? 0 : parse_number(thread_text);
        const std::string_view stream_text = field(row, columns_.stream);
        const auto stream = stream_text.empty() ? 0 : parse_pointer(stream_text);
        if (!address || !size) {
            return !address ? "invalid pointer" : "invalid size";
        }
        if (!thread || !stream) {
            return !thread ? "invalid thread" : "invalid stream";
        }
        Event event{
            .thread = static_cast<std::uint32_t>(*thread), .stream = *stream, .address = *address, .size = *size};
        const auto kind = kind_of(rmm_actions, field(row, columns_.action));
        if (!kind) {
            return "unknown action";
        }
        set_kind(event, *kind);
        event.ticks = clock_.read(field(row, columns_.time));
        sink_->add(event);
        return nullptr;
    }

    ImportSink* sink_;
    Columns columns_;
    Row row_;
    LogClock clock_;
};

}  // namespace

constinit const ImportFormat rmm_format{"rmm", "RMM's logging_resource_adaptor, CSV", ns_ticks, is_rmm,
                                        import_lines<RmmRows>};

}  // namespace memsweep::trace
