// What a recorder leaves behind in its file, cut off at any point, becomes a trace.
#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "core/base/rng.hpp"
#include "core/trace/format/crc32c.hpp"
#include "core/trace/recording.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace {

using namespace memsweep;

constexpr std::uint32_t own_process = 40;

// A recording of one process, as its file would be: slots first, full chunks behind.
class RecordingBytes {
  public:
    explicit RecordingBytes(std::uint32_t slots, std::uint64_t start_ticks = 1'000, std::uint32_t parent = 1)
        : facts_{.process = own_process, .parent = parent, .slots = slots, .start_ticks = start_ticks}
    {
        bytes_.resize(trace::slots_offset + std::size_t{slots} * trace::slot_bytes);
        facts_.append_at = bytes_.size();
    }

    void slot(std::uint32_t number, std::uint32_t thread, std::uint64_t sequence, const std::string& payload)
    {
        trace::Slot slot{.used = static_cast<std::uint32_t>(payload.size())};
        slot.chunk = header(thread, sequence);
        slot.chunk.flags = trace::chunk_unsealed;
        const std::size_t at = trace::slots_offset + std::size_t{number} * trace::slot_bytes;
        put(at, slot);
        bytes_.replace(at + sizeof slot, payload.size(), payload);
        facts_.slots_used = std::max(facts_.slots_used, number + 1);
    }

    void chunk(std::uint32_t thread, std::uint64_t sequence, const std::string& payload, std::size_t beyond = 0)
    {
        trace::ChunkHeader chunk = header(thread, sequence);
        chunk.stored_bytes = chunk.raw_bytes = static_cast<std::uint32_t>(payload.size());
        chunk.span_bytes = static_cast<std::uint32_t>(sizeof chunk + payload.size() + beyond);
        chunk.payload_crc = trace::crc32c(payload.data(), payload.size());
        chunk.header_crc = trace::checksum(chunk);
        bytes_.append(reinterpret_cast<const char*>(&chunk), sizeof chunk).append(payload).append(beyond, '\0');
    }

    [[nodiscard]] std::string bytes()
    {
        trace::FileHeader file{.start_ticks = facts_.start_ticks, .process = own_process};
        file.header_crc = trace::checksum(file);
        put(0, file);
        trace::ChunkHeader room{.kind = trace::ChunkKind::slots, .process = own_process};
        room.span_bytes = trace::slots_offset + facts_.slots * trace::slot_bytes -
                          static_cast<std::uint32_t>(sizeof(trace::FileHeader));
        room.header_crc = trace::checksum(room);
        put(sizeof file, room);
        put(trace::facts_offset, facts_);
        return bytes_;
    }

  private:
    [[nodiscard]] trace::ChunkHeader header(std::uint32_t thread, std::uint64_t sequence) const
    {
        const std::uint64_t ticks = facts_.start_ticks + 100 * sequence;
        return {
            .process = own_process, .thread = thread, .sequence = sequence, .first_ticks = ticks, .last_ticks = ticks};
    }
    void put(std::size_t at, const auto& structure)
    {
        bytes_.replace(at, sizeof structure, reinterpret_cast<const char*>(&structure), sizeof structure);
    }

    trace::ImageFacts facts_;
    std::string bytes_;
};

// Allocations of 16 bytes at different places.
std::string mallocs(int count, std::uint64_t from)
{
    std::string payload(static_cast<std::size_t>(count) * trace::max_event_bytes, '\0');
    auto* const begin = reinterpret_cast<std::uint8_t*>(payload.data());
    std::uint8_t* at = begin;
    trace::EventEncoder encoder{4, 0};
    for (int i = 0; i < count; ++i) {
        at = encoder.malloc(at, from + 16U * static_cast<unsigned>(i), 16);
    }
    payload.resize(static_cast<std::size_t>(at - begin));
    return payload;
}

struct Assembled {
    trace::RecordingSummary summary;
    tests::KeptEvents events;
};

Assembled assembled(const std::vector<std::string>& files, bool runs = false)
{
    std::vector<trace::RecordedImage> images;
    for (const std::string& file : files) {
        auto image = trace::find_image([&] { return tests::read_from(file); }, "memory");
        REQUIRE(image);
        REQUIRE(image->has_value());
        images.push_back(**std::move(image));
    }
    std::string out;
    const auto summary = trace::assemble(std::move(images), {2'000'000, 1'000'000}, [&](std::uint32_t) { return runs; },
                                         tests::append_to(out), {});
    REQUIRE(summary);
    return {*summary, tests::events_of(out)};
}

std::size_t count(const Assembled& trace, trace::EventKind kind)
{
    return static_cast<std::size_t>(std::ranges::count(trace.events.events, kind, &trace::Event::kind));
}

}  // namespace

TEST_CASE("numbers written at once are the varints that the loop writes", "[unit]")
{
    for (unsigned bits = 0; bits < 64; ++bits) {
        for (const std::uint64_t value : {1ULL << bits, (1ULL << bits) - 1, (1ULL << bits) + 12345}) {
            std::array<std::uint8_t, trace::max_varint_bytes> by_loop{};
            std::array<std::uint8_t, trace::max_varint_bytes> at_once{};
            const auto length = trace::put_varint(by_loop.data(), value) - by_loop.data();
            REQUIRE(trace::put_varint_at_once(at_once.data(), value) - at_once.data() == length);
            REQUIRE(std::equal(by_loop.begin(), by_loop.begin() + length, at_once.begin()));
        }
    }
}

#if defined(__x86_64__)
#define MEMSWEEP_VARINTS trace::PlainVarints, trace::DepositedVarints
#else
#define MEMSWEEP_VARINTS trace::PlainVarints
#endif

template <typename Varints>
bool are_here()
{
#if defined(__x86_64__)
    if (std::is_same_v<Varints, trace::DepositedVarints> && !trace::DepositedVarints::are_fast()) {
        WARN("not tested: this processor has no fast pdep and lzcnt");
        return false;
    }
#endif
    return true;
}

TEMPLATE_TEST_CASE("numbers in short forms are the varints that the loop writes", "[unit]", MEMSWEEP_VARINTS)
{
    if (!are_here<TestType>()) {
        return;
    }
    std::array<std::uint8_t, trace::max_varint_bytes> by_loop{};
    std::array<std::uint8_t, 8> shortly{};
    for (unsigned bits = 0; bits <= trace::word_varint_bits; ++bits) {
        for (const std::uint32_t value : {(1U << bits) - 1, (1U << bits) / 3, 1U << (bits == 0 ? 0 : bits - 1)}) {
            const auto length = static_cast<unsigned>(trace::put_varint(by_loop.data(), value) - by_loop.data());
            REQUIRE(TestType::put_word(shortly.data(), value) == length);
            REQUIRE(std::equal(by_loop.begin(), by_loop.begin() + length, shortly.begin()));
            if (value >> trace::half_varint_bits == 0) {
                REQUIRE(TestType::put_half(shortly.data(), value) == length);
                REQUIRE(std::equal(by_loop.begin(), by_loop.begin() + length, shortly.begin()));
            }
        }
    }
}

TEMPLATE_TEST_CASE("the short form of an event is its long one, or none", "[unit]", MEMSWEEP_VARINTS)
{
    if (!are_here<TestType>()) {
        return;
    }
    constexpr unsigned rotation = 4;
    trace::EventEncoder by_short{rotation, 0};
    trace::EventEncoder by_long{rotation, 0};
    std::array<std::uint8_t, trace::max_event_bytes> shortly{};
    std::array<std::uint8_t, trace::max_event_bytes> at_length{};
    std::uint64_t address = 0x10000;
    std::size_t long_ones = 0;
    base::Rng random{1};
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t old_address = address;
        address = random.below(2) == 0 ? address + (random.below(2) == 0 ? 16U : 0U)
                                       : random.below(1ULL << (4 + random.below(44)));
        const std::uint64_t size = random.below(1ULL << random.below(20));
        unsigned length = 0;
        const auto* const before = at_length.data();
        const std::uint8_t* end = nullptr;
        switch (random.below(4)) {
        case 0:
            length = by_short.short_malloc<TestType, rotation>(shortly.data(), address, size);
            end = by_long.malloc(at_length.data(), address, size);
            break;
        case 1:
            length = by_short.short_free<TestType, rotation>(shortly.data(), address);
            end = by_long.free(at_length.data(), address);
            break;
        case 2:
            length = by_short.short_calloc<TestType, rotation>(shortly.data(), address, size);
            end = by_long.sized(at_length.data(), trace::OtherOperation::calloc, address, size);
            break;
        default:
            length = by_short.short_realloc<TestType, rotation>(shortly.data(), old_address, address, size);
            end = by_long.realloc(at_length.data(), old_address, address, size);
            address = old_address;
        }
        if (length == 0) {
            ++long_ones;
            by_short = by_long;
            continue;
        }
        REQUIRE(length == end - before);
        REQUIRE(std::equal(before, end, shortly.data()));
    }
    CHECK(long_ones > 1'000);
    CHECK(long_ones < 15'000);
}

TEST_CASE("the checksum is the same by table and by instruction, however long the bytes", "[unit]")
{
    base::Rng random{2};
    std::string bytes(20'000, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random.below(256));
    }
    for (const std::size_t length :
         std::initializer_list<std::size_t>{0, 1, 7, 8, 63, 1'024, 3'071, 3'072, 3'080, 6'143, 6'145, 9'999, 20'000}) {
        REQUIRE(trace::crc32c(bytes.data(), length) == trace::crc32c_by_table(bytes.data(), length));
    }
}

TEST_CASE("a chunk may span more than its payload, and the file end in what it spans", "[unit]")
{
    RecordingBytes recording{1};
    recording.chunk(own_process, 0, mallocs(100, 0x10000), 4'096);
    recording.chunk(own_process, 1, mallocs(10, 0x20000), 9);
    std::string bytes = recording.bytes();
    CHECK(count(assembled({bytes}), trace::EventKind::malloc) == 110);
    bytes.resize(bytes.size() - 9);
    const Assembled trace = assembled({bytes});
    CHECK(count(trace, trace::EventKind::malloc) == 110);
    CHECK(trace.summary.damaged_chunks == 0);
    CHECK(trace.events.damage.skipped_bytes == 0);
}

TEST_CASE("chunks and slots of a recording are a stream per thread, with its end", "[unit]")
{
    RecordingBytes recording{2};
    recording.slot(0, own_process, 2, mallocs(5, 0x30000));
    recording.slot(1, 41, 0, mallocs(7, 0x40000));
    recording.chunk(own_process, 0, mallocs(100, 0x10000));
    recording.chunk(own_process, 1, mallocs(10, 0x20000));
    const Assembled trace = assembled({recording.bytes()});
    CHECK(trace.summary.damaged_chunks == 0);
    CHECK(count(trace, trace::EventKind::malloc) == 122);
    CHECK(count(trace, trace::EventKind::thread_exit) == 1);
    CHECK(trace.events.events.back().kind == trace::EventKind::process_exit);
    CHECK(trace.summary.events == 124);
    CHECK(trace.events.damage.missing_chunks == 0);
}

TEST_CASE("chunks sealed while their process runs make the same trace", "[unit]")
{
    RecordingBytes recording{2};
    recording.chunk(own_process, 0, mallocs(1'000, 0x10000));
    recording.chunk(41, 0, mallocs(7, 0x40000));
    const std::string early = recording.bytes();
    recording.chunk(own_process, 1, mallocs(10, 0x20000));
    recording.slot(0, own_process, 2, mallocs(5, 0x30000));
    const std::string late = recording.bytes();
    const auto made = [&](const trace::SealedAhead& ahead) {
        auto image = trace::find_image([&] { return tests::read_from(late); }, "memory");
        std::string out;
        REQUIRE(trace::assemble(
            {**std::move(image)}, {2'000'000, 1'000'000}, [](std::uint32_t) { return false; }, tests::append_to(out),
            {}, ahead));
        return out;
    };
    trace::SealedAhead ahead;
    std::size_t grown = 0;
    for (std::size_t bytes = 0; bytes <= early.size(); bytes += 97) {  // as a recorder writes
        const std::string so_far = early.substr(0, bytes);
        grown += ahead.go_on([&] { return tests::read_from(so_far); }, "memory", {}) ? 1U : 0U;
    }
    CHECK(grown >= 1);
    const std::uint64_t first = trace::slots_offset + 2 * trace::slot_bytes;
    REQUIRE(ahead.find("memory", first) != nullptr);
    CHECK(ahead.find("memory", first)->chunk.header.events == 1'000);
    CHECK(ahead.find("other", first) == nullptr);
    CHECK(made(ahead) == made(trace::SealedAhead{}));
    trace::SealedAhead small{1};
    CHECK(small.go_on([&] { return tests::read_from(early); }, "memory", {}));
    CHECK(small.is_full());
    CHECK_FALSE(small.go_on([&] { return tests::read_from(late); }, "memory", {}));
    CHECK(made(small) == made(ahead));
}

TEST_CASE("a chunk that was flushed when its process died is still in its slot, and counts once", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 0, mallocs(5, 0x30000));
    recording.chunk(own_process, 0, mallocs(5, 0x30000));
    std::string bytes = recording.bytes();
    CHECK(count(assembled({bytes}), trace::EventKind::malloc) == 5);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);  // half written: then the slot has it
    const Assembled trace = assembled({bytes});
    CHECK(count(trace, trace::EventKind::malloc) == 5);
    CHECK(trace.summary.damaged_chunks == 1);
}

TEST_CASE("a recording that ends anywhere gives what stands before", "[unit]")
{
    RecordingBytes recording{1};
    recording.slot(0, own_process, 2, mallocs(5, 0x30000));
    recording.chunk(own_process, 0, mallocs(100, 0x10000));
    recording.chunk(own_process, 1, mallocs(10, 0x20000));
    const std::string whole = recording.bytes();
    for (std::size_t bytes = whole.size(); bytes > trace::slots_offset + trace::slot_bytes; --bytes) {
        const Assembled trace = assembled({whole.substr(0, bytes)});
        REQUIRE(count(trace, trace::EventKind::malloc) >= 5);
        REQUIRE(trace.events.damage.corrupted_chunks == 0);
    }
    const std::string cut = whole.substr(0, 100);
    CHECK_FALSE(trace::find_image([&] { return tests::read_from(cut); }, "memory"));
}

TEST_CASE("a process that wrote no header recorded nothing; what cannot be read is another matter", "[unit]")
{
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{trace::slots_offset}}) {
        const std::string blank(bytes, '\0');
        const auto image = trace::find_image([&] { return tests::read_from(blank); }, "memory");
        REQUIRE(image);
        CHECK_FALSE(image->has_value());
    }
    const auto closed = []() -> base::Expected<trace::ReadAt> {
        return base::fail(base::ErrorCode::io, "no descriptor");
    };
    CHECK(trace::find_image(closed, "memory").error().message == "no descriptor");
}

TEST_CASE("a later image under the same number is another program, or another process", "[unit]")
{
    RecordingBytes first{1};
    first.slot(0, own_process, 0, mallocs(5, 0x30000));
    RecordingBytes second{1, 5'000};
    second.slot(0, own_process, 0, mallocs(6, 0x30000));
    const Assembled executed = assembled({second.bytes(), first.bytes()});
    CHECK(count(executed, trace::EventKind::exec) == 1);
    CHECK(count(executed, trace::EventKind::process_exit) == 1);
    CHECK(executed.summary.processes == 1);
    RecordingBytes stranger{1, 5'000, 2};
    stranger.slot(0, own_process, 0, mallocs(6, 0x30000));
    CHECK(count(assembled({stranger.bytes(), first.bytes()}), trace::EventKind::process_exit) == 2);
    const Assembled running = assembled({first.bytes()}, true);
    CHECK(count(running, trace::EventKind::process_exit) == 0);
    CHECK(running.summary.still_running == 1);
}
