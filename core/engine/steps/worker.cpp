#include "core/engine/steps/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "core/array/streaming.hpp"
#include "core/base/quantity.hpp"
#include "core/base/refusal.hpp"
#include "core/engine/steps/interpreter.hpp"
#include "core/engine/steps/read_region.hpp"
#include "core/model/specs.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/machine_measures.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::engine {
namespace {

// Why the case is more than the device should be asked for; empty: it is not. What other programs hold is for the
// driver to say.
std::string excess(const ProgramTerms& terms, const device::DeviceFacts& facts, std::uint32_t number)
{
    const std::string estimate = base::format_size(static_cast<double>(terms.estimate_bytes));
    if (facts.shares_host_memory) {
        if (terms.memory_budget_bytes == 0 || terms.estimate_bytes <= terms.memory_budget_bytes) {
            return {};
        }
        return fmt::format("would hold up to {} at once, above the budget of {} (--max-memory): the memory of gpu{} is "
                           "the host's",
                           estimate, base::format_size(static_cast<double>(terms.memory_budget_bytes)), number);
    }
    if (facts.memory_bytes == 0 || terms.estimate_bytes <= facts.memory_bytes) {
        return {};
    }
    return fmt::format("would hold up to {} at once; gpu{} has {}", estimate, number,
                       base::format_size(static_cast<double>(facts.memory_bytes)));
}

// What a case needs of the machine's devices, found before anything of the case is made: a device that its scenario
// requires, and the driver that its memory comes from; nullptr: neither is needed. `device`: what the report calls it,
// filled once it is found. Opens the worker's runtime the first time that a case needs one.
//
// Errors   not_supported: there is no such device, or its driver has no memory of this kind; budget: it would hold more
//          than the device has, or than --max-memory where its memory is the host's. The message says which.
base::Expected<device::Runtime*> find_driver(const ProgramTerms& terms, Environment environment, DeviceRecord& device)
{
    const bool from_driver = model::is_from_driver(terms.memory.resource);
    if (!from_driver && terms.required_devices == 0) {
        return nullptr;
    }
    const std::uint32_t number = from_driver ? terms.memory.device : terms.required_devices - 1;
    const std::uint32_t needed = std::max(number + 1, terms.required_devices);
    if (environment.devices == nullptr) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("no device gpu{}: none were looked for", number));
    }
    device::Runtime& runtime = environment.devices->runtime();
    if (runtime.devices().size() < needed) {
        return base::fail(base::ErrorCode::not_supported,
                          runtime.devices().empty() ? fmt::format("no device gpu{}: {}", needed - 1, runtime.absence())
                                                    : fmt::format("no device gpu{}: this machine has {}", needed - 1,
                                                                  runtime.devices().size()));
    }
    const device::DeviceFacts& facts = runtime.devices()[number];
    write_text(fmt::format("gpu{}: {}, {}", number, facts.name, facts.driver), device.name);
    if (!from_driver) {
        return nullptr;
    }
    if (const auto why = runtime.lacks(number, memory::driver_kind(terms.memory.resource))) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("gpu{} has no {} memory: {}", number,
                                                                      model::name_of(terms.memory.resource), *why));
    }
    if (const std::string why = excess(terms, facts, number); !why.empty()) {
        return base::fail(base::ErrorCode::budget, why);
    }
    return &runtime;
}

// Runs the repetition, or says in its region why not: the machine lacks what it needs, or this process has no room for
// further settings. Returns whether it ran.
bool run_here(const RunRegion& region, CaseMemories& memories, Environment environment)
{
    const ProgramTerms& terms = region.header->order.terms;
    DeviceRecord& device = region.header->record.device;
    array::stream_from(region.header->order.streaming);
    const auto driver = find_driver(terms, environment, device);
    if (!driver) {
        write_text(base::describe(driver.error()), device.trouble);
        region.header->state.store(RunState::unmet, std::memory_order_release);
        return false;
    }
    CaseMemory* const memory = memories.find_or_make(terms.memory, terms.release, *driver);
    if (memory == nullptr) {
        region.header->state.store(RunState::too_many_memories, std::memory_order_release);
        return false;
    }
    run_repetition(region, *memory, environment);
    return true;
}

constexpr int protocol_broken = 70;

int broken(const char* what)
{
    std::fprintf(stderr, "memsweep: worker: %s\n", what);
    return protocol_broken;
}

// The next region the driver sends; empty when it has closed the socket.
std::optional<sys::SharedRegion> next_region(sys::Channel& channel, bool& failed)
{
    std::array<char, 16> buffer{};
    auto message = channel.receive(buffer, std::nullopt);
    if (!message || message->closed) {
        failed = !message;
        return std::nullopt;
    }
    auto region = sys::SharedRegion::map(std::move(message->fd));
    failed = !region;
    return region ? std::optional{std::move(*region)} : std::nullopt;
}

// Afterwards, since the allocator may allocate to answer.
void describe_allocator(AllocatorRecord& record)
{
    write_text(sys::serving_library(), record.library);
    const sys::AllocatorStatistics statistics = sys::write_allocator_statistics(record.statistics);
    write_text(statistics.format, record.format);
    record.length = statistics.length;
}

// Measures the kinds of page faults that memory like the case's can meet.
void measure_fault_costs(RunHeader& header, const sys::Clock& clock)
{
    using sys::FaultKind;
    const auto measure = [&clock](FaultKind kind, double& into) {
        if (const auto cost = sys::measure_fault_cost(clock, kind)) {
            into = cost->seconds_per_fault;
        }
    };
    FaultCosts& costs = header.record.fault_costs;
    const model::MemorySpec& memory = header.order.terms.memory;
    measure(FaultKind::small_page, costs.small_page);
    if (model::is_shared(memory.resource)) {
        measure(FaultKind::shared_page, costs.shared_page);
        measure(FaultKind::shared_again, costs.shared_again);
    } else if (memory.pages == model::PageKind::thp || memory.huge_pages_from_bytes != 0) {
        measure(FaultKind::huge_page, costs.huge_page);
    }
}

// Works, and names what the system refused meanwhile; nullptr: nothing.
template <typename Work>
const char* refused_in(const Work& work)
{
    try {
        work();
        return nullptr;
    } catch (const std::exception& problem) {
        const char* const resource = base::refused_resource(problem);
        if (resource == nullptr) {
            throw;
        }
        return resource;
    }
}

void starve(const RunRegion& region, const char* resource)
{
    write_text(resource, region.header->record.starved_of);
    region.header->state.store(RunState::starved, std::memory_order_release);
}

// What the worker adds to a repetition that it has run.
void describe(const RunRegion& region, const sys::Clock& clock)
{
    if (region.header->order.measure_fault_cost) {
        measure_fault_costs(*region.header, clock);
    }
    if (!region.allocator.empty()) {
        describe_allocator(region.allocator.front());
    }
}

void run_and_describe(const RunRegion& region, CaseMemories& memories, Environment environment)
{
    const char* const resource = refused_in([&] {
        if (run_here(region, memories, environment)) {
            describe(region, environment.clock);
        }
    });
    if (resource != nullptr) {
        starve(region, resource);
    }
}

}  // namespace

int worker_main(int channel_fd)
{
    sys::Channel channel{channel_fd};
    std::optional<sys::IdleThread> idle;
    const char* const refused = refused_in([&] { idle.emplace(); });  // without a second thread the cases say so
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    if (!probe) {
        return broken(base::describe(probe.error()).c_str());
    }
    bool failed = false;
    auto gauges_region = next_region(channel, failed);
    if (!gauges_region) {
        return failed ? broken("no gauges region came") : 0;
    }
    if (gauges_region->size() < sizeof(Gauges)) {
        return broken("the gauges region is too small");
    }
    Devices devices;  // outlives the memory of its drivers
    CaseMemories memories{*gauges_region->data<Gauges>()};
    while (auto shared = next_region(channel, failed)) {
        const auto region = parse_run_region(*shared);
        if (!region) {
            return broken(base::describe(region.error()).c_str());
        }
        if (refused != nullptr) {
            starve(*region, refused);
        } else {
            run_and_describe(*region, memories, {clock, *probe, &devices});
        }
        region->header->record.device.driver_is_open = devices.is_open();
        if (!channel.send("d", std::nullopt)) {
            return 0;
        }
    }
    return failed ? broken("the driver's message could not be read") : 0;
}

Attempt InProcessExecutor::run(const CompiledCase& compiled, const RunLimits& limits,
                               const std::function<void(int pid)>& started)
{
    Attempt attempt;
    attempt.pid = ::getpid();
    const auto shared = make_run_region(compiled, limits);
    const auto region = shared ? parse_run_region(*shared) : base::fail(shared.error());
    if (!region) {
        attempt.reason = base::describe(region.error());
        return attempt;
    }
    started(attempt.pid);
    static_cast<void>(run_here(*region, memories_, environment_));
    read_region(*region, attempt);
    return attempt;
}

}  // namespace memsweep::engine
