// Managed memory that is less than a card has room for, as much, and more.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/device/runtime.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/copy_queue.hpp"
#include "core/probe/device_cases.hpp"

namespace memsweep::probe {
namespace {

using base::Expected;
using device::MemoryKind;

constexpr std::uint64_t room_copies = 4;            // of the probe's copies: what the ballast leaves
constexpr std::uint64_t parts = 8;                  // of the room: what a kernel reads at a time
constexpr std::uint64_t unit_bytes = 4096;          // of every size here
constexpr std::uint64_t least_ballast = 2U << 20U;  // drivers give whole units of so much

std::string_view words_of(ManagedWay way)
{
    switch (way) {
    case ManagedWay::on_demand:
        return "as the kernel reads it";
    case ManagedWay::prefetched:
        return "by the driver, before each part is read";
    case ManagedWay::advised:
        return "not: advised to stay on the host, in reach of the device";
    }
    return {};
}

class Beyond {
  public:
    [[nodiscard]] static Expected<Beyond> make(const DeviceTask& task)
    {
        Beyond made{task};
        const std::uint32_t number = task.ends.first;
        made.stream_ = MEMSWEEP_TRY(device::open_stream(task.runtime, number));
        made.target_ = MEMSWEEP_TRY(
            device::allocate(task.runtime, {.device = number, .kind = MemoryKind::device, .bytes = made.part_bytes_}));
        MEMSWEEP_TRY(made.take_ballast());
        made.managed_ = MEMSWEEP_TRY(device::allocate(
            task.runtime, {.device = number, .kind = MemoryKind::managed, .bytes = made.block_bytes_}));
        if (task.what.way == ManagedWay::advised) {
            MEMSWEEP_TRY(task.runtime.advise(number, made.managed_.id(), device::Advice::stay_on_host));
        }
        return made;
    }

    [[nodiscard]] std::uint64_t bytes() const { return block_bytes_; }
    [[nodiscard]] std::uint64_t ballast_bytes() const { return ballast_bytes_; }
    [[nodiscard]] std::uint64_t room_bytes() const { return room_bytes_; }

    // The device writes all of it, part by part.
    [[nodiscard]] Expected<void> write(std::uint64_t seed)
    {
        MEMSWEEP_TRY(each_part([&](std::uint64_t first, std::uint64_t bytes) {
            return task_.runtime.write_pattern(stream_.id(), managed_.at(first), bytes, pattern(seed, first));
        }));
        return task_.runtime.wait(stream_.id());
    }

    // Seconds that a kernel takes to read all of it once, by the device's clock.
    [[nodiscard]] Expected<double> read()
    {
        return seconds_behind_latch(task_.runtime, stream_, [&] {
            return each_part([&](std::uint64_t first, std::uint64_t bytes) -> Expected<void> {
                if (task_.what.way == ManagedWay::prefetched) {
                    MEMSWEEP_TRY(task_.runtime.prefetch(stream_.id(), managed_.at(first), bytes, device::Side::device));
                }
                return task_.runtime.copy_by_kernel(stream_.id(), target_.at(), managed_.at(first), bytes);
            });
        });
    }

    // Every word, where the device finds it, and that the last part is what was read of it.
    [[nodiscard]] Expected<device::Mismatch> check(std::uint64_t seed)
    {
        device::Mismatch all;
        std::uint64_t last = 0;
        MEMSWEEP_TRY(each_part([&](std::uint64_t first, std::uint64_t bytes) {
            last = first;
            return task_.runtime.check_pattern(stream_.id(), managed_.at(first), bytes, pattern(seed, first))
                .map([&](const device::Mismatch& found) { add(all, found, first); });
        }));
        add(all,
            MEMSWEEP_TRY(
                task_.runtime.check_pattern(stream_.id(), target_.at(), block_bytes_ - last, pattern(seed, last))),
            last);
        return all;
    }

    [[nodiscard]] device::Mismatch check_by_host(std::uint64_t seed) const
    {
        return device::check_pattern({managed_.host(), block_bytes_}, pattern(seed, 0));
    }

  private:
    explicit Beyond(const DeviceTask& task)
        : task_{task}, part_bytes_{std::max(task.bytes * room_copies / parts / unit_bytes * unit_bytes, unit_bytes)},
          block_bytes_{
              std::max(task.bytes * room_copies * task.what.percent / 100 / unit_bytes * unit_bytes, unit_bytes)}
    {
    }

    [[nodiscard]] static device::Pattern pattern(std::uint64_t seed, std::uint64_t first_byte)
    {
        return {.seed = seed, .first_word = first_byte / sizeof(std::uint64_t)};
    }

    static void add(device::Mismatch& all, const device::Mismatch& found, std::uint64_t first_byte)
    {
        all.first_byte = all.words == 0 && found.words != 0 ? first_byte + found.first_byte : all.first_byte;
        all.words += found.words;
    }

    template <typename Work>
    [[nodiscard]] Expected<void> each_part(const Work& work) const
    {
        for (std::uint64_t first = 0; first < block_bytes_; first += part_bytes_) {
            MEMSWEEP_TRY(work(first, std::min(part_bytes_, block_bytes_ - first)));
        }
        return {};
    }

    // Blocks of the device's memory until only the room is left: large ones first, smaller ones where those are
    // refused.
    [[nodiscard]] Expected<void> take_ballast()
    {
        const std::uint32_t number = task_.ends.first;
        const std::uint64_t wanted = task_.bytes * room_copies;
        std::uint64_t most = task_.runtime.devices()[number].largest_block_bytes;
        for (room_bytes_ = MEMSWEEP_TRY(task_.runtime.free_bytes(number));
             room_bytes_ > wanted + least_ballast && most >= least_ballast;
             room_bytes_ = MEMSWEEP_TRY(task_.runtime.free_bytes(number))) {
            const std::uint64_t bytes = std::min(room_bytes_ - wanted, most) / unit_bytes * unit_bytes;
            auto block =
                device::allocate(task_.runtime, {.device = number, .kind = MemoryKind::device, .bytes = bytes});
            if (!block && block.error().code != base::ErrorCode::budget) {
                return base::fail(block.error());
            }
            if (block) {
                ballast_.push_back(*std::move(block));
                ballast_bytes_ += bytes;
            } else {
                most = bytes / 2;
            }
        }
        return {};
    }

    const DeviceTask& task_;
    std::uint64_t part_bytes_, block_bytes_;
    std::uint64_t room_bytes_{}, ballast_bytes_{};
    std::vector<device::Memory> ballast_;
    device::Memory target_, managed_;
    device::Stream stream_;  // behind its memory: closing it waits for its kernels
};

}  // namespace

Expected<void> measure_beyond(const DeviceTask& task, model::CaseReport& report)
{
    auto beyond = MEMSWEEP_TRY(Beyond::make(task));
    std::vector<double> seconds;
    std::vector<double> rates;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const std::uint64_t seed = seconds.size() + 1;
        MEMSWEEP_TRY(beyond.write(seed));
        const double took = MEMSWEEP_TRY(beyond.read());
        auto wrong = MEMSWEEP_TRY(beyond.check(seed));
        if (wrong.words == 0 && seed == task.context.settings.samples) {
            wrong = beyond.check_by_host(seed);
        }
        if (wrong.words != 0) {
            fail_sample(report, seed, device::describe(wrong, beyond.bytes()));
            return {};
        }
        if (took <= 0) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        seconds.push_back(took);
        rates.push_back(static_cast<double>(beyond.bytes()) / took);
    }
    if (!set_samples(report, model::metrics::wall_time, seconds)) {
        return {};
    }
    set_values(report, model::metrics::bandwidth, rates);
    set_fact(report, "array_bytes", beyond.bytes());
    set_fact(report, "bytes_counted", std::string{"payload"});
    set_fact(report, "room_bytes", beyond.room_bytes());
    set_fact(report, "ballast_bytes", beyond.ballast_bytes());
    set_fact(report, "moved", std::string{words_of(task.what.way)});
    set_fact(report, "mover", std::string{"kernel"});
    set_fact(report, "timed_by", std::string{"events of the device, queued behind a latch"});
    set_fact(
        report, "verified",
        fmt::format("{0} of {0} samples, every word, by the device; the last one by the host too", seconds.size()));
    return {};
}

}  // namespace memsweep::probe
