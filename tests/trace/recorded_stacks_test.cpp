// Call stacks from a recorder's words and files into a trace.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
        put(0, trace::StackFileHeader{.node_room = 100,
                                      .nodes = static_cast<std::uint32_t>(nodes.size()) + 1,
                                      .modules = 1,
                                      .lost_stacks = 3,
                                      .lost_errno = ENOSPC});
    }
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
