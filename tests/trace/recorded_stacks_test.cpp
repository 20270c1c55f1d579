// Call stacks from a recorder's words and files into a trace.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/trace/caller_strata.hpp"
#include "core/trace/format/stack_recording.hpp"
#include "core/trace/recorded_stacks.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/stacks.hpp"
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
    explicit StackFile(const std::vector<trace::StackNode>& nodes, std::uint64_t every = 0)
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
                   .sampled_every = every,
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

TEST_CASE("an event without a stack has its caller", "[unit]")
{
    RecordingBytes recording{2};
    constexpr std::uint64_t high = 0x7FFF'FFFF'FFFF;
    recording.slot(
        0, 41, 0,
        bytes_of({trace::caller_word(high), malloc_word(0), trace::stack_word(2), malloc_word(1), malloc_word(2),
                  trace::caller_word(0x200), malloc_word(3), trace::word_of(trace::WordTag::free, place),
                  trace::word_of(trace::WordTag::operand, place + 16),
                  trace::word_of(trace::WordTag::realloc, place + 64, 100),
                  trace::caller_word(0x300)}));  // its process died before the event
    recording.slot(1, 42, 0, bytes_of({trace::caller_word(high), malloc_word(4)}));
    const Assembled trace = assembled(recording, StackFile{some_nodes, 4096}.opener());
    constexpr std::uint64_t cut = trace::callers_not_followed;
    const std::vector<std::vector<std::uint64_t>> of_first{
        {high, cut}, {0x200, 0x100}, {high, cut}, {0x200, cut}, {0x200, cut}};
    const auto all = stacks_in(trace.bytes);
    auto before = of_first;
    before.insert(before.begin(), {high, cut});
    auto behind = of_first;
    behind.push_back({high, cut});
    CHECK((all == before || all == behind));  // no stamp orders the two threads
    CHECK(trace.summary.events == 7 + 3);
}

// 60 blocks of a size that two stacks of one address ask for, of which three of one and one of the other are in the
// sample; and 10 of another address.
TEST_CASE("what an address has is exact, and shared as the sample says", "[unit]")
{
    RecordingBytes recording{2};
    std::vector<std::uint64_t> words;
    const auto add = [&](std::uint64_t before, std::uint64_t number) {
        words.insert(words.end(), {before, malloc_word(number)});
    };
    for (std::uint64_t i = 0; i < 60; ++i) {
        add(i % 16 == 0 ? trace::stack_word(i == 32 ? 3 : 2) : trace::caller_word(0x200), i);
    }
    for (std::uint64_t i = 0; i < 10; ++i) {
        add(trace::caller_word(0x500), 100 + i);
    }
    words.push_back(trace::word_of(trace::WordTag::free, place + 16));
    recording.slot(0, 41, 0, bytes_of(words));
    const std::vector<trace::StackNode> nodes{
        {.address = 0x100}, {.address = 0x200, .parent = 1}, {.address = 0x200}, {.address = 0x300}};
    const std::string bytes = assembled(recording, StackFile{nodes, 4096}.opener()).bytes;
    auto reader = trace::TraceReader::open(
                      trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), "t")
                      .value();
    const trace::StackTable& table = reader.read_stacks();
    const std::vector<std::uint32_t> groups{0, 0, 1, 2, 0, 0, 1, 3};
    REQUIRE(table.count() == groups.size());
    const trace::CountedAllocations counted = count_allocations(reader, trace::CountedBy::stack, groups);
    CHECK_FALSE(counted.is_exact());
    CHECK(counted.has_exact_callers);
    CHECK(counted.total.allocations == 70);
    CHECK(counted.total.bytes_allocated == 70 * 16);
    CHECK(counted.total.peak_bytes == 70 * 16);
    CHECK(counted.total.end_bytes == 69 * 16);
    CHECK(counted.of[2].allocations == 45);
    CHECK(counted.of[2].peak_bytes == 45 * 16);
    CHECK(counted.of[2].end_blocks + counted.of[3].end_blocks == 59);
    CHECK(counted.of[3].bytes_allocated == 15 * 16);
    CHECK(counted.of[7].allocations == 10);
    CHECK(counted.of[7].own_peak_bytes == 10 * 16);
    CHECK(counted.groups[1].allocations == 45);
    CHECK(counted.groups[2].allocations == 15);
    CHECK(counted.groups[3].allocations == 10);
    CHECK(table.caller_of(2) == table.caller_of(3));
    CHECK(table.caller_of(1) == 0);
    CHECK(table.caller_of(7) == 7);
}

// One block at a time is live, of each of three addresses in turn. The first address is one group's, the second is that
// of two groups, and all blocks of the third were sampled.
TEST_CASE("the most at a time is exact in a sample where an address tells it, and never more than the trace's",
          "[unit]")
{
    RecordingBytes recording{2};
    std::vector<std::uint64_t> words;
    const auto make_and_free = [&](std::uint64_t before) {
        words.insert(words.end(), {before, malloc_word(0), trace::word_of(trace::WordTag::free, place)});
    };
    for (std::uint64_t i = 0; i < 64; ++i) {
        make_and_free(i % 16 == 0 ? trace::stack_word(1) : trace::caller_word(0x200));
        make_and_free(i % 16 == 0 ? trace::stack_word(i == 32 ? 2 : 3) : trace::caller_word(0x300));
        make_and_free(trace::stack_word(4));
    }
    words.insert(words.end(), {trace::stack_word(1), malloc_word(1), trace::caller_word(0x200), malloc_word(2)});
    recording.slot(0, 41, 0, bytes_of(words));
    const std::vector<trace::StackNode> nodes{
        {.address = 0x200}, {.address = 0x300}, {.address = 0x300}, {.address = 0x400}};
    const std::string bytes = assembled(recording, StackFile{nodes, 4096}.opener()).bytes;
    auto reader = trace::TraceReader::open(
                      trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), "t")
                      .value();
    const trace::StackTable& table = reader.read_stacks();
    std::vector<std::uint32_t> groups{0, 1, 2, 3, 4};
    for (std::uint32_t node = 5; node < table.count(); ++node) {
        const std::uint64_t address = table.node(node).address;
        groups.push_back(address == 0x200 ? 1 : address == 0x300 ? 5 : 6);
    }
    const trace::CountedAllocations counted = count_allocations(reader, trace::CountedBy::stack, groups);
    REQUIRE(counted.has_exact_callers);
    REQUIRE(counted.groups.size() >= 5);
    CHECK(counted.total.own_peak_bytes == 32);
    CHECK(counted.groups[1].own_peak_bytes == 32);
    CHECK(counted.groups[4].own_peak_bytes == 16);
    CHECK_FALSE(counted.estimated_own_peaks[1]);
    CHECK_FALSE(counted.estimated_own_peaks[4]);
    for (const std::size_t shared : {2U, 3U}) {
        CHECK(counted.estimated_own_peaks[shared]);
        CHECK(counted.groups[shared].own_peak_bytes <= 32);
        CHECK(counted.groups[shared].own_peak_bytes > 0);
    }
}

TEST_CASE("a number is shared out whole", "[unit]")
{
    CHECK(trace::shared_out(10, {1, 1, 1}) == std::vector<std::uint64_t>{4, 3, 3});
    CHECK(trace::shared_out(1, {1, 3}) == std::vector<std::uint64_t>{0, 1});
    CHECK(trace::shared_out(0, {5}) == std::vector<std::uint64_t>{0});
    constexpr std::uint64_t most = UINT64_MAX;
    CHECK(trace::shared_out(most, {most, most, 0}) == std::vector<std::uint64_t>{most / 2 + 1, most / 2, 0});
    base::Rng random{7};
    for (int round = 0; round < 1000; ++round) {
        std::vector<std::uint64_t> proportions(1 + random.below(9));
        for (std::uint64_t& one : proportions) {
            one = random.next() >> random.below(64);
        }
        proportions.front() |= 1;
        const std::uint64_t sum = random.next() >> random.below(64);
        const std::vector<std::uint64_t> shares = trace::shared_out(sum, proportions);
        CHECK(std::accumulate(shares.begin(), shares.end(), std::uint64_t{}) == sum);
    }
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
