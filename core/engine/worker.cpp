#include "core/engine/worker.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include "core/engine/driver_memory.hpp"
#include "core/engine/interpreter.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/channel.hpp"
#include "core/sys/fault_cost.hpp"
#include "core/sys/idle_thread.hpp"

namespace memsweep::engine {
namespace {

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

// Of the kinds that memory like the case's can meet.
void measure_fault_costs(RunHeader& header, const sys::Clock& clock)
{
    using sys::FaultKind;
    const auto measure = [&clock](FaultKind kind, double& into) {
        if (const auto cost = sys::measure_fault_cost(clock, kind)) {
            into = cost->seconds_per_fault;
        }
    };
    FaultCosts& costs = header.record.fault_costs;
    const model::MemorySpec& memory = header.order.memory;
    measure(FaultKind::small_page, costs.small_page);
    if (memory.resource == model::ResourceKind::memfd || memory.resource == model::ResourceKind::shm) {
        measure(FaultKind::shared_page, costs.shared_page);
        measure(FaultKind::shared_again, costs.shared_again);
    } else if (memory.pages == model::PageKind::thp || memory.huge_pages_from_bytes != 0) {
        measure(FaultKind::huge_page, costs.huge_page);
    }
}

void run_region(const RunRegion& region, CaseMemories& memories, Environment environment)
{
    const auto driver = find_driver(region.header->order, environment, region.header->record.device);
    if (!driver) {
        return leave_unmet(region, driver.error());
    }
    CaseMemory* memory = memories.find_or_make(region.header->order.memory, region.header->order.release, *driver);
    if (memory == nullptr) {
        region.header->state.store(RunState::harness_failed, std::memory_order_release);
        return;
    }
    run_repetition(region, *memory, environment);
    if (region.header->order.measure_fault_cost) {
        measure_fault_costs(*region.header, environment.clock);
    }
    if (!region.allocator.empty()) {
        describe_allocator(region.allocator.front());
    }
}

}  // namespace

int worker_main(int channel_fd)
{
    sys::Channel channel{channel_fd};
    const sys::IdleThread idle;
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
        run_region(*region, memories, Environment{clock, *probe, &devices});
        if (!channel.send("d", std::nullopt)) {
            return 0;
        }
    }
    return failed ? broken("the driver's message could not be read") : 0;
}

}  // namespace memsweep::engine
