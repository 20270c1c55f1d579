#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/copy_queue.hpp"
#include "core/probe/device_cases.hpp"
#include "core/probe/probe_case.hpp"
#include "core/sys/processors.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::probe {
namespace {

using base::Expected;

constexpr std::uint64_t usual_copy_bytes = 256U << 20U;
constexpr std::uint64_t shared_copy_bytes = 32U << 20U;  // of devices whose memory is the host's
constexpr std::uint64_t stand_in_bytes = 4U << 20U;  // of processors that stand in for a device: their kernels are slow
constexpr std::uint64_t warm_up_copies = 4;
constexpr double max_seconds = 0.2;  // of a sample

std::vector<model::Param> params_of(const DeviceCase& what, std::optional<Ends> ends)
{
    const model::Param transfer{"transfer", std::string{what.name}};
    if (!ends) {
        return {transfer};
    }
    const model::Param first{"device", device_word(ends->first)};
    return ends->second ? std::vector<model::Param>{transfer, first, {"to", device_word(*ends->second)}}
                        : std::vector<model::Param>{transfer, first};
}

model::CaseReport device_case(const DeviceCase& what, std::optional<Ends> ends)
{
    model::CaseReport report = new_case("probe_device", params_of(what, ends));
    set_fact(report, "meaning", std::string{what.meaning});
    return report;
}

std::uint64_t max_bytes(const device::DeviceFacts& facts)
{
    if (facts.device_class == device::DeviceClass::cpu) {
        return stand_in_bytes;
    }
    return facts.shares_host_memory ? shared_copy_bytes : usual_copy_bytes;
}

std::uint64_t copy_bytes(const ProbeContext& context, const device::Runtime& runtime)
{
    constexpr std::uint64_t share = 16;  // four queues of two ends, and as much to spare
    std::uint64_t bytes = usual_copy_bytes;
    for (const std::uint32_t number : chosen_devices(context, runtime)) {
        const device::DeviceFacts& facts = runtime.devices()[number];
        bytes = std::min({bytes, facts.largest_block_bytes / share, max_bytes(facts)});
    }
    bytes = std::min(context.settings.array_bytes.value_or(bytes), context.settings.memory_budget_bytes / share);
    constexpr std::uint64_t unit = 4096;
    return std::max(bytes / unit * unit, unit);
}

// Whose they are: other tools' files name them too.
void set_version_facts(model::CaseReport& report, const device::DeviceFacts& facts)
{
    if (facts.runtime_version != 0) {
        set_fact(report, "runtime_version", facts.runtime_version);
    }
    if (!facts.driver_version.empty()) {
        set_fact(report, "driver_version", facts.driver_version);
    }
    if (!facts.uuid.empty()) {
        set_fact(report, "uuid", facts.uuid);
    }
    if (!facts.environment.empty()) {
        set_fact(report, "environment", facts.environment);
    }
}

struct Samples {
    std::vector<double> seconds;
    std::vector<double> rates;
    std::vector<double> other_rates;
};

class Measuring {
  public:
    Measuring(const ProbeContext& context, device::Runtime& runtime, const DeviceCase& what,
              std::vector<CopyQueue> queues)
        : context_{context}, runtime_{runtime}, what_{what}, queues_{std::move(queues)}
    {
    }

    [[nodiscard]] Expected<void> sample(model::CaseReport& report)
    {
        copies_ = MEMSWEEP_TRY(warm_up());
        while (samples_.seconds.size() < context_.settings.samples && !context_.stopped()) {
            if (auto taken = one_sample(report); !taken || report.status == model::Status::failed) {
                return taken;
            }
        }
        return {};
    }

    void write(model::CaseReport& report) const
    {
        if (samples_.seconds.empty()) {
            if (report.status == model::Status::ok) {
                skip_interrupted(report);
            }
            return;
        }
        set_values(report, model::metrics::wall_time, samples_.seconds);
        set_values(report, model::metrics::bandwidth, samples_.rates);
        const CopyQueue& first = queues_.front();
        set_fact(report, "array_bytes", first.spec().bytes);
        set_fact(report, "bytes_counted", std::string{"payload"});
        set_fact(report, "copies_per_sample", copies_);
        set_fact(report, "mover", std::string{first.spec().by_kernel ? "kernel" : "copy engine"});
        set_fact(report, "from", std::string{device::name_of(first.spec().from.kind)});
        set_fact(report, "to", std::string{device::name_of(first.spec().to.kind)});
        set_fact(report, "timed_by",
                 std::string{first.is_timed_by_events() ? "events of the device, queued behind a latch"
                                                        : "the processor's clock"});
        set_fact(report, "verified",
                 fmt::format("{} of {} samples, every word{}", samples_.seconds.size(), samples_.seconds.size(),
                             seen_by_host_ ? ", by its own device; the last one by the host too" : ""));
        if (!samples_.other_rates.empty()) {
            set_fact(report, "other_direction",
                     fmt::format("{:.2f} GB/s", measure::median(samples_.other_rates) / 1e9));
        }
        if (throttled_ > 0) {
            set_fact(report, "throttled",
                     throttled_ <= context_.settings.samples
                         ? fmt::format("{} samples dropped and taken again ({})", throttled_, held_back_by_)
                         : fmt::format("throughout ({})", held_back_by_));
        }
        if (queues_.size() > 1) {
            set_fact(report, "at_once",
                     ran_dry_ == 0 ? fmt::format("{} streams, all busy to the end", queues_.size())
                                   : fmt::format("{} streams, of which one was done too early in {} samples",
                                                 queues_.size(), ran_dry_));
        }
        if (const std::byte* const host = first.host_memory(); host != nullptr) {
            set_fact(report, "placement",
                     sys::placement_proof(sys::pages_by_node(host, first.spec().bytes), std::nullopt).text);
        }
    }

    // Sets the link as it was during the last sample; where it could not be asked then, as it is right after.
    void set_link(std::uint32_t device, const std::optional<device::HostLink>& at_rest, model::CaseReport& report)
    {
        const bool meanwhile = link_.has_value();
        link_ = meanwhile ? link_ : runtime_.host_link(device);
        set_link_facts(report, link_, meanwhile ? "under load" : "right after the last sample", at_rest);
    }
    [[nodiscard]] const std::optional<device::HostLink>& link() const { return link_; }

    // The same of the clocks.
    void set_clocks(std::uint32_t device, const std::optional<device::Clocks>& at_rest, model::CaseReport& report) const
    {
        set_clock_facts(report, clocks_ ? clocks_ : runtime_.clocks(device),
                        clocks_ ? "under load" : "right after the last sample", at_rest);
    }

    [[nodiscard]] double median_rate() const { return samples_.rates.empty() ? 0 : measure::median(samples_.rates); }

  private:
    // Queues whose bytes count: those of the other direction keep it busy.
    [[nodiscard]] std::size_t counted() const { return what_.both_directions ? queues_.size() / 2 : queues_.size(); }

    // What each queue took. Where one of those that keep the others busy was done too early, with twice as many copies
    // again; what no number of them keeps busy is not measured.
    [[nodiscard]] Expected<AtOnce> run(std::uint64_t copies)
    {
        const Meanwhile look = [&] {
            link_ = runtime_.host_link(queues_[0].spec().stream_device);
            clocks_ = runtime_.clocks(queues_[0].spec().stream_device);
        };
        if (queues_.size() == 1) {
            return queues_[0].run(copies, context_.clock, look).map([](double seconds) {
                return AtOnce{.seconds = {seconds}};
            });
        }
        constexpr std::uint64_t most_times = 16;
        for (;; times_ *= 2) {
            auto taken = MEMSWEEP_TRY(run_at_once(runtime_, queues_, counted(), copies, times_, look));
            if (taken.stayed_busy || times_ >= most_times) {
                return taken;
            }
        }
    }

    // As many copies as make a sample long enough, but not too long; one where the source is written anew.
    [[nodiscard]] Expected<std::uint64_t> warm_up()
    {
        for (CopyQueue& queue : queues_) {
            MEMSWEEP_TRY(queue.prepare());
        }
        const bool renewed = queues_.front().spec().renewed;
        MEMSWEEP_TRY(run(renewed ? 1 : warm_up_copies));
        const AtOnce once = MEMSWEEP_TRY(run(1));
        const double longest = longest_of(once);
        if (renewed || longest <= 0) {
            return 1;
        }
        const double wanted = std::min(std::max(context_.settings.sample_seconds, 0.0), max_seconds);
        constexpr double max_copies = 10'000;
        return static_cast<std::uint64_t>(std::clamp(std::ceil(wanted / longest), 1.0, max_copies));
    }

    [[nodiscard]] Expected<void> one_sample(model::CaseReport& report)
    {
        for (CopyQueue& queue : queues_) {
            MEMSWEEP_TRY(queue.prepare());
        }
        const AtOnce took = MEMSWEEP_TRY(run(copies_));
        const bool is_last = samples_.seconds.size() + 1 == context_.settings.samples;
        for (CopyQueue& queue : queues_) {
            auto found = MEMSWEEP_TRY(queue.verify());
            if (found.words == 0 && is_last && queue.is_between_devices()) {
                found = MEMSWEEP_TRY(queue.verify_by_host());
                seen_by_host_ = true;
            }
            if (found.words != 0) {
                fail_sample(report, samples_.seconds.size() + 1, device::describe(found, queue.spec().bytes));
                return {};
            }
        }
        if (std::ranges::any_of(took.seconds, [](double seconds) { return seconds <= 0; })) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        if (clocks_ && clocks_->is_throttled) {
            held_back_by_ = clocks_->held_back_by;
            if (++throttled_ <= context_.settings.samples) {  // then what is throttled is what this device does
                return {};
            }
        }
        if (!took.stayed_busy) {
            ++ran_dry_;
        }
        samples_.seconds.push_back(longest_of(took));
        samples_.rates.push_back(rate_of(took, 0, counted()));
        if (what_.both_directions) {
            samples_.other_rates.push_back(rate_of(took, counted(), queues_.size()));
        }
        return {};
    }

    [[nodiscard]] double longest_of(const AtOnce& took) const
    {
        return *std::max_element(took.seconds.begin(), took.seconds.begin() + static_cast<std::ptrdiff_t>(counted()));
    }

    // Bytes per second of some of the queues together, each over its own time.
    [[nodiscard]] double rate_of(const AtOnce& took, std::size_t first, std::size_t last) const
    {
        double rate = 0;
        for (std::size_t i = first; i < last; ++i) {
            rate += static_cast<double>(queues_[i].spec().bytes * copies_) / took.seconds[i];
        }
        return rate;
    }

    const ProbeContext& context_;
    device::Runtime& runtime_;
    const DeviceCase& what_;
    std::vector<CopyQueue> queues_;
    std::uint64_t copies_{1};
    std::uint64_t times_{2};  // as many copies of a queue as are timed
    std::uint32_t ran_dry_{};
    std::uint32_t throttled_{};
    std::string held_back_by_;  // a throttled sample
    bool seen_by_host_{};
    Samples samples_;
    std::optional<device::HostLink> link_;
    std::optional<device::Clocks> clocks_;
};

// What the link or the memory could do, and how much of it was reached.
void set_ceiling(model::CaseReport& report, const DeviceCase& what, Ends ends, const device::Runtime& runtime,
                 const std::optional<device::HostLink>& link, double rate)
{
    std::optional<double> ceiling;
    if (link && (what.kind == CaseKind::to_device || what.kind == CaseKind::from_device)) {
        ceiling = device::bytes_per_second(link->generation, link->lanes);
    } else if (what.kind == CaseKind::local) {
        const auto memory = runtime.devices()[ends.first].memory_bytes_per_s;
        ceiling = memory ? std::optional{*memory / 2} : std::nullopt;  // each byte is read and written
    }
    if (ceiling && *ceiling > 0) {
        set_fact(report, "ceiling", fmt::format("{:.2f} GB/s", *ceiling / 1e9));
        set_fact(report, "percent_of_ceiling", std::round(rate / *ceiling * 1000) / 10);
    }
}

void set_peer_facts(model::CaseReport& report, Ends ends, const device::Runtime& runtime)
{
    if (!ends.second) {
        return;
    }
    const auto link = runtime.peer(ends.first, *ends.second);
    set_fact(report, "peer_access", link.direct ? std::string{"yes"} : "no: " + link.reason);
    if (link.nvlinks) {
        set_fact(report, "nvlinks", *link.nvlinks);
        set_fact(report, "through_switch", link.through_switch);
    }
}

Expected<void> measure_copies(const ProbeContext& context, device::Runtime& runtime, const DeviceCase& what, Ends ends,
                              std::uint64_t bytes, model::CaseReport& report)
{
    const auto at_rest = runtime.host_link(ends.first);
    const auto clocks_at_rest = runtime.clocks(ends.first);
    std::vector<CopyQueue> queues;
    sys::Affinity affinity;  // each end's memory beside its own device
    for (const CopySpec& spec : copies_of(what, ends, chosen_devices(context, runtime), bytes)) {
        MEMSWEEP_TRY(affinity.limit_to(host_side_of(context.topology, runtime.devices()[spec.stream_device]).cpus));
        queues.push_back(MEMSWEEP_TRY(CopyQueue::open(runtime, spec)));
    }
    MEMSWEEP_TRY(affinity.limit_to(host_side_of(context.topology, runtime.devices()[ends.first]).cpus));
    Measuring measuring{context, runtime, what, std::move(queues)};
    MEMSWEEP_TRY(measuring.sample(report));
    measuring.write(report);
    if (!is_of_all(what.kind) && what.kind != CaseKind::local) {
        measuring.set_link(ends.first, at_rest, report);
    }
    measuring.set_clocks(ends.first, clocks_at_rest, report);
    set_ceiling(report, what, ends, runtime, measuring.link(), measuring.median_rate());
    set_peer_facts(report, ends, runtime);
    return {};
}

Expected<void> measure(const ProbeContext& context, device::Runtime& runtime, const DeviceCase& what, Ends ends,
                       std::uint64_t bytes, model::CaseReport& report)
{
    report.planned_repetitions = context.settings.samples;
    const DeviceTask task{context, runtime, what, ends, bytes};
    const HostSide side = host_side_of(context.topology, runtime.devices()[ends.first]);
    sys::Affinity affinity;
    MEMSWEEP_TRY(affinity.limit_to(side.cpus));
    if (side.node && !is_of_all(what.kind)) {
        set_fact(report, "host_node", fmt::format("{} ({})", *side.node, side.told_by));
    }
    switch (what.kind) {
    case CaseKind::locking:
        return measure_locking(task, report);
    case CaseKind::staged_to_device:
    case CaseKind::staged_to_host:
        return measure_staged(task, report);
    case CaseKind::loads:
    case CaseKind::peer_loads:
    case CaseKind::cached_loads:
        return measure_loads(task, report);
    case CaseKind::call:
        return measure_calls(task, report);
    case CaseKind::prefetch_to_device:
    case CaseKind::prefetch_to_host:
        return measure_prefetch(task, report);
    case CaseKind::beyond:
        return measure_beyond(task, report);
    case CaseKind::to_device:
    case CaseKind::from_device:
    case CaseKind::peer:
    case CaseKind::local:
    case CaseKind::all_to_host:
    case CaseKind::host_to_all:
    case CaseKind::all_to_one:
    case CaseKind::one_to_all:
    case CaseKind::all_to_all:
    case CaseKind::ring:
    case CaseKind::bisection:
        break;
    }
    return measure_copies(context, runtime, what, ends, bytes, report);
}

// Switches peer access on where that is possible; where it is not, the cases that need it say why.
void switch_on_peer_access(device::Runtime& runtime, const std::vector<std::uint32_t>& devices)
{
    for (const std::uint32_t from : devices) {
        for (const std::uint32_t to : devices) {
            if (from != to) {
                static_cast<void>(runtime.set_peer_access(from, to, true));
            }
        }
    }
}

// Switches off the peer access of two devices whose data arrived wrong, as happens where an IOMMU or access control
// redirects them.
void mistrust(model::CaseReport& report, const DeviceCase& what, Ends ends, device::Runtime& runtime)
{
    if (report.status != model::Status::failed || !is_of_pairs(what.kind) ||
        !runtime.peer(ends.first, *ends.second).direct) {
        return;
    }
    static_cast<void>(runtime.set_peer_access(ends.first, *ends.second, false));
    static_cast<void>(runtime.set_peer_access(*ends.second, ends.first, false));
    report.reason += "; peer access of these two is off from here on (is an IOMMU on, or ACS?)";
}

}  // namespace

std::vector<model::CaseReport> probe_devices(const ProbeContext& context, device::Runtime& runtime)
{
    std::vector<model::CaseReport> cases;
    if (runtime.devices().empty()) {
        for (const DeviceCase& what : device_cases()) {
            cases.push_back(device_case(what, std::nullopt));
            skip(cases.back(), runtime.absence());
        }
        return cases;
    }
    const std::vector<std::uint32_t> devices = chosen_devices(context, runtime);
    switch_on_peer_access(runtime, devices);
    std::string lost;
    const std::uint64_t bytes = copy_bytes(context, runtime);
    for (const DeviceCase& what : device_cases()) {
        for (const Ends ends : ends_of(what, devices, context.pairs)) {
            const bool is_one = !is_of_all(what.kind);
            model::CaseReport report = device_case(what, is_one ? std::optional{ends} : std::nullopt);
            if (!context.wants(report.id)) {
                continue;
            }
            set_fact(report, "runtime", std::string{runtime.backend()});
            set_version_facts(report, runtime.devices()[ends.first]);
            if (!lost.empty()) {
                skip(report, lost);
            } else if (const std::string why = unmet(what, ends, devices, runtime); !why.empty()) {
                skip(report, why);
            } else if (what.kind == CaseKind::beyond && !context.settings.ballast) {
                skip(report, "takes the rest of the card's memory, which other programs on it may miss: --ballast");
            } else if (context.stopped()) {
                skip_interrupted(report);
            } else {
                context.progress(fmt::format("device: {}", report.id.substr(report.id.find('/') + 1)));
                if (const auto done = measure(context, runtime, what, ends, bytes, report); !done) {
                    set_error(report, done.error());
                    lost = why_lost(runtime, report.id);
                }
                mistrust(report, what, ends, runtime);
            }
            cases.push_back(std::move(report));
        }
    }
    return cases;
}

}  // namespace memsweep::probe
