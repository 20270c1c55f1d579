// What reading logs and traces costs, and fitting them.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/trace/fit.hpp"
#include "core/trace/import/import.hpp"

namespace {

using namespace memsweep;

// Rows of RMM's log: some thousand live blocks, sizes over ten powers of two.
std::string rmm_log(std::size_t rows)
{
    base::Rng random{1};
    std::string text = "Thread,Time,Action,Pointer,Size,Stream\n";
    std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
    std::uint64_t next = 0x7F1400000000;
    for (std::size_t i = 0; i < rows; ++i) {
        const bool allocates = live.size() < 100 || (live.size() < 5'000 && random.below(2) == 0);
        const std::size_t at = allocates ? live.size() : random.below(live.size());
        if (allocates) {
            live.emplace_back(next += 256, 1 + random.below(1ULL << (8 + random.below(10))));
        }
        text += fmt::format("23110,22:30:{:02}.{:06},{},0x{:x},{},0x0\n", i / 1'000'000 % 60, i % 1'000'000,
                            allocates ? "allocate" : "free", live[at].first, live[at].second);
        if (!allocates) {
            live[at] = live.back();
            live.pop_back();
        }
    }
    return text;
}

std::string imported(const std::string& log, const trace::ImportFormat& format)
{
    std::string file;
    trace::TraceWriter writer{[&](std::string_view bytes) -> base::Expected<void> {
                                  file += bytes;
                                  return {};
                              },
                              {.ticks_per_second = format.ticks_per_second}};
    trace::ImportSink sink{writer};
    trace::LogText text{trace::log_from_memory(log)};
    static_cast<void>(format.import(text, sink, {}));
    static_cast<void>(writer.finish({}));
    return file;
}

trace::TraceReader reader_of(const std::string& file)
{
    return *trace::TraceReader::open(
        trace::read_from_memory({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}), "memory");
}

void import_rmm(benchmark::State& state)
{
    const std::string log = rmm_log(500'000);
    for (auto _ : state) {
        benchmark::DoNotOptimize(imported(log, trace::import_formats()[0]));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
    state.SetItemsProcessed(state.iterations() * 500'000);
}
BENCHMARK(import_rmm)->Name("trace_import/rmm")->Unit(benchmark::kMillisecond);

void read_events(benchmark::State& state)
{
    const std::string file = imported(rmm_log(500'000), trace::import_formats()[0]);
    trace::TraceReader reader = reader_of(file);
    for (auto _ : state) {
        reader.rewind();
        trace::Event event;
        while (reader.next(event)) {
            benchmark::DoNotOptimize(event.address);
        }
    }
    state.SetItemsProcessed(state.iterations() * 500'000);
}
BENCHMARK(read_events)->Name("trace_read/one_stream")->Unit(benchmark::kMillisecond);

void fit_policy(benchmark::State& state, const trace::PlacementPolicy& policy)
{
    const std::string file = imported(rmm_log(static_cast<std::size_t>(state.range(0))), trace::import_formats()[0]);
    trace::TraceReader reader = reader_of(file);
    const trace::PlacementOps ops = trace::placement_ops(reader);
    for (auto _ : state) {
        benchmark::DoNotOptimize(trace::fit(ops, policy, {}).capacity);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

const bool registered = [] {
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        benchmark::RegisterBenchmark(fmt::format("fit/{}", policy.name).c_str(),
                                     [&policy](benchmark::State& state) { fit_policy(state, policy); })
            ->Arg(12'700)
            ->Unit(benchmark::kMillisecond);
    }
    return true;
}();

}  // namespace
