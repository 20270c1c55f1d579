// The members of a result's parts, in the order in which the format memsweep-result has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/json/json_members.hpp"

namespace memsweep::reporters {

template <typename Io>
void members(Io& io, PartOf<Io, model::Warning>& warning)
{
    io("code", warning.code);
    io("message", warning.message);
    io("hint", warning.hint, member::nullable);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::ToolInfo>& tool)
{
    constexpr std::string_view sanitizer = "sanitizer:";
    std::vector<std::string> features;
    if (!tool.sanitizer.empty()) {
        features.push_back(std::string{sanitizer} + tool.sanitizer);
    }
    io("name", tool.name);
    io("version", tool.version);
    io("git", tool.commit);
    io("build_type", tool.build_type);
    io("compiler", tool.compiler);
    io("features", features);
    if constexpr (Io::is_reading) {
        for (const std::string& feature : features) {
            tool.sanitizer = feature.starts_with(sanitizer) ? feature.substr(sanitizer.size()) : tool.sanitizer;
        }
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Machine>& machine)
{
    io("host", machine.host);
    io("kernel", machine.kernel);
    io("cpu", machine.cpu);
    io("cores", machine.cores);
    io("numa_nodes", machine.numa_nodes);
    io("page_size", machine.page_size);
    io("thp", machine.thp);
    io("overcommit", machine.overcommit);
    io("memory", machine.memory_bytes);
    io("cgroup_memory_max", machine.cgroup_memory_max);
    io("cgroup_version", machine.cgroup_version, member::added);
    io("governor", machine.governor, member::nullable);
    io("aslr", machine.aslr);
    io("swap", machine.swap_bytes);
    io("virtualisation", machine.virtualisation, member::added);
    io("damon", machine.damon, member::added);
    io("devices", machine.devices);
    io("topology", machine.topology, member::left_out);
    io("fingerprint", machine.fingerprint);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::LaunchPlace>& place)
{
    io("node", place.node);
    io("launcher", place.launcher, member::added_nullable);
    io("job", place.job, member::added_nullable);
    io("nodes", place.nodes, member::added_nullable);
    io("partition", place.partition, member::added_nullable);
    io("rank", place.rank, member::added);
    io("ranks", place.ranks, member::added);
    io("local_rank", place.local_rank, member::added);
    io("local_ranks", place.local_ranks, member::added);
    io("cpus", place.cpus, member::added_nullable);
    io("memory_nodes", place.memory_nodes, member::added_nullable);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::RunInfo>& run)
{
    io("id", run.id);
    io("started", run.started);
    io("ended", run.ended, member::nullable);
    io("argv", run.argv);
    io("exit_code", run.exit_code);
    io("order", run.order);
    io("seed", run.seed);
    const bool is_duet = !run.duet_processors.empty();
    std::optional<bool> duet = is_duet ? std::optional{true} : std::nullopt;
    std::optional<std::vector<std::uint32_t>> processors = is_duet ? std::optional{run.duet_processors} : std::nullopt;
    io("duet", duet, member::left_out);
    io("processors", processors, member::left_out);
    if constexpr (Io::is_reading) {
        run.duet_processors =
            duet.value_or(false) ? processors.value_or(std::vector<std::uint32_t>{}) : std::vector<std::uint32_t>{};
    }
    io.with_default("isolation", run.isolation, [] { return model::Isolation::process; });
    io("interrupted", run.interrupted);
    io.object("scenario", [&](auto& scenario) {
        scenario("name", run.scenario_name);
        scenario("path", run.scenario_path);
        scenario("sha256", run.scenario_sha256);
        scenario("fingerprint", run.scenario_fingerprint);
        scenario("description", run.scenario_description, member::added);
        std::optional<std::vector<std::string>> headline =
            run.headline.empty() ? std::nullopt : std::optional{run.headline};
        scenario("headline", headline, member::left_out);
        if constexpr (Io::is_reading) {
            run.headline = headline.value_or(std::vector<std::string>{});
        }
    });
    io("overrides", run.overrides);
    io("tags", run.tags);
    io("placement", run.placement, member::left_out);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Canary>& canary)
{
    io("compute_error", canary.compute_error);
    io("compute_tail", canary.compute_tail);
    io("copy_error", canary.copy_error);
    io("copy_tail", canary.copy_tail);
    io("steal_share", canary.steal_share);
    io("disturbed", canary.is_disturbed);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::MachineRounds>& rounds)
{
    io("compute_time", rounds.compute_seconds);
    io("copy_time", rounds.copy_seconds);
    io("fault_time", rounds.fault_seconds);
    io("release_time", rounds.release_seconds, member::left_out);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Calibration>& calibration)
{
    io("harness_time_per_op", calibration.harness_seconds_per_op);
    io("harness_time_per_op_uncounted", calibration.harness_seconds_per_op_uncounted, member::left_out);
    io("clock_read_time", calibration.clock_read_seconds);
    io("harness_time_per_run", calibration.harness_seconds_per_run, member::left_out);
    io("harness_time_beside_run", calibration.harness_seconds_beside_run, member::left_out);
    io("streaming_from", calibration.streaming_from_bytes, member::left_out);
    io("streaming_pieces_from", calibration.streaming_pieces_from_bytes, member::left_out);
    io("canary", calibration.canary, member::left_out);
    io("rounds", calibration.rounds, member::left_out);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::StatusCounts>& counts)
{
    io("cases", counts.cases);
    io("ok", counts.ok);
    io("skipped", counts.skipped);
    io("failed", counts.failed);
    io("errors", counts.errors);
    io("timeouts", counts.timeouts);
    io("assertions_failed", counts.assertions_failed);
    io("assertions_warned", counts.assertions_warned);
    io("assertions_not_evaluated", counts.assertions_not_evaluated);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Summary>& summary)
{
    io("n", summary.n);
    io("min", summary.min);
    io("max", summary.max);
    io("mean", summary.mean);
    io("median", summary.median);
    io("mad", summary.mad);
    io("mdape", summary.mdape);
    io("stddev", summary.stddev);
    io("ci95", summary.ci95);
    io("p05", summary.p05);
    io("p95", summary.p95);
    io("outliers", summary.outliers);
}

// Returns why values are absent: the metric's reason. Without a reason it returns "not a finite number" if a value is
// not finite, else null.
[[nodiscard]] Json absence_reason(const model::Metric& metric);

// Lists all members but the name, which is the metric's key in the document.
template <typename Io>
void members(Io& io, PartOf<Io, model::Metric>& metric)
{
    io("unit", metric.unit);
    io("better", metric.better);
    io("class", metric.metric_class);
    io("provenance", metric.provenance);
    io.taken_out("values", metric.values);
    if constexpr (Io::is_reading) {
        io("reason", metric.reason, member::added_nullable);
    } else {
        io.put("reason", absence_reason(metric));
    }
    io("summary", metric.summary);
}

// A point must have a repetition, a name and a time. Members that were not measured may be null or missing.
template <typename Io>
void members(Io& io, PartOf<Io, model::Point>& point)
{
    io("repetition", point.repetition);
    io("name", point.name);
    io("t", point.t);
    io("live_bytes", point.live_bytes, member::added);
    io("floating_bytes", point.floating_bytes, member::added);
    io("working_set", point.working_set, member::added);
    io("working_set_delta", point.working_set_delta, member::added);
    io("minor_faults", point.minor_faults, member::added);
    io("major_faults", point.major_faults, member::added);
    io("queue_depth", point.queue_depth, member::added);
    io("pool_idle_bytes", point.pool_idle_bytes, member::added);
    io("huge_page_bytes", point.huge_page_bytes, member::added);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Phase>& phase)
{
    io("repetition", phase.repetition);
    io("name", phase.name);
    io("start", phase.start);
    io("end", phase.end);
    io.with_default("time", phase.time, [&] { return phase.end - phase.start; });
    io.with_default("entered", phase.entered, [] { return 1U; });
    io("minor_faults", phase.minor_faults);
    io("major_faults", phase.major_faults);
    io("fault_time", phase.fault_time, member::left_out);
    io("allocator_time", phase.allocator_time, member::left_out);
    io("collector_wait_time", phase.collector_wait_time, member::left_out);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Series>& series)
{
    io("name", series.name);
    io("unit", series.unit);
    io("repetition", series.repetition);
    io.taken_out("t", series.t);
    io.taken_out("v", series.v);
    if constexpr (Io::is_reading) {
        if (series.t.size() != series.v.size()) {
            io.node().report(fmt::format("{} times but {} values", series.t.size(), series.v.size()));
        }
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::ReleaseInfo>& release)
{
    io("mode", release.mode);
    io("profile", release.profile, member::nullable);
    io("modelled", release.modelled);
    io("verified", release.verified);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::AllocatorInfo>& allocator)
{
    io("name", allocator.name);
    io("library", allocator.library, member::nullable);
    io("environment", allocator.environment);
    const auto statistics = [&](auto& inner) {
        inner("format", allocator.format);
        inner("text", allocator.statistics);
    };
    if constexpr (Io::is_reading) {
        if (!io.node().at("statistics").is_null()) {
            io.object("statistics", statistics);
        }
    } else if (allocator.format.empty()) {
        io.put("statistics", nullptr);
    } else {
        io.object("statistics", statistics);
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::NameLengths>& names)
{
    io("words", names.words);
    io("paths", names.paths);
    io("folder", names.folder);
    io("environment", names.environment);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::Defect>& defect)
{
    io("kind", defect.kind);
    io("target", defect.target);
    io("repetition", defect.repetition);
    io("count", defect.count);
    io("bytes", defect.bytes);
    io("oldest", defect.oldest_seconds);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::CallTimes>& times)
{
    io("call", times.call);
    io("from", times.from_bytes);
    io("to", times.to_bytes);
    if constexpr (!Io::is_reading) {
        io("unit", model::Unit::seconds);
    }
    io("t", times.seconds);
    io("n", times.counts);
    if constexpr (Io::is_reading) {
        if (times.seconds.size() != times.counts.size()) {
            io.node().report(fmt::format("{} times but {} counts", times.seconds.size(), times.counts.size()));
        }
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::AssertionResult>& assertion)
{
    using enum model::AssertionOutcome;
    io("case", assertion.case_id, member::nullable);
    io("expr", assertion.expression);
    io("where", assertion.where, member::added);
    io("actual", assertion.actual);
    io("unit", assertion.unit);
    std::optional<bool> is_passed;
    if (assertion.outcome != not_evaluated) {
        is_passed = assertion.outcome == passed;
    }
    io("passed", is_passed);
    if constexpr (Io::is_reading) {
        assertion.outcome = !is_passed ? not_evaluated : *is_passed ? passed : failed;
    }
    io("severity", assertion.severity);
    io("reason", assertion.reason, member::added_nullable);
    std::optional<bool> is_limit = assertion.is_limit ? std::optional{true} : std::nullopt;
    io("limit", is_limit, member::left_out);
    if constexpr (Io::is_reading) {
        assertion.is_limit = is_limit.value_or(false);
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::SiteChange>& site)
{
    io("site", site.site);
    io("through", site.through);
    io("callers", site.callers);
    io("in", site.in);
    io("base", site.base);
    io("candidate", site.candidate);
    io("change", site.change);
    io("scatter", site.scatter);
    io("share", site.share);
    io("blocks", site.blocks, member::left_out);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::MetricSites>& metric)
{
    io("metric", metric.metric);
    io("unit", metric.unit);
    io("base", metric.base);
    io("candidate", metric.candidate);
    io("change", metric.change);
    io("sites", metric.sites);
    io("more_sites", metric.more_sites);
    io("more_change", metric.more_change);
    if constexpr (Io::is_reading) {
        if (metric.sites.empty()) {
            io.node().report("no site differs");
        }
    }
}

template <typename Io>
void members(Io& io, PartOf<Io, model::SiteComparison>& sites)
{
    io("base_case", sites.base_case);
    io("candidate_case", sites.candidate_case);
    io("runs", sites.runs);
    io("varies", sites.varies);
    io("reason", sites.reason, member::nullable);
    io("notes", sites.notes);
    io("metrics", sites.metrics);
}

}  // namespace memsweep::reporters
