#include "core/engine/packed_traces.hpp"

#include <cstring>

#include "core/trace/replay/replay_program.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::engine {

base::Expected<PackedTrace> PackedTraces::find_or_compile(const model::ReplayStep& step)
{
    const Key key{step.trace, step.threads, step.speed};
    if (const auto found = traces_.find(key); found != traces_.end()) {
        return found->second;
    }
    auto reader = trace::TraceReader::open(step.trace);
    if (!reader) {
        return base::fail(reader.error());
    }
    const auto words =
        trace::compile_replay(*reader, {.threads = step.threads, .paced = step.speed == model::ReplaySpeed::original});
    if (!words) {
        return base::fail(words.error());
    }
    auto region = sys::SharedRegion::create(words->size() * sizeof(std::uint64_t), "memsweep-replay");
    if (!region) {
        return base::fail(region.error());
    }
    std::memcpy(region->data<std::byte>(), words->data(), words->size() * sizeof(std::uint64_t));
    return traces_[key] = std::make_shared<const sys::SharedRegion>(*std::move(region));
}

}  // namespace memsweep::engine
