#include "core/engine/worker.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <optional>
#include <thread>

#include "core/engine/interpreter.hpp"
#include "core/sys/channel.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

constexpr int protocol_broken = 70;

class IdleThread {
  public:
    IdleThread() : thread_{[this] { asleep_.wait(true); }} {}
    IdleThread(const IdleThread&) = delete;
    IdleThread& operator=(const IdleThread&) = delete;
    ~IdleThread()
    {
        asleep_.store(false);
        asleep_.notify_one();
        thread_.join();
    }

  private:
    std::atomic<bool> asleep_{true};
    std::thread thread_;
};

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

void run_region(const RunRegion& region, Worlds& worlds, Environment environment)
{
    World* world = worlds.find_or_make(region.header->order.memory, region.header->order.release);
    if (world == nullptr) {
        region.header->state.store(RunState::harness_failed, std::memory_order_release);
        return;
    }
    run_repetition(region, *world, environment);
    if (region.header->order.measure_fault_cost) {
        if (const auto cost = sys::measure_fault_cost(environment.clock)) {
            region.header->record.fault_cost_seconds = cost->seconds_per_fault;
        }
    }
}

}  // namespace

int worker_main(int channel_fd)
{
    sys::Channel channel{channel_fd};
    const IdleThread idle;
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
    Worlds worlds{*gauges_region->data<Gauges>()};
    while (auto shared = next_region(channel, failed)) {
        const auto region = parse_run_region(*shared);
        if (!region) {
            return broken(base::describe(region.error()).c_str());
        }
        run_region(*region, worlds, Environment{clock, *probe});
        if (!channel.send("d", std::nullopt)) {
            return 0;
        }
    }
    return failed ? broken("the driver's message could not be read") : 0;
}

}  // namespace memsweep::engine
