#include "core/trace/import/import.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/suggest.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t nanoseconds = 1'000'000'000;

std::string_view first_line(std::string_view head)
{
    return head.substr(0, head.find('\n'));
}

// Whether one of the first lines, those of text logs that begin with something else, contains a text.
bool has_line_with(std::string_view head, std::string_view begin, std::string_view text)
{
    while (!head.empty()) {
        const std::string_view line = first_line(head);
        if (line.starts_with(begin) && line.find(text) != std::string_view::npos) {
            return true;
        }
        head.remove_prefix(std::min(line.size() + 1, head.size()));
    }
    return false;
}

bool is_rmm(std::string_view head)
{
    const std::string_view line = first_line(head);
    return (line.find("Action") != std::string_view::npos && line.find("Pointer") != std::string_view::npos) ||
           line.starts_with("Event Type,Device ID,Address");
}

bool is_umpire(std::string_view head)
{
    return has_line_with(head, "{", "\"kind\"") || has_line_with(head, "{", "\"category\"");
}

bool is_pytorch(std::string_view head)
{
    return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool is_heaptrack(std::string_view head)
{
    return has_line_with(head, "v ", "") || has_line_with(head, "X ", "") || has_line_with(head, "x ", "");
}

bool is_mtrace(std::string_view head)
{
    return head.starts_with("= Start") || has_line_with(head, "@ ", " + 0x") || has_line_with(head, "+ 0x", " 0x");
}

// The first record: type 255, pointer 0x1234.
bool is_dj_mtrace(std::string_view head)
{
    return head.size() >= 32 && head[4] == '\xFF' && head.substr(8, 8) == std::string_view{"\x34\x12\0\0\0\0\0\0", 8};
}

// How many pointers, marks and threads there are comes first.
bool is_dj_workload(std::string_view head)
{
    for (const char code : {'\x08', '\x09', '\x0A'}) {
        if (head.empty() || head.front() != code) {
            return false;
        }
        const auto last = std::ranges::find_if(head.substr(1), [](char byte) { return (byte & 0x80) == 0; });
        const auto digits = static_cast<std::size_t>(last - head.begin());
        if (digits > 10) {
            return false;
        }
        head.remove_prefix(std::min(digits + 1, head.size()));
    }
    return head.starts_with('\x0B');
}

// A size, a rate with a decimal point and a number live with another.
bool is_fleetbench(std::string_view head)
{
    const std::string_view line = first_line(head);
    return !line.empty() && line.find_first_not_of("0123456789.eE+-, \r") == std::string_view::npos &&
           std::ranges::count(line, ',') == 2 && line.find('.') != std::string_view::npos;
}

bool is_csapp(std::string_view head)
{
    for (int i = 0; i < 4; ++i) {
        const std::string_view line = first_line(head);
        if (line.empty() || line.find_first_not_of("0123456789 \r") != std::string_view::npos) {
            return false;
        }
        head.remove_prefix(std::min(line.size() + 1, head.size()));
    }
    return head.starts_with("a ");
}

bool is_valgrind(std::string_view head)
{
    return has_line_with(head, "--", "-- malloc(") || has_line_with(head, "==", "alloc") ||
           has_line_with(head, "==", "Memcheck") || has_line_with(head, "--", "alloc(");
}

bool is_ltrace(std::string_view head)
{
    return has_line_with(head, "", "malloc(") && has_line_with(head, "", ") ");
}

bool is_malloc_bench(std::string_view head)
{
    return head.size() > 3 && head[0] == '\x0A' &&
           (head[2] == '\x0A' || head[2] == '\x12' || head[2] == '\x1A' || head[2] == '"');
}

constexpr std::array formats{
    ImportFormat{"rmm", "RMM's logging_resource_adaptor, CSV; also CNMeM's of RMM before 0.13", nanoseconds, is_rmm,
                 import_rmm},
    ImportFormat{"umpire", "Umpire's UMPIRE_REPLAY, JSON lines, of today and of version 4 and before", nanoseconds,
                 is_umpire, import_umpire},
    ImportFormat{"pytorch", "PyTorch's torch.cuda.memory._dump_snapshot, pickle", nanoseconds, is_pytorch,
                 import_pytorch},
    ImportFormat{"heaptrack", "heaptrack, interpreted or raw, also gz or zst", 1000, is_heaptrack, import_heaptrack},
    ImportFormat{"mtrace", "glibc's mtrace(), text", 0, is_mtrace, import_mtrace},
    ImportFormat{"dj-mtrace", "the records of glibc's malloc tracing branch", 0, is_dj_mtrace, import_dj_mtrace},
    ImportFormat{"csapp", "CS:APP malloc lab .rep", 0, is_csapp, import_csapp},
    ImportFormat{"valgrind", "valgrind --trace-malloc=yes", 0, is_valgrind, import_valgrind},
    ImportFormat{"ltrace", "ltrace -f -e malloc+free+calloc+realloc", 0, is_ltrace, import_ltrace},
    ImportFormat{"malloc-bench", "malloc-bench, protobuf", 0, is_malloc_bench, import_malloc_bench},
    ImportFormat{"dj-workload", "the workloads (.wl) made of them", 0, is_dj_workload, import_dj_workload},
    ImportFormat{"fleetbench", "fleetbench's size, rate and number live, CSV: a trace drawn from them", nanoseconds,
                 is_fleetbench, import_fleetbench},
};

}  // namespace

void ImportSink::define_space(std::uint32_t space, SpaceKind kind, std::uint32_t device, std::string_view name)
{
    add({.kind = EventKind::define_space, .space_kind = kind, .space = space, .other = device, .text = name});
}

void ImportSink::bad(std::uint64_t number, std::string_view reason)
{
    ++bad_lines_;
    if (first_bad_lines_.size() < named_bad_lines) {
        first_bad_lines_.push_back({number, std::string{reason}});
    }
}

std::span<const ImportFormat> import_formats()
{
    return formats;
}

base::Expected<const ImportFormat*> find_import_format(std::string_view name, std::string_view head,
                                                       const std::string& log_name)
{
    if (head.starts_with(std::string_view{"SQLite format 3\0", 16})) {
        return base::fail(base::ErrorCode::invalid_input, "SQLite event store; export to JSON first", log_name);
    }
    std::vector<std::string_view> names;
    for (const ImportFormat& format : formats) {
        if (name.empty() ? format.looks_like(head) : format.name == name) {
            return &format;
        }
        names.push_back(format.name);
    }
    if (name.empty()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("no format that memsweep imports ({}); --format forces one", fmt::join(names, ", ")), log_name);
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, names)), "--format");
}

}  // namespace memsweep::trace
