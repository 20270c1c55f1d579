#include "core/transfer/kernel_chain.hpp"

#include <fmt/format.h>

#include "core/device/pattern.hpp"
#include "core/transfer/route.hpp"

namespace memsweep::transfer {

using base::Expected;

Expected<KernelChain> KernelChain::make(device::Runtime& runtime, const sys::Clock& clock,
                                        const model::TransferJob& job, const model::TransferOptions& options)
{
    if (std::string missing = missing_device(runtime, job.spec); !missing.empty()) {
        return base::fail(base::ErrorCode::not_supported, std::move(missing));
    }
    auto buffer = UnifiedBuffer::make(runtime, job.spec.dst.number.value_or(0), job.bytes, job.spec.src.host);
    if (!buffer) {
        return base::fail(buffer.error());
    }
    KernelChain chain{runtime, clock, job, options, *std::move(buffer)};
    const auto began = clock.now();
    // Both sides, so that no turn pays for memory.
    const auto ready = chain.buffer_.ask(BufferRequest::synchronize);
    chain.statistics_.memory_ns = (clock.now() - began).count();
    if (!ready) {
        return base::fail(ready.error());
    }
    return chain;
}

Expected<void> KernelChain::run_kernels()
{
    const auto ask = [this](BufferRequest request) { return buffer_.ask(request); };
    auto done = ask(BufferRequest::write_host);
    for (std::uint64_t kernel = 1; done && kernel <= options_.chain; ++kernel) {
        done =
            ask(BufferRequest::ensure_device)
                .and_then([&] { return ask(BufferRequest::write_device); })
                .and_then([&] {
                    return runtime_->write_pattern(buffer_.stream(), buffer_.on_device(), job_.bytes, {.seed = kernel});
                })
                .and_then([&] { return runtime_->wait(buffer_.stream()); });
        if (done && !options_.keep && kernel != options_.chain) {
            done = ask(BufferRequest::ensure_host).and_then([&] { return ask(BufferRequest::mark_host_dirty); });
        }
    }
    return done ? ask(BufferRequest::ensure_host) : done;
}

Expected<void> KernelChain::run_turn()
{
    const BufferCounts before = buffer_.counts();
    const auto began = clock_->now();
    auto done = run_kernels();
    const auto took = (clock_->now() - began).count();
    const BufferCounts& after = buffer_.counts();
    statistics_.copies += after.to_device - before.to_device + after.to_host - before.to_host;
    statistics_.wall_ns += took;
    statistics_.most_at_once = 1;
    const std::uint64_t up = after.bytes_to_device - before.bytes_to_device;
    const std::uint64_t down = after.bytes_to_host - before.bytes_to_host;
    if (up + down != 0) {
        const auto of_all = static_cast<double>(up) / static_cast<double>(up + down);
        const auto up_ns = static_cast<std::int64_t>(static_cast<double>(took) * of_all);
        statistics_.count_transfer(Direction::h2d, up, up_ns);
        statistics_.count_transfer(Direction::d2h, down, took - up_ns);
    }
    return done;
}

Expected<std::string> KernelChain::check()
{
    const auto found = device::check_pattern({buffer_.host(), job_.bytes}, {.seed = options_.chain});
    statistics_.checked_bytes += job_.bytes;
    statistics_.wrong_bytes += found.words * sizeof(std::uint64_t);
    return found.words == 0 ? std::string{}
                            : fmt::format("{}: {}", model::to_text(job_.spec), device::describe(found, job_.bytes));
}

std::string KernelChain::routes() const
{
    return fmt::format("{}: {} kernels, {}", model::to_text(job_.spec), options_.chain,
                       options_.keep ? "kept on the device between them" : "there and back for each");
}

}  // namespace memsweep::transfer
