#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/measure/summary.hpp"
#include "reporters/document/advice.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json json_variables(const std::vector<std::pair<std::string, std::string>>& variables)
{
    Json json = Json::object();
    for (const auto& [name, value] : variables) {
        json[name] = value;
    }
    return json;
}

Json json_interval(const std::optional<std::array<double, 2>>& interval)
{
    return interval ? Json::array({(*interval)[0], (*interval)[1]}) : Json();
}

Json json_number(const std::optional<double>& number)
{
    return number ? Json(*number) : Json();
}

// Of the median; none for fewer than six values, of which no two hold it with 95 %.
std::optional<std::array<double, 2>> interval_of_median(std::vector<double> values)
{
    const std::size_t rank = measure::median_interval_rank(values.size());
    if (rank == 0) {
        return std::nullopt;
    }
    std::ranges::sort(values);
    return {{values[rank - 1], values[values.size() - rank]}};
}

Json json_advice(const AdviceReport& report)
{
    if (!report.best) {
        return Json::array();
    }
    const AdviceSettings& settings = report.tried[*report.best].settings;
    return Json::array({Json{{"rank", 1},
                             {"allocator", settings.allocator},
                             {"settings", json_variables(settings.settings)},
                             {"environment", json_variables(settings.environment)},
                             {"systemd", systemd_lines(settings.environment)},
                             {"dockerfile", dockerfile_line(settings.environment)},
                             {"gain", Json{{"ratio", report.gain.pairs > 0 ? Json(report.gain.ratio) : Json()},
                                           {"ci95", json_interval(report.gain.ci95)},
                                           {"n", report.gain.pairs},
                                           {"proven", report.gain.claim == measure::Claim::proven}}},
                             {"price", Json{{"metric", report.keep},
                                            {"ratio", report.price.pairs > 0 ? Json(report.price.ratio) : Json()},
                                            {"ci95", json_interval(report.price.ci95)},
                                            {"proven", report.price.claim == measure::Claim::proven},
                                            {"rounds", report.price.pairs}}},
                             {"warnings", report.warnings}}});
}

Json json_tried(const AdviceReport& report, const AdviceTry& tried)
{
    constexpr std::array<std::string_view, 4> stages{"untried", "race", "rerun", "pairs"};
    const std::string_view claim = claim_of(report, tried);
    return {{"allocator", tried.settings.allocator},
            {"settings", json_variables(tried.settings.settings)},
            {"environment", json_variables(tried.settings.environment)},
            {"stage", tried.runs == 0 && tried.predicted ? std::string_view{"replay"}
                                                         : stages.at(static_cast<std::size_t>(tried.stage))},
            {"claim", claim.empty() ? Json() : Json(claim)},
            {"predicted", tried.predicted
                              ? Json{{"rss", *tried.predicted}, {"error", json_number(tried.prediction_error())}}
                              : Json()},
            {"measured",
             tried.runs == 0 ? Json() : Json{{"rss", tried.memory}, {report.keep, tried.time}, {"n", tried.runs}}},
            {"dropped", tried.dropped.empty() ? Json() : Json(tried.dropped)},
            {"why", repaired_utf8(tried.why)}};
}

Json json_default(const AdviceReport& report)
{
    std::optional<std::array<double, 2>> range;
    if (!report.default_memory.empty()) {
        const auto [least, most] = std::ranges::minmax(report.default_memory);
        range = {{least, most}};
    }
    return {{"value", Json{{"median", median_of(report.default_memory)},
                           {"range", json_interval(range)},
                           {"ci95", json_interval(interval_of_median(report.default_memory))},
                           {"n", report.default_memory.size()}}},
            {report.keep, Json{{"median", median_of(report.default_time)}, {"n", report.default_time.size()}}},
            {"noise", Json{{"pair_sd", noise_of(report)}}}};
}

}  // namespace

std::string to_json(const AdviceReport& report)
{
    Json command = Json::array();
    for (const std::string& word : report.command) {
        command.push_back(repaired_utf8(word));
    }
    Json tried = Json::array();
    for (const AdviceTry& one : report.tried) {
        tried.push_back(json_tried(report, one));
    }
    const AdvisedProgram& program = report.program;
    const Json document{
        {"format", "memsweep-advice"},
        {"format_version", 1},
        {"version", report.tool.version},
        {"taken", report.taken},
        {"machine", report.machine.fingerprint},
        {"load", report.load},
        {"command", std::move(command)},
        {"want", Json{{"metric", "rss"},
                      {"at", report.wanted_at},
                      {"idle_seconds", report.wanted_at == "idle" ? Json(report.idle_seconds) : Json()}}},
        {"end_when", report.end_when.empty() ? Json("exit") : Json(repaired_utf8(report.end_when))},
        {"keep", Json::array({Json{{"metric", report.keep}, {"at_most", report.at_most}}})},
        {"program", Json{{"allocator", repaired_utf8(program.allocator)},
                         {"how", name_of(program.origin)},
                         {"changes_user", program.changes_user},
                         {"threads", program.threads},
                         {"heap_share", program.heap_share},
                         {"bound_bytes", program.bound_bytes},
                         {"served", program.served.empty() ? Json() : Json(repaired_utf8(program.served))},
                         {"recorded_share", json_number(program.recorded_share)}}},
        {"verdict", name_of(report.verdict)},
        {"reason", repaired_utf8(report.reason)},
        {"headline", headline_of(report)},
        {"interrupted", report.is_interrupted},
        {"default", json_default(report)},
        {"advice", json_advice(report)},
        {"tried", std::move(tried)},
        {"warnings", report.warnings},
        {"cost", Json{{"real_runs", report.real_runs}, {"replays", report.replays}, {"seconds", report.seconds}}}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
