#include <cstring>
#include <sstream>

#include "core/base/rng.hpp"
#include "core/trace/format/crc32c.hpp"
#include "core/trace/format/varint.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::Event;
using trace::EventKind;

namespace {

// What an event of this kind carries, at random; addresses mostly aligned, near and far.
Event random_event(base::Rng& random, EventKind kind, std::uint64_t ticks)
{
    const auto address = [&] {
        const std::uint64_t any = random.next();
        return random.below(8) == 0 ? any : 0x7F0000000000ULL + (any >> 40U) * 16;
    };
    Event event{.kind = kind,
                .process = static_cast<std::uint32_t>(random.below(3)),
                .thread = static_cast<std::uint32_t>(random.below(3)),
                .space = static_cast<std::uint32_t>(random.below(2)),
                .stream = random.below(2) * 0x7F8A0000ULL,
                .ticks = ticks};
    const bool has_address = kind <= EventKind::free_requested || (kind >= EventKind::map && kind <= EventKind::move);
    event.address = has_address ? address() : 0;
    const bool has_size =
        has_address && kind != EventKind::free && kind != EventKind::free_requested && kind != EventKind::external_end;
    event.size = has_size || kind == EventKind::failed_alloc ? random.next() >> random.below(64) : 0;
    event.alignment = kind == EventKind::aligned_alloc ? 1ULL << random.below(64) : 0;
    if (kind == EventKind::realloc || kind == EventKind::copy || kind == EventKind::move) {
        event.old_address = address();
    }
    event.source_space = kind == EventKind::copy || kind == EventKind::move ? 7 : 0;
    event.other = kind == EventKind::thread_start || kind == EventKind::fork || kind == EventKind::define_space ? 9 : 0;
    if (kind == EventKind::label || kind == EventKind::define_space) {
        event.text = "a name";
    }
    return event;
}

std::vector<Event> random_events(std::uint64_t seed, std::size_t count)
{
    base::Rng random{seed};
    std::vector<Event> events;
    std::uint64_t ticks = 1000;
    for (std::size_t i = 0; i < count; ++i) {
        ticks += random.below(3);
        events.push_back(random_event(random, static_cast<EventKind>(random.below(trace::event_kinds)), ticks));
    }
    return events;
}

std::string shown(const Event& event)
{
    std::ostringstream text;
    text << name_of(event.kind) << " p" << event.process << " t" << event.thread << " s" << event.space << " q"
         << event.stream << " @" << event.address << " old " << event.old_address << " size " << event.size << " align "
         << event.alignment << " ticks " << event.ticks << " from " << event.source_space << " other " << event.other;
    return text.str();
}

// The header and payload of the first chunk that a fresh recorder would have written.
std::string raw_chunk(trace::ChunkHeader header, const std::vector<std::uint8_t>& payload, std::uint32_t room)
{
    header.span_bytes = static_cast<std::uint32_t>(sizeof header) + room;
    if ((header.flags & trace::chunk_unsealed) == 0) {
        header.stored_bytes = header.raw_bytes = static_cast<std::uint32_t>(payload.size());
        header.payload_crc = trace::crc32c(payload.data(), payload.size());
    }
    header.header_crc = trace::checksum(header);
    std::string bytes{reinterpret_cast<const char*>(&header), sizeof header};
    bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    bytes.resize(sizeof header + room, '\0');
    return bytes;
}

std::string raw_header()
{
    std::string file;
    REQUIRE(trace::put_header(tests::append_to(file), {}));
    return file;
}

}  // namespace

TEST_CASE("numbers survive as varints, and cut or too long ones are none", "[unit]")
{
    base::Rng random{7};
    for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t value = random.next() >> random.below(64);
        std::array<std::uint8_t, trace::max_varint_bytes> bytes{};
        const std::uint8_t* const end = trace::put_varint(bytes.data(), value);
        std::uint64_t read{};
        REQUIRE(trace::get_varint(bytes.data(), end, read) == end);
        REQUIRE(read == value);
        REQUIRE(trace::get_varint(bytes.data(), end - 1, read) == nullptr);
        REQUIRE(trace::unzigzag(trace::zigzag(value)) == value);
    }
    const std::array<std::uint8_t, 10> too_long{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
    std::uint64_t read{};
    CHECK(trace::get_varint(too_long.data(), too_long.data() + too_long.size(), read) == nullptr);
}

TEST_CASE("the checksum is CRC-32C, by instruction and by table", "[unit]")
{
    CHECK(trace::crc32c("123456789", 9) == 0xE3069283U);  // the check value of RFC 3720's polynomial
    base::Rng random{11};
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += static_cast<char>(random.next());
        REQUIRE(trace::crc32c(text.data(), text.size()) == trace::crc32c_by_table(text.data(), text.size()));
    }
}

TEST_CASE("every kind of event is read as it was written, over many chunks", "[unit]")
{
    const std::uint64_t seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3);
    const std::vector<Event> events = random_events(seed, 50'000);
    const std::string file = tests::trace_of(events, {.ticks_per_second = 1'000'000'000, .start_ticks = 1000});
    const tests::KeptEvents kept = tests::events_of(file);
    REQUIRE(kept.events.size() == events.size());
    CHECK(kept.damage.corrupted_chunks == 0);
    for (std::size_t i = 0; i < events.size(); ++i) {
        REQUIRE(shown(kept.events[i]) == shown(events[i]));
        REQUIRE(kept.texts[i] == events[i].text);
    }
}

TEST_CASE("facts are found, and bad files refused", "[unit]")
{
    const std::string file = tests::trace_of({}, {}, {{"source", "rmm"}, {"bad_lines", "3"}});
    CHECK(tests::summary_of(file).facts.at("source") == "rmm");
    CHECK(tests::summary_of(file).bad_lines == 3);
    for (const std::string& bad : {std::string{}, std::string{"Thread,Time"}, file.substr(0, 40), "x" + file}) {
        const auto reader = trace::TraceReader::open(tests::read_from(bad), "bad.mst");
        REQUIRE_FALSE(reader);
        CHECK(reader.error().where == "bad.mst");
        CHECK(reader.error().code == base::ErrorCode::invalid_input);
    }
    std::string later = file;
    auto* header = reinterpret_cast<trace::FileHeader*>(later.data());
    header->version = 2;
    header->header_crc = trace::checksum(*header);
    const auto reader = trace::TraceReader::open(tests::read_from(later), "later.mst");
    REQUIRE_FALSE(reader);
    CHECK(reader.error().message.find("version 2") != std::string::npos);
}

TEST_CASE("a trace cut anywhere gives a prefix of its events", "[unit]")
{
    const std::vector<Event> events = random_events(4, 60'000);
    const std::string file = tests::trace_of(events);
    std::size_t last = 0;
    for (std::size_t bytes = 64; bytes < file.size(); bytes += file.size() / 50) {
        const tests::KeptEvents kept = tests::events_of(file.substr(0, bytes));
        REQUIRE(kept.events.size() >= last);
        REQUIRE(kept.damage.corrupted_chunks == 0);
        last = kept.events.size();
        for (std::size_t i = 0; i < last; i += 997) {
            REQUIRE(shown(kept.events[i]) == shown(events[i]));
        }
    }
    CHECK(last > 0);
    CHECK(last < events.size());
    CHECK(tests::events_of(file.substr(0, file.size() * 2 / 3)).damage.truncated);
}

TEST_CASE("a damaged byte costs its chunk, is counted, and leaves the rest", "[unit]")
{
    const std::vector<Event> events = random_events(5, 60'000);
    const std::string file = tests::trace_of(events);
    const auto whole = trace::TraceFile::open(tests::read_from(file), "memory");
    const auto& chunks = whole->event_chunks();
    REQUIRE(chunks.size() >= 3);
    const trace::ChunkPlace& second = chunks[1];
    for (const std::uint64_t at : {second.offset + 3, second.offset + 40, second.offset + 64, second.offset + 500}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        const tests::KeptEvents kept = tests::events_of(damaged);
        CHECK(kept.events.size() == events.size() - second.header.events);
        CHECK(kept.damage.corrupted_chunks == 1);
        CHECK(shown(kept.events.back()) == shown(events.back()));
    }
}

TEST_CASE("damage anywhere is survived", "[unit]")
{
    const std::string file = tests::trace_of(random_events(6, 3'000));
    base::Rng random{99};
    for (int i = 0; i < 2'000; ++i) {
        std::string damaged = file;
        for (std::uint64_t n = random.below(4) + 1; n > 0; --n) {
            damaged[random.below(damaged.size())] = static_cast<char>(random.next());
        }
        auto reader = trace::TraceReader::open(tests::read_from(damaged), "memory");
        Event event;
        std::size_t count = 0;
        while (reader && reader->next(event)) {
            ++count;
        }
        CHECK(count <= 3'000);
    }
}

TEST_CASE("what a recorder leaves unsealed is read up to its last event", "[unit]")
{
    std::vector<std::uint8_t> payload(1000);
    trace::EventEncoder encoder{4, 100};
    std::uint8_t* at = payload.data();
    for (std::uint64_t i = 0; i < 50; ++i) {
        at = encoder.malloc(at, 0x1000 + i * 64, 48);
    }
    at = encoder.stamp(at, 250);
    at = encoder.free(at, 0x1000);
    const std::string sealed = raw_chunk({.process = 5, .thread = 6}, {payload.data(), at}, 2000);
    const std::string open = raw_chunk(
        {.flags = trace::chunk_unsealed, .process = 5, .thread = 6, .sequence = 1, .first_ticks = 100}, payload, 3000);
    const std::string file = raw_header() + sealed + open.substr(0, open.size() - 900);  // killed before it had grown
    const tests::KeptEvents kept = tests::events_of(file);
    REQUIRE(kept.events.size() == 102);
    CHECK(kept.damage.corrupted_chunks == 0);
    CHECK(kept.events.back().kind == EventKind::free);
    CHECK(kept.events.back().ticks == 250);
    CHECK(kept.events.back().thread == 6);
}

TEST_CASE("a missing chunk of a stream shows", "[unit]")
{
    std::vector<std::uint8_t> payload(64);
    trace::EventEncoder encoder{4, 0};
    const std::vector<std::uint8_t> one{payload.data(), encoder.malloc(payload.data(), 0x1000, 8)};
    const std::string file = raw_header() + raw_chunk({.thread = 1, .sequence = 0}, one, 100) +
                             raw_chunk({.thread = 1, .sequence = 3}, one, 100);
    CHECK(tests::events_of(file).damage.missing_chunks == 2);
}
