#include <map>

#include "core/base/rng.hpp"
#include "core/trace/format/crc32c.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::Event;

namespace {

// One thread of a recorded program: chunks of a few hundred events.
class RecordedThread {
  public:
    RecordedThread(std::uint32_t thread, std::string& file, std::uint32_t events_per_stamp)
        : thread_{thread}, events_per_stamp_{events_per_stamp}, file_{&file}, payload_(1 << 16)
    {
        begin(0);
    }

    void add(bool is_free, std::uint64_t address, std::uint64_t size, std::uint64_t now)
    {
        if (at_ == payload_.data()) {
            begin(now);
        }
        if (count_ % events_per_stamp_ == 0) {
            at_ = encoder_.stamp(at_, now);
        }
        at_ = is_free ? encoder_.free(at_, address) : encoder_.malloc(at_, address, size);
        now_ = now;
        if (++count_ == 300) {
            end();
        }
    }

    void end()
    {
        trace::ChunkHeader header{
            .thread = thread_, .sequence = sequence_++, .first_ticks = first_, .last_ticks = now_};
        header.events = count_;
        REQUIRE(trace::put_chunk(
            tests::append_to(*file_), header,
            {reinterpret_cast<const char*>(payload_.data()), static_cast<std::size_t>(at_ - payload_.data())}));
        at_ = payload_.data();
        count_ = 0;
    }

  private:
    void begin(std::uint64_t now)
    {
        at_ = payload_.data();
        first_ = now;
        count_ = 0;
        encoder_ = trace::EventEncoder{4, now};
    }

    std::uint32_t thread_;
    std::uint32_t events_per_stamp_;
    std::string* file_;
    std::vector<std::uint8_t> payload_;
    std::uint8_t* at_{};
    trace::EventEncoder encoder_;
    std::uint64_t first_{};
    std::uint64_t now_{};
    std::uint64_t sequence_{};
    std::uint32_t count_{};
};

// A chunk of one thread whose events were encoded by hand.
template <typename Encode>
void put_thread(std::string& file, std::uint32_t thread, Encode encode)
{
    std::vector<std::uint8_t> payload(4096);
    trace::EventEncoder encoder{4, 0};
    const std::uint8_t* const end = encode(encoder, payload.data());
    trace::ChunkHeader header{.thread = thread, .last_ticks = encoder.last_ticks()};
    REQUIRE(trace::put_chunk(
        tests::append_to(file), header,
        {reinterpret_cast<const char*>(payload.data()), static_cast<std::size_t>(end - payload.data())}));
}

struct Program {
    std::string file;
    std::uint64_t peak_bytes{};
    std::uint64_t allocations{};
    std::uint64_t frees{};
};

struct Habits {
    std::uint32_t threads{};
    std::uint32_t events_per_stamp{};
    std::size_t live_blocks{};
    std::uint64_t foreign{};  // one free in so many is of another thread's block
};

// Threads that free each other's blocks, and use freed addresses again at once, as thread caches make them.
Program random_program(std::uint64_t seed, const Habits& habits)
{
    const std::uint32_t threads = habits.threads;
    Program program;
    REQUIRE(trace::put_header(tests::append_to(program.file), {.ticks_per_second = 1}));
    base::Rng random{seed};
    std::vector<RecordedThread> recorded;
    for (std::uint32_t i = 0; i < threads; ++i) {
        recorded.emplace_back(i, program.file, habits.events_per_stamp);
    }
    std::vector<std::vector<std::uint64_t>> live(threads);
    std::vector<std::vector<std::uint64_t>> freed(threads);  // as thread caches keep them
    std::uint64_t bytes = 0;
    std::uint64_t fresh = 0x1000;
    for (std::uint64_t now = 1; now <= 20'000; ++now) {
        const std::uint64_t turn = random.below(threads);
        RecordedThread& thread = recorded[turn];
        std::vector<std::uint64_t>& cache = freed[turn];
        std::vector<std::uint64_t>& blocks = live[random.below(habits.foreign) == 0 ? random.below(threads) : turn];
        if (blocks.size() < habits.live_blocks / 2 || (blocks.size() < habits.live_blocks && random.below(2) == 0)) {
            const bool reuse = !cache.empty() && random.below(4) != 0;
            const std::uint64_t address = reuse ? cache.back() : fresh;
            reuse ? cache.pop_back() : void(fresh += 16);
            blocks.push_back(address);
            program.peak_bytes = std::max(program.peak_bytes, ++bytes);
            ++program.allocations;
            thread.add(false, address, 1, now);
        } else {
            const std::size_t at = random.below(blocks.size());
            thread.add(true, blocks[at], 0, now);
            cache.push_back(blocks[at]);
            blocks[at] = blocks.back();
            blocks.pop_back();
            --bytes;
            ++program.frees;
        }
    }
    for (RecordedThread& thread : recorded) {
        thread.end();
    }
    return program;
}

}  // namespace

TEST_CASE("where every event is stamped, several threads come in the order in which it happened", "[unit]")
{
    const auto seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3);
    const std::uint32_t threads = GENERATE(2U, 5U);
    const Program program = random_program(seed, {threads, 1, 20, 2});
    const trace::Totals totals = tests::summary_of(program.file).totals;
    CHECK(totals.allocations == program.allocations);
    CHECK(totals.frees == program.frees);
    CHECK(totals.unknown_frees == 0);
    CHECK(totals.duplicate_allocations == 0);
    CHECK(totals.threads == threads);
    CHECK(totals.peak_live_bytes == program.peak_bytes);
}

TEST_CASE("with a stamp per 64 events, blocks of other threads are still found", "[unit]")
{
    const auto seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3);
    const std::uint32_t threads = GENERATE(2U, 5U);
    const Program program = random_program(seed, {threads, trace::events_per_stamp, 2'000, 20});
    const trace::Totals totals = tests::summary_of(program.file).totals;
    CHECK(totals.allocations == program.allocations);
    CHECK(totals.frees + totals.unknown_frees == program.frees);
    CHECK(totals.unknown_frees * 200 <= program.frees);
    CHECK(totals.peak_live_bytes + std::uint64_t{64} * threads >= program.peak_bytes);
    CHECK(totals.peak_live_bytes <= program.peak_bytes + std::uint64_t{64} * threads);
}

TEST_CASE("frees of what was never recorded hold nobody up", "[unit]")
{
    std::string file;
    REQUIRE(trace::put_header(tests::append_to(file), {}));
    RecordedThread a{1, file, trace::events_per_stamp};
    RecordedThread b{2, file, trace::events_per_stamp};
    for (std::uint64_t i = 0; i < 3'000; ++i) {
        a.add(true, 0x900000 + i * 16, 0, i * 2 + 1);
        b.add(false, 0x1000 + i * 16, 8, i * 2 + 2);
    }
    a.end();
    b.end();
    const tests::KeptEvents kept = tests::events_of(file);
    REQUIRE(kept.events.size() == 6'000);
    std::map<std::uint32_t, std::uint64_t> seen;
    for (const Event& event : kept.events) {
        ++seen[event.thread];
        const std::uint64_t apart = seen[1] > seen[2] ? seen[1] - seen[2] : seen[2] - seen[1];
        REQUIRE(apart <= std::uint64_t{2} * trace::events_per_stamp);
    }
}

TEST_CASE("a trace can be read again from its first event", "[unit]")
{
    const Program program = random_program(9, {3, 64, 100, 3});
    auto reader = trace::TraceReader::open(tests::read_from(program.file), "memory");
    REQUIRE(reader);
    const trace::Totals first = trace::summarize(*reader).totals;
    reader->rewind();
    const trace::Totals second = trace::summarize(*reader).totals;
    CHECK(first.events == second.events);
    CHECK(first.peak_live_bytes == second.peak_live_bytes);
}

TEST_CASE("a realloc comes before what other threads did with the address that it gave back", "[unit]")
{
    constexpr std::uint64_t contested = 0x1000;
    constexpr std::uint64_t moved = 0x2000;
    std::string file;
    REQUIRE(trace::put_header(tests::append_to(file), {}));
    put_thread(file, 1, [&](trace::EventEncoder& encoder, std::uint8_t* at) {
        at = encoder.malloc(encoder.stamp(at, 10), contested, 16);
        return encoder.realloc(encoder.stamp(at, 50), contested, moved, 64);
    });
    put_thread(file, 2, [&](trace::EventEncoder& encoder, std::uint8_t* at) {
        at = encoder.malloc(encoder.stamp(at, 40), contested, 16);
        at = encoder.free(encoder.stamp(at, 45), contested);
        return encoder.malloc(encoder.stamp(at, 47), contested + 64, 16);
    });
    const trace::TraceSummary summary = tests::summary_of(file);
    CHECK(summary.totals.duplicate_allocations == 0);
    CHECK(summary.totals.unknown_frees == 0);
    CHECK(summary.totals.peak_live_bytes == 80);
    CHECK(tests::events_of(file).events[1].kind == trace::EventKind::realloc);
}
