#include <algorithm>
#include <array>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/stack_table.hpp"
#include "core/trace/stack_writer.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::Event;
using trace::EventKind;
using trace::FrameNode;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::string_view text_of(const Bytes& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Of each node its parent, far and near addresses mixed.
std::vector<FrameNode> random_tree(std::uint64_t seed, std::uint32_t count)
{
    base::Rng random{seed};
    std::vector<FrameNode> nodes;
    for (std::uint32_t number = 1; number <= count; ++number) {
        const std::uint64_t address = random.below(5) == 0 ? random.next() : 0x401000 + random.below(1 << 20);
        nodes.push_back({static_cast<std::uint32_t>(random.below(number)), address});
    }
    return nodes;
}

Bytes frames_payload(std::uint32_t image, std::uint32_t first, const std::vector<FrameNode>& nodes)
{
    Bytes bytes(trace::FramesEncoder::max_head_bytes + nodes.size() * trace::FramesEncoder::max_node_bytes + 8);
    trace::FramesEncoder encoder;
    std::uint8_t* at = encoder.head(bytes.data(), image, first);
    for (const FrameNode& node : nodes) {
        at = encoder.node(at, node);
    }
    bytes.resize(static_cast<std::size_t>(at - bytes.data()));
    return bytes;
}

Bytes stacks_payload(std::uint32_t image, std::uint64_t sequence, const std::vector<std::uint32_t>& nodes)
{
    Bytes bytes(trace::StacksEncoder::max_head_bytes + (nodes.size() + 1) * trace::StacksEncoder::max_run_bytes + 8);
    trace::StacksEncoder encoder;
    std::uint8_t* at = encoder.head(bytes.data(), image, sequence);
    for (const std::uint32_t node : nodes) {
        at = encoder.add(at, node);
    }
    at = encoder.finish(at);
    bytes.resize(static_cast<std::size_t>(at - bytes.data()));
    return bytes;
}

Bytes numbers(std::initializer_list<std::uint64_t> values)
{
    Bytes bytes(values.size() * trace::max_varint_bytes);
    std::uint8_t* at = bytes.data();
    for (const std::uint64_t value : values) {
        at = trace::put_varint(at, value);
    }
    bytes.resize(static_cast<std::size_t>(at - bytes.data()));
    return bytes;
}

std::vector<FrameNode> decoded_frames(const Bytes& payload, bool& damaged)
{
    trace::FramesDecoder decoder{payload};
    std::vector<FrameNode> nodes;
    FrameNode node;
    while (decoder.next(node)) {
        nodes.push_back(node);
    }
    damaged = decoder.damaged();
    return nodes;
}

Event called_from(std::uint64_t address, std::uint64_t size, std::uint32_t stack = 0)
{
    return {.kind = EventKind::malloc, .address = address, .size = size, .stack = stack};
}

// Three allocating events of process 0 and one that is none, so that the nodes must skip it.
std::string four_events()
{
    return tests::trace_of(
        {called_from(16, 1), called_from(32, 2), {.kind = EventKind::free, .address = 16}, called_from(48, 3)});
}

std::string with_chunk(std::string file, trace::ChunkKind kind, const Bytes& payload, std::uint32_t process = 0)
{
    REQUIRE(trace::put_chunk(tests::append_to(file), {.kind = kind, .process = process}, text_of(payload)));
    return file;
}

struct Read {
    std::vector<std::uint32_t> stacks;  // of the allocating events
    std::vector<FrameNode> nodes;       // the whole table
    trace::Damage damage;
};

Read read_with_stacks(const std::string& file)
{
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const trace::StackTable& table = reader->read_stacks();
    Read read;
    for (std::uint32_t node = 0; node < table.count(); ++node) {
        read.nodes.push_back(table.node(node));
        CHECK(table.node(node).parent <= (node == 0 ? 0 : node - 1));
    }
    Event event;
    while (reader->next(event)) {
        CHECK(event.stack < table.count());
        if (trace::takes_stack(event.kind, event.address)) {
            read.stacks.push_back(event.stack);
        } else {
            CHECK(event.stack == 0);
        }
    }
    read.damage = reader->damage();
    return read;
}

}  // namespace

TEST_CASE("nodes come back as they were written, whatever their addresses", "[unit]")
{
    const std::vector<FrameNode> nodes = random_tree(7, 5000);
    bool damaged = true;
    const Bytes payload = frames_payload(3, 1, nodes);
    CHECK(decoded_frames(payload, damaged) == nodes);
    CHECK_FALSE(damaged);
    CHECK(trace::FramesDecoder{payload}.image() == 3);
}

TEST_CASE("a parent that does not come first ends the frames", "[unit]")
{
    bool damaged = false;
    CHECK(decoded_frames(numbers({0, 1, /*node 1*/ 1, 0}), damaged).empty());  // itself
    CHECK(damaged);
    CHECK(decoded_frames(numbers({0, 1, /*node 1*/ 0, 4, /*node 2*/ 3, 4}), damaged).size() == 1);  // a later one
    CHECK(damaged);
    CHECK(decoded_frames(numbers({0, 0, 0, 4}), damaged).empty());  // node 0 is no node
    CHECK(damaged);
    CHECK(decoded_frames(numbers({0, UINT64_MAX}), damaged).empty());
    CHECK(damaged);
    CHECK(decoded_frames(numbers({0, UINT32_MAX, 0, 0}), damaged).empty());  // the number after it has no room
    CHECK(damaged);
    CHECK(decoded_frames({}, damaged).empty());
    CHECK(damaged);
}

TEST_CASE("runs of nodes come back one by one, and nothing behind them", "[unit]")
{
    const std::vector<std::uint32_t> nodes{5, 5, 5, 0, 0, 9, 5, UINT32_MAX};
    const Bytes payload = stacks_payload(2, 77, nodes);
    trace::StacksDecoder decoder{payload};
    CHECK(decoder.image() == 2);
    CHECK(decoder.sequence() == 77);
    for (const std::uint32_t node : nodes) {
        CHECK(decoder.has_more());
        CHECK(decoder.next() == node);
    }
    CHECK_FALSE(decoder.has_more());
    CHECK(decoder.next() == 0);
    CHECK_FALSE(decoder.damaged());

    const Bytes empty_run = numbers({0, 0, /*run*/ 0, 4});
    trace::StacksDecoder damaged{empty_run};
    CHECK(damaged.next() == 0);
    CHECK(damaged.damaged());
}

TEST_CASE("a module comes back with its build id and both clocks", "[unit]")
{
    const std::string_view id{"\x00\x01\xFF", 3};
    const trace::LoadedModule module{0x401000, 4096, 0x1000, 64, id, "/usr/lib/libx.so", 11, 22};
    std::array<std::uint8_t, 2 * trace::max_module_bytes + 64> bytes{};
    const std::uint8_t* const end = trace::put_module(trace::put_modules_head(bytes.data(), 4), module);
    trace::ModulesDecoder decoder{{bytes.data(), static_cast<std::size_t>(end - bytes.data())}};
    trace::LoadedModule read;
    CHECK(decoder.image() == 4);
    REQUIRE(decoder.next(read));
    CHECK(read.begin == module.begin);
    CHECK(read.size == module.size);
    CHECK(read.bias == module.bias);
    CHECK(read.file_offset == module.file_offset);
    CHECK(read.build_id == id);
    CHECK(read.path == module.path);
    CHECK(read.first_ticks == 11);
    CHECK(read.gone_ticks == 22);
    CHECK_FALSE(decoder.next(read));
    CHECK_FALSE(decoder.damaged());
}

TEST_CASE("events have the nodes that their writer gave them, over many chunks", "[unit]")
{
    const std::vector<FrameNode> tree = random_tree(3, 40'000);  // more than a chunk of frames holds
    std::string file;
    trace::TraceWriter writer{tests::append_to(file), {}, 4096};
    trace::StackWriter stacks{tests::append_to(file), {}};
    std::vector<std::uint32_t> numbered{0};
    for (const FrameNode& node : tree) {
        numbered.push_back(stacks.node(numbered[node.parent], node.address));
    }
    base::Rng random{5};
    std::vector<std::uint32_t> wanted;
    for (std::uint64_t i = 0; i < 60'000; ++i) {
        Event event = called_from(16 * i + 16, 1);
        if (random.below(4) == 0) {
            event.kind = EventKind::free;
        } else {
            // The first chunks have none, some begin without.
            event.stack = i < 10'000 || random.below(3) == 0 ? 0 : numbered[random.below(numbered.size())];
            wanted.push_back(event.stack);
        }
        writer.add(event);
    }
    REQUIRE(stacks.finish());
    REQUIRE(writer.finish({}));
    const Read read = read_with_stacks(file);
    CHECK(read.stacks == wanted);
    REQUIRE(read.nodes.size() >= numbered.back());
    for (std::size_t i = 0; i < tree.size(); ++i) {
        CHECK(read.nodes[numbered[i + 1]] == FrameNode{numbered[tree[i].parent], tree[i].address});
    }
    CHECK(read.damage.corrupted_chunks == 0);
    CHECK(read.damage.missing_chunks == 0);
    // Who does not ask for stacks reads the same events.
    CHECK(tests::events_of(file).events.size() == 60'000);
    CHECK(tests::events_of(file).damage.corrupted_chunks == 0);
}

TEST_CASE("stacks of a node that the trace lacks, and too many of them, are said and cost no event", "[unit]")
{
    const std::string file =
        with_chunk(four_events(), trace::ChunkKind::frames, frames_payload(0, 1, {{0, 8}, {1, 9}}));
    const auto stacks = [&](const std::vector<std::uint32_t>& nodes) {
        return read_with_stacks(with_chunk(file, trace::ChunkKind::stacks, stacks_payload(0, 0, nodes)));
    };
    CHECK(stacks({2, 1, 2}).stacks == std::vector<std::uint32_t>{2, 1, 2});
    CHECK(stacks({2, 1, 2}).damage.corrupted_chunks == 0);
    CHECK(stacks({2}).stacks == std::vector<std::uint32_t>{2, 0, 0});
    CHECK(stacks({2}).damage.corrupted_chunks == 0);
    CHECK(stacks({2, 3, 1}).stacks == std::vector<std::uint32_t>{2, 0, 1});
    CHECK(stacks({2, 3, 1}).damage.corrupted_chunks == 1);
    CHECK(stacks({2, 1, 1, 1}).stacks == std::vector<std::uint32_t>{2, 1, 1});
    CHECK(stacks({2, 1, 1, 1}).damage.corrupted_chunks == 1);
    // A run of more events than there are in the world.
    const Read huge = read_with_stacks(with_chunk(file, trace::ChunkKind::stacks, numbers({0, 0, UINT64_MAX, 1})));
    CHECK(huge.stacks == std::vector<std::uint32_t>{1, 1, 1});
    CHECK(huge.damage.corrupted_chunks == 1);
    // Those of another chunk, or of an image that has no frames.
    CHECK(read_with_stacks(with_chunk(file, trace::ChunkKind::stacks, stacks_payload(0, 9, {1, 1, 1}))).stacks ==
          std::vector<std::uint32_t>{0, 0, 0});
    CHECK(read_with_stacks(with_chunk(file, trace::ChunkKind::stacks, stacks_payload(1, 0, {1, 1, 1}))).stacks ==
          std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("a chunk of frames that is lost, or asks for too many nodes, takes its own stacks alone", "[unit]")
{
    const std::string gap =
        with_chunk(with_chunk(four_events(), trace::ChunkKind::frames, frames_payload(0, 3, {{2, 8}})),
                   trace::ChunkKind::stacks, stacks_payload(0, 0, {3, 3, 1}));
    const Read read = read_with_stacks(gap);
    CHECK(read.stacks == std::vector<std::uint32_t>{3, 3, 1});
    CHECK(read.nodes[3] == FrameNode{2, 8});
    CHECK(read.nodes[2] == FrameNode{});
    const std::string far =
        with_chunk(four_events(), trace::ChunkKind::frames, frames_payload(0, UINT32_MAX - 1, {{0, 8}}));
    CHECK(read_with_stacks(far).nodes.size() == 1);
    CHECK(read_with_stacks(far).damage.corrupted_chunks == 1);
}

TEST_CASE("images and processes have trees of their own", "[unit]")
{
    std::string file = four_events();
    file = with_chunk(file, trace::ChunkKind::frames, frames_payload(0, 1, {{0, 100}}), 1);
    file = with_chunk(file, trace::ChunkKind::frames, frames_payload(1, 1, {{0, 200}}), 1);
    file = with_chunk(file, trace::ChunkKind::frames, frames_payload(0, 2, {{1, 101}}), 1);
    file = with_chunk(file, trace::ChunkKind::frames, frames_payload(0, 1, {{0, 300}}), 2);
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const trace::StackTable& table = reader->read_stacks();
    const auto address = [&](trace::StackImage image, std::uint32_t node) {
        return table.node(table.find(image, node)).address;
    };
    CHECK(address({1, 0}, 1) == 100);
    CHECK(address({1, 0}, 2) == 101);
    CHECK(address({1, 1}, 1) == 200);
    CHECK(address({2, 0}, 1) == 300);
    CHECK(table.find({2, 0}, 2) == 0);
    CHECK(table.find({3, 0}, 1) == 0);
    CHECK(table.image_of(table.find({1, 1}, 1)) == trace::StackImage{1, 1});
    CHECK(table.image_of(table.find({2, 0}, 1)) == trace::StackImage{2, 0});
    CHECK(table.node(table.find({1, 0}, 2)).parent == table.find({1, 0}, 1));
}

TEST_CASE("names of addresses come back, those inlined innermost first", "[unit]")
{
    std::string file = four_events();
    trace::SymbolsWriter writer{tests::append_to(file), {0, 2}};
    const std::array<trace::SourceFrame, 2> frames{{{"inner", "a.hpp", 3}, {"outer", "a.cpp", 400}}};
    writer.add(0x7F00'0000'1000, "libx.so", frames);
    writer.add(0x40'1000, "libx.so", std::span{frames}.subspan(1));
    writer.add(0x40'2000, "", {});
    REQUIRE(writer.finish());
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const trace::StackTable& table = reader->read_stacks();
    const auto first = table.names({0, 2}, 0x7F00'0000'1000);
    REQUIRE(first);
    CHECK(first->module == "libx.so");
    CHECK(std::ranges::equal(first->frames, frames));
    const auto second = table.names({0, 2}, 0x40'1000);
    REQUIRE(second);
    CHECK(second->module == "libx.so");
    REQUIRE(second->frames.size() == 1);
    CHECK(second->frames[0] == frames[1]);
    REQUIRE(table.names({0, 2}, 0x40'2000));
    CHECK(table.names({0, 2}, 0x40'2000)->module.empty());
    CHECK_FALSE(table.names({0, 2}, 0x40'1001));
    CHECK_FALSE(table.names({0, 0}, 0x40'1000));
}

TEST_CASE("damaged modules and symbols end where they are damaged", "[unit]")
{
    const auto damage_of = [](trace::ChunkKind kind, const Bytes& payload) {
        return read_with_stacks(with_chunk(four_events(), kind, payload)).damage.corrupted_chunks;
    };
    CHECK(damage_of(trace::ChunkKind::modules, numbers({0})) == 0);
    CHECK(damage_of(trace::ChunkKind::modules, numbers({0, 1, 2, 3, 4, 1000})) == 1);  // a build id beyond the end
    CHECK(damage_of(trace::ChunkKind::modules, numbers({0, 1, 2, 3, 4, UINT64_MAX})) == 1);
    CHECK(damage_of(trace::ChunkKind::symbols, numbers({0, 8, 0, 0})) == 0);  // an address without a name
    CHECK(damage_of(trace::ChunkKind::symbols, numbers({0, 8, 2, 0})) == 1);  // a text that was not there
    CHECK(damage_of(trace::ChunkKind::symbols, numbers({0, 8, 0, UINT32_MAX, 0, 0, 0})) == 1);
    CHECK(damage_of(trace::ChunkKind::symbols, numbers({UINT64_MAX})) == 1);
}

TEST_CASE("damaged callers cost no event and are told", "[unit]")
{
    const auto read = [](const Bytes& payload) {
        return read_with_stacks(with_chunk(four_events(), trace::ChunkKind::callers, payload));
    };
    const Read good = read(numbers({0, 0, 2, 100, 100, 2, 1, 1, 2}));  // 50 and 100
    CHECK(good.damage.corrupted_chunks == 0);
    CHECK(good.stacks == std::vector<std::uint32_t>{2, 2, 3});
    CHECK(good.nodes.size() == 4);
    CHECK(read(numbers({0, 0, 1, 100, 2, 0, 1, 1})).stacks == std::vector<std::uint32_t>{0, 0, 2});
    for (const Bytes& damaged : {numbers({0, 0, UINT64_MAX, 2}),          // so many addresses
                                 numbers({0, 0, UINT32_MAX, 2, 1, 1}),    // likewise, and fewer are there
                                 numbers({0, 9, 1, 100, 3, 1}),           // of another chunk
                                 numbers({0, 0, 1, 100, 3, 2}),           // an address that is not there
                                 numbers({0, 0, 1, 100, 3, UINT32_MAX}),  // likewise
                                 numbers({0, 0, 1, 100, 4, 1}),           // for an event that is not there
                                 numbers({0, 0, 1, 100, 0, 1})}) {        // for none
        const Read one = read(damaged);
        CHECK(one.stacks.size() == 3);
        CHECK(one.damage.corrupted_chunks != 0);
    }
    CHECK(read_with_stacks(with_chunk(four_events(), trace::ChunkKind::callers, numbers({0, 0, 1, 100, 3, 1}), 1))
              .stacks == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("whatever stands in the five kinds of chunks, events and the order of nodes hold", "[unit]")
{
    base::Rng random{99};
    const Bytes frames = frames_payload(0, 1, random_tree(1, 40));
    const Bytes stacks = stacks_payload(0, 0, {1, 1, 40});
    const Bytes callers = numbers({0, 0, 2, 100, 100, 2, 1, 1, 2});
    for (int round = 0; round < 1000; ++round) {
        const std::uint64_t number = 5 + random.below(5);
        const auto kind = number == 9 ? trace::ChunkKind::callers : static_cast<trace::ChunkKind>(number);
        Bytes payload = number == 9 ? callers : random.below(2) == 0 ? frames : stacks;
        if (random.below(3) == 0) {
            payload.resize(random.below(60));
            std::ranges::generate(payload, [&] { return static_cast<std::uint8_t>(random.next()); });
        }
        for (std::uint64_t change = random.below(4); change != 0 && !payload.empty(); --change) {
            payload[random.below(payload.size())] = static_cast<std::uint8_t>(random.next());
        }
        std::string file = with_chunk(four_events(), trace::ChunkKind::frames, frames);
        file = with_chunk(file, kind, payload);
        CHECK(read_with_stacks(file).stacks.size() == 3);
    }
}

TEST_CASE("a reader passes over kinds of chunks that it does not know", "[unit]")
{
    std::string file = with_chunk(four_events(), static_cast<trace::ChunkKind>(200), numbers({1, 2, 3}));
    file = with_chunk(file, static_cast<trace::ChunkKind>(9), {});
    const tests::KeptEvents kept = tests::events_of(file);
    CHECK(kept.events.size() == 4);
    CHECK(kept.damage.corrupted_chunks + kept.damage.missing_chunks + kept.damage.skipped_bytes == 0);
}
