#include "tests/reporters/sample_report.hpp"

#include <array>
#include <cstddef>
#include <limits>

#include "core/measure/summary.hpp"

namespace memsweep::reporters {
namespace {

constexpr double MiB = 1024.0 * 1024.0;
constexpr double all_bytes = 800'000'000;  // 100 arrays of 1,000,000 float64
constexpr std::uint32_t repetitions = 6;
// How far each repetition lies from the first: fixed, so that medians and intervals are not all the same number.
constexpr std::array<double, repetitions> jitter{0.0, 0.012, -0.004, 0.021, 0.003, -0.009};

struct Figures {
    double wall_time_s;
    double held_after_drop;  // bytes live after drop and collect
    std::uint64_t faults;
};

model::Metric metric(std::string_view name, std::vector<std::optional<double>> values)
{
    const model::MetricInfo& info = *model::find_metric(model::metric_catalog(), name);
    model::Metric made{std::string{name}, info.unit,         info.better, info.metric_class,
                       info.provenance,   std::move(values), {},          {}};
    made.summary = measure::summarize(made.values);
    return made;
}

model::Metric noisy(std::string_view name, double value)
{
    std::vector<std::optional<double>> values;
    for (const double part : jitter) {
        values.emplace_back(value * (1 + part));
    }
    return metric(name, std::move(values));
}

model::Metric exact(std::string_view name, double value)
{
    return metric(name, std::vector<std::optional<double>>(repetitions, value));
}

model::Metric absent(std::string_view name, std::string reason)
{
    model::Metric made = metric(name, std::vector<std::optional<double>>(repetitions, std::nullopt));
    made.reason = std::move(reason);
    return made;
}

model::Point point(std::uint32_t repetition, std::string name, double t, double live, double reachable)
{
    model::Point made;
    made.repetition = repetition;
    made.name = std::move(name);
    made.t = t;
    made.live_bytes = live;
    made.floating_bytes = live - reachable;
    made.working_set_delta = live + 0.5 * MiB;
    made.working_set = *made.working_set_delta + 4 * MiB;
    made.minor_faults = 195'313;
    made.major_faults = 0;
    made.queue_depth = live > reachable ? 100 : 0;
    return made;
}

model::Phase phase(std::uint32_t repetition, std::string name, double start, double end, std::uint64_t minor)
{
    return {.repetition = repetition,
            .name = std::move(name),
            .start = start,
            .end = end,
            .time = end - start,
            .entered = 1,
            .minor_faults = minor,
            .major_faults = 0};
}

void add_repetition(model::CaseReport& report, std::uint32_t repetition, const Figures& figures)
{
    const double end = figures.wall_time_s;
    report.points.push_back(point(repetition, "after_alloc", end * 0.6, all_bytes, all_bytes));
    report.points.push_back(point(repetition, "after_drop", end * 0.7, figures.held_after_drop, 0));
    report.points.push_back(point(repetition, "after_collect", end * 0.8, figures.held_after_drop, 0));
    report.points.push_back(point(repetition, "after_drain", end, 0, 0));
    report.phases.push_back(phase(repetition, "alloc", 0, end * 0.6, figures.faults));
    report.phases.push_back(phase(repetition, "drop", end * 0.6, end * 0.7, 0));
    report.phases.push_back(phase(repetition, "collect", end * 0.7, end * 0.8, 3));
    report.phases.push_back(phase(repetition, "drain", end * 0.8, end, 12));
    report.series.push_back({"working_set",
                             model::Unit::bytes,
                             repetition,
                             {0, end * 0.3, end * 0.6, end},
                             {4 * MiB, all_bytes / 2, all_bytes + 4 * MiB, 4.5 * MiB}});
    report.series.push_back({"live_bytes", model::Unit::bytes, repetition, {0, end * 0.6, end}, {0, all_bytes, 0}});
}

model::CaseReport measured_case(const std::string& mode, const Figures& figures)
{
    model::CaseReport report;
    report.id = "finalizer_repro/count=100/mode=" + mode;
    report.scenario = "finalizer_repro";
    report.params = {{"count", std::int64_t{100}}, {"mode", mode}};
    report.repetitions = repetitions;
    report.planned_repetitions = repetitions;
    report.metrics = {noisy("wall_time", figures.wall_time_s),
                      noisy("cpu_time", figures.wall_time_s * 0.98),
                      noisy("time_per_op", figures.wall_time_s / 100),
                      noisy("working_set_peak", all_bytes + 5 * MiB),
                      noisy("residual_working_set", 0.4 * MiB),
                      exact("minor_faults", static_cast<double>(figures.faults)),
                      exact("live_bytes_peak", all_bytes),
                      exact("floating_bytes_peak", figures.held_after_drop),
                      absent("fault_cost", "the canary mapping was refused")};
    for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
        add_repetition(report, repetition, figures);
    }
    return report;
}

model::CaseReport unmeasured_case(const std::string& mode, model::Status status, std::string reason)
{
    model::CaseReport report;
    report.id = "finalizer_repro/count=100/mode=" + mode;
    report.scenario = "finalizer_repro";
    report.params = {{"count", std::int64_t{100}}, {"mode", mode}};
    report.status = status;
    report.reason = std::move(reason);
    report.planned_repetitions = repetitions;
    return report;
}

model::Machine sample_machine()
{
    model::Machine machine;
    machine.host = "bench-1";
    machine.kernel = "6.1.0-21-amd64";
    machine.cpu = "AMD EPYC 7543 32-Core Processor";
    machine.cores = 2;
    machine.numa_nodes = 1;
    machine.page_size = 4096;
    machine.thp = "madvise";
    machine.overcommit = "heuristic";
    machine.memory_bytes = 25'769'803'776;
    machine.cgroup_memory_max = 8'589'934'592;
    machine.cgroup_version = "v2";
    machine.aslr = "full";
    machine.virtualisation = "kvm";
    machine.damon = "off";
    machine.fingerprint = "3f1c0b9a";
    return machine;
}

model::RunInfo sample_run()
{
    model::RunInfo run;
    run.id = "20260131T120000Z-4f2a";
    run.started = "2026-01-31T12:00:00.000Z";
    run.ended = "2026-01-31T12:00:09.500Z";
    run.argv = {"memsweep", "run", "scenarios/catalog/finalizer_repro.json", "--tag", "note=a b"};
    run.exit_code = 1;
    run.seed = 18'446'744'073'709'551'615U;  // would not survive a double
    run.interrupted = false;
    run.scenario_name = "finalizer_repro";
    run.scenario_path = "scenarios/catalog/finalizer_repro.json";
    run.scenario_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    run.scenario_fingerprint = "60303ae22b998861";
    run.scenario_description = "100 arrays of 1,000,000 float64: allocate, drop, collect, drain.";
    run.overrides = {{"repetitions", "6"}};
    run.tags = {{"note", "a b"}};
    return run;
}

std::vector<model::AssertionResult> sample_assertions()
{
    const std::string finalizer = "finalizer_repro/count=100/mode=finalizer";
    using model::AssertionOutcome;
    const std::string refcount = "finalizer_repro/count=100/mode=refcount";
    return {{refcount,
             "after_drop.live_bytes.max == 0B",
             0.0,
             model::Unit::bytes,
             AssertionOutcome::passed,
             model::Severity::fail,
             {}},
            {finalizer,
             "after_drop.live_bytes.max == 0B",
             all_bytes,
             model::Unit::bytes,
             AssertionOutcome::failed,
             model::Severity::fail,
             {}},
            {{},
             "ratio(wall_time.median, mode=finalizer, mode=refcount) <= 1.2",
             1.47,
             model::Unit::one,
             AssertionOutcome::failed,
             model::Severity::warn,
             {}},
            {finalizer, "fault_cost.median < 1us", std::nullopt, model::Unit::seconds, AssertionOutcome::failed,
             model::Severity::fail, "the canary mapping was refused"},
            {{},
             "wall_time.median < 1s",
             std::nullopt,
             model::Unit::seconds,
             AssertionOutcome::not_evaluated,
             model::Severity::fail,
             "no case of this run has mode=leak",
             {{"mode", "leak"}}}};
}

// Every string of the report, changed in place.
template <typename Change>
void change_names(model::RunReport& report, Change change)
{
    change(report.run.scenario_name);
    change(report.run.scenario_description);
    change(report.machine.host);
    change(report.machine.cpu);
    report.run.argv.emplace_back();
    change(report.run.argv.back());
    for (model::CaseReport& one : report.cases) {
        one.scenario = report.run.scenario_name;
        change(one.id);
        change(one.reason);
        for (model::Param& param : one.params) {
            std::string value = model::to_text(param.value);
            change(value);
            param.value = value;
        }
        for (model::Point& point_of_case : one.points) {
            point_of_case.name += report.run.scenario_name;
        }
        for (model::Phase& phase_of_case : one.phases) {
            phase_of_case.name += report.run.scenario_name;
        }
    }
    for (model::Warning& warning : report.warnings) {
        change(warning.code);
        change(warning.message);
        change(warning.hint);
    }
    for (model::AssertionResult& assertion : report.assertions) {
        change(assertion.expression);
    }
}

}  // namespace

model::RunReport sample_report()
{
    model::RunReport report;
    report.tool = {"memsweep", "0.1.0", "1a2b3c4d5e6f", "Release", "GNU 12.2.0", ""};
    report.run = sample_run();
    report.machine = sample_machine();
    report.calibration = {85e-9, 24e-9};
    report.warnings = {{"few-repetitions", "6 repetitions cannot show differences below 5 %", "use --repetitions 12"},
                       {"thp-madvise", "transparent huge pages are off for malloc", ""}};
    report.cases = {
        measured_case("refcount", {0.1182, 0, 195'313}), measured_case("finalizer", {0.1738, all_bytes, 195'338}),
        unmeasured_case("leak", model::Status::skipped, "needs 1.49 GiB, above the memory budget of 1.00 GiB"),
        unmeasured_case("deferred_batch", model::Status::timeout, "repetition 1 took longer than 60 s")};
    report.assertions = sample_assertions();
    return report;
}

std::vector<std::string> hostile_names()
{
    return {"</script><script>alert(1)</script>",
            "\"quoted\" 'and' \\back\\slashed\\",
            "line one\nline two\r\nline three\ttab",
            "a,b;c|d",
            "naïve Größe 数组 🙂",
            "bad \xff\xfe utf-8 \xc3",
            "=cmd|' /C calc'!A0",
            "esc \x1b[31mred\x1b]0;title\x07 \u202Egnp.exe",
            std::string("nul\0byte", 8)};
}

model::RunReport hostile_report()
{
    model::RunReport report = sample_report();
    const std::vector<std::string> names = hostile_names();
    std::size_t next = 0;
    change_names(report, [&](std::string& text) { text += " " + names[next++ % names.size()]; });
    report.run.tags = {{names[0], names[5]}, {names[5], names[2]}};
    report.cases[0].metrics[0].values[1] = std::numeric_limits<double>::quiet_NaN();
    report.cases[0].metrics[0].summary->max = std::numeric_limits<double>::infinity();
    report.cases[0].points[0].live_bytes = -std::numeric_limits<double>::infinity();
    report.cases[0].series[0].v[0] = std::numeric_limits<double>::quiet_NaN();
    report.assertions[0].actual = std::numeric_limits<double>::infinity();
    return report;
}

}  // namespace memsweep::reporters
