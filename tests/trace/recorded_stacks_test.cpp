// Call stacks from a recorder's words and files into a trace.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/trace/format/stack_recording.hpp"
#include "core/trace/recorded_stacks.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/trace_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/trace/recording_bytes.hpp"

namespace memsweep::tests {
namespace {

constexpr std::uint64_t place = 0x5000'0000;

std::string bytes_of(const std::vector<std::uint64_t>& words)
{
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint64_t)};
}

std::uint64_t malloc_word(std::uint64_t number)
{
    return trace::word_of(trace::WordTag::malloc, place + 16 * number, 16);
}

// A recorder's file with these nodes and one module.
class StackFile {
  public:
    explicit StackFile(const std::vector<trace::StackNode>& nodes)
        : bytes_(trace::stack_file_bytes(nodes.size() + 1), '\0')
    {
        trace::RecordedModule module{.begin = place, .end = place + 0x1000, .bias = place, .seen_ticks = 5};
        module.path_bytes = 4;
        std::memcpy(module.path, "/a/b", 4);
        put(trace::modules_offset, module);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            put(trace::nodes_offset + (i + 1) * sizeof(trace::StackNode), nodes[i]);
        }
        header_ = {.node_room = node_room,
                   .nodes = static_cast<std::uint32_t>(nodes.size()) + 1,
                   .modules = 1,
                   .lost_stacks = 3,
                   .lost_errno = ENOSPC};
        put(0, header_);
    }
    void add_line(std::uint32_t number, const std::string& function, const std::string& path)
    {
        const trace::RecordedLine line{number, static_cast<std::uint16_t>(function.size()),
                                       static_cast<std::uint16_t>(path.size())};
        const std::size_t at = trace::stack_file_bytes(node_room) + header_.line_bytes;
        bytes_.resize(at + line.bytes());
        put(at, line);
        bytes_.replace(at + sizeof line, function.size() + path.size(), function + path);
        header_.line_bytes += line.bytes();
        ++header_.lines;
        header_.python = 0x030B02F0;
        header_.reads_python = 1;
        put(0, header_);
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    static constexpr std::uint32_t node_room = 100;
    [[nodiscard]] trace::OpenRecording opener(std::size_t bytes = SIZE_MAX) const
    {
        const std::string kept = bytes_.substr(0, bytes);
        return [kept]() -> base::Expected<trace::ReadAt> {
            return [kept](std::uint64_t offset, std::span<std::uint8_t> into) {
                return trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(kept.data()), kept.size()})(
                    offset, into);
            };
        };
    }

  private:
    void put(std::size_t at, const auto& structure)
    {
        bytes_.replace(at, sizeof structure, reinterpret_cast<const char*>(&structure), sizeof structure);
    }
    std::string bytes_;
    trace::StackFileHeader header_;
};

struct Assembled {
    std::string bytes;
    trace::RecordingSummary summary;
};

Assembled assembled(RecordingBytes& recording, const trace::OpenRecording& stacks)
{
    const auto open = [&]() -> base::Expected<trace::ReadAt> { return recording.file().read; };
    auto image = trace::find_image(open, "recording").value();
    REQUIRE(image.has_value());
    image->open_stacks = stacks;
    Assembled result;
    const trace::TakeBytes take = [&](std::string_view bytes) -> base::Expected<void> {
        result.bytes += bytes;
        return {};
    };
    result.summary = trace::assemble({*image}, {}, [](const trace::ImageFacts&) { return false; }, take, {}).value();
    return result;
}

// The addresses of each event's stack that asks for memory, innermost first.
std::vector<std::vector<std::uint64_t>> stacks_in(const std::string& bytes)
{
    auto reader = trace::TraceReader::open(
                      trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), "t")
                      .value();
    const trace::StackTable& table = reader.read_stacks();
    std::vector<std::vector<std::uint64_t>> found;
    trace::Event event;
    while (reader.next(event)) {
        if (trace::takes_stack(event.kind, event.address)) {
            std::vector<std::uint64_t>& stack = found.emplace_back();
            for (std::uint32_t node = event.stack; node != 0; node = table.node(node).parent) {
                stack.push_back(table.node(node).address);
            }
        }
    }
    CHECK(reader.damage().corrupted_chunks == 0);
    return found;
}

const std::vector<trace::StackNode> some_nodes{{.address = 0x100}, {.address = 0x200, .parent = 1}, {.address = 0x300}};

}  // namespace

TEST_CASE("an event has the stack whose word stands before it", "[unit]")
{
    RecordingBytes recording{2};
    std::vector<std::uint64_t> words{trace::stack_word(2), malloc_word(0), malloc_word(1)};
    words.push_back(trace::word_of(trace::WordTag::free, place));
    words.push_back(trace::stack_word(3));
    words.push_back(trace::word_of(trace::WordTag::operand, place + 16));
    words.push_back(trace::word_of(trace::WordTag::realloc, place + 64, 100));
    words.push_back(trace::stack_word(1));  // its process died before the event
    recording.slot(0, 41, 0, bytes_of(words));
    const Assembled trace = assembled(recording, StackFile{some_nodes}.opener());
    const std::vector<std::vector<std::uint64_t>> expected{{0x200, 0x100}, {}, {0x300}};
    CHECK(stacks_in(trace.bytes) == expected);
    CHECK(trace.summary.events == 4 + 2);  // and the ends of thread and process
    CHECK(trace.summary.lost_stacks == 3);
    CHECK(trace.summary.stacks_errno == ENOSPC);
}

TEST_CASE("a file of stacks that ends anywhere costs no event", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, 41, 0, bytes_of({trace::stack_word(1), malloc_word(0), trace::stack_word(2), malloc_word(1)}));
    const StackFile file{some_nodes};
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, std::size_t{trace::modules_offset + 100},
                                    std::size_t{trace::nodes_offset + 20}, std::size_t{trace::nodes_offset + 40}}) {
        CAPTURE(bytes);
        const Assembled trace = assembled(recording, file.opener(bytes));
        CHECK(trace.summary.events == 2 + 2);
    }
    const Assembled without = assembled(recording, {});
    CHECK(without.summary.events == 2 + 2);
}

TEST_CASE("lines that an interpreter ran have their names in the trace", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, 41, 0, bytes_of({trace::stack_word(2), malloc_word(0)}));
    StackFile file{{{.address = 0x100}, {.address = trace::first_interpreted + 1, .parent = 1}}};
    file.add_line(7, "f", "/a.py");
    file.add_line(70'000, "C.g.<locals>.<lambda>", "<string>");
    const auto lines_with = [&](std::size_t bytes) {
        const Assembled trace = assembled(recording, file.opener(bytes));
        const std::string& all = trace.bytes;
        auto reader = trace::TraceReader::open(
                          trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()}), "t")
                          .value();
        CHECK(reader.facts().at("python") == "3.11.2");
        std::vector<std::string> lines;
        for (std::uint64_t number = 0; number < 3; ++number) {
            const auto names = reader.read_stacks().names({own_process, 0}, trace::first_interpreted + number);
            if (names) {
                const trace::SourceFrame& frame = names->frames[0];
                lines.push_back(fmt::format("{} {}:{}", frame.function, frame.file, frame.line));
            }
        }
        CHECK(reader.damage().corrupted_chunks == 0);
        return lines;
    };
    const std::string first = "f /a.py:7";
    CHECK(lines_with(SIZE_MAX) == std::vector<std::string>{first, "C.g.<locals>.<lambda> <string>:70000"});
    CHECK(lines_with(file.size() - 1) == std::vector<std::string>{first});
    CHECK(lines_with(trace::stack_file_bytes(StackFile::node_room) + 3).empty());
}

TEST_CASE("what a file of stacks counts is believed as far as the file goes", "[unit]")
{
    StackFile file{some_nodes};
    std::string out;
    const trace::TakeBytes take = [&](std::string_view bytes) -> base::Expected<void> {
        out += bytes;
        return {};
    };
    trace::ChunkSealer sealer;
    const trace::StackFileHeader lying{.nodes = UINT32_MAX, .modules = UINT32_MAX};
    const std::string bytes{reinterpret_cast<const char*>(&lying), sizeof lying};
    const auto read = trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    REQUIRE(trace::put_call_stacks(read, {}, take, sealer));
    CHECK(out.size() < 1024);
}

}  // namespace memsweep::tests
