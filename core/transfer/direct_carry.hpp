// Transfers that go straight from end to end: by one or several copies of a runtime, or of a processor.
#pragma once

#include <cstddef>

#include "core/transfer/carry.hpp"

namespace memsweep::transfer {

class DirectCarry final : public Carry {
  public:
    [[nodiscard]] static base::Expected<std::unique_ptr<Carry>>
    make(device::Runtime& runtime, const sys::Clock& clock, const CarryPlan& plan, TransferStatistics& statistics);
    void begin() override;
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override;
    void settle() noexcept override;

  private:
    DirectCarry(device::Runtime& runtime, const sys::Clock& clock, const CarryPlan& plan,
                TransferStatistics& statistics)
        : runtime_{runtime}, clock_{clock}, plan_{plan}, statistics_{statistics}
    {
    }
    [[nodiscard]] base::Expected<void> lock_host_end();
    [[nodiscard]] base::Expected<void> unlock_host_end();
    [[nodiscard]] base::Expected<void> move(std::uint64_t offset_bytes, std::uint64_t bytes);
    void gather();

    device::Runtime& runtime_;
    const sys::Clock& clock_;
    CarryPlan plan_;
    TransferStatistics& statistics_;
    device::Stream stream_;
    device::Memory gathered_;
    device::Memory locked_;  // the host's end, while it is known to the driver
    device::Event end_;
    std::uint64_t asked_bytes_{};
};

// By the processor that calls: copies, writes (from null) or reads (to null).
class HostCarry final : public Carry {
  public:
    HostCarry(const CarryPlan& plan, TransferStatistics& statistics) : plan_{plan}, statistics_{statistics} {}
    void begin() override { moved_bytes_ = 0; }
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override { return {}; }
    void settle() noexcept override {}

  private:
    CarryPlan plan_;
    TransferStatistics& statistics_;
    std::uint64_t moved_bytes_{};
    std::uint64_t sum_{};
};

// What a write from nowhere writes.
inline constexpr std::byte written_from_null{0x5A};

}  // namespace memsweep::transfer
