#include "core/transfer/kernel_chain.hpp"

#include <cstring>

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
    KernelChain chain{runtime, clock, job, options};
    const auto began = clock.now();
    // Both sides, and a first copy, so that no turn pays for memory.
    MEMSWEEP_TRY(chain.make_memory());
    MEMSWEEP_TRY(chain.copy(chain.on_device_.at(), chain.host_.at()));
    chain.statistics_.memory_ns = (clock.now() - began).count();
    return chain;
}

Expected<void> KernelChain::make_memory()
{
    const std::uint32_t device = job_.spec.dst.number.value_or(0);
    const model::TransferEnd host{.kind = model::TransferEnd::Kind::host, .host = job_.spec.src.host};
    stream_ = MEMSWEEP_TRY(device::open_stream(*runtime_, device));
    host_ = MEMSWEEP_TRY(EndMemory::make(*runtime_, {.end = host, .bytes = job_.bytes, .driver = device}));
    on_device_ = MEMSWEEP_TRY(
        device::allocate(*runtime_, {.device = device, .kind = device::MemoryKind::device, .bytes = job_.bytes}));
    std::memset(host_.host(), 0, job_.bytes);
    return {};
}

Expected<void> KernelChain::copy(const device::Address& to, const device::Address& from)
{
    MEMSWEEP_TRY(runtime_->copy(stream_.id(), to, from, job_.bytes));
    return runtime_->wait(stream_.id());
}

Expected<void> KernelChain::run_kernels()
{
    for (std::uint64_t kernel = 1; kernel <= options_.chain; ++kernel) {
        if (kernel == 1 || !options_.keep) {
            MEMSWEEP_TRY(copy(on_device_.at(), host_.at()));
        }
        MEMSWEEP_TRY(runtime_->write_pattern(stream_.id(), on_device_.at(), job_.bytes, {.seed = kernel}));
        MEMSWEEP_TRY(runtime_->wait(stream_.id()));
        if (kernel == options_.chain || !options_.keep) {
            MEMSWEEP_TRY(copy(host_.at(), on_device_.at()));
        }
    }
    return {};
}

Expected<void> KernelChain::run_turn()
{
    const auto began = clock_->now();
    MEMSWEEP_TRY(run_kernels());
    const auto took = (clock_->now() - began).count();
    const std::uint64_t copies_each_way = options_.keep ? 1 : options_.chain;
    statistics_.copies += 2 * copies_each_way;
    statistics_.wall_ns += took;
    statistics_.most_at_once = 1;
    statistics_.count_transfer(Direction::h2d, copies_each_way * job_.bytes, took / 2);
    statistics_.count_transfer(Direction::d2h, copies_each_way * job_.bytes, took - took / 2);
    return {};
}

Expected<std::string> KernelChain::check()
{
    const auto found = device::check_pattern({host_.host(), job_.bytes}, {.seed = options_.chain});
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
