#include "app/commands/site_removal.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/engine/steps/compile_steps.hpp"
#include "core/measure/memory_verdict.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/file_text.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::app {

SiteRemoval::SiteRemoval(RemovalBasis basis, const sys::StopSignals& signals)
    : basis_{std::move(basis)}, workers_{{.worker_command = {"/proc/self/exe", "worker"}}, clock_, signals}
{
}

base::Expected<measure::ReplayedHeap> SiteRemoval::without(std::vector<bool> nodes)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(basis_.trace));
    if (basis_.cut) {
        reader.read_until(*basis_.cut);
    }
    if (!nodes.empty()) {
        static_cast<void>(reader.read_stacks());
    }
    trace::ReplayCompileOptions options;
    options.selection = {.left_out = std::move(nodes),
                         .process = basis_.process,
                         .most_events = basis_.most_events,
                         .is_cut = basis_.cut.has_value() || basis_.most_events != UINT64_MAX};
    const auto words = MEMSWEEP_TRY(trace::compile_replay(reader, options));
    MEMSWEEP_TRY(reader.outcome());
    const trace::ReplayProgram program = MEMSWEEP_TRY(trace::view(words));
    MEMSWEEP_TRY(engine::check_room_to_replay(program.header->totals));
    return engine::replay_heap(
        workers_, {.trace = MEMSWEEP_TRY(engine::packed_trace(words)), .allocator = basis_.allocator, .runs = runs});
}

base::Expected<model::AllocatorSpec> allocator_to_replay(const std::string& served_by,
                                                         const model::Variables& environment)
{
    model::AllocatorSpec spec{.name = {}, .library = {}, .environment = environment};
    const measure::KnownAllocator known = measure::allocator_of_file(served_by);
    if (served_by.empty()) {
        return base::fail(base::ErrorCode::not_supported, "it is not known which allocator served it");
    }
    if (served_by.find(".so") == std::string::npos) {
        return base::fail(base::ErrorCode::not_supported,
                          "its allocator is part of the program, and no other process can be put under it");
    }
    const bool is_path = model::is_library_path(served_by);
    spec.name = is_path && known != measure::KnownAllocator::glibc ? served_by : std::string{measure::name_of(known)};
    if (!is_path && known == measure::KnownAllocator::other) {
        return base::fail(base::ErrorCode::not_supported, "the file of its allocator is not known");
    }
    auto library = sys::find_allocator_library(spec.name);
    if (!library) {
        return base::fail(base::ErrorCode::not_supported, library.error().message, served_by);
    }
    spec.library = *std::move(library);
    return spec;
}

model::Variables allocator_variables_of(int process)
{
    model::Variables found;
    constexpr std::uint64_t most_bytes = 4U << 20U;
    const auto text = sys::read_file(fmt::format("/proc/{}/environ", process), most_bytes);
    std::string_view rest = text ? std::string_view{*text} : std::string_view{};
    while (!rest.empty()) {
        const std::string_view variable = base::take_until(rest, '\0');
        const std::size_t equals = variable.find('=');
        if (equals != std::string_view::npos && variable.substr(0, equals) != "LD_PRELOAD" &&
            model::sets_an_allocator(variable.substr(0, equals))) {
            found.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
        }
    }
    return found;
}

}  // namespace memsweep::app
