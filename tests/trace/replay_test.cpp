#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>

#include "core/base/rng.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/counters.hpp"
#include "core/sys/clock.hpp"
#include "core/trace/replay/replayer.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::Event;
using trace::EventKind;

namespace {

std::vector<std::uint64_t> compiled(const std::vector<Event>& events, const trace::ReplayCompileOptions& options = {})
{
    const std::string file = tests::trace_of(events, {.ticks_per_second = 1'000'000'000});
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    auto words = trace::compile_replay(*reader, options);
    REQUIRE(words);
    return *std::move(words);
}

trace::ReplayProgram program_of(const std::vector<std::uint64_t>& words)
{
    const auto program = trace::view(words);
    REQUIRE(program);
    return *program;
}

// Checks every block it is given back against what it gave: a place, a size, an alignment.
class StrictResource final : public memory::MemoryResource {
  public:
    memory::Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        const auto made = malloc_.allocate(bytes + sizeof(Label), std::max<std::size_t>(alignment, 16));
        if (made.ptr != nullptr) {
            const Label label{bytes, alignment};
            std::memcpy(static_cast<std::byte*>(made.ptr) + bytes, &label, sizeof label);
            live_bytes += bytes;
            ++allocations;
        }
        return made;
    }
    memory::Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        ++zeroed;
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        Label label;
        std::memcpy(&label, static_cast<std::byte*>(ptr) + bytes, sizeof label);
        wrong += label.bytes == bytes && label.alignment == alignment ? 0 : 1;
        live_bytes -= bytes;
        malloc_.deallocate(ptr, bytes + sizeof(Label), std::max<std::size_t>(alignment, 16));
    }

    std::atomic<std::uint64_t> live_bytes{0}, allocations{0}, zeroed{0}, wrong{0};

  private:
    struct Label {
        std::size_t bytes{};
        std::size_t alignment{};
    };
    memory::MallocResource malloc_;
};

// Gives a hundred blocks, and frees at its end what was not given back.
class Refusing final : public memory::MemoryResource {
  public:
    ~Refusing() override
    {
        for (void* const block : held_) {
            std::free(block);
        }
    }
    memory::Allocation allocate(std::size_t bytes, std::size_t /*alignment*/) noexcept override
    {
        const std::lock_guard lock{mutex_};
        if (left_ == 0) {
            return {};
        }
        --left_;
        void* const block = std::malloc(bytes + 1);
        held_.insert(block);
        return {block, memory::AllocStatus::ok};
    }
    memory::Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept override
    {
        const std::lock_guard lock{mutex_};
        held_.erase(ptr);
        std::free(ptr);
    }

  private:
    std::mutex mutex_;
    std::set<void*> held_;
    int left_{100};
};

struct ReplayHabits {
    std::uint32_t threads{1};
    std::size_t events{20'000};
    std::size_t live{200};
    bool large{};
};

// Every thread allocates, resizes and frees, its own blocks and those of others; some go through several hands.
std::vector<Event> busy_program(const ReplayHabits& habits, std::uint64_t seed)
{
    base::Rng random{seed};
    std::vector<Event> events;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
    std::uint64_t next = 0x10000;
    for (std::uint32_t thread = 1; thread < habits.threads; ++thread) {
        events.push_back({.kind = EventKind::thread_start, .other = thread});
    }
    while (events.size() < habits.events) {
        const auto thread = static_cast<std::uint32_t>(random.below(habits.threads));
        const std::uint64_t size = random.below(habits.large && random.below(50) == 0 ? 200'000 : 600);
        const std::uint64_t what = random.below(10);
        const std::size_t at = live.empty() ? 0 : random.below(live.size());
        if (live.size() < habits.live / 2 || (live.size() < habits.live && what < 5)) {
            Event event{.kind = what == 0 ? EventKind::calloc : EventKind::malloc, .thread = thread};
            if (what == 1) {
                event.kind = EventKind::aligned_alloc;
                event.alignment = 256;
            }
            event.address = next += 0x100000;
            event.size = size;
            live.emplace_back(event.address, size);
            events.push_back(event);
        } else if (what < 7) {
            events.push_back({.kind = EventKind::realloc,
                              .thread = thread,
                              .address = next += 0x100000,
                              .old_address = live[at].first,
                              .size = size});
            live[at] = {next, size};
        } else if (what == 7 && live.size() > 2) {
            const std::size_t other = (at + 1) % live.size();
            events.push_back({.kind = EventKind::copy,
                              .thread = thread,
                              .address = live[at].first,
                              .old_address = live[other].first,
                              .size = std::min(live[at].second, live[other].second)});
        } else {
            events.push_back({.kind = EventKind::free, .thread = thread, .address = live[at].first});
            live[at] = live.back();
            live.pop_back();
        }
    }
    return events;
}

}  // namespace

TEST_CASE("a replay asks for what was recorded and gives all of it back", "[unit]")
{
    const std::uint32_t threads = GENERATE(1U, 2U, 5U);
    const std::uint64_t seed = GENERATE(1U, 2U, 3U);
    CAPTURE(threads, seed);
    const auto events = busy_program({.threads = threads, .large = true}, seed);
    const trace::Totals recorded = tests::summary_of(tests::trace_of(events)).totals;
    const auto words = compiled(events);
    const trace::ReplayProgram program = program_of(words);
    CHECK(program.threads.size() == threads);
    CHECK(program.header->totals.allocations == recorded.allocations);
    CHECK(program.header->totals.frees == recorded.frees);
    CHECK(program.header->totals.peak_live_bytes == recorded.peak_live_bytes);
    CHECK(program.header->totals.end_live_bytes == recorded.end_live_bytes);
    CHECK((program.header->totals.handed_over > 0) == (threads > 1));

    trace::Replayer replayer{program};
    const trace::ReplayRun nothing = replayer.prepare();
    StrictResource strict;
    for (std::uint64_t round = 1; round <= 3; ++round) {
        const trace::ReplayRun run = replayer.on(strict, trace::ReplayTouch::all);
        CHECK(!run.refused);
        CHECK(run.events == program.header->totals.events);
        CHECK(run.events == nothing.events);
        CHECK(strict.live_bytes == 0);
        CHECK(strict.wrong == 0);
        CHECK(strict.allocations == round * recorded.allocations);
    }
    CHECK(!replayer.on_malloc(trace::ReplayTouch::first_byte).refused);
}

TEST_CASE("a replay on one thread meets the recorded peak exactly", "[unit]")
{
    const auto events = busy_program({.threads = 3}, 7);
    const trace::Totals recorded = tests::summary_of(tests::trace_of(events)).totals;
    const auto words = compiled(events, {.threads = 1});
    trace::Replayer replayer{program_of(words)};
    memory::MallocResource malloc_resource;
    memory::Counters counters;
    memory::CountingAdaptor counting{malloc_resource, counters};
    replayer.prepare();
    CHECK(!replayer.on(counting, trace::ReplayTouch::none).refused);
    CHECK(counters.live_bytes_peak() >= recorded.peak_live_bytes);  // a resize holds both blocks while it copies
    CHECK(counters.live_bytes_peak() <= recorded.peak_live_bytes + 600);
    CHECK(counters.live_bytes() == 0);
}

TEST_CASE("a replay goes through handles and their release discipline", "[unit]")
{
    const std::uint32_t threads = GENERATE(1U, 3U);
    const auto events = busy_program({.threads = threads}, 11);
    const auto words = compiled(events);
    trace::Replayer replayer{program_of(words)};
    memory::MallocResource malloc_resource;
    memory::Counters counters;
    memory::CountingAdaptor counting{malloc_resource, counters};
    model::ReleaseSpec release;
    release.mode = GENERATE(model::ReleaseMode::refcount, model::ReleaseMode::finalizer);
    release.collect_every = 500;
    {
        lifetime::Heap heap{counting, release};
        replayer.prepare(true);
        CHECK(!replayer.on(heap, false, trace::ReplayTouch::first_byte).refused);
        heap.collect();
        heap.drain();
    }
    CHECK(counters.live_bytes() == 0);
    CHECK(counters.allocations() == replayer.totals().allocations);
}

TEST_CASE("a replay frees what a process left, and what a lost free hid", "[unit]")
{
    const std::vector<Event> events{
        {.kind = EventKind::malloc, .process = 1, .thread = 1, .address = 0x100, .size = 10},
        {.kind = EventKind::malloc, .process = 1, .thread = 1, .address = 0x100, .size = 20},
        {.kind = EventKind::fork, .process = 1, .thread = 1, .other = 2},
        {.kind = EventKind::malloc, .process = 2, .thread = 2, .address = 0x100, .size = 40},
        {.kind = EventKind::process_exit, .process = 2, .thread = 2},
        {.kind = EventKind::free, .process = 1, .thread = 1, .address = 0x900},
    };
    const auto words = compiled(events);
    const auto program = program_of(words);
    CHECK(program.threads.size() == 2);
    CHECK(program.header->totals.left_out == 1);
    CHECK(program.header->totals.end_live_bytes == 20);
    CHECK(program.header->totals.peak_live_bytes == 60);
    trace::Replayer replayer{program};
    StrictResource strict;
    CHECK(!replayer.on(strict, trace::ReplayTouch::all).refused);
    CHECK(strict.live_bytes == 0);
    CHECK(strict.allocations == 3);
}

namespace {

// Threads of a program that are kept apart by what the trace does not tell: each way of it, with many small blocks.
class Apart {
  public:
    static constexpr std::uint64_t blocks = 1500;
    static constexpr std::uint64_t bytes = 4000;

    std::vector<Event> events;

    void start(std::uint32_t thread) { add({.kind = EventKind::thread_start, .thread = thread, .other = thread}); }
    void exit(std::uint32_t thread) { add({.kind = EventKind::thread_exit, .thread = thread}); }
    void allocate(std::uint32_t thread, std::uint64_t count = blocks)
    {
        for (std::uint64_t i = 0; i < count; ++i) {
            live_.push_back(next_ += 0x10000);
            add({.kind = EventKind::malloc, .thread = thread, .address = next_, .size = bytes});
        }
    }
    void free(std::uint32_t thread, std::uint64_t left = 0)
    {
        for (; live_.size() > left; live_.pop_back()) {
            add({.kind = EventKind::free, .thread = thread, .address = live_.back()});
        }
    }

  private:
    void add(const Event& event)
    {
        events.push_back(event);
        events.back().process = 1;
        events.back().ticks = events.size();
    }

    std::vector<std::uint64_t> live_;
    std::uint64_t next_{0x10000};
};

std::vector<Event> kept_apart_by(const std::string& what)
{
    constexpr std::uint32_t threads = 8;
    Apart program;
    program.allocate(1, 1);
    program.free(1);
    if (what == "join") {
        for (std::uint32_t thread = 2; thread < 2 + threads; ++thread) {
            program.start(thread);
            program.allocate(thread);
            program.free(thread);
            program.exit(thread);
        }
        return program.events;
    }
    for (std::uint32_t thread = 2; thread < 2 + threads; ++thread) {
        program.start(thread);
    }
    for (std::uint64_t round = 0; round < 4; ++round) {
        for (std::uint32_t thread = 2; thread < 2 + threads; ++thread) {
            if (what == "mutex") {
                program.allocate(thread);
                program.free(thread);
            } else if (what == "queue") {  // what one has made is freed by the next
                program.allocate(thread);
                program.free(thread == 9 ? 2 : thread + 1);
            } else if (what == "phases") {  // all make a little, then one after the other gives it back
                program.allocate(thread, Apart::blocks / threads);
            } else if (what == "survivors") {
                program.allocate(thread, Apart::blocks / 2);
                program.free(thread, (round * threads + thread) * 10);
            }
        }
        if (what == "phases") {
            program.free(static_cast<std::uint32_t>(2 + round));
        }
    }
    return program.events;
}

std::size_t tasks()
{
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
}

}  // namespace

TEST_CASE("threads that were kept apart are so in a replay, as far as it matters for what is live", "[unit]")
{
    const std::string what = GENERATE("join", "mutex", "queue", "phases", "survivors");
    CAPTURE(what);
    const auto events = kept_apart_by(what);
    const trace::Totals recorded = tests::summary_of(tests::trace_of(events)).totals;
    const auto words = compiled(events);
    trace::Replayer replayer{program_of(words)};
    const std::uint64_t step = std::max<std::uint64_t>(64U << 10U, recorded.peak_live_bytes / 64);
    CHECK(replayer.totals().peak_live_bytes == recorded.peak_live_bytes);
    CHECK(replayer.totals().peak_live_bound <= recorded.peak_live_bytes + step);
    replayer.prepare();
    for (int round = 0; round < 3; ++round) {
        memory::MallocResource malloc_resource;
        memory::Counters counters;
        memory::CountingAdaptor counting{malloc_resource, counters};
        std::uint64_t at_end = 0;
        const auto look = [&] { at_end = counters.live_bytes(); };
        CHECK(!replayer.on(counting, trace::ReplayTouch::none, {.times = nullptr, .at_end = look}).refused);
        CHECK(counters.live_bytes_peak() <= replayer.totals().peak_live_bound);
        CHECK(at_end == recorded.end_live_bytes);
        CHECK(counters.live_bytes() == 0);
    }
}

TEST_CASE("a replay of dealt threads keeps the recorded order too", "[unit]")
{
    const auto words = compiled(kept_apart_by("mutex"), {.threads = 3});
    trace::Replayer replayer{program_of(words)};
    memory::MallocResource malloc_resource;
    memory::Counters counters;
    memory::CountingAdaptor counting{malloc_resource, counters};
    CHECK(!replayer.on(counting, trace::ReplayTouch::none).refused);
    CHECK(counters.live_bytes_peak() <= replayer.totals().peak_live_bound);
}

TEST_CASE("a replayed thread ends where the recorded one did", "[unit]")
{
    enum class Exit { before_others, behind_all, with_process };
    const auto exit = GENERATE(Exit::before_others, Exit::behind_all, Exit::with_process);
    constexpr std::uint64_t end_ticks = 1'000'000;
    Apart program;
    program.allocate(1, 2);
    for (std::uint32_t thread = 2; thread < 6; ++thread) {
        program.start(thread);
        program.allocate(thread);
        if (exit != Exit::with_process) {
            program.exit(thread);
        }
    }
    if (exit == Exit::before_others) {
        program.allocate(1, 1);
    }
    if (exit == Exit::with_process) {
        for (std::uint32_t thread = 2; thread < 6; ++thread) {
            program.exit(thread);
            program.events.back().ticks = end_ticks - 1;
        }
    }
    program.events.push_back({.kind = EventKind::process_exit, .process = 1, .thread = 1, .ticks = end_ticks});
    const auto words = compiled(program.events);
    trace::Replayer replayer{program_of(words)};
    const std::size_t before = tasks();
    std::size_t at_end = 0;
    static_cast<void>(
        replayer.on_malloc(trace::ReplayTouch::none, {.times = nullptr, .at_end = [&] { at_end = tasks(); }}));
    CHECK(at_end == before + (exit == Exit::with_process ? 4 : 0));
    CHECK(replayer.totals().end_live_bytes ==
          (4 * Apart::blocks + (exit == Exit::before_others ? 3 : 2)) * Apart::bytes);
}

TEST_CASE("a replayed thread is there until the step that it ended in, though it has nothing to do", "[unit]")
{
    Apart program;
    for (std::uint32_t thread = 2; thread < 6; ++thread) {
        program.start(thread);
        program.allocate(thread);
        program.free(thread);
    }
    for (std::uint32_t thread = 2; thread < 6; ++thread) {
        program.exit(thread);
    }
    const auto words = compiled(program.events);
    const auto compiled_program = program_of(words);
    std::vector<std::uint64_t> last_steps;
    for (const auto& thread : compiled_program.threads) {
        std::uint64_t last = 0;
        for (std::uint64_t i = 0; i < thread.extended; ++i) {
            const auto& op = compiled_program.extended(thread)[i];
            last = op.action == trace::ExtendedAction::enter ? std::max(last, op.size) : last;
        }
        last_steps.push_back(last);
    }
    CHECK(last_steps.back() != 0);
    CHECK(std::ranges::count(last_steps, last_steps.back()) >= 4);
}

TEST_CASE("a thread that is said to end twice holds nobody up", "[unit]")
{
    Apart program;
    program.allocate(1);
    program.start(2);
    program.allocate(2);
    program.exit(2);
    program.start(3);
    program.allocate(3);
    program.free(3);
    program.exit(2);
    program.allocate(3);
    program.exit(3);
    const auto words = compiled(program.events);
    trace::Replayer replayer{program_of(words)};
    CHECK(replayer.on_malloc(trace::ReplayTouch::first_byte).events == replayer.totals().events);
}

TEST_CASE("a replay has more threads than any machine, one after the other, and numbers that are used again", "[unit]")
{
    Apart program;
    program.allocate(1, 1);
    for (std::uint32_t request = 0; request < 2000; ++request) {
        program.start(2 + request % 3);
        program.allocate(2 + request % 3, 20);
        program.free(2 + request % 3);
        program.exit(2 + request % 3);
    }
    const auto words = compiled(program.events);
    CHECK(program_of(words).threads.size() == 2001);
    trace::Replayer replayer{program_of(words)};
    CHECK(replayer.on_malloc(trace::ReplayTouch::first_byte).events == replayer.totals().events);
}

TEST_CASE("a trace of one thread has no steps", "[unit]")
{
    const auto words = compiled(busy_program({}, 3));
    const auto program = program_of(words);
    CHECK(program.steps.size() == 1);
    for (std::uint64_t i = 0; i < program.threads.front().extended; ++i) {
        const auto action = program.extended(program.threads.front())[i].action;
        CHECK((action != trace::ExtendedAction::enter && action != trace::ExtendedAction::leave));
    }
}

TEST_CASE("waiting for a recorded time is no part of any time", "[unit]")
{
    Apart program;
    program.allocate(1, 4);
    for (Event& event : program.events) {
        event.ticks *= 20'000'000;  // nanoseconds: 60 ms from the first to the last
    }
    const auto words = compiled(program.events, {.threads = 0, .paced = true});
    trace::Replayer replayer{program_of(words)};
    const sys::SystemClock clock;
    const auto before = clock.now();
    const trace::ReplayRun dispatch = replayer.prepare();
    const auto between = clock.now();
    const trace::ReplayRun run = replayer.on_malloc(trace::ReplayTouch::none);
    const auto after = clock.now();
    CHECK((after - between).count() >= 60'000'000);
    CHECK(run.thread_ns < (after - between).count() - 50'000'000);
    CHECK(dispatch.thread_ns <= (between - before).count());
}

TEST_CASE("a refusal stops every thread of a replay", "[unit]")
{
    const auto words = compiled(busy_program({.threads = 3}, 5));
    trace::Replayer replayer{program_of(words)};
    Refusing refusing;
    CHECK(replayer.on(refusing, trace::ReplayTouch::none).refused);
}

TEST_CASE("every timed call is counted, by the size of its block", "[unit]")
{
    const auto events = busy_program({}, 3);
    const auto words = compiled(events);
    trace::Replayer replayer{program_of(words)};
    auto times = std::make_unique<trace::CallTimeCounts>();
    replayer.on_malloc(trace::ReplayTouch::none, {.times = times.get(), .at_end = {}});
    std::uint64_t allocations = 0;
    for (const auto& steps : times->counts[0]) {
        for (const std::uint32_t count : steps) {
            allocations += count;
        }
    }
    CHECK(allocations == replayer.totals().allocations);
    CHECK(times->counts[0][trace::CallTimeCounts::size_class(600)] ==
          times->counts[0][trace::CallTimeCounts::size_class(1023)]);
    for (std::size_t step = 1; step < 100; ++step) {
        CHECK(trace::CallTimeCounts::step_of(trace::CallTimeCounts::ticks_of(step)) == step);
    }
}

TEST_CASE("words of another build are no replay", "[unit]")
{
    auto words = compiled(busy_program({}, 3));
    words[0] ^= 1;
    CHECK(!trace::view(words));
    words[0] ^= 1;
    CHECK(!trace::view(std::span{words}.first(words.size() / 2)));
    CHECK(!trace::view({}));
}
