// What a replay costs beyond its allocator: the dispatch of packed events, and malloc through it beside a loop written
// by hand over the same events. Traces: MEMSWEEP_BENCH_TRACES, a list of .mst files parted by colons; else made here.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/sys/threads.hpp"
#include "core/trace/replay/replayer.hpp"
#include "core/trace/trace_writer.hpp"

namespace {

using namespace memsweep;

constexpr std::size_t made_events = 1'000'000;

// Small blocks, most of them short-lived, as a program's: some thousand live, one free in `foreign` by another thread.
std::string made_trace(std::uint32_t threads, std::uint64_t foreign)
{
    std::string file;
    trace::TraceWriter writer{[&](std::string_view bytes) -> base::Expected<void> {
                                  file += bytes;
                                  return {};
                              },
                              {.ticks_per_second = 1'000'000'000}};
    base::Rng random{1};
    std::vector<std::vector<std::uint64_t>> live(threads);
    std::uint64_t next = 0x10000;
    for (std::size_t i = 0; i < made_events; ++i) {
        const auto thread = static_cast<std::uint32_t>(random.below(threads));
        auto& own = live[thread];
        if (own.size() < 1'000 || (own.size() < 2'000 && random.below(2) == 0)) {
            own.push_back(next += 16);
            writer.add({.kind = trace::EventKind::malloc,
                        .thread = thread,
                        .address = next,
                        .size = 8 + random.below(1ULL << (4 + random.below(6)))});
        } else {
            auto& from = foreign != 0 && random.below(foreign) == 0 ? live[(thread + 1) % threads] : own;
            const std::size_t near_the_end = from.size() - 1 - random.below(std::min<std::size_t>(from.size(), 50));
            writer.add({.kind = trace::EventKind::free, .thread = thread, .address = from[near_the_end]});
            from[near_the_end] = from.back();
            from.pop_back();
        }
    }
    static_cast<void>(writer.finish({}));
    return file;
}

struct Loaded {
    std::string name;
    std::vector<std::uint64_t> words;
};

base::Expected<std::vector<std::uint64_t>> compiled(trace::TraceReader& reader, std::uint32_t threads)
{
    return trace::compile_replay(reader, {.threads = threads});
}

Loaded made(const std::string& name, std::uint32_t threads, std::uint64_t foreign)
{
    const std::string file = made_trace(threads, foreign);
    auto reader = trace::TraceReader::open(
        trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}), "memory");
    return {name, *compiled(*reader, 0)};
}

std::vector<Loaded> given_traces()
{
    std::vector<Loaded> traces;
    const char* const list = std::getenv("MEMSWEEP_BENCH_TRACES");
    std::istringstream paths{list != nullptr ? list : ""};
    for (std::string path; std::getline(paths, path, ':');) {
        if (auto reader = trace::TraceReader::open(path)) {
            if (auto words = compiled(*reader, 1)) {
                traces.push_back({std::filesystem::path{path}.stem(), *std::move(words)});
            }
        }
    }
    return traces;
}

enum class On { nothing, malloc };

// What it takes at least that one thread sees what another did: two threads that wait for each other in turn.
void hand_over(benchmark::State& state)
{
    struct alignas(128) Line {
        std::atomic<std::uint32_t> turns{0};
    };
    constexpr std::uint32_t rounds = 20'000;
    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
    for (auto _ : state) {
        Line here;
        Line there;
        std::thread other{[&] {
            for (std::uint32_t turn = 1; turn <= rounds; ++turn) {
                while (here.turns.load(std::memory_order_acquire) != turn) {
                }
                there.turns.store(turn, std::memory_order_release);
            }
        }};
        const auto began = std::chrono::steady_clock::now();
        for (std::uint32_t turn = 1; turn <= rounds; ++turn) {
            here.turns.store(turn, std::memory_order_release);
            while (there.turns.load(std::memory_order_acquire) != turn) {
            }
        }
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - began;
        other.join();
        best_ns = std::min(best_ns, taken.count());
    }
    state.counters["ns_one_way"] = static_cast<double>(best_ns) / (2.0 * rounds);
}

void replay(benchmark::State& state, const Loaded& loaded, On on)
{
    const sys::IdleThread second;  // C libraries take a short cut while there is only one thread
    trace::Replayer replayer{*trace::view(loaded.words)};
    replayer.prepare();
    std::int64_t thread_ns = 0;
    std::uint64_t events = 0;
    std::uint64_t waits = 0;
    double best = std::numeric_limits<double>::max();
    for (auto _ : state) {
        const trace::ReplayRun run =
            on == On::nothing ? replayer.on_nothing() : replayer.on_malloc(trace::ReplayTouch::none);
        thread_ns += run.thread_ns;
        events += run.events;
        waits += run.waits;
        best = std::min(best, static_cast<double>(run.thread_ns) / static_cast<double>(run.events));
    }
    state.counters["ns_per_event"] = static_cast<double>(thread_ns) / static_cast<double>(events);
    state.counters["best_ns_per_event"] = best;
    state.counters["waits_per_event"] = static_cast<double>(waits) / static_cast<double>(events);
    state.counters["events"] = static_cast<double>(events) / static_cast<double>(state.iterations());
}

// The shortest loop that makes the same calls: an array of addresses, an array of (slot and kind, size).
struct HandCall {
    std::uint32_t slot;
    std::uint32_t size;
};
constexpr unsigned kind_shift = 30;
constexpr std::uint32_t slot_mask = (1U << kind_shift) - 1;
enum HandKind : std::uint32_t { hand_malloc, hand_calloc, hand_free, hand_realloc };

std::vector<HandCall> hand_calls(const trace::ReplayProgram& program, const trace::ReplayThread& thread,
                                 std::span<const std::uint64_t> ops)
{
    std::vector<HandCall> calls;
    const auto add = [&](HandKind kind, std::uint32_t slot, std::uint64_t size) {
        calls.push_back({slot | kind << kind_shift, static_cast<std::uint32_t>(size)});
    };
    for (const std::uint64_t op : ops) {
        const auto slot = static_cast<std::uint32_t>(op) >> 4U;
        const std::uint64_t size = op >> 32U;
        const auto kind = static_cast<trace::ReplayOp>(op & 0xFU);
        if (kind == trace::ReplayOp::allocate || kind == trace::ReplayOp::zeroed) {
            add(kind == trace::ReplayOp::zeroed ? hand_calloc : hand_malloc, slot, size);
        } else if (kind == trace::ReplayOp::release) {
            add(hand_free, slot, size);
        } else if (kind == trace::ReplayOp::resize || kind == trace::ReplayOp::extended) {
            const trace::ExtendedOp& extended = program.extended(thread)[size];
            if (extended.action == trace::ExtendedAction::resize) {
                add(hand_realloc, extended.slot, std::max<std::uint64_t>(extended.size, 1));
            }
        }
    }
    return calls;
}

void make_calls(const std::vector<HandCall>& calls, void** slots)
{
    for (const HandCall& call : calls) {
        void*& slot = slots[call.slot & slot_mask];
        switch (static_cast<HandKind>(call.slot >> kind_shift)) {
        case hand_malloc:
            slot = std::malloc(call.size);
            break;
        case hand_calloc:
            slot = std::calloc(1, call.size);
            break;
        case hand_free:
            std::free(slot);
            break;
        case hand_realloc: {
            void* const resized = std::realloc(slot, call.size);
            slot = resized;
            break;
        }
        }
    }
    benchmark::ClobberMemory();
}

// As in a replay, what a program leaves behind at its end is freed outside the time.
void by_hand(benchmark::State& state, const Loaded& loaded)
{
    const sys::IdleThread second;
    const trace::ReplayProgram program = *trace::view(loaded.words);
    const trace::ReplayThread& thread = program.threads.front();
    const auto ops = program.ops(thread);
    const std::vector<HandCall> body = hand_calls(program, thread, ops.first(thread.body));
    const std::vector<HandCall> rest = hand_calls(program, thread, ops.subspan(thread.body));
    std::vector<void*> slots(thread.slots);
    std::chrono::nanoseconds taken{};
    for (auto _ : state) {
        const auto began = std::chrono::steady_clock::now();
        make_calls(body, slots.data());
        taken += std::chrono::steady_clock::now() - began;
        make_calls(rest, slots.data());
    }
    state.counters["ns_per_event"] = static_cast<double>(taken.count()) /
                                     (static_cast<double>(body.size()) * static_cast<double>(state.iterations()));
}

void add(std::shared_ptr<Loaded> loaded)
{
    const auto name = [&](const char* what) { return fmt::format("replay_{}/{}", what, loaded->name); };
    benchmark::RegisterBenchmark(name("dispatch/null").c_str(), [loaded](benchmark::State& state) {
        replay(state, *loaded, On::nothing);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(name("malloc").c_str(), [loaded](benchmark::State& state) {
        replay(state, *loaded, On::malloc);
    })->Unit(benchmark::kMillisecond);
    if (trace::view(loaded->words)->threads.size() == 1) {
        benchmark::RegisterBenchmark(name("by_hand").c_str(), [loaded](benchmark::State& state) {
            by_hand(state, *loaded);
        })->Unit(benchmark::kMillisecond);
    }
}

const bool registered = [] {
    // The traces are made when the benchmark is asked for, not at every start of the executable.
    benchmark::RegisterBenchmark("replay_dispatch/null", [](benchmark::State& state) {
        replay(state, made("made", 1, 0), On::nothing);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("replay_malloc/made", [](benchmark::State& state) {
        replay(state, made("made", 1, 0), On::malloc);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("replay_by_hand/made", [](benchmark::State& state) {
        by_hand(state, made("made", 1, 0));
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("replay_hand_over/floor", hand_over)->Unit(benchmark::kMillisecond);
    for (const std::uint64_t foreign : {0U, 100U, 10U, 2U}) {
        benchmark::RegisterBenchmark(
            fmt::format("replay_dispatch/null_two_threads/foreign_{}", foreign == 0 ? 0 : 100 / foreign).c_str(),
            [foreign](benchmark::State& state) { replay(state, made("two", 2, foreign), On::nothing); })
            ->Unit(benchmark::kMillisecond);
    }
    for (Loaded& loaded : given_traces()) {
        add(std::make_shared<Loaded>(std::move(loaded)));
    }
    return true;
}();

}  // namespace
