#include "core/transfer/route.hpp"

#include <array>

#include <fmt/format.h>

#include "core/transfer/end_memory.hpp"

namespace memsweep::transfer {
namespace {

using model::HostKind;
using model::Strategy;
using model::TransferEnd;

bool is_device(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::device;
}

// Host memory that the driver of a device reads and writes without a copy of its own.
bool is_directly_read(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::host && (traits_of(end.host).is_locked || end.host == HostKind::managed);
}

bool is_ordinary(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::host && !is_directly_read(end);
}

constexpr std::uint64_t staged_from_bytes = 4U << 20U;

struct Ends {
    bool src_device{}, dst_device{};
    std::uint32_t src{}, dst{};  // numbers of the devices
    bool pinned_host{};
    bool ordinary_host{};

    [[nodiscard]] bool on_host() const { return !src_device && !dst_device; }
    [[nodiscard]] bool between_devices() const { return src_device && dst_device && src != dst; }
    [[nodiscard]] bool within_device() const { return src_device && dst_device && src == dst; }
};

Ends ends_of(const model::TransferSpec& spec)
{
    return {.src_device = is_device(spec.src),
            .dst_device = is_device(spec.dst),
            .src = spec.src.number.value_or(0),
            .dst = spec.dst.number.value_or(0),
            .pinned_host = is_directly_read(spec.src) || is_directly_read(spec.dst),
            .ordinary_host = is_ordinary(spec.src) || is_ordinary(spec.dst)};
}

// Empty: one device reads and writes the other's memory itself.
std::string no_peer_access(device::Runtime& runtime, const Ends& ends)
{
    if (runtime.peer(ends.src, ends.dst).direct) {
        return {};
    }
    if (const auto on = runtime.set_peer_access(ends.src, ends.dst, true); !on) {
        return on.error().message;
    }
    return runtime.peer(ends.src, ends.dst).reason;
}

Route automatic_route(device::Runtime& runtime, const Ends& ends, const model::TransferJob& job,
                      const model::TransferOptions& options)
{
    if (ends.on_host()) {
        return {Strategy::host, "both ends are host memory"};
    }
    if (ends.within_device()) {
        return {Strategy::local, fmt::format("both ends are memory of gpu{}", ends.src)};
    }
    if (ends.between_devices()) {
        const std::string why_not = no_peer_access(runtime, ends);
        return why_not.empty()
                   ? Route{Strategy::p2p, fmt::format("gpu{} reaches the memory of gpu{}", ends.src, ends.dst)}
                   : Route{Strategy::staged,
                           fmt::format("gpu{} does not reach the memory of gpu{}: {}", ends.src, ends.dst, why_not)};
    }
    if (ends.pinned_host) {
        return {Strategy::pinned, "the driver reads and writes this host memory directly"};
    }
    const bool asks_for_rings =
        options.chunk_bytes != 0 || options.threads != 0 || options.adaptive || !options.pipeline;
    if (job.bytes < staged_from_bytes && !asks_for_rings) {
        return {Strategy::direct, "ordinary host memory, and less than 4 MiB of it: the driver's own copy is quicker"};
    }
    return {Strategy::staged, "ordinary host memory: the driver would copy it first itself"};
}

tl::unexpected<base::Error> refusal(Strategy wanted, std::string_view needs, const model::TransferSpec& spec)
{
    return base::fail(base::ErrorCode::invalid_input, fmt::format("strategy \"{}\" needs {}; this is {}",
                                                                  model::name_of(wanted), needs, model::to_text(spec)));
}

base::Expected<Route> route_of(device::Runtime& runtime, const Ends& ends, const model::TransferJob& job,
                               const model::TransferOptions& options)
{
    const Strategy wanted = options.strategy;
    const model::TransferSpec& spec = job.spec;
    const Route as_asked{wanted, "asked for"};
    switch (wanted) {
    case Strategy::automatic:
        break;
    case Strategy::host:
        return ends.on_host() ? base::Expected<Route>{as_asked} : refusal(wanted, "host memory at both ends", spec);
    case Strategy::local:
        return ends.within_device() ? base::Expected<Route>{as_asked}
                                    : refusal(wanted, "memory of one device at both ends", spec);
    case Strategy::p2p: {
        if (!ends.between_devices()) {
            return refusal(wanted, "memory of two devices", spec);
        }
        const std::string why_not = no_peer_access(runtime, ends);
        return why_not.empty() ? as_asked
                               : Route{Strategy::staged, fmt::format("p2p was asked for, but gpu{} does not reach the "
                                                                     "memory of gpu{}: {}",
                                                                     ends.src, ends.dst, why_not)};
    }
    case Strategy::pinned:
        return !ends.on_host() && ends.pinned_host
                   ? base::Expected<Route>{as_asked}
                   : refusal(wanted, "a device, and pinned host memory at the other end", spec);
    case Strategy::staged:
        return !ends.on_host() && !ends.within_device() ? base::Expected<Route>{as_asked}
                                                        : refusal(wanted, "a device and something beside it", spec);
    case Strategy::registered:
        return !ends.on_host() && ends.ordinary_host
                   ? base::Expected<Route>{as_asked}
                   : refusal(wanted, "a device, and ordinary host memory at the other end", spec);
    case Strategy::direct:
        return ends.on_host() ? refusal(wanted, "a device", spec) : base::Expected<Route>{as_asked};
    }
    return automatic_route(runtime, ends, job, options);
}

}  // namespace

base::Expected<Route> choose_route(device::Runtime& runtime, const model::TransferJob& job,
                                   const model::TransferOptions& options)
{
    const model::TransferSpec& spec = job.spec;
    if (std::string missing = missing_device(runtime, spec); !missing.empty()) {
        return base::fail(base::ErrorCode::not_supported, std::move(missing));
    }
    const Ends ends = ends_of(spec);
    if (spec.dst.kind == TransferEnd::Kind::null && !ends.on_host()) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("{}: a device copies to some memory, not to nowhere", model::to_text(spec)));
    }
    if (spec.src.kind == TransferEnd::Kind::null && !ends.on_host()) {
        return options.strategy == Strategy::automatic || options.strategy == Strategy::direct
                   ? base::Expected<Route>{Route{Strategy::direct, "nothing is read: the device fills its memory"}}
                   : refusal(options.strategy, "a source", spec);
    }
    return route_of(runtime, ends, job, options);
}

Direction direction_of(const model::TransferSpec& spec)
{
    return is_device(spec.src) ? (is_device(spec.dst) ? Direction::d2d : Direction::d2h)
                               : (is_device(spec.dst) ? Direction::h2d : Direction::h2h);
}

std::string_view direction(const model::TransferSpec& spec)
{
    constexpr std::array<std::string_view, 4> names{"h2h", "h2d", "d2h", "d2d"};
    return names.at(static_cast<std::size_t>(direction_of(spec)));
}

std::optional<std::uint32_t> driver_of(const model::TransferSpec& spec)
{
    const TransferEnd& end = is_device(spec.dst) ? spec.dst : spec.src;
    return is_device(end) ? std::optional{end.number.value_or(0)} : std::nullopt;
}

std::string missing_device(const device::Runtime& runtime, const model::TransferSpec& spec)
{
    const auto beyond = [&](bool device, std::optional<std::uint32_t> number) {
        return device && number.value_or(0) >= runtime.devices().size();
    };
    const auto absent = [&](std::uint32_t number) {
        return runtime.devices().empty()
                   ? fmt::format("no device: {}", runtime.absence())
                   : fmt::format("no device gpu{}: this machine has {}", number, runtime.devices().size());
    };
    if (beyond(is_device(spec.src), spec.src.number)) {
        return absent(spec.src.number.value_or(0));
    }
    if (beyond(is_device(spec.dst), spec.dst.number)) {
        return absent(spec.dst.number.value_or(0));
    }
    if (beyond(spec.exe.kind != model::Mover::Kind::processors, spec.exe.number)) {
        return absent(spec.exe.number.value_or(0));
    }
    return {};
}

}  // namespace memsweep::transfer
