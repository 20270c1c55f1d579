// What single commands find: `cliffs`, `doctor`, `fit` and `info`.

#include "core/model/metric_id.hpp"
#include "reporters/json/json_members.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/wording/cliff_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Cliff;
using measure::CliffKind;
using measure::SizeCost;
using model::Fitness;
using model::MachineCheck;

constexpr std::array<std::string_view, 5> effects{"removed", "moved", "eased", "none", "failed"};  // by SettingEffect

Json cost_json(const SizeCost& cost)
{
    return {{"bytes", cost.bytes}, {"faults_per_op", cost.faults_per_op}, {"time_per_op", cost.ns_per_op * 1e-9}};
}

Json tried_json(const TriedSetting& tried)
{
    return {{"setting", tried.text},
            {"effect", effects[static_cast<std::size_t>(tried.effect)]},
            {"last_cheap", tried.effect == SettingEffect::moved ? Json(tried.last_cheap) : Json()},
            {"reason", json_text_or_null(tried.reason)},
            {"first_dear_before", tried.beyond ? cost_json(*tried.beyond) : Json()}};
}

Json cliff_json(const ExplainedCliff& explained)
{
    const Cliff& cliff = explained.cliff;
    return {{"metric", cliff.kind == CliffKind::faults ? model::metrics::faults_per_op : model::metrics::time_per_op},
            {"last_cheap", cliff.cheap.bytes},
            {"cheap", cost_json(cliff.cheap)},
            {"dear", cost_json(cliff.dear)},
            {"cause", json_text_or_null(explained.cause ? limit_text(explained.cause->limit) : "")},
            {"without_setting", json_text_or_null(explained.cause ? without_text(explained.cause->moves) : "")},
            {"tried", json_list(explained.tried, tried_json)}};
}

Json allocator_json(const AllocatorCliffs& one)
{
    return {{"name", one.name},
            {"library", json_text_or_null(one.library)},
            {"status", one.skipped.empty() ? "ok" : "skipped"},
            {"reason", json_text_or_null(one.skipped)},
            {"sizes", json_list(one.sizes, cost_json)},
            {"cliffs", json_list(one.cliffs, cliff_json)}};
}

Json json_check(const MachineCheck& check)
{
    Json figures = Json::object();
    for (const model::Figure& figure : check.figures) {
        figures[figure.name] = {{"unit", figure.unit}, {"value", figure.value}};
    }
    return {{"name", check.name},
            {"status", check.status},
            {"value", json_text_or_null(check.value)},
            {"why", check.why},
            {"command", json_text_or_null(check.command)},
            {"figures", std::move(figures)}};
}

Json json_failure(const std::optional<trace::FitFailure>& failure)
{
    if (!failure) {
        return nullptr;
    }
    return {{"event", failure->event},
            {"size", failure->size},
            {"live_bytes", failure->live_bytes},
            {"largest_hole", failure->largest_hole},
            {"run", failure->run},
            {"seconds", failure->seconds}};
}

Json json_refused(const std::optional<trace::RefusedRequest>& refused)
{
    return refused ? Json{{"event", refused->event}, {"size", refused->size}, {"live_bytes", refused->live_bytes}}
                   : Json();
}

Json json_policy(const trace::PolicyFit& fit)
{
    return {{"policy", fit.policy},
            {"capacity", fit.capacity},
            {"ratio", fit.ratio},
            {"largest_hole", fit.first_failure ? Json(fit.first_failure->largest_hole) : Json()},
            {"first_failure", json_failure(fit.first_failure)},
            {"capacity_after_run", fit.needed_after_run}};
}

Json json_pytorch_failure(const std::optional<trace::PyTorchFailure>& failure)
{
    if (!failure) {
        return nullptr;
    }
    return {{"event", failure->event},
            {"size", failure->size},
            {"segment", failure->segment},
            {"live_bytes", failure->live},
            {"cached_bytes", failure->reserved - std::min(failure->reserved, failure->live)},
            {"reserved_bytes", failure->reserved},
            {"largest_cached", failure->largest_cached}};
}

// Of each setting; the curve of those that are drawn: the highest values of a stretch of events from `event` on.
Json json_pytorch_row(const trace::PyTorchRow& row)
{
    const trace::PyTorchOutcome& outcome = row.outcome;
    Json json = {{"settings", trace::text_of(row.settings)},
                 {"reserved_peak", outcome.reserved_peak},
                 {"allocated_peak", outcome.allocated_peak},
                 {"reserved_end", outcome.reserved_end},
                 {"retries", outcome.retries},
                 {"device_allocs", outcome.device_allocs},
                 {"device_frees", outcome.device_frees},
                 {"first_failure", json_pytorch_failure(outcome.failure)}};
    if (!outcome.curve.empty()) {
        json["curve"] = json_list(outcome.curve, [](const trace::PyTorchPoint& point) {
            return Json{
                {"event", point.event}, {"reserved_bytes", point.reserved}, {"allocated_bytes", point.allocated}};
        });
    }
    return json;
}

Json json_pair(const lifetime::Figure& figure)
{
    return {{"model", figure.model}, {"recorded", figure.recorded}};
}

Json json_recording(const JudgedRecording& one)
{
    const lifetime::Agreement& found = one.agreement;
    return {{"recording", found.recording},
            {"check", one.is_check},
            {"holds", found.holds},
            {"peak", json_pair(found.peak)},
            {"end", json_pair(found.end)},
            {"collections", json_pair(found.collections)},
            {"first", found.first ? json_pair(*found.first) : Json()}};
}

Json json_key(const ProfileReport& report, const lifetime::FittedKey& key)
{
    return {{"key", key.key},   {"value", key.value},    {"least", key.least},
            {"most", key.most}, {"sure", key.is_sure()}, {"sentence", key_sentence(report, key)}};
}

// Since the first event; null where the trace tells no time.
Json seconds_of(const trace::TraceSummary& summary, std::uint64_t ticks)
{
    const std::uint64_t first = summary.totals.first_ticks;
    if (summary.ticks_per_second == 0 || summary.totals.last_ticks <= first) {
        return nullptr;
    }
    const std::uint64_t since = ticks > first ? ticks - first : 0;
    return static_cast<double>(since) / static_cast<double>(summary.ticks_per_second);
}

Json json_damage(const trace::Damage& damage)
{
    return {{"corrupted_chunks", damage.corrupted_chunks},
            {"missing_chunks", damage.missing_chunks},
            {"skipped_bytes", damage.skipped_bytes},
            {"truncated", damage.truncated}};
}

// The places that count any.
Json json_histogram(const trace::Histogram& counts)
{
    Json list = Json::array();
    for (std::size_t place = 0; place < counts.size(); ++place) {
        if (counts[place] != 0) {
            list.push_back({{"up_to", trace::histogram_limit(place)}, {"blocks", counts[place]}});
        }
    }
    return list;
}

Json json_spaces(const trace::TraceSummary& summary)
{
    return json_list(summary.spaces, [](const auto& space) {
        return Json{{"name", repaired_utf8(space.second.name)},
                    {"kind", trace::name_of(space.second.kind)},
                    {"device", space.second.device}};
    });
}

Json json_processes(const trace::TraceSummary& summary)
{
    return json_list(summary.processes, [&](const trace::ProcessSummary& process) {
        return Json{{"process", process.process},
                    {"program", json_text_or_null(process.program)},
                    {"events", process.events},
                    {"threads", process.threads},
                    {"allocations", process.allocations},
                    {"frees", process.frees},
                    {"bytes_allocated", process.bytes_allocated},
                    {"peak_live_bytes", process.peak_live_bytes},
                    {"end_live_bytes", process.end_live_bytes},
                    {"malloc_from", json_text_or_null(process.malloc_from)},
                    {"heap_pages_bytes", process.heap_pages_bytes == 0 ? Json{} : Json(process.heap_pages_bytes)},
                    {"first_seconds", seconds_of(summary, process.first_ticks)},
                    {"last_seconds", seconds_of(summary, process.last_ticks)}};
    });
}

// The most bytes that were live in each stretch of events.
Json json_live(const trace::TraceSummary& summary)
{
    const std::vector<std::uint64_t> live = summary.live.total();
    Json list = Json::array();
    for (std::size_t step = 0; step < live.size(); ++step) {
        const auto [event, ticks] = summary.live.steps()[step];
        list.push_back({{"from_event", event}, {"from_seconds", seconds_of(summary, ticks)}, {"bytes", live[step]}});
    }
    return list;
}

Json json_mapping_modules(const trace::TraceSummary& summary)
{
    return json_list(summary.mapped_by, [](const trace::MappingModule& one) {
        return Json{{"module", json_text_or_null(one.path)},
                    {"is_allocator", one.is_allocator},
                    {"mappings", one.mapped.mappings},
                    {"bytes_mapped", one.mapped.bytes},
                    {"peak_mapped_bytes", one.mapped.peak_bytes},
                    {"end_mapped_bytes", one.mapped.end_bytes}};
    });
}

Json unrecorded_json(const trace::UnrecordedProgram& one)
{
    return {{"process", one.process},
            {"program", repaired_utf8(one.program)},
            {"command", repaired_utf8(one.command)},
            {"reason", trace::reason_of(one)}};
}

void add_details(Json& document, const trace::TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    document["end_live_blocks"] = totals.end_live_blocks;
    document["processes"] = totals.processes;
    document["transfers"] = totals.transfers;
    document["peak_mapped_bytes"] = totals.peak_mapped_bytes;
    document["seconds"] = seconds_of(summary, totals.last_ticks);
    document["thread_stacks"] = {{"threads", summary.thread_stacks.threads},
                                 {"bytes", summary.thread_stacks.bytes},
                                 {"peak_bytes", summary.thread_stacks.peak_bytes}};
    document["usable_sizes"] = summary.usable_sizes;
    document["mapped_by"] = json_mapping_modules(summary);
    document["facts"] = json_texts_by_name(summary.facts);
    document["unrecorded"] = json_list(summary.unrecorded, unrecorded_json);
    document["damage"] = json_damage(summary.damage);
    document["sizes"] = json_histogram(summary.sizes);
    document["lifetimes"] = json_histogram(summary.lifetimes);
    document["spaces"] = json_spaces(summary);
    document["by_process"] = json_processes(summary);
    document["live_bytes"] = json_live(summary);
}

constexpr std::array<std::string_view, 5> site_kinds{"site", "function", "file", "thread", "size"};
constexpr std::array<std::string_view, 5> site_orders{"peak", "allocated", "end", "count", "temporary"};

Json figures_json(const trace::AllocationFigures& figures)
{
    return {{"allocations", figures.allocations},         {"bytes_allocated", figures.bytes_allocated},
            {"temporary_allocations", figures.temporary}, {"peak_live_bytes", figures.peak_bytes},
            {"peak_live_blocks", figures.peak_blocks},    {"end_live_bytes", figures.end_bytes},
            {"end_live_blocks", figures.end_blocks},      {"own_peak_live_bytes", figures.own_peak_bytes}};
}

Json frame_json(const trace::ResolvedFrame& frame)
{
    return {{"function", json_text_or_null(std::string{frame.function})},
            {"file", json_text_or_null(std::string{frame.file})},
            {"line", frame.line == 0 ? Json() : Json(frame.line)},
            {"module", json_text_or_null(std::string{frame.module})}};
}

Json site_json(const CallSitesReport& report, const trace::CallSite& site)
{
    using trace::SiteKind;
    const SiteKind by = report.sites->query().by;
    Json json = figures_json(site.figures);
    json["own_peak_is_estimate"] = site.has_estimated_own_peak;
    json["name"] = repaired_utf8(site_label(site, by));
    if (by == SiteKind::thread) {
        json["process"] = site.thread.process;
        json["thread"] = site.thread.thread;
    } else if (by == SiteKind::size) {
        json["size"] = site.size;
    } else {
        const trace::ResolvedFrame& place = site.place;
        trace::ResolvedFrame shown = place;
        if (by == SiteKind::function) {
            shown = {.function = place.function};
        } else if (by == SiteKind::file) {
            shown = {.file = place.file, .module = place.module};
        }
        json.update(frame_json(shown));
        json["stack"] = json_list(report.sites->stack_of(site), frame_json);
    }
    return json;
}

Json json_leak(const LeakSite& site)
{
    using measure::Growth;
    const Growth growth = site.growth.growth;
    Json json{{"bytes_per_operation", site.growth.bytes},
              {"blocks_per_operation", site.growth.blocks},
              {"growth", growth == Growth::none   ? "none"
                         : growth == Growth::late ? "late"
                                                  : "steady"},
              {"exact", site.growth.is_exact},
              {"held", json_list(site.held, [](const measure::HeldAfter& one) {
                   return Json{{"operations", one.operations}, {"bytes", one.bytes}, {"blocks", one.blocks}};
               })}};
    if (!site.place.empty()) {
        json["site"] = site.place;
        json["stack"] = site.stack;
    }
    return json;
}

}  // namespace

std::string to_json(const ProfileReport& report)
{
    const Json document = {
        {"format", "memsweep-profile-fit"},
        {"format_version", 1},
        {"name", report.name},
        {"inherits", report.profile},
        {"inherits_why", report.why},
        {"given", json_list(report.given,
                            [](const auto& pair) {
                                return Json{{"key", pair.first}, {"value", pair.second}};
                            })},
        {"fitted", json_list(report.fit.keys, [&](const lifetime::FittedKey& key) { return json_key(report, key); })},
        {"iterations_off", report.fit.iterations_off},
        {"recordings", json_list(report.recordings, json_recording)}};
    return pretty(document) + "\n";
}

std::string to_json(const CliffsReport& report)
{
    const Json json{
        {"format", "memsweep-cliffs"},
        {"format_version", 1},
        {"tool", {{"version", report.tool.version}, {"git", report.tool.commit}}},
        {"machine", {{"host", report.machine.host}, {"cpu", report.machine.cpu}, {"kernel", report.machine.kernel}}},
        {"taken", report.taken},
        {"from", report.range.from},
        {"to", report.range.to},
        {"allocators", json_list(report.allocators, allocator_json)}};
    return indented(json) + "\n";
}

std::string to_json(const Checkup& checkup)
{
    Json summary = Json::object();
    for (const auto& status : model::names<Fitness>()) {
        summary[std::string{status.name}] = count(checkup, status.value);
    }
    const Json document = {{"format", "memsweep-doctor"},
                           {"format_version", 1},
                           {"tool", {{"name", checkup.tool.name}, {"version", checkup.tool.version}}},
                           {"taken", checkup.taken},
                           {"machine",
                            {{"host", checkup.machine.host},
                             {"kernel", checkup.machine.kernel},
                             {"cpu", checkup.machine.cpu},
                             {"fingerprint", checkup.machine.fingerprint}}},
                           {"fit", count(checkup, Fitness::spoils) == 0},
                           {"checks", json_list(checkup.checks, json_check)},
                           {"summary", std::move(summary)}};
    return pretty(document) + "\n";
}

std::string to_json(const FitReport& report)
{
    const Json document = {{"format", "memsweep-fit"},
                           {"format_version", 1},
                           {"live_peak", report.live_peak},
                           {"peak_live_bytes", report.live_peak},  // as `info` calls it
                           {"granted_peak", report.granted_peak},
                           {"at_least", report.is_least},
                           {"caveats", report.caveats},
                           {"refusals", report.refusals},
                           {"refused", json_refused(report.refused)},
                           {"memory", json_text_or_null(report.memory)},
                           {"sizes", json_text_or_null(report.sizes)},
                           {"capacity", report.options.capacity},
                           {"alignment", report.options.alignment},
                           {"runs", report.options.runs},
                           {"policies", json_list(report.policies, json_policy)}};
    return pretty(document) + "\n";
}

std::string to_json(const PyTorchFitReport& report)
{
    const trace::PyTorchRow& best = report.fit.rows[report.fit.best];
    const std::uint64_t now = report.fit.rows.front().outcome.reserved_peak;
    const Json document = {
        {"format", "memsweep-pytorch-fit"},
        {"format_version", 1},
        {"live_peak", report.live_peak},
        {"at_least", report.is_least},
        {"caveats", report.caveats},
        {"refusals", report.refusals},
        {"refused", json_refused(report.refused)},
        {"emptied", report.emptied},
        {"own_releases", report.own_releases},
        {"memory", report.memory},
        {"sizes", json_text_or_null(report.sizes)},
        {"capacity", report.capacity},
        {"best", trace::text_of(best.settings)},
        {"saves", static_cast<std::int64_t>(now) - static_cast<std::int64_t>(best.outcome.reserved_peak)},
        {"advice", json_text_or_null(advice_of(report))},
        {"settings", json_list(report.fit.rows, json_pytorch_row)}};
    return pretty(document) + "\n";
}

std::string to_json(const trace::TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    Json document = {{"format", "memsweep-trace-summary"},
                     {"format_version", 1},
                     {"events", totals.events},
                     {"allocations", totals.allocations},
                     {"frees", totals.frees},
                     {"reallocations", totals.reallocations},
                     {"threads", totals.threads},
                     {"peak_live_bytes", totals.peak_live_bytes},
                     {"end_live_bytes", totals.end_live_bytes},
                     {"peak_live_blocks", totals.peak_live_blocks},
                     {"bytes_allocated", totals.bytes_allocated},
                     {"max_size", totals.max_size},
                     {"unknown_frees", totals.unknown_frees},
                     {"duplicate_allocations", totals.duplicate_allocations},
                     {"failures", totals.failures},
                     {"bad_lines", summary.bad_lines},
                     {"stated_totals", json_list(summary.stated_totals, [](const trace::StatedTotal& total) {
                          return Json{{"what", total.what}, {"stated", total.stated}, {"imported", total.imported}};
                      })}};
    if (!summary.by_kind.empty()) {  // an import counts no more than the totals
        add_details(document, summary);
    }
    if (summary.end_of_work) {
        const trace::EndOfWorkTotals& end = *summary.end_of_work;
        const bool tells_time = summary.ticks_per_second != 0 && end.ticks >= totals.first_ticks;
        document["end_of_work"] = {{"sign", repaired_utf8(end.sign)},
                                   {"events", end.events},
                                   {"seconds", tells_time ? Json(static_cast<double>(end.ticks - totals.first_ticks) /
                                                                 static_cast<double>(summary.ticks_per_second))
                                                          : Json()},
                                   {"live_bytes", end.live_bytes},
                                   {"live_blocks", end.live_blocks}};
    }
    for (const auto& [kind, count] : summary.by_kind) {
        document["by_kind"][std::string{trace::name_of(kind)}] = count;
    }
    return pretty(document) + "\n";
}

std::string to_json(const CallSitesReport& report)
{
    const trace::CallSites& sites = *report.sites;
    Json rows = Json::array();
    for (std::size_t i = 0; i < named_sites(report); ++i) {
        rows.push_back(site_json(report, sites.sites()[i]));
    }
    const Json json{
        {"format", "memsweep-call-sites"},
        {"format_version", 1},
        {"source", repaired_utf8(report.source)},
        {"up_to", json_text_or_null(report.up_to)},
        {"by", site_kinds[static_cast<std::size_t>(sites.query().by)]},
        {"sorted_by", site_orders[static_cast<std::size_t>(sites.query().order)]},
        {"sample_bytes", sites.sampling().is_exact() ? Json() : Json(sites.sampling().mean_bytes)},
        {"exact", sites.sampling().is_exact() ? "all" : (sites.has_exact_callers() ? "callers" : "none")},
        {"total", figures_json(sites.total())},
        {"count", sites.sites().size()},
        {"sites", std::move(rows)},
        {"notes", json_list(sites.notes(), [](const std::string& note) { return Json(repaired_utf8(note)); })},
        {"damage", json_damage(report.damage)}};
    return pretty(json) + "\n";
}

std::string to_json(const LeaksReport& report)
{
    const Json document{{"format", "memsweep-leaks"},
                        {"format_version", 1},
                        {"command", repaired_utf8(report.command)},
                        {"variable", report.variable},
                        {"operations", report.operations},
                        {"rounds", report.rounds},
                        {"judged", report.at_peak ? "peak" : "end"},
                        {"verdict", name_of(verdict_of(report))},
                        {"headline", headline_of(report)},
                        {"whole", json_leak(report.whole)},
                        {"sites", json_list(report.sites, json_leak)},
                        {"freed_at_end", json_list(report.freed_at_end, json_leak)},
                        {"mapped", json_leak(report.mapped)},
                        {"notes", report.notes}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
