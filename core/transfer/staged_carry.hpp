// Transfers chunk by chunk through a ring of pinned slots: host to device, device to host, device to device.
//
// Sources  a slot is free once the event behind its last copy has happened. Into a device the processor fills a slot
//          while the copies of others run; out of one the copies of others run while it empties one; between devices
//          the second copy waits for the first on the device, and the processor for neither.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/transfer/carry.hpp"
#include "core/transfer/chunk_size.hpp"

namespace memsweep::transfer {

class StagedCarry final : public Carry {
  public:
    [[nodiscard]] static base::Expected<std::unique_ptr<Carry>>
    make(device::Runtime& runtime, const sys::Clock& clock, const CarryPlan& plan, TransferStatistics& statistics);
    ~StagedCarry() override;
    StagedCarry(const StagedCarry&) = delete;
    StagedCarry& operator=(const StagedCarry&) = delete;

    void begin() override;
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override;
    void settle() noexcept override;

  private:
    struct Slot {
        device::Memory memory;
        device::Event begin, half, end;  // around its copies; half: between two of them
        std::uint64_t offset_bytes{};
        std::uint64_t bytes{};

        void forget()
        {
            begin = device::Event{};
            half = device::Event{};
            end = device::Event{};
        }
    };

    StagedCarry(device::Runtime& runtime, const sys::Clock& clock, const CarryPlan& plan,
                TransferStatistics& statistics);
    [[nodiscard]] base::Expected<bool> retire_oldest();  // false: it is still under way
    [[nodiscard]] base::Expected<void> send(Slot& slot);
    [[nodiscard]] base::Expected<void> queue_copies(Slot& slot);
    [[nodiscard]] base::Expected<device::Event> mark(const device::Stream& stream);
    void copy_by_processor(std::byte* to, const std::byte* from, std::uint64_t bytes);
    void note_link_time(const Slot& slot);
    [[nodiscard]] std::uint64_t next_bytes() const;

    device::Runtime& runtime_;
    const sys::Clock& clock_;
    CarryPlan plan_;
    TransferStatistics& statistics_;
    bool from_device_{}, to_device_{};
    device::Stream out_of_, into_;  // the device read from, the device written to
    std::vector<Slot> slots_;
    std::size_t oldest_{}, under_way_{};
    std::uint64_t sent_bytes_{};
    ChunkSize chunk_;
    std::chrono::nanoseconds began_{}, last_pass_{};
};

}  // namespace memsweep::transfer
