#include "reporters/ci/benchmark_trackers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

bool has_median(const model::Metric& metric)
{
    return metric.summary && std::isfinite(metric.summary->median);
}

Json gha_entry(const std::string& case_name, const model::Metric& metric)
{
    const model::Summary& summary = *metric.summary;
    Json json = {{"name", case_name + "/" + ascii_name(metric.name)}, {"unit", metric.unit}, {"value", summary.median}};
    if (summary.ci95) {
        json["range"] = "± " + number_text(((*summary.ci95)[1] - (*summary.ci95)[0]) / 2);
    }
    json["extra"] = fmt::format("n={}\nmad={}\nmin={}", summary.n, number_text(summary.mad), number_text(summary.min));
    return json;
}

void write_direction(const model::RunReport& report, TextSink& sink, model::Better better)
{
    sink.add("[");
    std::string_view before = "\n";
    for (const NamedCase& one : named_cases(report)) {
        for (const model::Metric& metric : one.report->metrics) {
            if (metric.better == better && has_median(metric)) {
                sink.print("{}{}", before, compact(gha_entry(one.name, metric)));
                before = ",\n";
            }
        }
    }
    sink.add("\n]\n");
}

// Lower-case letters and digits with single hyphens between them.
std::string slug(std::string_view name)
{
    std::string slug;
    for (const char c : name) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter || (c >= '0' && c <= '9')) {
            slug += is_letter ? static_cast<char>(c | 0x20) : c;
        } else if (!slug.empty() && slug.back() != '-') {
            slug += '-';
        }
    }
    if (slug.ends_with('-')) {
        slug.pop_back();
    }
    return slug.empty() ? "metric" : slug;
}

Json bmf_value(const model::Summary& summary)
{
    Json json = {{"value", summary.median}};
    if (summary.ci95 && std::isfinite((*summary.ci95)[0]) && std::isfinite((*summary.ci95)[1])) {
        json["lower_value"] = (*summary.ci95)[0];
        json["upper_value"] = (*summary.ci95)[1];
    }
    return json;
}

Json bmf_case(const model::CaseReport& report)
{
    std::vector<const model::Summary*> summaries;
    std::vector<std::string> slugs;
    for (const model::Metric& metric : report.metrics) {
        if (has_median(metric)) {
            summaries.push_back(&*metric.summary);
            slugs.push_back(slug(metric.name));
        }
    }
    slugs = unique_names(std::move(slugs), "-");
    Json json = Json::object();
    for (std::size_t i = 0; i < slugs.size(); ++i) {
        json[slugs[i]] = bmf_value(*summaries[i]);
    }
    return json;
}

// Short enough, with room for the number that tells equal beginnings apart.
std::vector<std::string> benchmark_names(const std::vector<NamedCase>& cases)
{
    constexpr std::size_t longest = 1000;
    std::vector<std::string> names;
    for (const NamedCase& one : cases) {
        names.push_back(one.name.substr(0, longest));
    }
    return unique_names(std::move(names));
}

}  // namespace

std::string ascii_name(std::string_view text)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@~^";
    std::string name;
    for (const char c : repaired_utf8(text)) {
        if (plain.find(c) != std::string_view::npos) {
            name += c;
        } else {
            fmt::format_to(std::back_inserter(name), "%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return name;
}

std::vector<std::string> unique_names(std::vector<std::string> names, std::string_view before_number)
{
    std::set<std::string> taken;
    for (std::string& name : names) {
        const std::string wanted = name;
        for (int number = 2; !taken.insert(name).second; ++number) {
            name = fmt::format("{}{}{}", wanted, before_number, number);
        }
    }
    return names;
}

std::vector<NamedCase> named_cases(const model::RunReport& report)
{
    std::vector<NamedCase> cases;
    std::vector<std::string> names;
    for (const model::CaseReport& one : report.cases) {
        if (one.status == model::Status::ok) {
            cases.push_back({&one, {}});
            names.push_back(ascii_name(one.id));
        }
    }
    names = unique_names(std::move(names));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        cases[i].name = std::move(names[i]);
    }
    return cases;
}

void write_gha_smaller(const model::RunReport& report, TextSink& sink)
{
    write_direction(report, sink, model::Better::lower);
}

void write_gha_bigger(const model::RunReport& report, TextSink& sink)
{
    write_direction(report, sink, model::Better::higher);
}

bool gha_fits_one_file(const model::RunReport& report)
{
    return std::ranges::none_of(report.cases, [](const model::CaseReport& one) {
        return std::ranges::any_of(one.metrics,
                                   [](const model::Metric& metric) { return metric.better == model::Better::higher; });
    });
}

void write_bmf(const model::RunReport& report, TextSink& sink)
{
    const std::vector<NamedCase> cases = named_cases(report);
    const std::vector<std::string> names = benchmark_names(cases);
    sink.add("{");
    std::string_view before = "\n";
    for (std::size_t i = 0; i < cases.size(); ++i) {
        sink.print("{}{}: {}", before, compact(Json(names[i])), compact(bmf_case(*cases[i].report)));
        before = ",\n";
    }
    sink.add("\n}\n");
}

}  // namespace memsweep::reporters
