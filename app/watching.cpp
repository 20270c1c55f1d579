#include "app/watching.hpp"

#include <algorithm>
#include <random>

#include <unistd.h>

#include <fmt/format.h>

#include "core/measure/summary.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/proc_text.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::app {
namespace {

enum : std::size_t { working_set, processes, minor_faults, major_faults, memory_stall };

constexpr const char* pressure_file = "/proc/pressure/memory";
constexpr const char* from_outside = "memsweep watch looks from outside";

std::optional<std::uint64_t> stall_us()
{
    const auto text = sys::read_kernel_text(pressure_file);
    return text ? sys::memory_stall_us(*text) : std::nullopt;
}

void put(model::Series& series, double time, double value)
{
    series.t.push_back(time);
    series.v.push_back(value);
}

double since(std::uint64_t before, std::uint64_t now)
{
    return now > before ? static_cast<double>(now - before) : 0;
}

}  // namespace

Watching::Watching(std::vector<std::string> command) : command_{std::move(command)}
{
    watched_.id = watched_.scenario = "watch";
    watched_.repetitions = watched_.planned_repetitions = 1;
    watched_.series = {{.name = "working_set", .unit = model::Unit::bytes},
                       {.name = "processes", .unit = model::Unit::one},
                       {.name = "minor_faults", .unit = model::Unit::one},
                       {.name = "major_faults", .unit = model::Unit::one}};
    if (stall_us()) {
        watched_.series.push_back({.name = "memory_stall", .unit = model::Unit::seconds});
    }
}

void Watching::begin()
{
    started_ = sys::utc_now();
    begun_ = std::chrono::steady_clock::now();
    first_stall_us_ = last_stall_us_ = stall_us();
    sample();
}

void Watching::sample()
{
    const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    const sys::TreeSample now = sys::sample_descendants(::getpid());
    if (now.processes == 0 || now.working_set_bytes == 0) {
        return;  // it has ended, or not begun
    }
    put(watched_.series[working_set], time, static_cast<double>(now.working_set_bytes));
    put(watched_.series[processes], time, static_cast<double>(now.processes));
    put(watched_.series[minor_faults], time, since(last_.minor_faults, now.minor_faults));
    put(watched_.series[major_faults], time, since(last_.major_faults, now.major_faults));
    if (const auto stall = stall_us(); stall && last_stall_us_) {
        put(watched_.series[memory_stall], time, since(*last_stall_us_, *stall) * 1e-6);
        last_stall_us_ = stall;
    }
    peak_bytes_ = std::max(peak_bytes_, static_cast<double>(now.working_set_bytes));
    last_ = now;
}

void Watching::add_metric(const char* name, std::optional<double> value, const char* reason)
{
    const model::MetricInfo* const info = model::find_metric(model::metric_catalog(), name);
    model::Metric metric{.name = name, .values = {value}, .reason = value ? "" : reason};
    if (info != nullptr) {
        metric.unit = info->unit;
        metric.better = info->better;
        metric.metric_class = info->metric_class;
    } else {
        metric.unit = model::Unit::seconds;
        metric.metric_class = model::MetricClass::noisy;
    }
    metric.provenance = model::Provenance::measured;
    metric.summary = measure::summarize(metric.values);
    watched_.metrics.push_back(std::move(metric));
}

model::RunReport Watching::finish(const sys::ExitStatus& status, model::Machine machine, std::vector<std::string> argv)
{
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun_;
    const std::chrono::duration<double> cpu = status.user_cpu + status.system_cpu;
    add_metric("wall_time", wall.count());
    add_metric("cpu_time", cpu.count());
    add_metric("working_set_peak", std::max(peak_bytes_, static_cast<double>(status.max_rss_bytes)));
    add_metric("residual_working_set", std::nullopt, "the command has ended");
    add_metric("live_bytes_peak", std::nullopt, from_outside);
    add_metric("floating_bytes_peak", std::nullopt, from_outside);
    add_metric("minor_faults", static_cast<double>(status.minor_faults));
    add_metric("major_faults", static_cast<double>(status.major_faults));
    const auto stall = stall_us();
    add_metric("memory_stall_time",
               stall && first_stall_us_ ? std::optional{since(*first_stall_us_, *stall) * 1e-6} : std::nullopt,
               "the kernel keeps no pressure figures");
    model::RunReport report;
    report.tool = model::this_tool();
    report.machine = std::move(machine);
    report.run.started = started_;
    report.run.ended = sys::utc_now();
    report.run.id = fmt::format("{}-{:08x}", started_, std::random_device{}());
    report.run.argv = std::move(argv);
    report.run.exit_code = status.signal != 0 ? 128 + status.signal : status.code;
    report.run.interrupted = false;
    report.run.scenario_name = "watch";
    report.run.scenario_description = reporters::command_line(command_);
    report.cases.push_back(std::move(watched_));
    return report;
}

}  // namespace memsweep::app
